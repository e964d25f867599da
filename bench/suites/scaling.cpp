// scaling: one malloc and one free by each of 1, 2, 4, … 2^20 work-items.
#include "lines.hpp"
#include "suites.hpp"

namespace bench {

void scaling(Bench &bench)
{
    bench.heap().reset();
    for (const cl_uint bytes : {16u, 256u})
        for (std::size_t n = 1; n <= 1u << 20; n *= bench.quick() ? 1024 : 2) {
            const Line line = line_of(n, {bytes});
            if (fits(bench, "scaling", line, bench.heap_bytes()))
                allocate_and_free(bench, "scaling", line, {.cold = false});
        }
}

} // namespace bench
