# The rows of core/op/builtin_ops.inc, for lists of sources and of generated files, and of
# core/backends/builtin_backends.inc:
#   OPSERVE_OPERATORS       "Hardshrink;HardshrinkBackward;…"
#   OPSERVE_OPERATOR_FILES  "hardshrink.cc;…", each once
#   OPSERVE_BACKEND_FOLDERS    "backends/cpu;…"
#   OPSERVE_BACKEND_LIBRARIES  "opserve_backend_cpu;…"
# A file that a row names and a folder lacks stops CMake, as any source that is not there.

include_guard(GLOBAL)

# The rows of a table as a list of "x;X;y;Y;…".
function(opserve_read_table out file macro)
  set(table ${PROJECT_SOURCE_DIR}/${file})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} rows REGEX "^${macro}\\(")
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^${macro}\\(([a-z0-9_]+), ([A-Za-z0-9]+)\\)$")
      message(FATAL_ERROR "${table}: want ${macro}(x, X), got ${row}")
    endif()
    list(APPEND words ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(${out} ${words} PARENT_SCOPE)
endfunction()

opserve_read_table(words core/op/builtin_ops.inc OPSERVE_OP)
while(words)
  list(POP_FRONT words file operator)
  list(APPEND OPSERVE_OPERATOR_FILES ${file}.cc)
  list(APPEND OPSERVE_OPERATORS ${operator})
endwhile()
list(REMOVE_DUPLICATES OPSERVE_OPERATOR_FILES)

opserve_read_table(words core/backends/builtin_backends.inc OPSERVE_BACKEND)
while(words)
  list(POP_FRONT words folder name)
  list(APPEND OPSERVE_BACKEND_FOLDERS backends/${folder})
  list(APPEND OPSERVE_BACKEND_LIBRARIES opserve_backend_${folder})
endwhile()
