#!/usr/bin/env python3
"""Each rule of lint.py and prose.py has a text that it must find, at a line, and one like it that it must not."""
import sys

import lint
import prose

STRUCT = "typedef struct node {\n    kma_atomic_u32 next;\n    uint own;\n} node;\n"

# rule, path, what it must find (in the last line), what it must not find
CASES = [
    ("plain_access", "kma/heap/x.cl", STRUCT + "uint n = nodes[i].next;", STRUCT + "uint n = nodes[i].own;"),
    ("plain_access", "kma/heap/x.cl", STRUCT + "node->next = other;", STRUCT + "kma_store_u32(&node->next, 3, KMA_RELAXED);"),
    ("plain_access", "kma/heap/x.cl", STRUCT + "f(a(b)->next);", STRUCT + "f(&a(b)[3].next);"),
    ("plain_access", "kma/heap/x.cl", "uint v = at->word;", "// at->word\nuint v = kma_load_u32(at, KMA_RELAXED);"),
    ("cast_atomic", "kma/heap/x.cl", "uint v = *(global uint *)&node->next;", "global uint *v = (global uint *)block;"),
    ("volatile", "kma/lockfree/x.cl", "volatile global uint *p;", "// not volatile"),
    ("orders", "kma/platform/memory_c11.cl", "f(memory_order_seq_cst);", "f(memory_order_acq_rel, memory_scope_device);"),
    ("orders", "kma/platform/memory_c11.cl", "f(memory_scope_all_svm_devices);", "f(memory_scope_work_group);"),
    ("orders", "kma/heap/x.cl", "atomic_fetch_add_explicit(p, 1, o, s);", "kma_fetch_add_u32(p, 1, KMA_RELAXED);"),
    ("orders", "kma/heap/x.cl", "atomic_inc(p);", "kma_atomic_u32 atomic_words;"),
    ("orders", "kma/heap/x.cl", "mem_fence(CLK_GLOBAL_MEM_FENCE);", "kma_fence(KMA_ACQUIRE);"),
    ("reserved", "kma/heap/x.cl", "uint any = 3;", "uint many = 3;"),
    ("reserved", "kma/heap/x.cl", "static inline uint f(uint T)", "#define KMA_F(T) (T)"),
    ("reserved", "kma/heap/x.cl", "global uint *new;", "global uint *made;"),
    ("reserved", "kma/heap/x.cl", "typedef struct q queue_t;", "typedef struct q kma_queue;"),
    ("recursion", "kma/heap/x.cl", "static inline void a(void)\n{\n    b();\n}\nstatic inline void b(void)\n{\n    a();\n}",
     "static inline void a(void)\n{\n    b();\n}\nstatic inline void b(void)\n{\n}"),
    ("no_such_c", "kma/heap/x.cl", "void (*f)(int);", "uint f(int);"),
    ("no_such_c", "kma/heap/x.cl", "static inline void f(uint n, ...) {", "static inline void f(uint n) {"),
    ("no_such_c", "kma/heap/x.cl", "    uint a[n];", "    uint a[KMA_N];"),
    ("no_such_c", "kma/heap/x.cl", "double d;", "float d;"),
    ("linkage", "kma/heap/x.cl", "static uint count;", "static inline uint count(void);"),
    ("linkage", "kma/heap/x.cl", "constant uint table[3] = {1, 2, 3};", "#define KMA_N 3"),
    ("linkage", "kma/heap/x.cl", "uint f(void)\n{", "static inline uint f(void)\n{"),
    ("linkage", "kma/heap/slab/x.cl", "kernel void f(uint n)\n{", "static inline void f(void)\n{"),
    ("linkage", "samples/graph/x.cl", "uint f(void)\n{", "kernel void f(uint n)\n{"),
    ("orders", "samples/graph/x.cl", "atomic_inc(p);", "kma_fetch_add_u32(p, 1, KMA_RELAXED);"),
    ("atomic64", "kma/heap/x.cl", "kma_atomic_u64 head;", "#if KMA_HAS_ATOMIC64\nkma_atomic_u64 head;\n#endif"),
    ("atomic64", "kma/heap/x.cl", "#if KMA_HAS_ATOMIC64\n#else\nkma_load_u64(p);\n#endif", "#if KMA_HAS_ATOMIC64\nkma_load_u64(p);\n#endif"),
    ("one_width", "kma/heap/scatter/x.cl", "#if KMA_HAS_ATOMIC64", "kma_load_u32(p, KMA_RELAXED);"),
    ("one_width", "kma/heap/slab/x.cl", "kma_atomic_u64 word;", "kma_load_u32(p, KMA_RELAXED);"),
    ("includes", "kma/lockfree/x.cl", '#include "kma/heap/common/ref.cl"', '#include "kma/platform/bits.cl"'),
    ("includes", "kma/heap/slab/x.cl", '#include "kma/heap/slab/kernels.cl"', '#include "kma/heap/slab/pages.cl"'),
    ("includes", "kma/platform/x.cl", '#include "kma/kma.cl"', '#include "kma/platform/target.cl"'),
    ("includes", "samples/graph/x.cl", "#include <math.h>", '#include "kma/containers/list.cl"'),
    ("includes", "kma/heap/x.cl", "#include <stdint.h>", '#include "kma/heap/common/header.cl"'),
    ("loops", "kma/heap/x.cl", "    for (;;) {", "    for (;;) { // once more only if another took it"),
    ("loops", "kma/heap/x.cl", "    while (kma_load_u32(p, KMA_ACQUIRE) == 0) {", "    for (uint i = 0; i < 9; i++) {"),
    ("loops", "kma/heap/x.cl", "    do {", "    // No more rounds than lanes.\n    do {"),
]


