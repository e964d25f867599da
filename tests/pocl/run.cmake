# Runs TESTS on PoCL, made to use one of METHODS (the first that this PoCL knows) to make work-group functions, THREADS
# threads, and work-groups of GROUP work-items wherever the tests choose. CACHE: a folder that has one of compiled
# kernels for each method. SELFTEST: on or off. HEAP: the only kind, or empty.
# OPTIONS: of the tests.
set(subjects KMA_TEST_FLAVOURS=first)
if(HEAP)
  list(APPEND subjects KMA_TEST_HEAP=${HEAP})
endif()
set(known "") # foreach's own variable ends with it
foreach(method IN LISTS METHODS)
  set(cache ${CACHE}/${method})
  file(MAKE_DIRECTORY ${cache})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env POCL_CACHE_DIR=${cache} POCL_WORK_GROUP_METHOD=${method} POCL_MAX_PTHREAD_COUNT=${THREADS}
            KMA_TEST_GROUP=${GROUP} ${subjects} KMA_SELFTEST=${SELFTEST} KMA_DEVICE=Portable ${TESTS} ${OPTIONS}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT output MATCHES "Unknown work group generation method")
    set(known ${method}) # it says so when it compiles, and takes another
    break()
  endif()
  message("this PoCL has no work-group method ${method}")
  file(REMOVE_RECURSE ${cache}) # what is there now was made by another method
endforeach()
message("${output}")
if(NOT known)
  message(FATAL_ERROR "PoCL knows none of ${METHODS}: name those it has in tests/pocl/CMakeLists.txt")
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the tests failed: ${result}")
endif()
if(NOT output MATCHES "device: Portable")
  message(FATAL_ERROR "the tests did not run on PoCL")
endif()
if(NOT output MATCHES "work-groups of [0-9 ]*${GROUP} ")
  message(FATAL_ERROR "no kernel was launched in work-groups of ${GROUP}")
endif()
message("work-groups by ${known}, ${THREADS} threads, groups of ${GROUP}")
