#!/usr/bin/env python3
"""1,000 work-items push onto a list in a heap; numpy walks the list.

Usage: list.py KMA_CL [OPTION…]
  KMA_CL  the file that `kma emit` writes; its head explains the steps
  OPTION  an option of the OpenCL compiler
The environment variable PYOPENCL_CTX selects the device.
"""
import sys
import numpy as np
import pyopencl as cl

PUSH = """
#line 1 "push.cl"
typedef struct item { kma_ref next; uint value; } item;
kernel void push(global kma_heap *heap, global kma_atomic_ref *list)
{
    global item *mine = KMA_NEW(heap, item);
    if (!mine) return;
    mine->value = get_global_id(0);
    kma_ref first = kma_ref_load_acquire(list);
    do {
        mine->next = first;
        first = kma_ref_cas(list, mine->next, kma_ref_of(heap, mine));
    } while (first != mine->next);
}"""
STATS = np.dtype([(name, np.uint64) for name in (
    "bytes", "capacity", "used", "blocks", "superblock_bytes", "superblocks",
    "free", "partial", "full")]
    + [("errors", np.uint64, 9)])
FRAMES = 32
BYTES = FRAMES * 8342 + 16384  # the size rule

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(
    context, open(sys.argv[1], encoding="utf-8").read() + PUSH).build(options=sys.argv[2:])
heap = cl.Buffer(context, cl.mem_flags.READ_WRITE, BYTES)
program.kma_slab_init_kernel(queue, (64,), (64,), heap, np.uint64(BYTES), np.uint32(0))

first, stats, words = np.zeros(1, np.uint32), np.zeros(1, STATS), np.zeros(BYTES // 4, np.uint32)
first_buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=first)
stats_buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, stats.nbytes)
program.push(queue, (1000,), None, heap, first_buffer)
program.kma_slab_stats_kernel(queue, (64,), (64,), heap, stats_buffer)
for array, buffer in (first, first_buffer), (stats, stats_buffer), (words, heap):
    cl.enqueue_copy(queue, array, buffer)

ref, values = int(first[0]), []  # Python's integers: 4 times a numpy.uint32 wraps
while ref != 0:  # a ref counts units of 16 bytes from the heap's start, which are four words
    ref, value = words[4 * ref:4 * ref + 2].tolist()
    values.append(value)
print(f"{len(values)} items, sum {sum(values)}; "
      f"{stats['blocks'][0]} blocks, {stats['used'][0]} bytes, "
      f"{stats['errors'].sum()} errors")
sys.exit("the heap is too small for the list: raise FRAMES" if len(values) < 1000 else 0)
