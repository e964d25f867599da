# What the scripts beside this share. Each begins with `include(support.cmake)`, which reads the
# settings and makes WORK an empty folder.
include(${SETTINGS})
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# run(COMMAND… [MATCH regex] [FAILS]): the command must end well, or with FAILS must not, and what it
# says must match. Afterwards `output` has what it said.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "FAILS" "MATCH" "COMMAND")
  list(JOIN arg_COMMAND " " line)
  message("> ${line}")
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text
    ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
  if(arg_FAILS AND result EQUAL 0)
    message(FATAL_ERROR "should have failed: ${line}")
  elseif(NOT arg_FAILS AND NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${line}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " flat "${text}") # CMake breaks lines of messages anywhere
  if(NOT flat MATCHES "${arg_MATCH}")
    message(FATAL_ERROR "does not say \"${arg_MATCH}\": ${line}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# pack(FORMAT RESULT): the package that cpack makes, TGZ or DEB, in WORK/cpack.
function(pack format result)
  if(format STREQUAL "DEB")
    foreach(program_in_package "dpkg-deb dpkg" "dpkg-shlibdeps dpkg-dev" "file file")
      separate_arguments(names UNIX_COMMAND "${program_in_package}")
      list(POP_FRONT names program package)
      find_program(found_${program} ${program})
      if(NOT found_${program})
        message(FATAL_ERROR "${program} not found: apt-get install ${package}")
      endif()
    endforeach()
  endif()
  # The umask must not reach the packed files.
  run(COMMAND sh -c "umask 077 && exec \"$@\"" sh ${CPACK} -G ${format} -B ${WORK}/cpack
      --config ${KMA_BINARY_DIR}/CPackConfig.cmake)
  file(GLOB packages ${WORK}/cpack/kma-${KMA_VERSION}-*.tar.gz ${WORK}/cpack/kma_${KMA_VERSION}_*.deb)
  list(LENGTH packages count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "cpack made these: ${packages}")
  endif()
  set(${result} ${packages} PARENT_SCOPE)
endfunction()

# What every consumer must print.
set(consumer_says "consumer: 5000 of 5000 numbers in 5000 blocks")

# How kma itself is configured as another build than the one under test; not optimised, since
# compiling is what takes the time.
string(TOUPPER "${BUILD_TYPE}" upper_type)
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX}
  -D CMAKE_CXX_FLAGS=${CXX_FLAGS} -D CMAKE_CXX_FLAGS_${upper_type}=-O0)

# Configures, builds and runs the project in consumer/ with the kma that is installed in PREFIX; BUILD is a new folder.
function(consume prefix build)
  run(COMMAND ${configure} -S ${TEST_DIR}/consumer -B ${build} -D CMAKE_PREFIX_PATH=${prefix}
      -D WANTED_VERSION=${KMA_VERSION})
  run(COMMAND ${CMAKE_COMMAND} --build ${build})
  run(COMMAND ${build}/consumer MATCH "${consumer_says}")
endfunction()

# The flags that pkg-config gives for the kma in PREFIX, in the list RESULT.
function(pkg_config result prefix)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/lib/pkgconfig ${PKG_CONFIG} ${ARGN} kma
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

# Compiles FILE without CMake into PROGRAM; the rest are flags.
function(compile file program)
  separate_arguments(cxx_flags UNIX_COMMAND "${CXX_FLAGS}")
  run(COMMAND ${CXX} -std=c++20 -Wall -Wextra -Wpedantic -Werror ${cxx_flags} ${file} -o ${program} ${ARGN})
endfunction()
