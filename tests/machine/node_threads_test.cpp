// Nodes as threads: who finds that none runs. One thread does what all do, one after the other, and wakes
// each node before it blocks; tests/interleavings has every order.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/node_threads.hpp"

#include <array>
#include <cstddef>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

struct ThreeNodes {
  NodeThreads nodes;
  std::array<Gate, 3> gates;
  int found = 0;  // that all wait

  ThreeNodes() { nodes.begin(gates.size()); }
  void park(std::size_t node) {
    gates[node].arm(1);
    REQUIRE(gates[node].park());
  }
  void wake(std::size_t node) {
    nodes.wake(gates[node], [&] { ++found; });
  }
  void block(std::size_t node) {
    nodes.block(gates[node], [&] { ++found; });
  }
  void wait_and_wake(std::size_t node) {
    park(node);
    wake(node);
    block(node);
  }
  /// It waits, and is woken when it has counted itself out.
  void wait_uncounted(std::size_t node) {
    park(node);
    REQUIRE(gates[node].unpark());
    block(node);
    park(node);
    wake(node);
  }
  void end() {
    nodes.end([&] { ++found; });
  }
};

}  // namespace

TEST_CASE("that all wait is found when the last node that runs waits or ends", "[machine]") {
  ThreeNodes three;
  three.end();
  three.end();
  CHECK(three.found == 0);
  three.wait_uncounted(2);
  CHECK(three.found == 1);
  three.wait_uncounted(2);
  CHECK(three.found == 2);
  three.end();
  CHECK(three.found == 2);  // all have ended: nobody waits
}

TEST_CASE("nodes that are woken run, who wakes one that is awake changes nothing", "[machine]") {
  ThreeNodes three;
  for (std::size_t node = 0; node < 3; ++node) three.wait_and_wake(node);
  three.park(0);
  three.wake(0);
  three.wake(0);
  three.block(0);
  three.wait_uncounted(0);  // two others run
  CHECK(three.found == 0);
  three.end();
  three.end();
  CHECK(three.found == 0);
  three.wait_and_wake(2);
  CHECK(three.found == 0);
  three.wait_uncounted(2);
  CHECK(three.found == 1);
}

TEST_CASE("a machine runs its nodes again", "[machine]") {
  ThreeNodes three;
  for (int run = 0; run < 2; ++run) {
    three.nodes.begin(3);
    for (int node = 0; node < 3; ++node) three.end();
  }
  CHECK(three.found == 0);
  three.nodes.begin(1);
  three.wait_uncounted(0);
  CHECK(three.found == 1);
}
