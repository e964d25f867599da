# PoCL without optimisation: only functions with KMA_OUTLINE or KMA_COLD may be called, all others must
# be inlined (target.cl says why). CLANG compiles the kernels of SOURCE_DIR as PoCL does. The marked
# functions get a section of their own.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE kernels ${SOURCE_DIR}/cl/kma/*kernels.cl)
list(FILTER kernels EXCLUDE REGEX "world_kernels") # need a schema's text
list(TRANSFORM kernels PREPEND "-include;")
execute_process(
  COMMAND ${CLANG} -x cl -cl-std=CL3.0 -target x86_64-linux-gnu -O0 -S -emit-llvm -o - -I ${SOURCE_DIR}/cl
          -D POCL_DEVICE_ADDRESS_BITS=64 -D "KMA_OUTLINE=__attribute__((noinline, section(\"called\")))"
          ${kernels} -
  INPUT_FILE /dev/null OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\ndefine [^\n]*" functions "${code}")
set(called ${functions})
list(FILTER called INCLUDE REGEX " section \"called\" ")
list(FILTER functions EXCLUDE REGEX " section \"called\" | spir_kernel |kernel_arg_addr_space")
list(LENGTH called count)
list(LENGTH functions more)
if(count LESS 10 OR more)
  message(FATAL_ERROR "${count} functions are called, and ${more} that should be inlined: ${functions}")
endif()
