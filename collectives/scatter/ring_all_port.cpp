// Scatter and gather in both directions of all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/all_port.hpp"
#include "wormcube/collectives/kit/reversible.hpp"
#include "wormcube/collectives/kit/ring_scatter.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

/// The root's block q to node q (a gather: backwards), in both directions of every ring at once, to
/// neighbours, the bundle for the farthest nodes first; one dimension after another. D rotated
/// copies of a D-th part of each block; `split` halves the blocks for half way round.
///
/// Network  ring or torus of any sides; all-port.
/// Cost     sides n: D floor(n/2) steps; (p - 1)/(2 D) blocks if n is odd or half=split, which is
///          the bound; else (n/2)(p - 1)/((n - 1) D). Unequal sides: each step lasts as long as
///          its largest.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the algorithm here is ours after it.
template <Way way>
void in_both_directions(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const HalfWay half = half_of(call.options);
  const Reversible blocks(way, call);
  const Span own = blocks.own.all();
  if (node.rank() == root) blocks.move(node, blocks.all[root], own);
  const auto plans = ring_scatter_plans(node, root, half);
  const auto copies = static_cast<int>(plans.size());
  const RingScatterRoom room(node, plans, half, blocks.all, own, root);
  together(node, copies, [&](int j, Node& part) {
    const RingScatterPlan& plan = plans[static_cast<std::size_t>(j)];
    const auto place = [&](const RingScatterPlan::Share& of) { return room(of, j, copies); };
    plan.run(part, way, place);
  });
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_ring_all_port) = ring_scatters(operations::scatter,
                                                           in_both_directions<Way::scatter>);
WORMCUBE_ALGORITHMS(gather_ring_all_port) = ring_scatters(operations::gather,
                                                          in_both_directions<Way::gather>);

}  // namespace wormcube
