// A visit to the network: how worms are moved on, matched with receives, and copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/network/body.hpp"
#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/network/routers.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/core.h>

namespace wormcube {

/// One node's visit to the network: the waiters that it must carry on, first come, first served.
/// With last come, first served, waiters that keep queueing for one busy port would delay all
/// others in this visit; so each waits for at most those that came before it.
/// \tparam Threads  how threads share the network: one text, an instantiation for each.
/// \tparam flits  routers move the worms; only receives and queries are carried on here, and the
///                ends of worms at their tag table.
template <class Threads, bool flits>
class Network::Drive {
 public:
  Drive(Network& network, Rank visitor) : network_(network), visitor_(visitor) {}
  ~Drive() {
    if (moving_.count() > 0) network_.host_.moved_data(visitor_, moving_);
  }
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  void carry_on(Waiter* given_back) noexcept {
    while (given_back != nullptr) {
      Waiter* const next = given_back->next;
      take_over(given_back);
      given_back = next;
    }
    carry_on();
  }

  void launch(Worm& worm) noexcept {
    if constexpr (flits) return network_.routers_->launch(worm);
    guarded(worm.from, worm.step, [&] {
      if (needs_no_reservation(worm)) {
        worm.reserved = worm.path.size();
        arrive<Hold::all_free>(worm);
      } else {
        advance(worm);
      }
    });
    carry_on();
  }
  /// \param seeker  a receive or a query
  void enter_table(auto& seeker) noexcept {
    TagTable& table = network_.tables_[seeker.to];
    if (Threads::are_one && table.is_free()) {
      guarded(seeker.to, seeker.step, [&] { place<Hold::all_free>(seeker); });
    } else if (table.template acquire<Threads>(seeker)) {
      guarded(seeker.to, seeker.step, [&] { place<Hold::taken>(seeker); });
    }
    carry_on();
  }

  /// For a router, whose worm arrives: whether it has the tag table; else the router gets the worm
  /// when it has.
  bool enter_table(Worm& worm) noexcept {
    return network_.tables_[worm.to].template acquire<Threads>(worm);
  }
  /// Finds where the message of this head goes, and releases the table.
  void match(Worm& worm, Arrival& arrival) noexcept {
    guarded(worm.to, worm.step, [&] { match_head(worm, arrival); });
    carry_on();
  }
  /// All of the message is where it goes. The table is held if no receive was found by the head.
  void finish(Worm& worm, const Arrival& arrival) noexcept {
    guarded(worm.to, worm.step, [&] { finish_message(worm, arrival); });
    carry_on();
  }

 private:
  /// Whether a waiter has taken its reservations. If one thread does all, and they are all free, it
  /// need not take them: nobody else asks for them before this visit is done with the waiter.
  enum class Hold : std::uint8_t { taken, all_free };

  // An action is code that may call the network; an observer's, that may look at it.
  bool needs_no_reservation(const Worm& worm) const {
    return Threads::are_one && worm.action == nullptr && network_.settings_.observer == nullptr &&
           std::ranges::all_of(worm.path, [](const Reservation* each) { return each->is_free(); });
  }

  void take_over(Waiter* waiter) {
    if (waiter == nullptr) return;
    waiter->next = nullptr;
    (handed_last_ == nullptr ? handed_ : handed_last_->next) = waiter;
    handed_last_ = waiter;
  }

  void carry_on() noexcept {
    if (handed_ != nullptr) carry_on_handed();
  }
  void carry_on_handed() noexcept {
    while (handed_ != nullptr) {
      Waiter* const waiter = handed_;
      handed_ = waiter->next;
      if (handed_ == nullptr) handed_last_ = nullptr;
      const bool is_worm = waiter->kind == Waiter::Kind::worm;
      if (flits && is_worm) {
        network_.routers_->resume(static_cast<Worm&>(*waiter));
        continue;
      }
      const std::uint64_t step = static_cast<const Transfer*>(waiter)->step;
      const Rank owner =
          is_worm ? static_cast<Worm*>(waiter)->from : static_cast<Seeker*>(waiter)->to;
      if (owner != visitor_) {
        if ((carried_ >= most_carried || moved_ >= most_moved) &&
            network_.host_.give_back(owner, *waiter)) {
          continue;
        }
        ++carried_;
      }
      if (is_worm) {
        Worm& worm = static_cast<Worm&>(*waiter);
        guarded(owner, step, [&] {
          if (is_channel(worm, worm.reserved)) {
            network_.counted(channel(worm, worm.reserved)).count_blocked();
          }
          granted(worm);
          advance(worm);
        });
      } else {
        guarded(owner, step, [&] {
          waiter->kind == Waiter::Kind::receive
              ? place<Hold::taken>(static_cast<Receive&>(*waiter))
              : place<Hold::taken>(static_cast<TagQuery&>(*waiter));
        });
      }
    }
  }

