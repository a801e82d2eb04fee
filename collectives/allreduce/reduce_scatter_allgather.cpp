// All-reduce in parts: reduce-scatter, then all-gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/bit_handover.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/line_gather.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/ring.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/collectives/reduce/programs.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

enum class PartsPattern : std::uint8_t { doubling, ring, mesh };

/// An order of doubling.
enum class PartsOrder : std::uint8_t {
  plain,       ///< both nearest ranks first
  mirrored,    ///< the all-gather is the reduce-scatter backwards
  interleaved  ///< mirrored, alternating between the bits of the dimensions
};

struct PartsOptions {
  PartsPattern pattern = PartsPattern::doubling;
  PartsOrder order = PartsOrder::plain;
  RingTies ties = RingTies::plus;  ///< of mirrored and interleaved
};

PartsOptions options_of(const Options& options) {
  return {options.choice<PartsPattern>("pattern"), options.choice<PartsOrder>("order"),
          options.choice<RingTies>("ties")};
}

bool is_doubled_backwards(const PartsOptions& options) {
  return options.order != PartsOrder::plain;
}

void require_options(const Topology& topology, const Reduction& reduction,
                     const PartsOptions& options) {
  const auto refuse = [](std::string_view option, std::string_view why, std::string_view use) {
    throw UsageError(fmt::format("reduce-scatter-allgather:{}: {}; use {}", option, why, use));
  };
  const bool balanced = options.ties == RingTies::balanced;
  const bool interleaved = options.order == PartsOrder::interleaved;
  if (options.pattern != PartsPattern::doubling && (is_doubled_backwards(options) || balanced)) {
    refuse("pattern=ring or mesh", "order and ties apply to doubling only", "pattern=doubling");
  }
  const Need lines = needs::lines_and_rings();
  if (const auto found = lines.complaint(topology);
      found && options.pattern == PartsPattern::mesh) {
    refuse("pattern=mesh", fmt::format("{}; {}", lines.text, *found), "pattern=ring");
  }
  if (balanced && !is_doubled_backwards(options)) {
    refuse("ties=balanced", "order=plain has no ties to balance", "order=mirrored or interleaved");
  }
  if (balanced || interleaved) {
    const Need two = needs::nodes_power_of_two();
    if (const auto found = two.complaint(topology)) {
      refuse(interleaved ? "order=interleaved" : "ties=balanced",
             fmt::format("{}; {}", two.text, *found), "order=mirrored:ties=plus");
    }
  }
  if (interleaved && !reduction.commutative) {
    refuse("order=interleaved",
           fmt::format("needs a commutative operator; {} is not", reduction.name),
           "order=mirrored");
  }
}

/// An order for 2^d nodes.
std::vector<int> bits_of(const Topology& topology, PartsOrder order) {
  return order == PartsOrder::interleaved ? bits_interleaved(topology) : bits_ascending(topology);
}

/// All nodes' blocks combined in the order of ranks, on every node, with the same bits on all:
/// each node combines one part of the block, and all gather the parts. Parts are whole elements,
/// some empty if there are few.
///
/// Network  doubling: any, of any p (interleaved, balanced ties: 2^d nodes); ring: any; mesh: lines
///          and rings; one-port. Interleaved needs an operator that commutes.
/// Cost     doubling, 2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p.
///          ring, commutative: 2 (p-1)(ts + tw m/p) + tc m (p-1)/p; mesh the same in
///          2 sum(n_d - 1) steps. Operators that do not commute take second partial results.
/// Links    mesh: each carries one message in a step; ring: as the algorithm `ring`; doubling: on
///          hypercubes. Elsewhere the
///          orders differ: in vectors of time, torus:8x8 takes 4.641 plain, 3.375 mirrored, 2.625
///          interleaved, and with balanced ties 2.8125 and 2.4375. On torus:4x4 and 4x4x4 balanced
///          ties leave one message on a link.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.14, which confuses the two operations:
///          all-to-all reduction, all-to-all broadcast. mirrored: allgather_bruck's
///          far_first; interleaved: ours.
void allreduce_by_parts(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const PartsOptions options = options_of(call.options);
  const std::vector<Bytes> offsets =
      part_offsets(call.input.all().size(), reduction.element_bytes, node.size());
  const ConstBlocks in(call.input.all(), offsets);
  const Blocks out(call.output.all(), offsets);
  const Span own = out[node.rank()];
  const Call scatter = call.with(in, Blocks(own, 1));
  if (options.pattern == PartsPattern::ring) {
    allreduce_on_ring(node, Positions(node.topology(), reduction.commutative), reduction,
                      call.input.all(), call.output.all());
  } else if (options.pattern == PartsPattern::mesh && !reduction.commutative) {
    reduce_scatter_mesh(node, scatter);
    allgather_mesh(node, call.with(ConstBlocks(own, 1), out));
  } else if (options.pattern == PartsPattern::mesh) {
    const auto& plans = node.plan<std::vector<HandoverPlan>>(
        "reduce-scatter-allgather mesh", {},
        [&] { return gather_plans(node.topology(), lines_round(node.topology()), node.rank()); });
    allreduce_copies(node, plans, reduction, call.input.all(), call.output.all());
  } else if (!is_doubled_backwards(options)) {
    reduce_scatter_parts(node, scatter);
    allgather_parts(node, out);
  } else if (is_power_of_two(node.size())) {
    const auto& plan = node.plan<HandoverPlan>(
        "reduce-scatter-allgather",
        {static_cast<std::int64_t>(options.order), static_cast<std::int64_t>(options.ties)}, [&] {
          const Topology& topology = node.topology();
          return HandoverPlan(
              bit_handovers(topology, bits_of(topology, options.order), options.ties), node.size(),
              node.rank());
        });
    plan.reduce_scatter(node, reduction, in, own, {0, 1, reduction.element_bytes});
    plan.allgather(node, out, {0, 1, reduction.element_bytes});
  } else {
    reduce_scatter_bruck(node, scatter);
    allgather_far_first(node, out);
  }
}

