// Replays of random schedules against the same model flit by flit, and what an observer may never
// see.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/replay/flit_by_flit.hpp"
#include "wormcube/tests/replay/schedules.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using namespace wormcube::test;

namespace {

/// What differs first between a replay and the same flit by flit; empty if nothing does.
std::string difference(const RandomCase& random) {
  const Routing routing(random.schedule.topology, random.virtual_channels);
  const FlitReplay slow = flit_by_flit(random.schedule, routing, random.model);
  Witness witness;
  const Replay fast = replay(random.schedule, routing, random.model, {.observer = &witness});
  if (!slow.broken.empty()) return slow.broken.front();
  if (slow.deadlock != !fast.time) return "deadlock";
  if (slow.messages.size() != fast.messages.size()) return "number of messages";
  for (std::size_t i = 0; i < slow.messages.size(); ++i) {
    const FlitMessage& a = slow.messages[i];
    const ReplayedMessage& b = fast.messages[i];
    const std::string name = fmt::format("message {} to {} of step {}: ", a.from, a.to, a.step);
    if (a.posted != b.posted) return name + fmt::format("posted {}, {}", a.posted, b.posted);
    if (a.ready != b.ready) return name + fmt::format("ready {}, {}", a.ready, b.ready);
    if (a.sent != b.sent) return name + fmt::format("sent {}, {}", a.sent, b.sent);
    if (a.delivered != b.delivered) {
      return name + fmt::format("delivered {}, {}", a.delivered, b.delivered);
    }
    if (a.delivered == no_tick) continue;
    if (a.waited != b.waited) return name + fmt::format("waited {}, {}", a.waited, b.waited);
    const auto starts = witness.starts.find({a.step, a.from, a.index});
    // What holds a channel to the end of a deadlock elsewhere is not reported to observers.
    const bool has_flits = random.model.forwarding != Forwarding::packets;
    if (has_flits && starts != witness.starts.end() && starts->second != a.starts) {
      return name + "starts";
    }
  }
  if (!slow.deadlock && (slow.steps != fast.steps || slow.finish != fast.finish)) return "steps";
  return {};
}

}  // namespace

TEST_CASE("replay equals the model flit by flit, each start of each flit", "[replay]") {
  for (std::uint64_t seed = 0; seed < (sanitized ? 60 : 400); ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    CHECK(difference(random) == "");
  }
}

TEST_CASE("replay with slow ports equals the model, as worms and as packets", "[replay]") {
  for (const PortsAre ports : {PortsAre::slow, PortsAre::of_packets}) {
    for (std::uint64_t seed = 0; seed < (sanitized ? 60 : 400); ++seed) {
      const RandomCase random(seed, ports);
      CAPTURE(seed, random.text());
      CHECK(difference(random) == "");
    }
  }
}

TEST_CASE("replay equals the model flit by flit on many more schedules", "[.][replay][wide]") {
  for (std::uint64_t seed = 1000; seed < 41000; ++seed) {
    for (const PortsAre ports : {PortsAre::fast, PortsAre::slow, PortsAre::of_packets}) {
      const RandomCase random(seed, ports);
      CAPTURE(seed, random.text());
      REQUIRE(difference(random) == "");
    }
  }
}

TEST_CASE("an observer's view does not change the replay", "[replay]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    Witness witness;
    const Replay seen = replay(random.schedule, routing, random.model, {.observer = &witness});
    const Replay alone = replay(random.schedule, routing, random.model);
    CHECK(seen.messages == alone.messages);
    CHECK(seen.channels == alone.channels);
    CHECK(seen.finish == alone.finish);
  }
}

TEST_CASE("no link carries two flits at once, no buffer more than it holds, every flit arrives",
          "[replay]") {
  for (std::uint64_t seed = 400; seed < 480; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    const MachineModel& m = random.model;
    Witness witness;
    const Replay r = replay(random.schedule, routing, m, {.observer = &witness});
    if (!r.time) continue;
    std::map<Link, std::vector<Ticks>> on_link;
    std::map<Channel, std::vector<std::pair<Ticks, Ticks>>> held;
    for (const auto& [key, route] : witness.routes) {
      const auto& starts = witness.starts.at(key);
      for (std::size_t i = 0; i < route.size(); ++i) {
        auto& all = on_link[routing.link(route[i])];
        all.insert(all.end(), starts[i].begin(), starts[i].end());
        held[route[i]].emplace_back(witness.granted.at(key)[i], witness.released.at(key)[i]);
        for (std::size_t k = 0; k < starts[i].size(); ++k) {
          REQUIRE(starts[i + 1][k] >= starts[i][k] + m.hop);
          if (const auto slots = static_cast<std::size_t>(m.slots); k >= slots) {
            REQUIRE(starts[i][k] >= starts[i + 1][k - slots] + m.credit);
          }
        }
      }
    }
    for (auto& [link, starts] : on_link) {
      std::ranges::sort(starts);
      for (std::size_t k = 1; k < starts.size(); ++k) REQUIRE(starts[k] >= starts[k - 1] + m.flit);
    }
    for (auto& [channel, times] : held) {
      std::ranges::sort(times);
      for (std::size_t k = 1; k < times.size(); ++k) {
        REQUIRE(times[k].first >= times[k - 1].second);
      }
    }
    // Every flit of every message between different nodes.
    CHECK(witness.starts.size() == r.messages.size());
    for (const ReplayedMessage& message : r.messages) {
      const auto& starts = witness.starts.at({message.step, message.from, message.index});
      CHECK(std::ssize(starts.back()) == m.flits(message.bytes));
      CHECK(message.delivered == starts.back().back() + m.flit);
    }
  }
}

TEST_CASE("the difference to the model is found where there is one", "[replay]") {
  // The comparison itself: another credit time must show.
  std::size_t differ = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomCase random(seed);
    const Routing routing(random.schedule.topology, random.virtual_channels);
    MachineModel other = random.model;
    other.credit += 3;
    const FlitReplay slow = flit_by_flit(random.schedule, routing, other);
    const Replay fast = replay(random.schedule, routing, random.model);
    for (std::size_t i = 0; i < slow.messages.size(); ++i) {
      if (slow.messages[i].delivered != fast.messages[i].delivered) {
        ++differ;
        break;
      }
    }
  }
  CHECK(differ > 10);
}
