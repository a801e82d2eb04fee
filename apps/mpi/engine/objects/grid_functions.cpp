// MPI's functions on Cartesian grids.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

const CartGrid& grid_of(Call& call, MPI_Comm on) {
  const Communicator& communicator = call.communicator(on);
  if (communicator.grid) return *communicator.grid;
  throw Failure(MPI_ERR_TOPOLOGY, communicator.name + " has no Cartesian topology");
}

CartGrid asked_grid(const Call& call, int dimensions, const int sides[], const int periods[]) {
  const std::size_t n = call.count(dimensions, "ndims");
  std::vector<bool> round;
  for (std::size_t d = 0; d < n; ++d) round.push_back(periods[d] != 0);
  return {{sides, sides + n}, std::move(round)};
}

void need_places(const CartGrid& grid, const Communicator& parent) {
  if (grid.size() <= parent.size()) return;
  throw Failure(MPI_ERR_TOPOLOGY, fmt::format("the grid has {} places, but {} has only {} ranks",
                                              grid.size(), parent.name, parent.size()));
}

/// The parent's rank at each place of the grid; the first rank that needs it computes it.
std::vector<Rank> ranks_at(const CartGrid& grid, const Communicator& parent,
                           const Topology& network, bool reorder) {
  std::vector<Rank> as_they_are(static_cast<std::size_t>(grid.size()));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  if (!reorder || !parent.shared->is_world_order()) return as_they_are;  // rank is node
  using Key = std::tuple<std::string, std::vector<int>, std::vector<bool>>;
  static std::mutex mutex;
  static std::map<Key, std::vector<Rank>> found;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = found.try_emplace({network.name(), grid.sides(), grid.periods()});
  if (is_new) place->second = nodes_for(grid, network).value_or(as_they_are);
  const bool all_are_ranks =
      std::ranges::all_of(place->second, [&](Rank node) { return node < parent.size(); });
  return all_are_ranks ? place->second : as_they_are;
}

int cart_create(MPI_Comm on, int dimensions, const int sides[], const int periods[], int reorder,
                MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Cart_create);
  return call([&] {
    call.result(made, "comm_cart");
    Communicator& parent = call.intracommunicator(on);
    auto grid = std::make_shared<const CartGrid>(asked_grid(call, dimensions, sides, periods));
    need_places(*grid, parent);
    const std::uint64_t number =
        come_to(parent, {.function = call.function(), .bytes = grid->size()});
    keep_together(call, parent);
    std::vector<Rank> members = ranks_at(*grid, parent, call.rank().job.topology(), reorder != 0);
    *made = MPI_COMM_NULL;
    if (std::ranges::find(members, parent.rank) == members.end()) return;
    const bool moved = !std::ranges::is_sorted(members);
    for (Rank& member : members) member = parent.world_rank(member);
    const std::string name = (moved ? "reordered grid of " : "grid of ") + parent.name;
    Communicator& end =
        make_end(call, parent.shared->child(number, 0, members, name), parent, made);
    end.shared->set_grid(grid);
    end.grid = std::move(grid);
  });
}

int cart_map(MPI_Comm on, int dimensions, const int sides[], const int periods[], int* rank) {
  WORMCUBE_MPI_CALL(MPI_Cart_map);
  return call([&] {
    call.result(rank, "newrank");
    const Communicator& parent = call.intracommunicator(on);
    const CartGrid grid = asked_grid(call, dimensions, sides, periods);
    need_places(grid, parent);
    const std::vector<Rank> ranks = ranks_at(grid, parent, call.rank().job.topology(), true);
    const auto place = std::ranges::find(ranks, parent.rank);
    *rank = place == ranks.end() ? MPI_UNDEFINED + 0 : static_cast<int>(place - ranks.begin());
  });
}

// Each rank knows the members of its part: this needs no messages.
int cart_sub(MPI_Comm on, const int remain[], MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Cart_sub);
  return call([&] {
    const CartGrid& grid = grid_of(call, on);
    Communicator& parent = call.communicator(on);
    std::vector<bool> remains;
    for (int d = 0; d < grid.dimensions(); ++d) remains.push_back(remain[d] != 0);
    const std::uint64_t number = come_to(parent, {.function = call.function()});
    keep_together(call, parent);
    auto rest = std::make_shared<const CartGrid>(grid.remaining(remains));
    const int mine = grid.part(parent.rank, remains).number;
    std::vector<Rank> members(static_cast<std::size_t>(rest->size()));
    for (int rank = 0; rank < grid.size(); ++rank) {
      const CartGrid::Part part = grid.part(rank, remains);
      if (part.number == mine)
        members[static_cast<std::size_t>(part.rank)] = parent.world_rank(rank);
    }
    Communicator& end =
        make_end(call,
                 parent.shared->child(number, mine, members,
                                      fmt::format("part {} of {}", mine, parent.name)),
                 parent, made);
    end.shared->set_grid(rest);
    end.grid = std::move(rest);
  });
}

