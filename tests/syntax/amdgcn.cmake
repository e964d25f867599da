# That clang keeps AMD's lanes as lanes_amdgcn.cl means them: the lanes of each arm of an `if` are asked for in that arm, and where
# ds_bpermute does not cross the halves of a wavefront nothing uses it.

# count(result pattern flag…): how many instructions of the optimised kernels match.
function(count result pattern)
  execute_process(
    COMMAND ${CLANG} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -nogpulib ${ARGN} -Icl -O2 -S -emit-llvm -o -
            ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amdgcn.cl
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${errors}")
  endif()
  string(REGEX MATCHALL "call [^\n]*@${pattern}" calls "${output}")
  list(LENGTH calls number)
  set(${result} ${number} PARENT_SCOPE)
endfunction()

foreach(flags IN ITEMS "-mcpu=gfx1030;-mwavefrontsize64" "-mcpu=gfx1030" "-mcpu=gfx90a")
  count(reads "(llvm.read_register|llvm.amdgcn.ballot)" ${flags})
  if(NOT reads EQUAL 3)
    message(FATAL_ERROR "${flags}: the lanes are asked for ${reads} times, not 3: the arms of an if have been joined")
  endif()
endforeach()
count(crossing "llvm.amdgcn.ds.bpermute" -mcpu=gfx1030 -mwavefrontsize64)
count(reading "llvm.amdgcn.readlane" -mcpu=gfx1030 -mwavefrontsize64)
if(crossing OR NOT reading)
  message(FATAL_ERROR "gfx1030 with 64 lanes: ds_bpermute reads no lane of the other half")
endif()
count(crossing "llvm.amdgcn.ds.bpermute" -mcpu=gfx1030)
if(NOT crossing)
  message(FATAL_ERROR "gfx1030 with 32 lanes does without ds_bpermute")
endif()
