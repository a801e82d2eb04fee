// The linear program of total exchange: known values, and between the bounds that need none.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/flows/exchange_program.hpp"

#include "wormcube/tests/topology/samples.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("the linear program of total exchange has known values", "[flows]") {
  struct Row {
    const char* network;
    double blocks;
  };
  for (const Row& row :
       {Row{"star:6", 5}, Row{"petersen", 5}, Row{"circulant:12+1+3", 5}, Row{"twisted:4x8", 21},
        Row{"star-graph:4", 62.0 / 3}, Row{"bubble-sort:4", 24}, Row{"butterfly:4", 64},
        Row{"torus:4x4~0-1~5", 28.0 / 3}, Row{"torus:6x6~0-1", 29.0 + 5.0 / 11}}) {
    INFO(row.network);
    const auto solved = apps::solve_exchange(Topology::parse(row.network).factor(0));
    REQUIRE(solved);
    CHECK(solved->tight);
    CHECK(solved->blocks == Approx(row.blocks).epsilon(1e-6));
    CHECK(solved->blocks <= row.blocks * (1 + 1e-9));  // its prices prove no more than there is
  }
  // Where cuts and distances say less.
  const auto solved = apps::solve_exchange(Topology::parse("bubble-sort:5").factor(0));
  REQUIRE(solved);
  CHECK(solved->blocks == Approx(154));
}

TEST_CASE("an exchange program is asked where nothing else is tight", "[flows]") {
  static int asked;
  theory::use_exchange_program([](const Graph& graph) {
    ++asked;
    return apps::solve_exchange(graph);
  });
  const Topology cube = Topology::parse("cayley:21345+23451");
  CHECK(theory::exchange_bound(cube).source == "concurrent flow");
  CHECK(theory::exchange_bound(cube).tight);
  CHECK(asked == 1);  // the answer is kept
  CHECK(theory::exchange_bound(Topology::parse("petersen")).tight);
  CHECK(asked == 1);
  theory::use_exchange_program(nullptr);
}

TEST_CASE("no linear program above its size", "[flows]") {
  CHECK_FALSE(apps::solve_exchange(Topology::parse("torus:10x10~0-1").factor(0)));
}
