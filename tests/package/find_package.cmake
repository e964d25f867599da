# kma installed to a folder of its own, found by find_package; then the folder is moved and all is done once more.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
run(COMMAND ${CMAKE_COMMAND} --install ${KMA_BINARY_DIR} --prefix ${WORK}/here)

# Nothing that others read may know the machine that built it.
file(GLOB_RECURSE files ${WORK}/here/lib/cmake/* ${WORK}/here/lib/pkgconfig/*)
list(LENGTH files count)
if(count LESS 4)
  message(FATAL_ERROR "only ${files}")
endif()
foreach(file IN LISTS files)
  file(READ ${file} text)
  foreach(folder IN ITEMS ${KMA_SOURCE_DIR} ${KMA_BINARY_DIR} ${WORK} /usr/include)
    string(FIND "${text}" "${folder}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()

consume(${WORK}/here ${WORK}/build)
file(RENAME ${WORK}/here ${WORK}/moved)
consume(${WORK}/moved ${WORK}/build_moved)

# Each minor version is another library while the major version is 0: the next and the one before it are refused.
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" minor ${KMA_VERSION})
math(EXPR next "${CMAKE_MATCH_2} + 1")
math(EXPR before "${CMAKE_MATCH_2} - 1")
foreach(version IN ITEMS ${CMAKE_MATCH_1}.${next} ${CMAKE_MATCH_1}.${before} 99.0)
  run(COMMAND ${configure} -S ${TEST_DIR}/consumer -B ${WORK}/build_${version} -D CMAKE_PREFIX_PATH=${WORK}/moved
      -D WANTED_VERSION=${version}
    FAILS MATCH "compatible with requested version \"${version}\".*kma-config.cmake, version: ${KMA_VERSION}")
endforeach()

# Without the C++ bindings, find_package and kma's own configuration say what to install. The folder is ignored that has
# them, so OpenCL's own headers, which are there too, have to be named.
file(STRINGS ${KMA_BINARY_DIR}/CMakeCache.txt bindings REGEX "^KMA_CLHPP_INCLUDE_DIR:")
file(STRINGS ${KMA_BINARY_DIR}/CMakeCache.txt headers REGEX "^OpenCL_INCLUDE_DIR:")
string(REGEX REPLACE "^.*=" "" bindings "${bindings}")
foreach(project IN ITEMS ${TEST_DIR}/consumer ${KMA_SOURCE_DIR})
  cmake_path(GET project FILENAME name)
  run(COMMAND ${configure} -S ${project} -B ${WORK}/build_no_bindings_${name} -D CMAKE_PREFIX_PATH=${WORK}/moved
      -D ${headers} -D CMAKE_IGNORE_PATH=${bindings}
    FAILS MATCH "CL/opencl.hpp not found: install opencl-clhpp-headers")
endforeach()
