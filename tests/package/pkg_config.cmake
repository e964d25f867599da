# An installed kma found by pkg-config, with no build system: by a program that uses the library, and
# by the example in C, which builds kernels with the OpenCL C files alone.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
run(COMMAND ${CMAKE_COMMAND} --install ${KMA_BINARY_DIR} --prefix ${WORK}/prefix)

pkg_config(flags ${WORK}/prefix --cflags --libs --static)
compile(${TEST_DIR}/consumer/consumer.cpp ${WORK}/consumer ${flags})
run(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/prefix/lib ${WORK}/consumer MATCH "${consumer_says}")

# The same in a program for an older OpenCL, whose C header is told so.
compile(${TEST_DIR}/consumer/consumer.cpp ${WORK}/consumer_120 ${flags} -fsyntax-only -DCL_TARGET_OPENCL_VERSION=120)

pkg_config(version ${WORK}/prefix --modversion)
if(NOT version STREQUAL KMA_VERSION)
  message(FATAL_ERROR "pkg-config says version ${version}, should be ${KMA_VERSION}")
endif()

pkg_config(folder ${WORK}/prefix --variable=cldir)
run(COMMAND ${CC} -std=c11 -Wall -Wextra -Werror ${WORK}/prefix/share/doc/kma/examples/c/list.c
    -o ${WORK}/list -lOpenCL)
string(REGEX REPLACE ":.*" "" platform "$ENV{KMA_DEVICE}")
run(COMMAND ${WORK}/list ${TEST_DIR}/consumer/raw.cl "${platform}" "-I ${folder}"
    MATCH "^1000 items, sum 499500; 1000 blocks, 16000 bytes, 0 errors")
