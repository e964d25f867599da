// An object store: objects of declared classes in blocks, structure of arrays within a block,
// created and deleted in kernels, and enumerated by parallel do-alls (DynaSOAr: Springer and
// Masuhara, ECOOP 2019, "the paper" in these files). Layout and idea are the paper's. In its
// algorithms 1, 3 and 7 work-items wait for one another; here none waits.
//
// docs/object-store.md is for users. They call what the host library generates from a schema
// (host/include/kma/schema.hpp), which calls these functions with literals:
//
//   uint kma_world_new(w, cls)            creates an object of class cls: its reference, or 0
//   uint kma_world_new_many(w, cls, count, refs)
//                                         creates `count`: how many there are
//   void kma_world_delete(w, cls, self)   deletes it
//   uint kma_world_type(w, self)          1 + the number of its block's class, 0 if there is none
//   uint kma_world_listed(w, cls)         blocks of the last enumeration, for
//                                         kma_world_listed_object(w, cls, slots, i)
//
//   new.cl      creation                    each.cl    do-alls
//   take.cl     which block and slot        check.cl   which class
//   blocks.cl   blocks that begin and end   visit.cl, defragment.cl   following references, in a
//   delete.cl   deletion                                              program of their own
//
// The schema's numbers come as macros before the #include: KMA_WORLD_CLASSES, the classes that
// objects can have; KMA_WORLD_BLOCK_BYTES; KMA_WORLD_SLOTS(cls), objects of class cls in a block;
// KMA_WORLD_OBJECT_BYTES(cls).
#ifndef KMA_OBJECTS_WORLD_CL
#define KMA_OBJECTS_WORLD_CL

#include "kma/objects/check.cl"
#include "kma/objects/delete.cl"
#include "kma/objects/each.cl"
#include "kma/objects/new.cl"

#endif
