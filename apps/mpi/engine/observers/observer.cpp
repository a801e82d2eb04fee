// Requests and nodes that report events to observers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/observers/observer.hpp"

#include <algorithm>
#include <limits>

namespace wormcube::mpi {

ObservedRequests::Open& ObservedRequests::of(Request request) {
  if (request.slot() >= open_.size()) open_.resize(request.slot() + 1);
  return open_[request.slot()];
}

namespace {

SentMessage message_of(Rank rank, const Op& op, std::uint32_t context) {
  const auto pieces = op.pieces();
  return {rank,     op.peer(),  context,
          op.tag(), op.bytes(), pieces.size() == 1 ? ConstSpan(pieces.front()) : ConstSpan()};
}

}  // namespace

void ObservedRequests::describe(Request request, const Op& op, std::uint32_t context, Mode mode) {
  Open& which = of(request);
  which = {};
  which.is_send = true;
  which.waits = mode == Mode::synchronous || op.bytes() > most_early_;
  which.message = message_of(rank_, op, context);
}

void ObservedRequests::describe(Request request, const MessagePattern& from, Span room,
                                std::uint64_t started, bool active) {
  Open& which = of(request);
  which = {};
  which.message.context = from.context;
  which.from = from;
  which.room = room;
  which.started = started;
  which.active = active;
}

Request ObservedRequests::start(const Op& op, std::uint32_t context, Mode mode,
                                std::uint64_t note) {
  const std::uint64_t started = observers_.stamp();
  observers_.sent(message_of(rank_, op, context), started,
                  mode == Mode::synchronous || op.bytes() > most_early_);
  const Request request = below_.start(op, context, mode, note);
  describe(request, op, context, mode);
  of(request).active = true;
  of(request).started = started;
  return request;
}

Request ObservedRequests::start(const MessagePattern& from, Span room) {
  const MessagePattern wanted = narrowed(from);
  const std::uint64_t started = observers_.stamp();
  observers_.posted(rank_, from, started);
  const Request request = below_.start(wanted, room);
  describe(request, from, room, started, true);
  return request;
}

Request ObservedRequests::prepare(const Op& op, std::uint32_t context, Mode mode,
                                  std::uint64_t note) {
  const Request request = below_.prepare(op, context, mode, note);
  describe(request, op, context, mode);
  return request;
}

Request ObservedRequests::prepare(const MessagePattern& from, Span room) {
  const Request request = below_.prepare(from, room);
  describe(request, from, room, 0, false);
  return request;
}

void ObservedRequests::restart(Request request) {
  Open& which = of(request);
  which.started = observers_.stamp();
  which.active = true;
  if (which.is_send) {
    observers_.sent(which.message, which.started, which.waits);
  } else {
    observers_.posted(rank_, which.from, which.started);
  }
  below_.restart(request);
}

void ObservedRequests::ended(Request was, const Status& status) {
  if (was.is_null()) return;
  Open& which = of(was);
  if (!which.active) return;
  which.active = false;
  if (which.is_send) return observers_.send_ended(which.message, which.started);
  if (status.cancelled) return;
  const ConstSpan data = which.room.first(std::min<Bytes>(status.bytes, which.room.size()));
  observers_.received({status.source, rank_, which.message.context, status.tag, status.bytes, data},
                      which.started);
}

bool ObservedRequests::test(Request& request, Status* status) {
  const Request was = request;
  Status found;
  if (!below_.test(request, &found)) return false;
  ended(was, found);
  if (status != nullptr) *status = found;
  return true;
}

Status ObservedRequests::wait(Request& request) {
  const Request was = request;
  const Status found = below_.wait(request);
  ended(was, found);
  return found;
}

void ObservedRequests::wait_all(std::span<Request> requests, std::span<Status> statuses) {
  before_.assign(requests.begin(), requests.end());
  statuses_.assign(requests.size(), {});
  below_.wait_all(requests, statuses_);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    ended(before_[i], statuses_[i]);
    if (i < statuses.size()) statuses[i] = statuses_[i];
  }
}

std::optional<std::size_t> ObservedRequests::wait_any(std::span<Request> requests, Status& status) {
  before_.assign(requests.begin(), requests.end());
  const auto which = below_.wait_any(requests, status);
  if (which) ended(before_[*which], status);
  return which;
}