# rule of prose.py, what it must find, what it must not find
LONG = "// " + "word " * 20
PROSE_CASES = [
    ("persons", "// Who finds the chunk full brings the next one.", "// The lane that finds it full brings the next."),
    ("persons", 'throw Error("a block that he freed");', 'throw Error("a block that was freed: the shape, then this");'),
    ("persons", "The caller takes his slot.", "The lint refuses `his` in a document."),
    ("columns", LONG, LONG[:100].rstrip()),
    ("columns", "    f(" + "a, " * 40 + ");", "| a cell of a table | " + "word " * 20 + "|"),
    ("columns", LONG.replace("word ", "wörd "), "#error \"" + "word " * 20 + "\""),
]


def rules_of(path, text):
    return {finding.rule for finding in lint.lint((lint.read(path, text),))}


def main():
    wrong = 0
    for rule, path, bad, good in CASES:
        if rule not in rules_of(path, bad):
            print(f"{rule} does not find:\n{bad}\n")
            wrong += 1
        if rule in rules_of(path, good):
            print(f"{rule} finds, but must not:\n{good}\n")
            wrong += 1
    for rule, bad, good in PROSE_CASES:
        if rule not in {found for _, found, _ in prose.lint("x", bad)}:
            print(f"{rule} does not find:\n{bad}\n")
            wrong += 1
        if rule in {found for _, found, _ in prose.lint("x", good)}:
            print(f"{rule} finds, but must not:\n{good}\n")
            wrong += 1
    untested = {rule.__name__ for rule in lint.RULES + prose.RULES} - {case[0] for case in CASES + PROSE_CASES}
    for rule in sorted(untested):
        print(f"{rule} has no case here")
    line = lint.lint((lint.read("kma/heap/x.cl", "/* two\nlines */\n\n    for (;;) {\n"),))[0].line
    if line != 4:
        print(f"a finding of line 4 is said to be in line {line}")
        wrong += 1
    print(f"{len(CASES) + len(PROSE_CASES)} cases, {wrong} wrong")
    return 1 if wrong or untested else 0


if __name__ == "__main__":
    sys.exit(main())
