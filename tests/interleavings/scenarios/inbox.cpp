// Inboxes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/inbox.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

// A node opens and closes its inbox; the others put what they have into it.
template <int Threads, int Rounds, int Each>
struct Boxes {
  static constexpr int threads = Threads;
  wormcube::BasicInbox<Item, Explored> inbox;
  std::array<Item, (Threads - 1) * Each> items;
  std::array<Plain<int>, (Threads - 1) * Each> put;

  void take_all(Item* item) {
    std::array<int, Threads> last = {};
    while (item != nullptr) {
      Item* const next = item->next;
      const int data = item->data;
      require(data % 8 > last[data / 8], "the oldest comes first");
      last[data / 8] = data % 8;
      item->handled = item->handled + 1;
      item = next;
    }
  }
  void thread(int i) {
    if (i == 0) {
      for (int round = 0; round < Rounds; ++round) {
        inbox.open();
        take_all(inbox.take());
        forget(round);
        take_all(inbox.close());
        forget(round);
      }
      return;
    }
    for (int k = 0; k < Each; ++k) {
      const int number = (i - 1) * Each + k;
      items[number].data = i * 8 + k + 1;
      if (inbox.put(items[number])) {
        put[number] = 1;
      } else {
        items[number].data = 0;  // still its own
      }
      forget(k);
    }
  }
  void end() {
    for (std::size_t i = 0; i < items.size(); ++i) {
      require(items[i].handled == put[i], "what is put is taken once, what is refused is not");
    }
    require(inbox.close() == nullptr, "a closed inbox is empty");
  }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> inbox_scenarios() {
  return {
      quick<programs::Boxes<2, 2, 2>>("inbox: 2 threads, 2 rounds, 2 items"),
      quick<programs::Boxes<3, 1, 1>>("inbox: 3 threads, a round, an item each"),
      quick<programs::Boxes<3, 2, 1>>("inbox: 3 threads, 2 rounds, an item each"),
  };
}

}  // namespace interleavings
