// The laws of replay: over the registry, and on random schedules.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/trace.hpp"
#include "wormcube/runtime/replay/analysis.hpp"
#include "wormcube/runtime/replay/own_work.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/replay/schedules.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <tbb/global_control.h>

using namespace wormcube;
using namespace wormcube::test;

namespace {

constexpr std::array networks{"ring:1",
                              "ring:2",
                              "ring:3",
                              "ring:5",
                              "ring:8",
                              "line:2",
                              "line:3",
                              "line:6",
                              "torus:2x2",
                              "torus:2x4",
                              "torus:3x3",
                              "torus:4x4",
                              "torus:3x5",
                              "torus:4x8",
                              "torus:5x5",
                              "torus:8x8",
                              "torus:2x2x2",
                              "torus:2x3x4",
                              "torus:4x4x4",
                              "mesh:1x4",
                              "mesh:2x2",
                              "mesh:2x3",
                              "mesh:3x3",
                              "mesh:4x4",
                              "mesh:6x4",
                              "mesh:5x7",
                              "mesh:8x8",
                              "mesh:2x2x2",
                              "mesh:2x3x4",
                              "hypercube:1",
                              "hypercube:2",
                              "hypercube:3",
                              "hypercube:4",
                              "hypercube:5",
                              "complete:2",
                              "complete:5",
                              "complete:8",
                              "tree:4",
                              "tree:8",
                              "ghc:4x3",
                              "ghc:2x2x3",
                              "ring:4*line:3",
                              "star:5",
                              "petersen",
                              "ring:3*complete:4",
                              "line:2*ring:4",
                              "hypercube:2*line:3"};
static_assert(networks.size() >= 40);

MachineModel with_constants(std::size_t which) {
  MachineModel model = unit_model();
  switch (which % 5) {
    case 0:
      model.startup = 10;
      model.rearrange = {1, 1};
      model.combine = {2, 1};
      break;
    case 1:
      model = {.startup = 0, .flit_bytes = 3, .flit = 7, .hop = 11, .credit = 3, .slots = 2};
      break;
    case 2:  // worms and packets of nodes slower than their links
    case 3:
      model.startup = 10;
      model.rearrange = {1, 1};
      model.hop = 2;
      model.port = 3;
      model.port_slots = 2;
      if (which % 5 == 2) break;
      model.forwarding = Forwarding::packets;
      model.packet = 4;
      break;
    default:
      model = {};
      break;
  }
  return model;
}

/// The registry's algorithms that a network admits, with sizes in turn.
template <class Use>
void for_each_call(const char* network, std::size_t turn, Use use) {
  const Topology topology = Topology::parse(network);
  for (const Operation operation : all_operations) {
    Arguments arguments;  // the operator commutes: no algorithm refuses it
    if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
    for (const Collective& collective : admitted(operation, topology, arguments)) {
      for (const Bytes parts : {Bytes{1}, Bytes{3}}) {
        const Bytes unit = operation->reduces ? 16 : 1;
        const Bytes bytes = unit * parts * static_cast<Bytes>(collective.parts(topology));
        const Schedule schedule = recorded(operation, topology, collective, bytes);
        MachineModel model = with_constants(turn++);
        model.all_port = collective.algorithm->ports == Ports::all;
        CAPTURE(network, operation->name, collective.text(), bytes, turn);
        use(schedule, collective, model);
      }
    }
  }
}

/// What a replay in lock step takes at least: of each step the start-up, a hop, and the flits over its
/// busiest link (law 2), and the most local work of every gap.
struct Contended {
  Ticks least = 0;
  bool one_size = true;  // all messages of a step are equally long
};
Contended contended(const Schedule& schedule, const Routing& routing, const MachineModel& model) {
  Contended result;
  std::vector<Channel> path;
  for (std::size_t t = 0; t <= schedule.steps(); ++t) {
    std::map<Link, std::int64_t> flits;
    std::int64_t most = 0;
    std::set<Bytes> sizes;
    Ticks work = 0;
    for (Rank v = 0; v < static_cast<Rank>(schedule.ranks.size()); ++v) {
      if (t > schedule.ranks[static_cast<std::size_t>(v)].step_ends.size()) continue;
      work = std::max(work, own_work(schedule, model, v, t).total());
      for (const OpRecord& op : schedule.ops(v, t)) {
        if (op.kind != Op::Kind::send || op.peer == v) continue;
        path.clear();
        if (op.moves > 0) {
          routing.route(v, schedule.moves(v, op), path);
        } else {
          routing.route(v, op.peer, path);
        }
        sizes.insert(op.bytes);
        for (const Channel channel : path) {
          most = std::max(most, flits[routing.link(channel)] += model.flits(op.bytes));
        }
      }
    }
    result.least += work + (most > 0 ? model.startup + model.hop + model.flit * most : 0);
    result.one_size = result.one_size && sizes.size() <= 1;
  }
  return result;
}

}  // namespace

