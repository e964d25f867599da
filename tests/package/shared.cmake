# kma as a shared library: built so, installed, and used by both ways to find it. With settings that must
# not reach its files: names hidden, several files compiled as one, an older OpenCL's declarations.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
run(COMMAND ${configure} -S ${KMA_SOURCE_DIR} -B ${WORK}/kma -D BUILD_SHARED_LIBS=ON
    -D CMAKE_CXX_VISIBILITY_PRESET=hidden -D CMAKE_VISIBILITY_INLINES_HIDDEN=ON -D CMAKE_UNITY_BUILD=ON
    -D "CMAKE_CXX_FLAGS=${CXX_FLAGS} -DCL_HPP_TARGET_OPENCL_VERSION=120" -D CMAKE_SHARED_LINKER_FLAGS=-Wl,--no-undefined
    -D KMA_BUILD_TESTS=OFF -D KMA_BUILD_SAMPLES=OFF -D KMA_BUILD_TOOLS=OFF)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/kma)
run(COMMAND ${CMAKE_COMMAND} --install ${WORK}/kma --prefix ${WORK}/prefix)

# The names: what programs remember is the library of this minor version.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor ${KMA_VERSION})
file(READ_SYMLINK ${WORK}/prefix/lib/libkma.so link)
file(READ_SYMLINK ${WORK}/prefix/lib/libkma.so.${minor} minor_link)
if(NOT link STREQUAL "libkma.so.${minor}" OR NOT minor_link STREQUAL "libkma.so.${KMA_VERSION}")
  message(FATAL_ERROR "libkma.so leads to ${link}, libkma.so.${minor} to ${minor_link}")
endif()

# What needs no library is there, though neither tool nor samples were built.
foreach(example IN ITEMS c/list.c python/list.py)
  if(NOT EXISTS ${WORK}/prefix/share/doc/kma/examples/${example})
    message(FATAL_ERROR "an install of the library alone has no ${example}")
  endif()
endforeach()

consume(${WORK}/prefix ${WORK}/build)
file(RENAME ${WORK}/prefix ${WORK}/moved)
pkg_config(flags ${WORK}/moved --cflags --libs)
compile(${TEST_DIR}/consumer/consumer.cpp ${WORK}/consumer ${flags})
run(COMMAND ${WORK}/consumer FAILS MATCH "libkma.so.${minor}: cannot open shared object file")
run(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/moved/lib ${WORK}/consumer MATCH "${consumer_says}")
