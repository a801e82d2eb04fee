// The time limit of dry runs and proofs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace wormcube {

/// While one of these lives, every step of a dry run or a proof after the limit throws TimeLimit. A
/// program's code between two steps cannot be interrupted. If several are nested, the earliest
/// limit holds.
///
/// Threads  one at a time creates and destroys; any may take steps.
class DryRunLimit {
 public:
  /// \param limit  0: none
  explicit DryRunLimit(std::chrono::milliseconds limit);
  ~DryRunLimit();
  DryRunLimit(const DryRunLimit&) = delete;
  DryRunLimit& operator=(const DryRunLimit&) = delete;

  /// Throws TimeLimit if it has passed.
  static void require();

 private:
  std::chrono::steady_clock::rep outer_end_;
  std::chrono::milliseconds::rep outer_ms_;
};

}  // namespace wormcube
