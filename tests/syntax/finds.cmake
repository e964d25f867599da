# That check.cmake would find a wrong file: it must fail on a copy of the device files with an error that only one of
# TARGETS sees, and only without 64-bit atomics.
set(macro_spir64 __SPIR__)
set(macro_amdgcn __AMDGCN__)
set(macro_nvptx64 __NVPTX__)
set(macro_x86_64 __x86_64__)
string(REPLACE "," ";" TARGETS "${TARGETS}")
foreach(target IN LISTS TARGETS)
  file(REMOVE_RECURSE ${WORK})
  file(COPY ${SOURCE_DIR}/cl ${SOURCE_DIR}/samples DESTINATION ${WORK})
  file(APPEND ${WORK}/cl/kma/platform/bits.cl
    "#if defined(${macro_${target}}) && !KMA_HAS_ATOMIC64\nstatic inline uint seeded(uint n) { return m; }\n#endif\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D CLANG=${CLANG} -D SOURCE_DIR=${WORK} -D TARGETS=${target} -D STDS=CL1.2 -D ONLY=-DKMA_HAS_ATOMIC64=0
            -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(result EQUAL 0 OR NOT output MATCHES "undeclared identifier 'm'")
    message(FATAL_ERROR "an error that only ${target} sees was not found:\n${output}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK})