TEST_CASE("a replay is stopped exactly if it takes longer than its limit", "[replay]") {
  std::size_t stopped = 0;
  for (std::uint64_t seed = 0; seed < (sanitized ? 40 : 200); ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    const Replay whole = replay(random.schedule, routing, random.model);
    CHECK_FALSE(whole.stopped);
    if (!whole.time) continue;
    const Replay within = replay(random.schedule, routing, random.model, {.limit = *whole.time});
    CHECK(within.time == whole.time);
    CHECK_FALSE(within.stopped);
    for (const Ticks limit : {*whole.time - 1, *whole.time / 2}) {
      if (limit >= *whole.time) continue;
      const Replay longer = replay(random.schedule, routing, random.model, {.limit = limit});
      CHECK(longer.stopped);
      CHECK_FALSE(longer.time);
      CHECK(longer.deadlock.empty());
      CHECK(longer.events <= whole.events);
      stopped += longer.events < whole.events ? 1 : 0;
    }
  }
  CHECK(stopped > 0);
}

TEST_CASE("what is free of contention takes its closed form, exactly", "[replay]") {
  std::size_t exact = 0, all = 0, turn = 0, unblocked = 0;
  std::size_t shared = 0, chained = 0;
  std::set<std::string> algorithms, sharing, free;
  for (const char* network : networks) {
    if (sanitized && Topology::parse(network).nodes() > 12) continue;
    for_each_call(network, turn++,
                  [&](const Schedule& schedule, const Collective& collective, MachineModel model) {
                    const Routing routing(schedule.topology);
                    const ScheduleReport report = check(schedule, routing, model.all_port);
                    for (const bool lock_step : {true, false}) {
                      model.lock_step = lock_step;
                      const Replay r = replay(schedule, routing, model);
                      REQUIRE(r.time.has_value());
                      const Uncontended alone = uncontended(schedule, routing, model);
                      ++all;
                      // Law 1: nothing is earlier, step by step.
                      REQUIRE(r.messages.size() == alone.delivered.size());
                      bool equal = true;
                      for (std::size_t i = 0; i < r.messages.size(); ++i) {
                        REQUIRE(r.messages[i].delivered >= alone.delivered[i]);
                        equal = equal && r.messages[i].delivered == alone.delivered[i];
                      }
                      for (std::size_t v = 0; v < r.steps.size(); ++v) {
                        for (std::size_t t = 0; t < r.steps[v].size(); ++t) {
                          REQUIRE(r.steps[v][t] >= alone.steps[v][t]);
                        }
                      }
                      // The recursion is exact for all messages if and only if none was blocked.
                      REQUIRE(equal == (r.blocked == 0));
                      if (r.blocked == 0) {
                        ++unblocked;
                        REQUIRE(r.time == alone.time);
                        REQUIRE(r.steps == alone.steps);
                      }
                      if (!lock_step) continue;
                      if (report.link_load_max > 1 && report.port_violations == 0) {
                        // The textbook's contended cost is a lower bound, and chains exceed it.
                        const Contended least = contended(schedule, routing, model);
                        REQUIRE(*r.time >= least.least);
                        if (least.one_size) {
                          const auto textbook =
                              static_cast<Ticks>(report.startups) * model.startup +
                              model.flit * static_cast<Ticks>(report.contended) / model.flit_bytes;
                          REQUIRE(*r.time >= textbook);
                        }
                        ++shared;
                        chained += *r.time > least.least ? 1 : 0;
                        sharing.insert(std::string(collective.operation()->name) + " " +
                                       std::string(collective.name()));
                      }
                      const LockStepForm form = lock_step_form(schedule, routing, model, report);
                      REQUIRE(*r.time >= form.time);
                      if (form.not_exact.empty()) {
                        ++exact;
                        algorithms.insert(std::string(collective.operation()->name) + " " +
                                          std::string(collective.name()));
                        REQUIRE(*r.time == form.time);
                      }
                      if (collective.algorithm->contention_free && report.port_violations == 0) {
                        free.insert(std::string(collective.operation()->name) + " " +
                                    std::string(collective.name()));
                        REQUIRE(form.not_exact.empty());
                      }
                    }
                  });
  }
  if (sanitized) return;  // on fewer networks
  // Each that is free of contention is among them.
  for (const Algorithm* const algorithm : cases::built_in()) {
    if (!algorithm->contention_free) continue;
    CAPTURE(algorithm->operation->name, algorithm->name);
    CHECK(free.contains(std::string(algorithm->operation->name) + " " +
                        std::string(algorithm->name)));
  }
  CHECK(exact > 500);
  CHECK(unblocked > 500);
  CHECK(algorithms.size() > 60);
  CHECK(shared > 300);
  CHECK(chained > 100);
  CHECK(sharing.size() > 30);
}

