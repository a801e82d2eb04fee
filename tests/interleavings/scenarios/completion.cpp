// Transfers that complete while their node waits, in each of its forms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/completion.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <optional>

namespace interleavings {
namespace programs {
namespace {

enum class Waits { awaits, looks, watches };

// A transfer that another thread completes while its node waits for it, in one
// of three ways, and ends it then.
template <Waits How, bool AtOnce>
struct Completes : Nodes {
  static constexpr int threads = 2;
  using Completion = wormcube::BasicCompletion<Explored>;
  std::optional<Completion> transfer = std::optional<Completion>(std::in_place);
  Gate gate;
  Atomic<int> under_way = 0;
  Plain<int> data = 0;
  Completes() { nodes.begin(2); }
  void thread(int i) {
    i == 0 ? wait_for_it() : complete();
    nodes.end(nobody_may_find);
  }
  void wait_for_it() {
    gate.arm(How == Waits::watches ? 1 : 2);
    transfer->begin(AtOnce ? Completion::Progress::awaited : Completion::Progress::pending);
    under_way.store(1, release);
    if (How == Waits::awaits) {
      std::uint32_t complete = 1;
      if (!AtOnce && !transfer->await()) ++complete;
      gate.arrive_here(complete);
      wait(gate);
    } else if (How == Waits::looks) {
      for (int tries = 0; tries < 2 && !transfer->is_complete(); ++tries) {
      }
      if (!transfer->is_complete()) {
        under_way.await(2);
        require(transfer->is_complete(), "it is complete");
      }
    } else {
      if (transfer->watch()) {
        for (;;) {
          if (gate.park()) nodes.block(gate, nobody_may_find);
          gate.answer();
          if (transfer->is_complete()) break;
        }
      }
      transfer->unwatch();
      require(transfer->is_complete(), "what is complete stays so");
    }
    require(data == 7, "what was done for it is done");
    // Asked last: it would order what the gate must.
    require(transfer->is_complete(), "what is waited for is complete");
    transfer.reset();
    data = 0;
  }
  void complete() {
    under_way.await(1);
    data = 7;
    const auto was = transfer->settle();
    require(How == Waits::awaits || was != Completion::Progress::awaited, "nobody awaits it");
    switch (was) {
      case Completion::Progress::awaited:
        if (gate.arrive()) wake(gate);
        break;
      case Completion::Progress::watched:
        if (gate.call()) wake(gate);
        break;
      default:
        break;
    }
    if (How == Waits::looks) under_way.store(2, release);
  }
  void end() {}
};

}  // namespace
}  // namespace programs

std::vector<Scenario> completion_scenarios() {
  return {
      quick<programs::Completes<programs::Waits::awaits, true>>(
          "completion: awaited from the start"),
      quick<programs::Completes<programs::Waits::awaits, false>>("completion: awaited later"),
      quick<programs::Completes<programs::Waits::looks, false>>("completion: looked at"),
      quick<programs::Completes<programs::Waits::watches, false>>("completion: watched"),
  };
}

}  // namespace interleavings
