// A single process.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/team.hpp"

#include <atomic>

namespace wormcube {
namespace {

// Relaxed: the messages that a node receives order the counts.
class CounterHere final : public SharedCounter {
 public:
  void add_one() override { value_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t value() override { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class TeamOfOne final : public Team {
 public:
  int process() const override { return 0; }
  int processes() const override { return 1; }
  int processes_here() const override { return 1; }
  void sum(std::span<std::uint64_t> /*values*/) override {}
  void maximum(std::span<double> /*values*/) override {}
  std::string first_text(std::string text) override { return text; }
  void join(Span /*array*/, std::size_t /*begin*/, std::size_t /*end*/) override {}
  std::unique_ptr<SharedCounter> counter() override { return std::make_unique<CounterHere>(); }
};

}  // namespace

Team& team_of_one() {
  static TeamOfOne team;
  return team;
}

}  // namespace wormcube
