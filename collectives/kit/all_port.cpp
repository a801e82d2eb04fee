// All-gather, reduce-scatter and all-reduce in all directions of a product at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/all_port.hpp"

#include "wormcube/collectives/kit/all_port_segments.hpp"
#include "wormcube/collectives/kit/handover_algorithms.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Option half_way_option() {
  return {
      .name = "half",
      .choices = {"plus", "split"},
      .help =
          "block for the node halfway round an even ring: whole in one direction, or half in each "
          "direction"};
}

std::vector<GatherCopy> all_port_copies(const Topology& topology, HalfWay half) {
  const std::vector<int> wide = wide_dimensions(topology);
  std::vector<LineGather> rules;
  int window = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    rules.push_back(gather_all_ways(topology.factor(d), half));
    window = std::max(window, rules.back().steps);
  }
  std::vector<GatherCopy> copies;
  for (std::size_t j = 0; j < std::max<std::size_t>(1, wide.size()); ++j) {
    GatherCopy& copy = copies.emplace_back(GatherCopy{rules});
    copy.shares = half == HalfWay::split ? 2 : 1;
    for (std::size_t t = 0; t < wide.size(); ++t) {
      const int d = wide[(j + t) % wide.size()];
      const int steps = rules[static_cast<std::size_t>(d)].steps;
      for (int s = 0; s < window; ++s) {
        copy.slots.push_back(s < steps ? GatherCopy::Slot{d, s} : GatherCopy::Slot{});
      }
    }
  }
  return copies;
}

std::span<const HandoverPlan> all_port_plans(Node& node, HalfWay half) {
  return node.plan<std::vector<HandoverPlan>>("all-port", {static_cast<std::int64_t>(half)}, [&] {
    return gather_plans(node.topology(), all_port_copies(node.topology(), half), node.rank());
  });
}

Prediction all_port_cost(const Topology& topology, HalfWay half) {
  return gather_cost(topology, all_port_copies(topology, half));
}

Rank all_port_parts(const Topology& topology, HalfWay half) {
  const auto wide = static_cast<Rank>(wide_dimensions(topology).size());
  return std::max(1, wide) * (half == HalfWay::split ? 2 : 1);
}

namespace {

/// All-gather, reduce-scatter and all-reduce in all directions of every dimension at once, to
/// neighbours: one dimension after another, in D rotated copies of a D-th part of each block, so
/// that the copies use links of different dimensions in every step. Between two nodes half a ring
/// apart the '+' direction carries the block, or, if it is split, each direction one half.
///
/// Network  every dimension a line, a ring or a complete graph; all-port. The operator must
///          commute.
/// Cost     D N steps, N the most of a dimension: n - 1 on lines, floor(n/2) on rings, 1 on
///          complete graphs. One kind and size: (p - 1)/(D c) blocks, c the fewest links of a node
///          in a dimension: the bound, on even rings if blocks are split. Unequal sides: each step
///          lasts as long as its largest. All-reduce: twice, of vectors of p blocks.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.2 (rings, hypercubes). Split: N. Jain,
///          Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract). Lines and complete graphs: ours.
struct AllPort {
  static std::span<const HandoverPlan> plans(Node& node, const Options& options) {
    return all_port_plans(node, half_of(options));
  }
  static Prediction cost(const Setting& setting) {
    return all_port_cost(setting.topology, half_of(setting.options));
  }
  static Rank parts(const Setting& setting) {
    return all_port_parts(setting.topology, half_of(setting.options));
  }
};
/// The same on hypercubes, whose rings of 2 have no half-way node.
struct HypercubeAllPort {
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return all_port_plans(node, HalfWay::plus);
  }
  static Prediction cost(const Setting& setting) {
    return all_port_cost(setting.topology, HalfWay::plus);
  }
  static Rank parts(const Setting& setting) {
    return all_port_parts(setting.topology, HalfWay::plus);
  }
};

Need lines_rings_or_complete() {
  return {"every dimension must be a line, a ring or a complete graph",
          [](const Topology& topology) -> std::optional<std::string> {
            for (const int d : wide_dimensions(topology)) {
              const Graph& graph = topology.factor(d);
              if (graph.is(Shape::line) || graph.wraps() || graph.shape() == Shape::complete) {
                continue;
              }
              return needs::has_factor(topology, graph);
            }
            return std::nullopt;
          }};
}

Algorithm all_port(std::vector<std::string_view> instead) {
  return {
      .operation = operations::allgather,
      .name = "all-port",
      .summary =
          "rotated copies use all directions at once; lines, rings, complete graphs, products",
      .source =
          "Grama, Gupta, Karypis, Kumar, sec. 4.7.2; split: Jain, Sabharwal, ICS 2010 (abstract)",
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .neighbours_only = true,
      .remark = "lines and complete graphs: our extension",
      .options = {half_way_option()},
      .needs = {lines_rings_or_complete()},
      .instead = std::move(instead),
  };
}

Rank mesh_segments(const Options& options) { return static_cast<Rank>(options.number("segments")); }

/// The all-reduce in segments on meshes, else in one: see all_port_segments.hpp.
Algorithm with_segments(Algorithm algorithm) {
  algorithm.options.push_back(
      {.name = "segments",
       .preset = 1,
       .least = 1,
       .most = 4096,
       .help = "meshes: number of segments; one is gathered while the next is reduced",
       .tried = {2, 4, 8, 16, 32, 64, 128, 256}});
  algorithm.require = [](const Setting& setting) {
    if (mesh_segments(setting.options) == 1 || !needs::lines().complaint(setting.topology)) return;
    throw UsageError(
        fmt::format("all-port: segments apply only to meshes, and {} is not one; use segments=1",
                    setting.topology.name()));
  };
  algorithm.predict = [](const Setting& setting) {
    const Rank segments = mesh_segments(setting.options);
    return segments > 1 ? segmented_cost(setting.topology, segments)
                        : allreduce_cost(AllPort::cost(setting), setting.topology.nodes());
  };
  algorithm.program = [](Node& node, const Call& call) {
    const Rank segments = mesh_segments(call.options);
    if (segments == 1) return allreduce_in_parts<AllPort>(node, call);
    allreduce_in_segments(node, call.arguments.reduction, call.input.all(), call.output.all(),
                          segments);
  };
  algorithm.parts = [](const Setting& setting) {
    return setting.topology.nodes() * AllPort::parts(setting) * mesh_segments(setting.options);
  };
  return algorithm;
}

}  // namespace

WORMCUBE_ALGORITHMS(all_port){
    allgather_by<AllPort>(all_port({"ring", "mesh", "bruck"})),
    allgather_by<HypercubeAllPort>({
        .operation = operations::allgather,
        .name = "hypercube-all-port",
        .summary = "d rotated copies of recursive doubling on all links at once; hypercubes",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3 and 4.7.2",
        .ports = Ports::all,
        .contention_free = true,
        .exactly_once = true,
        .needs = {needs::hypercube()},
        .instead = {"all-port", "bruck"},
    }),
    reduce_scatter_by<AllPort>(all_port({"ring", "mesh", "bruck"})),
    with_segments(allreduce_by<AllPort>(all_port({"ring", "reduce-scatter-allgather"}))),
};

}  // namespace wormcube
