# cmake -P built.cmake: each build writes the current commit into FILE if it has changed.
# SPDX-License-Identifier: Apache-2.0
set(commit unknown)
find_program(GIT git)
if(GIT)
  # Inside another project's repository, git would report that project's commit.
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE below RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND below STREQUAL "")
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty=\ and\ changes --abbrev=12 --exclude=* OUTPUT_VARIABLE commit
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()
if(commit STREQUAL "")
  set(commit unknown)
endif()
if(BUILD_TYPE STREQUAL "")
  set(BUILD_TYPE "no build type")
endif()
if(NOT SANITIZE STREQUAL "")
  string(APPEND BUILD_TYPE ", -fsanitize=${SANITIZE}")
endif()
file(CONFIGURE OUTPUT ${FILE} @ONLY CONTENT [[// What this program is built from. Written by the build.
#pragma once

#include <string_view>

namespace wormcube {

inline constexpr std::string_view built_commit = "@commit@", build_type = "@BUILD_TYPE@";

}  // namespace wormcube
]])
