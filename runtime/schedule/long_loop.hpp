// How far a dry run, a check or a proof is, for progress displays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace wormcube {

/// A loop that may take long. While one lives, LongLoop::now() reports its progress; of several at
/// the same time the first one is reported.
///
/// Threads  any may call step() and now().
class LongLoop {
 public:
  /// \param what   "dry run"; a literal
  /// \param total  iterations of the loop; 0: unknown
  LongLoop(const char* what, std::size_t total) noexcept;
  ~LongLoop();
  LongLoop(const LongLoop&) = delete;
  LongLoop& operator=(const LongLoop&) = delete;
  /// One more iteration is done.
  void step() noexcept;

  struct State {
    const char* what;
    std::size_t done, total;
  };
  static std::optional<State> now() noexcept;

 private:
  bool shown_ = false;
};

}  // namespace wormcube
