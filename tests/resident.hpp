// The memory of the test process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>

#include <unistd.h>

inline double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}