  // An error is the owner's failure, not that of the node whose thread carries the worm. The worm
  // keeps what it holds; the machine stops.
  template <class F>
  void guarded(Rank owner, std::uint64_t step, F&& act) noexcept {
    try {
      act();
    } catch (...) {
      network_.host_.failed(owner, step, std::current_exception());
    }
  }

  static bool is_channel(const Worm& worm, std::size_t entry) {
    return entry > 0 && entry + 2 < worm.path.size();
  }
  static VirtualChannel& channel(const Worm& worm, std::size_t entry) {
    return static_cast<VirtualChannel&>(*worm.path[entry]);
  }

  void granted(Worm& worm) {
    const std::size_t entry = worm.reserved++;
    if (network_.settings_.observer != nullptr && is_channel(worm, entry)) {
      network_.settings_.observer->reserved(worm.from, worm.to, channel(worm, entry).id(),
                                            static_cast<int>(entry) - 1);
    }
  }

  void advance(Worm& worm) {
    const std::size_t length = worm.path.size();
    while (worm.reserved < length) {
      // If it is not available, another thread may have the worm from here on.
      if (!worm.path[worm.reserved]->template acquire<Threads>(worm)) return;
      granted(worm);
    }
    arrive<Hold::taken>(worm);
  }

  template <Hold hold>
  void release(TagTable& table) {
    if constexpr (hold == Hold::taken) take_over(table.release<Threads>());
  }
  template <Hold hold>
  [[gnu::always_inline]] void release_path(Worm& worm) {
    for (Reservation* const link : worm.channels())
      network_.counted(static_cast<VirtualChannel&>(*link)).count_message(worm.bytes);
    if constexpr (hold == Hold::taken) {
      const std::size_t table = worm.path.size() - 1;
      for (std::size_t entry = 0; entry < table; ++entry)
        take_over(worm.path[entry]->template release<Threads>());
    }
  }

  // All of the worm's path is its own, including the tag table of its destination.
  template <Hold hold>
  void arrive(Worm& worm) {
    TagTable& table = network_.tables_[worm.to];
    if constexpr (hold == Hold::taken) {
      if (worm.action != nullptr) return act(worm, table);
    }
    Receive* const receive = table.take_receive(worm.from, worm.tag, worm.context);
    if (receive == nullptr) return arrive_first<hold>(worm, table);
    release<hold>(table);
    receive->was_early = false;
    if (!accepts(*receive, worm)) return;
    move_data(worm, *receive);
    complete(*receive);
    release_path<hold>(worm);
    complete(worm);
  }
  void act(Worm& worm, TagTable& table) {
    timed(worm.bytes, [&] { (*worm.action)(); });
    take_over(table.release<Threads>());
    release_path<Hold::taken>(worm);
    complete(worm);
  }
  template <Hold hold>
  void arrive_first(Worm& worm, TagTable& table) {
    if (EarlyMessage* const early =
            is_kept(worm) ? table.keep_short(worm, network_.settings_.early) : nullptr) {
      const Span buffer = early->data();
      timed(worm.bytes, [&] {
        is_one_line(worm) ? copy_line(worm, buffer)
                          : copy_body(worm, Cursor(std::span(&buffer, 1)));
      });
      answer_queries(table, *early);
      release<hold>(table);
      release_path<hold>(worm);
      complete(worm);
    } else {
      worm.state = Worm::State::absorbed;
      EarlyMessage& absorbed = table.keep_absorbed(worm);
      release_path<hold>(worm);
      answer_queries(table, absorbed);
      release<hold>(table);  // the last touch: a receive may now complete the worm
    }
  }

  // The worm's thread holds the table; the message has just become an unexpected one.
  void answer_queries(TagTable& table, EarlyMessage& early) {
    while (TagQuery* const query = table.take_query(early)) {
      const bool claims = query->action == TagQuery::Action::claim;
      if (claims) table.claim(early);
      query->found_message(early);
      answer(*query, &early);
      if (claims) return;
    }
  }
  void answer(TagQuery& query, EarlyMessage* early) {
    query.early = early;
    query.found = early != nullptr;
    tell(query, query.to);
  }

  // The tag table of the receive's, or query's, node is its own.
  template <Hold hold>
  void place(Receive& receive) {
    TagTable& table = network_.tables_[receive.to];
    if (receive.claimed != nullptr) return deliver<hold>(table, *receive.claimed, receive);
    if (EarlyMessage* const early = table.take_early(receive))
      return deliver<hold>(table, *early, receive);
    table.post(receive);
    release<hold>(table);
  }

