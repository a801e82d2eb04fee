# cmake -D SOURCE=FOLDER -D OUTPUT=FILE -P abi.cmake: writes a header with the digest of all public headers under FOLDER, without comments: this
# project or an installed include/wormcube. A plugin contains the digest of its compilation.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/runtime/*.hpp ${SOURCE}/collectives/*.hpp)
list(FILTER headers EXCLUDE REGEX "/mpi/")  # a separate library
list(APPEND headers wormcube.hpp)
list(SORT headers)
set(all "")
foreach(header IN LISTS headers)
  # A comment starts a line or follows a blank. No header has one between /* and */ that is longer than a parameter's name.
  file(READ ${SOURCE}/${header} text)
  string(REGEX REPLACE "(^|[ \n])//[^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(SHA256 digest "${text}")
  string(APPEND all "${header} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
# An unchanged file is not written.
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// The digest of the public headers. Written by the build (cmake/abi.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define WORMCUBE_HEADERS_DIGEST \"@digest@\"
")
