// Symbolic differentiation. Each work-item has an expression of numbers, x, sums and products,
// modulo 2^32. In each round it replaces the expression by its simplified derivative, in every
// fifth round by a new expression. A derivative shares some parts of its original and drops others:
// only a collector can tell which parts are garbage. The types are declared in main.cpp; their
// numbers, in the same order, are:
#define NUMBER 1u
#define VARIABLE 2u
#define SUM 3u
#define PRODUCT 4u

#define LEAVES 8u // of a new expression
// More than the levels of the deepest expression: a new one has 4, and each of four derivatives
// adds at most two.
#define DEPTH 16u

static inline kma_ref number(global kma_heap *heap, uint value)
{
    global Number *made = Number_new(heap);
    if (made)
        made->value = value;
    return kma_ref_of(heap, made);
}

static inline uint type_of(global kma_heap *heap, kma_ref expression)
{
    return kma_type_of(heap, kma_deref(heap, expression));
}

static inline bool is_number(global kma_heap *heap, kma_ref expression, uint *value)
{
    if (type_of(heap, expression) != NUMBER)
        return false;
    *value = Number_at(heap, expression)->value;
    return true;
}

// Returns left + right, simplified; KMA_NULL if either is KMA_NULL, or if memory is exhausted.
static inline kma_ref sum(global kma_heap *heap, kma_ref left, kma_ref right)
{
    if (left == KMA_NULL || right == KMA_NULL)
        return KMA_NULL;
    uint a = 1, b = 1;
    const bool has_a = is_number(heap, left, &a), has_b = is_number(heap, right, &b);
    if (has_a && has_b)
        return number(heap, a + b);
    if (a == 0 || b == 0)
        return a == 0 ? right : left;
    global Sum *made = Sum_new(heap);
    if (made) {
        made->first = left;
        made->second = right;
    }
    return kma_ref_of(heap, made);
}

// Returns left * right, simplified; KMA_NULL as sum() does.
static inline kma_ref product(global kma_heap *heap, kma_ref left, kma_ref right)
{
    if (left == KMA_NULL || right == KMA_NULL)
        return KMA_NULL;
    uint a = 2, b = 2;
    const bool has_a = is_number(heap, left, &a), has_b = is_number(heap, right, &b);
    if (a == 0 || b == 0 || (has_a && has_b))
        return number(heap, a * b);
    if (a == 1 || b == 1)
        return a == 1 ? right : left;
    global Product *made = Product_new(heap);
    if (made) {
        made->first = left;
        made->second = right;
    }
    return kma_ref_of(heap, made);
}

// Returns a new expression; KMA_NULL if memory is exhausted.
static inline kma_ref new_expression(global kma_heap *heap, uint seed)
{
    kma_ref parts[LEAVES];
    for (uint i = 0; i < LEAVES; i++) {
        const uint random = kma_mix32(seed * 64 + i);
        parts[i] =
            random % 3 == 0 ? number(heap, random >> 8) : kma_ref_of(heap, Variable_new(heap));
    }
    for (uint count = LEAVES / 2; count != 0; count /= 2)
        for (uint i = 0; i < count; i++)
            parts[i] = kma_mix32(seed * 64 + 32 + count + i) % 2 == 0
                           ? sum(heap, parts[2 * i], parts[2 * i + 1])
                           : product(heap, parts[2 * i], parts[2 * i + 1]);
    return parts[0];
}

// A node on the path of a tree walk. `state` is the number of operands visited or being visited.
typedef struct level {
    kma_ref expression;
    uint state;
    uint left; // the walk's result for the left operand
} level;

static inline kma_ref operand(global kma_heap *heap, kma_ref expression, uint which)
{
    global const kma_ref *operands = (global const kma_ref *)kma_deref(heap, expression);
    return operands[which]; // Sum and Product have the same layout
}

// Returns the simplified derivative; KMA_NULL if memory is exhausted.
static inline kma_ref derivative(global kma_heap *heap, kma_ref expression)
{
    level levels[DEPTH];
    uint depth = 1;
    kma_ref found = KMA_NULL;
    levels[0] = (level){expression, 0, KMA_NULL};
    while (depth != 0) { // ends: at most three iterations per node
        level *at = &levels[depth - 1];
        const uint type = type_of(heap, at->expression);
        if (type == NUMBER || type == VARIABLE) {
            found = number(heap, type == VARIABLE);
            depth--;
        } else if (at->state < 2) {
            if (at->state == 1)
                at->left = found;
            levels[depth++] = (level){operand(heap, at->expression, at->state), 0, KMA_NULL};
            at->state++;
            continue;
        } else {
            const kma_ref left = operand(heap, at->expression, 0),
                          right = operand(heap, at->expression, 1);
            found = type == SUM
                        ? sum(heap, at->left, found)
                        : sum(heap, product(heap, at->left, right), product(heap, left, found));
            depth--;
        }
        if (found == KMA_NULL)
            return KMA_NULL; // out of memory
    }
    return found;
}

// Returns a hash of the whole expression.
static inline uint fingerprint(global kma_heap *heap, kma_ref expression)
{
    level levels[DEPTH];
    uint depth = 1;
    uint found = 0;
    levels[0] = (level){expression, 0, 0};
    while (depth != 0) { // ends: at most three iterations per node
        level *at = &levels[depth - 1];
        const uint type = type_of(heap, at->expression);
        if (type == NUMBER || type == VARIABLE) {
            found =
                kma_mix32(type == VARIABLE ? 7 : Number_at(heap, at->expression)->value * 2 + 1);
            depth--;
        } else if (at->state < 2) {
            if (at->state == 1)
                at->left = found;
            levels[depth++] = (level){operand(heap, at->expression, at->state), 0, 0};
            at->state++;
        } else {
            found = kma_mix32(at->left * 31 + found * 37 + type);
            depth--;
        }
    }
    return found;
}

// Runs rounds until `rounds` are done or memory is exhausted. A further launch continues there.
kernel void differentiate(global kma_heap *heap, global kma_ref *expressions, global uint *done,
                          global uint *checks, uint count, uint rounds)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    for (uint round = done[i]; round < rounds; round++) {
        const kma_ref next = round % 5 == 0 ? new_expression(heap, i * rounds + round)
                                            : derivative(heap, expressions[i]);
        if (next == KMA_NULL)
            return;
        expressions[i] = next;
        checks[i] = kma_mix32(checks[i] + fingerprint(heap, next));
        done[i] = round + 1;
    }
}
