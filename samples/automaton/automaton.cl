// Kernels of the automaton sample: match many inputs with many regular expressions at once. The
// expressions form one non-deterministic automaton, and an input is in several of its states at a
// time (Thompson, 1968; Spliet, thesis, 3.2.1). The number of these states is not known in advance.
// They are items of a work queue in a heap:
//
//   item       an input that waits in a state for its next character
//   round      reads one character of each input; in round r, r characters were read before
//   followers  of a state: the states that come after it; items of the next round. If a
//              state does not wait for the input's next character, its item has none
//
// The automaton has no empty moves: the host has eliminated them. All expressions share one start
// state; its followers are the first states of the expressions. Each expression ends in an
// accepting state of its own, which waits for no character.
#include "kma/containers/work_queue.cl"

typedef struct automaton_state {
    uint characters[8];    // bit c: the state waits for character c
    uint first_follower;   // its followers begin at this index
    uint end_of_followers; // and end before this one
    uint accepts;          // 1: the end of an expression; else 0
} automaton_state;

typedef struct automaton_item {
    uint input;
    uint state;
} automaton_item;

// Input i: the characters starts[i] … starts[i + 1] - 1 of the text.
typedef struct automaton_inputs {
    global const uchar *text;
    global const uint *starts;
} automaton_inputs;

// The automaton and its counters. `reached` has one word per pair of input and state: 1 + the last
// round in which the input was in the state; initially 0.
typedef struct automaton {
    global const automaton_state *states; // state 0 is the start
    global const uint *followers;
    uint state_count;
    global kma_atomic_u32 *reached;
    global kma_atomic_u32 *lost; // items for which there was no memory
} automaton;

static inline uint automaton_length(const automaton_inputs *inputs, uint input)
{
    return inputs->starts[input + 1] - inputs->starts[input];
}

static inline bool automaton_waits_for(global const automaton_state *state, uchar character)
{
    return (state->characters[character / 32] >> character % 32 & 1) != 0;
}

// True for the first item in this round that brings the input to this state. Several paths often
// lead to one state. If each of them added an item, the items' number would grow exponentially.
static inline bool automaton_is_first(const automaton *nfa, uint input, uint state, uint round)
{
    global kma_atomic_u32 *reached = &nfa->reached[(size_t)input * nfa->state_count + state];
    return kma_exchange_u32(reached, round + 1, KMA_RELAXED) != round + 1;
}

static inline void automaton_add(global kma_heap *heap, const automaton *nfa,
                                 global kma_array_list *list, uint input, uint state)
{
    const uint index = kma_array_list_grow(heap, list, 1);
    if (index == KMA_ARRAY_LIST_NONE) {
        kma_fetch_add_u32(nfa->lost, 1, KMA_RELAXED);
        return;
    }
    global automaton_item *item = (global automaton_item *)kma_array_list_get(heap, list, index);
    item->input = input;
    item->state = state;
}

// Follows an input from state `from`, with `round` characters read. At the input's end adds a match
// for each accepting follower; before its end adds each other follower to the next round.
static inline void automaton_follow(global kma_heap *heap, const automaton *nfa,
                                    const automaton_inputs *inputs, uint input, uint round,
                                    global const automaton_state *from, global kma_array_list *next,
                                    global kma_array_list *matches)
{
    const uint is_at_end = round == automaton_length(inputs, input) ? 1 : 0;
    for (uint i = from->first_follower; i < from->end_of_followers; i++) {
        const uint state = nfa->followers[i];
        if (nfa->states[state].accepts == is_at_end && automaton_is_first(nfa, input, state, round))
            automaton_add(heap, nfa, is_at_end ? matches : next, input, state);
    }
}

// Puts all inputs into the first round. One work-item per input.
kernel void automaton_start(global kma_heap *heap, kma_ref work, kma_ref found,
                            global const automaton_state *states, global const uint *followers,
                            uint state_count, global kma_atomic_u32 *reached,
                            global kma_atomic_u32 *lost, global const uchar *text,
                            global const uint *starts, uint input_count)
{
    const uint input = (uint)get_global_id(0);
    if (input >= input_count)
        return;
    const automaton nfa = {states, followers, state_count, reached, lost};
    const automaton_inputs inputs = {text, starts};
    global kma_array_list *next = kma_work_queue_next(heap, kma_work_queue_at(heap, work));
    automaton_follow(heap, &nfa, &inputs, input, 0, &states[0], next,
                     kma_array_list_at(heap, found));
}

// A round, one work-item per item: if the state waits for the input's next character, adds its
// followers.
kernel void automaton_round(global kma_heap *heap, kma_ref work, kma_ref found,
                            global const automaton_state *states, global const uint *followers,
                            uint state_count, global kma_atomic_u32 *reached,
                            global kma_atomic_u32 *lost, global const uchar *text,
                            global const uint *starts, uint round)
{
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    global kma_array_list *now = kma_work_queue_now(heap, queue),
                          *next = kma_work_queue_next(heap, queue);
    const uint me = (uint)get_global_id(0);
    if (me >= kma_array_list_size(now))
        return;
    const automaton_item item = *(global automaton_item *)kma_array_list_get(heap, now, me);
    if (!automaton_waits_for(&states[item.state], text[starts[item.input] + round]))
        return;
    const automaton nfa = {states, followers, state_count, reached, lost};
    const automaton_inputs inputs = {text, starts};
    automaton_follow(heap, &nfa, &inputs, item.input, round + 1, &states[item.state], next,
                     kma_array_list_at(heap, found));
}
