#include "misuse_cases.hpp"

#include <algorithm>

using kma::ErrorCode;

namespace conformance {
namespace {

constexpr cl_ulong unit = kma::ref_unit;
constexpr cl_ulong top = ~cl_ulong{0};

constexpr cl_ulong down(cl_ulong bytes) // as an offset
{
    return 0 - bytes;
}

} // namespace

UnitRange blocks_range(const kma::Heap &heap)
{
    UnitRange range;
    test::device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 24, sizeof range, &range);
    return range;
}

std::vector<WrongPointer> wrong_pointers(const kma::Heap &heap, const Blocks &blocks, cl_uint freed_ref,
                                         cl_uint others_ref)
{
    const std::vector<cl_uint> refs = blocks.refs();
    const cl_ulong first = refs[0] * unit, second = refs[1] * unit;
    const cl_ulong last = *std::ranges::max_element(refs) * unit;
    const cl_ulong bytes = heap.stats().bytes;
    const UnitRange range = blocks_range(heap);
    return {
        {"a freed block", Base::heap, freed_ref * unit, false, true},
        {"the second unit of a block", Base::heap, first + unit},
        {"the last unit of a block", Base::heap, first + 3 * unit},
        {"the unit in front of a block", Base::heap, second - unit},
        {"a block and 8 bytes", Base::heap, first + 8},
        {"a block and a byte", Base::heap, first + 1},
        {"a block and 15 bytes", Base::heap, second + 15},
        {"what was never handed out", Base::heap, last + 64, true},
        {"what was never handed out, at an odd place", Base::heap, last + 72},
        {"the heap's last unit", Base::heap, (range.limit - cl_ulong{1}) * unit, true},
        {"the heap's limit", Base::heap, range.limit * unit},
        {"the heap's end", Base::heap, (bytes + unit - 1) / unit * unit},
        {"what is above the heap", Base::heap, bytes + (1 << 20)},
        {"a block and 2^36 bytes", Base::heap, first + (cl_ulong{1} << 36)},
        {"a block and 2^63 bytes", Base::heap, first + (cl_ulong{1} << 63)},
        {"the heap itself", Base::heap, 0},
        {"the heap's head", Base::heap, unit},
        {"the middle of the metadata", Base::heap, range.begin / 2 * unit},
        {"the last unit of the metadata", Base::heap, (range.begin - cl_ulong{1}) * unit},
        {"what is below the heap", Base::heap, down(64)},
        {"what is far below the heap", Base::heap, down(cl_ulong{1} << 40)},
        {"another heap's block", Base::other_heap, others_ref * unit},
        {"another buffer", Base::foreign_buffer, 0},
        {"a private variable", Base::private_variable, 0},
        {"a local variable", Base::local_variable, 0},
        {"the address 16", Base::nothing, unit},
        {"the largest address", Base::nothing, top},
        {"the last unit of all addresses", Base::nothing, down(unit)},
    };
}

std::vector<Misuse> pointer_misuses(const std::vector<WrongPointer> &pointers)
{
    std::vector<Misuse> all;
    for (const WrongPointer &pointer : pointers) {
        const std::optional<ErrorCode> of_free =
            pointer.is_freed_block ? ErrorCode::double_free : ErrorCode::invalid_free;
        const std::optional<ErrorCode> invalid = ErrorCode::invalid_free;
        all.insert(all.end(), {{"free", MisuseCall::free, pointer, 0, 0, of_free, 0},
                               {"realloc to more", MisuseCall::realloc, pointer, 200, 0, invalid, 200},
                               {"realloc to less", MisuseCall::realloc, pointer, 1, 0, invalid, 1},
                               {"realloc to 0", MisuseCall::realloc, pointer, 0, 0, invalid, 0},
                               {"realloc to 2^64 - 1", MisuseCall::realloc, pointer, top, 0, invalid, top},
                               {"realloc_sized", MisuseCall::realloc_sized, pointer, 64, 200, invalid, 200},
                               {"usable_size", MisuseCall::usable_size, pointer, 0, 0, {}, 0}});
    }
    return all;
}

