// One self-contained .cl text per heap kind, for programs in C, Python or whatever else calls OpenCL.
#include <sstream>

#include "kma/source.hpp"
#include "kma/version.hpp"
#include "layout.hpp"
#include "say.hpp"

namespace kma {
namespace {

// How to size the buffer and prepare the heap in it, as the kind has it. Numbers come from the layouts themselves.
std::string bump_manual()
{
    const std::uint64_t begin = sizeof(layout::kma_bump);
    return say(R"(// 1. Create a buffer of B bytes. )", begin,
               R"( of them are metadata; a block takes what was asked for, rounded up
//    to 16. Nothing is reused before a reset. B is )",
               begin + KMA_UNIT, R"( at least.
// 2. Run kma_bump_init_kernel(heap, B) with 64 work-items; B is a ulong.
)");
}

std::string superblock_manual()
{
    return say(R"(// 1. Create a buffer of B bytes. n superblocks of S = 16 << shift bytes, shift )", KMA_SB_MIN_SHIFT,
               " to ", KMA_SB_MAX_SHIFT, R"(, need B = n * (S + S / 128 + 40) + 16384.
//    A superblock has blocks of one size: 16, 32, 48 or 64 bytes, or one of the four sizes from each power of two to
//    the next; a request takes the next larger one. Have one superblock more for each size than its blocks fill.
// 2. Run kma_superblock_init_kernel(heap, B, shift) with a work-item for each 64 KiB, in groups of 64; B is a ulong,
//    shift a uint. Without room for a superblock, or with another shift, every request is too large for the heap.
)");
}

// The numbers of kma_heap_stats in their order.
std::string stats_list()
{
    std::string text;
#define KMA_LINE_OF_STATS(name, meaning) text += "//      " #name ": " meaning "\n";
    KMA_HEAP_STATS(KMA_LINE_OF_STATS)
#undef KMA_LINE_OF_STATS
    return text + say("//      errors[", KMA_ERROR_CODES, "]: how often each of the KMA_ERROR_… below happened\n");
}

std::string manual(HeapKind kind)
{
    const std::string name = name_of(kind);
    return say(
        "// kma ", version(), ": malloc for OpenCL kernels, the ", name, " heap in one file, made by `kma emit --heap ",
        name, R"(`.
// SPDX-License-Identifier: MIT. Copyright (c) 2026 The kma authors
//
// Build this text, with your kernels behind it, as one program. All programs that touch a heap need the same -DKMA_…
// options. -cl-std=CL3.0, where the device has it, lets the compiler offer more. NVIDIA GPUs before Volta need
// -DKMA_NV_ARCH=61, or what their compute capability is.
//
)",
        kind == HeapKind::bump ? bump_manual() : superblock_manual(),
        R"(// 3. Give the buffer to kernels with a parameter `global kma_heap *heap`, for kma_malloc(heap, bytes) and
//    kma_free(heap, ptr). kma_ref_of(heap, ptr) says where a block is, on the host too: in units of 16 bytes from the
//    buffer's start; 0 is null.
// 4. kma_)",
        name, R"(_stats_kernel(heap, stats), one group of 64 work-items while no other kernel runs, writes these
//    numbers, each a ulong:
)",
        stats_list(), "// 5. kma_", name, R"(_reset_kernel(heap), launched as in 2, frees all blocks at once.
//    kma_)",
        name, R"(_clear_errors_kernel(heap), 64 work-items, sets the errors to 0.

)");
}

std::string without_line_directives(const std::string &text)
{
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("#line "))
            kept += line + '\n';
    return kept;
}

} // namespace

std::string emit(HeapKind kind)
{
    const std::string name = name_of(kind);
    std::vector<Source> left_out;
    for (const HeapKind other : {HeapKind::bump, HeapKind::superblock})
        if (other != kind)
            left_out.push_back(
                {say("kma/heap/", name_of(other), ".cl"), say("// (no ", name_of(other), " heap in this file)\n")});
    // The same file may come twice, as a header does. Two kinds' files would hide parts of each other.
    const std::string body =
        say("#if defined(KMA_KMA_CL) && !defined(KMA_EMITTED_", name, ")\n",
            "#error \"one program takes one of kma's single files, or kma/kma.cl, not several\"\n",
            "#endif\n#define KMA_EMITTED_", name, "\n", "#ifndef KMA_HEAP\n#define KMA_HEAP ", name, "\n#endif\n", //
            "#include \"kma/kma.cl\"\n#include \"kma/kernels/", name, "_kernels.cl\"\n");
    // A user's own text follows: the compiler shall count lines as in the file.
    return manual(kind) + without_line_directives(expand({{"emitted", body}}, left_out));
}

} // namespace kma
