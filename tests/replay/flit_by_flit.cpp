// Five sections of the model, in its order and wording.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/replay/flit_by_flit.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube::test {

namespace {

/// A port or channel is named by (0, channel; in packets, link), (1, node or link): ejection, (2, node):
/// a bus.
using Place = std::pair<int, std::int64_t>;

struct Flits {
  std::size_t message;
  std::int64_t length;
  std::vector<Channel> route;
  std::size_t granted = 0;  // stages that it was given
  std::size_t released = 0;
  Ticks requested = no_tick;  // the next stage
  bool sent = false, delivered = false, queued = true;
  Ticks ready_at = no_tick;
  std::vector<Ticks> at_link = {};  // of each flit: when it has come through the injection port
};

struct Packet {
  std::size_t worm;
  std::int64_t first, flits, all;
  Ticks asks;
  int stage;  // -1: the bus
  Ticks waited = 0;
  bool drained = false;
};

class Slow {
 public:
  Slow(const Schedule& schedule, const Routing& routing, const MachineModel& model)
      : schedule_(schedule), routing_(routing), m_(model) {}

  FlitReplay run() {
    const std::size_t nodes = schedule_.ranks.size();
    out_.steps.resize(nodes);
    out_.finish.assign(nodes, no_tick);
    step_.assign(nodes, 0);
    posted_.assign(nodes, false);
    due_.assign(nodes, no_tick);
    for (std::size_t t = 0; t < schedule_.steps(); ++t) {
      for (std::size_t v = 0; v < nodes; ++v) {
        std::uint32_t index = 0;
        for (const OpRecord& op : schedule_.ops(static_cast<Rank>(v), t)) {
          if (op.kind != Op::Kind::send) continue;
          const std::uint32_t i = index++;
          if (op.peer == static_cast<Rank>(v)) continue;
          out_.messages.push_back({static_cast<Rank>(v),
                                   op.peer,
                                   static_cast<std::uint32_t>(t),
                                   i,
                                   no_tick,
                                   no_tick,
                                   no_tick,
                                   no_tick,
                                   0,
                                   {}});
          Flits worm{
              out_.messages.size() - 1,
              std::max<std::int64_t>(
                  1, (static_cast<std::int64_t>(op.bytes) + m_.flit_bytes - 1) / m_.flit_bytes),
              {}};
          if (op.moves > 0) {
            routing_.route(static_cast<Rank>(v), schedule_.moves(static_cast<Rank>(v), op),
                           worm.route);
          } else {
            routing_.route(static_cast<Rank>(v), op.peer, worm.route);
          }
          out_.messages.back().starts.resize(worm.route.size() + 1);
          worms_.push_back(worm);
        }
      }
    }
    start();
    Ticks quiet = 0;
    // Nothing for as long as the longest constant: nothing will come any more.
    Ticks patience = 2 * (m_.startup + m_.flit + m_.hop + m_.credit) + 2;
    if (m_.forwarding == Forwarding::packets) {  // ports may have long queues behind them
      for (const Flits& worm : worms_) patience += worm.length * (m_.port_flit() + m_.node);
    }
    patience += 2 * m_.port_flit();
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::size_t t = 0; t <= schedule_.ranks[v].step_ends.size(); ++t) patience += gap(v, t);
    }
    for (now_ = 0; !finished() && quiet <= patience; ++now_) {
      changed_ = false;
      while (phase_one()) changed_ = true;
      if (m_.forwarding == Forwarding::packets) {
        packets();
      } else {
        grants();
        flits();
      }
      quiet = changed_ ? 0 : quiet + 1;
    }
    out_.deadlock = !finished();
    out_.time = *std::ranges::max_element(out_.finish);
    return std::move(out_);
  }

 private:
  FlitMessage& of(const Flits& worm) { return out_.messages[worm.message]; }
  std::size_t stages(const Flits& worm) const { return worm.route.size() + 1; }
  Ticks gap(std::size_t v, std::size_t t) const {
    const RankLog& log = schedule_.ranks[v];
    return m_.rearrange.of(log.rearranged[t]) + m_.combine.of(log.combined[t]);
  }
  bool finished() const { return std::ranges::find(out_.finish, no_tick) == out_.finish.end(); }
  std::size_t last_step(std::size_t v) const { return schedule_.ranks[v].step_ends.size(); }

  void start() {
    Ticks longest = 0;
    for (std::size_t v = 0; v < step_.size(); ++v) longest = std::max(longest, gap(v, 0));
    for (std::size_t v = 0; v < step_.size(); ++v) {
      const Ticks at = m_.lock_step ? longest : gap(v, 0);
      (last_step(v) == 0 ? out_.finish[v] : due_[v]) = at;
    }
  }

  bool phase_one() {
    bool any = false;
    for (Flits& worm : worms_) {
      FlitMessage& message = of(worm);
      const auto& first = message.starts.front();
      const auto& last = message.starts.back();
      if (m_.forwarding == Forwarding::packets) {
        if (message.sent == now_ && !worm.sent) worm.sent = any = true;
        if (message.delivered == now_ && !worm.delivered) worm.delivered = any = true;
      } else if (!worm.sent && std::ssize(first) == worm.length &&
                 std::max(first.back() + m_.flit, worm.at_link.back() + m_.port_flit()) == now_) {
        worm.sent = any = true;
        message.sent = now_;
      }
      if (!worm.delivered && std::ssize(last) == worm.length && !last.empty() &&
          last.back() + m_.port_flit() == now_) {
        worm.delivered = any = true;
        message.delivered = now_;
        held_.erase(eject(worm));
      }
      while (m_.forwarding != Forwarding::packets && worm.released < worm.route.size()) {
        const auto& here = message.starts[worm.released];
        const auto& next = message.starts[worm.released + 1];
        if (std::ssize(next) < worm.length) break;
        if (std::max(next.back() + m_.credit, here.back() + m_.flit) > now_) break;
        held_.erase({0, worm.route[worm.released]});
        ++worm.released;
        any = true;
      }
      if (worm.ready_at == now_) {
        worm.ready_at = no_tick;
        message.ready = now_;
        if (m_.forwarding == Forwarding::packets) {
          cut(worm);
        } else {
          worm.requested = now_;
          worm.at_link.push_back(now_);
        }
        any = true;
      }
    }
    for (std::size_t v = 0; v < step_.size(); ++v) {
      if (due_[v] == now_) {
        due_[v] = no_tick;
        posted_[v] = any = true;
        for (Flits& worm : worms_) {
          if (here(worm, v)) of(worm).posted = now_;
        }
      }
      if (posted_[v] && start_ups(v)) any = true;
      if (posted_[v] && is_complete(v)) {
        posted_[v] = false;
        any = true;
        out_.steps[v].push_back(now_);
        ++step_[v];
        if (!m_.lock_step) {
          (step_[v] == last_step(v) ? out_.finish[v] : due_[v]) = now_ + gap(v, step_[v]);
        }
      }
    }
    if (m_.lock_step) any = barrier() || any;
    return any;
  }

  bool here(const Flits& worm, std::size_t v) {
    const FlitMessage& message = of(worm);
    return message.from == static_cast<Rank>(v) && message.step == step_[v];
  }

  /// Begins the start-up of the first message of each free injection port.
  bool start_ups(std::size_t v) {
    bool any = false;
    std::map<std::int64_t, bool> busy;
    for (Flits& worm : worms_) {
      if (!here(worm, v) || worm.sent) continue;
      const std::int64_t port = m_.all_port ? routing_.link(worm.route.front()) : -1;
      if (!busy[port] && worm.queued) {
        worm.queued = false;
        worm.ready_at = now_ + m_.startup;
        any = true;
      }
      busy[port] = true;
    }
    return any;
  }

  bool is_complete(std::size_t v) {
    return std::ranges::all_of(worms_, [&](const Flits& worm) {
      const FlitMessage& message = of(worm);
      if (message.step != step_[v]) return true;
      return (message.from != static_cast<Rank>(v) || worm.sent) &&
             (message.to != static_cast<Rank>(v) || worm.delivered);
    });
  }

  bool barrier() {
    std::vector<std::size_t> taking;
    Ticks longest = 0;
    for (std::size_t v = 0; v < step_.size(); ++v) {
      if (out_.finish[v] != no_tick) continue;
      if (posted_[v] || due_[v] != no_tick) return false;
      taking.push_back(v);
      longest = std::max(longest, gap(v, step_[v]));
    }
    for (const std::size_t v : taking) {
      (step_[v] == last_step(v) ? out_.finish[v] : due_[v]) = now_ + longest;
    }
    return !taking.empty();
  }

  Place eject(const Flits& worm) {
    return {1, m_.all_port ? routing_.link(worm.route.back()) : of(worm).to};
  }

  void grants() {
    std::map<Place, std::vector<Flits*>> asking;
    for (Flits& worm : worms_) {
      if (worm.requested > now_) continue;
      asking[worm.granted < worm.route.size() ? Place{0, worm.route[worm.granted]} : eject(worm)]
          .push_back(&worm);
    }
    for (auto& [place, list] : asking) {
      if (held_.contains(place)) continue;
      Flits* const chosen = *std::ranges::min_element(list, {}, [&](Flits* worm) {
        const FlitMessage& message = of(*worm);
        return std::tuple(worm->requested, message.from, message.step, message.index);
      });
      of(*chosen).waited += now_ - chosen->requested;
      held_[place] = chosen;
      ++chosen->granted;
      chosen->requested = no_tick;
      changed_ = true;
    }
  }

  /// Packets of a message whose start-up is over.
  void cut(const Flits& worm) {
    for (std::int64_t first = 0; first < worm.length; first += m_.packet) {
      const std::int64_t flits = std::min(m_.packet, worm.length - first);
      const Ticks there = now_ + (first + flits - 1) * m_.port_flit() - (flits - 1) * m_.flit;
      packets_.push_back({worm.message, first, flits, worm.length, there, m_.has_bus() ? -1 : 0});
    }
  }

  /// Grants of this tick: of buses, then of links, then of ports.
  void packets() {
    for (const int kind : {-1, 0, 1}) {
      std::vector<Packet*> asking;
      for (Packet& packet : packets_) {
        const int last = static_cast<int>(worms_[packet.worm].route.size());
        const int its_kind = packet.stage < 0 ? -1 : packet.stage < last ? 0 : 1;
        if (its_kind == kind && packet.asks <= now_ && !packet.drained) asking.push_back(&packet);
      }
      std::ranges::sort(asking, {}, [&](const Packet* packet) {
        const FlitMessage& message = out_.messages[packet->worm];
        return std::tuple(packet->asks, message.from, message.step, message.index, packet->first);
      });
      for (Packet* const packet : asking) serve(*packet);
    }
  }

  void serve(Packet& packet) {
    const Flits& worm = worms_[packet.worm];
    FlitMessage& message = out_.messages[packet.worm];
    const Ticks port = m_.port_flit(), n = packet.flits;
    const bool is_last = packet.first + n == packet.all;
    if (packet.stage == static_cast<int>(worm.route.size())) {
      const auto [place, is_new] = free_.try_emplace(eject(worm), -1'000'000'000);
      const Ticks alone = packet.asks + (n - 1) * m_.flit + port;
      place->second = std::max(alone, place->second + n * port);
      packet.waited += place->second - alone;
      packet.drained = changed_ = true;
      if (is_last) message.delivered = place->second, message.waited = packet.waited;
      return;
    }
    const Place wanted = packet.stage < 0 ? Place{2, message.from}
                                          : Place{0, routing_.link(worm.route[packet.stage])};
    const auto [place, is_new] = free_.try_emplace(wanted, 0);
    if (place->second > now_) return;
    changed_ = true;
    packet.waited += now_ - packet.asks;
    place->second = now_ + n * (packet.stage < 0 ? m_.node : m_.flit);
    if (packet.stage == 0 && is_last) {
      message.sent = std::max(now_ + n * m_.flit, message.ready + packet.all * port);
    }
    packet.asks =
        packet.stage < 0 ? now_ + (n - 1) * std::max<Ticks>(0, m_.node - m_.flit) : now_ + m_.hop;
    ++packet.stage;
  }

  void flits() {
    // What comes through the injection ports.
    for (Flits& worm : worms_) {
      const auto& first = of(worm).starts.front();
      const auto behind = static_cast<std::size_t>(m_.port_buffer());
      while (!worm.at_link.empty() && std::cmp_less(worm.at_link.size(), worm.length)) {
        const std::size_t k = worm.at_link.size();
        if (k >= behind && first.size() <= k - behind) break;
        const Ticks room = k >= behind ? first[k - behind] : 0;
        worm.at_link.push_back(m_.port_flit() + std::max(worm.at_link.back(), room));
      }
    }
    // Rules 1 to 4 of each worm's next flit on each stage, from what started before this tick.
    std::map<Link, std::map<int, std::pair<Flits*, std::size_t>>> links;
    std::vector<std::pair<Flits*, std::size_t>> starting;
    for (Flits& worm : worms_) {
      const auto& starts = of(worm).starts;
      for (std::size_t i = 0; i < worm.granted; ++i) {
        const std::size_t k = starts[i].size();
        if (std::cmp_equal(k, worm.length)) continue;
        if (i == 0 && (worm.at_link.size() <= k || worm.at_link[k] > now_)) continue;
        if (i > 0 && (starts[i - 1].size() <= k || starts[i - 1][k] + m_.hop > now_)) continue;
        const auto slots = static_cast<std::size_t>(m_.slots);
        if (i + 1 < stages(worm) && k >= slots &&
            (starts[i + 1].size() <= k - slots || starts[i + 1][k - slots] + m_.credit > now_)) {
          continue;
        }
        if (i + 1 == stages(worm)) {
          if (k == 0 || starts[i][k - 1] + m_.port_flit() <= now_) starting.emplace_back(&worm, i);
        } else {
          const Channel channel = worm.route[i];
          const Link link = routing_.link(channel);
          const auto last = link_last_.find(link);
          if (last == link_last_.end() || last->second + m_.flit <= now_) {
            links[link][routing_.virtual_channel(channel)] = {&worm, i};
          }
        }
      }
    }
    for (auto& [link, ready] : links) {
      auto chosen = ready.lower_bound(pointer_[link]);
      if (chosen == ready.end()) chosen = ready.begin();
      pointer_[link] = chosen->first + 1;
      link_last_[link] = now_;
      starting.push_back(chosen->second);
    }
    for (const auto& [worm, i] : starting) {
      FlitMessage& message = of(*worm);
      message.starts[i].push_back(now_);
      changed_ = true;
      if (message.starts[i].size() == 1 && i + 1 < stages(*worm)) worm->requested = now_ + m_.hop;
      if (i + 1 < stages(*worm) &&
          std::cmp_greater(message.starts[i].size() - message.starts[i + 1].size(), m_.slots)) {
        out_.broken.push_back(fmt::format("tick {}: more flits than slots", now_));
      }
    }
  }

  const Schedule& schedule_;
  const Routing& routing_;
  const MachineModel& m_;
  FlitReplay out_;
  std::deque<Flits> worms_;
  std::vector<std::size_t> step_;
  std::vector<bool> posted_;
  std::vector<Ticks> due_;
  std::map<Place, Flits*> held_;
  std::map<Link, Ticks> link_last_;
  std::vector<Packet> packets_;
  std::map<Place, Ticks> free_;  // in packets
  std::map<Link, int> pointer_;
  Ticks now_ = 0;
  bool changed_ = false;
};

}  // namespace

FlitReplay flit_by_flit(const Schedule& schedule, const Routing& routing,
                        const MachineModel& model) {
  return Slow(schedule, routing, model).run();
}

}  // namespace wormcube::test