TEST_CASE("each algorithm that is free of contention takes its closed form on forty networks",
          "[.][replay][wide]") {
  // Sizes odd, prime, rectangular and degenerate; the small ones come first.
  std::vector<Topology> candidates;
  const auto add = [&](const std::string& text) { candidates.push_back(Topology::parse(text)); };
  constexpr int most_nodes = 144;
  for (int n = 1; n <= most_nodes; ++n) {
    for (const char* const family : {"ring:", "line:", "complete:", "tree:"}) {
      if (n <= 64) add(family + std::to_string(n));
    }
    for (int a = 1; a <= 36 && a * a <= most_nodes; ++a) {
      if (n < a || a * n > most_nodes) continue;
      for (const char* const family : {"torus:", "mesh:"}) {
        add(fmt::format("{}{}x{}", family, a, n));
        if (a != n && n <= 36) add(fmt::format("{}{}x{}", family, n, a));
        if (n <= 16 && a > 1 && 2 * a * n <= most_nodes) {
          for (const int b : {2, 3, 4}) {
            if (a * n * b <= most_nodes) add(fmt::format("{}{}x{}x{}", family, b, a, n));
          }
        }
      }
      if (a > 1 && n <= 12) {
        for (const char* const text : {"ghc:{}x{}", "ring:{}*line:{}", "complete:{}*ring:{}",
                                       "tree:{}*ring:{}", "line:{}*complete:{}"}) {
          add(fmt::format(fmt::runtime(text), a, n));
        }
      }
    }
  }
  // What asks for multiples of 4, or for powers.
  for (int n = 4; n <= 24; n += 4) {
    for (int a = 4; a <= 24; a += 4) {
      add(fmt::format("torus:{}x{}", a, n));
      add(fmt::format("mesh:{}x{}", a, n));
      if (a * n <= 128) add(fmt::format("torus:4x{}x{}", a, n));
    }
  }
  for (int d = 0; d <= 7; ++d) add("hypercube:" + std::to_string(d));
  for (const char* const text : {"torus:16x16", "torus:20x8", "torus:8x20", "torus:8x8x4",
                                 "mesh:16x16", "mesh:12x20", "hypercube:8", "ring:256"})
    add(text);
  std::ranges::stable_sort(candidates, {}, &Topology::nodes);

  std::size_t pairs = 0, replays = 0, turn = 0;
  for (const Algorithm* const algorithm : cases::built_in()) {
    if (!algorithm->contention_free) continue;
    std::size_t networks_of_it = 0, admitting = 0;
    std::set<std::string> seen;
    for (const Topology& topology : candidates) {
      Arguments arguments;
      if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "double");
      Collective collective(*algorithm, arguments);
      if (refusal(collective, topology) || !seen.insert(topology.name()).second) continue;
      ++admitting;
      if (networks_of_it == 40) continue;
      bool counted = false;
      for (const Rank root : {Rank{0}, topology.nodes() - 1}) {
        if (root > 0 && !algorithm->operation->rooted) continue;
        collective.arguments.root = root;
        for (const Bytes parts : {Bytes{1}, Bytes{3}, Bytes{8}}) {
          const Bytes unit = algorithm->operation->reduces ? 16 : 1;
          const Schedule schedule =
              recorded(algorithm->operation, topology, collective,
                       unit * parts * static_cast<Bytes>(collective.parts(topology)));
          const Routing routing(schedule.topology);
          MachineModel model = with_constants(turn++);
          model.all_port = algorithm->ports == Ports::all;
          const ScheduleReport report = check(schedule, routing, model.all_port);
          CAPTURE(algorithm->operation->name, algorithm->name, topology.name(), root, parts);
          REQUIRE(report.link_load_max <= 1);
          REQUIRE(report.port_violations == 0);
          model.lock_step = true;
          const LockStepForm form = lock_step_form(schedule, routing, model, report);
          REQUIRE(form.not_exact.empty());
          REQUIRE(replay(schedule, routing, model).time == form.time);
          model.lock_step = false;
          const Replay alone = replay(schedule, routing, model);
          REQUIRE(alone.time.has_value());
          const Uncontended recursion = uncontended(schedule, routing, model);
          REQUIRE((alone.time == recursion.time || alone.blocked > 0));
          if (alone.blocked == 0) REQUIRE(alone.steps == recursion.steps);
          counted = true, replays += 2;
        }
      }
      networks_of_it += counted ? 1 : 0;
    }
    pairs += networks_of_it;
    if (networks_of_it < 40) {
      WARN(algorithm->operation->name << " " << algorithm->name << ": " << networks_of_it
                                      << " networks of " << candidates.size());
    }
    CHECK(networks_of_it == std::min<std::size_t>(40, admitting));
    CHECK(networks_of_it >= 2);
  }
  WARN(pairs << " pairs of algorithm and network, " << replays << " replays");
}

