// Neighborhood collectives: one step of direct messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The ranks that a rank sends to and receives from, in the order of their blocks, as the standard
/// lists them.
struct Sides {
  struct Side {
    int rank;  ///< or PROC_NULL: its block is skipped
    Tag tag;   ///< messages with one tag between two ranks keep the order of their blocks
  };
  std::vector<Side> in, out;
};

// In a grid, the message to a lower neighbor is that neighbor's message from an upper one, even if
// both neighbors are one rank.
Sides sides_of_grid(const CartGrid& grid, int rank) {
  Sides sides;
  for (int d = 0; d < grid.dimensions(); ++d) {
    const auto [lower, upper] = grid.shifted(rank, d, 1);
    const Tag down = 2 * d, up = down + 1;
    sides.in.push_back({lower, up});
    sides.in.push_back({upper, down});
    sides.out.push_back({lower, down});
    sides.out.push_back({upper, up});
  }
  return sides;
}

Sides sides_of(const Communicator& on) {
  if (on.grid) return sides_of_grid(*on.grid, on.rank);
  Sides sides;
  const auto add = [](std::vector<Sides::Side>& to, std::span<const int> ranks) {
    for (const int rank : ranks) to.push_back({rank, 0});
  };
  if (on.graph) {
    add(sides.in, on.graph->neighbours(on.rank));
    sides.out = sides.in;
  } else if (on.neighbours) {
    add(sides.in, on.neighbours->in.ranks);
    add(sides.out, on.neighbours->out.ranks);
  } else {
    throw Failure(MPI_ERR_TOPOLOGY, on.name + " has no topology (neither a grid nor a graph)");
  }
  return sides;
}

/// The types along the edges: blocks with one tag from one rank to another match in their order.
/// \param sent, received  a block for each side, or one block for all
ComparedTypes types_of_edges(const CollectiveCall& all, const Sides& sides,
                             std::span<const Uneven::Block> sent,
                             std::span<const Uneven::Block> received) {
  ComparedTypes types(all);
  if (types.get() == nullptr) return types;
  const auto each = [](std::span<const Sides::Side> edges, std::span<const Uneven::Block> blocks,
                       auto&& add) {
    std::map<std::pair<int, Tag>, int> met;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Sides::Side& edge = edges[i];
      if (edge.rank == MPI_PROC_NULL) continue;
      add(edge, blocks[blocks.size() == 1 ? 0 : i],
          (edge.tag << 16) + met[{edge.rank, edge.tag}]++);
    }
  };
  each(sides.out, sent, [&](const Sides::Side& to, const Uneven::Block& block, int number) {
    types.add_sent(to.rank, block.type, block.count, number);
  });
  each(sides.in, received, [&](const Sides::Side& from, const Uneven::Block& block, int number) {
    types.add_received(from.rank, block.type, block.count, number);
  });
  return types;
}

/// \param one_block  all neighbors get the same block, block 0
void exchange_with_sides(CollectiveCall& all, const Sides& sides, const ConstBlocks& out,
                         const Blocks& in, bool one_block, const ComparedTypes& types) {
  all.come(0, -1, nullptr, types.get());
  std::vector<Op> ops;
  for (Rank i = 0; i < in.count(); ++i) {
    const Sides::Side& from = sides.in[static_cast<std::size_t>(i)];
    if (from.rank != MPI_PROC_NULL) ops.push_back(receive(from.rank, in[i], from.tag));
  }
  for (Rank i = 0; i < static_cast<Rank>(sides.out.size()); ++i) {
    const Sides::Side& to = sides.out[static_cast<std::size_t>(i)];
    if (to.rank == MPI_PROC_NULL) continue;
    ops.push_back(wormcube::send(to.rank, out[one_block ? 0 : i], to.tag));
  }
  if (!ops.empty()) all.node().step(ops);
}

/// The same elements for each side.
std::array<Uneven::Block, 1> alike(const CollectiveCall& all, std::int64_t count,
                                   MPI_Datatype type) {
  return {{{all.call.count(count), 0, all.type(type)}}};
}

void refuse_in_place(const void* out) {
  if (out == MPI_IN_PLACE)
    throw Failure(MPI_ERR_BUFFER, "neighborhood collectives do not allow MPI_IN_PLACE");
}

