// All-gather, reduce-scatter and all-reduce on any network, in as many steps as its diameter.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bfb_split.hpp"
#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/collectives/kit/shortest_paths.hpp"
#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace wormcube {

namespace {

constexpr int most_parts = 64;

std::size_t at(Rank r) { return static_cast<std::size_t>(r); }

/// What comes to each node in each step, whole blocks.
class BfbNetwork {
 public:
  /// Of one step, and the least load of the busiest link.
  using Step = std::pair<const std::vector<BfbArrivals>, BfbLoad>;

  explicit BfbNetwork(const Topology& topology)
      : paths(ShortestPaths::of(topology)), steps(at(paths->nodes())) {
    for (Rank u = 0; u < paths->nodes(); ++u) find_arrivals(u);
  }
  BfbNetwork(BfbNetwork&&) = default;  // not copied: `steps` points into it

  std::shared_ptr<const ShortestPaths> paths;
  std::vector<std::vector<const Step*>> steps;  // by node and distance - 1

 private:
  /// The same arrivals come to many nodes: their load is computed once.
  void find_arrivals(Rank u) {
    std::vector<std::map<std::uint64_t, std::int64_t>> blocks(at(paths->diameter()));
    for (Rank v = 0; v < paths->nodes(); ++v) {
      if (v != u) ++blocks[at(paths->distance(u, v) - 1)][paths->next_hops(u, v)];
    }
    for (const auto& of_step : blocks) {
      std::vector<BfbArrivals> arrivals;
      for (const auto& [from, count] : of_step) arrivals.push_back({from, count});
      const auto [step, is_new] = loads_.try_emplace(std::move(arrivals));
      if (is_new && !step->first.empty()) step->second = bfb_load(step->first);
      steps[at(u)].push_back(&*step);
    }
  }

  std::map<std::vector<BfbArrivals>, BfbLoad> loads_;
};

/// How many parts of the blocks come from which neighbour, in each step.
using BfbSplits = std::map<const BfbNetwork::Step*, std::vector<std::vector<std::int64_t>>>;

std::int64_t most_parts_on_link(const BfbLoad& load, int parts) {
  return (parts * load.blocks + load.links - 1) / load.links;
}

BfbSplits bfb_splits(const BfbNetwork& network, int parts) {
  BfbSplits splits;
  for (const auto& node : network.steps) {
    for (const BfbNetwork::Step* const step : node) {
      const auto [split, is_new] = splits.try_emplace(step);
      if (is_new && !step->first.empty())
        split->second = bfb_split(step->first, parts, most_parts_on_link(step->second, parts));
    }
  }
  return splits;
}

/// Sums over windows: entry k of what `segments` copies add up to, each a step after the one
/// before.
std::vector<std::int64_t> staggered(std::span<const std::int64_t> loads, int segments) {
  std::vector<std::int64_t> sums;
  std::int64_t sum = 0;
  for (std::size_t k = 0; k + 1 < loads.size() + at(segments); ++k) {
    if (k < loads.size()) sum += loads[k];
    if (k >= at(segments)) sum -= loads[k - at(segments)];
    sums.push_back(sum);
  }
  return sums;
}

/// Into how many parts blocks are cut, how many of them come from which neighbour, and the cost.
class BfbPlan {
 public:
  BfbPlan(const Topology& topology, int segments)
      : network(network_of(topology)), segments_(segments) {
    parts = best_parts();
    static RecentlyMade<std::pair<std::shared_ptr<const BfbNetwork>, int>, BfbSplits> made;
    splits_ = made({network, parts}, [&] { return bfb_splits(*network, parts); });
    weigh();
  }

  int steps() const {
    return network->paths->diameter() == 0 ? 0 : network->paths->diameter() + segments_ - 1;
  }
  int all_parts() const { return segments_ * parts; }
  /// [arrivals][neighbour]
  const std::vector<std::vector<std::int64_t>>& split(const BfbNetwork::Step* step) const {
    return splits_->at(step);
  }

  const std::shared_ptr<const BfbNetwork> network;
  int parts = 1;    ///< of a segment
  Prediction cost;  ///< of the reduce-scatter

