// Tables whose objects are created on first use.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/lazy_table.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

// Threads ask for objects of one page, the same or others.
template <int Threads, bool Same>
struct Tables {
  static constexpr int threads = Threads;
  struct Object {
    explicit Object(int by) : data(by) {}
    Plain<int> data;
  };
  wormcube::LazyTable<Object, Explored> table{2};
  std::array<Plain<Object*>, Threads> found;
  void thread(int i) {
    const std::size_t index = Same ? 0 : static_cast<std::size_t>(i) % 2;
    for (int round = 0; round < 2; ++round) {
      Object& object = table.get(index, i + 1);
      require(object.data > 0, "it is made");
      require(round == 0 || found[i] == &object, "it stays");
      found[i] = &object;
    }
    table.mark(index, 7);
  }
  void end() {
    int objects = 0, marked = 0;
    table.each([&](const Object&) { ++objects; });
    table.each_marked(7, [&](const Object&) { ++marked; });
    require(objects == (Same ? 1 : 2) && marked == objects, "each is there once");
    if (Same) require(found[0] == found[1], "all have the same");
  }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> lazy_table_scenarios() {
  // Addresses of what lies in memory of its own differ from execution to
  // execution.
  constexpr Bounds alone{.merge = false};
  return {
      quick<programs::Tables<2, true>>("lazy table: 2 threads, the same object", alone),
      quick<programs::Tables<2, false>>("lazy table: 2 threads, an object each", alone),
  };
}

}  // namespace interleavings
