// How far a dry run, a check or a proof is, for whoever shows progress.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace wormcube {

/// A loop that may take long. While one lives, LongLoop::now() says how far it is; of several at
/// the same time the first one is shown.
///
/// Threads  any may call step() and now().
class LongLoop {
 public:
  /// \param what   "dry run"; a literal
  /// \param total  turns of the loop; 0: unknown
  LongLoop(const char* what, std::size_t total) noexcept;
  ~LongLoop();
  LongLoop(const LongLoop&) = delete;
  LongLoop& operator=(const LongLoop&) = delete;
  /// One more turn is done.
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
