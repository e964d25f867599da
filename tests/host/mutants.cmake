# Seeded bugs: each is one change to a device file, and each test named with it must find a defect.
#
# kma_mutant(name FILE f FIND text REPLACE text [TIMES n] FOUND_BY tool.scenario.form[.w4] …)
#   FILE      relative to cl/ or samples/graph/
#   FIND      text that FILE contains exactly TIMES times (1); anything else makes the mutant's tests fail as stale
#   FOUND_BY  as in the names of the tests; .w4: lanes in groups of four
#
# Real threads here run on processors that hardly reorder, so what is only about orders is for Relacy.

set(mutant_iterations_relacy 1000000)
set(mutant_iterations_yield 3000)

function(kma_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILE;FIND;REPLACE;TIMES" "FOUND_BY")
  if(NOT arg_TIMES)
    set(arg_TIMES 1)
  endif()
  set(source ${PROJECT_SOURCE_DIR}/cl/${arg_FILE})
  if(NOT EXISTS ${source})
    set(source ${PROJECT_SOURCE_DIR}/samples/graph/${arg_FILE})
  endif()
  get_filename_component(stem ${arg_FILE} NAME_WE) # so that a mutant that moves to another file leaves nothing behind
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}.${stem})
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mutate.cmake)
  file(GENERATE OUTPUT ${folder}/find.txt CONTENT "${arg_FIND}")
  file(GENERATE OUTPUT ${folder}/replace.txt CONTENT "${arg_REPLACE}")
  add_custom_command(OUTPUT ${folder}/cl/${arg_FILE}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${source} -D FIND=${folder}/find.txt -D REPLACE=${folder}/replace.txt
            -D TIMES=${arg_TIMES} -D OUTPUT=${folder}/cl/${arg_FILE} -P ${script}
    DEPENDS ${source} ${folder}/find.txt ${folder}/replace.txt ${script}
    COMMENT "Seeding bug ${name}" VERBATIM)
  add_custom_target(host_mutant_${name}_file DEPENDS ${folder}/cl/${arg_FILE})
  foreach(finder IN LISTS arg_FOUND_BY)
    if(NOT finder MATCHES "^(relacy|yield)\\.([a-z]+)\\.([a-z0-9]+)(\\.w4)?$")
      message(FATAL_ERROR "kma_mutant ${name}: no such test: ${finder}")
    endif()
    set(tool ${CMAKE_MATCH_1})
    set(width 1)
    if(CMAKE_MATCH_4)
      set(width 4)
    endif()
    string(REPLACE "." "_" target host_mutant_${name}_${finder})
    kma_host_executable(${target} ${tool} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} ${folder}/cl)
    target_compile_options(${target} PRIVATE -w)
    add_dependencies(${target} host_mutant_${name}_file)
    kma_host_test(host.mutant.${name}.${finder} TARGET ${target} LABELS mutants ${tool} quick
      ARGUMENTS --width ${width} --iterations ${mutant_iterations_${tool}} --expect-failure)
  endforeach()
endfunction()

# --- The queue -------------------------------------------------------------------------------------------------------
set(queue kma/lockfree/indexed_queue.cl)

