// Total exchange on any network: every block along its shortest paths, hop by hop.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/shortest_paths.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Parts first .. first + count - 1 of the block of `from` for `to`.
struct Run {
  Rank from, to;
  int first, count;
};

/// How many parts cross which link in which step, and which. It depends on the network, not on the
/// node.
class ExchangePlan {
 public:
  /// \param limit  the most whole blocks that a link carries in a step; 0: none, and blocks are cut
  /// \param counted  without `steps`, which a prediction does not need
  ExchangePlan(const Topology& topology, int limit, bool counted)
      : paths(ShortestPaths::of(topology)),
        parts(limit > 0 ? 1 : 12),
        colours(*paths),
        limit_(limit),
        counted_(counted),
        waiting_(at(paths->nodes()) * at(paths->nodes()), parts),
        runs_(counted ? 0 : waiting_.size()) {
    const Rank p = paths->nodes();
    for (Rank w = 0; w < p; ++w) {
      waiting_[pair(w, w)] = 0;
      for (Rank u = 0; u < p && !counted; ++u) runs_[pair(w, u)].push_back({w, u, 0, parts});
      destinations_.push_back(destinations_of(w));
    }
    for (std::int64_t left = std::int64_t{p} * (p - 1) * parts; left > 0;) left -= take_step();
  }

  /// Of a step, by node and neighbour.
  using Links = std::vector<std::vector<std::vector<Run>>>;

  const std::shared_ptr<const ShortestPaths> paths;
  const int parts;
  int startups = 0;
  std::int64_t moved = 0;  ///< parts on the busiest link, summed over the steps
  std::vector<Links> steps;
  /// The links of one colour after the other, for nodes of one port.
  const LinkColours colours;
  int coloured_startups = 0;
  std::int64_t coloured_moved = 0;
  std::vector<std::vector<int>> used_colours;  ///< by step

 private:
  /// A destination, and the neighbours that are nearer to it.
  struct Destination {
    Rank to;
    std::vector<std::size_t> hops;
  };
  /// What a node sends to a neighbour for a destination in a step.
  struct Sent {
    Rank from, next, to;
    std::size_t lane;
    std::int64_t count;
  };

  std::size_t pair(Rank w, Rank u) const { return at(w) * at(paths->nodes()) + at(u); }

  /// In the order in which a node gives them its links.
  std::vector<Destination> destinations_of(Rank w) const {
    std::vector<Destination> all;
    for (Rank u = 0; u < paths->nodes(); ++u) {
      if (u == w) continue;
      Destination& destination = all.emplace_back(Destination{u, {}});
      for (std::uint64_t set = paths->next_hops(w, u); set != 0; set &= set - 1)
        destination.hops.push_back(static_cast<std::size_t>(std::countr_zero(set)));
    }
    std::ranges::stable_sort(all, {}, [&](const Destination& each) {
      return std::pair(limit_ > 0 ? -paths->distance(w, each.to) : 0, each.hops.size());
    });
    return all;
  }

  /// \return  the parts that have come to their nodes
  std::int64_t take_step() {
    std::vector<Sent> sent;
    std::int64_t busiest = 0, arrived = 0;
    std::vector<std::int64_t> loads;
    for (Rank w = 0; w < paths->nodes(); ++w) {
      loads.assign(paths->neighbours(w).size(), 0);
      limit_ > 0 ? send_within_limit(w, loads, sent) : send_all(w, loads, sent);
      for (const std::int64_t load : loads) busiest = std::max(busiest, load);
    }
    ++startups;
    moved += busiest;
    count_colours(sent);
    if (!counted_) {
      Links& links = steps.emplace_back(at(paths->nodes()));
      for (Rank w = 0; w < paths->nodes(); ++w) links[at(w)].resize(paths->neighbours(w).size());
      for (const Sent& each : sent)
        take(runs_[pair(each.from, each.to)], each.count, links[at(each.from)][each.lane]);
      for (Rank w = 0; w < paths->nodes(); ++w) {
        for (std::size_t lane = 0; lane < links[at(w)].size(); ++lane) {
          for (const Run& run : links[at(w)][lane])
            runs_[pair(paths->neighbours(w)[lane], run.to)].push_back(run);
        }
      }
    }
    for (const Sent& each : sent) {
      (each.next == each.to ? arrived : waiting_[pair(each.next, each.to)]) += each.count;
    }
    return arrived;
  }

