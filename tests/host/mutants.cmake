# Seeded bugs. mutants/generate.py makes one copy of the device files in which all of them sleep, so a few executables
# do for all; mutants/run.py wakes one at a time and looks for a test that fails.

set(mutants_dir ${CMAKE_CURRENT_BINARY_DIR}/mutants)
file(GLOB_RECURSE mutants_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cl/*.cl ${PROJECT_SOURCE_DIR}/samples/graph/*.cl)
set(mutants_inputs ${CMAKE_CURRENT_LIST_DIR}/mutants/generate.py ${CMAKE_CURRENT_LIST_DIR}/mutants/source.py
  ${CMAKE_CURRENT_LIST_DIR}/mutants/by_hand.toml ${CMAKE_CURRENT_LIST_DIR}/mutants/elsewhere.toml)
set(mutants_copies)
foreach(source IN LISTS mutants_sources)
  string(REPLACE "${PROJECT_SOURCE_DIR}/cl/" "${mutants_dir}/cl/" copy "${source}")
  string(REPLACE "${PROJECT_SOURCE_DIR}/samples/graph/" "${mutants_dir}/cl/" copy "${copy}")
  list(APPEND mutants_copies ${copy})
endforeach()
add_custom_command(OUTPUT ${mutants_dir}/mutants.json ${mutants_dir}/cl/mutants_stamp.hpp ${mutants_copies}
  COMMAND ${KMA_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/mutants/generate.py ${PROJECT_SOURCE_DIR} ${mutants_dir}
  DEPENDS ${mutants_sources} ${mutants_inputs}
  COMMENT "Seeding bugs" VERBATIM)
add_custom_target(host_mutants_files DEPENDS ${mutants_dir}/mutants.json)

# kma_mutants_finder(TOOL SCENARIO FORM WIDTHS w … ITERATIONS reach few some many): a test that may find mutants, in the
# order of its price. What it passes in `reach` schedules without any mutant (0: in all that there are), it tries: with
# few schedules, and after all others have, with some, with many (0: not at all).
set(mutants_finders "")
add_custom_target(host_mutants)
function(kma_mutants_finder tool scenario form)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "WIDTHS;ITERATIONS")
  set(target host_mutants_${tool}_${scenario}_${form})
  kma_host_executable(${target} ${tool} ${scenario} ${form} ${mutants_dir}/cl)
  target_compile_definitions(${target} PRIVATE KMA_SHIM_MUTANTS)
  target_compile_options(${target} PRIVATE -w)
  add_dependencies(${target} host_mutants_files)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(host_mutants ${target})
  list(JOIN arg_ITERATIONS ", " iterations)
  foreach(width IN LISTS arg_WIDTHS)
    list(APPEND mutants_finders "{\"name\": \"${tool}.${scenario}.${form}.w${width}\",
  \"command\": [\"$<TARGET_FILE:${target}>\", \"--width\", \"${width}\"], \"iterations\": [${iterations}]}")
  endforeach()
  set(mutants_finders "${mutants_finders}" PARENT_SCOPE)
endfunction()

set(relacy_iterations 4000 1000 20000 200000)
set(yield_iterations 30 10 150 1500)
foreach(form IN ITEMS acqrel64 acqrel32)
  kma_mutants_finder(yield calls ${form} WIDTHS 1 ITERATIONS 1 1 0 0)
  kma_mutants_finder(yield world_calls ${form} WIDTHS 1 ITERATIONS 1 1 0 0)
endforeach()
kma_mutants_finder(yield null_steps acqrel64 WIDTHS 1 ITERATIONS 1 1 0 0)
foreach(container IN ITEMS arena array_list)
  kma_mutants_finder(yield ${container}_calls acqrel64 WIDTHS 1 ITERATIONS 1 1 0 0)
endforeach()
foreach(scenario IN ITEMS queue bitmap tree list quarantine)
  kma_mutants_finder(relacy ${scenario} acqrel64 WIDTHS 1 ITERATIONS ${relacy_iterations})
endforeach()
kma_mutants_finder(relacy bit_tree acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy world acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy world_late acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy arena acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy array_list acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy group acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
foreach(heap IN LISTS kma_heaps)
  kma_mutants_finder(relacy ${heap} acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
endforeach()
foreach(heap IN LISTS kma_heaps)
  if(NOT heap MATCHES "^(scatter|slab)$") # which have no word of 64 bits
    kma_mutants_finder(relacy ${heap} acqrel32 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
  endif()
  kma_mutants_finder(yield ${heap} acqrel64 WIDTHS 1 4 ITERATIONS ${yield_iterations})
endforeach()
kma_mutants_finder(relacy wide acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy pages_end acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
kma_mutants_finder(relacy pages acqrel64 WIDTHS 1 4 ITERATIONS ${relacy_iterations})
foreach(scenario IN ITEMS queue bitmap tree list arena array_list quarantine superblock)
  kma_mutants_finder(relacy ${scenario} fenced32 WIDTHS 1 ITERATIONS ${relacy_iterations})
endforeach()
kma_mutants_finder(relacy freeze acqrel64 WIDTHS 1 ITERATIONS 0 0 1000000 0)
list(JOIN mutants_finders ",\n" mutants_finders)
file(GENERATE OUTPUT ${mutants_dir}/finders.json CONTENT "[${mutants_finders}]\n")

# kma_mutants_test(name ONLY LABEL TIMEOUT [option…])
function(kma_mutants_test name only label timeout)
  add_test(NAME host.mutants.${name} COMMAND ${KMA_PYTHON} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mutants/run.py
    ${mutants_dir}/mutants.json ${mutants_dir}/finders.json --only ${only} --found ${mutants_dir}/found.json ${ARGN})
  set_tests_properties(host.mutants.${name} PROPERTIES LABELS "mutants;${label}" TIMEOUT ${timeout} PROCESSORS 2
    FIXTURES_REQUIRED host_mutants)
endfunction()
# Only releases try mutants, so only these build the executables that find them.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
add_test(NAME host.mutants.build
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target host_mutants --parallel ${cores})
set_tests_properties(host.mutants.build PROPERTIES LABELS "mutants;release" TIMEOUT 3600
  FIXTURES_SETUP host_mutants RUN_SERIAL ON)
kma_mutants_test(by_hand hand release 1800)
# Every fifth of the files that changed, and every fortieth of the others, always the same ones. All are `release` entries:
# a mutant without a row in found.json, which each run writes, is searched by all finders, which takes minutes.
kma_mutants_test(generated generated release 1800 --excused-levels 0 --every 40 --every-changed 5)
kma_mutants_test(all generated release 5400 --excused-levels 0)
add_test(NAME host.mutants.script COMMAND ${KMA_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/mutants/script_test.py)
set_tests_properties(host.mutants.script PROPERTIES LABELS "mutants;quick" TIMEOUT 120)