TEST_CASE("the closed form's conditions are needed: without each, a replay takes longer",
          "[replay]") {
  const auto longer = [](const char* topology, const std::vector<Step>& steps, MachineModel model) {
    model.lock_step = true;
    const Schedule schedule = written(topology, steps);
    const Routing routing(schedule.topology);
    const LockStepForm form =
        lock_step_form(schedule, routing, model, check(schedule, routing, model.all_port));
    CHECK_FALSE(form.not_exact.empty());
    return *replay(schedule, routing, model).time > form.time;
  };
  MachineModel model = unit_model();
  CHECK(longer("line:3", {{{0, 2, 5}, {1, 2, 5}}}, model));  // a link and a port twice
  CHECK(longer("star:3", {{{0, 2, 5}, {1, 2, 5}}}, model));
  model.slots = 1;
  CHECK(longer("line:3", {{{0, 2, 5}}}, model));
  model = unit_model();
  model.credit = 4;
  CHECK(longer("line:2", {{{0, 1, 1}}, {{0, 1, 1}}}, model));
  model = unit_model();
  model.port = 3;
  model.hop = 8;
  model.slots = 2;  // deep enough for a flit in 5 ticks, not in 3
  CHECK(longer("line:3", {{{0, 2, 5}}}, model));
  model = unit_model();
  model.forwarding = Forwarding::packets;
  model.all_port = true;
  model.packet = 2;
  model.flit = 2;
  model.node = 1;  // a bus for two messages, or slower than a link
  CHECK(longer("line:3", {{{1, 0, 8}, {1, 2, 8}}}, model));
  model.port = 4;
  model.node = 3;
  CHECK(longer("line:3", {{{1, 0, 8}}}, model));
}

TEST_CASE("no message is faster than it would be alone", "[replay]") {
  for (std::uint64_t seed = 500; seed < 800; ++seed) {
    const RandomCase random(seed, static_cast<PortsAre>(seed % 3));
    CAPTURE(seed, random.text());
    const Replay r = replay(
        random.schedule, Routing(random.schedule.topology, random.virtual_channels), random.model);
    for (const ReplayedMessage& m : r.messages) {
      if (m.delivered == no_tick) continue;
      const std::int64_t flits = random.model.flits(m.bytes);
      REQUIRE(m.delivered >= m.ready + random.model.transit(flits, m.hops));
      REQUIRE(m.sent >= m.ready + flits * random.model.port_flit());
      REQUIRE(m.shared >= 0);
      REQUIRE(m.waited >= m.waited_port);
    }
  }
}

TEST_CASE("a step takes at least what its busiest link carries", "[replay]") {
  for (std::uint64_t seed = 600; seed < 900; ++seed) {
    RandomCase random(seed, static_cast<PortsAre>(seed % 3));
    random.model.lock_step = true;
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    const Replay r = replay(random.schedule, routing, random.model);
    if (!r.time) continue;
    for (std::size_t t = 0; t < random.schedule.steps(); ++t) {
      std::map<Link, std::int64_t> flits;
      std::vector<Channel> path;
      Ticks posted = no_tick, complete = 0;
      for (const ReplayedMessage& m : r.messages) {
        if (m.step != t) continue;
        path.clear();
        routing.route(m.from, m.to, path);
        for (const Channel channel : path) {
          flits[routing.link(channel)] += random.model.flits(m.bytes);
        }
        posted = std::min(posted, m.posted);
        complete = std::max(complete, m.delivered);
      }
      for (const auto& [link, count] : flits) {
        REQUIRE(complete - posted >=
                random.model.startup + random.model.hop + random.model.flit * count);
      }
    }
  }
}