  void count_colours(const std::vector<Sent>& sent) {
    std::map<std::pair<Rank, std::size_t>, std::int64_t> loads;
    for (const Sent& each : sent) loads[{each.from, each.lane}] += each.count;
    std::map<int, std::int64_t> busiest;
    for (const auto& [link, load] : loads) {
      std::int64_t& most = busiest[colours.of(link.first, link.second)];
      most = std::max(most, load);
    }
    std::vector<int>& used = used_colours.emplace_back();
    for (const auto& [colour, load] : busiest) {
      used.push_back(colour);
      coloured_moved += load;
    }
    coloured_startups += static_cast<int>(used.size());
  }

  /// The first `count` parts of what waits.
  static void take(std::deque<Run>& waiting, std::int64_t count, std::vector<Run>& to) {
    while (count > 0) {
      Run& first = waiting.front();
      const auto now = static_cast<int>(std::min<std::int64_t>(count, first.count));
      to.push_back({first.from, first.to, first.first, now});
      count -= now;
      first.first += now, first.count -= now;
      if (first.count == 0) waiting.pop_front();
    }
  }
  void send(Rank w, Rank to, std::size_t lane, std::int64_t count, std::vector<Sent>& sent) {
    if (count == 0) return;
    waiting_[pair(w, to)] -= count;
    sent.push_back({w, paths->neighbours(w)[lane], to, lane, count});
  }

  // All next hops of a destination get alike; what is left over goes to those with the least load.
  void send_all(Rank w, std::vector<std::int64_t>& loads, std::vector<Sent>& sent) {
    for (const Destination& each : destinations_[at(w)]) {
      const std::int64_t share =
          waiting_[pair(w, each.to)] / static_cast<std::int64_t>(each.hops.size());
      for (const std::size_t hop : each.hops) loads[hop] += share;
    }
    std::vector<std::size_t> lightest;
    for (const Destination& each : destinations_[at(w)]) {
      const std::int64_t here = waiting_[pair(w, each.to)];
      const auto hops = static_cast<std::int64_t>(each.hops.size());
      if (here == 0) continue;
      lightest = each.hops;
      std::ranges::stable_sort(lightest, {}, [&](std::size_t hop) { return loads[hop]; });
      lightest.resize(static_cast<std::size_t>(here % hops));
      for (const std::size_t hop : lightest) ++loads[hop];
      for (const std::size_t hop : each.hops)
        send(w, each.to, hop, here / hops + std::ranges::count(lightest, hop), sent);
    }
  }

  // The farthest first; the rest waits.
  void send_within_limit(Rank w, std::vector<std::int64_t>& loads, std::vector<Sent>& sent) {
    auto open = static_cast<std::int64_t>(loads.size()) * limit_;
    for (const Destination& each : destinations_[at(w)]) {
      if (open == 0) return;
      while (waiting_[pair(w, each.to)] > 0) {
        const std::size_t hop =
            *std::ranges::min_element(each.hops, {}, [&](std::size_t i) { return loads[i]; });
        if (loads[hop] == limit_) break;
        ++loads[hop], --open;
        send(w, each.to, hop, 1, sent);
      }
    }
  }

  const int limit_;
  const bool counted_;
  std::vector<std::vector<Destination>> destinations_;  // by node
  std::vector<std::int64_t> waiting_;                   // parts, by node and destination
  std::vector<std::deque<Run>> runs_;                   // first come, first served
};

int limit_of(const Options& options) { return static_cast<int>(options.number("limit")); }

