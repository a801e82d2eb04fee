// Grids of ranks: sides, arithmetic, places on networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/cartesian.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

namespace wormcube::mpi {
namespace {

using Sides = std::vector<int>;

int error_of(auto&& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error_class();
  }
  return MPI_SUCCESS;
}

/// The hops of a grid on a network where nodes_for puts it; of identity where it finds nothing better.
GridHops placed(const char* network_name, Sides sides, std::vector<bool> periods, bool& is_moved) {
  const CartGrid grid(std::move(sides), std::move(periods));
  const Topology network = Topology::parse(network_name);
  std::vector<Rank> nodes(static_cast<std::size_t>(grid.size()));
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto found = nodes_for(grid, network);
  is_moved = found.has_value();
  if (found) nodes = *found;
  std::vector<Rank> sorted = nodes;
  std::ranges::sort(sorted);
  CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
  CHECK((sorted.front() >= 0 && sorted.back() < network.nodes()));
  return hops_between_neighbours(grid, network, nodes);
}

}  // namespace

TEST_CASE("sides are as equal as they can be", "[mpi_front]") {
  CHECK(balanced_sides(6, {0, 0}) == Sides{3, 2});
  CHECK(balanced_sides(7, {0, 0}) == Sides{7, 1});
  CHECK(balanced_sides(6, {0, 3, 0}) == Sides{2, 3, 1});
  CHECK(balanced_sides(64, {0, 0}) == Sides{8, 8});
  CHECK(balanced_sides(64, {0, 0, 0}) == Sides{4, 4, 4});
  CHECK(balanced_sides(60, {0, 0, 0}) == Sides{5, 4, 3});
  CHECK(balanced_sides(5040, {0, 0, 0}) == Sides{21, 16, 15});  // not 20, 18, 14
  CHECK(balanced_sides(1, {0, 0, 0, 0}) == Sides{1, 1, 1, 1});
  CHECK(balanced_sides(12, {4, 3}) == Sides{4, 3});
  CHECK(balanced_sides(1'048'576, Sides(20, 0)) == Sides(20, 2));
  CHECK(error_of([] { balanced_sides(7, {0, 3, 0}); }) == MPI_ERR_DIMS);
  CHECK(error_of([] { balanced_sides(12, {4, 2}); }) == MPI_ERR_DIMS);
  CHECK(error_of([] { balanced_sides(12, {0, -2}); }) == MPI_ERR_DIMS);
  CHECK(error_of([] { balanced_sides(0, {0}); }) == MPI_ERR_ARG);
  // Against all ways to write the number.
  for (int nodes = 1; nodes <= 200; ++nodes) {
    int least = nodes;
    for (int a = 1; a <= nodes; ++a) {
      for (int b = 1; b <= a && nodes % a == 0; ++b) {
        if (nodes / a % b != 0) continue;
        const int c = nodes / a / b;
        if (c <= b) least = std::min(least, a - c);
      }
    }
    const Sides sides = balanced_sides(nodes, {0, 0, 0});
    CAPTURE(nodes, sides);
    CHECK(sides[0] * sides[1] * sides[2] == nodes);
    CHECK(std::ranges::is_sorted(sides, std::greater()));
    CHECK(sides[0] - sides[2] == least);
  }
}

