// Selects the implementation of each part of the platform layer. The only file that asks which
// compiler and device it is compiled for.
//
// Two independent choices, each a number that a port may define itself with -D:
//   KMA_MEMORY        device scope for loads, stores, read-modify-writes and fences (memory.cl)
//   KMA_LANES         how work-items that run together find and exchange with each other (lanes.cl)
//
// Facts:
//   KMA_IS_CPU        whether the device is a CPU
//   KMA_HAS_ATOMIC64  whether 64-bit atomics exist; -D KMA_HAS_ATOMIC64=0 forces the 32-bit forms
//
// Attributes of functions: KMA_OUTLINE, KMA_COLD, KMA_ALWAYS, KMA_COLD_IN_DEBUG. KMA_SHORT_PATHS:
// whether to save registers for NVIDIA's compiler.
#ifndef KMA_PLATFORM_TARGET_CL
#define KMA_PLATFORM_TARGET_CL

#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ < 120
#ifdef __clang__
// Ends the compilation here; otherwise hundreds of errors follow.
#pragma clang diagnostic fatal "-W#warnings"
#warning "kma needs OpenCL C 1.2 or later: leave -cl-std out, or give -cl-std=CL1.2"
#endif
#error "kma needs OpenCL C 1.2 or later: leave -cl-std out, or give -cl-std=CL1.2"
#endif

// kma's own names begin with kma_ or KMA_, or are variables and fields in lower case, which a macro
// defined before these files would change. The host library hides such macros from these files.
// This check is for programs built otherwise, and has the commonest names. It leaves out OpenCL's
// functions, such as `step`, which are macros in PoCL.
#if defined(a) || defined(b) || defined(c) || defined(i) || defined(k) || defined(n) ||            \
    defined(p) || defined(q) || defined(w) || defined(x) || defined(y) || defined(z) ||            \
    defined(at) || defined(begin) || defined(bit) || defined(bits) || defined(block) ||            \
    defined(blocks) || defined(bytes) || defined(capacity) || defined(code) || defined(count) ||   \
    defined(end) || defined(first) || defined(from) || defined(group) || defined(head) ||          \
    defined(heap) || defined(index) || defined(item) || defined(items) || defined(key) ||          \
    defined(last) || defined(left) || defined(level) || defined(limit) || defined(list) ||         \
    defined(mask) || defined(node) || defined(nodes) || defined(number) || defined(object) ||      \
    defined(offset) || defined(page) || defined(part) || defined(place) || defined(queue) ||       \
    defined(rank) || defined(result) || defined(root) || defined(rounds) || defined(row) ||        \
    defined(run) || defined(seed) || defined(self) || defined(set) || defined(shape) ||            \
    defined(shift) || defined(size) || defined(slot) || defined(slots) || defined(start) ||        \
    defined(state) || defined(sum) || defined(table) || defined(tail) || defined(top) ||           \
    defined(total) || defined(tree) || defined(type) || defined(unit) || defined(units) ||         \
    defined(used) || defined(value) || defined(word) || defined(words) || defined(work)
#error "a macro in front of kma, by -D or above the #include, is named as kma's variables are (n, size, key ...): give its name a capital letter"
#endif

// the including program supplies memory.cl's list itself (the tests' host shim)
#define KMA_MEMORY_SUPPLIED 0
#define KMA_MEMORY_CL12     1 // OpenCL C 1.2: volatile words, relaxed atomics, a fence
#define KMA_MEMORY_C11      2 // OpenCL C 2.0 or 3.0: C11 atomics with orders at device scope
// NVIDIA: PTX with orders at gpu scope, since OpenCL's own fence has work-group scope there
#define KMA_MEMORY_NV       3

#define KMA_LANES_SUPPLIED  0 // as above
#define KMA_LANES_SINGLE    1 // every work-item is a group of its own
#define KMA_LANES_SUBGROUP  2 // cl_khr_subgroup_ballot and the non-uniform built-ins
#define KMA_LANES_NV        3 // NVIDIA: PTX
#define KMA_LANES_AMDGCN    4 // AMD: clang's amdgcn built-ins

// NVIDIA's compiler announces itself with __NV_CL_C_VERSION, clang's nvptx64 target with __NVPTX__.
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)
#define KMA_IS_NV 1
// Compute capability times ten, defined by the host library, since the compiler does not expose it.
// Orders need 7.0 (Volta).
#ifndef KMA_NV_ARCH
#define KMA_NV_ARCH 70
#endif
#else
#define KMA_IS_NV 0
#endif

// On a CPU private memory is a thread's stack. Intel's compiler does not show this: the host
// library defines KMA_IS_CPU for it.
#if !defined(KMA_IS_CPU)
#if defined(__x86_64__) || defined(__aarch64__)
#define KMA_IS_CPU 1
#else
#define KMA_IS_CPU 0
#endif
#endif

#if !defined(KMA_MEMORY)
#if KMA_IS_NV && KMA_NV_ARCH >= 70
#define KMA_MEMORY KMA_MEMORY_NV
#elif KMA_IS_NV
#define KMA_MEMORY KMA_MEMORY_CL12
#elif __OPENCL_C_VERSION__ >= 300 && defined(__opencl_c_atomic_scope_device) &&                    \
    defined(__opencl_c_atomic_order_acq_rel)
#define KMA_MEMORY KMA_MEMORY_C11
// Not PoCL, which accepts -cl-std=CL2.0 without having its atomics.
#elif __OPENCL_C_VERSION__ == 200 && !defined(POCL_DEVICE_ADDRESS_BITS)
#define KMA_MEMORY KMA_MEMORY_C11
#else
#define KMA_MEMORY KMA_MEMORY_CL12
#endif
#endif