Prediction predict_reduce_scatter_allgather(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  const bool commutative = setting.arguments.reduction.commutative;
  const PartsOptions options = options_of(setting.options);
  if (options.pattern == PartsPattern::ring) {
    return with_ring_load(allreduce_ring_cost(p, commutative), topology, commutative, commutative);
  }
  if (options.pattern == PartsPattern::mesh) {
    if (commutative) return allreduce_cost(gather_cost(topology, lines_round(topology)), p);
    Prediction prediction = reduce_scatter_mesh_cost(topology, false);
    *prediction.startups *= 2;
    prediction.transmission_blocks = (*prediction.transmission_blocks + p - 1) / p;
    *prediction.rearranged_blocks /= p, *prediction.combined_blocks /= p;
    prediction.link_load = p > 1 ? 1 : 0;
    prediction.link_blocks = prediction.transmission_blocks;
    prediction.hops = 2 * hops_of_rounds(topology);
    return prediction;
  }
  if (is_doubled_backwards(options) && is_power_of_two(p)) {
    return allreduce_cost(
        bit_handover_cost(topology, bits_of(topology, options.order), options.ties), p);
  }
  Prediction prediction = reduce_scatter_parts_cost(p, commutative);
  *prediction.startups += log2_ceiling(p);
  *prediction.transmission_blocks += (p - 1.0) / p;
  std::vector<Messages> messages = reduce_scatter_parts_messages(p, commutative);
  for (Messages& step : is_doubled_backwards(options) ? far_first_messages(p, 1.0 / p)
                                                      : allgather_parts_messages(p, 1.0 / p)) {
    messages.push_back(std::move(step));
  }
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_reduce_scatter_allgather){
    .operation = operations::allreduce,
    .name = "reduce-scatter-allgather",
    .summary = "each node combines one part, then all nodes gather the parts; every network",
    .source =
        "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.14; mirrored: Jeaugey, arXiv "
        "2506.20252; interleaved: ours",
    .exactly_once = true,
    .remark = "free of contention: doubling on hypercubes, mesh",
    .options =
        {{.name = "pattern",
          .choices = {"doubling", "ring", "mesh"},
          .help = "doubling: ceil(log2 p) steps of growing size, twice; ring: p - 1 steps of one "
                  "part, twice; mesh: round the lines of one dimension after another, twice"},
         {.name = "order",
          .choices = {"plain", "mirrored", "interleaved"},
          .help = "for doubling: mirrored gathers in the reverse order of the scatter; interleaved "
                  "takes the bits of the dimensions in turn (2^d nodes, commutative operator)"},
         {.name = "ties",
          .choices = {"plus", "balanced"},
          .help = "halfway round a ring: all '+', or '+' from even nodes and '-' from odd"}},
    .require =
        [](const Setting& on) {
          require_options(on.topology, on.arguments.reduction, options_of(on.options));
        },
    .predict = predict_reduce_scatter_allgather,
    .program = allreduce_by_parts,
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace wormcube