std::vector<Misuse> number_misuses(const Subject &subject, const WrongPointer &living, cl_ulong old_bytes)
{
    const std::optional<ErrorCode> too_large = ErrorCode::too_large;
    const WrongPointer null = {"NULL"};
    std::vector<Misuse> all;
    for (const cl_ulong bytes :
         {(cl_ulong{1} << 32) - 1, cl_ulong{1} << 32, (cl_ulong{1} << 32) + 1, (cl_ulong{1} << 36) - 16,
          cl_ulong{1} << 36, (cl_ulong{1} << 36) + 16, cl_ulong{1} << 63, top - 16, top - 15, top - 14, top}) {
        const std::string of = " of " + std::to_string(bytes);
        all.insert(all.end(),
                   {{"malloc" + of, MisuseCall::malloc, null, bytes, 0, too_large, bytes},
                    {"calloc once" + of, MisuseCall::calloc, null, 1, bytes, too_large, bytes},
                    {"calloc of bytes" + of, MisuseCall::calloc, null, bytes, 1, too_large, bytes},
                    {"aligned_alloc" + of, MisuseCall::aligned_alloc, null, 16, bytes, too_large, bytes},
                    {"realloc_sized of nothing" + of, MisuseCall::realloc_sized, null, 0, bytes, too_large, bytes},
                    {"realloc_sized" + of, MisuseCall::realloc_sized, living, old_bytes, bytes, too_large, bytes}});
        if (subject.can(Ability::know_blocks))
            all.push_back({"realloc" + of, MisuseCall::realloc, living, bytes, 0, too_large, bytes});
    }
    // Products of which 64 bits keep 0, 2, 4, 16 or the most; the record has the largest number.
    const std::pair<cl_ulong, cl_ulong> products[] = {{cl_ulong{1} << 32, cl_ulong{1} << 32},
                                                      {(cl_ulong{1} << 63) + 1, 2},
                                                      {2, (cl_ulong{1} << 63) + 2},
                                                      {(cl_ulong{1} << 60) + 1, 16},
                                                      {(cl_ulong{1} << 32) + 1, top - 3},
                                                      {top, top},
                                                      {3, top / 3 + 1}};
    for (const auto &[count, size] : products)
        all.push_back({"calloc of " + std::to_string(count) + " times " + std::to_string(size), MisuseCall::calloc,
                       null, count, size, too_large, top});
    for (const cl_ulong align : {cl_ulong{0}, cl_ulong{3}, cl_ulong{17}, cl_ulong{24}, subject.type->largest_alignment + 1,
                                 subject.type->largest_alignment * 2, cl_ulong{1} << 63, top}) {
        const std::string of = " to " + std::to_string(align);
        all.push_back({"aligned_alloc" + of, MisuseCall::aligned_alloc, null, align, 32, ErrorCode::bad_alignment, align});
        all.push_back({"aligned_alloc of 0 bytes" + of, MisuseCall::aligned_alloc, null, align, 0, {}, 0});
    }
    for (const MisuseCall call : {MisuseCall::malloc, MisuseCall::calloc, MisuseCall::realloc_sized, MisuseCall::free})
        all.push_back({"nothing for nothing", call, null, 0, 0, {}, 0});
    if (subject.can(Ability::know_blocks))
        for (const MisuseCall call : {MisuseCall::realloc, MisuseCall::usable_size})
            all.push_back({"nothing for NULL", call, null, 0, 0, {}, 0});
    return all;
}

std::vector<Misuse> all_calls(const Subject &subject, const WrongPointer &living)
{
    const WrongPointer null = {"NULL"};
    std::vector<Misuse> all = {{"malloc", MisuseCall::malloc, null, 64, 0, {}, 0},
                               {"malloc of 0", MisuseCall::malloc, null, 0, 0, {}, 0},
                               {"calloc", MisuseCall::calloc, null, 4, 16, {}, 0},
                               {"calloc beyond 2^64", MisuseCall::calloc, null, top, 2, {}, 0},
                               {"aligned_alloc", MisuseCall::aligned_alloc, null, 64, 64, {}, 0},
                               {"aligned_alloc to 3", MisuseCall::aligned_alloc, null, 3, 64, {}, 0},
                               {"realloc_sized", MisuseCall::realloc_sized, living, 64, 200, {}, 0},
                               {"realloc_sized of NULL", MisuseCall::realloc_sized, null, 0, 200, {}, 0},
                               {"free", MisuseCall::free, living, 0, 0, {}, 0},
                               {"free of NULL", MisuseCall::free, null, 0, 0, {}, 0}};
    if (subject.can(Ability::know_blocks))
        for (const WrongPointer &pointer : {living, null})
            all.insert(all.end(), {{"realloc", MisuseCall::realloc, pointer, 200, 0, {}, 0},
                                   {"realloc to 0", MisuseCall::realloc, pointer, 0, 0, {}, 0},
                                   {"usable_size", MisuseCall::usable_size, pointer, 0, 0, {}, 0}});
    return all;
}

} // namespace conformance
