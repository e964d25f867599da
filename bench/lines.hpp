// Shared code of several suites: one malloc by each work-item in one kernel, one free by each in
// the next; and the lines of the suites that the host's allocators run too.
#pragma once

#include <functional>

#include "bench.hpp"

namespace bench {

/// A line of a suite: work-items, sizes, and the parameters in its rows.
struct Line {
    std::size_t work_items;
    Sizes sizes;
    Parameters parameters;
};

/// Rounds up to whole work-groups. Kernels that only read slots run on these, with refs of 0 after
/// the last slot: some runtimes compile a kernel again for each work-group size.
std::size_t whole_groups(std::size_t work_items);

/// A line with these two as its parameters.
Line line_of(std::size_t work_items, Sizes sizes);

/// N = 2^10, 2^14, 2^17, 2^20 and one size of 16 to 8192 bytes; large ones up to 2^17 only.
std::vector<Line> uniform_lines(bool quick);
/// Random sizes from 4 up to 64, 1024 and 4096 bytes.
std::vector<Line> mixed_lines(bool quick);

/// How the sizes of pairs vary, as `variance` in heap.cl.
struct ChurnLine {
    std::size_t work_items;
    cl_uint variance;
    Parameters parameters;
};
constexpr cl_uint churn_turns = 100;
std::vector<ChurnLine> churn_lines(bool quick);
cl_uint latency_turns(bool quick);

/// Whether the line's blocks, rounded up to 16, fit into half of `room` bytes. If not, adds a note;
/// `subject` as in Bench::note.
bool fits(Bench &bench, const std::string &suite, const Line &line, std::uint64_t room,
          const std::string &subject = {});

/// How a line is measured.
struct LineOptions {
    /// also measures the first kernel on a fresh heap; the line then begins with a reset
    bool cold = true;
    bool range = false; ///< also measures the address range of the first kernel's blocks
    /// A further check after the line's blocks were painted: that other blocks are unchanged.
    std::function<bool()> others = [] { return true; };
};

/// Adds the rows of one line on the shared heap: malloc_cold, address_range, malloc, free.
void allocate_and_free(Bench &bench, const std::string &suite, const Line &line,
                       const LineOptions &options);

/// Paints the blocks in slots 0 to n - 1 of these arrays. Returns whether there are any, and all
/// lie inside the heap and have their painted contents.
bool paint_and_verify(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                      const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n);
/// Whether the blocks still have their painted contents.
bool still_painted(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                   const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n);

/// Whether blocks of these units of 16 bytes lie inside the heap and do not overlap. A ref of 0 is
/// no block.
bool are_apart(const std::vector<cl_uint> &refs, const std::vector<cl_uint> &units,
               std::uint64_t heap_bytes);

} // namespace bench
