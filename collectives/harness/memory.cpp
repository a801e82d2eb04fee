// Estimates the memory of a program from dry runs of a few ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/memory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/lane.hpp"
#include "wormcube/runtime/network/tag_table.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr double channel_bytes = sizeof(VirtualChannel) + 48;  // what the heap adds to a block

/// What one rank's program does in its dry run, besides what the log has.
struct Counts {
  double pieces = 0;
  // Since a plan exists.
  double messages = 0, placed_messages = 0, placed_pieces = 0, local_works = 0;
};

/// A node in a dry run, counted.
class CountingNode final : public ForwardingNode {
 public:
  CountingNode(Node& node, Counts& counts) : ForwardingNode(node), counts_(counts) {}

  using Node::step;
  void step(std::span<const Op> ops) override {
    const bool has_plan = plans().size() > 0;
    const std::less<const void*> before;
    for (const Op& op : ops) {
      const auto pieces = op.pieces();
      counts_.pieces += static_cast<double>(pieces.size());
      // An op of one piece holds it itself; pieces that a plan places are elsewhere.
      const bool placed = before(pieces.data(), &op) || !before(pieces.data(), &op + 1);
      if (!has_plan) continue;
      ++counts_.messages;
      if (!placed) continue;
      ++counts_.placed_messages;
      counts_.placed_pieces += static_cast<double>(pieces.size());
    }
    ForwardingNode::step(ops);
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    if (plans().size() > 0) ++counts_.local_works;
    ForwardingNode::work(charge, bytes, work);
  }

  Counts& counts_;
};

/// A plan keeps a word for each message (collectives/alltoall/product/), or, if it places pieces
/// (collectives/kit/block_array.cpp), its op and their addresses, and for own work up to 1024
/// copies, at most one for each block.
double plan_bytes(const Counts& counts, Rank nodes) {
  constexpr double message = 150, slice = 8, copy = 12, most_copies = 1024;
  if (counts.placed_messages == 0) return counts.messages * sizeof(Rank);
  return counts.placed_messages * message + counts.placed_pieces * slice +
         counts.local_works * copy * std::min<double>(nodes, most_copies);
}

/// Bytes of a message in the run.
double bytes_in_run(const OpRecord& op, const NetworkMemory& network) {
  return static_cast<double>(op.bytes) * network.scale;
}
bool is_short(double bytes, const NetworkMemory& network) {
  return bytes <= static_cast<double>(network.eager_limit);
}

/// The memory of a rank's messages if all arrive before their receives: only short ones count.
double unexpected_bytes(const RankLog& log, const NetworkMemory& network) {
  std::size_t messages = 0;
  double longest = 0;
  for (const OpRecord& op : log.ops) {
    const double bytes = bytes_in_run(op, network);
    if (op.kind != Op::Kind::receive || !is_short(bytes, network)) continue;
    ++messages;
    longest = std::max(longest, bytes);
  }
  return static_cast<double>(TagTable::bytes_of_early(messages, static_cast<Bytes>(longest)));
}

/// The channels that messages take, each once.
class TakenChannels {
 public:
  void add(const std::vector<Channel>& route) {
    new_.insert(new_.end(), route.begin(), route.end());
  }
  /// Now and then, so that few are kept more than once.
  void settle() {
    std::ranges::sort(new_);
    new_.erase(std::unique(new_.begin(), new_.end()), new_.end());
    both_.clear();
    std::ranges::set_union(all_, new_, std::back_inserter(both_));
    std::swap(all_, both_);
    new_.clear();
  }
  double count(double scale, const Routing& routing) const {
    return std::min(static_cast<double>(all_.size()) * scale,
                    static_cast<double>(routing.channels()));
  }

 private:
  std::vector<Channel> all_, new_, both_;
};

/// The channels that the messages of the sampled ranks take.
double channels_taken(const Schedule& sample, const Topology& topology,
                      const NetworkMemory& network, double scale) {
  const Routing routing(topology, network.virtual_channels);
  TakenChannels taken;
  std::vector<Channel> route;
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    for (const OpRecord& op : sample.ranks[static_cast<std::size_t>(rank)].ops) {
      if (op.kind != Op::Kind::send) continue;
      route.clear();
      if (const auto moves = sample.moves(rank, op); moves.empty()) {
        routing.route(rank, op.peer, route);
      } else {
        routing.route(rank, moves, route);
      }
      taken.add(route);
    }
    taken.settle();
  }
  return taken.count(scale, routing);
}

// Collectives are oblivious and their ranks similar: on a large machine every stride-th rank
// represents all.
Rank stride_of_sample(const Topology& topology) {
  constexpr Rank tried_ranks = 64;
  return std::max(1, topology.nodes() / tried_ranks);
}

