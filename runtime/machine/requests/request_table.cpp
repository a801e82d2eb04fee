// Requests: their slots, how they complete, and how they are described when they are left open.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/requests/request_table.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <exception>

#include <fmt/core.h>

namespace wormcube {

void RequestTable::add_slot() {
  slots_.push_back(std::make_unique<Slot>(static_cast<std::uint32_t>(slots_.size())));
  unused_ = slots_.back().get();
}

void RequestTable::refuse() const {
  throw UsageError(fmt::format(
      "requests: invalid request at node {}: completed, or owned by another node", rank_));
}

void RequestTable::refuse(Rank node) const {
  throw UsageError(
      fmt::format("requests: node {}: peer {} out of range [0, {})", rank_, node, nodes_));
}

void RequestTable::refuse_context() const {
  throw UsageError(fmt::format(
      "requests: node {} uses context {}, which is reserved for steps; contexts 0 to {} "
      "are for requests",
      rank_, step_context, step_context - 1));
}

void RequestTable::refuse_moves() {
  throw UsageError("requests: name the peer by rank; moves are for steps only");
}

void RequestTable::refuse_wildcard() {
  throw UsageError("requests: wildcards are allowed in receives by pattern only");
}

void RequestTable::poll() {
  ++polls_;
  host_.poll();
}

// Any ready node may run next, so the order of arrival is random.
void RequestTable::shuffle() {
  constexpr unsigned most = 3;
  for (auto turns = random_() % (most + 1); turns > 0; --turns) host_.give_way();
}

// A slot that could not be filled is not kept.
RequestTable::Slot& RequestTable::filled(const Op& op, std::uint32_t context, Mode mode,
                                         std::uint64_t note) {
  if (op.to() != Op::To::rank) refuse_moves();
  require(op.peer(), context);
  if (op.peer() == any_source || op.tag() == any_tag) refuse_wildcard();
  Slot& slot = fresh();
  try {
    fill(slot, op, context, mode, note);
  } catch (...) {
    release(slot);
    throw;
  }
  return slot;
}

RequestTable::Slot& RequestTable::filled(const MessagePattern& from, Span room) {
  require(from.source, from.context);
  Slot& slot = fresh();
  fill(slot.receive, from, std::span(&room, 1), room.size());
  return slot;
}

Request RequestTable::start(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) {
  Slot& slot = filled(op, context, mode, note);
  go(slot);
  return request_of(slot);
}

Request RequestTable::start(const MessagePattern& from, Span room) {
  Slot& slot = filled(from, room);
  go(slot);
  return request_of(slot);
}

// Completes at the destination without the destination's program: it waits for links only.
void RequestTable::act_at(Rank to, Bytes bytes, FunctionRef action) {
  Slot& slot = filled(send(to, ConstSpan()), std::uint32_t{0}, Mode::standard, std::uint64_t{0});
  slot.worm.bytes = bytes;
  slot.worm.action = &action;
  go(slot);
  Request request = request_of(slot);
  wait(request);
}

Request RequestTable::prepare(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) {
  Slot& slot = filled(op, context, mode, note);
  slot.persistent = true;
  return request_of(slot);
}

Request RequestTable::prepare(const MessagePattern& from, Span room) {
  Slot& slot = filled(from, room);
  slot.persistent = true;
  return request_of(slot);
}

Request RequestTable::open() {
  Slot& slot = fresh();
  slot.active = slot.is_open = true;
  slot.receive.begin(Transfer::Progress::pending);
  return request_of(slot);
}

// The node runs, so no other thread has to wake it.
void RequestTable::settle(Request request) {
  if (slot_of(request).receive.settle() == Transfer::Progress::awaited) host_.arrive();
}

Request RequestTable::start_background(const Op& op, std::uint32_t context) {
  Slot& slot = filled(op, context, Mode::standard, std::uint64_t{0});
  slot.receive.exact = true;
  go(slot, Transfer::Progress::watched);
  return request_of(slot);
}

bool RequestTable::end_background(Request& request) {
  if (!is_complete(request)) return false;
  end(request);
  return true;
}

void RequestTable::restart(Request request) {
  Slot& slot = slot_of(request);
  if (!slot.persistent || slot.active) {
    throw UsageError(fmt::format("requests: node {} restarts a request that is {}", rank_,
                                 slot.active ? "active" : "not persistent"));
  }
  go(slot);
}

void RequestTable::free(Request& request) {
  if (request.is_null()) return;
  Slot& slot = slot_of(request);
  if (slot.active || slot.taken) {
    throw UsageError(fmt::format("requests: node {} frees a request that is not complete", rank_));
  }
  release(slot);
  request = {};
}

Status RequestTable::end_special(Request& request, Slot& slot) {
  if (slot.taken) {
    throw UsageError(fmt::format(
        "requests: node {} waits for a message that it has claimed and not received", rank_));
  }
  if (!slot.active) return {};
  if (!slot.is_send && !slot.cancelled && !slot.is_open) ++received_;
  slot.active = false;
  const Status status = status_of(slot);
  if (!slot.persistent) {
    release(slot);
    request = {};
  }
  return status;
}

bool RequestTable::is_ready(Request request) {
  host_.count_turn();
  if (is_complete(request)) return true;
  poll();
  return is_complete(request);
}

Status RequestTable::look_at(Request request) {
  if (request.is_null()) return {};
  const Slot& slot = slot_of(request);
  return slot.active && is_complete(request) ? status_of(slot) : Status();
}

bool RequestTable::test(Request& request, Status* status) {
  if (!is_ready(request)) return false;
  const Status found = end(request);
  if (status != nullptr) *status = found;
  return true;
}

Status RequestTable::wait(Request& request) {
  if (request.is_null()) return {};
  Slot& slot = slot_of(request);
  if (!is_complete(slot)) {
    Transfer* const own = &transfer(slot);
    host_.wait_for_all(std::span(&own, 1));
  }
  return end(request);
}

void RequestTable::wait_all(std::span<Request> requests, std::span<Status> statuses) {
  waited_for_.clear();
  for (const Request request : requests) {
    if (request.is_null()) continue;
    Slot& slot = slot_of(request);
    if (!slot.active) continue;
    Transfer& own = transfer(slot);
    if (!own.is_complete()) waited_for_.push_back(&own);
  }
  if (!waited_for_.empty()) host_.wait_for_all(waited_for_);
  const std::size_t with_status = std::min(requests.size(), statuses.size());
  for (std::size_t i = 0; i < with_status; ++i) end(requests[i], statuses[i]);
  for (std::size_t i = with_status; i < requests.size(); ++i) static_cast<void>(end(requests[i]));
}

// Whether any is active; if none is complete, the incomplete ones are in waited_for_.
bool RequestTable::wait_for_any_of(std::span<const Request> requests) {
  for (;;) {
    waited_for_.clear();
    bool any_active = false;
    for (const Request request : requests) {
      if (request.is_null() || !slot_of(request).active) continue;
      if (is_complete(request)) return true;
      any_active = true;
      waited_for_.push_back(&transfer(slot_of(request)));
    }
    if (!any_active) return false;
    host_.wait_for_one(waited_for_);
  }
}

std::optional<std::size_t> RequestTable::wait_any(std::span<Request> requests, Status& status) {
  status = {};
  if (!wait_for_any_of(requests)) return std::nullopt;
  for (std::size_t i = 1; i <= requests.size(); ++i) {
    const std::size_t at = (served_last_ + i) % requests.size();
    if (requests[at].is_null() || !slot_of(requests[at]).active || !is_complete(requests[at]))
      continue;
    served_last_ = at;
    status = end(requests[at]);
    return at;
  }
  return std::nullopt;  // one was complete
}

std::size_t RequestTable::wait_some(std::span<Request> requests, std::span<std::size_t> indices,
                                    std::span<Status> statuses) {
  std::size_t count = 0;
  if (!wait_for_any_of(requests)) return count;
  for (std::size_t i = 0; i < requests.size() && count < indices.size(); ++i) {
    if (requests[i].is_null() || !slot_of(requests[i]).active || !is_complete(requests[i]))
      continue;
    const Status status = end(requests[i]);
    if (count < statuses.size()) statuses[count] = status;
    indices[count++] = i;
  }
  return count;
}

bool RequestTable::close_scope(std::uint32_t scope) noexcept {
  scope_ = scope - 1;
  const auto each_of_scope = [&](auto&& act) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = *slots_[i];
      const bool is_message = slot.active && !slot.is_open;
      if (is_message && slot.scope >= scope) act(request_of(slot), slot);
    }
  };
  host_.set_unwinding(std::uncaught_exceptions() > 0);
  bool all_ended = true;
  try {
    each_of_scope([&](Request request, Slot&) { static_cast<void>(cancel(request)); });
    each_of_scope([&](Request request, Slot& slot) {
      if (!slot.persistent) return static_cast<void>(wait(request));
      if (!is_complete(slot)) {
        Transfer* const own = &transfer(slot);
        host_.wait_for_all(std::span(&own, 1));
      }
      slot.active = false;
    });
  } catch (...) {  // the machine has stopped, and no thread touches this node's memory any more
    each_of_scope([](Request, Slot& slot) { slot.active = false; });
    all_ended = false;
  }
  host_.set_unwinding(false);
  return all_ended;
}

