# Runs DOXYGEN on DOXYFILE, which makes errors of warnings: an undocumented public member, a comment that names what is
# not there.
if(NOT DOXYGEN)
  message(FATAL_ERROR "doxygen not found: install doxygen (Debian and Ubuntu: apt-get install doxygen) and configure again")
endif()
execute_process(COMMAND ${DOXYGEN} ${DOXYFILE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the public headers are not documented as they should be")
endif()
