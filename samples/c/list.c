/* 1,000 work-items push onto a list in a heap; the host walks the list. Plain C and OpenCL.
 *
 * Usage: list KMA_CL [PLATFORM [OPTIONS]]
 *   KMA_CL    the file that `kma emit` writes; its head explains the steps
 *   PLATFORM  part of the platform's name
 *   OPTIONS   options of the OpenCL compiler */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, FRAMES = 32 };
#define BYTES ((size_t)FRAMES * 8342 + 16384) /* the size rule */

static const char *const push =
    "#line 1 \"push.cl\"\n" // the compiler's messages count lines from here
    "typedef struct item { kma_ref next; uint value; } item;\n"
    "kernel void push(global kma_heap *heap, global kma_atomic_ref *list)\n"
    "{\n"
    "    global item *mine = KMA_NEW(heap, item);\n"
    "    if (!mine)\n"
    "        return;\n"
    "    mine->value = get_global_id(0);\n"
    "    kma_ref first = kma_ref_load_acquire(list);\n"
    "    do {\n"
    "        mine->next = first;\n"
    "        first = kma_ref_cas(list, mine->next, kma_ref_of(heap, mine));\n"
    "    } while (first != mine->next);\n"
    "}\n";

/* As kma_slab_stats_kernel writes them. */
struct stats {
    cl_ulong bytes, capacity, used, blocks, superblock_bytes, superblocks, free, partial, full,
        errors[9];
};

static void fail(const char *what, cl_int status)
{
    fprintf(stderr, status == CL_SUCCESS ? "list: %s\n" : "list: %s (OpenCL error %d)\n", what,
            status);
    exit(EXIT_FAILURE);
}

static void check(cl_int status, const char *call)
{
    if (status != CL_SUCCESS)
        fail(call, status);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail("cannot read the file that kma emit wrote", 0);
    const long length = ftell(file);
    char *text = calloc((size_t)length + 1, 1);
    rewind(file);
    if (!text || fread(text, 1, (size_t)length, file) != (size_t)length)
        fail("cannot read the file that kma emit wrote", 0);
    fclose(file);
    return text;
}

/* Returns the first device of the first platform with `wanted` in its name. */
static cl_device_id choose_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    clGetPlatformIDs(16, platforms, &count); /* an error leaves no platform */
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, wanted) &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    fail("no such OpenCL device: install a driver, such as PoCL", CL_DEVICE_NOT_FOUND);
    return NULL;
}

static cl_program build(cl_context context, cl_device_id device, const char *heap,
                        const char *options)
{
    const char *texts[] = {heap, push};
    cl_int status;
    const cl_program program = clCreateProgramWithSource(context, 2, texts, NULL, &status);
    check(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail(log, status);
    }
    return program;
}

static void launch(cl_command_queue queue, cl_kernel kernel, size_t work_items,
                   const size_t *work_group)
{
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &work_items, work_group, 0, NULL, NULL),
          "a kernel's launch");
}

static cl_kernel kernel_of(cl_program program, const char *name, cl_mem heap)
{
    cl_int status;
    const cl_kernel kernel = clCreateKernel(program, name, &status);
    check(status, name);
    check(clSetKernelArg(kernel, 0, sizeof heap, &heap), "clSetKernelArg");
    return kernel;
}

static cl_mem buffer(cl_context context, size_t bytes)
{
    cl_int status;
    const cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    check(status, "clCreateBuffer");
    return made;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4)
        fail("usage: list KMA_CL [PLATFORM [OPTIONS]]", 0);
    const cl_device_id device = choose_device(argc > 2 ? argv[2] : "");
    cl_int status;
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    char *kma = read_text(argv[1]);
    const cl_program program = build(context, device, kma, argc > 3 ? argv[3] : "");
    free(kma);

    /* Prepare the heap. */
    const size_t group = 64;
    const cl_mem heap = buffer(context, BYTES);
    const cl_ulong bytes = BYTES;
    const cl_uint cursors = 0; /* the usual number */
    const cl_kernel init = kernel_of(program, "kma_slab_init_kernel", heap);
    check(clSetKernelArg(init, 1, sizeof bytes, &bytes), "clSetKernelArg");
    check(clSetKernelArg(init, 2, sizeof cursors, &cursors), "clSetKernelArg");
    launch(queue, init, 64, &group);

    /* Allocate in a kernel. */
    cl_uint ref = 0;
    const cl_mem first = buffer(context, sizeof ref);
    check(clEnqueueWriteBuffer(queue, first, CL_TRUE, 0, sizeof ref, &ref, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    const cl_kernel pushes = kernel_of(program, "push", heap);
    check(clSetKernelArg(pushes, 1, sizeof first, &first), "clSetKernelArg");
    launch(queue, pushes, ITEMS, NULL);

    /* Read the statistics. */
    struct stats stats;
    const cl_mem stats_buffer = buffer(context, sizeof stats);
    const cl_kernel count = kernel_of(program, "kma_slab_stats_kernel", heap);
    check(clSetKernelArg(count, 1, sizeof stats_buffer, &stats_buffer), "clSetKernelArg");
    launch(queue, count, 64, &group);
    check(clEnqueueReadBuffer(queue, stats_buffer, CL_TRUE, 0, sizeof stats, &stats, 0, NULL, NULL),
          "reading");

    /* Walk the list: a ref counts units of 16 bytes, four words, from the heap's start. */
    static cl_uint words[BYTES / 4];
    check(clEnqueueReadBuffer(queue, heap, CL_TRUE, 0, BYTES, words, 0, NULL, NULL), "reading");
    check(clEnqueueReadBuffer(queue, first, CL_TRUE, 0, sizeof ref, &ref, 0, NULL, NULL),
          "reading");
    unsigned items = 0;
    unsigned long sum = 0;
    for (size_t at = ref; at != 0;
         at = words[4 * at]) { /* a size_t, since 4 * ref wraps at 16 GiB */
        items++;
        sum += words[4 * at + 1];
    }
    unsigned long errors = 0;
    for (int code = 0; code < 7; code++)
        errors += (unsigned long)stats.errors[code];
    printf("%u items, sum %lu; %lu blocks, %lu bytes, %lu errors\n", items, sum,
           (unsigned long)stats.blocks, (unsigned long)stats.used, errors);

    const int all_there = errors == 0 && items == ITEMS;
    if (!all_there)
        fprintf(stderr, "list: the heap is too small for the list; raise FRAMES\n");

    clReleaseKernel(count);
    clReleaseKernel(pushes);
    clReleaseKernel(init);
    clReleaseMemObject(stats_buffer);
    clReleaseMemObject(first);
    clReleaseMemObject(heap);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return all_there ? EXIT_SUCCESS : EXIT_FAILURE;
}
