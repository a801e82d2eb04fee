# wormcube_units(TARGET [EACH N] [ACROSS REGEX]): compiles the sources of a folder together, N (default 12) at a time, so that their
# includes are parsed once. ACROSS: small sources whose paths match are compiled together across folders.
# SPDX-License-Identifier: Apache-2.0
# OFF reveals missing includes and recompiles only changed files. A list of targets compiles only these as units.
set(WORMCUBE_UNITS ${PROJECT_IS_TOP_LEVEL} CACHE STRING "Compile the sources of a folder together: ON, OFF, or a list of targets")

function(wormcube_units target)
  if(NOT target IN_LIST WORMCUBE_UNITS AND NOT WORMCUBE_UNITS MATCHES "^(ON|1|TRUE|YES)$")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 units "" "EACH;ACROSS" "")
  if(NOT units_EACH)
    set(units_EACH 12)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class in a .cpp may have members with types from its unnamed namespace; in a unit, g++ mistakes the .cpp for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    set(group ${target})
    if(NOT units_ACROSS OR NOT source MATCHES "${units_ACROSS}")
      cmake_path(GET source PARENT_PATH group)
      cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "${group}" group)
    endif()
    math(EXPR count_${group} "0${count_${group}} + 1")
    math(EXPR part "(${count_${group}} - 1) / ${units_EACH}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
endfunction()
