// Cartesian grids of ranks: their arithmetic, and how they map to the network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace wormcube::mpi {

/// Dims_create: chooses the sides that are 0, as close to each other as possible (the first to the
/// last, then the second to the last, ..), none larger than the one before it. Throws Failure:
/// MPI_ERR_DIMS.
std::vector<int> balanced_sides(int nodes, std::vector<int> sides);

/// A grid in row-major order, the last coordinate fastest. Immutable.
class CartGrid {
 public:
  /// Throws Failure: MPI_ERR_DIMS if a side is not positive.
  CartGrid(std::vector<int> sides, std::vector<bool> periods);

  int dimensions() const { return static_cast<int>(sides_.size()); }
  const std::vector<int>& sides() const { return sides_; }
  const std::vector<bool>& periods() const { return periods_; }
  int size() const { return size_; }

  /// Coordinates outside wrap around in periodic dimensions; otherwise throws Failure: MPI_ERR_ARG.
  int rank(std::span<const int> coordinates) const;
  std::vector<int> coordinates(int rank) const;
  /// The source and the destination of this rank along a dimension; PROC_NULL beyond a border.
  std::pair<int, int> shifted(int rank, int dimension, int distance) const;

  /// The grid of the remaining dimensions; which of these grids a rank is in, and its rank there.
  struct Part {
    int number, rank;
  };
  CartGrid remaining(const std::vector<bool>& remain) const;
  Part part(int rank, const std::vector<bool>& remain) const;

 private:
  std::vector<int> sides_;
  std::vector<bool> periods_;
  int size_ = 1;
};

/// Hops between neighbors in a grid whose rank r is node `nodes[r]`.
struct GridHops {
  double average = 0;
  int largest = 0;
};
GridHops hops_between_neighbours(const CartGrid& grid, const Topology& network,
                                 std::span<const Rank> nodes);

/// Nodes for the ranks of a grid, so that neighbors are close: the network's dimensions in another
/// order, several of them as one (by reflected Gray codes: a ring in a mesh or a hypercube), or a
/// part of the network. None if nothing has fewer hops than rank r on node r.
std::optional<std::vector<Rank>> nodes_for(const CartGrid& grid, const Topology& network);

/// The network's dimensions along which these nodes lie (a row, a plane), if they are all nodes of
/// a part of it along some of its dimensions, in the order of their coordinates. None if they are
/// not, or if there is only one node.
std::optional<std::vector<int>> dimensions_of(const Topology& network, std::span<const Rank> nodes);

}  // namespace wormcube::mpi
