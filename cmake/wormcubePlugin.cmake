# wormcube_add_plugin(NAME SOURCE..): a shared object libNAME.so for `wormcube --plugin`.
# SPDX-License-Identifier: Apache-2.0
function(wormcube_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  # Linked statically for what the program does not contain; the rest is the program's own.
  target_link_libraries(${name} PRIVATE wormcube::wormcube)
endfunction()
