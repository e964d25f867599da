# Configures the project in CONSUMER, which finds kma in any of the three ways: installed (from BUILD, beside it), in a
# folder of its own, or by FetchContent, which takes SOURCE instead of the network. With this build's GENERATOR: make may
# be missing.
file(READ ${CONSUMER}/CMakeLists.txt text)
if(text MATCHES "find_package[(]kma")
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${CONSUMER}/prefix OUTPUT_QUIET RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "kma cannot be installed: ${result}")
  endif()
endif()
file(REMOVE_RECURSE ${CONSUMER}/build)
execute_process(
  COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER} -B ${CONSUMER}/build -D CMAKE_PREFIX_PATH=${CONSUMER}/prefix
          -D FETCHCONTENT_SOURCE_DIR_KMA=${SOURCE}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the consumer does not configure: ${result}")
endif()
