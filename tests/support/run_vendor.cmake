# Runs TESTS, or their CASES, on Intel's OpenCL runtime of vendor_runtime.cmake, with LANES lanes. The
# output must contain each of SAYS, which proves that the lanes are used.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env OCL_ICD_VENDORS=${DIR}/icd KMA_DEVICE=Intel
          CL_CONFIG_CPU_VECTORIZER_MODE=${LANES} ${TESTS} ${CASES}
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
message("${output}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the tests failed: ${result}")
endif()
foreach(must IN LISTS SAYS ITEMS "device: Intel")
  string(FIND "${output}" "${must}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "the output does not say \"${must}\"")
  endif()
endforeach()
