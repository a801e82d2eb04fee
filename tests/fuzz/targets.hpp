// Fuzz targets: functions that accept any bytes and must neither crash nor break a promise. Each is
// built with libFuzzer (WORMCUBE_FUZZ) and replays its corpus among the tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace wormcube::fuzz {

/// Ends the process where a property does not hold: what a fuzzer understands.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", property);
  std::abort();
}

void topology(std::string_view bytes);      // the grammar
void graph(std::string_view bytes);         // edge lists
void npy(std::string_view bytes);           // NumPy files
void csv(std::string_view bytes);           // the first byte chooses the column
void schedule(std::string_view bytes);      // schedule files of all formats
void command_line(std::string_view bytes);  // one argument per line

}  // namespace wormcube::fuzz