// Ballot alone does not promise right results in divergent flow: PoCL 6.0 announces it and computes
// wrong ones. The non-uniform built-ins exist only for divergent flow, and all are required.
#if !defined(KMA_LANES)
#if KMA_IS_NV
#define KMA_LANES KMA_LANES_NV
#elif defined(__AMDGCN__)
#define KMA_LANES KMA_LANES_AMDGCN
#elif defined(cl_khr_subgroup_ballot) && defined(cl_khr_subgroup_shuffle) && \
    defined(cl_khr_subgroup_non_uniform_vote) && defined(cl_khr_subgroup_non_uniform_arithmetic)
#define KMA_LANES KMA_LANES_SUBGROUP
#else
#define KMA_LANES KMA_LANES_SINGLE
#endif
#endif

#if !defined(KMA_HAS_ATOMIC64)
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)
#define KMA_HAS_ATOMIC64 1
#else
#define KMA_HAS_ATOMIC64 0
#endif
#endif

#if KMA_HAS_ATOMIC64 && KMA_MEMORY != KMA_MEMORY_SUPPLIED
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

// Checks at run time, in all heaps of the program; each level includes those below:
//   0  only checks that cost nothing
//   1  headers and pointers
//   2  red zones around blocks, poison in freed ones, and a quarantine
//   3  which work-item took each block, and where
#ifndef KMA_DEBUG
#define KMA_DEBUG 0
#endif
#if KMA_DEBUG < 0 || KMA_DEBUG > 3
#error "KMA_DEBUG must be 0, 1, 2 or 3"
#endif

// For functions that are long, on many paths, and do not exchange with other lanes. If they were
// inlined in each caller, every kernel would contain the heap many times, and a compiler for CPUs
// would take several times as long.
//
//   PoCL                    call
//   NVIDIA, KMA_DEBUG > 0   call. Compilation by ptxas 13.0 of eight calls of a scatter heap at
//                           KMA_DEBUG 2: 2 s; inlined more than 300 s
//   NVIDIA otherwise, AMD   inlined: a call costs registers even where it is not executed
//   Intel's CPUs            inlined: the vectoriser (runtime 2026.2) computed wrong values around
//                           calls in divergent flow
#if !defined(KMA_OUTLINE)
#if (defined(POCL_DEVICE_ADDRESS_BITS) && !KMA_IS_NV && !defined(__AMDGCN__)) ||                   \
    (KMA_IS_NV && KMA_DEBUG)
#define KMA_OUTLINE __attribute__((noinline))
#else
#define KMA_OUTLINE
#endif
#endif

// For functions that frequent paths call rarely. GPUs call them, too: inlined, their registers
// would add to those of the paths on NVIDIA, and its compiler takes a minute for ten thousand
// lines. Intel's CPUs inline them, as above.
//
// A cold function that exchanges with other lanes calls kma_lanes_active itself: NVIDIA's assembler
// takes a set that is passed to it for the same in all lanes (lanes_nv.cl). Functions for whole
// warps use KMA_LANES_ALL instead, which is a constant.
#if !defined(KMA_COLD)
#if KMA_IS_NV || defined(__AMDGCN__)
#define KMA_COLD __attribute__((noinline))
#else
#define KMA_COLD KMA_OUTLINE
#endif
#endif

// For functions that are inlined whatever the compiler's heuristics say.
#define KMA_ALWAYS __attribute__((always_inline))

// For malloc, free and realloc of heaps that have no cold function for all cases. With KMA_DEBUG
// they are KMA_COLD, with the same rule about lanes: checks make them long, and a program needs one
// copy of each. Without it they are inlined.
#if !defined(KMA_COLD_IN_DEBUG)
#if KMA_DEBUG
#define KMA_COLD_IN_DEBUG KMA_COLD
#else
#define KMA_COLD_IN_DEBUG
#endif
#endif

// Whether the usual case of a whole warp has a short inlined path before a cold function for all
// cases. True on NVIDIA: every register and instruction of a rare case costs time there, and lane
// operations on a constant set take a tenth of the instructions.
#if !defined(KMA_SHORT_PATHS)
#if KMA_LANES == KMA_LANES_NV
#define KMA_SHORT_PATHS 1
#else
#define KMA_SHORT_PATHS 0
#endif
#endif

// Without optimisation (-cl-opt-disable) PoCL calls every function, and its linker follows every
// chain of calls: 19 s for one malloc of the slab heap. Here `inline` inlines all functions except
// those marked above. This applies to the program's own inline functions, too.
#if defined(POCL_DEVICE_ADDRESS_BITS) && KMA_IS_CPU && !defined(__OPTIMIZE__)
#undef inline // PoCL defines it as nothing.
#define inline __attribute__((always_inline))
#endif

// Unrolls the following loop so many times on NVIDIA's GPUs: loads are in flight at once. Other
// compilers decide for themselves, and warn where they cannot.
#if KMA_IS_NV
#define KMA_PRAGMA(text) _Pragma(#text)
#define KMA_UNROLL(times) KMA_PRAGMA(unroll times)
#else
#define KMA_UNROLL(times)
#endif

// A false condition stops the compiler with `name` in its message. Works in OpenCL C 1.2 and in
// C++.
#define KMA_STATIC_ASSERT(condition, name) typedef char kma_assert_##name[(condition) ? 1 : -1]

#endif
