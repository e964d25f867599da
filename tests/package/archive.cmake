# What `cpack -G FORMAT` (TGZ or DEB) packs: all that belongs in it and nothing else, with the
# permissions of a system's files; unpacked elsewhere, it serves a consumer.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
pack(${FORMAT} archive)

file(MAKE_DIRECTORY ${WORK}/unpacked)
if(FORMAT STREQUAL "TGZ")
  run(COMMAND tar -xzf ${archive} -C ${WORK}/unpacked --strip-components=1)
  run(COMMAND tar -tvzf ${archive})
  set(prefix ${WORK}/unpacked)
  set(license LICENSE)
else()
  run(COMMAND dpkg-deb --raw-extract ${archive} ${WORK}/unpacked)
  run(COMMAND dpkg-deb --contents ${archive})
  set(prefix ${WORK}/unpacked/usr)
  set(license copyright)
endif()
set(listing "${output}")

# Whatever the umask. (Links, which a shared library has, have no permissions of their own.)
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^(drwxr-xr-x .*/|-rw-r--r-- .*|l.*|-rwxr-xr-x .*/bin/kma)$")
    message(FATAL_ERROR "permissions: ${line}")
  endif()
endforeach()

# The contents, by the sources.
file(GLOB_RECURSE cl_files RELATIVE ${KMA_SOURCE_DIR}/cl ${KMA_SOURCE_DIR}/cl/kma/*.cl)
file(GLOB_RECURSE headers RELATIVE ${KMA_SOURCE_DIR}/host/include ${KMA_SOURCE_DIR}/host/include/kma/*.hpp)
file(GLOB_RECURSE docs RELATIVE ${KMA_SOURCE_DIR} ${KMA_SOURCE_DIR}/docs/*.md)
list(TRANSFORM cl_files PREPEND share/kma/cl/)
list(TRANSFORM headers PREPEND include/)
list(TRANSFORM docs PREPEND share/doc/kma/)
string(TOLOWER "${BUILD_TYPE}" build_type)
set(expected ${cl_files} ${headers} ${docs}
  include/kma/heap/common/stats_list.cl
  lib/${KMA_LIBRARY}
  lib/cmake/kma/kma-config.cmake
  lib/cmake/kma/kma-config-version.cmake
  lib/cmake/kma/kma-targets.cmake
  lib/cmake/kma/kma-targets-${build_type}.cmake
  lib/pkgconfig/kma.pc
  share/doc/kma/README.md
  share/doc/kma/CHANGELOG.md
  share/doc/kma/examples/c/list.c
  share/doc/kma/examples/python/list.py
  share/doc/kma/${license})
if(KMA_BUILD_TOOLS)
  list(APPEND expected bin/kma)
endif()
file(GLOB_RECURSE found RELATIVE ${prefix} ${prefix}/*)
list(LENGTH cl_files cl_count)
if(cl_count LESS 30)
  message(FATAL_ERROR "only ${cl_count} OpenCL C files")
endif()
set(missing ${expected})
list(REMOVE_ITEM missing ${found})
list(REMOVE_ITEM found ${expected})
list(FILTER found EXCLUDE REGEX "^share/doc/kma/examples/|^lib/libkma\\.so\\.")
if(missing OR found)
  message(FATAL_ERROR "${archive} has no ${missing}, and has unexpected files: ${found}")
endif()

# Stripped: debug information would name the folders of the machine that built it.
file(GLOB_RECURSE files ${prefix}/lib/* ${prefix}/bin/*)
foreach(file IN LISTS files)
  file(STRINGS ${file} paths REGEX "${KMA_SOURCE_DIR}/|${KMA_BINARY_DIR}/")
  if(paths)
    message(FATAL_ERROR "${file} names ${paths}")
  endif()
endforeach()

if(FORMAT STREQUAL "DEB")
  run(COMMAND ${CMAKE_COMMAND} -E chdir ${WORK}/unpacked md5sum --check --quiet DEBIAN/md5sums)
  foreach(field "Package;kma" "Version;${KMA_VERSION}" "Section;libdevel" "Description;malloc for OpenCL kernels"
          "Maintainer;.+ <[^ ]+@[^ ]+>" "Recommends;pocl-opencl-icd"
          "Depends;ocl-icd-opencl-dev" "Depends;opencl-c-headers" "Depends;opencl-clhpp-headers")
    list(GET field 0 name)
    list(GET field 1 value)
    run(COMMAND dpkg-deb --field ${archive} ${name} MATCH "(^|, )${value}")
  endforeach()
  if(KMA_BUILD_TOOLS) # a program is linked to libraries, which dpkg-shlibdeps finds
    run(COMMAND dpkg-deb --field ${archive} Depends MATCH "libc6.*libstdc\\+\\+6")
  endif()
endif()

if(KMA_BUILD_TOOLS)
  run(COMMAND ${prefix}/bin/kma cl-dir MATCH "^${prefix}/share/kma/cl $")
endif()
consume(${prefix} ${WORK}/build)
