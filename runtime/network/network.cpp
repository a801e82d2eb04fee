// How worms move.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/network.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

/// One thread's visit to the network: the waiters that it was handed and must carry on.
class Network::Drive {
 public:
  explicit Drive(Network& network) : network_(network) {}

  void launch(Worm& worm) {
    advance(worm);
    carry_on();
  }
  void post(Receive& receive) {
    if (network_.matching_[receive.to].acquire(receive)) place(receive);
    carry_on();
  }

 private:
  void take_over(Waiter* waiter) {
    if (waiter == nullptr) return;
    waiter->next = handed_;
    handed_ = waiter;
  }

  void carry_on() {
    while (handed_ != nullptr) {
      Waiter* const waiter = handed_;
      handed_ = waiter->next;
      if (waiter->kind == Waiter::Kind::worm) {
        granted(static_cast<Worm&>(*waiter));
        advance(static_cast<Worm&>(*waiter));
      } else {
        place(static_cast<Receive&>(*waiter));
      }
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
      Reservation* const next = worm.path[worm.reserved];
      const bool on_link = is_channel(worm, worm.reserved);
      if (!next->acquire(worm)) {  // from here on another thread may have the worm
        if (on_link) static_cast<VirtualChannel*>(next)->count_blocked();
        return;
      }
      granted(worm);
    }
    arrive(worm);
  }

  void release_path(Worm& worm) {
    const std::size_t matching = worm.path.size() - 1;
    for (std::size_t entry = 0; entry < matching; ++entry) {
      if (is_channel(worm, entry)) channel(worm, entry).count_message(worm.bytes);
      take_over(worm.path[entry]->release());
    }
  }

  // The worm holds all of its path, the matching table of its destination included.
  void arrive(Worm& worm) {
    Matching& matching = network_.matching_[worm.to];
    if (Receive* const receive = matching.take_receive(worm.from, worm.tag)) {
      take_over(matching.release());
      if (!fits(worm.from, worm.to, worm.tag, worm.bytes, receive->bytes)) return;
      Cursor to(receive->data);
      is_short(worm) ? stream(worm, to) : copy(worm, to);
      complete(*receive);
      release_path(worm);
      complete(worm);
    } else if (Matching::Early* const early =
                   is_short(worm) ? matching.keep_short(worm) : nullptr) {
      const Span buffer = early->data();
      Cursor to(std::span(&buffer, 1));
      stream(worm, to);
      take_over(matching.release());
      release_path(worm);
      complete(worm);
    } else {
      worm.state = Worm::State::absorbed;
      matching.keep_absorbed(worm);
      release_path(worm);
      take_over(matching.release());  // the last touch: a receive may now complete the worm
    }
  }

  // The receive holds the matching table of its node.
  void place(Receive& receive) {
    Matching& matching = network_.matching_[receive.to];
    Matching::Early* const early = matching.take_early(receive.from, receive.tag);
    if (early == nullptr) {
      matching.post(receive);
      take_over(matching.release());
      return;
    }
    if (!fits(receive.from, receive.to, receive.tag, early->bytes, receive.bytes)) return;
    Cursor to(receive.data);
    Worm* const worm = early->worm;
    if (worm == nullptr) to.write(early->data());
    matching.recycle(early);
    take_over(matching.release());
    if (worm != nullptr) copy(*worm, to);
    complete(receive);
    if (worm != nullptr) complete(*worm);
  }

  bool is_short(const Worm& worm) const { return worm.bytes <= network_.settings_.eager_limit; }

  bool fits(Rank from, Rank to, Tag tag, Bytes sent, Bytes expected) {
    if (sent == expected) return true;
    network_.host_.failed(std::make_exception_ptr(UsageError(
        fmt::format("node {} receives {} bytes from node {} with tag {}, but the message has {}",
                    to, expected, from, tag, sent))));
    return false;
  }

  // One copy, from the sender's memory to the receiver's.
  static void copy(const Worm& worm, Cursor& to) {
    for (const Span piece : worm.data) to.write(piece);
  }

