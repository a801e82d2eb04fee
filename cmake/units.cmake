# wormcube_units(TARGET [N]): each folder's sources are compiled together, N at a time: what they include is parsed once.
# SPDX-License-Identifier: Apache-2.0
# OFF shows an include that a file has forgotten, and compiles no more than what was changed.
option(WORMCUBE_UNITS "Compile the sources of a folder together" ${PROJECT_IS_TOP_LEVEL})

function(wormcube_units target)
  if(NOT WORMCUBE_UNITS)
    return()
  endif()
  set(most ${ARGN})
  if(NOT most)
    set(most 12)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class that only its .cpp sees may have members of types that only this file sees; g++ takes the unit for a header's user.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR part "(${count_${folder}} - 1) / ${most}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
endfunction()
