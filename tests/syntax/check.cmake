# Compiles every device file that stands alone, without output, warnings being errors: for each of
# TARGETS and STDS, in six flavours. For spir64, in the first and the last flavour, each by itself, so
# that it must include what it needs; else those of cl/ together, which takes a tenth of the time.
# With COVERAGE it asks instead which files all this reaches, and none may be left out.
cmake_minimum_required(VERSION 3.25)

# Included by others at their place; alone they lack what those define.
string(JOIN "|" parts "heap/[a-z]+/[a-z_]*layout" "collect/layout" "[a-z_]+_layout"
  "platform/(group|lanes|memory)_[a-z0-9]+" "selftest/word" "heap/bump/debug"
  "heap/superblock/census" "heap/common/(allocate|free|guarded|guard_site|header|realloc)"
  "heap/common/(size_class|stats|stats_quarantine)")

# What needs the text that a schema or types generate; the samples' own tests compile it.
set(with_schema "")
file(GLOB of_samples RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/samples/*/*.cl)
foreach(file IN LISTS of_samples)
  file(READ ${SOURCE_DIR}/${file} text)
  if(text MATCHES "kma_world \\*|[A-Z][a-z]+_new\\(heap\\)")
    list(APPEND with_schema ${file})
  endif()
endforeach()

set(flavours_by_themselves "-DKMA_DEBUG=0" "-DKMA_DEBUG=3 -DKMA_STD_NAMES")
if(COVERAGE)
  set(flavours ${flavours_by_themselves}) # between them every file is reached
elseif(ONLY)
  set(flavours ${ONLY})
else()
  set(flavours ${flavours_by_themselves} "-DKMA_LANES=1" "-DKMA_HAS_ATOMIC64=0"
    "-DKMA_DEBUG=1 -DKMA_STD_NAMES" "-DKMA_DEBUG=2")
endif()

string(REPLACE "," ";" TARGETS "${TARGETS}")
string(REPLACE "," ";" STDS "${STDS}")
set(flags_spir64 -target spir64)
set(flags_amdgcn -target amdgcn-amd-amdhsa -nogpulib -mcpu=gfx90a)
# Clang does not know what NVIDIA's own compiler announces.
set(flags_nvptx64 -target nvptx64-nvidia-cuda -nogpulib
  -Xclang -cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics)
set(flags_x86_64 -target x86_64-linux-gnu)

file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/cl/*.cl ${SOURCE_DIR}/samples/*.cl)
list(LENGTH files count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} device files under ${SOURCE_DIR}")
endif()
set(alone ${files})
list(REMOVE_ITEM alone ${with_schema})
list(FILTER alone EXCLUDE REGEX "^cl/kma/(.*/)?(${parts})[.]cl$")
set(together ${alone}) # and the rest of them, as those of samples define the same names
list(FILTER together INCLUDE REGEX "^cl/")
set(rest ${alone})
list(REMOVE_ITEM rest ${together})
list(TRANSFORM together PREPEND "-include;")
list(APPEND together /dev/null)

# compile(mode source…): in the setting of the loops below. One compiler for all files: it takes seconds, one for each file
# would take ten times as long.
function(compile mode)
  separate_arguments(defines UNIX_COMMAND "${flavour}")
  execute_process(
    COMMAND ${CLANG} -x cl ${mode} -cl-std=${std} ${flags_${target}} -Wall -Wextra -Werror -Wno-unused-function
            -Icl ${defines} ${ARGN}
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message("${target} ${std} ${flavour}:\n${errors}")
    list(APPEND failed "${target} ${std} ${flavour}")
  endif()
  set(failed "${failed}" PARENT_SCOPE)
  set(reached "${reached}${output}" PARENT_SCOPE)
endfunction()

set(mode -fsyntax-only)
if(COVERAGE)
  set(mode -M)
endif()
set(reached "")
set(failed "")
foreach(target IN LISTS TARGETS)
  foreach(std IN LISTS STDS)
    foreach(flavour IN LISTS flavours)
      if(flavour IN_LIST flavours_by_themselves AND target STREQUAL "spir64" AND NOT COVERAGE)
        compile(${mode} ${alone})
      else()
        compile(${mode} ${together})
        compile(${mode} ${rest})
      endif()
    endforeach()
  endforeach()
endforeach()
if(failed)
  message(FATAL_ERROR "does not compile: ${failed}")
endif()

if(COVERAGE)
  string(REPLACE "\\" " " reached "${reached}")
  string(REGEX REPLACE "[ \n]+" ";" reached "${reached}")
  list(REMOVE_DUPLICATES reached)
  set(missed ${files})
  list(REMOVE_ITEM missed ${with_schema})
  list(REMOVE_ITEM missed ${reached})
  if(missed)
    message(FATAL_ERROR "no target includes: ${missed}")
  endif()
endif()
list(LENGTH alone count)
message("${count} files, each for ${TARGETS}, ${STDS}, ${flavours}")