std::optional<std::string> RequestTable::unfinished() const {
  std::size_t count = 0;
  std::string first;
  for (const auto& each : slots_) {
    const Slot& slot = *each;
    if (!slot.active && !slot.taken) continue;
    if (++count > 1) continue;
    const auto source = [&] {
      return slot.receive.from == any_source ? std::string("any node")
                                             : fmt::format("node {}", slot.receive.from);
    };
    const auto tag = [&] {
      return slot.receive.tag == any_tag ? std::string("any tag")
                                         : fmt::format("tag {}", slot.receive.tag);
    };
    if (slot.is_open) {
      first = "one that is not a message";
    } else if (slot.is_send) {
      first = fmt::format("a send of {} bytes to node {}, tag {}", slot.worm.bytes, slot.worm.to,
                          slot.worm.tag);
    } else if (slot.taken) {
      first = fmt::format("a message from {}, {}, claimed and not received", source(), tag());
    } else {
      first = fmt::format("a receive of at most {} bytes from {}, {}", slot.receive.bytes, source(),
                          tag());
    }
  }
  if (count == 0) return std::nullopt;
  return fmt::format("ends with {} request{} that no test or wait has completed: {}{}", count,
                     count == 1 ? "" : "s", first, count == 1 ? "" : ", ..");
}

bool RequestTable::has_active() const {
  return std::ranges::any_of(slots_,
                             [](const auto& slot) { return slot->active && !slot->is_open; });
}

void RequestTable::reset() {
  unused_ = nullptr;
  for (std::size_t i = slots_.size(); i-- > 0;) {
    slots_[i]->taken = false;
    release(*slots_[i]);
  }
  asking_ = false;
  served_last_ = 0;
  scope_ = 0;
  polls_ = received_ = 0;
  if (shuffle_) {
    std::seed_seq seed{static_cast<std::uint32_t>(*shuffle_),
                       static_cast<std::uint32_t>(*shuffle_ >> 32U),
                       static_cast<std::uint32_t>(rank_)};
    random_.seed(seed);
  }
}

}  // namespace wormcube