TEST_CASE("all constants times n: all times times n", "[replay]") {
  for (std::uint64_t seed = 700; seed < 1000; ++seed) {
    const RandomCase random(seed, static_cast<PortsAre>(seed % 3));
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    constexpr Ticks n = 7;
    MachineModel model = random.model;
    model.combine.bytes = 1;  // a gap's ceiling does not scale
    MachineModel times_n = model;
    for (Ticks* constant :
         {&times_n.startup, &times_n.flit, &times_n.hop, &times_n.credit, &times_n.port,
          &times_n.node, &times_n.rearrange.ticks, &times_n.combine.ticks}) {
      *constant *= n;
    }
    const Replay one = replay(random.schedule, routing, model);
    const Replay scaled = replay(random.schedule, routing, times_n);
    REQUIRE(one.time.has_value() == scaled.time.has_value());
    if (one.time) CHECK(*scaled.time == n * *one.time);
    for (std::size_t i = 0; i < one.messages.size(); ++i) {
      if (one.messages[i].delivered == no_tick) continue;
      CHECK(scaled.messages[i].delivered == n * one.messages[i].delivered);
      CHECK(scaled.messages[i].sent == n * one.messages[i].sent);
    }
  }
}

TEST_CASE("messages of one way arrive in order, deliveries through a port one after the other",
          "[replay]") {
  for (std::uint64_t seed = 800; seed < 1100; ++seed) {
    RandomCase random(seed, static_cast<PortsAre>(seed % 3));
    random.model.all_port = false;
    random.model.node = 0;
    const bool in_packets = random.model.forwarding == Forwarding::packets;
    CAPTURE(seed, random.text());
    const Replay r = replay(
        random.schedule, Routing(random.schedule.topology, random.virtual_channels), random.model);
    if (!r.time) continue;
    std::map<std::pair<Rank, Rank>, Ticks> latest;
    std::map<Rank, std::vector<std::pair<Ticks, Ticks>>> at_port;
    for (const ReplayedMessage& m : r.messages) {
      Ticks& before = latest[{m.from, m.to}];
      REQUIRE(m.delivered > before);
      before = m.delivered;
      // Packets of several messages pass a port in turn: the last of each takes its own time there.
      const std::int64_t flits = random.model.flits(m.bytes), packet = random.model.packet;
      const std::int64_t last = in_packets ? (flits - 1) % packet + 1 : flits;
      at_port[m.to].emplace_back(m.delivered, last * random.model.port_flit());
    }
    for (auto& [node, list] : at_port) {
      std::ranges::sort(list);
      for (std::size_t i = 1; i < list.size(); ++i) {
        REQUIRE(list[i].first - list[i - 1].first >= list[i].second);
      }
    }
  }
}

TEST_CASE("the order in which nodes post receives, and repeating, change nothing", "[replay]") {
  for (std::uint64_t seed = 900; seed < 940; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    const Replay one = replay(random.schedule, routing, random.model);
    CHECK(replay(random.schedule, routing, random.model).messages == one.messages);
    Schedule other = random.schedule;
    for (RankLog& log : other.ranks) {
      std::size_t begin = 0;
      for (const std::size_t end : log.step_ends) {
        std::stable_partition(log.ops.begin() + static_cast<std::ptrdiff_t>(begin),
                              log.ops.begin() + static_cast<std::ptrdiff_t>(end),
                              [](const OpRecord& op) { return op.kind == Op::Kind::receive; });
        begin = end;
      }
    }
    CHECK(replay(other, routing, random.model).messages == one.messages);
  }
}

