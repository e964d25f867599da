// The kernels of the automaton sample: many inputs against many regular expressions at once, as a
// non-deterministic automaton that is in several states at a time (Thompson, 1968; Spliet, thesis
// 3.2.1). How many states that will be nobody knows beforehand, so they are the items of a work
// queue in a heap:
//
//   item      an input that waits in a state for its next character
//   round     reads one character of each input: those of round r have read r characters
//   followers of a state, in which an input may be after it: the items of the next round. What leads to nothing dies out
//
// The automaton has no empty moves: the host has followed them already. All expressions are parts
// of it, behind one start, whose followers are where they begin; each ends in an accepting state of
// its own, which waits for nothing.
#include "kma/containers/work_queue.cl"

typedef struct automaton_state {
    uint characters[8];   // bit c: the state waits for character c
    uint first_follower;  // where its followers begin in the array of all, and
    uint end_of_followers;
    uint accepts;         // 1: the end of an expression, 0
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

// What there is but the inputs. `reached` has a word for each input and state, 0 at first: the last
// round in which the one waits in the other, and 1 more.
typedef struct automaton {
    global const automaton_state *states; // the start first
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

// Whether it is the first time in this round that the input comes to this state. Two ways often
// lead to one state: if both went on, and so at each character, there would soon be more items than
// memory.
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

// From a state that it has left the input comes to all followers, `round` characters being read. At
// its end only those count that accept, each for a match; before, only the others, which wait for
// more.
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

// Puts all inputs into the first round, a work-item for each.
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

// A round, a work-item for each item: if the state waits for the input's next character, on to what
// follows.
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
