// The rounds that end a run of several processes: never too early, never for ever.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/quiescence.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>

#include <catch2/catch.hpp>

namespace {

using wormcube::Quiescence;

/// Three processes that send each other a bounded number of messages, each because of one that has
/// come; they join rounds one after the other, at any time, and what is sent takes any time.
class Processes {
 public:
  explicit Processes(unsigned seed) : random_(seed) {
    for (Process& each : processes_) each.to_send = below(4);
  }
  bool in_flight() const { return !flying_.empty(); }

  /// Runs until the judge has a verdict; how many rounds that took, or 0 if it was given too early.
  template <class Judge>
  int rounds_until_verdict(Judge&& judge, std::int64_t waiting) {
    for (int rounds = 1;; ++rounds) {
      Quiescence::Counts all{.waiting = waiting};
      for (std::size_t i = 0; i < processes_.size(); ++i) {
        do {
          happen(below(6));
        } while (!is_quiet(i));
        all.sent += processes_[i].sent;
        all.come += processes_[i].come;
      }
      const Quiescence::Verdict verdict = judge(all);
      if (verdict == Quiescence::Verdict::none) continue;
      for (const Process& each : processes_) {
        if (each.to_send > 0) return 0;
      }
      return in_flight() ? 0 : rounds;
    }
  }

 private:
  struct Process {
    std::int64_t sent = 0, come = 0;
    unsigned to_send = 0;
  };

  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  bool is_quiet(std::size_t process) const { return processes_[process].to_send == 0; }

  void happen(unsigned events) {
    for (unsigned i = 0; i <= events; ++i) {
      Process& each = processes_[below(processes_.size())];
      if (each.to_send > 0) {
        --each.to_send;
        ++each.sent;
        flying_.push_back(below(processes_.size()));
      } else if (!flying_.empty()) {
        const std::size_t at = below(static_cast<unsigned>(flying_.size()));
        Process& receiver = processes_[flying_[at]];
        flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(at));
        ++receiver.come;
        if (left_ > 0 && below(3) > 0) --left_, receiver.to_send += below(3);
      }
    }
  }

  std::minstd_rand random_;
  std::array<Process, 3> processes_;
  std::deque<unsigned> flying_;  // to whom
  int left_ = 40;
};

}  // namespace

TEST_CASE("rounds end a run when nothing is in flight, and then soon", "[machine][quiescence]") {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    Processes processes(seed);
    Quiescence quiescence;
    const std::int64_t waiting = seed % 2;
    Quiescence::Verdict last{};
    const int rounds = processes.rounds_until_verdict(
        [&](const Quiescence::Counts& all) { return last = quiescence.judge(all); }, waiting);
    CAPTURE(seed);
    REQUIRE(rounds > 0);
    REQUIRE(last == (waiting == 0 ? Quiescence::Verdict::finished : Quiescence::Verdict::deadlock));
  }
}

TEST_CASE("sums of one round alone would end runs too early", "[machine][quiescence]") {
  int too_early = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    const auto one_round = [](const Quiescence::Counts& all) {
      return all.sent == all.come ? Quiescence::Verdict::finished : Quiescence::Verdict::none;
    };
    too_early += Processes(seed).rounds_until_verdict(one_round, 0) == 0 ? 1 : 0;
  }
  CHECK(too_early > 0);
}