TEST_CASE("one host thread and several, and a trace in memory or in a file, give the same bytes",
          "[replay]") {
  const auto made = [](std::size_t threads, std::size_t in_memory = std::size_t{1} << 18U) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const Schedule schedule = recorded(parse_operation("alltoall"), "torus:4x6", "shift", 24);
    const Routing routing(schedule.topology);
    ReplayTrace trace({}, in_memory);
    const MachineModel model = with_constants(1);
    const Replay r = replay(schedule, routing, model, {.waits = true, .observer = &trace});
    std::string text;
    trace.write([&](std::string_view line) { text += line; }, schedule, routing, model, r, "");
    for (const ReplayedMessage& m : r.messages) {
      text += std::to_string(m.delivered) + " " + std::to_string(m.waited) + "\n";
    }
    for (const ReplayedWait& w : r.waits) {
      text += std::to_string(w.message) + " " + std::to_string(w.holder) + "\n";
    }
    return text;
  };
  const std::string one = made(1);
  CHECK(one.size() > 10'000);
  CHECK(one == made(2));
  CHECK(one == made(1, 7));
  CHECK(one == made(2, 1000));
}

TEST_CASE("waits are charged to whom held the channel, to the tick", "[replay]") {
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Replay r =
        replay(random.schedule, Routing(random.schedule.topology, random.virtual_channels),
               random.model, {.waits = true});
    if (!r.time) continue;
    std::vector<Ticks> charged(r.messages.size(), 0);
    for (const ReplayedWait& wait : r.waits) {
      CHECK(wait.ticks > 0);
      CHECK(wait.message != wait.holder);
      charged[wait.message] += wait.ticks;
    }
    for (std::size_t i = 0; i < charged.size(); ++i) CHECK(charged[i] == r.messages[i].waited);
  }
}

TEST_CASE("a critical path goes without a gap from the beginning to the end", "[replay]") {
  for (std::uint64_t seed = 1100; seed < 1300; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Replay r = replay(
        random.schedule, Routing(random.schedule.topology, random.virtual_channels), random.model);
    const std::vector<PathPiece> path = critical_path(random.schedule, random.model, r);
    if (!r.time) {
      CHECK(path.empty());
      continue;
    }
    Ticks at = 0;
    for (const PathPiece& piece : path) {
      REQUIRE(piece.from == at);
      REQUIRE(piece.to > piece.from);
      at = piece.to;
    }
    REQUIRE(at == *r.time);
  }
}

TEST_CASE("a schedule that does not match is refused before anything runs", "[replay]") {
  Schedule schedule = written("line:3", {{{0, 2, 8}}});
  schedule.ranks[2].ops[0].bytes = 9;
  CHECK_THROWS_WITH(replay(schedule, Routing(schedule.topology), unit_model()),
                    Catch::Matchers::Contains("node 0 sends 8 bytes to 2, which receives 9"));
  const Schedule good = written("line:3", {{{0, 2, 8}}});
  MachineModel model = unit_model();
  model.hop = 0;
  CHECK_THROWS_WITH(replay(good, Routing(good.topology), model),
                    Catch::Matchers::Contains("the hop time is 0; expected 1"));
  model = unit_model();
  model.startup = Ticks{1} << 50;
  const Schedule long_one = written("line:3", std::vector<Step>(5000, Step{{0, 1, 1}}));
  CHECK_THROWS_WITH(replay(long_one, Routing(long_one.topology), model),
                    Catch::Matchers::Contains("64 bits cannot count"));
  for (const Bytes bytes : {(Bytes{1} << 63) - 1, Bytes{1} << 63, ~Bytes{0}}) {
    const Schedule large = written("line:3", {{{0, 2, bytes}}});
    CHECK_THROWS_WITH(replay(large, Routing(large.topology), unit_model()),
                      Catch::Matchers::Contains("64 bits cannot count"));
  }
}

TEST_CASE("times are read and written to the picosecond", "[replay]") {
  CHECK(parse_microseconds("0.001", "--tw") == 1000);
  CHECK(parse_microseconds("12", "--ts") == 12'000'000);
  CHECK(parse_microseconds("0.0000010", "x") == 1);
  CHECK(microseconds_text(1) == "0.000001");
  CHECK(microseconds_text(12'500'000) == "12.5");
  CHECK_THROWS_WITH(parse_microseconds("0.0000001", "--tw"),
                    Catch::Matchers::Contains("not a whole number of picoseconds"));
  CHECK_THROWS(parse_microseconds("-1", "--tw"));
  CHECK_THROWS(parse_microseconds("1e3", "--tw"));
  CHECK_THROWS(parse_microseconds("", "--tw"));
  CHECK(Rate{600, 1024}.of(1) == 1);
  CHECK(Rate{600, 1024}.of(1024) == 600);
}
