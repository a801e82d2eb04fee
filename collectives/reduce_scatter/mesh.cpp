// Reduce-scatter on a mesh or a torus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"
#include "wormcube/collectives/reduce_scatter/ring.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_mesh;
}

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

void reduce_scatter_mesh(Node& node, const Reduction& reduction, ConstBlocks in, Span out) {
  require_network(algorithms::reduce_scatter_mesh, node.topology());
  require_reduce_scatter("reduce_scatter_mesh", node, reduction, in, out);
  const Topology& topology = node.topology();
  const bool bundles = long_dimensions(topology) > 1;

  // held: the blocks for nodes with this one's coordinates in the dimensions done, in the order of
  // last_dimension_first, so that those for one coordinate of the next dimension stand together.
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
    const Span result = bundle == 1 ? out : spare.first(blocks[line.rank()].size());
    reduce_scatter_ring(line, reduction, blocks, result);
    held = result;
    std::swap(spare, next);
    first += bundle * static_cast<std::size_t>(line.rank());
    count = bundle;
    done = true;
  }
  if (!done) node.local([&] { copy(in[0], out); });
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_mesh){
    .operation = operations::reduce_scatter,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension, the last first; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, problem 4.4",
    .contention_free = true,
    .exactly_once = true,
    .remark = "rows before columns, to keep the order of ranks",
    .rows = {{"2.21", "", "mesh:4x4"}, {"2.21", "", "torus:3x5"}},
    .needs = {needs::lines_and_rings()},
    .instead = {"hypercube", "bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      double bundle = topology.nodes();
      Prediction sum{0, 0, long_dimensions(topology) > 1 ? bundle : 0};
      sum.combined_blocks = 0;
      for (int d = topology.dimensions() - 1; d >= 0; --d) {
        const Rank size = topology.size(d);
        bundle /= size;
        const Prediction line =
            reduce_scatter_ring_cost(size, setting.arguments.reduction.commutative);
        *sum.startups += *line.startups;
        *sum.transmission_blocks += bundle * *line.transmission_blocks;
        *sum.combined_blocks += bundle * *line.combined_blocks;
      }
      return sum;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_mesh(node, call.arguments.reduction, call.input,
                                        call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