TEST_CASE("ranks and coordinates of a grid", "[mpi_front]") {
  const CartGrid grid({3, 4}, {true, false});
  CHECK(grid.size() == 12);
  for (int rank = 0; rank < grid.size(); ++rank) CHECK(grid.rank(grid.coordinates(rank)) == rank);
  CHECK(grid.coordinates(7) == Sides{1, 3});
  CHECK(grid.rank(Sides{-1, 2}) == 10);
  CHECK(grid.rank(Sides{7, 0}) == 4);
  CHECK(error_of([&] { (void)grid.rank(Sides{0, 4}); }) == MPI_ERR_ARG);
  CHECK(grid.shifted(0, 0, 1) == std::pair{8, 4});
  CHECK(grid.shifted(0, 0, -4) == std::pair{4, 8});
  CHECK(grid.shifted(0, 1, 1) == std::pair{MPI_PROC_NULL + 0, 1});
  CHECK(grid.shifted(3, 1, 1) == std::pair{2, MPI_PROC_NULL + 0});
  CHECK(grid.shifted(5, 1, 0) == std::pair{5, 5});
  const CartGrid rows = grid.remaining({false, true});
  CHECK(rows.sides() == Sides{4});
  CHECK(rows.periods() == std::vector<bool>{false});
  const auto part = grid.part(7, {false, true});
  CHECK((part.number == 1 && part.rank == 3));
  const auto alone = grid.part(7, {false, false});
  CHECK((alone.number == 7 && alone.rank == 0));
  CHECK(CartGrid({}, {}).size() == 1);
  CHECK(error_of([] { CartGrid({2, 0}, {false, false}); }) == MPI_ERR_DIMS);
  CHECK(error_of([] { CartGrid({65536, 65536}, {false, false}); }) == MPI_ERR_DIMS);
}

TEST_CASE("a grid lies on the network's own dimensions", "[mpi_front]") {
  struct Row {
    const char* network;
    Sides sides;
    std::vector<bool> periods;
    bool is_moved;
    int largest;
  };
  const std::vector<Row> rows{
      {"torus:8x8", {8, 8}, {true, true}, false, 1},   // as it is
      {"mesh:8x4", {8, 4}, {false, false}, false, 1},  //
      {"torus:8x4", {4, 8}, {true, true}, true, 1},    // the other order
      {"torus:4x2x8", {8, 4, 2}, {true, true, true}, true, 1},
      {"mesh:8x8", {64}, {false}, true, 1},             // a snake
      {"mesh:8x8", {64}, {true}, true, 1},              // a ring of 64 in a mesh
      {"torus:4x4x4", {64}, {true}, true, 1},           //
      {"hypercube:6", {8, 8}, {true, true}, true, 1},   // Gray codes
      {"hypercube:6", {4, 16}, {true, true}, true, 1},  //
      {"mesh:3x5", {15}, {false}, true, 1},             // no ring there, a path
      {"torus:8x8", {4, 4}, {false, false}, true, 1},   // a part of it
      {"complete:16", {4, 4}, {true, true}, false, 1},  //
  };
  for (const Row& row : rows) {
    CAPTURE(row.network, row.sides);
    bool is_moved = false;
    CHECK(placed(row.network, row.sides, row.periods, is_moved).largest == row.largest);
    CHECK(is_moved == row.is_moved);
  }
  // What cannot be one hop each is no worse than ranks as they are.
  bool is_moved = false;
  CHECK(placed("torus:6x6", {4, 9}, {true, true}, is_moved).average > 1);
  CHECK_FALSE(nodes_for(CartGrid({5}, {false}), Topology::parse("ring:4")).has_value());
}

TEST_CASE("a row or a plane of the network is recognised", "[mpi_front]") {
  const Topology network = Topology::parse("torus:2x3x4");
  const auto along = [&](std::vector<Rank> nodes) { return dimensions_of(network, nodes); };
  using Dimensions = std::vector<int>;
  CHECK(along({12, 13, 14, 15}) == Dimensions{2});
  CHECK(along({5, 9, 1}) == std::nullopt);  // a column, in another order
  CHECK(along({1, 5, 9}) == Dimensions{1});
  CHECK(along({7, 19}) == Dimensions{0});
  CHECK(along({2, 6, 10, 14, 18, 22}) == Dimensions{0, 1});
  std::vector<Rank> all(24);
  std::iota(all.begin(), all.end(), 0);
  CHECK(along(all) == Dimensions{0, 1, 2});
  CHECK(along({0, 1, 2}) == std::nullopt);
  CHECK(along({0, 5}) == std::nullopt);
  CHECK(along({0, 13}) == std::nullopt);
  CHECK(along({3}) == std::nullopt);
}

}  // namespace wormcube::mpi
