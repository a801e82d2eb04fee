// All-reduce on meshes in windows that a gather and a reduce-scatter share.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/all_port_segments.hpp"

#include "wormcube/collectives/kit/line_gather.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

/// The windows of a mesh: `length` steps each, D of them for each w.
struct Windows {
  std::vector<int> wide;
  std::vector<LineGather> rules;  // by dimension
  int length = 0;

  explicit Windows(const Topology& topology) : wide(wide_dimensions(topology)) {
    for (int d = 0; d < topology.dimensions(); ++d) {
      rules.push_back(gather_all_ways(topology.factor(d), HalfWay::plus));
      length = std::max(length, topology.size(d));
    }
  }
  int phases() const { return static_cast<int>(wide.size()); }
  int dimension(int copy, int phase) const {
    return wide[static_cast<std::size_t>((copy + phase) % phases())];
  }
  const LineGather& rule(int copy, int phase) const {
    return rules[static_cast<std::size_t>(dimension(copy, phase))];
  }
  /// Windows of a gather between two of its phases, in which others gather.
  int gap() const { return std::max(0, phases() - 2); }
  /// Windows before the gather of segment 0, and from one segment of a stream to the next.
  int before_first() const { return 2 * phases() - 1; }
  int between() const { return 2 * phases() - 2; }

  int size(int d) const { return rules[static_cast<std::size_t>(d)].steps + 1; }

  /// A copy whose phases are a window each, `gap` windows apart. A side of n nodes uses the first n
  /// steps of its window; a reduce-scatter runs the copy backwards, so there they are its last.
  GatherCopy copy(int j, int gap, bool is_backwards) const {
    GatherCopy copy{rules};
    for (int t = 0; t < phases(); ++t) {
      if (t > 0) copy.slots.resize(copy.slots.size() + static_cast<std::size_t>(gap * length));
      const int d = dimension(j, t), first = is_backwards ? length - size(d) : 0;
      for (int s = -first; s < length - first; ++s) {
        copy.slots.push_back(s >= 0 && s < rule(j, t).steps ? GatherCopy::Slot{d, s}
                                                            : GatherCopy::Slot{});
      }
    }
    return copy;
  }
};

struct SegmentPlans {
  std::vector<HandoverPlan> scatters, gathers;  // by copy
};

SegmentPlans plan_segments(const Topology& topology, Rank r) {
  const Windows windows(topology);
  std::vector<GatherCopy> scatters, gathers;
  for (int j = 0; j < windows.phases(); ++j) {
    scatters.push_back(windows.copy(j, 0, true));
    gathers.push_back(windows.copy(j, windows.gap(), false));
  }
  return {gather_plans(topology, scatters, r), gather_plans(topology, gathers, r)};
}

void idle(Node& node, int steps) {
  for (int i = 0; i < steps; ++i) node.step();
}

}  // namespace

void allreduce_in_segments(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                           Rank segments) {
  const Windows windows(node.topology());
  const int copies = windows.phases(), length = windows.length;
  if (copies == 0) return node.local([&] { copy(mine, result); });
  const auto& plans = node.plan<SegmentPlans>(
      "all-port-segments", {}, [&] { return plan_segments(node.topology(), node.rank()); });
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, node.size());
  const ConstBlocks in(mine, offsets);
  const Blocks parts(result, offsets);
  // For each copy a stream of reduce-scatters, and up to D of gathers, which overlap.
  const Rank gathers = std::min<Rank>(copies, segments);
  together(node, copies * (1 + gathers), [&](int stream, Node& own) {
    const int j = stream / (1 + gathers), first = stream % (1 + gathers) - 1;
    const auto at = static_cast<std::size_t>(j);
    const auto portion = [&](Rank segment) {
      return Portion{static_cast<int>(j * segments + segment), static_cast<int>(copies * segments),
                     reduction.element_bytes};
    };
    if (first < 0) {
      for (Rank w = 0; w < segments; ++w) {
        plans.scatters[at].reduce_scatter(own, reduction, in, parts[node.rank()], portion(w));
      }
      return;
    }
    idle(own, (windows.before_first() + first * copies) * length);
    for (Rank g = first; g < segments; g += copies) {
      if (g > first) idle(own, windows.between() * length);
      plans.gathers[at].allgather(own, parts, portion(g));
    }
  });
}

Prediction segmented_cost(const Topology& topology, Rank segments) {
  const Windows windows(topology);
  const int copies = windows.phases();
  Prediction sum{0, 0, 0};
  sum.combined_blocks = 0;
  for (Rank w = 0; w < segments + copies; ++w) {
    for (int t = copies - 1; t >= 0; --t) {
      const bool scatters = w < segments, gathers = w - 1 - t >= 0 && w - 1 - t < segments;
      for (int tau = 1; tau <= windows.length; ++tau) {
        double largest = 0;
        for (int j = 0; j < copies; ++j) {
          double bundle = 1.0 / (static_cast<double>(topology.nodes()) * copies * segments);
          for (int before = 0; before < t; ++before) {
            bundle *= topology.size(windows.dimension(j, before));
          }
          const LineGather& rule = windows.rule(j, t);
          const int s = windows.size(windows.dimension(j, t)) - tau + 1;
          const bool scatters_now = scatters && s >= 1 && s <= rule.steps;
          if (scatters_now) {
            *sum.combined_blocks += bundle * rule.of_node[static_cast<std::size_t>(s - 1)];
          }
          if (scatters_now || (gathers && tau <= rule.steps)) largest = std::max(largest, bundle);
        }
        *sum.startups += largest > 0 ? 1 : 0;
        *sum.transmission_blocks += largest;
      }
    }
  }
  sum.link_load = copies > 0 ? 1 : 0;
  sum.link_blocks = sum.transmission_blocks;
  return sum;
}

}  // namespace wormcube
