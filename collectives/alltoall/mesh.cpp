// Total exchange on a mesh or a torus: the ring algorithm in one dimension after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/block_array.hpp"
#include "wormcube/collectives/kit/hops.hpp"

#include <algorithm>
#include <utility>

namespace wormcube {

namespace {

/// Bundled for dimension d. The first digit is h: the bundle that travels h hops on, or that has
/// come h hops after the ring. The others are coordinates, of sources in the dimensions done (all
/// from `done` on), of destinations in the others.
Layout bundles(const Topology& topology, Rank rank, int d, int done) {
  Places places;
  const auto name = [&](int e, Rank other) {
    const Rank own = topology.coordinate(rank, e) * topology.stride(e);
    return e >= done ? BlockName{other * topology.stride(e), own}
                     : BlockName{own, other * topology.stride(e)};
  };
  Digit first;
  for (Rank h = 0; h < topology.size(d); ++h) {
    const Rank x = topology.coordinate(rank, d);
    first.push_back(name(d, mod(d >= done ? x - h : x + h, topology.size(d))));
  }
  places.digits.push_back(std::move(first));
  for (int e = 0; e < topology.dimensions(); ++e) {
    Digit coordinate;
    for (Rank other = 0; other < topology.size(e); ++other) coordinate.push_back(name(e, other));
    if (e != d) places.digits.push_back(std::move(coordinate));
  }
  return places;
}

BlockArray plan_mesh(const Topology& topology, Rank rank) {
  const Rank p = topology.nodes();
  BlockArray array(p);
  Layout held = Places{};  // one node
  bool first = true;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank size = topology.size(d), x = topology.coordinate(rank, d);
    if (size == 1) continue;
    const Layout layout = bundles(topology, rank, d, d + 1);
    if (first) {
      array.lay_out(layout);
    } else {
      array.rearrange(held, layout);
    }
    first = false;
    const Move next{d, topology.factor(d).hops(x, mod(x + 1, size))};
    const Move previous{d, topology.factor(d).hops(x, mod(x - 1, size))};
    // Invariant: before step h the bundles with h hops to go, or more, have travelled h - 1.
    for (Rank h = 1; h < size; ++h) {
      array.exchange(next, previous, {{h * (p / size), (size - h) * (p / size)}});
    }
    held = bundles(topology, rank, d, d);
  }
  if (first) array.lay_out(held);
  array.deliver(held);
  return array;
}

/// Total exchange: node r's block q ends as node q's block r. In each dimension, the last first,
/// blocks are bundled by their destinations' coordinate there and exchanged along the line or ring.
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     sum(n_d - 1) steps, p/2 sum(n_d - 1) blocks; p blocks are rearranged between two
///          dimensions (of more than one node). Square: (2 ts + tw m p)(sqrt p - 1) + tr m p.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.5.2, Eq. 4.8; problem 4.13 (more dimensions),
///          4.21 (rearrangement).
void alltoall_mesh(Node& node, const Call& call) {
  const auto& planned =
      node.plan<BlockArray>("mesh", {}, [&] { return plan_mesh(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_mesh){
    .operation = operations::alltoall,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.2, Eq. 4.8",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::lines_and_rings()},
    .instead = {"shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double p = topology.nodes();
      double steps = 0, dimensions = 0;
      for (const Rank size : topology.sizes()) {
        steps += size - 1;
        dimensions += size > 1 ? 1 : 0;
      }
      Prediction prediction{steps, p / 2 * steps, p * std::max(0.0, dimensions - 1), p};
      prediction.hops = hops_of_rounds(topology);
      return prediction;
    },
    .program = alltoall_mesh,
};

}  // namespace wormcube
