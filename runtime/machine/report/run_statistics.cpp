// Sums over nodes and links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/report/run_statistics.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/network/routers.hpp"

#include <algorithm>
#include <map>

namespace wormcube {
namespace {

CoreTimes core_times(const Surroundings& around, std::span<const EmulatedNode> nodes,
                     std::span<const NodeStatistics> of_nodes, std::chrono::nanoseconds wall,
                     int cores) {
  CoreTimes times = own_work_of(of_nodes);
  times.cores = cores;
  for (const EmulatedNode& node : nodes) times.moving_data += node.moving;
  const auto all = cores * wall;
  const auto known = times.computing + times.rearranging + times.combining + times.moving_data;
  const auto busy = std::max(known, std::min(around.executor.busy(wall), all));
  times.network = busy - known;
  times.idle = all - busy;
  return times;
}

}  // namespace

CoreTimes own_work_of(std::span<const NodeStatistics> nodes) {
  CoreTimes times;
  for (const NodeStatistics& node : nodes) {
    times.computing += node.local;
    times.rearranging += node.rearranging;
    times.combining += node.combining;
  }
  return times;
}

Statistics statistics_of_run(const Surroundings& around, std::span<const EmulatedNode> nodes,
                             std::chrono::nanoseconds wall, int cores) {
  Network& network = around.network;
  const Routing& routing = network.routing();
  Statistics result;
  result.wall = wall;
  result.nodes.reserve(nodes.size());
  std::uint64_t sent = 0, received = 0;
  for (const EmulatedNode& node : nodes) {
    result.nodes.push_back(node.statistics_with_peaks());
    if (around.options.messaging.unexpected_limit > 0)
      result.nodes.back().peak_unexpected_bytes = network.take_early_peak(node.rank());
    sent += node.statistics.messages;
    received += node.received_by_all();
  }
  if (around.options.messaging.allow_unreceived) {
    result.unreceived = network.unreceived();
  } else if (sent != received) {
    if (const auto leftover = network.leftover()) throw ProgramError(*leftover);
  }
  if (around.options.timing) result.cores = core_times(around, nodes, result.nodes, wall, cores);
  std::map<Channel, const LinkLane*> lanes;
  if (Routers* const routers = network.routers()) {
    routers->each_lane([&](const LinkLane& lane) {
      if (lane.is_used_in(network.run())) lanes.emplace(lane.channel.id(), &lane);
    });
  }
  network.each_channel([&](const VirtualChannel& channel) {  // a link's channels are neighbours
    const Link link = routing.link(channel.id());
    if (result.links.empty() || result.links.back().link != link)
      result.links.push_back({.link = link});
    LinkStatistics& of_link = result.links.back();
    of_link.messages += channel.messages();
    of_link.bytes += channel.bytes();
    of_link.blocked += channel.blocked();
    LinkStatistics::Channel& of_channel = of_link.channels[routing.virtual_channel(channel.id())];
    of_channel = {channel.messages(), channel.bytes()};
    if (const auto lane = lanes.find(channel.id()); lane != lanes.end()) {
      of_channel.occupancy = lane->second->occupancy();
      of_channel.waited = lane->second->waited_in(network.run());
    }
  });
  return result;
}

}  // namespace wormcube
