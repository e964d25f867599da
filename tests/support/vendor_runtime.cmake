# Makes DIR a virtual environment with Intel's OpenCL runtime for CPUs, and DIR/icd a folder for
# OCL_ICD_VENDORS. Keeps what exists already. A failed installation is an error: the tests that need
# it then fail.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()

file(GLOB library ${DIR}/lib/libintelocl.so)
if(NOT library)
  file(REMOVE_RECURSE ${DIR}) # left by an aborted attempt
  run(${PYTHON} -m venv ${DIR})
  # The second package has the mathematical libraries that the first is linked to; without them the
  # loader only returns -1001.
  run(${DIR}/bin/pip install --quiet --disable-pip-version-check intel-opencl-rt intel-cmplr-lib-rt)
  file(GLOB library ${DIR}/lib/libintelocl.so)
  if(NOT library)
    message(FATAL_ERROR "intel-opencl-rt brought no ${DIR}/lib/libintelocl.so")
  endif()
endif()
file(WRITE ${DIR}/icd/intel.icd "${library}\n")