kma_mutant(queue_tag_dropped FILE ${queue}
  FIND [[((tag & tag_mask) <<]]
  REPLACE [[((tag & 0) <<]]
  FOUND_BY relacy.queue.acqrel64 relacy.queue.fenced32 yield.queue.acqrel64)

kma_mutant(queue_tag_of_one_bit FILE ${queue}
  FIND [[#ifndef KMA_QUEUE_TAG_BITS]]
  REPLACE [[#define KMA_QUEUE_TAG_BITS 1
#ifndef KMA_QUEUE_TAG_BITS]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_link_cas_is_store FILE ${queue}
  FIND [[if (kma_queue_cas(last_next, next, kma_queue_pack(node, kma_queue_tag(next) + 1), KMA_RELEASE) == next) {]]
  REPLACE [[kma_queue_store(last_next, kma_queue_pack(node, kma_queue_tag(next) + 1), KMA_RELEASE); {]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_head_cas_is_store FILE ${queue}
  FIND [[if (kma_queue_cas(&queue->head, head, kma_queue_pack(kma_queue_index(next), kma_queue_tag(head) + 1),
                          KMA_RELEASE) == head) {]]
  REPLACE [[kma_queue_store(&queue->head, kma_queue_pack(kma_queue_index(next), kma_queue_tag(head) + 1), KMA_RELEASE); {]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_swing_cas_is_store FILE ${queue}
  FIND [[kma_queue_cas(&queue->tail, tail, kma_queue_pack(node, kma_queue_tag(tail) + 1), KMA_RELEASE);]]
  REPLACE [[kma_queue_store(&queue->tail, kma_queue_pack(node, kma_queue_tag(tail) + 1), KMA_RELEASE);]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_help_cas_is_store FILE ${queue}
  FIND [[kma_queue_cas(&queue->tail, tail, kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),]]
  REPLACE [[kma_queue_store(&queue->tail, kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),]]
  TIMES 2
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_tail_not_checked_again FILE ${queue}
  FIND [[if (kma_queue_load(&queue->tail, KMA_RELAXED) != tail)]]
  REPLACE [[if (false)]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_head_not_checked_again FILE ${queue}
  FIND [[if (kma_queue_load(&queue->head, KMA_RELAXED) != head)]]
  REPLACE [[if (false)]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_tail_may_be_passed FILE ${queue}
  FIND [[if (kma_queue_index(head) == kma_queue_index(tail)) {]]
  REPLACE [[if (false) {]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

kma_mutant(queue_item_read_late FILE ${queue}
  FIND [[            nodes[item].carrier = kma_queue_index(head);
            return item;]]
  REPLACE [[            const uint late = kma_load_u32(&nodes[kma_queue_index(next)].item, KMA_RELAXED);
            nodes[late].carrier = kma_queue_index(head);
            return late;]]
  FOUND_BY relacy.queue.acqrel64 yield.queue.acqrel64)

# Every order of the queue, weakened one by one. (With fences some of them are covered by a neighbour's fence.)
kma_mutant(queue_reset_not_released FILE ${queue}
  FIND [[kma_queue_pack(KMA_QUEUE_END, kma_queue_tag(old_next) + 1), KMA_RELEASE)]]
  REPLACE [[kma_queue_pack(KMA_QUEUE_END, kma_queue_tag(old_next) + 1), KMA_RELAXED)]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_enqueue_tail_not_acquired FILE ${queue}
  FIND [[    for (;;) {
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_ACQUIRE);]]
  REPLACE [[    for (;;) {
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_RELAXED);]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_enqueue_next_not_acquired FILE ${queue}
  FIND [[kma_queue_load(last_next, KMA_ACQUIRE)]]
  REPLACE [[kma_queue_load(last_next, KMA_RELAXED)]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_link_not_released FILE ${queue}
  FIND [[kma_queue_pack(node, kma_queue_tag(next) + 1), KMA_RELEASE) == next]]
  REPLACE [[kma_queue_pack(node, kma_queue_tag(next) + 1), KMA_RELAXED) == next]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_swing_not_released FILE ${queue}
  FIND [[kma_queue_pack(node, kma_queue_tag(tail) + 1), KMA_RELEASE);]]
  REPLACE [[kma_queue_pack(node, kma_queue_tag(tail) + 1), KMA_RELAXED);]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_help_not_released FILE ${queue}
  FIND [[kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),
                          KMA_RELEASE);]]
  REPLACE [[kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),
                          KMA_RELAXED);]]
  TIMES 2
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_dequeue_head_not_acquired FILE ${queue}
  FIND [[kma_queue_load(&queue->head, KMA_ACQUIRE)]]
  REPLACE [[kma_queue_load(&queue->head, KMA_RELAXED)]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_dequeue_tail_not_acquired FILE ${queue}
  FIND [[        const kma_queue_word head = kma_queue_load(&queue->head, KMA_ACQUIRE);
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_ACQUIRE);]]
  REPLACE [[        const kma_queue_word head = kma_queue_load(&queue->head, KMA_ACQUIRE);
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_RELAXED);]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_dequeue_next_not_acquired FILE ${queue}
  FIND [[kma_queue_load(kma_queue_next(queue, kma_queue_index(head)), KMA_ACQUIRE)]]
  REPLACE [[kma_queue_load(kma_queue_next(queue, kma_queue_index(head)), KMA_RELAXED)]]
  FOUND_BY relacy.queue.acqrel64)

kma_mutant(queue_head_not_released FILE ${queue}
  FIND [[KMA_RELEASE) == head) {]]
  REPLACE [[KMA_RELAXED) == head) {]]
  FOUND_BY relacy.queue.acqrel64)

# --- The fences of the OpenCL 1.2 path -------------------------------------------------------------------------------
set(fenced kma/platform/memory_fenced.cl)

kma_mutant(fence_before_release_missing FILE ${fenced}
  FIND [[if (order & KMA_RELEASE)]]
  REPLACE [[if (false)]]
  FOUND_BY relacy.queue.fenced64 relacy.tree.fenced32)

kma_mutant(fence_after_acquire_missing FILE ${fenced}
  FIND [[if (order & KMA_ACQUIRE)]]
  REPLACE [[if (false)]]
  FOUND_BY relacy.queue.fenced64 relacy.tree.fenced32)

kma_mutant(fence_after_load_missing FILE ${fenced}
  FIND [[        const ctype value = kma_raw_load_##W(at);                                                                      \
        kma_fence_after(order);                                                                                        \]]
  REPLACE [[        const ctype value = kma_raw_load_##W(at);                                                                      \]]
  FOUND_BY relacy.queue.fenced32 relacy.tree.fenced32)

# --- The bump heap ---------------------------------------------------------------------------------------------------
set(bump kma/heap/bump.cl)
set(bump_head kma/heap/bump_head.cl)

kma_mutant(bump_crossing_subtracts FILE ${bump_head}
  FIND [[kma_store_u64(&heap->head, end, KMA_RELAXED);]]
  REPLACE [[kma_fetch_add_u64(&heap->head, (ulong)end - (start + units), KMA_RELAXED);]]
  FOUND_BY relacy.bump.acqrel64 yield.bump.acqrel64)

kma_mutant(bump_all_losers_lower FILE ${bump_head}
  FIND [[return start <= limit ? kma_bump_cross(heap, group, units, start) : 0;]]
  REPLACE [[return kma_bump_cross(heap, group, units, start < limit ? start : limit);]]
  FOUND_BY relacy.bump.acqrel64 yield.bump.acqrel64)

kma_mutant(bump_bound_too_low FILE ${bump_head}
  FIND [[if (wanted > limit - end)]]
  REPLACE [[if (wanted >= limit - end)]]
  FOUND_BY relacy.group.acqrel64.w4 yield.group.acqrel64.w4)

kma_mutant(bump_bound_too_high FILE ${bump_head}
  FIND [[if ((ulong)start + scan.total <= limit)]]
  REPLACE [[if ((ulong)start + scan.total <= limit + 1ul)]]
  FOUND_BY relacy.bump.acqrel64 yield.bump.acqrel64)

kma_mutant(bump_large_bound_too_high FILE ${bump_head}
  FIND [[while ((ulong)head + units <= limit)]]
  REPLACE [[while ((ulong)head + units <= limit + 1ul)]]
  FOUND_BY relacy.bump.acqrel32 yield.bump.acqrel32)

kma_mutant(bump_rest_of_crossing_group_lost FILE ${bump_head}
  FIND [[        if (wanted > limit - end)
            continue;]]
  REPLACE [[        if (wanted > limit - end)
            break;]]
  FOUND_BY relacy.group.acqrel64.w4 yield.group.acqrel64.w4)

kma_mutant(bump_refused_together_not_tried_alone FILE ${bump_head}
  FIND [[start != 0 ? start + scan.before : kma_bump_advance(heap, units);]]
  REPLACE [[start != 0 ? start + scan.before : 0;]]
  FOUND_BY relacy.group.fenced32.w4 relacy.group.acqrel64.w4)

kma_mutant(bump_advance_is_store FILE ${bump_head}
  FIND [[kma_bump_cas_head(&heap->head, head, head + units, KMA_RELAXED);]]
  REPLACE [[head; kma_bump_store_head(&heap->head, head + units, KMA_RELAXED);]]
  FOUND_BY relacy.bump.acqrel32 yield.bump.fenced32)

kma_mutant(bump_other_heap_not_kept_apart FILE ${bump}
  FIND [[kma_lanes_alike(kma_lanes_active(), (ulong)heap)]]
  REPLACE [[kma_lanes_active()]]
  FOUND_BY relacy.bump.acqrel64.w4 yield.bump.acqrel64.w4)

# --- The set of small integers ---------------------------------------------------------------------------------------
set(bitmap kma/lockfree/bitmap.cl)

kma_mutant(bitmap_take_not_atomic FILE ${bitmap}
  FIND [[(kma_fetch_and_u32(&bits[item / 32], ~bit, KMA_ACQ_REL) & bit) == 0]]
  REPLACE [[(kma_load_u32(&bits[item / 32], KMA_ACQUIRE) & bit) == 0 ||
        (kma_fetch_and_u32(&bits[item / 32], ~bit, KMA_ACQ_REL), false)]]
  FOUND_BY relacy.bitmap.acqrel64)

kma_mutant(bitmap_counts_late FILE ${bitmap}
  FIND [[    kma_fetch_or_u32(&bits[item / 32], 1u << (item % 32), KMA_ACQ_REL);]]
  REPLACE [[    kma_fetch_add_u32(&set->count, ~0u, KMA_RELAXED);
    kma_fetch_or_u32(&bits[item / 32], 1u << (item % 32), KMA_ACQ_REL);
    kma_fetch_add_u32(&set->count, 1, KMA_RELAXED);]]
  FOUND_BY relacy.bitmap.acqrel64)

# All orders of the set, half by half.
kma_mutant(bitmap_put_not_released FILE ${bitmap}
  FIND [[1u << (item % 32), KMA_ACQ_REL)]]
  REPLACE [[1u << (item % 32), KMA_ACQUIRE)]]
  FOUND_BY relacy.bitmap.acqrel64)

kma_mutant(bitmap_put_not_acquired FILE ${bitmap}
  FIND [[1u << (item % 32), KMA_ACQ_REL)]]
  REPLACE [[1u << (item % 32), KMA_RELEASE)]]
  FOUND_BY relacy.bitmap.acqrel64)

kma_mutant(bitmap_take_not_released FILE ${bitmap}
  FIND [[~bit, KMA_ACQ_REL)]]
  REPLACE [[~bit, KMA_ACQUIRE)]]
  FOUND_BY relacy.bitmap.acqrel64)

kma_mutant(bitmap_take_not_acquired FILE ${bitmap}
  FIND [[~bit, KMA_ACQ_REL)]]
  REPLACE [[~bit, KMA_RELEASE)]]
  FOUND_BY relacy.bitmap.acqrel64)

# --- The superblock heap ---------------------------------------------------------------------------------------------
set(sb kma/heap/superblock.cl)
set(sb_offer kma/heap/superblock_offer.cl)
set(sb_slots kma/heap/superblock_slots.cl)
set(sb_credit kma/heap/superblock_credit.cl)
set(sb_renew kma/heap/superblock_renew.cl)
set(sb_take kma/heap/superblock_take.cl)

# Tickets: one word must say both that a block is mine and in which superblock.
kma_mutant(sb_ticket_of_a_later_superblock FILE ${sb_renew}
  FIND [[share.superblock = offer.superblock;]]
  REPLACE [[share.superblock = kma_sb_look(heap, size_class).superblock;]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_draw_in_two_steps FILE ${sb_offer}
  FIND [[kma_fetch_add_u64(word, want, KMA_ACQUIRE)]]
  REPLACE [[({ const ulong was = kma_load_u64(word, KMA_ACQUIRE); kma_store_u64(word, was + want, KMA_RELAXED); was; })]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_tickets_beyond_slots FILE ${sb_renew}
  FIND [[min(kma_sb_left(offer, slots), want)]]
  REPLACE [[want]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_draw_leaves_its_field FILE ${sb_offer}
  FIND [[min(seen.drawn + want, slots + 1)]]
  REPLACE [[seen.drawn + want]]
  FOUND_BY relacy.superblock.acqrel32.w4)

kma_mutant(sb_exchange_in_two_steps FILE ${sb_offer}
  FIND [[#define kma_sb_offer_exchange kma_exchange_u64]]
  REPLACE [[#define kma_sb_offer_exchange(at, next, order)                                                               \
    ({ const ulong was = kma_load_u64(at, KMA_ACQUIRE); kma_store_u64(at, next, KMA_RELEASE); was; })]]
  FOUND_BY relacy.superblock.acqrel64 yield.superblock.acqrel64)

kma_mutant(sb_offer_cas_is_exchange FILE ${sb_offer}
  FIND [[#define kma_sb_offer_cas kma_cas_u64]]
  REPLACE [[#define kma_sb_offer_cas(at, expected, next, order) (kma_exchange_u64(at, next, order), expected)]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_former_superblock_lost FILE ${sb_renew}
  FIND [[former.superblock != KMA_SB_NONE]]
  REPLACE [[false]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_rest_of_former_offer_lost FILE ${sb_renew}
  FIND [[kma_sb_left(former, slots)]]
  REPLACE [[0]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_reclaimed_blocks_lost FILE ${sb_renew}
  FIND [[kma_sb_return(heap, offer.superblock, left)]]
  REPLACE [[kma_sb_return(heap, offer.superblock, 0)]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_nothing_reclaimed FILE ${sb_renew}
  FIND [[!kma_sb_reclaim(]]
  REPLACE [[true || !kma_sb_reclaim(]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_partial_never_reattached FILE ${sb_credit}
  FIND [[kma_bitmap_put(&cls->partial, kma_sb_set(heap, size_class), sb);]]
  REPLACE [[]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_nearly_full_never_reattached FILE ${sb_renew}
  FIND [[kma_bitmap_take_any(&cls->partial,]]
  REPLACE [[true ? KMA_SB_NONE : kma_bitmap_take_any(&cls->partial,]]
  FOUND_BY relacy.wide.acqrel64)

kma_mutant(sb_partial_not_taken_out FILE ${sb_renew}
  FIND [[kma_bitmap_take(&cls->partial, bits, sb)]]
  REPLACE [[true]]
  FOUND_BY yield.superblock.acqrel64)

kma_mutant(sb_stays_in_hand FILE ${sb_credit}
  FIND [[KMA_SB_PUT_DOWN - 1]]
  REPLACE [[KMA_SB_PUT_DOWN]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_endless_at_out_of_memory FILE ${sb_renew}
  FIND [[result == KMA_SB_EMPTY ||]]
  REPLACE [[]]
  FOUND_BY yield.superblock.acqrel64)

# Waits for one who may never come back.
kma_mutant(sb_waits_for_others FILE ${sb_renew}
  FIND [[at_last && result == KMA_SB_CONTENDED]]
  REPLACE [[false]]
  FOUND_BY relacy.freeze.acqrel64)

# Frees: the bit, then the credit, then perhaps the superblock.
kma_mutant(sb_credit_before_bit FILE ${sb}
  FIND [[    if (place.error == KMA_ERROR_CODES && !kma_sb_clear_bit(]]
  REPLACE [[    if (place.error == KMA_ERROR_CODES && kma_sb_is_set(kma_sb_bitmap(heap, place.superblock), place.slot)) {
        kma_sb_give(heap, place.superblock, place.size_class, 1);
        kma_sb_clear_bit(kma_sb_bitmap(heap, place.superblock), place.slot);
        return;
    }
    if (place.error == KMA_ERROR_CODES && !kma_sb_clear_bit(]]
  FOUND_BY yield.superblock.acqrel64)

kma_mutant(sb_double_free_gives_credit FILE ${sb}
  FIND [[    if (place.error != KMA_ERROR_CODES) {]]
  REPLACE [[    if (place.error == KMA_ERROR_DOUBLE_FREE)
        kma_sb_give(heap, place.superblock, place.size_class, 1);
    if (place.error != KMA_ERROR_CODES) {]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_full_not_kept_again FILE ${sb_credit}
  FIND [[before == 0]]
  REPLACE [[false]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_last_free_unnoticed FILE ${sb_credit}
  FIND [[kma_sb_count(before) + blocks == slots]]
  REPLACE [[false]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_settle_does_not_look_again FILE ${sb_credit}
  FIND [[kma_sb_count(kma_load_u32(&state->credit, KMA_RELAXED)) != cls->slots ||]]
  REPLACE [[true ||]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_settled_full_by_exchange FILE ${sb_credit}
  FIND [[kma_cas_u32(&state->credit, KMA_SB_KEPT, 0,]]
  REPLACE [[kma_exchange_u32(&state->credit, 0,]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_free_before_it_says_so FILE ${sb_credit}
  FIND [[kma_store_u32(&state->content, size_class | KMA_SB_FREE, KMA_RELAXED);]]
  REPLACE [[kma_queue_enqueue(kma_sb_queue(heap), sb);
            kma_store_u32(&state->content, size_class | KMA_SB_FREE, KMA_RELAXED);
            return;]]
  FOUND_BY relacy.superblock.acqrel64)

# The search for a bit.
kma_mutant(sb_search_in_one_word FILE ${sb_slots}
  FIND [[words * 64]]
  REPLACE [[1]]
  TIMES 2
  FOUND_BY relacy.wide.acqrel64)

kma_mutant(sb_search_beyond_slots FILE ${sb_slots}
  FIND [[KMA_RELAXED) | beyond;]]
  REPLACE [[KMA_RELAXED);]]
  FOUND_BY relacy.wide.acqrel64)

# Lanes.
kma_mutant(sb_classes_not_kept_apart FILE ${sb_take}
  FIND [[all_waiting & alike]]
  REPLACE [[all_waiting]]
  FOUND_BY relacy.superblock.acqrel64.w4)

kma_mutant(sb_superblocks_not_kept_apart FILE ${sb}
  FIND [[(ulong)kma_sb_state_of(heap, place.superblock)]]
  REPLACE [[(ulong)heap]]
  FOUND_BY relacy.superblock.acqrel64.w4)

kma_mutant(sb_take_not_synchronised FILE ${sb_take}
  FIND [[kma_lanes_sync(group);]]
  REPLACE [[]]
  FOUND_BY relacy.superblock.acqrel64.w4)

kma_mutant(sb_free_not_synchronised FILE ${sb}
  FIND [[kma_lanes_sync(together);]]
  REPLACE [[]]
  FOUND_BY relacy.wide.acqrel64.w4)

# Orders, half by half, as far as a test can miss them. It cannot miss those of superblock_credit.cl that tie together
# what two keepers in a row do to different words: Relacy performs each read-modify-write in its turn, on the newest
# value. Nor those of `moves`, which only make an early NULL less likely.
kma_mutant(sb_bit_not_acquired FILE ${sb_slots}
  FIND [[bit, KMA_ACQUIRE)]]
  REPLACE [[bit, KMA_RELAXED)]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_bit_not_released FILE ${sb_slots}
  FIND [[~bit, KMA_RELEASE)]]
  REPLACE [[~bit, KMA_RELAXED)]]
  FOUND_BY relacy.superblock.fenced32)

kma_mutant(sb_draw_not_acquired FILE ${sb_offer}
  FIND [[want, KMA_ACQUIRE)]]
  REPLACE [[want, KMA_RELAXED)]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_draw_of_32_bits_not_acquired FILE ${sb_offer}
  FIND [[after), KMA_ACQUIRE)]]
  REPLACE [[after), KMA_RELAXED)]]
  FOUND_BY relacy.superblock.acqrel32)

kma_mutant(sb_exchange_not_released FILE ${sb_offer}
  FIND [[next), KMA_ACQ_REL));]]
  REPLACE [[next), KMA_ACQUIRE));]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_exchange_not_acquired FILE ${sb_offer}
  FIND [[next), KMA_ACQ_REL));]]
  REPLACE [[next), KMA_RELEASE));]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_reclaim_not_acquired FILE ${sb_offer}
  FIND [[KMA_ACQUIRE) == expected]]
  REPLACE [[KMA_RELAXED) == expected]]
  FOUND_BY relacy.superblock.acqrel64)

kma_mutant(sb_settle_not_acquired FILE ${sb_credit}
  FIND [[kma_load_u32(&state->credit, KMA_ACQUIRE)]]
  REPLACE [[kma_load_u32(&state->credit, KMA_RELAXED)]]
  FOUND_BY relacy.wide.acqrel64)

kma_mutant(sb_credit_not_released FILE ${sb_credit}
  FIND [[blocks, KMA_RELEASE)]]
  REPLACE [[blocks, KMA_RELAXED)]]
  FOUND_BY relacy.wide.acqrel64)

# --- The tree of the graph sample ------------------------------------------------------------------------------------
kma_mutant(tree_child_cas_is_store FILE tree.cl
  FIND [[there = kma_ref_cas(at, KMA_NULL, ref);]]
  REPLACE [[kma_ref_store_release(at, ref);]]
  FOUND_BY relacy.tree.acqrel64 yield.tree.acqrel64)

kma_mutant(tree_link_cas_is_store FILE tree.cl
  FIND [[const kma_ref before = kma_ref_cas(&source->links, first, ref);]]
  REPLACE [[const kma_ref before = first;
        kma_ref_store_release(&source->links, ref);]]
  FOUND_BY relacy.tree.acqrel64 yield.tree.acqrel64)

kma_mutant(tree_link_next_set_once FILE tree.cl
  FIND [[    for (;;) {
        kma_ref_init(&link->next, first);]]
  REPLACE [[    kma_ref_init(&link->next, first);
    for (;;) {]]
  FOUND_BY relacy.tree.acqrel64 yield.tree.acqrel64)

set(ref kma/heap/ref.cl)
kma_mutant(ref_load_not_acquired FILE ${ref}
  FIND [[kma_load_u32(at, KMA_ACQUIRE)]]
  REPLACE [[kma_load_u32(at, KMA_RELAXED)]]
  FOUND_BY relacy.tree.acqrel64 relacy.tree.fenced32)

kma_mutant(ref_cas_not_released FILE ${ref}
  FIND [[desired, KMA_ACQ_REL)]]
  REPLACE [[desired, KMA_ACQUIRE)]]
  FOUND_BY relacy.tree.acqrel64 relacy.tree.fenced32)

kma_mutant(ref_cas_not_acquired FILE ${ref}
  FIND [[desired, KMA_ACQ_REL)]]
  REPLACE [[desired, KMA_RELEASE)]]
  FOUND_BY relacy.tree.acqrel64)

# --- Lanes -----------------------------------------------------------------------------------------------------------
set(lanes kma/platform/lanes.cl)

kma_mutant(lanes_scan_wraps FILE ${lanes}
  FIND [[sum = add_sat(sum, more);]]
  REPLACE [[sum += more;]]
  FOUND_BY relacy.lanes.acqrel64.w4 yield.lanes.acqrel64.w4)

kma_mutant(lanes_scan_does_not_end FILE ${lanes}
  FIND [[from = further == from ? me : further;]]
  REPLACE [[from = further;]]
  FOUND_BY yield.lanes.acqrel64.w4)

kma_mutant(lanes_match_ignores_zeros FILE ${lanes}
  FIND [[same &= mine ? ones : ~ones;]]
  REPLACE [[same &= ones;]]
  FOUND_BY yield.lanes.acqrel64.w4)

kma_mutant(lanes_alike_reads_half_a_key FILE ${lanes}
  FIND [[low == (uint)key && high == (uint)(key >> 32)]]
  REPLACE [[low == (uint)key]]
  FOUND_BY yield.lanes.acqrel64.w4)

# The others are told what the leader saw by a meeting that orders nothing.
kma_mutant(lanes_sync_orders_nothing FILE ${lanes}
  FIND [[static inline uint kma_lanes_count(]]
  REPLACE [[#define kma_lanes_sync(group) ((void)kma_lanes_ballot(group, true))
static inline uint kma_lanes_count(]]
  FOUND_BY relacy.lanes.acqrel64.w4)
