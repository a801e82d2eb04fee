// The lanes and ports of all routers, and what they say in a deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/routers.hpp"

#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/network/router_task.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Routers::Routers(Network& network, NetworkHost& host, RouterSettings settings, bool all_port)
    : network_(network),
      host_(host),
      settings_(std::move(settings)),
      all_port_(all_port),
      nodes_(network.routing().topology().nodes()),
      lanes_(static_cast<std::size_t>(network.routing().channels())),
      ports_(static_cast<std::size_t>(all_port ? network.routing().topology().links() + nodes_
                                               : Link{nodes_})) {
  for (int i = 0; i < settings_.tasks; ++i)
    tasks_.push_back(std::make_unique<RouterTask>(*this, i));
}
Routers::~Routers() = default;

void Routers::launch(Worm& worm) noexcept {
  worm.input = nullptr;
  const int task = task_of(worm.from);
  tasks_[static_cast<std::size_t>(task)]->give(worm);
  host_.call_router(task);
}

void Routers::resume(Worm& worm) noexcept {
  const int task = task_of(worm.to);
  tasks_[static_cast<std::size_t>(task)]->give(worm);
  host_.call_router(task);
}

void Routers::run(int task) noexcept { tasks_[static_cast<std::size_t>(task)]->run(); }

// The routers of a network's switches: one task works all of a line's.
int Routers::task_at(Link link, Rank end) const {
  if (end >= 0) return task_of(end);
  return network_.routing().topology().place(link).line % tasks();
}

LinkFault Routers::fault_of(Link link) const {
  const Graph::Ends ends = network_.routing().topology().link_ends(link);
  for (const FaultyLink& faulty : settings_.faults) {
    if (faulty.from == ends.from && faulty.to == ends.to) return faulty.fault;
  }
  return LinkFault::none;
}

LinkLane& Routers::lane(const Worm& worm, std::size_t entry) {
  auto& channel = static_cast<VirtualChannel&>(*worm.path[entry]);
  const auto index = static_cast<std::size_t>(channel.id());
  if (LinkLane* const known = lanes_.find(index)) return *known;
  const Link link = network_.routing().link(channel.id());
  const Graph::Ends ends = network_.routing().topology().link_ends(link);
  return lanes_.get(index, channel, settings_.capacity, task_at(link, ends.from),
                    task_at(link, ends.to), fault_of(link));
}

Routers::Ports& Routers::ports(const Worm& worm, bool at_end) {
  const Topology& topology = network_.routing().topology();
  if (!all_port_) return ports_.get(static_cast<std::size_t>(at_end ? worm.to : worm.from));
  const auto channels = worm.channels();
  if (channels.empty()) return ports_.get(static_cast<std::size_t>(topology.links() + worm.from));
  const auto* const channel =
      static_cast<const VirtualChannel*>(at_end ? channels.back() : channels.front());
  return ports_.get(static_cast<std::size_t>(network_.routing().link(channel->id())));
}

void Routers::each_lane(const std::function<void(const LinkLane&)>& f) const { lanes_.each(f); }

std::string Routers::description() const {
  const Routing& routing = network_.routing();
  const auto name = [&](const LinkLane& lane) { return routing.channel_name(lane.channel.id()); };
  const auto ends = [&](const LinkLane& lane) {
    return routing.topology().link_ends(routing.link(lane.channel.id()));
  };
  const auto flits = [](std::uint64_t count) { return count == 1 ? "flit" : "flits"; };
  // A worm holds the lane that its tail has not entered, or in which it has flits.
  struct State {
    std::string waits, holds, stalled;
  };
  std::map<std::tuple<Rank, Rank, const Worm*>, State> worms;
  const auto state_of = [&](const Worm& worm) -> State& {
    return worms[{worm.from, worm.to, &worm}];
  };
  std::string lost;
  lanes_.each([&](const LinkLane& lane) {
    const Worm* const owner = lane.holder != nullptr ? lane.holder->worm : lane.worm_in_front();
    if (owner != nullptr) {
      State& state = state_of(*owner);
      state.holds += fmt::format("{}{} ({} of {} {})", state.holds.empty() ? "" : ", ", name(lane),
                                 lane.held(), lane.capacity(), flits(lane.capacity()));
      if (lane.fault == LinkFault::stall)
        state.stalled = fmt::format("; the link is stalled (--fault {}-{}:stall)", ends(lane).from,
                                    ends(lane).to);
    }
    for (const Input* input = lane.waiting.first; input != nullptr; input = input->next) {
      state_of(*input->worm).waits =
          fmt::format("head waits at node {} for link {}, held by {} -> {}", ends(lane).from,
                      name(lane), lane.holder->worm->from, lane.holder->worm->to);
    }
    if (lane.lost > 0)
      lost += fmt::format("\nlink {}: {} {} lost (drop)", name(lane), lane.lost, flits(lane.lost));
  });
  std::string text;
  constexpr std::size_t most = 64;
  std::size_t rows = 0;
  for (const auto& [key, state] : worms) {
    if (++rows > most) continue;
    const Worm& worm = *std::get<const Worm*>(key);
    text += fmt::format("\nworm {} -> {}, {} byte{}: {}{}{}{}{}", worm.from, worm.to, worm.bytes,
                        worm.bytes == 1 ? "" : "s", state.waits,
                        state.waits.empty() || state.holds.empty() ? "" : "; ",
                        state.holds.empty() ? "" : "holds ", state.holds, state.stalled);
  }
  if (rows > most) text += fmt::format("\n   ... and {} more worms", rows - most);
  return text + lost;
}

void Routers::reset() {
  for (const auto& task : tasks_) task->reset();
  lanes_.each([](LinkLane& lane) { lane.reset(); });
  ports_.each([](Ports& ports) {
    ports.injection = {};
    ports.ejection = {};
  });
}

}  // namespace wormcube
