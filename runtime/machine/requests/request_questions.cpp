// Questions to a node's tag table: which messages are there, and which receives can still be withdrawn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/requests/request_table.hpp"

#include <fmt/core.h>

namespace wormcube {

void RequestTable::ask(Receive::Action action, const MessagePattern& pattern, bool may_wait) {
  require(pattern.source, pattern.context);
  stir();
  question_.action = action;
  question_.may_wait = may_wait;
  question_.from = pattern.source;
  question_.to = rank_;
  question_.tag = pattern.tag;
  question_.context = pattern.context;
  question_.bytes = 0;
  question_.choice = choice();
  ask();
}

void RequestTable::ask() {
  question_.done = question_.found = false;
  question_.early = nullptr;
  question_.begin(Transfer::Progress::pending);
  asking_ = true;
  host_.post(question_);
  Transfer* const own = &question_;
  if (!question_.is_complete()) host_.wait_for_all(std::span(&own, 1));
  asking_ = false;
}

std::optional<Status> RequestTable::probe(const MessagePattern& pattern) {
  ask(Receive::Action::look, pattern, false);
  if (!question_.found) {
    poll();
    return std::nullopt;
  }
  Status status = status_of(question_);
  status.truncated = false;
  return status;
}

Status RequestTable::wait_for(const MessagePattern& pattern) {
  ask(Receive::Action::look, pattern, true);
  Status status = status_of(question_);
  status.truncated = false;
  return status;
}

Request RequestTable::taken(Status& status) {
  status = status_of(question_);
  status.truncated = false;
  const Request request = fresh();
  Slot& slot = new_slot(request);
  slot.taken = true;
  slot.receive.action = Receive::Action::deliver;
  slot.receive.exact = false;
  slot.receive.to = rank_;
  slot.receive.from = question_.source;
  slot.receive.tag = question_.source_tag;
  slot.receive.context = question_.context;
  slot.receive.early = question_.early;
  return request;
}

std::optional<Request> RequestTable::take(const MessagePattern& pattern, Status& status) {
  ask(Receive::Action::take, pattern, false);
  if (question_.found) return taken(status);
  poll();
  return std::nullopt;
}

Request RequestTable::wait_to_take(const MessagePattern& pattern, Status& status) {
  ask(Receive::Action::take, pattern, true);
  return taken(status);
}

void RequestTable::receive(Request request, Span room) {
  Slot& slot = slot_of(request);
  if (!slot.taken) {
    throw UsageError(
        fmt::format("requests: node {} receives a message that it has not taken", rank_));
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
  question_.action = Receive::Action::withdraw;
  question_.to = rank_;
  question_.other = &slot.receive;
  ask();
  if (!question_.found) return false;
  slot.cancelled = true;
  static_cast<void>(slot.receive.settle());  // nobody else has it any more
  return true;
}

}  // namespace wormcube
