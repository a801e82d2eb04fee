// Packets: a request and a grant for each packet and stage, and nothing held while one waits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

namespace wormcube {

/// The message's start-up is over: the worm becomes its first packet.
void Simulation::first_packet(Index index) {
  Worm& worm = worm_at(index);
  worm.first_flit = 0;
  worm.is_last = worm.flits <= model_.packet;
  worm.is_sent = !worm.is_last;
  worm.flits = std::min(worm.flits, model_.packet);
  ask_when_there(index);
}

/// The packet has requested its link: the one behind it comes through the injection port.
void Simulation::next_packet(Index index) {
  if (worm_at(index).is_last) return;
  const Index next = blank_worm(worm_at(index).message);
  Worm& before = worm_at(index);
  Worm& worm = worm_at(next);
  const std::int64_t all = model_.flits(message_of(before).bytes);
  worm.stages = before.stages;
  for (Stage& stage : worm.stages) stage = {.resource = stage.resource};
  worm.last = before.last;
  worm.first_flit = before.first_flit + before.flits;
  worm.flits = std::min(model_.packet, all - worm.first_flit);
  worm.is_last = worm.first_flit + worm.flits == all;
  worm.is_sent = !worm.is_last;
  worm.after = before.after;  // follows the last packet through the port
  before.after = none;
  ask_when_there(next);
}

/// So that its last flit has passed the port just in time.
void Simulation::ask_when_there(Index index) {
  const Worm& worm = worm_at(index);
  const Ticks ready = message_of(worm).ready;
  ask_later(index, ready + (worm.first_flit + worm.flits - 1) * model_.port_flit() -
                       (worm.flits - 1) * model_.flit);
}

/// Buses come before links: a packet that is granted one may request its first link in the same
/// tick.
void Simulation::grant_buses() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const Index index = touched_[i];
    if (resource_at(index).channel != bus) {
      touched_[kept++] = index;
      continue;
    }
    resource_at(index).touched = false;
    if (resource_at(index).holder == none && resource_at(index).first_waiting != none) grant(index);
  }
  touched_.resize(kept);
  for (const Index worm : requesting_) request(worm);
  requesting_.clear();
}

/// A bus or a link carries the packet's flits one behind another; the header continues at once.
void Simulation::packet_granted(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  const auto at = static_cast<std::size_t>(stage);
  worm.tails = stage + 1;
  if (resource_at(worm.stages[at].resource).channel == bus) {
    push(now_ + worm.flits * model_.node, Kind::release, index, stage);
    const Ticks next = now_ + (worm.flits - 1) * std::max<Ticks>(0, model_.node - model_.flit);
    if (next == now_) {
      requesting_.push_back(index);
    } else {
      ask_later(index, next);
    }
    return;
  }
  const Ticks body = worm.flits * model_.flit;
  worm.stages[at].tail = now_ + body - model_.flit;
  push(now_ + body, Kind::release, index, stage);
  ask_later(index, now_ + model_.hop);
  if (worm.is_last && stage == (model_.has_bus() ? 1 : 0)) {
    const ReplayedMessage& message = message_of(worm);
    worm.sends_at =
        std::max(now_ + body, message.ready + model_.flits(message.bytes) * model_.port_flit());
    push(worm.sends_at, Kind::sent, index);
  }
}

/// Packets that request an ejection port are drained in their order, each as its flits arrive and
/// not sooner than the port has drained the one before.
void Simulation::drain(Index port) {
  Resource& resource = resource_at(port);
  while (resource.first_waiting != none) {
    const Index index = resource.first_waiting;
    Worm& worm = worm_at(index);
    resource.first_waiting = worm.next_waiting;
    const Ticks alone = now_ + (worm.flits - 1) * model_.flit + model_.port_flit();
    resource.last_start = std::max(alone, resource.last_start + worm.flits * model_.port_flit());
    const Ticks waited = resource.last_start - alone;
    worm.granted_to = worm.last;
    worm.tails = worm.last + 1;
    worm.stages.back().granted = now_ + waited;
    worm.waited += waited;
    worm.waited_port = waited;
    worm.delivers_at = resource.last_start;
    push(worm.delivers_at, Kind::delivered, index);
  }
  resource.last_waiting = none;
}

void Simulation::packet_drained(Index index) {
  Worm& worm = worm_at(index);
  worm.is_delivered = true;
  if (!worm.is_last) {
    finish_worm(index);
    return;
  }
  ReplayedMessage& message = message_of(worm);
  message.delivered = now_;
  message.at_port = worm.stages.back().granted;
  message.waited = worm.waited;
  message.waited_port = worm.waited_port;
  message.shared = now_ - message.ready - message.waited -
                   model_.transit(model_.flits(message.bytes), message.hops);
  const Rank to = message.to;
  const std::uint32_t step = message.step;
  finish_worm(index);
  arrived(to, step);
}

/// Adds a packet to its message's record, and shows the whole with the last one.
void Simulation::observe_packet(const Worm& worm) {
  const std::size_t first = model_.has_bus() ? 1 : 0, stages = worm.stages.size() - first;
  PacketLife& life = lives_[worm.message];
  if (worm.first_flit == 0) {
    for (std::size_t i = first; i < worm.stages.size(); ++i) {
      life.requested.push_back(worm.stages[i].requested);
      life.granted.push_back(worm.stages[i].granted);
    }
    life.starts.resize(stages);
  }
  for (std::size_t i = 0; i < stages; ++i) {
    life.starts[i].push_back({worm.first_flit, worm.stages[i + first].granted, model_.flit});
  }
  if (!worm.is_last) return;
  std::vector<Channel> route;
  for (std::size_t i = first; i + 1 < worm.stages.size(); ++i) {
    route.push_back(resource_at(worm.stages[i].resource).channel);
    life.released.push_back(worm.stages[i].granted + worm.flits * model_.flit);
  }
  const ReplayedMessage& message = message_of(worm);
  options_.observer->delivered({message, route, life.requested, life.granted, life.released,
                                life.starts, model_.flits(message.bytes)});
  lives_.erase(worm.message);
}

}  // namespace wormcube
