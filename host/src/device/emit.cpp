// Generates one self-contained .cl text for a kind of heap, for programs in C, Python and other
// languages.
#include <sstream>
#include <string_view>

#include "kma/heap_errors.hpp"
#include "kma/source.hpp"
#include "kma/version.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

// How to size and initialise a heap of this kind. The numbers are those of the layouts.
std::string bump_manual()
{
    const std::uint64_t begin = sizeof(layout::kma_bump);
    return say("// 1. Create a buffer of B bytes, ", begin + KMA_UNIT, " at least. ", begin,
               " of them are metadata; a block takes what was\n"
               "//    asked for, rounded up to 16. Nothing is reused before a reset.\n"
               "// 2. Run kma_bump_init_kernel(heap, B) with 64 work-items; B is a ulong.\n");
}

std::string superblock_manual()
{
    return say(
        "// 1. Create a buffer of B bytes. For n superblocks of S = 16 << shift bytes, shift ",
        KMA_SUPERBLOCK_MIN_SHIFT, " to ", KMA_SUPERBLOCK_MAX_SHIFT,
        ",\n"
        "//        B = n * (S + S / 128 + 40) + 16384\n"
        "//    always suffices. S is the largest block; the power of two not above B / 128 is a "
        "good choice. A\n"
        "//    superblock has blocks of one size: 16, 32, 48 or 64 bytes, or one of the four sizes "
        "from each power\n"
        "//    of two to the next; a request takes the next larger one. Have one superblock more "
        "for each size than\n"
        "//    its blocks fill.\n"
        "// 2. Run kma_superblock_init_kernel(heap, B, shift) with (B / 4194304 + 1) * 64 "
        "work-items in groups of 64;\n"
        "//    B is a ulong, shift a uint. Without room for a superblock, or with another shift, "
        "the heap has none:\n"
        "//    every request is too large for it, and its statistics count 0 superblocks.\n");
}

std::string scatter_manual()
{
    return say("// 1. Create a buffer of B bytes. For n pages of P = 16 << shift bytes, shift ",
               KMA_SCATTER_MIN_SHIFT, " to ", KMA_SCATTER_MAX_SHIFT,
               ",\n"
               "//        B = n * (P + P / 128 + 16) + 16384\n"
               "//    always suffices. A page has blocks of one size: up to P / 8 16, 32, 48 or 64 "
               "bytes, or one of the four\n"
               "//    sizes from each power of two to the next, then P / 7, P / 6 ... P, in "
               "multiples of 16; a request takes\n"
               "//    the next larger one. Larger requests take whole pages side by side, "
               "2^super_shift at most. Have up to\n"
               "//    256 pages more for each size than its blocks fill.\n"
               "// 2. Run kma_scatter_init_kernel(heap, B, shift, super_shift) with about B / "
               "16384 work-items; B is a "
               "ulong,\n"
               "//    shift a uint, super_shift a uint from 0 to ",
               KMA_SCATTER_MAX_SUPER_SHIFT,
               ". Without room for a page, or with other shifts, the heap has\n"
               "//    none: every request is too large for it, and its statistics count 0 "
               "superblocks, which are super blocks.\n");
}

std::string slab_manual()
{
    return say("// 1. Create a buffer of B bytes. For n frames of 8 KiB\n"
               "//        B = n * 8342 + 16384\n"
               "//    always suffices. A block takes the next multiple of 16 bytes up to 128, then "
               "the next of eight sizes from\n"
               "//    each power of two to the next; above 8 KiB whole 256 bytes. Blocks of up to "
               "1 KiB lie in frames with\n"
               "//    blocks of one size: have twice the frames that they fill, and eight more for "
               "each size.\n"
               "// 2. Run kma_slab_init_kernel(heap, B, cursors) with about B / 8192 work-items; B "
               "is a ulong, cursors a uint:\n"
               "//    0, or a divisor of the device's compute units from 8 to ",
               KMA_SLAB_CURSORS,
               ". Without room for a frame the heap has\n"
               "//    none: every request is too large for it, and its statistics count 0 "
               "superblocks, which are frames.\n");
}

std::string manual_of_sizes(HeapKind kind)
{
    switch (kind) {
    case HeapKind::bump:
        return bump_manual();
    case HeapKind::superblock:
        return superblock_manual();
    case HeapKind::scatter:
        return scatter_manual();
    case HeapKind::slab:
        return slab_manual();
    }
    return {};
}

std::string growth_manual(HeapKind kind)
{
    const std::string name = name_of(kind);
    const bool is_bump = kind == HeapKind::bump, is_scatter = kind == HeapKind::scatter,
               is_slab = kind == HeapKind::slab;
    return say(
        "// 6. A heap that may grow to M bytes, a ulong: prepare it by kma_", name,
        "_init_growing_kernel(heap, B, M",
        is_bump      ? ")"
        : is_scatter ? ", shift,\n//    super_shift)"
        : is_slab    ? ", cursors)"
                     : ", shift)",
        ".\n",
        is_bump   ? ""
        : is_slab ? "//    With N frames at most, n at first: B = n * 8192 + N * 148 + 32768.\n"
        : is_scatter
            ? "//    With N pages at most, n at first: B = n * P + N * (P / 128 + 16) + 16384.\n"
            : "//    With N superblocks at most, n at first: B = n * S + N * (S / 128 + 40) + "
              "16384.\n",
        "//    To let it grow, create a larger buffer, copy all of the old one to its beginning, "
        "and run\n//    kma_",
        name,
        "_grow_kernel(heap, B) on it, one work-item, with its own B. Refs stay, pointers do "
        "not.\n");
}

