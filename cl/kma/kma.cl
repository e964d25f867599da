// malloc for OpenCL kernels: the one file to include for a heap. (The queue is in
// kma/lockfree/indexed_queue.cl.)
//
//   #include "kma/kma.cl"
//
//   kernel void build(global kma_heap *heap, …)
//   {
//       global node *n = KMA_NEW(heap, node);     // NULL if the heap is full
//       …
//       kma_free(heap, n);
//   }
//
// Before the #include, or with -D:
//   KMA_DEBUG      0 (default) to 3: 1 checks headers and refs, 2 also red zones, poison and quarantine, 3 also
//                  notes who took each block, and where. The heap must have been initialised by a
//                  program of the same flavour.
//   KMA_HEAP       the default heap's kind: slab (default), superblock, scatter or bump
//   KMA_STD_NAMES  also calls the functions malloc, calloc, free, …
//
// Your own macros in front of the #include, or with -D: with a capital letter in their names
// (platform/target.cl).
//
// This file brings the default heap's kind only. Include kma/heap/KIND.cl, before or after this
// file, for each further kind that the program uses: several kinds live side by side. kma_NAME is
// kma_KIND_NAME of the default kind. The contracts of the functions are in heap/common/, that of
// kma_aligned_alloc is in its kind's file.
#ifndef KMA_KMA_CL
#define KMA_KMA_CL

#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/common/ref.cl"

#ifndef KMA_HEAP
#define KMA_HEAP slab
#endif
#define KMA_OF_HEAP(name) KMA_NAME_OF(KMA_HEAP, name)

#if KMA_OF_HEAP(_number) == KMA_KIND_BUMP
#include "kma/heap/bump.cl"
#elif KMA_OF_HEAP(_number) == KMA_KIND_SUPERBLOCK
#include "kma/heap/superblock.cl"
#elif KMA_OF_HEAP(_number) == KMA_KIND_SCATTER
#include "kma/heap/scatter.cl"
#elif KMA_OF_HEAP(_number) == KMA_KIND_SLAB
#include "kma/heap/slab.cl"
#elif KMA_OF_HEAP(_number) == 0
#error "KMA_HEAP must be slab, superblock, scatter or bump"
#endif

// The type of a kind whose file the program has not included: the compiler's message says what to
// include. The kind's file undoes this.
#ifndef KMA_HEAP_BUMP_CL
#define kma_bump for_kma_bump_include_kma_heap_bump_cl
#endif
#ifndef KMA_HEAP_SUPERBLOCK_CL
#define kma_superblock for_kma_superblock_include_kma_heap_superblock_cl
#endif
#ifndef KMA_HEAP_SCATTER_CL
#define kma_scatter for_kma_scatter_include_kma_heap_scatter_cl
#endif
#ifndef KMA_HEAP_SLAB_CL
#define kma_slab for_kma_slab_include_kma_heap_slab_cl
#endif

// no typedef: by the name of its parameter's type the host tells a kernel's kind of heap
#define kma_heap KMA_OF_HEAP()
#define kma_malloc KMA_OF_HEAP(_malloc)
#define kma_calloc KMA_OF_HEAP(_calloc)
#define kma_aligned_alloc KMA_OF_HEAP(_aligned_alloc)
#define kma_realloc KMA_OF_HEAP(_realloc)
#define kma_realloc_sized KMA_OF_HEAP(_realloc_sized)
#define kma_usable_size KMA_OF_HEAP(_usable_size)
#define kma_free KMA_OF_HEAP(_free)
#define kma_ref_of KMA_OF_HEAP(_ref_of)
#define kma_deref KMA_OF_HEAP(_deref)

// Memory for one T, aligned for it, not initialised; NULL if there is none. (kma_malloc aligns to
// 16 bytes, which is too little for types such as float8. The tests' host shim makes a C++ object
// of it.)
#ifndef KMA_NEW
#define KMA_ALIGN_OF(T) (sizeof(struct { char kma_before; T kma_object; }) - sizeof(T))
#define KMA_NEW(heap, T) ((global T *)kma_aligned_alloc(heap, KMA_ALIGN_OF(T), sizeof(T)))
#endif

#ifdef KMA_STD_NAMES
#define malloc kma_malloc
#define calloc kma_calloc
#define aligned_alloc kma_aligned_alloc
#define realloc kma_realloc
#define free kma_free
#endif

#endif
