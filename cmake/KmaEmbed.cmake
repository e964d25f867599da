# kma_embed(TARGET FUNCTION NAMESPACE::NAME BASE DIR FILES file…)
#
# Adds to TARGET a generated source that defines `const std::vector<kma::Source>
# &NAMESPACE::NAME()`: each file's exact bytes, named by its path from DIR. It is regenerated when a
# file changes.
function(kma_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FUNCTION;BASE" "FILES")
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed.cmake)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FUNCTION=${arg_FUNCTION} -D BASE=${arg_BASE}
            -D "FILES=${arg_FILES}" -P ${script}
    DEPENDS ${arg_FILES} ${script}
    COMMENT "Embedding OpenCL sources into ${target}"
    VERBATIM)
  # it must be linkable by itself
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
