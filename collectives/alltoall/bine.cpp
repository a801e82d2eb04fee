// Total exchange along Bine trees.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/cell_exchange.hpp"
#include "wormcube/collectives/kit/swing.hpp"

namespace wormcube {

namespace {

/// Relative to this node, with signs changed in the dimensions where its coordinate is odd, the
/// network looks the same to all nodes. So partners exchange cells of one number; from the
/// partner's side a displacement y is h - y, where h hops lead there.
CellExchange plan_alltoall_bine(const Topology& topology, Rank r) {
  const TorusCopy copy = swing_copies(topology, Ports::one).front();
  const Handovers handovers = torus_handovers(topology, copy);
  std::vector<Handovers::Turn> turns(static_cast<std::size_t>(topology.nodes()));
  handovers.turns(0, turns);
  const auto turned = [&](Rank from, Rank to) {  // from r; and back
    for (int d = 0; d < topology.dimensions(); ++d) {
      const Rank c = topology.coordinate(from, d), n = topology.size(d);
      if (c % 2 == 0) continue;
      to = topology.with(to, d, mod(2 * c - topology.coordinate(to, d), n));
    }
    return to;
  };
  const auto displaced = [&](Rank by) {  // the node there, from r
    Rank to = r;
    for (int d = 0; d < topology.dimensions(); ++d) {
      to = topology.with(
          to, d, mod(topology.coordinate(r, d) + topology.coordinate(by, d), topology.size(d)));
    }
    return turned(r, to);
  };

  CellExchange exchange;
  // By cell, the source and destination of its block, as displacements: stored as the node there,
  // from node 0.
  std::vector<Rank> from(static_cast<std::size_t>(topology.nodes()), 0), to;
  for (Rank cell = 0; cell < topology.nodes(); ++cell) {
    to.push_back(cell);
    exchange.destination.push_back(displaced(cell));
  }
  for (int step = 0; step < handovers.steps; ++step) {
    const auto [d, s] = copy.slots[static_cast<std::size_t>(step)];
    const Peer partner = handovers.lanes(r, step).front().to;
    const Rank n = topology.size(d), h = mod(swing_hops(s), n);
    CellExchange::Message message{partner.move, partner.move, {}};
    for (Rank cell = 0; cell < topology.nodes(); ++cell) {
      Rank& target = to[static_cast<std::size_t>(cell)];
      if (target == 0 || turns[static_cast<std::size_t>(target)].step != step) continue;
      message.cells.push_back(cell);
      Rank& source = from[static_cast<std::size_t>(cell)];
      target = topology.with(target, d, mod(h - topology.coordinate(target, d), n));
      source = topology.with(source, d, mod(h - topology.coordinate(source, d), n));
    }
    exchange.steps.push_back({std::move(message)});
  }
  for (const Rank source : from) exchange.source.push_back(displaced(source));
  return exchange;
}

/// Total exchange: node r's block q ends as node q's block r, along the Bine trees of all nodes at
/// once. In each of swing's steps a node gives its partner the blocks whose path starts there, half
/// of those that it has.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     log2 p steps of p/2 blocks. Nothing is rearranged.
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link in step 0, 1, ..: torus:8x8
///          256 blocks of time, hypercube-combine 448.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
void alltoall_bine(Node& node, const Call& call) {
  node.plan<CellExchange>("bine", {},
                          [&] { return plan_alltoall_bine(node.topology(), node.rank()); })
      .run(node, call.input, call.output);
}

Prediction predict_alltoall_bine(const Topology& topology) {
  std::vector<std::vector<TorusMessage>> steps;
  const TorusCopy copy = swing_copies(topology, Ports::one).front();
  for (const auto& [d, s] : copy.slots) {
    const Rank n = topology.size(d);
    const int hops = swing_hops(s);
    const int shorter = 2 * std::abs(hops) <= n ? hops : hops > 0 ? hops - n : hops + n;
    steps.push_back({{d, shorter, topology.nodes() / 2.0, true}});
  }
  return torus_cost(topology, steps);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_bine){
    .operation = operations::alltoall,
    .name = "bine",
    .summary = "swing's steps, each of which moves half of the blocks; tori with sides of 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
    .exactly_once = true,
    .needs = {needs::rings_of_powers_of_two()},
    .instead = {"bruck", "mesh"},

    .predict = [](const Setting& setting) -> Prediction {
      return predict_alltoall_bine(setting.topology);
    },
    .program = alltoall_bine,
};

}  // namespace wormcube
