# cmake -D SOURCE=… -D FIND=… -D REPLACE=… -D TIMES=n -D OUTPUT=… -P mutate.cmake
# Copies SOURCE to OUTPUT with the text in file FIND, which must be there exactly TIMES times, replaced by that in file
# REPLACE. If it is not, the copy makes its test say so and fail: the mutant is stale.
file(READ "${SOURCE}" text)
file(READ "${FIND}" find)
file(READ "${REPLACE}" replace)

string(LENGTH "${find}" find_length)
set(rest "${text}")
set(found 0)
string(FIND "${rest}" "${find}" at)
while(NOT at EQUAL -1)
  math(EXPR found "${found} + 1")
  math(EXPR behind "${at} + ${find_length}")
  string(SUBSTRING "${rest}" ${behind} -1 rest)
  string(FIND "${rest}" "${find}" at)
endwhile()

if(found EQUAL TIMES)
  string(REPLACE "${find}" "${replace}" text "${text}")
else()
  get_filename_component(name "${SOURCE}" NAME)
  string(PREPEND text "#define KMA_MUTANT_STALE \"${name} has the text ${found} times, not ${TIMES}\"\n")
endif()
file(WRITE "${OUTPUT}" "${text}")
