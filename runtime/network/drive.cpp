// Visits to the network: the ends of messages in flits, and who visits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/drive.hpp"

#include <algorithm>

namespace wormcube {

template <class Threads, bool flits>
void Network::Drive<Threads, flits>::match_head(Worm& worm, Arrival& arrival) {
  TagTable& table = network_.tables_[worm.to];
  worm.reserved = worm.path.size();
  Receive* const receive = table.take_receive(worm.from, worm.tag, worm.context);
  if (receive == nullptr) {
    const auto [early, keeps] = table.keep_arriving(worm, is_kept(worm), network_.settings_.early);
    arrival.early = early;
    arrival.keeps = keeps;
    arrival.buffer = early->data();
    arrival.to = Cursor(std::span(&arrival.buffer, 1));
    arrival.room = worm.bytes;
    answer_queries(table, *early);
    return release<Hold::taken>(table);
  }
  release<Hold::taken>(table);
  receive->was_early = false;
  arrival.receive = receive;
  if (!accepts(*receive, worm)) return;
  arrival.to = Cursor(receive->data);
  arrival.room = std::min(worm.bytes, receive->bytes);
}

template <class Threads, bool flits>
void Network::Drive<Threads, flits>::finish_message(Worm& worm, const Arrival& arrival) {
  if (arrival.receive != nullptr) {
    moved_ += worm.bytes;
    complete(*arrival.receive);
    return complete(worm);
  }
  TagTable& table = network_.tables_[worm.to];
  if (worm.action != nullptr) {
    timed(worm.bytes, [&] { (*worm.action)(); });
    release<Hold::taken>(table);
    return complete(worm);
  }
  EarlyMessage& early = *arrival.early;
  early.is_arriving = false;
  Receive* const taker = early.taker;
  if (taker == nullptr) {
    if (!arrival.keeps) worm.state = Worm::State::absorbed;
    release<Hold::taken>(table);  // a receive may now complete a worm that is not kept
    if (arrival.keeps) complete(worm);
    return;
  }
  take_from_buffer(early, *taker);
  table.recycle(&early, network_.settings_.early);
  release<Hold::taken>(table);
  complete(*taker);
  complete(worm);
}

template <class F>
void Network::drive(Rank visitor, F&& f) noexcept {
  if (routers_ != nullptr) [[unlikely]] {
    drive_in_flits(visitor, f);
  } else if (one_thread_) {
    Drive<OneThread, false> drive(*this, visitor);
    f(drive);
  } else {
    Drive<SeveralThreads, false> drive(*this, visitor);
    f(drive);
  }
}
// Not inlined: so the copy's visits stay as short as they are without flits.
template <class F>
[[gnu::noinline]] auto Network::drive_in_flits(Rank visitor, F&& f) noexcept {
  if (one_thread_) {
    Drive<OneThread, true> drive(*this, visitor);
    return f(drive);
  }
  Drive<SeveralThreads, true> drive(*this, visitor);
  return f(drive);
}
void Network::launch(Worm& worm) noexcept {
  drive(worm.from, [&](auto& drive) { drive.launch(worm); });
}
void Network::post(Receive& receive) noexcept {
  drive(receive.to, [&](auto& drive) { drive.enter_table(receive); });
}
void Network::ask(TagQuery& query) noexcept {
  drive(query.to, [&](auto& drive) { drive.enter_table(query); });
}
bool Network::enter_table(Worm& worm) noexcept {
  return drive_in_flits(worm.to, [&](auto& drive) { return drive.enter_table(worm); });
}
void Network::match(Worm& worm, Arrival& arrival) noexcept {
  drive_in_flits(worm.to, [&](auto& drive) { drive.match(worm, arrival); });
}
void Network::finish(Worm& worm, const Arrival& arrival) noexcept {
  drive_in_flits(worm.to, [&](auto& drive) { drive.finish(worm, arrival); });
}
void Network::carry_on(Waiter* given_back) noexcept {
  const Rank owner = given_back->kind == Waiter::Kind::worm ? static_cast<Worm*>(given_back)->from
                                                            : static_cast<Seeker*>(given_back)->to;
  drive(owner, [&](auto& drive) { drive.carry_on(given_back); });
}

}  // namespace wormcube
