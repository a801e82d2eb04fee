// Measures how long something takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace wormcube {

/// Adds its lifetime to a sum, if one is given.
class Stopwatch {
 public:
  Stopwatch(bool wanted, std::chrono::nanoseconds& sum) : sum_(wanted ? &sum : nullptr) {
    if (wanted) start_ = std::chrono::steady_clock::now();
  }
  ~Stopwatch() {
    if (sum_ != nullptr) *sum_ += std::chrono::steady_clock::now() - start_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds* sum_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace wormcube