std::shared_ptr<const ExchangePlan> plan_of(const Topology& topology, const Options& options,
                                            bool counted) {
  static RecentlyMade<std::tuple<Topology, int, bool>, ExchangePlan> made;
  return made({topology, limit_of(options), counted},
              [&] { return ExchangePlan(topology, limit_of(options), counted); });
}

/// One node's part of a plan, and what lies there between two hops.
class Station {
 public:
  Station(Node& node, const ExchangePlan& plan, ConstBlocks in, Blocks out)
      : node_(node), plan_(plan), in_(in), out_(out) {}

  /// \param colour  of the links that are used; -1: all
  void take_step(const ExchangePlan::Links& links, int colour) {
    const Rank r = node_.rank();
    const auto is_used = [&](Rank w, std::size_t lane) {
      return !links[at(w)][lane].empty() && (colour < 0 || plan_.colours.of(w, lane) == colour);
    };
    std::vector<Op> ops;
    std::vector<std::vector<Span>> pieces;  // of each message
    for (std::size_t i = 0; const Rank w : plan_.paths->neighbours(r)) {
      const std::size_t lane = i++;
      if (!is_used(r, lane)) continue;
      const std::vector<Run>& runs = links[at(r)][lane];
      auto& sent = pieces.emplace_back();
      for (const Run& run : runs) sent.push_back(lying(run));
      ops.push_back(send_pieces(w, sent));
    }
    Bytes coming = 0;
    for (const Rank w : plan_.paths->neighbours(r)) {
      const std::size_t lane = plan_.paths->lane(w, r);
      if (!is_used(w, lane)) continue;
      for (const Run& run : links[at(w)][lane]) coming += run.to == r ? 0 : bytes(run);
    }
    const std::size_t batch = batches_.size();
    batches_.push_back({node_.memory(coming, Purpose::blocks), 0});
    Bytes used = 0;
    for (const Rank w : plan_.paths->neighbours(r)) {
      const std::size_t lane = plan_.paths->lane(w, r);
      if (!is_used(w, lane)) continue;
      auto& received = pieces.emplace_back();
      for (const Run& run : links[at(w)][lane]) {
        if (run.to == r) {
          received.push_back(out_[run.from].subspan(begin(run.first), bytes(run)));
        } else {
          received.push_back(batches_[batch].memory->subspan(used, bytes(run)));
          used += bytes(run);
          batches_[batch].parts += run.count;
          lying_[{run.from, run.to}].push_back({run, received.back(), batch});
        }
      }
      ops.push_back(receive_pieces(w, received));
    }
    node_.step(ops);
    for (const std::size_t sent : left_) {
      if (batches_[sent].parts == 0) batches_[sent].memory.reset();
    }
    left_.clear();
  }

 private:
  struct Lying {
    Run run;
    Span data;
    std::size_t batch;
  };
  /// What came in one step.
  struct Batch {
    std::optional<Memory> memory;
    int parts;  // that are still here
  };

  /// Where a run that leaves now lies.
  Span lying(const Run& run) {
    if (run.from == node_.rank())
      return only_read(in_[run.to].subspan(begin(run.first), bytes(run)));
    for (const Lying& each : lying_.at({run.from, run.to})) {
      if (run.first < each.run.first || run.first >= each.run.first + each.run.count) continue;
      batches_[each.batch].parts -= run.count;
      left_.push_back(each.batch);
      return each.data.subspan(begin(run.first) - begin(each.run.first), bytes(run));
    }
    throw std::logic_error("a part leaves before it has come");
  }
  /// In a block.
  Bytes begin(int first) const {
    return in_[0].size() * static_cast<Bytes>(first) / static_cast<Bytes>(plan_.parts);
  }
  Bytes bytes(const Run& run) const { return begin(run.first + run.count) - begin(run.first); }

  Node& node_;
  const ExchangePlan& plan_;
  ConstBlocks in_;
  Blocks out_;
  std::map<std::pair<Rank, Rank>, std::vector<Lying>> lying_;  // by source and destination
  std::vector<Batch> batches_;
  std::vector<std::size_t> left_;  // batches of which parts leave in this step
};

