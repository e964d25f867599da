#!/usr/bin/env python3
"""Each rule of lint.py and prose.py has a text that it must find, and one that it must not."""
import sys

import lint
import prose

# rule, path, what it must find (in the last line), what it must not find
CASES = [
    ("cast_atomic", "kma/heap/x.cl", "uint v = *(global uint *)&node->next;", "global uint *v = (global uint *)block;"),
    ("volatile", "kma/lockfree/x.cl", "volatile global uint *p;", "// not volatile"),
    ("orders", "kma/platform/memory_c11.cl", "f(memory_order_seq_cst);", "f(memory_order_acq_rel, memory_scope_device);"),
    ("orders", "kma/platform/memory_c11.cl", "f(memory_scope_all_svm_devices);", "f(memory_scope_work_group);"),
    ("orders", "kma/heap/x.cl", "atomic_fetch_add_explicit(p, 1, o, s);", "kma_fetch_add_u32(p, 1, KMA_RELAXED);"),
    ("orders", "kma/heap/x.cl", "atomic_inc(p);", "kma_atomic_u32 atomic_words;"),
    ("orders", "kma/heap/x.cl", "mem_fence(CLK_GLOBAL_MEM_FENCE);", "kma_fence(KMA_ACQUIRE);"),
    ("reserved", "kma/heap/x.cl", "uint any = 3;", "uint many = 3;"),
    ("reserved", "kma/heap/x.cl", "static inline uint f(uint T)", "#define KMA_F(T) (T)"),
    ("recursion", "kma/heap/x.cl", "static inline void a(void)\n{\n    a();\n}",
     "static inline void a(void)\n{\n    b();\n}"),
    ("no_such_c", "kma/heap/x.cl", "double d;", "float d;"),
    ("linkage", "kma/heap/x.cl", "static uint count;", "static inline uint count(void);"),
    ("linkage", "kma/heap/x.cl", "constant uint table[3] = {1, 2, 3};", "#define KMA_N 3"),
    ("linkage", "kma/heap/x.cl", "uint f(void)\n{", "static inline uint f(void)\n{"),
    ("linkage", "kma/heap/slab/x.cl", "kernel void f(uint n)\n{", "static inline void f(void)\n{"),
    ("linkage", "samples/graph/x.cl", "uint f(void)\n{", "kernel void f(uint n)\n{"),
    ("orders", "samples/graph/x.cl", "atomic_inc(p);", "kma_fetch_add_u32(p, 1, KMA_RELAXED);"),
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


def main():
    found = {
        True: lambda path, text: {one.rule for one in lint.lint((lint.read(path, text),))},
        False: lambda path, text: {rule for _, rule, _ in prose.lint("x", text)},
    }
    cases = CASES + [(rule, None, bad, good) for rule, bad, good in PROSE_CASES]
    wrong = []
    for rule, path, bad, good in cases:
        rules = found[path is not None]
        if rule not in rules(path, bad):
            wrong.append(f"{rule} does not find:\n{bad}\n")
        if rule in rules(path, good):
            wrong.append(f"{rule} finds, but must not:\n{good}\n")
    names = lint.NAMES | {rule.__name__ for rule in prose.RULES}
    wrong += [f"{rule} has no case here" for rule in sorted(names - {case[0] for case in cases})]
    text = "/* two\nlines */\n\n    for (;;) {\n"
    line = lint.lint((lint.read("kma/heap/x.cl", text),))[0].line
    if line != 4:
        wrong.append(f"a finding of line 4 is said to be in line {line}")
    print("\n".join(wrong + [f"{len(cases)} cases, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
