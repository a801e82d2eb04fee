// The operations as data: what each node gives and must end with. The whole program reads these
// rows: running, checking, proving, the command line, benchmarks, tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/operation.hpp"

#include <array>
#include <string_view>

namespace wormcube {

namespace operations {

namespace detail {
inline Rank none(const Instance&, Rank) { return 0; }
inline Rank one(const Instance&, Rank) { return 1; }
inline Rank each(const Instance& on, Rank) { return on.nodes; }
inline Rank one_at_root(const Instance& on, Rank rank) { return rank == on.root() ? 1 : 0; }
inline Rank each_at_root(const Instance& on, Rank rank) { return rank == on.root() ? on.nodes : 0; }
inline Rank one_at_sources(const Instance& on, Rank rank) { return on.is_source(rank) ? 1 : 0; }
inline Rank each_at_sources(const Instance& on, Rank rank) {
  return on.is_source(rank) ? on.nodes : 0;
}
inline Rank per_source(const Instance& on, Rank) { return on.sources(); }
inline Rank own(const Instance&, Rank rank) { return rank; }
inline Rank at_root(const Instance& on, Rank rank) { return rank == on.root() ? 0 : -1; }
inline Rank own_at_root(const Instance& on, Rank rank) { return rank == on.root() ? rank : -1; }

inline Content of_block(const Instance&, Rank, Rank block) { return from(block, 0); }
inline Content of_all(const Instance& on, Rank, Rank) { return {0, on.nodes, 0}; }
inline Content exchanged(const Instance&, Rank rank, Rank block) { return from(block, rank); }

inline double block(const Instance&) { return 1; }
inline double blocks(const Instance& on) { return on.nodes; }
inline double source_blocks(const Instance& on) { return on.sources(); }
inline double all(double) { return 1; }
inline double others(double p) { return (p - 1) / p; }
inline double there_and_back(double p) { return 2 * (p - 1) / p; }

// The limits of the nodes' ports and of any routes over the links.
LowerBound by_ports(double startups, double blocks);
LowerBound one_block(const Limits& on, const Instance&);     ///< to all nodes, or combined to one
LowerBound prefixes(const Limits& on, const Instance&);      ///< node 0's block to all, combined
LowerBound all_combined(const Limits& on, const Instance&);  ///< at all nodes
LowerBound all_blocks(const Limits& on, const Instance&);    ///< to all nodes, or combined to each
LowerBound blocks_at_root(const Limits& on, const Instance&);
LowerBound exchange(const Limits& on, const Instance&);
LowerBound source_blocks_in(const Limits& on, const Instance&);  ///< of k sources, at all nodes
LowerBound blocks_at_sources(const Limits& on, const Instance&);
}  // namespace detail

inline constexpr OperationRow broadcast{
    .name = "broadcast",
    .summary = "every node gets the root's block",
    .gives = detail::one_at_root,
    .ends_with = detail::one,
    .result = [](const Instance& on, Rank, Rank) { return from(on.root(), 0); },
    .place_of_input = detail::at_root,
    .always_in_place = true,
    .rooted = true,
    .data = detail::block,
    .bus_factor = detail::all,
    .bound = detail::one_block};

inline constexpr OperationRow reduce{
    .name = "reduce",
    .summary = "the root gets the combination of all nodes' blocks",
    .gives = detail::one,
    .ends_with = detail::one_at_root,
    .result = detail::of_all,
    .place_of_input = detail::at_root,
    .rooted = true,
    .reduces = true,
    .data = detail::block,
    .bus_factor = detail::all,
    .bound = detail::one_block};

inline constexpr OperationRow allgather{.name = "allgather",
                                        .summary = "every node gets every node's block",
                                        .gives = detail::one,
                                        .ends_with = detail::each,
                                        .result = detail::of_block,
                                        .place_of_input = detail::own,
                                        .data = detail::blocks,
                                        .bus_factor = detail::others,
                                        .bound = detail::all_blocks};

inline constexpr OperationRow reduce_scatter{
    .name = "reduce_scatter",
    .summary = "node q gets the combination of block q of every node",
    .gives = detail::each,
    .ends_with = detail::one,
    .result =
        [](const Instance& on, Rank rank, Rank) {
          return Content{0, on.nodes, rank};
        },
    .reduces = true,
    .data = detail::blocks,
    .bus_factor = detail::others,
    .bound = detail::all_blocks};

inline constexpr OperationRow allreduce{
    .name = "allreduce",
    .summary = "every node gets the combination of all nodes' blocks",
    .gives = detail::one,
    .ends_with = detail::one,
    .result = detail::of_all,
    .place_of_input = detail::none,
    .reduces = true,
    .data = detail::block,
    .bus_factor = detail::there_and_back,
    .bound = detail::all_combined};

inline constexpr OperationRow scan{
    .name = "scan",
    .summary = "prefix reduction: node r gets the combination of the blocks of nodes 0 to r",
    .gives = detail::one,
    .ends_with = detail::one,
    .result =
        [](const Instance&, Rank rank, Rank) {
          return Content{0, rank + 1, 0};
        },
    .place_of_input = detail::none,
    .reduces = true,
    .data = detail::block,
    .bus_factor = detail::all,
    .bound = detail::prefixes};

inline constexpr OperationRow exscan{.name = "exscan",
                                     .summary =
                                         "exclusive prefix reduction: node r gets the combination "
                                         "of the blocks of nodes 0 to r - 1; node 0 gets nothing",
                                     .gives = detail::one,
                                     .ends_with = detail::one,
                                     .result =
                                         [](const Instance&, Rank rank, Rank) {
                                           return Content{0, rank, 0};
                                         },
                                     .reduces = true,
                                     .data = detail::block,
                                     .bus_factor = detail::all,
                                     .bound = detail::prefixes};

inline constexpr OperationRow barrier{
    .name = "barrier",
    .summary = "no node leaves before all nodes have entered",
    .gives = detail::none,
    .ends_with = detail::none,
    .result = [](const Instance&, Rank, Rank) { return Content{}; },
    .moves_data = false,
    .bound =
        [](const Limits& on, const Instance&) {
          return LowerBound{.startups = on.rounds,
                            .transmission_blocks = 0,
                            .port_blocks = 0,
                            .transmission_source = "no data",
                            .tight = true};
        }};

inline constexpr OperationRow scatter{
    .name = "scatter",
    .summary = "node q gets the root's block q",
    .gives = detail::each_at_root,
    .ends_with = detail::one,
    .result = [](const Instance& on, Rank rank, Rank) { return from(on.root(), rank); },
    .rooted = true,
    .data = detail::blocks,
    .bus_factor = detail::others,
    .bound = detail::blocks_at_root};

inline constexpr OperationRow gather{.name = "gather",
                                     .summary = "the root gets every node's block",
                                     .gives = detail::one,
                                     .ends_with = detail::each_at_root,
                                     .result = detail::of_block,
                                     .place_of_input = detail::own_at_root,
                                     .rooted = true,
                                     .data = detail::blocks,
                                     .bus_factor = detail::others,
                                     .bound = detail::blocks_at_root};

inline constexpr OperationRow alltoall{.name = "alltoall",
                                       .summary = "node q gets block q of node r as its block r",
                                       .gives = detail::each,
                                       .ends_with = detail::each,
                                       .result = detail::exchanged,
                                       .data = detail::blocks,
                                       .bus_factor = detail::others,
                                       .bound = detail::exchange};

inline constexpr OperationRow shift{
    .name = "shift",
    .summary = "node r + q modulo p gets node r's block",
    .gives = detail::one,
    .ends_with = detail::one,
    .result = [](const Instance& on, Rank rank, Rank) { return from(on.shifted_from(rank), 0); },
    .place_of_input = detail::none,
    .shifts = true,
    .data = [](const Instance& on) { return on.shifted_from(0) == 0 ? 0.0 : 1.0; },
    .bus_factor = detail::all,
    .bound =
        [](const Limits& on, const Instance& in) {
          const double moves = in.shifted_from(0) == 0 ? 0 : 1;
          return detail::by_ports(moves, moves / on.fewest_ports);
        }};

inline constexpr OperationRow permute{
    .name = "permute",
    .summary = "each node's block goes to the node that a permutation specifies",
    .gives = detail::one,
    .ends_with = detail::one,
    .result = [](const Instance& on, Rank rank,
                 Rank) { return from(on.arguments.permutation.origin(rank, on.nodes), 0); },
    .place_of_input = detail::none,
    .permutes = true,
    .data = detail::block,
    .bus_factor = detail::all,
    .bound =
        [](const Limits& on, const Instance& in) {
          const double moves = in.arguments.permutation.is_identity(in.nodes) ? 0 : 1;
          // of the nodes that give their block away
          return detail::by_ports(moves, moves / on.most_ports);
        }};

inline constexpr OperationRow k_broadcast{
    .name = "k_broadcast",
    .summary = "every node gets the blocks of k source nodes",
    .gives = detail::one_at_sources,
    .ends_with = detail::per_source,
    .result = [](const Instance& on, Rank, Rank block) { return from(on.source(block), 0); },
    .has_sources = true,
    .data = detail::source_blocks,
    .bus_factor = detail::all,
    .bound = detail::source_blocks_in};

inline constexpr OperationRow k_alltoall{
    .name = "k_alltoall",
    .summary = "node q gets block q of each of k source nodes",
    .gives = detail::each_at_sources,
    .ends_with = detail::per_source,
    .result = [](const Instance& on, Rank rank,
                 Rank block) { return from(on.source(block), rank); },
    .has_sources = true,
    .data = detail::blocks,
    .bus_factor = detail::others,
    .bound = detail::blocks_at_sources};

inline constexpr OperationRow k_reduce{
    .name = "k_reduce",
    .summary = "the i-th of k target nodes gets the combination of block i of every node",
    .gives = detail::per_source,
    .ends_with = detail::one_at_sources,
    .result =
        [](const Instance& on, Rank rank, Rank) {
          return Content{0, on.nodes, on.sources_below(rank)};
        },
    .reduces = true,
    .has_sources = true,
    .sources_get = true,
    .data = detail::source_blocks,
    .bus_factor = detail::all,
    .bound = detail::source_blocks_in};

inline constexpr OperationRow k_gather{
    .name = "k_gather",
    .summary = "the i-th of k target nodes gets block i of every node",
    .gives = detail::per_source,
    .ends_with = detail::each_at_sources,
    .result = [](const Instance& on, Rank rank,
                 Rank block) { return from(block, on.sources_below(rank)); },
    .has_sources = true,
    .sources_get = true,
    .data = detail::blocks,
    .bus_factor = detail::others,
    .bound = detail::blocks_at_sources};

/// The same with blocks whose sizes differ.
constexpr OperationRow uneven(OperationRow row, std::string_view name, Sizes sizes) {
  row.name = name;
  row.sizes = sizes;
  row.place_of_input = nullptr;
  row.bound = nullptr;  // depends on the sizes
  return row;
}
inline constexpr OperationRow allgatherv = uneven(allgather, "allgatherv", Sizes::by_origin);
inline constexpr OperationRow reduce_scatterv =
    uneven(reduce_scatter, "reduce_scatterv", Sizes::by_block);
inline constexpr OperationRow scatterv = uneven(scatter, "scatterv", Sizes::by_block);
inline constexpr OperationRow gatherv = uneven(gather, "gatherv", Sizes::by_origin);
inline constexpr OperationRow alltoallv = uneven(alltoall, "alltoallv", Sizes::by_both);

}  // namespace operations

/// All operations, in the order of documentation.
inline constexpr std::array<Operation, 22> all_operations{
    operations::broadcast,   operations::reduce,         operations::allgather,
    operations::allgatherv,  operations::reduce_scatter, operations::reduce_scatterv,
    operations::allreduce,   operations::scan,           operations::exscan,
    operations::barrier,     operations::scatter,        operations::scatterv,
    operations::gather,      operations::gatherv,        operations::alltoall,
    operations::alltoallv,   operations::shift,          operations::permute,
    operations::k_broadcast, operations::k_reduce,       operations::k_alltoall,
    operations::k_gather};

inline std::string_view to_string(Operation operation) { return operation->name; }
/// Throws UsageError that lists the available ones.
Operation parse_operation(std::string_view text);
/// Throws UsageError unless the arguments fit this many nodes: the root is a node, the sources are
/// different nodes, a reduction with elements is given if one is needed, and the permutation exists
/// for this number.
void require_arguments(Operation operation, Rank nodes, const Arguments& arguments);

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports,
                       const Arguments& arguments = {});

}  // namespace wormcube
