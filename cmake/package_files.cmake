# Run by CPack on the files that it is about to pack.

# Folders that installing makes are for those whom the umask lets in.
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*)
file(CHMOD_RECURSE ${folders} DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# CPack strips programs and shared libraries only. Debug information in the archive is most of its size, and is full of
# paths of the machine that built it.
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_DIRECTORY}/libkma.a)
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${CPACK_KMA_STRIP} --strip-debug ${archive} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Debian wants the licence under this name.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB_RECURSE licenses ${CPACK_TEMPORARY_DIRECTORY}/LICENSE)
  foreach(license IN LISTS licenses)
    cmake_path(REPLACE_FILENAME license copyright OUTPUT_VARIABLE copyright)
    file(RENAME ${license} ${copyright})
  endforeach()
endif()
