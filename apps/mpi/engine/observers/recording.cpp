// Records what ranks call and send as it happens.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/observers/recording.hpp"

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/observers/recording_event.hpp"

namespace wormcube::mpi {

using Event = Recording::Event;

Recording::Recording(Rank ranks, std::size_t in_memory)
    : in_memory_(in_memory),
      seen_(static_cast<std::size_t>(ranks)),
      calls_(std::make_unique<EventSpool<ByTime>>(in_memory)),
      messages_(std::make_unique<EventSpool<ByStart>>(in_memory)) {}

Recording::~Recording() = default;

// Functions that need the mutex.
void Recording::slice(Event event) {
  if (closed_) return;
  if (!event.is_arrow()) {
    event.order = order_++;
    ++slices_;
  }
  calls_->add({event});
}
void Recording::message(Event event) {
  if (closed_) return;
  const Seen& seen = seen_[static_cast<std::size_t>(event.rank)];
  event.on = seen.on;
  event.begin = event.kind == Event::Kind::receive && seen.inside ? seen.begin : now();
  event.length = now() - event.begin;
  messages_->add({event});
}

void Recording::enter(Rank rank, Function function) {
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[static_cast<std::size_t>(rank)];
  seen.function = function;
  seen.begin = now();
  seen.inside = true;
}

void Recording::leave(Rank rank) {
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[static_cast<std::size_t>(rank)];
  seen.inside = false;
  if (!seen.on) {
    ++left_out_;
    return;
  }
  Event call;
  call.kind = Event::Kind::call;
  call.rank = rank;
  call.function = static_cast<std::uint16_t>(seen.function);
  call.begin = seen.begin;
  call.length = now() - seen.begin;
  slice(call);
}

void Recording::set_on(Rank rank, bool on) {
  const std::lock_guard lock(mutex_);
  seen_[static_cast<std::size_t>(rank)].on = on;
}

void Recording::mark(Rank rank) {
  const std::lock_guard lock(mutex_);
  Event mark;
  mark.kind = Event::Kind::mark;
  mark.rank = rank;
  mark.begin = now();
  slice(mark);
}

namespace {

Event event_of(Event::Kind kind, Rank rank, Rank peer, const SentMessage& message,
               std::uint64_t started, std::uint64_t ended) {
  Event event;
  event.kind = kind;
  event.rank = rank;
  event.peer = peer;
  event.context = message.context;
  event.tag = message.tag;
  event.bytes = message.bytes;
  event.started = started;
  event.ended = ended;
  return event;
}

}  // namespace

void Recording::sent(const SentMessage& message_sent, std::uint64_t started, bool waits) {
  Event event =
      event_of(Event::Kind::send, message_sent.from, message_sent.to, message_sent, started, 0);
  event.waits = waits;
  const std::lock_guard lock(mutex_);
  message(event);
}

void Recording::send_ended(const SentMessage& message_sent, std::uint64_t started,
                           std::uint64_t ended) {
  const Event event = event_of(Event::Kind::send_end, message_sent.from, message_sent.to,
                               message_sent, started, ended);
  const std::lock_guard lock(mutex_);
  message(event);
}

void Recording::received(const SentMessage& message_received, std::uint64_t started,
                         std::uint64_t ended) {
  const Event event = event_of(Event::Kind::receive, message_received.to, message_received.from,
                               message_received, started, ended);
  const std::lock_guard lock(mutex_);
  message(event);
}

// An access is complete when its call returns, in any kind of epoch.
void Recording::accessed(const Access& access) {
  constexpr std::int64_t shortest = 1;  // a shorter slice would not receive its arrow
  const Rank from = access.message.from, to = access.message.to;
  Event event =
      event_of(Event::Kind::access, from, to, access.message, access.started, access.ended);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const Seen &caller = seen_[static_cast<std::size_t>(from)],
             &owner = seen_[static_cast<std::size_t>(to)];
  event.on = caller.on && owner.on;
  event.function = static_cast<std::uint16_t>(caller.function);
  event.begin = time_of(access.began);
  event.length = now() - event.begin;
  messages_->add({event});
  if (!event.on) return;
  slice(event);
  Event touch = event;
  touch.kind = Event::Kind::touch;
  std::swap(touch.rank, touch.peer);
  touch.begin = time_of(access.acted);
  touch.length = shortest;
  slice(touch);
  Event start = event, end = touch;
  start.kind = Event::Kind::flow_start;
  end.kind = Event::Kind::flow_end;
  start.order = end.order = ++arrows_;
  start.length = end.length = 0;
  slice(start);
  slice(end);
}

// Calls that have not returned end here.
void Recording::close() {
  const std::lock_guard lock(mutex_);
  for (std::size_t rank = 0; rank < seen_.size() && !closed_; ++rank) {
    const Seen& seen = seen_[rank];
    if (!seen.inside || !seen.on) continue;
    Event call;
    call.kind = Event::Kind::open_call;
    call.rank = static_cast<Rank>(rank);
    call.function = static_cast<std::uint16_t>(seen.function);
    call.begin = seen.begin;
    call.length = now() - seen.begin;
    slice(call);
  }
  closed_ = true;
}

}  // namespace wormcube::mpi