  // The body as flits, each through every queue of the path: from the last channel to the first, so
  // that a capacity of one flit per channel suffices.
  static void stream(const Worm& worm, Cursor& to) {
    const std::size_t first = 1, end = worm.path.size() - 2;
    if (first == end) return copy(worm, to);  // to oneself: no link, no flit
    Cursor from(worm.data);
    Bytes left = worm.bytes;
    bool tail_sent = false;
    for (;;) {
      Flit flit;
      while (channel(worm, end - 1).try_pop(flit)) {
        to.write({flit.data, flit.bytes});
        if (flit.tail) return;
      }
      for (std::size_t entry = end - 1; entry > first; --entry) {
        while (channel(worm, entry).has_room() && channel(worm, entry - 1).try_pop(flit)) {
          static_cast<void>(channel(worm, entry).try_push(flit));
        }
      }
      while (!tail_sent && channel(worm, first).has_room()) {
        flit.bytes =
            static_cast<std::uint32_t>(from.read({flit.data, std::min(left, Flit::capacity)}));
        left -= flit.bytes;
        flit.tail = tail_sent = left == 0;
        static_cast<void>(channel(worm, first).try_push(flit));
      }
    }
  }

  void complete(Receive& receive) {
    receive.done = true;
    network_.host_.completed(receive.to);
  }
  void complete(Worm& worm) {
    Worm* const successor = worm.successor;
    worm.state = Worm::State::done;
    network_.host_.completed(worm.from);
    // The successor's step is not complete before it is, so it is still there.
    if (successor != nullptr && successor->path.front()->acquire(*successor)) take_over(successor);
  }

  Network& network_;
  Waiter* handed_ = nullptr;
};

Network::Network(Routing routing, Settings settings, NetworkHost& host)
    : routing_(std::move(routing)),
      settings_(settings),
      host_(host),
      channels_(static_cast<std::size_t>(routing_.channels())),
      link_ports_(settings.all_port ? static_cast<std::size_t>(routing_.topology().links() +
                                                               routing_.topology().nodes())
                                    : 0),
      node_ports_(settings.all_port ? 0 : static_cast<std::size_t>(routing_.topology().nodes())) {
  for (Rank node = 0; node < routing_.topology().nodes(); ++node) matching_.emplace_back();
}

void Network::address(Worm& worm, Rank from, const Op& op) {
  // Used within this call only, so fibers may share it.
  static thread_local std::vector<Channel> route;
  route.clear();
  worm.from = from;
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
  worm.path.clear();
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
  worm.path.push_back(&matching_[worm.to]);
  worm.reserved = 0;
  worm.state = Worm::State::travelling;
  worm.successor = nullptr;
  worm.follows = false;
}

void Network::launch(Worm& worm) { Drive(*this).launch(worm); }
void Network::post(Receive& receive) { Drive(*this).post(receive); }

std::string Network::describe(const Worm& worm, std::size_t entry) const {
  if (entry == 0) return fmt::format("injection port of node {}", worm.from);
  if (entry + 2 == worm.path.size()) return fmt::format("ejection port of node {}", worm.to);
  if (entry + 1 == worm.path.size()) return fmt::format("matching table of node {}", worm.to);
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
  channels_.each([&](std::size_t, const VirtualChannel& channel) { f(channel); });
}

std::optional<std::string> Network::leftover() const {
  for (std::size_t node = 0; node < matching_.size(); ++node) {
    if (const Matching::Early* const early = matching_[node].leftover()) {
      return fmt::format("node {} never received a message of {} bytes from node {} with tag {}",
                         node, early->bytes, early->from, early->tag);
    }
  }
  return {};
}

void Network::reset() {
  channels_.each([](std::size_t, VirtualChannel& channel) { channel.reset(); });
  const auto free = [](LinkPorts& ports) {
    ports.injection.reset();
    ports.ejection.reset();
  };
  link_ports_.each([&](std::size_t, LinkPorts& ports) { free(ports); });
  std::ranges::for_each(node_ports_, free);
  for (Matching& matching : matching_) matching.reset();
}

}  // namespace wormcube
