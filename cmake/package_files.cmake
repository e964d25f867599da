# Run by CPack on the files before it packs them.

# The modes of installed folders depend on the umask: sets them.
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*)
file(CHMOD_RECURSE ${folders} DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# CPack strips programs and shared libraries only. Debug information is most of the archive's size,
# and contains the build machine's paths.
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_DIRECTORY}/libkma.a)
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${CPACK_KMA_STRIP} --strip-debug ${archive} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Debian requires the licence under this name.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB_RECURSE licenses ${CPACK_TEMPORARY_DIRECTORY}/LICENSE)
  foreach(license IN LISTS licenses)
    cmake_path(REPLACE_FILENAME license copyright OUTPUT_VARIABLE copyright)
    file(RENAME ${license} ${copyright})
  endforeach()
endif()
