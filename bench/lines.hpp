// What several suites do: one malloc by each work-item in one kernel and one free by each in the
// next; and the lines of the suites that the host's allocators run too.
#pragma once

#include <functional>

#include "bench.hpp"

namespace bench {

/// A line of a suite.
struct Line {
    std::size_t work_items;
    Sizes sizes;
    Parameters parameters;
};

/// Rounds up to whole work-groups. Kernels that only look at slots run over these, with refs of 0
/// behind the last slot: some runtimes compile a kernel anew for each size of a group.
std::size_t whole_groups(std::size_t work_items);

/// With these two as its parameters.
Line line_of(std::size_t work_items, Sizes sizes);

/// N = 2^10, 2^14, 2^17, 2^20 and one size of 16 to 8192 bytes; large ones up to 2^17 only.
std::vector<Line> uniform_lines(bool quick);
/// Random sizes from 4 up to 64, 1024 and 4096 bytes.
std::vector<Line> mixed_lines(bool quick);

/// How the sizes of pairs vary; the numbers of heap.cl.
struct ChurnLine {
    std::size_t work_items;
    cl_uint variance;
    Parameters parameters;
};
constexpr cl_uint churn_turns = 100;
std::vector<ChurnLine> churn_lines(bool quick);
cl_uint latency_turns(bool quick);

/// Whether the line's blocks, rounded up to 16, fit half of `room` bytes. Notes it if not, `who` as
/// Bench::note has it.
bool fits(Bench &bench, const std::string &suite, const Line &line, std::uint64_t room,
          const std::string &who = {});

/// How a line is measured.
struct LineOptions {
    /// also the first kernel on a fresh heap; the line then begins with a reset
    bool cold = true;
    bool range = false; ///< also which range of addresses the blocks of the first kernel span
    /// What else must be true once the line's blocks were painted: that others are as they were.
    std::function<bool()> others = [] { return true; };
};

/// Adds the rows of one line on the shared heap: malloc_cold, address_range, malloc, free.
void allocate_and_free(Bench &bench, const std::string &suite, const Line &line,
                       const LineOptions &options);

/// For blocks in slots 0 to n - 1 of these arrays: paints all, and returns whether all are as
/// painted, lie inside the heap, and there are any.
bool paint_and_verify(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                      const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n);
/// The second half of it: whether they are still as painted.
bool still_painted(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                   const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n);

/// Whether blocks of so many units of 16 bytes lie inside the heap, and none in another. A ref of 0
/// is no block.
bool are_apart(const std::vector<cl_uint> &refs, const std::vector<cl_uint> &units,
               std::uint64_t heap_bytes);

} // namespace bench
