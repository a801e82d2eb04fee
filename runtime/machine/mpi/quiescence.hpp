// Whether all processes have reached the end of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wormcube {

/// Judges rounds of counts: the four counters of F. Mattern ("Algorithms for distributed
/// termination detection", Distributed Computing 2, 1987).
///
/// Invariants  a process joins a round when it is quiet. Each send is caused by an arrival, or by a
///             node that ran. If the number of sends, in one round's sums, equals the number of
///             arrivals in the sums of the round before, nothing was in flight in between, and no
///             process has become busy since.
class Quiescence {
 public:
  enum class Verdict : std::uint8_t { none, finished, deadlock };
  struct Counts {
    std::int64_t sent = 0, come = 0, waiting = 0;
  };

  /// After a round: the sums of all processes' counts.
  Verdict judge(const Counts& all) {
    const bool nothing_in_flight = come_before_ == all.sent;
    come_before_ = all.come;
    if (!nothing_in_flight) return Verdict::none;
    return all.waiting == 0 ? Verdict::finished : Verdict::deadlock;
  }

 private:
  std::int64_t come_before_ = -1;  // of all, one round ago
};

}  // namespace wormcube