template <class Count>
void neighbour_allgather(CollectiveCall& all, const void* out, Count out_count,
                         MPI_Datatype out_type, void* in, Count in_count, MPI_Datatype in_type) {
  refuse_in_place(out);
  const Sides sides = sides_of(all.comm);
  const SendBuffer given(all.call, out, all.call.count(out_count), all.type(out_type));
  const ReceiveBuffer result(all.call, in, all.call.count(in_count) * sides.in.size(),
                             all.type(in_type));
  exchange_with_sides(
      all, sides, {given.data(), 1}, {result.data(), static_cast<Rank>(sides.in.size())}, true,
      types_of_edges(all, sides, alike(all, out_count, out_type), alike(all, in_count, in_type)));
  result.deliver();
}

template <class Count, class Place>
void neighbour_allgatherv(CollectiveCall& all, const void* out, Count out_count,
                          MPI_Datatype out_type, void* in, const Count in_counts[],
                          const Place places[], MPI_Datatype in_type) {
  refuse_in_place(out);
  const Sides sides = sides_of(all.comm);
  const SendBuffer given(all.call, out, all.call.count(out_count), all.type(out_type));
  const auto received =
      blocks_of(all, static_cast<int>(sides.in.size()), in_counts, places, in_type);
  const Uneven result(all.call, in, received, "the receive buffer");
  exchange_with_sides(all, sides, {given.data(), 1}, result.blocks(), true,
                      types_of_edges(all, sides, alike(all, out_count, out_type), received));
  result.deliver();
}

template <class Count>
void neighbour_alltoall(CollectiveCall& all, const void* out, Count out_count,
                        MPI_Datatype out_type, void* in, Count in_count, MPI_Datatype in_type) {
  refuse_in_place(out);
  const Sides sides = sides_of(all.comm);
  const SendBuffer given(all.call, out, all.call.count(out_count) * sides.out.size(),
                         all.type(out_type));
  const ReceiveBuffer result(all.call, in, all.call.count(in_count) * sides.in.size(),
                             all.type(in_type));
  exchange_with_sides(
      all, sides, {given.data(), static_cast<Rank>(sides.out.size())},
      {result.data(), static_cast<Rank>(sides.in.size())}, false,
      types_of_edges(all, sides, alike(all, out_count, out_type), alike(all, in_count, in_type)));
  result.deliver();
}

/// Neighbor_alltoallv and Neighbor_alltoallw: one type, or one for each block.
template <class Count, class Place, class Type>
void neighbour_alltoallv(CollectiveCall& all, const void* out, const Count out_counts[],
                         const Place out_places[], Type out_type, void* in, const Count in_counts[],
                         const Place in_places[], Type in_type) {
  refuse_in_place(out);
  const Sides sides = sides_of(all.comm);
  const auto sent =
      blocks_of(all, static_cast<int>(sides.out.size()), out_counts, out_places, out_type);
  const auto received =
      blocks_of(all, static_cast<int>(sides.in.size()), in_counts, in_places, in_type);
  const Uneven given(all.call, out, sent, "the send buffer");
  const Uneven result(all.call, in, received, "the receive buffer");
  exchange_with_sides(all, sides, given.blocks(), result.blocks(), false,
                      types_of_edges(all, sides, sent, received));
  result.deliver();
}

}  // namespace

void add_neighbour_functions(WormcubeMpiFunctions& table) {
  WORMCUBE_MPI_COLLECTIVE(table, Neighbor_allgather, neighbor_allgather, neighbour_allgather<int>,
                          neighbour_allgather<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Neighbor_allgatherv, neighbor_allgatherv,
                          (neighbour_allgatherv<int, int>),
                          (neighbour_allgatherv<MPI_Count, MPI_Aint>));
  WORMCUBE_MPI_COLLECTIVE(table, Neighbor_alltoall, neighbor_alltoall, neighbour_alltoall<int>,
                          neighbour_alltoall<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Neighbor_alltoallv, neighbor_alltoallv,
                          (neighbour_alltoallv<int, int, MPI_Datatype>),
                          (neighbour_alltoallv<MPI_Count, MPI_Aint, MPI_Datatype>));
  WORMCUBE_MPI_COLLECTIVE(table, Neighbor_alltoallw, neighbor_alltoallw,
                          (neighbour_alltoallv<int, MPI_Aint, const MPI_Datatype*>),
                          (neighbour_alltoallv<MPI_Count, MPI_Aint, const MPI_Datatype*>));
}

}  // namespace wormcube::mpi
