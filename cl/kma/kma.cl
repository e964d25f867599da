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
// Define before the #include, or with -D:
//   KMA_DEBUG      0 (default) to 3. 1: checks of headers and refs. 2: also red zones, poison and
//                  a quarantine. 3: also which work-item took each block, and where. The program
//                  that initialised the heap must have the same KMA_DEBUG.
//   KMA_HEAP       kind of the default heap: slab (default), superblock, scatter or bump
//   KMA_STD_NAMES  also defines malloc, calloc, aligned_alloc, realloc and free
//
// The program's own macros, defined before the #include or with -D, need a capital letter in their
// names (platform/target.cl).
//
// This file includes the default heap's kind only. For each further kind include kma/heap/KIND.cl,
// before or after this file; several kinds can be used in one program. kma_NAME is a macro for
// kma_KIND_NAME of the default kind. heap/common/ has the functions' contracts, except that of
// kma_aligned_alloc, which is in kma/heap/KIND.cl.
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

// If a kind's file is not included, its type becomes a name that shows, in the compiler's message,
// which file to include. The kind's file removes this macro.
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

// macros, no typedefs: the host derives a kernel's kind of heap from its parameter's type name
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

// Allocates one T, aligned for it and not initialised; NULL if there is no memory. kma_malloc
// aligns to 16 bytes, too little for types such as float8. The tests' host shim has its own
// KMA_NEW, which constructs a C++ object.
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
