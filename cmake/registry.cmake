# wormcube_registered(OUT SOURCE..): the names that the sources say WORMCUBE_ALGORITHM(name) for, each at the beginning of a line.
# Anything else that looks like one would compile and be nowhere: it stops the build.
# SPDX-License-Identifier: Apache-2.0
function(wormcube_registered out)
  set(names "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} lines REGEX "WORMCUBE_ALGORITHM")
    foreach(line IN LISTS lines)
      if(line MATCHES "^WORMCUBE_ALGORITHM\\(([a-z0-9_]+)\\)")
        list(APPEND names ${CMAKE_MATCH_1})
      elseif(NOT line MATCHES "^ *//")
        message(FATAL_ERROR "${source}: '${line}': an algorithm that would not be registered: "
                            "WORMCUBE_ALGORITHM(name) begins its line, its name in small letters, digits and _ on the same line")
      endif()
    endforeach()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# cmake -D SOURCES=FILE;FILE.. -P registry.cmake: prints the names.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.25)
  wormcube_registered(names ${SOURCES})
  list(JOIN names "\n" names)
  message("${names}")
endif()
