// A task's turns: which flit goes where.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/router_task.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/network/router_turns.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

RouterTask::RouterTask(Routers& routers, int number)
    : routers_(routers),
      number_(number),
      called_(static_cast<std::size_t>(routers.settings_.tasks)),
      random_(static_cast<std::uint32_t>(routers.settings_.shuffle.value_or(0) + 1)) {
  inbox_.open();
  new_lanes_.open();
}

void RouterTask::reset() {
  active_.clear();
  current_.clear();
  for (const int task : to_call_) called_[static_cast<std::size_t>(task)] = false;
  to_call_.clear();
  static_cast<void>(inbox_.take());
}

void RouterTask::run() noexcept {
  take_turns(routers_.host_, number_, [&] {
    try {
      return pass();
    } catch (...) {  // no memory for lanes, ports or lists: no node's fault
      routers_.host_.failed(0, 0, std::current_exception());
      return false;
    }
  });
}

bool RouterTask::pass() {
  take_given();
  look_at_crossings();
  std::swap(active_, current_);
  if (routers_.settings_.shuffle) std::ranges::shuffle(current_, random_);
  bool moved = false;
  for (Input* const input : current_) {
    input->is_active = false;
    moved |= turn(*input);
  }
  current_.clear();
  for (const int task : to_call_) {
    called_[static_cast<std::size_t>(task)] = false;
    routers_.host_.call_router(task);
  }
  to_call_.clear();
  return moved;
}

void RouterTask::take_given() {
  for (Waiter* waiter = inbox_.take(); waiter != nullptr;) {
    Waiter* const next = waiter->next;
    Worm& worm = static_cast<Worm&>(*waiter);
    if (worm.input == nullptr) {
      inject(worm);
    } else {
      worm.input->arrival.has_table = true;
      worm.input->arrival.waits_for_table = false;
      activate(*worm.input);
    }
    waiter = next;
  }
}

void RouterTask::inject(Worm& worm) {
  Input& port = routers_.ports(worm, false).injection;
  port.worms.append(worm);
  activate(port);
}

void RouterTask::look_at_crossings() {
  for (LinkLane* lane = new_lanes_.take(); lane != nullptr; lane = lane->next) {
    from_others_.push_back(lane);
  }
  for (LinkLane* const lane : from_others_) {
    if (lane->has_flits()) activate(lane->input);
  }
  for (LinkLane* const lane : to_others_) {
    if (lane->holder != nullptr && lane->has_room()) activate(*lane->holder);
  }
}

// Moves at most as many flits as a lane holds. Whether it has moved any.
bool RouterTask::turn(Input& input) {
  bool moved = false;
  for (std::size_t i = 0; i < routers_.settings_.capacity; ++i) {
    if (!has_flit(input)) return moved;
    if (!move(input)) {
      if (input.lane != nullptr) input.lane->count_wait(routers_.network_.run());
      return moved;
    }
    moved = true;
  }
  activate(input);
  return moved;
}

bool RouterTask::has_flit(const Input& input) const {
  return input.lane != nullptr ? input.lane->has_flits()
                               : input.worm != nullptr || input.worms.first != nullptr;
}

// Whether its front flit has moved.
bool RouterTask::move(Input& input) {
  if (!begin(input) || !take_output(input)) return false;
  return input.is_last_hop() ? eject(input) : pass_on(input, static_cast<LinkLane&>(*input.output));
}

// Finds the worm of its front flit. False: it must not move.
bool RouterTask::begin(Input& input) {
  if (input.lane == nullptr) {
    if (input.worm != nullptr) return true;
    input.worm = static_cast<Worm*>(input.worms.take_first());
    input.from = Cursor(input.worm->data);
    input.left = input.worm->bytes;
    input.worm->reserved = 1;
    input.hop = 1;
    return true;
  }
  if (input.lane->fault == LinkFault::stall) return false;
  const Flit& front = input.lane->front();
  if (input.worm == nullptr) {
    input.worm = front.worm;
    input.hop = front.hop;
    return true;
  }
  // Behind a worm whose tail was lost a head waits for ever.
  return !front.head || input.passed == 0;
}

bool RouterTask::take_output(Input& input) {
  if (input.output != nullptr) return true;
  if (input.waits) return false;
  Worm& worm = *input.worm;
  Output* output = nullptr;
  if (input.is_last_hop()) {
    output = &routers_.ports(worm, true).ejection;
  } else {
    LinkLane& lane = routers_.lane(worm, input.hop);
    if (!std::exchange(lane.is_known, true) && lane.to != number_) {
      to_others_.push_back(&lane);
      routers_.tasks_[static_cast<std::size_t>(lane.to)]->add(lane);
    }
    output = &lane;
  }
  if (output->holder == nullptr) {
    output->holder = &input;
    input.output = output;
    granted(input);
    return true;
  }
  if (!input.is_last_hop()) {
    routers_.network_.counted(static_cast<LinkLane&>(*output).channel).count_blocked();
  }
  input.waits = true;
  output->waiting.append(input);
  return false;
}

void RouterTask::granted(Input& input) noexcept {
  Worm& worm = *input.worm;
  worm.reserved = input.hop + 1;
  if (input.is_last_hop()) return;
  try {  // the observer may throw: the sender's failure
    routers_.network_.notify(worm, static_cast<LinkLane&>(*input.output).channel.id(),
                             static_cast<int>(input.hop) - 1);
  } catch (...) {
    routers_.host_.failed(worm.from, worm.step, std::current_exception());
  }
}

void RouterTask::release_output(Input& input) {
  Output& output = *std::exchange(input.output, nullptr);
  Input* const next = output.waiting.first != nullptr ? output.waiting.take_first() : nullptr;
  output.holder = next;
  if (next == nullptr) return;
  next->output = &output;
  next->waits = false;
  granted(*next);
  activate(*next);
}

