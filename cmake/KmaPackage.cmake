# CPack's settings: `cpack` in the build folder packs what `cmake --install` installs as .deb and
# .tar.gz.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME kma)
set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}) # in the name of the .tar.gz
set(CPACK_PACKAGE_VENDOR "The kma authors")
set(CPACK_PACKAGE_CONTACT "The kma authors <maintainers@users.noreply.a-seed-97154f98.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "malloc for OpenCL kernels")
set(CPACK_PACKAGE_DESCRIPTION "OpenCL C sources that a kernel includes to get malloc and free, \
and a C++20 library that
builds programs with them, creates heaps, and tells what happened in them.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# The library's headers include OpenCL's. dpkg-shlibdeps adds the libraries that programs link.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ocl-icd-opencl-dev, opencl-c-headers, opencl-clhpp-headers")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Changes to the files before CPack packs them.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_files.cmake)
set(CPACK_KMA_STRIP ${CMAKE_STRIP})

include(CPack)
