// The load of routed patterns: if sizes differ, the busiest link on each message's own path.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/pattern_load.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("contention is the bytes on the busiest link", "[collectives]") {
  for (const char* const network : {"ring:8", "line:8", "ring:8*line:2"}) {
    INFO(network);
    const Topology topology = Topology::parse(network);
    const Rank stride = topology.stride(0);
    // Both use the last link, which carries all their bytes; both ways.
    for (const auto& [from, between, to] : {std::array<Rank, 3>{5, 6, 7}, {3, 2, 1}}) {
      const std::array messages{PatternMessage{from * stride, to * stride, 5},
                                PatternMessage{between * stride, to * stride, 1}};
      const auto load = pattern_load(topology, messages);
      REQUIRE(load);
      CHECK(load->link_load == 2);
      CHECK(load->link_blocks == 5 + 1);
    }
  }
}

TEST_CASE("busy links off a message's path do not delay it", "[collectives]") {
  for (const char* const network : {"ring:8", "line:8"}) {
    INFO(network);
    // The large message goes over one link; the next one and the one before carry two small ones.
    for (const auto& messages :
         {std::array<PatternMessage, 3>{{{3, 4, 5}, {4, 5, 1}, {4, 6, 1}}},
          std::array<PatternMessage, 3>{{{4, 3, 5}, {3, 2, 1}, {3, 1, 1}}},
          std::array<PatternMessage, 3>{{{3, 4, 5}, {2, 3, 1}, {1, 3, 1}}}}) {
      const auto load = pattern_load(Topology::parse(network), messages);
      REQUIRE(load);
      CHECK(load->link_load == 2);
      CHECK(load->link_blocks == 5);
    }
  }
}
