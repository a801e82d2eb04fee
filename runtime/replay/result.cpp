// What a simulation reports at its end, including a deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

Replay Simulation::result() {
  Replay replay;
  replay.events = events_;
  if (!queue_.empty()) {
    replay.stopped = true;  // by the loop
  } else if (finished_ < nodes_.size()) {
    describe_deadlock(replay);
  } else {
    const Ticks time = finish_.empty() ? 0 : *std::ranges::max_element(finish_);
    replay.stopped = time > options_.limit;  // own work after a node's last step
    if (!replay.stopped) replay.time = time;
  }
  replay.finish = std::move(finish_);
  replay.steps = std::move(steps_);
  for (const ReplayedMessage& message : messages_) {
    const Ticks lost = message.waited + message.shared;
    replay.blocked += lost > 0 ? 1 : 0;
    replay.lost += lost;
  }
  replay.messages = std::move(messages_);
  std::ranges::sort(waits_, [](const ReplayedWait& a, const ReplayedWait& b) {
    return std::tuple(a.message, a.from, a.holder) < std::tuple(b.message, b.from, b.holder);
  });
  replay.waits = std::move(waits_);
  for (const Resource& resource : resources_) {
    if (resource.channel < 0 || resource.messages == 0) continue;
    replay.channels.push_back({resource.channel, resource.messages, resource.flits,
                               resource.flits * model_.flit, resource.waited});
  }
  std::ranges::sort(replay.channels, {}, &ReplayedChannel::channel);
  return replay;
}

void Simulation::describe_deadlock(Replay& replay) const {
  std::vector<Index> waiting;
  for (std::size_t w = 0; w < worms_.size(); ++w) {
    if (worms_[w].message != none) waiting.push_back(static_cast<Index>(w));
  }
  std::ranges::sort(waiting, {}, [&](Index w) {
    const ReplayedMessage& m = message_of(worms_[static_cast<std::size_t>(w)]);
    return std::tuple(m.step, m.from, m.index);
  });
  const auto worm = [&](Index w) -> const Worm& { return worms_[static_cast<std::size_t>(w)]; };
  const auto wanted = [&](Index w) -> const Resource& {
    const Worm& it = worm(w);
    return resources_[static_cast<std::size_t>(it.at(it.granted_to + 1).resource)];
  };
  const auto waits = [&](Index w) {
    if (worm(w).granted_to == worm(w).last) return false;
    Index at = wanted(w).first_waiting;
    while (at != none && at != w) at = worm(at).next_waiting;
    return at == w;
  };
  const auto name = [&](const Resource& resource, Index w) {
    const ReplayedMessage& m = message_of(worm(w));
    return resource.channel < 0 ? fmt::format("the port of node {}", m.to)
                                : routing_.channel_name(resource.channel);
  };
  const auto title = [&](Index w) {
    const ReplayedMessage& m = message_of(worm(w));
    return fmt::format("{} to {} (step {})", m.from, m.to, m.step);
  };
  std::erase_if(waiting, [&](Index w) { return !waits(w); });
  // Along the holders, any worm leads to a cycle.
  std::vector<Index> along;
  for (Index at = waiting.empty() ? none : waiting.front();
       at != none && std::ranges::find(along, at) == along.end(); at = wanted(at).holder) {
    along.push_back(at);
    if (wanted(at).holder == none || !waits(wanted(at).holder)) break;
  }
  if (!along.empty()) {
    const Index again = wanted(along.back()).holder;
    const auto begin = std::ranges::find(along, again);
    for (auto at = begin; at != along.end(); ++at) replay.cycle.push_back(wanted(*at).channel);
  }
  std::string& text = replay.deadlock;
  text = fmt::format("the modelled network is in deadlock after {} us: {} messages wait",
                     microseconds_text(now_), waiting.size());
  if (!replay.cycle.empty()) {
    text += fmt::format("; a cycle of {} channels: ", replay.cycle.size());
    constexpr std::size_t named = 8;
    for (std::size_t i = 0; i < std::min(named, replay.cycle.size()); ++i) {
      text += (i > 0 ? ", " : "") + routing_.channel_name(replay.cycle[i]);
    }
    if (replay.cycle.size() > named) text += ", ..";
  }
  constexpr std::size_t listed = 20;
  for (std::size_t i = 0; i < std::min(listed, waiting.size()); ++i) {
    const Index w = waiting[i];
    const Worm& it = worm(w);
    text += fmt::format("\n  {} waits for {} since {} us", title(w), name(wanted(w), w),
                        microseconds_text(it.at(it.granted_to + 1).requested));
    if (wanted(w).holder != none) text += fmt::format(", held by {}", title(wanted(w).holder));
    if (it.granted_to >= it.released) {
      text += "; it holds";
      for (std::int32_t stage = it.released; stage <= it.granted_to; ++stage) {
        const Resource& held = resources_[static_cast<std::size_t>(it.at(stage).resource)];
        text += (stage > it.released ? ", " : " ") + name(held, w);
      }
    }
  }
  if (waiting.size() > listed) text += fmt::format("\n  .. and {} more", waiting.size() - listed);
}

}  // namespace wormcube