std::size_t ObservedRequests::wait_some(std::span<Request> requests, std::span<std::size_t> indices,
                                        std::span<Status> statuses) {
  before_.assign(requests.begin(), requests.end());
  statuses_.assign(indices.size(), {});
  const std::size_t count = below_.wait_some(requests, indices, statuses_);
  for (std::size_t k = 0; k < count; ++k) {
    ended(before_[indices[k]], statuses_[k]);
    if (k < statuses.size()) statuses[k] = statuses_[k];
  }
  return count;
}

// A claimed message takes its place among the receives when it is claimed.
std::optional<Request> ObservedRequests::take(const MessagePattern& pattern, Status& status) {
  const MessagePattern wanted = narrowed(pattern);
  const std::uint64_t started = observers_.stamp();
  const auto taken = below_.take(wanted, status);
  if (!taken) return taken;
  observers_.posted(rank_, pattern, started);
  describe(*taken, pattern, {}, started, true);
  return taken;
}

Request ObservedRequests::wait_to_take(const MessagePattern& pattern, Status& status) {
  const MessagePattern wanted = narrowed(pattern);
  const std::uint64_t started = observers_.stamp();
  observers_.posted(rank_, pattern, started);
  const Request taken = below_.wait_to_take(wanted, status);
  describe(taken, pattern, {}, started, true);
  return taken;
}

// An operation of a rank on its own part that moves no data, such as attaching memory, is not an
// access.
void ObservedRequests::act_at(Rank to, Bytes bytes, FunctionRef action) {
  if (to == rank_ && bytes == 0) return below_.act_at(to, bytes, action);
  using Clock = std::chrono::steady_clock;
  Access access;
  access.message = {.from = rank_, .to = to, .bytes = bytes};
  access.started = observers_.stamp();
  access.began = Clock::now();
  below_.act_at(to, bytes, [&] {
    access.acted = Clock::now();
    action();
  });
  access.ended = observers_.stamp();
  observers_.accessed(access);
}

Request ObservedRequests::open() {
  const Request request = below_.open();
  of(request) = {};
  return request;
}

// As in a step: a single send does not wait for its receive.
Request ObservedRequests::start_background(const Op& op, std::uint32_t context) {
  const std::uint64_t started = observers_.stamp();
  const SentMessage message = op.is_send()
                                  ? SentMessage{rank_, op.peer(), context, op.tag(), op.bytes()}
                                  : SentMessage{op.peer(), rank_, context, op.tag(), op.bytes()};
  if (op.is_send()) observers_.sent(message, started, false);
  const Request request = below_.start_background(op, context);
  of(request) = {.is_send = op.is_send(),
                 .active = true,
                 .waits = false,
                 .message = message,
                 .started = started};
  return request;
}

bool ObservedRequests::end_background(Request& request) {
  const Request was = request;
  if (!below_.end_background(request)) return false;
  if (was.is_null()) return true;
  const SentMessage& message = of(was).message;
  Status status;
  status.source = message.from;
  status.tag = message.tag;
  status.bytes = message.bytes;
  ended(was, status);
  return true;
}

// A single send does not wait for its receive, but the step waits for all of its messages.
void ObservedNode::step(std::span<const Op> ops) {
  constexpr std::uint32_t context = std::numeric_limits<std::uint32_t>::max();
  const auto message_of = [&](const Op& op) {
    const Rank peer = peer_of(topology(), rank(), op), self = rank();
    return op.is_send() ? SentMessage{self, peer, context, op.tag(), op.bytes()}
                        : SentMessage{peer, self, context, op.tag(), op.bytes()};
  };
  started_.clear();
  for (const Op& op : ops) {
    started_.push_back(observers_.stamp());
    if (op.is_send()) observers_.sent(message_of(op), started_.back(), false);
  }
  ForwardingNode::step(ops);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const SentMessage message = message_of(ops[i]);
    ops[i].is_send() ? observers_.send_ended(message, started_[i])
                     : observers_.received(message, started_[i]);
  }
}

}  // namespace wormcube::mpi
