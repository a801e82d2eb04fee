// A machine as a multicomputer: all nodes here, and a process that has nobody to join with.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/team.hpp"

#include "wormcube/runtime/machine/machine.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("all nodes of a machine are in this process, and have emulated links", "[machine]") {
  Machine machine(Topology::parse("ring:3"));
  Multicomputer& any = machine;
  CHECK(any.nodes_here() == std::pair<Rank, Rank>{0, 3});
  CHECK(any.has_links());
  CHECK(any.team().is_first_process());
  CHECK(any.team().processes() == 1);
}

TEST_CASE("what a process alone joins stays as it is", "[machine]") {
  std::array<std::uint64_t, 2> counts{3, 4};
  std::array<double, 2> times{0.5, 1.5};
  team_of_one().sum(counts);
  team_of_one().maximum(times);
  CHECK(counts == std::array<std::uint64_t, 2>{3, 4});
  CHECK(times == std::array<double, 2>{0.5, 1.5});
  CHECK(team_of_one().first_text("a text") == "a text");
}

TEST_CASE("a shared counter begins at 0 and counts what every node adds", "[machine]") {
  Machine machine(Topology::parse("torus:4x4"));
  for (int run = 0; run < 2; ++run) {
    const auto counter = machine.team().counter();
    machine.run([&](Node& node) {
      for (int i = 0; i < 100; ++i) node.local([&] { counter->add_one(); });
    });
    CHECK(counter->value() == 1600);
  }
}
