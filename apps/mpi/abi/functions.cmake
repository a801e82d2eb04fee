# cmake -D SOURCE=apps/mpi/abi -D OUTPUT=FOLDER -P functions.cmake: FOLDER/mpi.h and FOLDER/functions.def, which has a line
#   WORMCUBE_MPI_FUNCTION(result, name, (parameters), (arguments))
# for each function of functions.txt.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE}/functions.txt rows REGEX "^[^#]")
set(PROTOTYPES "")
set(functions "")
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^([A-Za-z_]+) (MPI_[A-Za-z0-9_]+)(\\(.*\\))$")
    message(FATAL_ERROR "functions.txt: not a prototype: ${row}")
  endif()
  set(result ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(parameters "${CMAKE_MATCH_3}")
  string(APPEND PROTOTYPES "${result} ${name}${parameters};\n${result} P${name}${parameters};\n")
  # The arguments: the last word of each parameter.
  string(REGEX REPLACE "^\\(void\\)$" "()" arguments "${parameters}")
  string(REGEX REPLACE ", \\.\\.\\.|\\[[0-9]*\\]" "" arguments "${arguments}")
  string(REGEX REPLACE "([(,])[^,()]*[ *]([A-Za-z0-9_]+)" "\\1\\2" arguments "${arguments}")
  string(REPLACE "," ", " arguments "${arguments}")
  string(APPEND functions "WORMCUBE_MPI_FUNCTION(${result}, ${name}, ${parameters}, ${arguments})\n")
endforeach()
# Unchanged files keep their time stamps.
configure_file(${SOURCE}/mpi.h.in ${OUTPUT}/mpi.h @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/functions.def @ONLY
     CONTENT "/* Written by the build (apps/mpi/abi/functions.cmake). SPDX-License-Identifier: Apache-2.0 */\n@functions@")