 private:
  static std::shared_ptr<const BfbNetwork> network_of(const Topology& topology) {
    static RecentlyMade<Topology, BfbNetwork> made;
    return made(topology, [&] { return BfbNetwork(topology); });
  }
  /// The fewest with the least time, if every step lasts as long as its busiest link.
  int best_parts() const {
    std::set<std::vector<BfbLoad>> unlike;
    for (const auto& node : network->steps) {
      std::vector<BfbLoad> of_steps;
      for (const BfbNetwork::Step* const step : node) of_steps.push_back(step->second);
      unlike.insert(std::move(of_steps));
    }
    int best = 1;
    std::int64_t least = -1;
    for (int count = 1; count <= most_parts; ++count) {
      std::vector<std::int64_t> busiest(at(steps()), 0), loads;
      for (const auto& node : unlike) {
        loads.clear();
        for (const BfbLoad& load : node) loads.push_back(most_parts_on_link(load, count));
        keep_largest(busiest, staggered(loads, segments_));
      }
      const std::int64_t sum = std::accumulate(busiest.begin(), busiest.end(), std::int64_t{0});
      if (least < 0 || sum * best < least * count) best = count, least = sum;
    }
    return best;
  }
  static void keep_largest(std::vector<std::int64_t>& most, const std::vector<std::int64_t>& of) {
    std::ranges::transform(most, of, most.begin(), [](auto a, auto b) { return std::max(a, b); });
  }
  void weigh() {
    std::vector<std::int64_t> moved(at(steps()), 0), combined(at(steps()), 0), loads;
    // By node and step: what it sends in the all-gather, and so combines in the reduce-scatter.
    std::vector<std::vector<std::int64_t>> sent(
        at(network->paths->nodes()), std::vector<std::int64_t>(at(network->paths->diameter()), 0));
    for (Rank u = 0; u < network->paths->nodes(); ++u) {
      for (std::size_t w = 0; w < network->paths->neighbours(u).size(); ++w) {
        loads.clear();
        for (const BfbNetwork::Step* const step : network->steps[at(u)]) {
          std::int64_t& load = loads.emplace_back(0);
          for (const auto& from : split(step)) load += w < from.size() ? from[w] : 0;
          sent[at(network->paths->neighbours(u)[w])][loads.size() - 1] += load;
        }
        keep_largest(moved, staggered(loads, segments_));
      }
    }
    for (const auto& of_node : sent) keep_largest(combined, staggered(of_node, segments_));
    const auto blocks = [&](const std::vector<std::int64_t>& in_parts) {
      return static_cast<double>(
                 std::accumulate(in_parts.begin(), in_parts.end(), std::int64_t{0})) /
             all_parts();
    };
    cost = {.startups = steps(), .transmission_blocks = blocks(moved), .rearranged_blocks = 0};
    cost.link_load = network->paths->nodes() > 1 ? 1 : 0;
    cost.link_blocks = blocks(moved);
    cost.combined_blocks = blocks(combined);
  }

  const int segments_;
  std::shared_ptr<const BfbSplits> splits_;
};

/// Which neighbour sends each part.
class BfbLanes {
 public:
  explicit BfbLanes(std::shared_ptr<const BfbPlan> of)
      : plan_(std::move(of)),
        paths_(*plan_->network->paths),
        lanes_(at(paths_.nodes()) * at(paths_.nodes()) * at(plan_->parts)) {
    for (Rank u = 0; u < paths_.nodes(); ++u) divide(u);
  }

  Handovers handovers() const {
    std::size_t most_lanes = 1;
    for (Rank r = 0; r < paths_.nodes(); ++r)
      most_lanes = std::max(most_lanes, paths_.neighbours(r).size());
    return {plan_->steps(), plan_->all_parts(),
            [this](Rank r, int /*step*/) {
              std::vector<Lane> lanes;
              for (const Rank w : paths_.neighbours(r))
                lanes.push_back({{w}, {w}, static_cast<int>(paths_.lane(w, r))});
              return lanes;
            },
            [this](Rank r, std::span<Handovers::Turn> turns) {
              auto turn = turns.begin();
              for (Rank block = 0; block < paths_.nodes(); ++block) {
                for (int share = 0; share < plan_->all_parts(); ++share, ++turn) {
                  if (block == r) continue;
                  const int parts = plan_->parts, segment = share / parts;
                  *turn = {plan_->steps() - paths_.distance(r, block) - segment,
                           lanes_[part_at(r, block, share % parts)]};
                }
              }
            },
            static_cast<int>(most_lanes)};
  }

