// Nodes per distance and eccentricities, against searches from every node.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/distances.hpp"

#include "wormcube/runtime/topology/theory.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

using Counts = std::vector<std::int64_t>;

Counts counts(const std::string& network, Rank from = 0) {
  return theory::nodes_by_distance(Topology::parse(network), from);
}

}  // namespace

TEST_CASE("a hypercube has C(d, l) nodes at distance l", "[topology][theory]") {
  CHECK(counts("hypercube:3") == Counts{1, 3, 3, 1});
  CHECK(counts("hypercube:6", 37) == Counts{1, 6, 15, 20, 15, 6, 1});
  CHECK(counts("gray-hypercube:6", 5) == Counts{1, 6, 15, 20, 15, 6, 1});
  CHECK(counts("hypercube:0") == Counts{1});
  CHECK(counts("torus:4x4") == Counts{1, 4, 6, 4, 1});
  CHECK(counts("ring:7") == Counts{1, 2, 2, 2});
  CHECK(counts("mesh:3x3") == Counts{1, 2, 3, 2, 1});
  CHECK(counts("mesh:3x3", 4) == Counts{1, 4, 4});
  CHECK(counts("tree:4") == Counts{1, 0, 1, 0, 2});  // over switches
  CHECK(counts("petersen") == Counts{1, 3, 6});
}

TEST_CASE("nodes per distance agree with the status, eccentricities with all searches",
          "[topology][theory]") {
  const std::string network =
      GENERATE("ring:1", "ring:8", "line:6", "line:7", "mesh:4x3", "torus:5x4", "hypercube:4",
               "complete:5", "star:6", "petersen", "ccc:3", "twisted:4x8", "line:3*star:4",
               "torus:4x4~0-1", "gray-hypercube:3", "line:4*tree:6", "tree:7", "tree:8");
  CAPTURE(network);
  const Topology topology = Topology::parse(network);
  const bool has_status = !theory::excludes(topology);
  std::vector<int> eccentricities;
  const Counts first = theory::nodes_by_distance(topology, 0);
  bool same = true;
  for (Rank r = 0; r < topology.nodes(); ++r) {
    const Counts here = theory::nodes_by_distance(topology, r);
    CHECK(std::accumulate(here.begin(), here.end(), std::int64_t{0}) == topology.nodes());
    std::int64_t status = 0;
    for (std::size_t l = 0; l < here.size(); ++l) {
      status += static_cast<std::int64_t>(l) * here[l];
    }
    if (has_status) CHECK(status == theory::status(topology, r));
    eccentricities.push_back(static_cast<int>(here.size()) - 1);
    same = same && here == first;
  }
  const auto found = theory::eccentricities(topology);
  REQUIRE(found);
  CHECK(found->least == std::ranges::min(eccentricities));
  CHECK(found->most == std::ranges::max(eccentricities));
  if (theory::nodes_are_alike(topology)) CHECK(same);
  if (!same) CHECK_FALSE(theory::nodes_are_alike(topology));
}

TEST_CASE("eccentricities of large networks need no search", "[topology][theory]") {
  const auto line = theory::eccentricities(Topology::parse("line:1048576"));
  REQUIRE(line);
  CHECK(line->least == 524288);
  CHECK(line->most == 1048575);
  CHECK(theory::eccentricities(Topology::parse("ccc:16"))->least == 38);
  CHECK(theory::nodes_are_alike(Topology::parse("ccc:12*ring:4")));
  CHECK_FALSE(theory::nodes_are_alike(Topology::parse("petersen")));  // not known by its group
}