/// Total exchange: every block goes to its node along its shortest paths, one hop in each step.
/// Without a limit each node sends on all that it holds: parts of a block divide among the next
/// hops, so that the node's links carry alike. With a limit a link carries at most that many whole
/// blocks in a step, those with the farthest to go first; the others wait.
///
/// Network  any whose vertices are all nodes, of up to 64 ports; all-port.
/// Cost     without a limit D steps, D the diameter, and the bound on many symmetric networks: the
///          busiest link of each step, from the plan. With a limit more steps; lines, trees and
///          damaged meshes then meet the bound.
/// Links    each carries one message in a step.
/// Source   ours; the paths: P. Basu, L. Zhao, J. Fantl, S. Pal, A. Krishnamurthy, J. Khoury,
///          Efficient All-to-All Collective Communication Schedules for Direct-Connect Topologies,
///          HPDC 2024, arXiv:2309.13541, which finds them by a linear program.
void exchange_on_shortest_paths(Node& node, const Call& call) {
  const auto plan = plan_of(node.topology(), call.options, false);
  node.local([&] { copy(call.input[node.rank()], call.output[node.rank()]); });
  Station station(node, *plan, call.input, call.output);
  for (const ExchangePlan::Links& links : plan->steps) station.take_step(links, -1);
}

/// The same on nodes of one port: the links of one colour after the other.
void exchange_by_colours(Node& node, const Call& call) {
  const auto plan = plan_of(node.topology(), call.options, false);
  node.local([&] { copy(call.input[node.rank()], call.output[node.rank()]); });
  Station station(node, *plan, call.input, call.output);
  for (std::size_t step = 0; step < plan->steps.size(); ++step) {
    for (const int colour : plan->used_colours[step]) station.take_step(plan->steps[step], colour);
  }
}

template <bool one_port>
Prediction predict_shortest_paths(const Setting& setting) {
  const auto plan = plan_of(setting.topology, setting.options, true);
  const double blocks =
      static_cast<double>(one_port ? plan->coloured_moved : plan->moved) / plan->parts;
  const int startups = one_port ? plan->coloured_startups : plan->startups;
  Prediction prediction{static_cast<double>(startups), blocks, 0};
  prediction.link_load = setting.topology.nodes() > 1 ? 1 : 0;
  prediction.link_blocks = blocks;
  return prediction;
}

Algorithm shortest_paths() {
  return {
      .operation = operations::alltoall,
      .name = "shortest-paths",
      .summary =
          "parts of every block along all shortest paths, hop by hop; any network without "
          "switches",
      .source = "ours; paths: Basu et al., HPDC 2024 (arXiv:2309.13541)",
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .neighbours_only = true,
      .options = {{.name = "limit",
                   .preset = 0,
                   .least = 0,
                   .most = 4096,
                   .help = "most blocks on a link in a step; 0: no limit, and blocks are cut",
                   .tried = {1, 2, 4, 8, 16, 32, 64}}},
      .needs = {needs::only_nodes_of_few_ports(), needs::nodes_at_most(256)},
      .instead = {"shift"},
      .predict = predict_shortest_paths<false>,
      .program = exchange_on_shortest_paths,
      .parts = [](const Setting& setting) { return limit_of(setting.options) > 0 ? 1 : 12; },
  };
}

Algorithm shortest_paths_one_port() {
  Algorithm algorithm = shortest_paths();
  algorithm.name = "shortest-paths-one-port";
  algorithm.summary =
      "shortest-paths for nodes of one port: its links of one colour after the other";
  algorithm.source = "ours; paths: Basu et al., HPDC 2024; colours: Koenig 1916";
  algorithm.ports = Ports::one;
  algorithm.predict = predict_shortest_paths<true>;
  algorithm.program = exchange_by_colours;
  return algorithm;
}

}  // namespace

WORMCUBE_ALGORITHMS(alltoall_shortest_paths){shortest_paths(), shortest_paths_one_port()};

}  // namespace wormcube