 private:
  std::size_t part_at(Rank u, Rank v, int part) const {
    return (at(u) * at(paths_.nodes()) + at(v)) * at(plan_->parts) + at(part);
  }
  void divide(Rank u) {
    // By step and set of neighbours: what is left of each neighbour's parts.
    std::map<std::pair<int, std::uint64_t>, std::vector<std::int64_t>> left;
    for (int t = 1; t <= paths_.diameter(); ++t) {
      const BfbNetwork::Step* const step = plan_->network->steps[at(u)][at(t - 1)];
      for (std::size_t i = 0; i < step->first.size(); ++i)
        left[{t, step->first[i].from}] = plan_->split(step)[i];
    }
    for (Rank v = 0; v < paths_.nodes(); ++v) {
      if (v == u) continue;
      std::vector<std::int64_t>& of_neighbours =
          left[{paths_.distance(u, v), paths_.next_hops(u, v)}];
      std::size_t w = 0;
      for (int part = 0; part < plan_->parts; ++part) {
        while (of_neighbours[w] == 0) ++w;
        --of_neighbours[w];
        lanes_[part_at(u, v, part)] = static_cast<std::uint8_t>(w);
      }
    }
  }

  const std::shared_ptr<const BfbPlan> plan_;
  const ShortestPaths& paths_;
  std::vector<std::uint8_t> lanes_;  // by node, block and part
};

/// All-gather, reduce-scatter and all-reduce on any network: in step t a node receives every block
/// of a node t links away, from those of its neighbours that are nearer to it. Blocks are cut, so
/// that the busiest link into a node carries as little as possible.
///
/// Network  any whose vertices are all nodes, of up to 64 ports; all-port. The operator must
///          commute.
/// Cost     D steps, D the diameter; of each the busiest link's parts: on tori, hypercubes and
///          other symmetric networks (p - 1)/ports blocks, the bound. With S segments, each a step
///          behind the one before, D + S - 1 steps: on meshes and other networks the steps' loads
///          even out, and the blocks approach the bound. All-reduce: twice, of vectors of p blocks.
/// Links    each carries one message in a step.
/// Source   L. Zhao, S. Pal, T. Chugh, W. Wang, J. Fantl, P. Basu, J. Khoury, A. Krishnamurthy,
///          Efficient Direct-Connect Topologies for Collective Communications, NSDI 2025,
///          arXiv:2202.03356, sec. 6. Segments: ours.
struct BreadthFirst {
  static int segments(const Options& options) {
    return static_cast<int>(options.number("segments"));
  }
  // A plan depends on the network, not on the node: all share it.
  static std::shared_ptr<const BfbPlan> plan(const Topology& topology, const Options& options) {
    static RecentlyMade<std::pair<Topology, int>, BfbPlan> made;
    return made({topology, segments(options)},
                [&] { return BfbPlan(topology, segments(options)); });
  }
  static std::span<const HandoverPlan> plans(Node& node, const Options& options) {
    return node.plan<std::vector<HandoverPlan>>("bfb", {segments(options)}, [&] {
      static RecentlyMade<std::pair<Topology, int>, BfbLanes> made;
      const auto lanes = made({node.topology(), segments(options)},
                              [&] { return BfbLanes(plan(node.topology(), options)); });
      std::vector<HandoverPlan> plans;
      plans.emplace_back(lanes->handovers(), node.size(), node.rank());
      return plans;
    });
  }
  static Prediction cost(const Setting& setting) {
    return plan(setting.topology, setting.options)->cost;
  }
  static Rank parts(const Setting& setting) {
    return plan(setting.topology, setting.options)->all_parts();
  }
};

Algorithm bfb(std::vector<std::string_view> instead) {
  return {
      .operation = operations::allgather,
      .name = "bfb",
      .summary =
          "every block breadth first, cut so that all links into a node carry alike; any "
          "network without switches",
      .source = "Zhao et al., NSDI 2025 (arXiv:2202.03356); segments: ours",
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .neighbours_only = true,
      .options = {{.name = "segments",
                   .preset = 1,
                   .least = 1,
                   .most = 4096,
                   .help = "number of segments of a block; each begins a step after the one before",
                   .tried = {2, 4, 8, 16, 32, 64, 128, 256}}},
      .needs = {needs::only_nodes_of_few_ports(), needs::nodes_at_most(1024)},
      .instead = std::move(instead),
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(bfb){
    allgather_by<BreadthFirst>(bfb({"all-port", "ring"})),
    reduce_scatter_by<BreadthFirst>(bfb({"all-port", "ring"})),
    allreduce_by<BreadthFirst>(bfb({"all-port", "ring"})),
};

}  // namespace wormcube
