// Follows an itinerary, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/itinerary.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace wormcube {

Itinerary::Itinerary(const Topology& topology, Rank root, Rank rank)
    : topology_(topology), rank_(rank) {
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    if (topology.size(d) == 1) continue;
    sizes_.push_back(topology.size(d));
    dimensions_.push_back(d);
    position.push_back(
        mod(topology.coordinate(rank, d) - topology.coordinate(root, d), topology.size(d)));
  }
}

void Itinerary::arrive(int step, std::span<const int> by) {
  Rank from = rank_;
  for (int axis = 0; axis < axes(); ++axis) {
    const int d = dimensions_[axis];
    from = topology_.with(from, d, mod(topology_.coordinate(rank_, d) - by[axis], sizes_[axis]));
  }
  arrive_from(step, from);
}

void Itinerary::depart(int step, std::span<const int> by) {
  const auto first = static_cast<std::uint32_t>(legs_.size());
  for (int axis = 0; axis < axes(); ++axis) {
    if (by[axis] != 0) legs_.push_back({dimensions_[axis], by[axis]});
  }
  departures_.push_back({phase_ + step, first, static_cast<std::uint32_t>(legs_.size()) - first});
}

void Itinerary::depart_along(int step, std::span<const Move> axis_moves) {
  const auto first = static_cast<std::uint32_t>(legs_.size());
  for (const Move& move : axis_moves) legs_.push_back({dimensions_[move.dimension], move.hops});
  departures_.push_back({phase_ + step, first, static_cast<std::uint32_t>(axis_moves.size())});
}

void travel(Node& node, const Call& call, const Itinerary& itinerary) {
  const Packets packets = packets_of(call.options);
  const Span message = call.output.all();
  const auto part = [&](int packet) {
    const Bytes begin = message.size() * packet / packets.count;
    return message.subspan(begin, message.size() * (packet + 1) / packets.count - begin);
  };
  const int tree_steps = itinerary.steps(), gap = packets.gap(tree_steps);
  require_packets("broadcast", packets, tree_steps);
  std::vector<Op> ops;
  const auto names = itinerary.names();  // of the first packet's path
  auto name = names.begin();
  for (int step = 0; step < packets.steps(tree_steps); ++step) {
    ops.clear();
    for (; name != names.end() && name->step == step; ++name) node.phase(name->text);
    // The packets under way: those whose first step was less than tree_steps ago.
    const int oldest = step < tree_steps ? 0 : (step - tree_steps) / gap + 1;
    for (int packet = oldest; packet < packets.count && packet * gap <= step; ++packet) {
      const int now = step - packet * gap;
      const auto arrivals = itinerary.arrivals();
      const auto departures = itinerary.departures();
      for (auto arrival = std::ranges::lower_bound(arrivals, now, {}, &Itinerary::Arrival::step);
           arrival != arrivals.end() && arrival->step == now; ++arrival) {
        ops.push_back(receive(arrival->from, part(packet)));
      }
      for (auto departure =
               std::ranges::lower_bound(departures, now, {}, &Itinerary::Departure::step);
           departure != departures.end() && departure->step == now; ++departure) {
        ops.push_back(send(itinerary.legs(*departure), ConstSpan(part(packet))));
      }
    }
    node.step(ops);
  }
}

std::vector<Rank> axis_sizes(const Topology& topology) {
  std::vector<Rank> sizes;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    if (topology.size(d) > 1) sizes.push_back(topology.size(d));
  }
  return sizes;
}

int rounds(Rank n, Rank base) {
  int t = 0;
  for (std::int64_t reached = 1; reached < n; reached *= base) ++t;
  return t;
}

void require_packets(std::string_view algorithm, const Packets& packets, int tree_steps) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (packets.steps(tree_steps) > most) {
    throw UsageError(fmt::format(
        "{}: {} packets, one every {} steps, take at least {} steps; at most {} can be counted; "
        "use fewer packets or a shorter period",
        algorithm, packets.count, packets.gap(tree_steps), packets.steps(tree_steps), most));
  }
}

void require_torus_broadcast(std::string_view algorithm, const Setting& setting) {
  const Topology& topology = setting.topology;
  require_packets(algorithm, packets_of(setting.options));
  if (!topology.all(Shape::ring)) {
    throw UsageError(
        fmt::format("{}: needs rings in all dimensions; {} has others; use umesh "
                    "or halving",
                    algorithm, topology.name()));
  }
}

Prediction predict_tree(int tree_steps, const Options& options) {
  const Packets packets = packets_of(options);
  // Steps between a packet that has arrived everywhere and the next one send nothing.
  const int idle = std::max(0, packets.gap(tree_steps) - tree_steps);
  const std::int64_t gaps = tree_steps > 0 ? packets.count - 1 : 0;
  const auto startups = static_cast<double>(packets.steps(tree_steps) - gaps * idle);
  return {.startups = startups,
          .transmission_blocks = startups / packets.count,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = tree_steps > 0 ? 1 : 0};
}

Option packets_option() {
  return {.name = "packets",
          .preset = 1,
          .least = 1,
          .most = 65536,
          .help = "number of packets into which the message is divided"};
}

Option period_option() {
  return {.name = "period",
          .least = 0,
          .most = 1 << 20,
          .help = "steps between packets; 0: each waits until the previous has arrived"};
}

Packets packets_of(const Options& options) {
  return {static_cast<int>(options.number("packets")), static_cast<int>(options.number("period"))};
}

Rank packet_parts(const Setting& setting) {
  return static_cast<Rank>(setting.options.number("packets"));
}

}  // namespace wormcube
