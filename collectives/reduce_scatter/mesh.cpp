// Reduce-scatter on a mesh or a torus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/ring.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>

namespace wormcube {

namespace {

int long_dimensions(const Topology& topology) {
  int count = 0;
  for (const Rank size : topology.sizes()) count += size > 1 ? 1 : 0;
  return count;
}

/// The ranks with their digits in reverse: the last dimension's is the most significant.
std::vector<Rank> last_dimension_first(const Topology& topology) {
  std::vector<Rank> order(static_cast<std::size_t>(topology.nodes()));
  for (Rank q = 0; q < topology.nodes(); ++q) {
    Rank place = 0;
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      place = place * topology.size(d) + topology.coordinate(q, d);
    }
    order[static_cast<std::size_t>(place)] = q;
  }
  return order;
}

}  // namespace

/// All nodes' blocks q combined in the order of ranks, at node q: the ring algorithm dimension by
/// dimension. In the lines of the last dimension first, with a bundle for each coordinate there;
/// the blocks that remain at a node are those for its coordinate, over its line, which are
/// neighbours.
///
/// Network  meshes and tori of any sides and dimensions; one-port.
/// Cost     sum of (side - 1) steps; transmission as reduce_scatter_on_ring on bundles of all
///          blocks for a coordinate: for commutative operators tw m (p - 1) in total.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.2 (the reverse of Algorithm 4.6) and problem
///          4.4: columns first there, which breaks the order.
void reduce_scatter_mesh(Node& node, const Call& call) {
  const ConstBlocks in = call.input;
  const Topology& topology = node.topology();
  const bool bundles = long_dimensions(topology) > 1;

  // held: the blocks for nodes with this one's coordinates in the dimensions done, in the order of
  // last_dimension_first, so that those for one coordinate of the next dimension are together.
  const std::vector<Rank> order = last_dimension_first(topology);
  std::vector<Bytes> offsets{0};
  for (const Rank q : order) offsets.push_back(offsets.back() + in[q].size());
  const Memory one = node.memory(bundles ? in.all().size() : 0, Purpose::blocks);
  const Memory other = node.memory(bundles ? in.all().size() : 0, Purpose::blocks);
  ConstSpan held = in.all();
  Span spare = one, next = other;
  if (bundles) {
    node.rearrange(held.size(), [&] {
      for (std::size_t i = 0; i < order.size(); ++i) {
        copy(in[order[i]], one.subspan(offsets[i], in[order[i]].size()));
      }
    });
    held = one;
    std::swap(spare, next);
  }

  std::size_t first = 0, count = order.size();  // what is held, in `order`
  bool done = false;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank size = topology.size(d);
    if (size == 1) continue;
    const std::size_t bundle = count / static_cast<std::size_t>(size);
    std::vector<Bytes> cuts;
    for (std::size_t b = 0; b <= count; b += bundle) {
      cuts.push_back(offsets[first + b] - offsets[first]);
    }
    LineView line = node.along(d);
    const ConstBlocks blocks(held, cuts);
    const Span result = bundle == 1 ? call.output.all() : spare.first(blocks[line.rank()].size());
    reduce_scatter_on_ring(line, Positions(line.topology(), false), call.arguments.reduction,
                           blocks, result);
    held = result;
    std::swap(spare, next);
    first += bundle * static_cast<std::size_t>(line.rank());
    count = bundle;
    done = true;
  }
  if (!done) node.local([&] { copy(in[0], call.output.all()); });
}

Prediction reduce_scatter_mesh_cost(const Topology& topology, bool commutative) {
  double bundle = topology.nodes();
  Prediction sum{0, 0, long_dimensions(topology) > 1 ? bundle : 0};
  sum.combined_blocks = 0;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank size = topology.size(d);
    bundle /= size;
    const Prediction line = reduce_scatter_ring_cost(size, commutative);
    *sum.startups += *line.startups;
    *sum.transmission_blocks += bundle * *line.transmission_blocks;
    *sum.combined_blocks += bundle * *line.combined_blocks;
  }
  sum.hops = hops_of_rounds(topology);
  return sum;
}

namespace {

Prediction predict_reduce_scatter_mesh(const Setting& setting) {
  return reduce_scatter_mesh_cost(setting.topology, setting.arguments.reduction.commutative);
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_mesh) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "mesh",
        .summary = "the ring algorithm in one dimension after another, last dimension first; "
                   "meshes and tori",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, problem 4.4",
        .contention_free = true,
        .exactly_once = true,
        .remark = "rows before columns, to keep the order of ranks",
        .needs = {needs::lines_and_rings()},
        .instead = {"hypercube", "bruck"},
        .predict = predict_reduce_scatter_mesh,
        .program = reduce_scatter_mesh,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.predict = startups_of<predict_reduce_scatter_mesh>;
      uneven.remark = {};
    });

}  // namespace wormcube
