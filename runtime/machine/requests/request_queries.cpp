// Queries to a node's tag table: for messages that are there, for receives that can be withdrawn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/requests/request_table.hpp"

#include <fmt/core.h>

namespace wormcube {

void RequestTable::ask(TagQuery::Action action, const MessagePattern& pattern, bool may_wait) {
  require(pattern.source, pattern.context);
  if (shuffle_) shuffle();
  query_.action = action;
  query_.may_wait = may_wait;
  query_.from = pattern.source;
  query_.to = rank_;
  query_.tag = pattern.tag;
  query_.context = pattern.context;
  query_.choice = choice();
  ask();
}

void RequestTable::ask() {
  query_.found = false;
  query_.early = nullptr;
  query_.begin(Transfer::Progress::pending);
  asking_ = true;
  host_.ask(query_);
  Transfer* const own = &query_;
  if (!query_.is_complete()) host_.wait_for_all(std::span(&own, 1));
  asking_ = false;
}

std::optional<Status> RequestTable::probe(const MessagePattern& pattern) {
  ask(TagQuery::Action::probe, pattern, false);
  if (!query_.found) {
    poll();
    return std::nullopt;
  }
  return status_of_message(query_);
}

Status RequestTable::wait_for(const MessagePattern& pattern) {
  ask(TagQuery::Action::probe, pattern, true);
  return status_of_message(query_);
}

Request RequestTable::taken(Status& status) {
  status = status_of_message(query_);
  Slot& slot = fresh();
  slot.taken = true;
  slot.receive.exact = false;
  slot.receive.to = rank_;
  slot.receive.from = query_.source;
  slot.receive.tag = query_.source_tag;
  slot.receive.context = query_.context;
  slot.receive.claimed = query_.early;
  return request_of(slot);
}

std::optional<Request> RequestTable::take(const MessagePattern& pattern, Status& status) {
  ask(TagQuery::Action::claim, pattern, false);
  if (query_.found) return taken(status);
  poll();
  return std::nullopt;
}

Request RequestTable::wait_to_take(const MessagePattern& pattern, Status& status) {
  ask(TagQuery::Action::claim, pattern, true);
  return taken(status);
}

void RequestTable::receive(Request request, Span room) {
  Slot& slot = slot_of(request);
  if (!slot.taken) {
    throw UsageError(
        fmt::format("requests: node {} receives a message that it has not claimed", rank_));
  }
  slot.taken = false;
  slot.receive.bytes = room.size();
  slot.receive.set_data(std::span(&room, 1));
  go(slot);
}

bool RequestTable::cancel(Request request) {
  if (is_complete(request)) return false;
  Slot& slot = slot_of(request);
  if (slot.is_send || slot.is_open) return false;
  query_.action = TagQuery::Action::withdraw;
  query_.to = rank_;
  query_.receive = &slot.receive;
  ask();
  if (!query_.found) return false;
  slot.cancelled = true;
  static_cast<void>(slot.receive.settle());  // no other thread has it any more
  return true;
}

}  // namespace wormcube
