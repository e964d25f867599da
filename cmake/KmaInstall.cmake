# Installs kma with files for find_package and pkg-config. Targets and headers are installed where
# they are defined; this file defines the folders that they share.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(KMA_INSTALL_CLDIR ${CMAKE_INSTALL_DATADIR}/kma/cl) # for -I; kernels include "kma/kma.cl"
if(PROJECT_IS_TOP_LEVEL)
  set(KMA_INSTALL_DOCDIR ${CMAKE_INSTALL_DOCDIR})
else()
  # CMAKE_INSTALL_DOCDIR would have the enclosing project's name
  set(KMA_INSTALL_DOCDIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/kma)
endif()
set(KMA_INSTALL_EXAMPLESDIR ${KMA_INSTALL_DOCDIR}/examples)
set(KMA_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/kma)
set(KMA_INSTALL_PKGCONFIGDIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/cl/kma DESTINATION ${KMA_INSTALL_CLDIR}
  FILES_MATCHING PATTERN *.cl)

# The README's links lead to docs/ in its folder: the installed tree keeps that layout.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${KMA_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${KMA_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN *.md)

# The examples that need no library of kma.
install(FILES ${PROJECT_SOURCE_DIR}/samples/c/list.c DESTINATION ${KMA_INSTALL_EXAMPLESDIR}/c)
install(FILES ${PROJECT_SOURCE_DIR}/samples/python/list.py
  DESTINATION ${KMA_INSTALL_EXAMPLESDIR}/python)

# find_package(kma). With major version 0, each minor version may change anything.
install(EXPORT kma NAMESPACE kma:: FILE kma-targets.cmake DESTINATION ${KMA_INSTALL_CMAKEDIR})
# Lets another project export() a target that links kma in its build folder.
export(EXPORT kma NAMESPACE kma:: FILE ${PROJECT_BINARY_DIR}/kma-targets.cmake)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/kma-config.cmake.in ${PROJECT_BINARY_DIR}/kma-config.cmake
  INSTALL_DESTINATION ${KMA_INSTALL_CMAKEDIR} PATH_VARS KMA_INSTALL_CLDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kma-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kma-config.cmake ${PROJECT_BINARY_DIR}/kma-config-version.cmake
  DESTINATION ${KMA_INSTALL_CMAKEDIR})

# pkg-config kma. Paths are relative to the file, which makes the installed tree relocatable; a
# folder given as an absolute path stays absolute.
if(IS_ABSOLUTE "${KMA_INSTALL_PKGCONFIGDIR}")
  set(prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${KMA_INSTALL_PKGCONFIGDIR}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(prefix "\${pcfiledir}/${up}")
endif()
foreach(folder IN ITEMS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR KMA_INSTALL_CLDIR)
  cmake_path(APPEND PC_${folder} "\${prefix}" "${${folder}}") # an absolute path replaces the prefix
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/kma.pc.in ${PROJECT_BINARY_DIR}/kma.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kma.pc DESTINATION ${KMA_INSTALL_PKGCONFIGDIR})
