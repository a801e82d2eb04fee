# wormcube_add_plugin(NAME SOURCE..): builds a shared object libNAME.so for `wormcube --plugin`.
# SPDX-License-Identifier: Apache-2.0
function(wormcube_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  # A plugin does not link the library: its objects would exist a second time beside the program's.
  target_link_libraries(${name} PRIVATE wormcube::headers)
  # With this option, an algorithm's local array cannot skip the guard page below its node's stack.
  target_compile_options(${name} PRIVATE -fstack-clash-protection)
endfunction()