// The flit of a message that is injected.
void RouterTask::next_flit(Input& input, Flit& flit) {
  const Worm& worm = *input.worm;
  flit.worm = input.worm;
  flit.bytes = static_cast<std::uint8_t>(std::min(input.left, Flit::most_bytes));
  flit.head = input.passed == 0;
  flit.tail = input.left <= Flit::most_bytes;
  // An action has bytes that it moves by itself.
  if (flit.bytes > 0 && !worm.data.empty()) {
    input.from.read(flit.data());
  } else {
    std::ranges::fill(flit.payload, std::byte{0});
  }
  input.left -= flit.bytes;
}

// The flit is about to leave the input.
void RouterTask::report(const Input& input, const Flit& flit) {
  const Worm& worm = *input.worm;
  const Routing& routing = routers_.network_.routing();
  const Channel channel = input.lane->channel.id();
  routers_.settings_.observer->leaves({.link = routing.link(channel),
                                       .virtual_channel = routing.virtual_channel(channel),
                                       .from = worm.from,
                                       .to = worm.to,
                                       .step = worm.step,
                                       .bytes = worm.bytes,
                                       .head = flit.head,
                                       .tail = flit.tail});
}

// The flit has left the input.
void RouterTask::leave(Input& input) {
  ++input.passed;
  if (input.lane == nullptr) return;
  input.lane->pop();
  if (input.lane->from != number_) {
    call(input.lane->from);
  } else if (input.lane->holder != nullptr) {
    activate(*input.lane->holder);
  }
}

void RouterTask::end_message(Input& input) {
  release_output(input);
  input.worm = nullptr;
  input.passed = 0;
  input.arrival = {};
}

bool RouterTask::pass_on(Input& input, LinkLane& to) {
  if (!to.has_room()) return false;
  Flit made;
  Flit* flit = &made;
  if (input.lane != nullptr) {
    flit = &input.lane->front();
  } else {
    next_flit(input, made);
  }
  flit->hop = input.hop + 1;
  observe(input, *flit);
  const bool is_lost = to.fault == LinkFault::drop &&
                       (input.passed == 1 || (flit->tail && flit->bytes > 0 && input.passed == 0));
  if (to.fault == LinkFault::flip && flit->bytes > 0) flit->payload[0] ^= std::byte{1};
  const bool tail = flit->tail;
  const Bytes bytes = input.worm->bytes;
  if (is_lost) {
    ++to.lost;
  } else {
    // The last touch of the worm from here: its tail may now reach the end.
    if (tail) routers_.network_.counted(to.channel).count_message(bytes);
    to.push(*flit, routers_.network_.run());
  }
  if (to.to != number_) {
    call(to.to);
  } else {
    activate(to.input);
  }
  leave(input);
  if (tail) end_message(input);
  return true;
}

// Whether its worm has the tag table; else it is given to this task when it has.
bool RouterTask::has_table(Input& input) {
  Arrival& arrival = input.arrival;
  if (arrival.has_table) return true;
  if (arrival.waits_for_table) return false;
  input.worm->input = &input;
  arrival.waits_for_table = true;  // before another thread may have the worm
  if (!routers_.network_.enter_table(*input.worm)) return false;
  arrival.waits_for_table = false;
  arrival.has_table = true;
  return true;
}

bool RouterTask::eject(Input& input) {
  Network& network = routers_.network_;
  Worm& worm = *input.worm;
  Arrival& arrival = input.arrival;
  const bool has_action = worm.action != nullptr;
  if (!arrival.is_matched) {
    if (!has_action) {
      if (!has_table(input)) return false;
      arrival.has_table = false;
      network.match(worm, arrival);
    }
    arrival.is_matched = true;
  }
  Flit made;
  Flit* flit = &made;
  bool tail = false;
  Bytes bytes = 0;
  if (input.lane != nullptr) {
    flit = &input.lane->front();
    tail = flit->tail, bytes = flit->bytes;
  } else {
    tail = input.left <= Flit::most_bytes, bytes = std::min(input.left, Flit::most_bytes);
  }
  if (tail) {
    if (arrival.arrived + bytes != worm.bytes) {
      fail_for_lost(worm, arrival.arrived + bytes);
      return false;
    }
    if (arrival.receive == nullptr && !has_table(input)) return false;
  }
  if (input.lane == nullptr) next_flit(input, made);
  const Bytes wanted = std::min<Bytes>(flit->bytes, arrival.room);
  arrival.to.write(flit->data().first(wanted));
  arrival.room -= wanted;
  arrival.arrived += flit->bytes;
  observe(input, *flit);
  leave(input);
  if (tail) {
    const Arrival whole = std::exchange(arrival, {});
    end_message(input);
    network.finish(worm, whole);  // the sender may use the worm again
  }
  return true;
}

void RouterTask::fail_for_lost(const Worm& worm, Bytes arrived) {
  std::string text = fmt::format("a message of {} bytes from node {} (tag {}) arrived with {}",
                                 worm.bytes, worm.from, worm.tag, arrived);
  for (std::size_t entry = 1; entry + 2 < worm.path.size(); ++entry) {
    const LinkLane& lane = routers_.lane(worm, entry);
    if (lane.fault != LinkFault::drop) continue;
    const Routing& routing = routers_.network_.routing();
    text += fmt::format(": link {} lost 1 flit",
                        routing.topology().link_name(routing.link(lane.channel.id())));
  }
  routers_.host_.failed(worm.to, worm.step, std::make_exception_ptr(std::runtime_error(text)));
}

}  // namespace wormcube
