// A program of somebody else's: work-items keep what they computed in blocks of the heap, in a list for each residue,
// and the host walks the lists. It ends with 0 and "consumer: …" if every number is there once.
#include <array>
#include <cstdint>
#include <iostream>

#include <kma/kma.hpp>

namespace {

constexpr cl_uint numbers = 5000;
constexpr cl_uint lists = 7;

const char *const kernels = R"(
#include "kma/kma.cl"
typedef struct item { kma_ref next; uint value; } item;

kernel void sort_in(global kma_heap *heap, global kma_atomic_ref *lists, uint count)
{
    const uint value = get_global_id(0);
    global kma_atomic_ref *list = &lists[value % count];
    global item *mine = KMA_NEW(heap, item);
    if (!mine)
        return;
    mine->value = value;
    kma_ref first = kma_ref_load_acquire(list);
    do {
        mine->next = first;
        first = kma_ref_cas(list, mine->next, kma_ref_of(heap, mine));
    } while (first != mine->next);
}
)";

struct Item {
    kma::Ref next;
    cl_uint value;
};

/// How many items the lists have; throws if one is in a wrong list or met twice.
cl_uint count_items(const kma::Snapshot &heap, const std::array<kma::Ref, lists> &heads)
{
    std::array<bool, numbers> met{};
    cl_uint count = 0;
    for (cl_uint list = 0; list < lists; ++list) {
        for (kma::Ref ref = heads[list]; ref;) {
            const Item *item = heap.deref<Item>(ref);
            if (item->value >= numbers || item->value % lists != list || met[item->value])
                throw kma::Error("list " + std::to_string(list) + " should not have " + std::to_string(item->value));
            met[item->value] = true;
            ++count;
            ref = item->next;
        }
    }
    return count;
}

} // namespace

int main()
{
    try {
        kma::Device device = kma::Device::select();
        kma::Heap heap(device, 4 << 20);
        kma::Program program(device, {{"consumer.cl", kernels}});

        std::array<kma::Ref, lists> heads{};
        cl::Buffer buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(heads), heads.data());
        cl::Kernel sort_in = program.kernel("sort_in");
        heap.set_arg(sort_in, 0);
        sort_in.setArg(1, buffer);
        sort_in.setArg(2, lists);
        device.queue().enqueueNDRangeKernel(sort_in, cl::NullRange, cl::NDRange(numbers));
        device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(heads), heads.data());

        const cl_uint found = count_items(heap.snapshot(), heads);
        std::cout << heap.error_text() << "consumer: " << found << " of " << numbers << " numbers in " << lists
                  << " lists, " << heap.stats().blocks << " blocks\n";
        return found == numbers ? 0 : 1;
    } catch (const cl::Error &error) {
        std::cerr << "consumer: " << error.what() << " gave " << error.err() << '\n';
    } catch (const kma::Error &error) {
        std::cerr << "consumer: " << error.what() << '\n';
    }
    return 1;
}
