// The conditions that algorithms share: when they hold, and the errors when they do not.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/needs.hpp"

#include "wormcube/tests/topology/samples.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

struct Row {
  Need need;
  const char* text;
  std::vector<const char*> met;
  std::vector<std::pair<const char*, const char*>> complaints;
};

}  // namespace

TEST_CASE("needs are met, or say what the network has instead", "[collectives][needs]") {
  for (const Row& row : std::vector<Row>{
           {needs::lines(),
            "every dimension must be a line",
            {"line:5", "mesh:3x4", "hypercube:3", "ring:2", "ring:1"},
            {{"ring:3", "ring:3 has ring:3"}, {"mesh:3x4*tree:2", "mesh:3x4*tree:2 has tree:2"}}},
           {needs::rings(),
            "every dimension must be a ring",
            {"ring:5", "torus:3x4", "ring:2", "line:2", "line:1", "ring:4*line:2"},
            {{"ring:3*line:4", "ring:3*line:4 has line:4"},
             {"line:3", "line:3 has line:3"},
             {"complete:2", "complete:2 has complete:2"}}},
           {needs::lines_and_rings(),
            "every dimension must be a line or a ring",
            {"ring:5*line:3", "hypercube:2"},
            {{"complete:4", "complete:4 has complete:4"}}},
           {needs::line_or_ring(),
            "needs one line or ring",
            {"ring:5", "line:1"},
            {{"torus:3x4", "torus:3x4 has 2 dimensions"}, {"tree:4", "tree:4 is not one"}}},
           {needs::dimensions(1),
            "needs 1 dimension",
            {"tree:4"},
            {{"mesh:2x2", "mesh:2x2 has 2"}}},
           {needs::dimensions(2),
            "needs 2 dimensions",
            {"mesh:2x2"},
            {{"ring:4", "ring:4 has 1"}, {"mesh:2x2x2", "mesh:2x2x2 has 3"}}},
           {needs::dimensions_at_least(2),
            "needs 2 dimensions or more",
            {"mesh:2x2", "mesh:2x2x2"},
            {{"ring:4", "ring:4 has 1"}}},
           {needs::multiples_of(4),
            "every dimension must be a multiple of 4",
            {"torus:4x12"},
            {{"torus:4x6", "torus:4x6 has 6"}, {"torus:1x4", "torus:1x4 has 1"}}},
           {needs::powers_of_two(),
            "every dimension must be a power of 2",
            {"torus:4x16", "mesh:1x2"},
            {{"mesh:8x6", "mesh:8x6 has 6"}}},
           {needs::nodes_power_of_two(),
            "the number of nodes must be a power of 2",
            {"complete:8", "ring:1"},
            {{"mesh:8x6", "mesh:8x6 has 48"}}},
           {needs::hypercube(),
            "needs a hypercube",
            {"hypercube:4", "mesh:2x2", "ring:2*line:2"},
            {{"torus:4x4", "torus:4x4 is not one (16 nodes)"}}},
           {needs::square_mesh_of_power_of_two(),
            "needs a mesh of 2^d x 2^d",
            {"mesh:8x8", "mesh:1x1", "torus:2x2"},
            {{"mesh:4x8", "mesh:4x8 is not one"},
             {"mesh:6x6", "mesh:6x6 is not one"},
             {"torus:4x4", "torus:4x4 is not one"},
             {"mesh:4x4x4", "mesh:4x4x4 is not one"}}},
           {needs::equal_sizes(),
            "all dimensions must be of one size",
            {"torus:6x6", "ring:5"},
            {{"torus:6x6x4", "torus:6x6x4 has 6 and 4"}}},
           {needs::nodes_at_most(16),
            "runs on at most 16 nodes",
            {"torus:4x4"},
            {{"ring:17", "ring:17 has 17"}}}}) {
    CHECK(row.need.text == row.text);
    for (const char* const topology : row.met) {
      CAPTURE(row.text, topology);
      CHECK(row.need.complaint(Topology::parse(topology)) == std::nullopt);
    }
    for (const auto& [topology, complaint] : row.complaints) {
      CAPTURE(row.text, topology);
      CHECK(row.need.complaint(Topology::parse(topology)) == complaint);
    }
  }
  CHECK(needs::line_or_ring().complaint(Topology({samples::petersen()})) == "petersen is not one");
}
