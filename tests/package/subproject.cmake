# kma as a part of another project by HOW: configured, which is where that project looks for what kma did to it, and with
# BUILD built and run.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
run(COMMAND ${configure} -S ${TEST_DIR}/subproject -B ${WORK}/build -D HOW=${HOW} -D KMA_FOLDER=${KMA_SOURCE_DIR})

# That project's installation has nothing of kma.
run(COMMAND ${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
file(GLOB_RECURSE installed ${WORK}/prefix/*)
if(installed)
  message(FATAL_ERROR "installed, though nobody asked for it: ${installed}")
endif()

# With kma installed beside it that project may export a library that links kma.
run(COMMAND ${configure} -S ${TEST_DIR}/subproject -B ${WORK}/exported -D HOW=${HOW}
    -D KMA_FOLDER=${KMA_SOURCE_DIR} -D KMA_INSTALL=ON)

if(BUILD)
  run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build)
  run(COMMAND ${WORK}/build/programs/consumer MATCH "${consumer_says}")
endif()