  template <Hold hold>
  void place(TagQuery& query) {
    TagTable& table = network_.tables_[query.to];
    if (query.action == TagQuery::Action::withdraw) {
      query.found = table.withdraw(*query.receive);
      release<hold>(table);
      return tell(query, query.to);
    }
    EarlyMessage* const early =
        query.action == TagQuery::Action::claim ? table.take_early(query) : table.look(query);
    if (early == nullptr && query.may_wait) {
      table.wait_for_message(query);
      return release<hold>(table);
    }
    // Its statistics, while they cannot change.
    if (early != nullptr) query.found_message(*early);
    release<hold>(table);
    answer(query, early);
  }

  void match_head(Worm& worm, Arrival& arrival);
  void finish_message(Worm& worm, const Arrival& arrival);
  void take_from_buffer(EarlyMessage& early, Receive& receive) {
    const Bytes bytes = std::min(early.bytes, receive.bytes);
    timed(bytes, [&] { Cursor(receive.data).write(early.data().first(bytes)); });
  }

  template <Hold hold>
  void deliver(TagTable& table, EarlyMessage& early, Receive& receive) {
    receive.was_early = true;
    if (!accepts(receive, early)) return;
    Worm* const worm = early.worm;
    if constexpr (flits) {
      if (early.is_arriving) {
        early.taker = &receive;
        return release<hold>(table);
      }
      take_from_buffer(early, receive);
    } else if (worm == nullptr) {
      take_from_buffer(early, receive);
    }
    table.recycle(&early, network_.settings_.early);
    release<hold>(table);
    if (!flits && worm != nullptr) move_data(*worm, receive);
    complete(receive);
    if (worm != nullptr) complete(*worm);
  }

  bool is_kept(const Worm& worm) const {
    return !worm.synchronous && worm.bytes <= std::max(network_.settings_.eager_limit,
                                                       network_.settings_.unexpected_limit);
  }

  // Records what the receive has taken.
  bool accepts(Receive& receive, const auto& message) {
    receive.found_message(message);
    if (!receive.exact || message.bytes == receive.bytes) return true;
    refuse(receive, message);
    return false;
  }
  [[gnu::noinline]] void refuse(const Receive& receive, const auto& message) {
    network_.host_.wrong({message.from, receive.to, message.tag, message.bytes, receive.bytes});
    network_.host_.failed(receive.to, receive.step,
                          std::make_exception_ptr(UsageError(fmt::format(
                              "receives {} bytes from node {} with tag {}, but the message has {}",
                              receive.bytes, message.from, message.tag, message.bytes))));
  }

  // In a cache line or two: what most short messages are, without a call.
  static bool is_one_line(const Worm& worm) { return worm.data.size() == 1 && worm.bytes <= 64; }
  static void copy_line(const Worm& worm, Span to) {
    if (worm.bytes > 0) std::memcpy(to.data(), worm.data.front().data(), worm.bytes);
  }
  void move_data(const Worm& worm, const Receive& receive) {
    if (is_one_line(worm) && receive.data.size() == 1 && worm.bytes <= receive.bytes)
      return timed(worm.bytes, [&] { copy_line(worm, receive.data.front()); });
    move_pieces(worm, receive);
  }
  // For a message that is longer than the buffer, the part that fits.
  [[gnu::noinline]] void move_pieces(const Worm& worm, const Receive& receive) {
    Cursor to(receive.data);
    if (worm.bytes > receive.bytes) {
      timed(receive.bytes, [&] { copy_body_first(worm, receive.bytes, to); });
    } else {
      timed(worm.bytes,
            [&] { receive.unread ? copy_body_past_caches(worm, to) : copy_body(worm, to); });
    }
  }
  template <class F>
  void timed(Bytes bytes, F&& move) {
    moved_ += bytes;
    if (!network_.settings_.timing) return move();
    const auto start = network_.host_.own_time();
    move();
    moving_ += network_.host_.own_time() - start;
  }

  void complete(Receive& receive) {
    receive.done = true;
    tell(receive, receive.to);
  }
  void tell(Transfer& transfer, Rank owner) {
    switch (transfer.template settle<Threads>()) {
      case Transfer::Progress::awaited:
        return network_.host_.completed(owner);
      case Transfer::Progress::watched:
        return network_.host_.noticed(owner);
      default:
        return;
    }
  }
  [[gnu::always_inline]] void complete(Worm& worm) {
    Worm* const successor = worm.successor;
    worm.state = Worm::State::done;
    tell(worm, worm.from);
    if (successor != nullptr) let_follow(*successor);
  }
  // The successor's step is not complete before it is, so it is still there.
  [[gnu::noinline]] void let_follow(Worm& successor) {
    if constexpr (flits) return network_.routers_->launch(successor);
    if (successor.path.front()->template acquire<Threads>(successor)) take_over(&successor);
  }

  Network& network_;
  const Rank visitor_;
  int carried_ = 0;  // waiters of others
  Bytes moved_ = 0;
  std::chrono::nanoseconds moving_{0};
  Waiter* handed_ = nullptr;
  Waiter* handed_last_ = nullptr;
};

}  // namespace wormcube