/// A program's need, and the dry run of the ranks that it is estimated from.
struct Sample {
  MemoryNeed need;
  Schedule schedule;
};

Sample sample_of(const Topology& topology, const Program& program, Rank root,
                 const NetworkMemory* network, std::pair<Rank, Rank> here, std::string_view what) {
  const Rank stride = stride_of_sample(topology);
  const auto is_tried = [&](Rank rank) { return rank % stride == 0 || rank == root; };
  std::vector<Counts> counts(static_cast<std::size_t>(topology.nodes() / stride) + 2);
  const auto counts_of = [&](Rank rank) -> Counts& {
    return rank % stride == 0 ? counts[static_cast<std::size_t>(rank / stride)] : counts.back();
  };
  Schedule sample = record(
      topology,
      [&](Node& node) {
        if (!is_tried(node.rank())) return;
        CountingNode counting(node, counts_of(node.rank()));
        program(counting);
      },
      what);
  MemoryNeed need;
  double tried = 0, tried_here = 0;
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    if (!is_tried(rank)) continue;
    const RankLog& log = sample.ranks[static_cast<std::size_t>(rank)];
    ++tried;
    need.nodes += static_cast<double>(log.peak_bytes);
    if (here.first <= rank && rank < here.second) {
      ++tried_here;
      need.here += static_cast<double>(log.peak_bytes);
    }
    need.plans += plan_bytes(counts_of(rank), topology.nodes());
    need.pieces += counts_of(rank).pieces;
    if (network != nullptr) need.early += unexpected_bytes(log, *network);
    need.schedule += static_cast<double>(
        log.ops.size() * sizeof(OpRecord) + log.moves.size() * sizeof(Move) +
        log.step_ends.size() * sizeof(std::uint32_t) +
        (log.rearranged.filled().size() + log.combined.filled().size()) * sizeof(GapBytes::Gap) +
        sizeof(RankLog));
  }
  const double scale = topology.nodes() / tried;
  for (double* sum : {&need.nodes, &need.schedule, &need.plans, &need.pieces, &need.early})
    *sum *= scale;
  const double nodes_here = here.second - here.first;
  need.here = tried_here > 0 ? need.here * nodes_here / tried_here
                             : need.nodes * nodes_here / topology.nodes();
  if (network != nullptr) {
    const double channels = channels_taken(sample, topology, *network, scale);
    need.channels = channels * channel_bytes;
    if (network->capacity > 0) {  // a ring of one more than it holds
      need.queues = channels * (static_cast<double>((network->capacity + 1) * sizeof(Flit)) +
                                sizeof(LinkLane));
    }
  }
  return {need, std::move(sample)};
}

void require_recordable(const MemoryNeed& need, std::string_view what, const Topology& topology,
                        std::int64_t most_pieces, std::string_view way_out) {
  require_memory(fmt::format("{}: the recorded schedule", what),
                 need.schedule + static_cast<double>(topology.routing_table_bytes()),
                 "use fewer nodes");
  if (need.pieces > static_cast<double>(most_pieces)) {
    throw UsageError(
        fmt::format("{}: the dry run would visit {:.0f} pieces of messages, {:.0f} for each node; "
                    "the limit is {}; use fewer nodes or another algorithm{}",
                    what, need.pieces, need.pieces / topology.nodes(), most_pieces, way_out));
  }
}

}  // namespace

MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root,
                       const NetworkMemory* network, std::pair<Rank, Rank> here) {
  return sample_of(topology, program, root, network, here, {}).need;
}

MemoryNeed need_to_record(std::string_view what, const Topology& topology, const Program& program,
                          Rank root, std::int64_t most_pieces, std::string_view way_out) {
  const MemoryNeed need = memory_need(topology, program, root);
  require_recordable(need, what, topology, most_pieces, way_out);
  return need;
}

Schedule record_within_limits(std::string_view what, const Topology& topology,
                              const Program& program, Rank root, std::string_view title,
                              std::int64_t most_pieces) {
  {
    auto [need, schedule] = sample_of(topology, program, root, nullptr, {0, 0}, title);
    require_recordable(need, what, topology, most_pieces, {});
    if (stride_of_sample(topology) == 1) return std::move(schedule);  // of all ranks
  }
  return record(topology, program, title);
}

void require_queues(std::string_view what, const MemoryNeed& need, const NetworkMemory* network) {
  if (need.queues == 0) return;
  require_available(fmt::format("{}: memory for queues of {} flits each", what, network->capacity),
                    need.queues, "use a smaller --capacity");
}

}  // namespace wormcube
