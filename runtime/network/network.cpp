// How worms move.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/network.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

/// One node's visit to the network: the waiters that it was handed and must carry on, first come,
/// first served. Last come, first served would let those who keep queueing for one busy port hold
/// up all others that this visit has been handed; so each waits for at most those that were handed
/// over before it.
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
    guarded(worm.from, worm.step, [&] { advance(worm); });
    carry_on();
  }
  void post(Receive& receive) noexcept {
    if (network_.tables_[receive.to].acquire(receive)) {
      guarded(receive.to, receive.step, [&] { place(receive); });
    }
    carry_on();
  }

 private:
  void take_over(Waiter* waiter) {
    if (waiter == nullptr) return;
    waiter->next = nullptr;
    (handed_last_ == nullptr ? handed_ : handed_last_->next) = waiter;
    handed_last_ = waiter;
  }

  void carry_on() noexcept {
    while (handed_ != nullptr) {
      Waiter* const waiter = handed_;
      handed_ = waiter->next;
      if (handed_ == nullptr) handed_last_ = nullptr;
      const bool is_worm = waiter->kind == Waiter::Kind::worm;
      const std::uint64_t step = static_cast<const Transfer*>(waiter)->step;
      const Rank owner =
          is_worm ? static_cast<Worm*>(waiter)->from : static_cast<Receive*>(waiter)->to;
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
            counted(channel(worm, worm.reserved)).count_blocked();
          }
          granted(worm);
          advance(worm);
        });
      } else {
        guarded(owner, step, [&] { place(static_cast<Receive&>(*waiter)); });
      }
    }
  }

  // A channel that is held, its counts those of this run.
  VirtualChannel& counted(VirtualChannel& channel) const {
    if (channel.is_new(network_.run_)) {
      network_.channels_.mark(static_cast<std::size_t>(channel.id()), network_.run_);
    }
    return channel;
  }

  // What goes wrong is the owner's failure, not that of the node whose thread carries. The worm
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
    while (worm.reserved < worm.path.size()) {
      // If it is not to be had, another thread may have the worm from here on.
      if (!worm.path[worm.reserved]->acquire(worm)) return;
      granted(worm);
    }
    arrive(worm);
  }

  void release_path(Worm& worm) {
    const std::size_t table = worm.path.size() - 1;
    for (std::size_t entry = 0; entry < table; ++entry) {
      if (is_channel(worm, entry)) counted(channel(worm, entry)).count_message(worm.bytes);
      take_over(worm.path[entry]->release());
    }
  }

  // The worm holds all of its path, the tag table of its destination included.
  void arrive(Worm& worm) {
    TagTable& table = network_.tables_[worm.to];
    if (Receive* const receive = table.take_receive(worm.from, worm.tag, worm.context)) {
      take_over(table.release());
      if (!accepts(*receive, worm.from, worm.tag, worm.bytes)) return;
      move_data(worm, *receive, is_short(worm));
      complete(*receive);
      release_path(worm);
      complete(worm);
    } else if (EarlyMessage* const early =
                   is_short(worm) && !worm.synchronous ? table.keep_short(worm) : nullptr) {
      const Span buffer = early->data();
      timed(worm.bytes, [&] { stream(worm, Cursor(std::span(&buffer, 1))); });
      answer_questions(table, *early);
      take_over(table.release());
      release_path(worm);
      complete(worm);
    } else {
      worm.state = Worm::State::absorbed;
      EarlyMessage& absorbed = table.keep_absorbed(worm);
      release_path(worm);
      answer_questions(table, absorbed);
      take_over(table.release());  // the last touch: a receive may now complete the worm
    }
  }

  // The worm's thread holds the table; the message has just become an early one.
  void answer_questions(TagTable& table, EarlyMessage& early) {
    while (Receive* const question = table.take_question(early)) {
      const bool takes = question->action == Receive::Action::take;
      if (takes) table.claim(early);
      answer(*question, &early);
      if (takes) return;
    }
  }
  void answer(Receive& question, EarlyMessage* early) {
    question.early = early;
    question.found = early != nullptr;
    if (early != nullptr) question.found_message(early->from, early->tag, early->bytes);
    complete(question);
  }

  // The receive holds the tag table of its node.
  void place(Receive& receive) {
    TagTable& table = network_.tables_[receive.to];
    switch (receive.action) {
      case Receive::Action::receive:
        if (EarlyMessage* const early = table.take_early(receive))
          return deliver(table, *early, receive);
        table.post(receive);
        break;
      case Receive::Action::deliver:
        return deliver(table, *receive.early, receive);
      case Receive::Action::look:
      case Receive::Action::take:
        return ask(table, receive);
      case Receive::Action::withdraw:
        receive.found = table.withdraw(*receive.other);
        take_over(table.release());
        return complete(receive);
    }
    take_over(table.release());
  }

  void deliver(TagTable& table, EarlyMessage& early, Receive& receive) {
    if (!accepts(receive, early.from, early.tag, early.bytes)) return;
    Worm* const worm = early.worm;
    if (worm == nullptr) {
      const Bytes bytes = std::min(early.bytes, receive.bytes);
      timed(bytes, [&] { Cursor(receive.data).write(early.data().first(bytes)); });
    }
    table.recycle(&early);
    take_over(table.release());
    if (worm != nullptr) move_data(*worm, receive, false);
    complete(receive);
    if (worm != nullptr) complete(*worm);
  }

  void ask(TagTable& table, Receive& question) {
    EarlyMessage* const early = question.action == Receive::Action::take
                                    ? table.take_early(question)
                                    : table.look(question);
    if (early == nullptr && question.may_wait) {
      table.wait_for_message(question);
      return take_over(table.release());
    }
    // Its figures, while they cannot change.
    if (early != nullptr) question.found_message(early->from, early->tag, early->bytes);
    question.early = early;
    question.found = early != nullptr;
    take_over(table.release());
    complete(question);
  }

  bool is_short(const Worm& worm) const { return worm.bytes <= network_.settings_.eager_limit; }

  // Notes what the receive has taken.
  bool accepts(Receive& receive, Rank from, Tag tag, Bytes sent) {
    receive.found_message(from, tag, sent);
    if (!receive.exact || sent == receive.bytes) return true;
    network_.host_.failed(receive.to, receive.step,
                          std::make_exception_ptr(UsageError(fmt::format(
                              "receives {} bytes from node {} with tag {}, but the message has {}",
                              receive.bytes, from, tag, sent))));
    return false;
  }

  // Of a message that is longer than the room, what there is room for.
  void move_data(const Worm& worm, const Receive& receive, bool as_flits) {
    Cursor to(receive.data);
    if (worm.bytes > receive.bytes) {
      timed(receive.bytes, [&] { copy_first(worm, receive.bytes, to); });
    } else {
      timed(worm.bytes, [&] {
        as_flits ? stream(worm, to) : receive.unread ? copy_past_caches(worm, to) : copy(worm, to);
      });
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

  // One copy, from the sender's memory to the receiver's.
  static void copy(const Worm& worm, Cursor to) {
    for (const Span piece : worm.data) to.write(piece);
  }
  static void copy_past_caches(const Worm& worm, Cursor to) {
    for (const Span piece : worm.data) to.write(piece, copy_unread);
    settle_unread();
  }
  static void copy_first(const Worm& worm, Bytes bytes, Cursor to) {
    for (const Span piece : worm.data) {
      const Bytes now = std::min(bytes, piece.size());
      to.write(piece.first(now));
      bytes -= now;
    }
  }

  // The body as flits through the channels; then in one copy.
  static void stream(const Worm& worm, Cursor to) {
    [[maybe_unused]] const Bytes arrived = pass_flits(worm);
    WORMCUBE_ASSERT(arrived == worm.bytes);
    copy(worm, to);
  }

  // As many as a queue holds go from the first channel to the last, then the next: so a capacity of
  // one flit suffices. Returns for how many bytes there were flits.
  static Bytes pass_flits(const Worm& worm) {
    const std::size_t first = 1, end = worm.path.size() - 2;
    if (first == end) return worm.bytes;  // to oneself: no link, no flit
    Bytes left = worm.bytes, arrived = 0;
    Flit flit;
    for (bool tail_arrived = false; !tail_arrived;) {
      for (bool tail_sent = false; !tail_sent;) {
        const Flit next{.bytes = static_cast<std::uint32_t>(std::min(left, Flit::capacity)),
                        .tail = left <= Flit::capacity};
        if (!channel(worm, first).try_push(next)) break;
        left -= next.bytes;
        tail_sent = next.tail;
      }
      for (std::size_t entry = first + 1; entry < end; ++entry) {
        while (channel(worm, entry - 1).try_pop(flit)) {
          // Of the same capacity, and empty.
          [[maybe_unused]] const bool has_room = channel(worm, entry).try_push(flit);
          WORMCUBE_ASSERT(has_room);
        }
      }
      while (channel(worm, end - 1).try_pop(flit)) {
        arrived += flit.bytes;
        tail_arrived = flit.tail;
      }
    }
    return arrived;
  }

  void complete(Receive& receive) {
    receive.done = true;
    tell(receive, receive.to);
  }
  void tell(Transfer& transfer, Rank owner) {
    switch (transfer.settle()) {
      case Transfer::Progress::awaited:
        return network_.host_.completed(owner);
      case Transfer::Progress::watched:
        return network_.host_.noticed(owner);
      default:
        return;
    }
  }
  void complete(Worm& worm) {
    Worm* const successor = worm.successor;
    worm.state = Worm::State::done;
    tell(worm, worm.from);
    // The successor's step is not complete before it is, so it is still there.
    if (successor != nullptr && successor->path.front()->acquire(*successor)) take_over(successor);
  }

  Network& network_;
  const Rank visitor_;
  int carried_ = 0;  // waiters of others
  Bytes moved_ = 0;
  std::chrono::nanoseconds moving_{0};
  Waiter* handed_ = nullptr;
  Waiter* handed_last_ = nullptr;
};

/// The paths that a node's messages took before: 64, short ones, by destination or by moves. To find
/// a path costs a fifth of a short message.
///
/// Threads  the node's.
class Network::KnownPaths {
 public:
  /// All nodes' together stay in a core's cache, or near it.
  static constexpr Rank most_nodes = 64;

  bool find(Worm& worm, const Op& op) const {
    if (slots_ == nullptr) return false;
    const std::uint64_t key = key_of(op);
    const Slot& slot = slots_[index(key)];
    if (slot.key != key || key == 0) return false;
    worm.to = slot.to;
    worm.path.assign(slot.path.begin(), slot.path.begin() + slot.length);
    return true;
  }
  void keep(const Worm& worm, const Op& op) {
    const std::uint64_t key = key_of(op);
    if (key == 0 || worm.path.size() > most_entries) return;
    if (slots_ == nullptr) slots_ = std::make_unique<Slot[]>(most_paths);
    Slot& slot = slots_[index(key)];
    slot.key = key;
    slot.to = worm.to;
    slot.length = static_cast<std::uint32_t>(worm.path.size());
    std::ranges::copy(worm.path, slot.path.begin());
  }

 private:
  static constexpr std::size_t most_paths = 64, most_entries = 14;
  struct alignas(64) Slot {
    std::uint64_t key = 0;  // 0: none
    Rank to = 0;
    std::uint32_t length = 0;
    std::array<Reservation*, most_entries> path = {};
  };
  static_assert(sizeof(Slot) == 128);

  // Its lowest two bits are the number of moves; 0: has none.
  static std::uint64_t key_of(const Op& op) {
    if (op.to() == Op::To::rank) return 4 * (static_cast<std::uint64_t>(op.peer()) + 1);
    if (op.moves().empty() || op.moves().size() > 3) return 0;
    std::uint64_t key = 0;
    for (const Move move : op.moves()) {
      if (move.dimension >= 16 || std::abs(move.hops) >= 1 << 15) return 0;
      key = key << 20U | static_cast<std::uint64_t>(move.dimension) << 16U |
            static_cast<std::uint16_t>(move.hops);
    }
    return key << 2U | op.moves().size();
  }
  static std::size_t index(std::uint64_t key) {
    return key % 4 == 0 ? key / 4 % most_paths : key * 0x9e3779b97f4a7c15U >> 58U;
  }

  std::unique_ptr<Slot[]> slots_;
};

Network::Network(Routing routing, Settings settings, NetworkHost& host)
    : routing_(std::move(routing)),
      settings_(settings),
      host_(host),
      channels_(static_cast<std::size_t>(routing_.channels())),
      link_ports_(settings.all_port ? static_cast<std::size_t>(routing_.topology().links() +
                                                               routing_.topology().nodes())
                                    : 0),
      node_ports_(settings.all_port ? 0 : static_cast<std::size_t>(routing_.topology().nodes())),
      tables_(static_cast<std::size_t>(routing_.topology().nodes())),
      known_paths_(routing_.topology().nodes() > KnownPaths::most_nodes
                       ? 0
                       : static_cast<std::size_t>(routing_.topology().nodes())) {}
Network::~Network() = default;

double Network::bytes_of_tables(const Routing& routing, const Settings& settings) {
  const Topology& topology = routing.topology();
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  const auto links = static_cast<std::size_t>(topology.links());
  return static_cast<double>(
      LazyTable<VirtualChannel>::bytes_of(static_cast<std::size_t>(routing.channels())) +
      (settings.all_port ? LazyTable<LinkPorts>::bytes_of(links + nodes)
                         : nodes * sizeof(LinkPorts)) +
      nodes * sizeof(TagTable));
}

void Network::address(Worm& worm, Rank from, const Op& op) {
  worm.reserved = 0;
  worm.state = Worm::State::travelling;
  worm.successor = nullptr;
  worm.follows = false;
  // A node that sends the same way as with this worm before: round a ring, to its one partner.
  const auto way = op.to() == Op::To::rank  ? Worm::Way::to_rank
                   : op.moves().size() == 1 ? Worm::Way::by_move
                                            : Worm::Way::by_moves;
  if (worm.way == way && worm.from == from &&
      (way == Worm::Way::to_rank   ? worm.to == op.peer()
       : way == Worm::Way::by_move ? worm.move == op.moves().front()
                                   : false)) {
    return;
  }
  worm.way = Worm::Way::none;  // until the path is whole
  worm.from = from;
  if (known_paths_.empty()) {
    find_path(worm, op);
  } else if (!known_paths_[from].find(worm, op)) {
    find_path(worm, op);
    known_paths_[from].keep(worm, op);
  }
  if (way == Worm::Way::by_move) worm.move = op.moves().front();
  worm.way = way;
}

void Network::find_path(Worm& worm, const Op& op) {
  const Rank from = worm.from;
  // Used within this call only, so fibers may share it.
  static thread_local std::vector<Channel> route;
  route.clear();
  worm.path.clear();
  if (op.to() == Op::To::rank) {
    worm.to = op.peer();
    routing_.route(from, op.peer(), route);
  } else {
    worm.to = routing_.route(from, op.moves(), route);
  }
  const Topology& topology = routing_.topology();
  const auto link_ports = [&](Link link) -> LinkPorts& {
    return link_ports_.get(static_cast<std::size_t>(link));
  };
  if (!settings_.all_port) {
    worm.path.push_back(&node_ports_[from].injection);
  } else {
    worm.path.push_back(
        &link_ports(route.empty() ? topology.links() + from : routing_.link(route.front()))
             .injection);
  }
  for (const Channel channel : route) {
    worm.path.push_back(
        &channels_.get(static_cast<std::size_t>(channel), channel, settings_.channel_capacity));
  }
  if (!settings_.all_port) {
    worm.path.push_back(&node_ports_[worm.to].ejection);
  } else {
    worm.path.push_back(
        &link_ports(route.empty() ? topology.links() + from : routing_.link(route.back()))
             .ejection);
  }
  worm.path.push_back(&tables_[worm.to]);
}

void Network::launch(Worm& worm) noexcept { Drive(*this, worm.from).launch(worm); }
void Network::post(Receive& receive) noexcept { Drive(*this, receive.to).post(receive); }
void Network::carry_on(Waiter* given_back) noexcept {
  const Rank owner = given_back->kind == Waiter::Kind::worm ? static_cast<Worm*>(given_back)->from
                                                            : static_cast<Receive*>(given_back)->to;
  Drive(*this, owner).carry_on(given_back);
}

std::string Network::describe(const Worm& worm, std::size_t entry) const {
  if (entry == 0) return fmt::format("injection port of node {}", worm.from);
  if (entry + 2 == worm.path.size()) return fmt::format("ejection port of node {}", worm.to);
  if (entry + 1 == worm.path.size()) return fmt::format("tag table of node {}", worm.to);
  return "link " +
         routing_.channel_name(static_cast<const VirtualChannel*>(worm.path[entry])->id());
}

std::string Network::held_links(const Worm& worm) const {
  std::string text;
  if (worm.state != Worm::State::travelling) return text;
  for (std::size_t entry = 1; entry < std::min(worm.reserved, worm.path.size() - 2); ++entry) {
    text += (text.empty() ? "" : ", ") +
            routing_.channel_name(static_cast<const VirtualChannel*>(worm.path[entry])->id());
  }
  return text;
}

void Network::each_channel(const std::function<void(const VirtualChannel&)>& f) const {
  channels_.each_marked(run_, [&](const VirtualChannel& channel) {
    if (channel.is_used_in(run_)) f(channel);
  });
}

std::optional<std::string> Network::leftover() const {
  for (std::size_t node = 0; node < tables_.size(); ++node) {
    if (const EarlyMessage* const early = tables_[node].leftover()) {
      return fmt::format("node {} never received a message of {} bytes from node {} with tag {}",
                         node, early->bytes, early->from, early->tag);
    }
  }
  return {};
}

void Network::reset() {
  channels_.each([](VirtualChannel& channel) { channel.reset(); });
  const auto free = [](LinkPorts& ports) {
    ports.injection.reset();
    ports.ejection.reset();
  };
  link_ports_.each(free);
  std::ranges::for_each(node_ports_, free);
  for (TagTable& table : tables_) table.reset();
}

}  // namespace wormcube
