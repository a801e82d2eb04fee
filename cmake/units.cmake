# wormcube_units(TARGET [EACH N] [ACROSS REGEX]): the sources of a folder are compiled together, N at a time (12): what they include
# is parsed once. ACROSS: those whose paths match are taken together whatever their folders, for these are small.
# SPDX-License-Identifier: Apache-2.0
# OFF shows an include that a file has forgotten, and compiles no more than what was changed; a list of targets: these alone.
set(WORMCUBE_UNITS ${PROJECT_IS_TOP_LEVEL} CACHE STRING "Compile the sources of a folder together: ON, OFF, or the targets that do")

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
    # A class that only its .cpp sees may have members of types that only this file sees; g++ takes the unit for a header's user.
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
