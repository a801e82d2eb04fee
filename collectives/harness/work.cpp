// The work of emulating a call, counted in a dry run, or by formula.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/work.hpp"

#include "wormcube/collectives/harness/choose.hpp"

#include <optional>
#include <vector>

namespace wormcube {

double work_of(const Schedule& schedule, const Routing& routing, double byte_scale) {
  Bytes bytes = 0, fixed = 0;
  std::vector<Channel> path;
  for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
    const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
    for (const OpRecord& op : log.ops) {
      if (op.kind != Op::Kind::send) continue;
      path.clear();
      if (op.moves > 0) {
        routing.route(rank, schedule.moves(rank, op), path);
      } else {
        routing.route(rank, op.peer, path);
      }
      bytes += op.bytes;
      fixed += work_of_message + path.size() * work_of_link;
    }
    for (const Bytes moved : log.rearranged) bytes += moved;
    for (const Bytes combined : log.combined) bytes += combined * work_of_combined_byte;
  }
  return static_cast<double>(fixed) + static_cast<double>(bytes) * byte_scale;
}

namespace {

/// As if each node did what the busiest does.
std::optional<double> work_by_formula(const Prediction& prediction, Rank nodes, Bytes block_bytes) {
  if (!prediction.startups || !prediction.transmission_blocks) return std::nullopt;
  const double blocks = *prediction.transmission_blocks + prediction.rearranged_blocks.value_or(0) +
                        prediction.combined_blocks.value_or(0) * work_of_combined_byte;
  return nodes * (*prediction.startups * static_cast<double>(work_of_message + work_of_link) +
                  blocks * static_cast<double>(block_bytes));
}

}  // namespace

Collective least_work(Operation operation, const Topology& topology, Bytes block_bytes, Ports ports,
                      const Arguments& arguments) {
  const CostModel model;
  const Routing routing(topology);
  std::optional<Collective> least;
  double least_work = 0;
  for (const Priced& priced : ranking(operation, topology, model, block_bytes, ports, arguments)) {
    if (!is_chosen_by_auto(*priced.collective.algorithm)) continue;
    std::optional<double> work;
    if (priced.prediction.startups) {
      work = counted(priced.collective, topology, *priced.prediction.startups,
                     [&](const Schedule& schedule, Bytes unit) {
                       return work_of(schedule, routing,
                                      static_cast<double>(block_bytes) / static_cast<double>(unit));
                     });
    }
    if (!work) work = work_by_formula(priced.prediction, topology.nodes(), block_bytes);
    if (work && (!least || *work < least_work)) least = priced.collective, least_work = *work;
  }
  return least ? *least : cheapest(operation, topology, model, block_bytes, ports, arguments);
}

}  // namespace wormcube
