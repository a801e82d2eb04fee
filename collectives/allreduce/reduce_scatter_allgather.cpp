// All-reduce in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/reduce_scatter_allgather.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/bruck.hpp"
#include "wormcube/collectives/bit_handover.hpp"
#include "wormcube/collectives/links.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/reduce/reduce_scatter_gather.hpp"
#include "wormcube/collectives/reduce_scatter/bruck.hpp"
#include "wormcube/collectives/reduce_scatter/ring.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/collectives/torus_handover.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

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
  if (options.pattern == PartsPattern::ring) {
    const Need one = needs::line_or_ring();
    if (const auto found = one.complaint(topology)) {
      refuse("pattern=ring", fmt::format("{}; {}", one.text, *found), "pattern=doubling");
    }
    if (is_doubled_backwards(options) || balanced) {
      refuse("pattern=ring", "order and ties are those of doubling", "pattern=doubling");
    }
  }
  if (balanced && !is_doubled_backwards(options)) {
    refuse("ties=balanced", "order=plain has no ties of its own", "order=mirrored or interleaved");
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

/// Of 2^d nodes, in an order of their own.
std::vector<int> bits_of(const Topology& topology, PartsOrder order) {
  return order == PartsOrder::interleaved ? bits_interleaved(topology) : bits_ascending(topology);
}

/// Part by part round a line or ring: p - 1 steps.
void allgather_ring_parts(Node& node, Blocks parts) {
  const Rank p = node.size(), r = node.rank(), next = mod(r + 1, p), previous = mod(r - 1, p);
  if (p == 1) return;
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  for (Rank t = 1; t < p; ++t) {
    node.step({send(onward, parts[mod(r - t + 1, p)]), receive(previous, parts[mod(r - t, p)])});
  }
}

}  // namespace

void allreduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                        const PartsOptions& options) {
  require_options(node.topology(), reduction, options);
  require_reduction("allreduce_by_parts", node, reduction, mine, result);
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, node.size());
  const ConstBlocks in(mine, offsets);
  const Blocks out(result, offsets);
  const Span own = out[node.rank()];
  if (options.pattern == PartsPattern::ring) {
    reduce_scatter_ring(node, reduction, in, own);
    allgather_ring_parts(node, out);
  } else if (!is_doubled_backwards(options)) {
    reduce_scatter_parts(node, reduction, in, own);
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
    reduce_scatter_bruck(node, reduction, in, own);
    allgather_bruck(node, ConstBlocks(own, 1), out, BruckOrder::far_first);
  }
}

namespace {

PartsOptions options_of(const Options& options) {
  return {options.choice<PartsPattern>("pattern"), options.choice<PartsOrder>("order"),
          options.choice<RingTies>("ties")};
}

Prediction predict_reduce_scatter_allgather(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  const bool commutative = setting.arguments.reduction.commutative;
  const PartsOptions options = options_of(setting.options);
  if (options.pattern == PartsPattern::ring) {
    Prediction prediction = reduce_scatter_ring_cost(p, commutative);
    *prediction.startups += p - 1;
    prediction.transmission_blocks = (*prediction.transmission_blocks + p - 1) / p;
    *prediction.combined_blocks /= p;
    prediction.link_load = p > 1 ? 1 : 0;
    prediction.contended_blocks = prediction.transmission_blocks;
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

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_reduce_scatter_allgather){
    .operation = operations::allreduce,
    .name = "reduce-scatter-allgather",
    .summary = "each node combines one part, all gather them; every network",
    .source =
        "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.14; mirrored: Jeaugey, arXiv "
        "2506.20252; interleaved: ours",
    .exactly_once = true,
    .remark = "free of contention: doubling on hypercubes, ring on lines and rings",
    .options =
        {{.name = "pattern",
          .choices = {"doubling", "ring"},
          .help = "ceil(log2 p) steps of growing size twice, or p - 1 of one part"},
         {.name = "order",
          .choices = {"plain", "mirrored", "interleaved"},
          .help = "of doubling: mirrored gathers as it scattered, backwards; interleaved takes "
                  "the dimensions' bits by turns (2^d nodes, commutative operator)"},
         {.name = "ties",
          .choices = {"plus", "balanced"},
          .help = "half way round a ring: all '+', or '+' from even nodes and '-' from odd"}},
    .rows = {{"3.6", "pattern=doubling", "hypercube:6"}, {"3.6", "pattern=ring", "ring:8"}},
    .reorders = [](const Options& options) { return options.is("order", "interleaved"); },
    .require =
        [](const Setting& on) {
          require_options(on.topology, on.arguments.reduction, options_of(on.options));
        },
    .predict = predict_reduce_scatter_allgather,
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_by_parts(node, call.arguments.reduction, call.input.all(),
                                       call.output.all(), options_of(call.options));
        },
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace algorithms

}  // namespace wormcube
