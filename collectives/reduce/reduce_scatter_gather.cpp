// Reduction to one node in parts: reduce-scatter, then gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/line_gather.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/ring.hpp"
#include "wormcube/collectives/kit/trees.hpp"
#include "wormcube/collectives/reduce/programs.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"

#include <bit>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

bool doubles(Rank p) { return std::has_single_bit(static_cast<unsigned>(p)); }

}  // namespace

void reduce_scatter_parts(Node& node, const Call& call) {
  (doubles(node.size()) ? reduce_scatter_hypercube : reduce_scatter_bruck)(node, call);
}

std::vector<Messages> reduce_scatter_parts_messages(Rank p, bool commutative) {
  return doubles(p) ? reduce_scatter_hypercube_messages(p, 1.0 / p)
                    : reduce_scatter_bruck_messages(p, commutative, 1.0 / p);
}

Prediction reduce_scatter_parts_cost(Rank p, bool commutative) {
  Prediction cost = reduce_scatter_bruck_cost(p, commutative || doubles(p));
  *cost.transmission_blocks /= p;
  *cost.combined_blocks /= p;
  return cost;
}

namespace {

enum class GatherPattern : std::uint8_t { doubling, ring, mesh };

GatherPattern gather_pattern(const Options& options) {
  return options.choice<GatherPattern>("pattern");
}

/// Part r of node r to the root, by halving in each dimension: the scatter's steps backwards.
void gather_parts_by_dimension(Node& node, Blocks parts, Rank root) {
  const std::vector<Handover> steps =
      handovers(HalvingTree::dimensions, node.topology(), node.rank(), root);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto [kind, peer, first, last] = *step;
    if (kind == Handover::Kind::gives) {
      node.step({receive(peer, parts.range(first, last - first))});
    } else if (kind == Handover::Kind::takes) {
      node.step({send(peer, parts.range(first, last - first))});
    } else {
      node.step();
    }
  }
}

/// All nodes' blocks combined, at the root: each node combines one part of the block, then the root
/// gathers the parts. Parts are whole elements, some empty if there are few.
///
/// Network  doubling: any, of any p (power of 2: reduce_scatter_hypercube; else _bruck). ring: any.
///          mesh: lines, rings and their products. One-port. Patterns keep the order of ranks; if
///          the operator does not commute, ring and mesh take second partial results.
/// Cost     doubling, 2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p. mesh:
///          sum(n_d - 1 + ceil(log2 n_d)) steps, 2 (p - 1)/p blocks; ring: p - 1 + ceil(log2 p)
///          steps, the same blocks.
/// Links    mesh: each carries one message in a step; doubling: on hypercubes; else counted.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.1, problems 4.17 and 4.19. mesh is the dual of
///          the broadcast there.
void reduce_by_parts(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const Rank p = node.size(), r = node.rank();
  const std::vector<Bytes> offsets =
      part_offsets(call.input.all().size(), reduction.element_bytes, p);
  const Memory own = node.memory(r == root ? 0 : call.input.all().size());
  const Blocks parts(r == root ? call.output.all() : own.span(), offsets);
  const ConstBlocks in(call.input.all(), offsets);
  const Call scatter = call.with(in, Blocks(parts[r], 1));
  switch (gather_pattern(call.options)) {
    case GatherPattern::doubling:
      reduce_scatter_parts(node, scatter);
      return gather_parts(node, parts, root);
    case GatherPattern::mesh:
      if (reduction.commutative) {
        const auto& plans =
            node.plan<std::vector<HandoverPlan>>("reduce-scatter-gather mesh", {}, [&] {
              return gather_plans(node.topology(), lines_round(node.topology()), node.rank());
            });
        reduce_scatter_copies(node, plans, reduction, in, parts[r]);
      } else {
        reduce_scatter_mesh(node, scatter);
      }
      return gather_parts_by_dimension(node, parts, root);
    case GatherPattern::ring: {
      const Positions ring(node.topology(), reduction.commutative);
      reduce_scatter_on_ring(node, ring, reduction, in, parts[r]);
      return gather_on_ring(node, ring, parts, root);
    }
  }
}

/// In vectors, of the prediction for blocks.
Prediction of_parts(Prediction prediction, double p) {
  *prediction.transmission_blocks /= p, *prediction.combined_blocks /= p;
  prediction.rearranged_blocks = prediction.rearranged_blocks.value_or(0) / p;
  return prediction;
}

Prediction predict_reduce_by_parts(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes(), root = setting.arguments.root;
  const bool commutative = setting.arguments.reduction.commutative;
  const double gathered = (p - 1.0) / p;
  switch (gather_pattern(setting.options)) {
    case GatherPattern::doubling:
      break;
    case GatherPattern::mesh: {
      Prediction prediction =
          of_parts(commutative ? gather_cost(topology, lines_round(topology))
                               : reduce_scatter_mesh_cost(topology, commutative),
                   p);
      for (const Rank n : topology.sizes()) *prediction.startups += log2_ceiling(n);
      *prediction.transmission_blocks += gathered;
      prediction.link_load = p > 1 ? 1 : 0;
      prediction.link_blocks = prediction.transmission_blocks;
      prediction.hops.reset();  // the gather's are counted
      return prediction;
    }
    case GatherPattern::ring: {
      const Positions ring(topology, commutative);
      const Prediction round = with_ring_load(of_parts(reduce_scatter_ring_cost(p, commutative), p),
                                              topology, commutative, commutative);
      PatternSteps steps(topology);
      for (const auto& step : gather_on_ring_messages(ring, root, 1.0 / p)) steps.add(step);
      return both(round, steps.with_loads({log2_ceiling(p), gathered, 0}));
    }
  }
  Prediction prediction = reduce_scatter_parts_cost(p, commutative);
  *prediction.startups += log2_ceiling(p);
  *prediction.transmission_blocks += gathered;
  std::vector<Messages> messages = reduce_scatter_parts_messages(p, commutative);
  for (Messages& step : halving_messages(p, root, true, 1.0 / p)) {
    messages.push_back(std::move(step));
  }
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_scatter_gather){
    .operation = operations::reduce,
    .name = "reduce-scatter-gather",
    .summary =
        "each node combines one part, then the root gathers the parts; every network, any root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, problems 4.17 and 4.19",
    .exactly_once = true,
    .remark = "free of contention: doubling on hypercubes, mesh",
    .options = {{.name = "pattern",
                 .choices = {"doubling", "ring", "mesh"},
                 .help = "doubling: 2 ceil(log2 p) steps; ring: p - 1 steps of one part round a "
                         "ring, then halving; mesh: the same in the lines of each dimension"}},
    .require =
        [](const Setting& setting) {
          if (gather_pattern(setting.options) != GatherPattern::mesh) return;
          const Need lines = needs::lines_and_rings();
          if (const auto found = lines.complaint(setting.topology)) {
            throw UsageError(
                fmt::format("reduce-scatter-gather: pattern=mesh: {}; {}; use pattern=ring",
                            lines.text, *found));
          }
        },
    .predict = predict_reduce_by_parts,
    .program = reduce_by_parts,
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace wormcube