// The numbers of kma_heap_stats in their order, each with its index.
std::string stats_list()
{
    std::string text;
    std::size_t index = 0;
#define KMA_LINE_OF_STATS(name, meaning)                                                           \
    text += say("//      [", index++, "] " #name ": " meaning "\n");
    KMA_HEAP_STATS(KMA_LINE_OF_STATS)
#undef KMA_LINE_OF_STATS
    for (std::uint32_t code = 0; code < KMA_ERROR_CODES; code++) {
        const std::string what = explain(static_cast<ErrorCode>(code));
        text += say("//      [", index++, "] errors: ", what.substr(0, what.find(':')), "\n");
    }
    return text;
}

std::string manual(HeapKind kind)
{
    const std::string name = name_of(kind);
    return say(
        "// kma ", version(), ": malloc for OpenCL kernels, the ", name,
        " heap in one file, made by `kma emit --heap ", name,
        "`.\n"
        "// SPDX-License-Identifier: MIT. Copyright (c) 2026 The kma authors\n"
        "//\n"
        "// Build this text with your kernels behind it as one program. Begin yours with #line 1 "
        "\"yours.cl\", and\n"
        "// the compiler's messages count its lines. All programs that touch a heap need the same "
        "-DKMA_... options:\n"
        "// KMA_DEBUG=1 to 3 adds checks, for a buffer that is no heap too; KMA_STD_NAMES also "
        "calls the functions\n"
        "// malloc, free, ...; NVIDIA GPUs before Volta need KMA_NV_ARCH=61, or what their compute "
        "capability is.\n"
        "// Macros of your own by -D need a capital letter in their names, for this text has "
        "variables such as n.\n"
        "// -cl-std=CL3.0, where the device has it, lets the compiler offer more.\n",
        kind == HeapKind::slab
            ? "// On NVIDIA GPUs add -cl-nv-maxrregcount=48, or malloc takes some 160 registers.\n"
            : "",
        "//\n", manual_of_sizes(kind),
        "// 3. Give the buffer to kernels:\n"
        "//        kernel void f(global kma_heap *heap)\n"
        "//        {\n"
        "//            global float *p = kma_malloc(heap, 100);  // NULL if there is no room\n"
        "//            if (p) { ...; kma_free(heap, p); }        // here or in any later kernel\n"
        "//        }\n"
        "//    Also kma_calloc(heap, count, size), kma_aligned_alloc(heap, align, bytes), "
        "KMA_NEW(heap, type),\n//   ",
        kind == HeapKind::bump ? " kma_realloc_sized(heap, ptr, old_bytes, bytes)"
                               : " kma_realloc(heap, ptr, bytes), kma_usable_size(heap, ptr)",
        ", kma_ref_of(heap, ptr) and kma_deref(heap, ref).\n"
        "//    A ref is 32 bits: where a place is, on the host too, in units of 16 bytes from the "
        "buffer's start; 0 "
        "is\n"
        "//    null. kma_ref_load_acquire, _store_release and _cas publish refs to other "
        "work-groups.\n"
        "// 4. kma_",
        name,
        "_stats_kernel(heap, stats), one group of 64 work-items while no other kernel runs, writes "
        "these\n"
        "//    numbers, each a ulong; all 0 for a buffer that is no heap:\n",
        stats_list(), "// 5. kma_", name,
        "_reset_kernel(heap), launched as in 2, frees all blocks at once.\n//    kma_", name,
        "_clear_errors_kernel(heap), 64 work-items, sets the errors to 0.\n", growth_manual(kind),
        "\n");
}

// For compilers and file readers that accept ASCII only.
std::string in_ascii(std::string text)
{
    for (std::size_t at = 0; (at = text.find("\u2026", at)) != std::string::npos;)
        text.replace(at, std::string_view("\u2026").size(), "...");
    return text;
}

constexpr const char *several = "#error \"a program takes one of kma's single files; for both "
                                "heaps use -I and include kma/kma.cl\"\n";

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
    std::vector<Source> instead;
    for (const Source &source : sources())
        if (source.name == "kma/kma.cl") // without its head, which describes how to include it
            instead.push_back({source.name, source.text.substr(source.text.find("#ifndef"))});
    // The emitted file may be included twice. Emitted files of two kinds would hide parts of each
    // other, which is an #error.
    const std::string body =
        say("#if defined(KMA_KMA_CL) && !defined(KMA_EMITTED_", name, ")\n", several,
            "#endif\n#define KMA_EMITTED_", name, "\n", "#ifndef KMA_HEAP\n#define KMA_HEAP ", name,
            "\n#endif\n", //
            "#include \"kma/kma.cl\"\n#include \"kma/heap/", name, "/kernels.cl\"\n");
    // The user's text follows: without #line directives the compiler counts lines as in the file.
    return manual(kind) + without_line_directives(
                              in_ascii(expand({{"emitted", body}}, instead, "-DKMA_HEAP=" + name)));
}

} // namespace kma
