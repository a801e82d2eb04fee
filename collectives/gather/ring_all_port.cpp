// Gather in both directions of all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/all_port.hpp"
#include "wormcube/collectives/kit/ring_scatter.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

/// Every node's block to the root: scatter_ring_all_port backwards.
///
/// Network  ring or torus of any sides; all-port.
/// Cost     that of the scatter.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the algorithm here is ours after it.
void gather_ring_all_port(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const HalfWay half = half_of(call.options);
  if (node.rank() == root) node.local([&] { copy(call.input.all(), call.output[root]); });
  const auto plans = ring_scatter_plans(node, root, half);
  const auto copies = static_cast<int>(plans.size());
  const RingScatterRoom room(node, plans, half, call.output, only_read(call.input.all()), root);
  together(node, copies, [&](int j, Node& own) {
    plans[static_cast<std::size_t>(j)].gather(
        own, [&](const RingScatterPlan::Share& of) { return room(of, j, copies); });
  });
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_ring_all_port) = ring_scatters(operations::gather, gather_ring_all_port);

}  // namespace wormcube
