// Cartesian grids of ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/cartesian.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

std::vector<int> divisors_of(int number) {
  std::vector<int> small, large;
  for (int d = 1; std::int64_t{d} * d <= number; ++d) {
    if (number % d != 0) continue;
    small.push_back(d);
    if (d != number / d) large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

/// All factorizations of `rest` into `count` factors, none larger than the one before it.
/// \param divisors  at least those of `rest`, ascending
void each_factorisation(int rest, std::size_t count, int most, std::span<const int> divisors,
                        std::vector<int>& factors,
                        const std::function<void(const std::vector<int>&)>& use) {
  if (count == 1) {
    if (rest > most) return;
    factors.push_back(rest);
    use(factors);
    factors.pop_back();
    return;
  }
  const int largest = std::min(rest, most);
  for (const int factor : divisors) {
    if (factor > largest) break;
    if (rest % factor != 0) continue;
    factors.push_back(factor);
    each_factorisation(rest / factor, count - 1, factor, divisors, factors, use);
    factors.pop_back();
  }
}

}  // namespace

std::vector<int> balanced_sides(int nodes, std::vector<int> sides) {
  if (nodes < 1)
    throw Failure(MPI_ERR_ARG, fmt::format("nnodes is {}, but must be at least 1", nodes));
  std::int64_t fixed = 1;
  std::size_t chosen = 0;
  for (const int side : sides) {
    if (side < 0) throw Failure(MPI_ERR_DIMS, fmt::format("dimension size {} is negative", side));
    if (side == 0) {
      ++chosen;
    } else {
      fixed *= side;
    }
    if (fixed > nodes) break;
  }
  if (fixed > nodes || nodes % fixed != 0 || (chosen == 0 && fixed != nodes)) {
    throw Failure(MPI_ERR_DIMS,
                  fmt::format("nnodes is {}, but the dimensions given make {}{}", nodes, fixed,
                              chosen == 0 ? "" : ", which does not divide it"));
  }
  if (chosen == 0) return sides;
  std::vector<int> best, factors;
  const int rest = static_cast<int>(nodes / fixed);
  each_factorisation(
      rest, chosen, rest, divisors_of(rest), factors, [&](const std::vector<int>& found) {
        // How far each side exceeds the last: minimise the first difference, then the second, ..
        const auto is_closer = [](const std::vector<int>& one, const std::vector<int>& other) {
          for (std::size_t i = 0; i < one.size(); ++i) {
            const int above = one[i] - one.back(), other_above = other[i] - other.back();
            if (above != other_above) return above < other_above;
          }
          return false;
        };
        if (best.empty() || is_closer(found, best)) best = found;
      });
  std::size_t next = 0;
  for (int& side : sides) {
    if (side == 0) side = best[next++];
  }
  return sides;
}

CartGrid::CartGrid(std::vector<int> sides, std::vector<bool> periods)
    : sides_(std::move(sides)), periods_(std::move(periods)) {
  std::int64_t size = 1;
  for (const int side : sides_) {
    if (side < 1)
      throw Failure(MPI_ERR_DIMS, fmt::format("dimension size {} is not positive", side));
    size *= side;
    if (size > std::numeric_limits<int>::max()) {
      throw Failure(MPI_ERR_DIMS, "the grid has more places than an int can count");
    }
  }
  size_ = static_cast<int>(size);
}

int CartGrid::rank(std::span<const int> coordinates) const {
  int result = 0;
  for (std::size_t d = 0; d < sides_.size(); ++d) {
    const int side = sides_[d];
    int at = coordinates[d];
    if (at < 0 || at >= side) {
      if (!periods_[d]) {
        throw Failure(MPI_ERR_ARG,
                      fmt::format("coordinate {} is {}, out of range 0 to {}", d, at, side - 1));
      }
      at = (at % side + side) % side;
    }
    result = result * side + at;
  }
  return result;
}

std::vector<int> CartGrid::coordinates(int rank) const {
  std::vector<int> result(sides_.size());
  for (std::size_t d = sides_.size(); d-- > 0;) {
    result[d] = rank % sides_[d];
    rank /= sides_[d];
  }
  return result;
}

std::pair<int, int> CartGrid::shifted(int rank, int dimension, int distance) const {
  const auto d = static_cast<std::size_t>(dimension);
  const std::vector<int> here = coordinates(rank);
  const auto at = [&](std::int64_t coordinate) {
    const std::int64_t side = sides_[d];
    if (coordinate < 0 || coordinate >= side) {
      if (!periods_[d]) return MPI_PROC_NULL + 0;
      coordinate = (coordinate % side + side) % side;
    }
    std::vector<int> there = here;
    there[d] = static_cast<int>(coordinate);
    return this->rank(there);
  };
  return {at(std::int64_t{here[d]} - distance), at(std::int64_t{here[d]} + distance)};
}

CartGrid CartGrid::remaining(const std::vector<bool>& remain) const {
  std::vector<int> sides;
  std::vector<bool> periods;
  for (std::size_t d = 0; d < sides_.size(); ++d) {
    if (!remain[d]) continue;
    sides.push_back(sides_[d]);
    periods.push_back(periods_[d]);
  }
  return {std::move(sides), std::move(periods)};
}

CartGrid::Part CartGrid::part(int rank, const std::vector<bool>& remain) const {
  const std::vector<int> here = coordinates(rank);
  Part result{0, 0};
  for (std::size_t d = 0; d < sides_.size(); ++d) {
    int& number = remain[d] ? result.rank : result.number;
    number = number * sides_[d] + here[d];
  }
  return result;
}

// ---- On the network ----

namespace {

/// Coordinates of place i on a path through a grid with these sides, each one step from the
/// previous: a reflected Gray code, the last side fastest.
std::vector<Rank> gray(int i, std::span<const Rank> sides) {
  std::vector<Rank> result(sides.size());
  int block = 1;
  for (std::size_t d = sides.size(); d-- > 0;) {
    const Rank digit = i / block % sides[d];
    block *= sides[d];
    const bool is_gone_back = i / block % 2 != 0;  // every other time
    result[d] = is_gone_back ? sides[d] - 1 - digit : digit;
  }
  return result;
}

/// The same as a cycle: the last place is one step from the first. For a grid with two sides, the
/// first one even: forth and back through all but the first column, then back along that column.
std::vector<Rank> closed_gray(int i, std::span<const Rank> sides) {
  const Rank rows = sides[0], columns = sides[1], snake = rows * (columns - 1);
  if (i >= snake) return {rows - 1 - (i - snake), 0};
  const Rank row = i / (columns - 1), column = i % (columns - 1);
  return {row, row % 2 == 0 ? column + 1 : columns - 1 - column};
}

int hops_between(const Graph& graph, Rank from, Rank to) {
  if (from == to) return 0;
  if (graph.has_direction()) return std::abs(graph.hops(from, to));
  if (graph.has_moves()) return 1;
  return graph.distances_from(from)[static_cast<std::size_t>(to)];
}

/// The network's dimensions that each grid dimension lies along, in the order of the digits.
using Assignment = std::vector<std::vector<int>>;

/// All assignments in which each grid dimension is the product of its network dimensions or, if
/// that is allowed, fits in a part of one; uses at most `limit` of them.
class Assignments {
 public:
  Assignments(const CartGrid& grid, const Topology& network, int limit)
      : grid_(grid),
        network_(network),
        limit_(limit),
        used_(static_cast<std::size_t>(network.dimensions())) {}

  void each(const std::function<void(const Assignment&)>& use) {
    current_.assign(static_cast<std::size_t>(grid_.dimensions()), {});
    dimension(0, 1, use);
  }

 private:
  void dimension(std::size_t d, std::int64_t product,
                 const std::function<void(const Assignment&)>& use) {
    if (limit_ <= 0) return;
    if (d == current_.size()) {
      --limit_;
      return use(current_);
    }
    const int side = grid_.sides()[d];
    if (product == side) dimension(d + 1, 1, use);
    for (int n = 0; n < network_.dimensions(); ++n) {
      const Rank nodes = network_.size(n);
      if (used_[static_cast<std::size_t>(n)] || nodes == 1) continue;
      const bool divides = product < side && side % (product * nodes) == 0;
      const bool is_part = product == 1 && side > 1 && side < nodes;
      if (!divides && !is_part) continue;
      used_[static_cast<std::size_t>(n)] = true;
      current_[d].push_back(n);
      dimension(is_part ? d + 1 : d, is_part ? 1 : product * nodes, use);
      current_[d].pop_back();
      used_[static_cast<std::size_t>(n)] = false;
    }
  }

  const CartGrid& grid_;
  const Topology& network_;
  int limit_;
  std::vector<bool> used_;
  Assignment current_;
};

/// The node of each rank. \param closed  dimensions that form a cycle in two of the network's
std::vector<Rank> nodes_by(const Assignment& assignment, const std::vector<bool>& closed,
                           const CartGrid& grid, const Topology& network) {
  std::vector<Rank> nodes(static_cast<std::size_t>(grid.size()));
  for (int rank = 0; rank < grid.size(); ++rank) {
    const std::vector<int> here = grid.coordinates(rank);
    std::vector<Rank> there(static_cast<std::size_t>(network.dimensions()), 0);
    for (std::size_t d = 0; d < here.size(); ++d) {
      const std::vector<int>& along = assignment[d];
      if (along.size() == 1) {
        there[static_cast<std::size_t>(along[0])] = here[d];
        continue;
      }
      std::vector<Rank> sides;
      for (const int n : along) sides.push_back(network.size(n));
      const std::vector<Rank> digits =
          closed[d] ? closed_gray(here[d], sides) : gray(here[d], sides);
      for (std::size_t k = 0; k < along.size(); ++k)
        there[static_cast<std::size_t>(along[k])] = digits[k];
    }
    nodes[static_cast<std::size_t>(rank)] = network.rank(there);
  }
  return nodes;
}

}  // namespace

GridHops hops_between_neighbours(const CartGrid& grid, const Topology& network,
                                 std::span<const Rank> nodes) {
  GridHops result;
  std::int64_t hops = 0, pairs = 0;
  for (int rank = 0; rank < grid.size(); ++rank) {
    for (int d = 0; d < grid.dimensions(); ++d) {
      const int next = grid.shifted(rank, d, 1).second;
      if (next == MPI_PROC_NULL || next == rank) continue;
      int between = 0;
      const Rank from = nodes[static_cast<std::size_t>(rank)],
                 to = nodes[static_cast<std::size_t>(next)];
      for (int n = 0; n < network.dimensions(); ++n) {
        between +=
            hops_between(network.factor(n), network.coordinate(from, n), network.coordinate(to, n));
      }
      hops += between;
      ++pairs;
      result.largest = std::max(result.largest, between);
    }
  }
  if (pairs > 0) result.average = static_cast<double>(hops) / static_cast<double>(pairs);
  return result;
}

std::optional<std::vector<Rank>> nodes_for(const CartGrid& grid, const Topology& network) {
  if (grid.size() > network.nodes()) return std::nullopt;
  std::vector<Rank> identity(static_cast<std::size_t>(grid.size()));
  std::iota(identity.begin(), identity.end(), 0);
  double least = hops_between_neighbours(grid, network, identity).average;
  std::optional<std::vector<Rank>> best;
  const auto consider = [&](std::vector<Rank> nodes) {
    const double average = hops_between_neighbours(grid, network, nodes).average;
    if (average >= least) return;
    least = average;
    best = std::move(nodes);
  };
  // Enough for all orders of five dimensions; each costs about as much as one message of each rank.
  constexpr int most_assignments = 120;
  Assignments(grid, network, most_assignments).each([&](const Assignment& assignment) {
    if (least <= 1) return;  // it cannot be less
    std::vector<bool> closed(assignment.size());
    consider(nodes_by(assignment, closed, grid, network));
    for (std::size_t d = 0; d < assignment.size(); ++d) {
      closed[d] =
          grid.periods()[d] && assignment[d].size() == 2 && network.size(assignment[d][0]) % 2 == 0;
    }
    if (std::ranges::find(closed, true) != closed.end())
      consider(nodes_by(assignment, closed, grid, network));
  });
  return best;
}

std::optional<std::vector<int>> dimensions_of(const Topology& network,
                                              std::span<const Rank> nodes) {
  if (nodes.size() < 2) return std::nullopt;
  // The dimensions in which the second or a later node differs from the first.
  std::vector<int> dimensions;
  std::size_t places = 1;
  for (int d = 0; d < network.dimensions(); ++d) {
    const bool is_along = std::ranges::any_of(nodes, [&](Rank node) {
      return network.coordinate(node, d) != network.coordinate(nodes.front(), d);
    });
    if (!is_along) continue;
    dimensions.push_back(d);
    places *= static_cast<std::size_t>(network.size(d));
  }
  if (places != nodes.size()) return std::nullopt;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Rank expected = nodes.front();
    std::size_t rest = i;
    for (std::size_t k = dimensions.size(); k-- > 0;) {
      const auto side = static_cast<std::size_t>(network.size(dimensions[k]));
      expected = network.with(expected, dimensions[k], static_cast<Rank>(rest % side));
      rest /= side;
    }
    if (nodes[i] != expected) return std::nullopt;
  }
  return dimensions;
}

}  // namespace wormcube::mpi
