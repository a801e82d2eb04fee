// The exchange that a product uses in one of its dimensions: the shortest known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/exchange_template.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <memory>
#include <string_view>

namespace wormcube {

/// The exchange with the fewest steps known for a graph; among equal ones the first of: Cayley,
/// line, layered, greedy. Computed once for each graph and cached: all nodes of all runs use it.
///
/// \param copies  with all ports: this many exchanges at once
std::shared_ptr<const ExchangeTemplate> best_exchange(const Graph& graph, Ports ports,
                                                      Rank copies = 1);
/// One block at a time.
std::shared_ptr<const ExchangeTemplate> slowest_exchange(const Graph& graph);

/// The steps of best_exchange with all ports, in closed form if there is one.
std::size_t all_port_steps(const Graph& graph, Rank copies);

/// Throws UsageError, naming the algorithm, if a factor is a tree, whose inner vertices only
/// switch, or is too large for its template: all hops of all blocks are stored, 6 million of them
/// at most (some 200 MB). If no structure is known, all blocks are visited in every step, so
/// arbitrary graphs, and with all ports Cayley graphs, may have at most 128 nodes.
void require_factors(std::string_view algorithm, const Topology& topology, Ports ports);

/// The bound of an exchange whose blocks move one hop a step, as `check` reports it.
LowerBound product_bound(const Setting& setting, Ports ports);

}  // namespace wormcube
