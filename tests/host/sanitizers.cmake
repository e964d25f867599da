# All scenarios on threads under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer. A build
# that is sanitized as a whole runs the yield tests under its sanitizer anyway.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
include(CheckCXXSourceCompiles)

# kma_sanitized_program(SANITIZER FORM): what sanitized.cpp is under asan (with ubsan) or tsan.
function(kma_sanitized_program sanitizer form)
  set(flags_asan -fsanitize=address,undefined -fno-sanitize-recover=all)
  set(flags_tsan -fsanitize=thread)
  set(flags ${flags_${sanitizer}})
  set(CMAKE_REQUIRED_FLAGS ${flags})
  list(JOIN CMAKE_REQUIRED_FLAGS " " CMAKE_REQUIRED_FLAGS)
  check_cxx_source_compiles("int main() { return 0; }" KMA_HAS_${sanitizer})
  if(NOT KMA_HAS_${sanitizer})
    message(FATAL_ERROR "The compiler cannot link programs with ${CMAKE_REQUIRED_FLAGS}: install its sanitizers' "
      "libraries (libasan, libubsan and libtsan of GCC, or libclang-rt-dev), or set KMA_BUILD_TESTS to OFF")
  endif()
  set(target host_${sanitizer}_${form})
  kma_host_program(${target} sanitized.cpp yield ${form})
  string(COMPARE EQUAL "${sanitizer}" tsan is_tsan)
  target_compile_definitions(${target} PRIVATE KMA_SANITIZED_THREADS=${is_tsan})
  target_compile_options(${target} PRIVATE ${flags} -O1 -g1)
  target_link_options(${target} PRIVATE ${flags})
  target_link_libraries(${target} PRIVATE Threads::Threads $<TARGET_NAME_IF_EXISTS:kma_warnings>)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(is_tsan) # quick tests have the other one
    kma_host_build_late(${target})
  endif()
endfunction()

# Older ThreadSanitizers cannot live with more random bits in addresses than 28.
set(launch_asan)
set(launch_tsan)
if(EXISTS /proc/sys/vm/mmap_rnd_bits)
  file(READ /proc/sys/vm/mmap_rnd_bits random_bits)
  if(random_bits GREATER 28)
    set(launch_tsan setarch --addr-no-randomize)
  endif()
endif()

# kma_sanitized_test(suffix argument…): of ${program}, in the loop below.
function(kma_sanitized_test suffix)
  string(REPLACE "_" "." name host.${program})
  kma_host_test(${name}${suffix} LAUNCHER ${launch_${sanitizer}} TARGET host_${program} LABELS sanitizers quick
    ARGUMENTS ${ARGN})
endfunction()

# And what each must find, seeded in the shim: a test that finds nothing fails.
foreach(program IN ITEMS asan_acqrel64 asan_fenced32 tsan_acqrel64 tsan_acqrel32)
  string(REPLACE "_" ";" sanitizer_and_form ${program})
  list(GET sanitizer_and_form 0 sanitizer)
  kma_sanitized_program(${sanitizer_and_form})
  foreach(width IN ITEMS 1 4)
    kma_sanitized_test(.w${width} --width ${width} --iterations 150 --seconds 2)
  endforeach()
  if(sanitizer STREQUAL asan)
    foreach(heap IN LISTS kma_heaps)
      kma_sanitized_test(.finds_short_memory.${heap} --scenario "${heap} heap" --short-memory --expect-failure)
    endforeach()
  else()
    list(TRANSFORM kma_heaps APPEND " heap" OUTPUT_VARIABLE heap_scenarios)
    foreach(scenario IN ITEMS queue bitmap tree list world ${heap_scenarios})
      string(REPLACE " " "_" name ${scenario})
      kma_sanitized_test(.finds_race.${name} --scenario "${scenario}" --relaxed --expect-failure)
    endforeach()
  endif()
endforeach()
