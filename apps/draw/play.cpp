// Messages, traffic and work of a player, packed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/play.hpp"

#include <algorithm>
#include <map>

namespace wormcube::apps {

PlayMessages pack_messages(const Schedule& schedule, const Routing& routing, const Layout& layout) {
  PlayMessages result;
  std::map<Bytes, std::size_t> sizes;
  std::map<std::vector<int>, std::size_t> indices;
  Packer packer;
  std::vector<int> path;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    const std::vector<DrawnMessage> messages = messages_of(schedule, routing, step);
    packer.put(messages.size());
    Rank last = 0;
    for (const DrawnMessage& message : messages) {
      path.clear();
      for (const Channel channel : message.route) {
        path.push_back(layout.lanes[static_cast<std::size_t>(routing.link(channel))].slot);
      }
      packer.put(static_cast<std::uint64_t>(message.from - last));
      packer.put_signed(message.to - message.from);
      const auto size = sizes.try_emplace(message.bytes, sizes.size());
      if (size.second) result.sizes.push_back(message.bytes);
      packer.put(size.first->second);
      const auto entry = indices.try_emplace(path, indices.size());
      if (entry.second) result.ways.push_back(path);
      packer.put(entry.first->second);
      last = message.from;
    }
    result.count += messages.size();
  }
  result.packed = packer.packed();
  return result;
}

GroupTraffic group_traffic(const Schedule& schedule) {
  constexpr Rank most_groups = 64;
  const Rank nodes = schedule.topology.nodes();
  GroupTraffic result;
  result.per = (nodes + most_groups - 1) / most_groups;
  result.groups = (nodes + result.per - 1) / result.per;
  const auto groups = static_cast<std::size_t>(result.groups);
  result.bytes.resize(groups * groups), result.messages.resize(groups * groups);
  for (Rank rank = 0; rank < nodes; ++rank) {
    for (const OpRecord& op : schedule.ranks[static_cast<std::size_t>(rank)].ops) {
      if (op.kind != Op::Kind::send) continue;
      const std::size_t at = static_cast<std::size_t>(rank / result.per) * groups +
                             static_cast<std::size_t>(op.peer / result.per);
      result.bytes[at] += op.bytes;
      ++result.messages[at];
    }
  }
  return result;
}

Packed pack_works(const Schedule& schedule) {
  const std::size_t gaps = schedule.steps() + 1;
  const auto works = [](const RankLog& log) {
    return !log.rearranged.filled().empty() || !log.combined.filled().empty();
  };
  if (2 * gaps * schedule.ranks.size() > most_works ||
      std::ranges::none_of(schedule.ranks, works)) {
    return {};
  }
  Packer packer;
  for (const RankLog& log : schedule.ranks) {
    for (std::size_t gap = 0; gap < gaps; ++gap) {
      packer.put(log.rearranged[gap]);
      packer.put(log.combined[gap]);
    }
  }
  return packer.packed();
}

}  // namespace wormcube::apps
