# wormcube_add_plugin(NAME SOURCE..): a shared object libNAME.so for `wormcube --plugin`.
# SPDX-License-Identifier: Apache-2.0
function(wormcube_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  # Not the library: a second copy of its objects would be constructed, and destroyed, beside the program's.
  target_link_libraries(${name} PRIVATE wormcube::headers)
  # An algorithm's local array does not reach over the guard below its node's stack.
  target_compile_options(${name} PRIVATE -fstack-clash-protection)
endfunction()