int topo_test(MPI_Comm on, int* kind) {
  WORMCUBE_MPI_CALL(MPI_Topo_test);
  return call([&] {
    call.result(kind, "status");
    const Communicator& communicator = call.communicator(on);
    *kind = communicator.grid         ? MPI_CART + 0
            : communicator.graph      ? MPI_GRAPH + 0
            : communicator.neighbours ? MPI_DIST_GRAPH + 0
                                      : MPI_UNDEFINED + 0;
  });
}

int cartdim_get(MPI_Comm on, int* dimensions) {
  WORMCUBE_MPI_CALL(MPI_Cartdim_get);
  return call([&] {
    call.result(dimensions, "ndims");
    *dimensions = grid_of(call, on).dimensions();
  });
}

void need_dimensions(const CartGrid& grid, int room) {
  if (room >= grid.dimensions()) return;
  throw Failure(MPI_ERR_ARG, fmt::format("maxdims is {}, but the grid has {} dimensions", room,
                                         grid.dimensions()));
}

int cart_get(MPI_Comm on, int room, int sides[], int periods[], int coordinates[]) {
  WORMCUBE_MPI_CALL(MPI_Cart_get);
  return call([&] {
    const CartGrid& grid = grid_of(call, on);
    need_dimensions(grid, room);
    const std::vector<int> here = grid.coordinates(call.communicator(on).rank);
    for (std::size_t d = 0; d < here.size(); ++d) {
      sides[d] = grid.sides()[d];
      periods[d] = grid.periods()[d] ? 1 : 0;
      coordinates[d] = here[d];
    }
  });
}

int cart_rank(MPI_Comm on, const int coordinates[], int* rank) {
  WORMCUBE_MPI_CALL(MPI_Cart_rank);
  return call([&] {
    call.result(rank, "rank");
    const CartGrid& grid = grid_of(call, on);
    *rank = grid.rank({coordinates, static_cast<std::size_t>(grid.dimensions())});
  });
}

int cart_coords(MPI_Comm on, int rank, int room, int coordinates[]) {
  WORMCUBE_MPI_CALL(MPI_Cart_coords);
  return call([&] {
    const CartGrid& grid = grid_of(call, on);
    if (rank < 0 || rank >= grid.size()) {
      throw Failure(MPI_ERR_RANK, fmt::format("rank {} is out of range for {} ({} ranks)", rank,
                                              call.communicator(on).name, grid.size()));
    }
    need_dimensions(grid, room);
    std::ranges::copy(grid.coordinates(rank), coordinates);
  });
}

int cart_shift(MPI_Comm on, int dimension, int distance, int* source, int* destination) {
  WORMCUBE_MPI_CALL(MPI_Cart_shift);
  return call([&] {
    call.result(source, "rank_source");
    call.result(destination, "rank_dest");
    const CartGrid& grid = grid_of(call, on);
    if (dimension < 0 || dimension >= grid.dimensions()) {
      throw Failure(MPI_ERR_ARG,
                    fmt::format("direction {} is out of range: the grid has {} dimensions",
                                dimension, grid.dimensions()));
    }
    const auto [from, to] = grid.shifted(call.communicator(on).rank, dimension, distance);
    *source = from;
    *destination = to;
  });
}

int dims_create(int nodes, int dimensions, int sides[]) {
  WORMCUBE_MPI_CALL(MPI_Dims_create);
  return call([&] {
    const std::size_t n = call.count(dimensions, "ndims");
    std::ranges::copy(balanced_sides(nodes, {sides, sides + n}), sides);
  });
}

}  // namespace

void add_grid_functions(WormcubeMpiFunctions& table) {
  table.MPI_Cart_create = cart_create;
  table.MPI_Cart_map = cart_map;
  table.MPI_Cart_sub = cart_sub;
  table.MPI_Topo_test = topo_test;
  table.MPI_Cartdim_get = cartdim_get;
  table.MPI_Cart_get = cart_get;
  table.MPI_Cart_rank = cart_rank;
  table.MPI_Cart_coords = cart_coords;
  table.MPI_Cart_shift = cart_shift;
  table.MPI_Dims_create = dims_create;
}

}  // namespace wormcube::mpi
