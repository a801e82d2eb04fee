// Messages in flits: every byte passes the bounded queue of every link of its path.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/network/flit.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <atomic>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

MachineOptions in_flits(ExecutorKind executor, std::size_t capacity, int tasks) {
  MachineOptions options = plain(executor);
  options.transport = Transport::flits;
  options.channel_capacity = capacity;
  (executor == ExecutorKind::threads ? options.routers : options.workers) = tasks;
  options.time_limit = std::chrono::minutes(5);
  return options;
}

/// Each node sends a block of this size to each other one, one step each.
Program exchange_of(Bytes bytes) {
  return [bytes](Node& node) {
    const Rank p = node.size(), r = node.rank();
    const Memory out = node.memory(bytes), in = node.memory(bytes);
    for (Rank d = 1; d < p; ++d) node.step({send((r + d) % p, out), receive((r - d + p) % p, in)});
  };
}

/// The pairs of nodes whose route takes this link.
std::set<std::pair<Rank, Rank>> pairs_over(const Topology& topology, Link link) {
  const Routing routing(topology, 2);
  std::set<std::pair<Rank, Rank>> pairs;
  std::vector<Channel> route;
  for (Rank from = 0; from < topology.nodes(); ++from) {
    for (Rank to = 0; to < topology.nodes(); ++to) {
      if (from == to) continue;
      route.clear();
      routing.route(from, to, route);
      for (const Channel channel : route) {
        if (routing.link(channel) == link) pairs.emplace(from, to);
      }
    }
  }
  return pairs;
}

}  // namespace

TEST_CASE("each link carries the flits that the schedule says, and no lane more than it holds",
          "[machine]") {
  for (const char* const text : {"torus:4x4", "hypercube:4", "mesh:3x4", "tree:6"}) {
    const Topology topology = Topology::parse(text);
    for (const Bytes bytes : {0, 1, 64, 65, 600}) {
      for (const std::size_t capacity : {1, 4}) {
        CAPTURE(text, bytes, capacity);
        Machine copies(topology, plain(ExecutorKind::fibers));
        const Statistics expected = copies.run(exchange_of(bytes));
        Machine machine(topology, in_flits(ExecutorKind::fibers, capacity, 2));
        const Statistics found = machine.run(exchange_of(bytes));
        REQUIRE(found.links.size() == expected.links.size());
        for (std::size_t i = 0; i < found.links.size(); ++i) {
          CHECK(found.links[i].link == expected.links[i].link);
          CHECK(found.links[i].messages == expected.links[i].messages);
          CHECK(found.links[i].bytes == expected.links[i].bytes);
          for (std::size_t vc = 0; vc < 2; ++vc) {
            const auto& channel = found.links[i].channels[vc];
            CHECK(channel.messages == expected.links[i].channels[vc].messages);
            const auto& occupancy = channel.occupancy;
            CHECK(std::accumulate(occupancy.begin(), occupancy.end(), std::uint64_t{0}) ==
                  channel.messages * flits_of(bytes));
            CHECK(occupancy.size() <= capacity);
          }
        }
      }
    }
  }
}

namespace {

/// Runs every algorithm that applies to these networks, in flits and in one copy: no wrong byte, and
/// each link carries the same. Returns the number of runs.
int run_both(std::initializer_list<const char*> networks, Bytes bytes,
             const MachineOptions& flits) {
  int runs = 0;
  for (const char* const text : networks) {
    const Topology topology = Topology::parse(text);
    MachineOptions plain_copy = plain(flits.executor);
    plain_copy.all_port = flits.all_port;
    Machine copies(topology, plain_copy), machine(topology, flits);
    for (const Algorithm* const algorithm : cases::built_in()) {
      Collective collective(*algorithm, cases::plain_arguments(*algorithm));
      if (refusal(collective, topology) || algorithm->selection == Selection::any_order ||
          (algorithm->ports == Ports::all && !flits.all_port)) {
        continue;
      }
      CAPTURE(text, collective.operation()->name, algorithm->name, bytes);
      const CollectiveRun run{.block_bytes = bytes, .iterations = 1, .warmup = 0, .links = true};
      const RunResult expected = run_collective(copies, collective, run);
      const RunResult found = run_collective(machine, collective, run);
      CHECK(found.wrong == 0);
      CHECK(found.messages == expected.messages);
      REQUIRE(found.links.size() == expected.links.size());
      for (std::size_t i = 0; i < found.links.size(); ++i) {
        CHECK(found.links[i].link == expected.links[i].link);
        CHECK(found.links[i].messages == expected.links[i].messages);
        CHECK(found.links[i].bytes == expected.links[i].bytes);
      }
      ++runs;
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("every algorithm moves in flits what it moves in one copy", "[machine][collectives]") {
  MachineOptions fibers = in_flits(ExecutorKind::fibers, 1, 1);
  fibers.all_port = true;
  CHECK(run_both({"torus:4x4"}, 72, fibers) > 50);
  CHECK(run_both({"hypercube:3"}, 136, in_flits(ExecutorKind::threads, 4, 2)) > 50);
}

TEST_CASE("every algorithm moves in flits what it moves in one copy, on 12 networks", "[.][wide]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const std::size_t capacity : {1, 4}) {
      for (const int tasks : {1, 2}) {
        for (const bool all_port : {false, true}) {
          MachineOptions options = in_flits(executor, capacity, tasks);
          options.all_port = all_port;
          run_both(
              {"line:7", "ring:8", "torus:3x5", "torus:4x4", "torus:8x8", "mesh:4x4", "mesh:3x3x3",
               "hypercube:4", "hypercube:6", "complete:9", "tree:15", "ring:4*line:3"},
              all_port ? 600 : 40, options);
        }
      }
    }
  }
}

TEST_CASE("in whatever order inputs have their turns, counts and data are the same", "[machine]") {
  const Topology topology = Topology::parse("torus:3x3");
  const CollectiveRun run{.block_bytes = 200, .iterations = 1, .warmup = 0, .links = true};
  std::vector<LinkStatistics> first;
  for (int seed = 0; seed < (sanitized ? 10 : 100); ++seed) {
    CAPTURE(seed);
    MachineOptions options = in_flits(ExecutorKind::fibers, 1, 1 + seed % 2);
    options.messaging.shuffle = seed;
    Machine machine(topology, options);
    const RunResult result = run_collective(machine, cases::alltoall("shift"), run);
    CHECK(result.wrong == 0);
    if (first.empty()) first = result.links;
    REQUIRE(result.links.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(result.links[i].messages == first[i].messages);
      for (std::size_t lane = 0; lane < 2; ++lane) {
        const auto& found = result.links[i].channels[lane].occupancy;
        const auto& expected = first[i].channels[lane].occupancy;
        CHECK(std::accumulate(found.begin(), found.end(), std::uint64_t{0}) ==
              std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}));
      }
    }
  }
}

TEST_CASE("a long worm that waits for an ejection port fills every lane of its route",
          "[machine]") {
  const std::size_t capacity = GENERATE(1, 4);
  MachineOptions options = in_flits(ExecutorKind::fibers, capacity, 1);
  // The tail of 5 -> 4 is lost behind its head, which has the port of node 4.
  options.faults = {{5, 4, LinkFault::drop}};
  Machine machine(Topology::parse("line:6"), options);
  const std::string lane =
      fmt::format("({0} of {0} {1})", capacity, capacity == 1 ? "flit" : "flits");
  CHECK_THROWS_WITH(
      machine.run([](Node& node) {
        const Memory memory = node.memory(6400);
        if (node.rank() == 5) node.step({send(4, memory.span().first(100))});
        if (node.rank() == 0) node.step({send(4, memory)});
        if (node.rank() == 4) {
          node.step({receive(5, memory.span().first(100))});
          node.step({receive(0, memory)});
        }
      }),
      Contains(fmt::format("worm 0 -> 4, 6400 bytes: holds 0->1 {0}, 1->2 {0}, 2->3 {0}, 3->4 {0}",
                           lane)));
}

TEST_CASE("a machine of flits runs a program after a program that failed", "[machine]") {
  const ExecutorKind executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  const int tasks = GENERATE(1, 2);
  Machine machine(Topology::parse("torus:3x3"), in_flits(executor, 1, tasks));
  for (int run = 0; run < 4; ++run) {
    CHECK_THROWS_WITH(machine.run([&](Node& node) {
      const Memory memory = node.memory(4000);
      if (node.rank() == 4) throw std::runtime_error("no more");
      node.step({send((node.rank() + 1) % 9, memory)});
      node.step({receive((node.rank() + 8) % 9, memory)});
    }),
                      Contains("no more"));
    CHECK_NOTHROW(machine.run(exchange_of(300)));
  }
}

TEST_CASE("worms of flits deadlock in place, and the report says which flits they hold",
          "[machine]") {
  const ExecutorKind executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  const int tasks = GENERATE(1, 2);
  CAPTURE(executor, tasks);
  MachineOptions options = in_flits(executor, 1, tasks);
  options.virtual_channels = 1;
  options.allow_cycles = true;
  const Program program = [](Node& node) {
    const Memory out = node.memory(4096), in = node.memory(4096);
    const Rank r = node.rank();
    node.step({send(Move{0, 3}, out), receive((r + 3) % 6, in)});
  };
  std::string report;
  try {
    Machine machine(Topology::parse("ring:6"), options);
    machine.run(program);
  } catch (const Deadlock& deadlock) {
    report = deadlock.what();
  }
  // On one thread all nodes send before the router moves the first head. Elsewhere some worms may
  // have passed before others begin.
  if (executor == ExecutorKind::fibers && tasks == 1) {
    for (Rank r = 0; r < 6; ++r) {
      const Rank next = (r + 1) % 6, after = (r + 2) % 6;
      CHECK_THAT(report, Contains(fmt::format(
                             "\nworm {} -> {}, 4096 bytes: head waits at node {} for link {}->{}, "
                             "held by {} -> {}; holds {}->{} (1 of 1 flit)",
                             r, (r + 3) % 6, next, next, after, next, (r + 4) % 6, r, next)));
    }
  } else if (!report.empty()) {
    CHECK_THAT(report, Contains("bytes: head waits at node ") && Contains("(1 of 1 flit)"));
  }
  options.virtual_channels = 2;
  options.allow_cycles = false;
  Machine machine(Topology::parse("ring:6"), options);
  CHECK_NOTHROW(machine.run(program));
}

TEST_CASE("a long message that is there before its receive counts among the unexpected ones",
          "[machine]") {
  MachineOptions options = in_flits(ExecutorKind::fibers, 4, 1);
  options.messaging.unexpected_limit = 100;
  Machine machine(Topology::parse("line:2"), options);
  const Statistics statistics = machine.run([](Node& node) {
    const Memory memory = node.memory(5008);
    const Span data = memory.span();
    if (node.rank() == 0)
      return node.step({send(1, data.first(5000), 1), send(1, data.last(8), 2)});
    node.step({receive(0, data.last(8), 2)});
    node.step({receive(0, data.first(5000), 1)});
  });
  CHECK(statistics.nodes[1].peak_unexpected_bytes >= 5000);
}

TEST_CASE("what a link flips is wrong in exactly the blocks whose route takes it",
          "[machine][collectives]") {
  for (const char* const text :
       {"torus:4x4", "torus:3x5", "hypercube:3", "mesh:2x4", "complete:5"}) {
    const Topology topology = Topology::parse(text);
    for (Link link = 0; link < topology.links(); link += sanitized ? 9 : 1) {
      const auto ends = topology.link_ends(link);
      MachineOptions options = in_flits(ExecutorKind::fibers, 4, 1);
      options.faults = {{ends.from, ends.to, LinkFault::flip}};
      Machine machine(topology, options);
      CAPTURE(text, topology.link_name(link));
      const RunResult result = run_collective(machine, cases::alltoall("shift"),
                                              {.block_bytes = 256, .iterations = 1, .warmup = 0});
      const auto expected = pairs_over(topology, link);
      CHECK(std::set(result.wrong_pairs->begin(), result.wrong_pairs->end()) == expected);
      CHECK(result.wrong == 4 * expected.size());
    }
  }
}

TEST_CASE("what two links flip is right again", "[machine][collectives]") {
  const Topology line = Topology::parse("line:6");
  MachineOptions options = in_flits(ExecutorKind::fibers, 4, 1);
  options.faults = {{1, 2, LinkFault::flip}, {3, 4, LinkFault::flip}};
  Machine machine(line, options);
  const RunResult result = run_collective(machine, cases::alltoall("shift"),
                                          {.block_bytes = 64, .iterations = 1, .warmup = 0});
  std::vector<std::pair<Rank, Rank>> expected;
  for (Rank from = 0; from < 6; ++from) {
    for (Rank to = from + 1; to < 6; ++to) {
      const bool first = from <= 1 && to >= 2, second = from <= 3 && to >= 4;
      if (first != second) expected.emplace_back(from, to);
    }
  }
  CHECK(result.wrong_pairs == expected);
}

TEST_CASE("a lost flit is found: by the bytes that came, or in a deadlock", "[machine]") {
  const auto message_of_run = [](Bytes bytes, ExecutorKind executor) -> std::string {
    MachineOptions options = in_flits(executor, 4, 2);
    options.faults = {{1, 2, LinkFault::drop}};
    Machine machine(Topology::parse("line:4"), options);
    try {
      machine.run([&](Node& node) {
        const Memory memory = node.memory(bytes);
        if (node.rank() == 0) node.step({send(3, memory)});
        if (node.rank() == 3) node.step({receive(0, memory)});
      });
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing";
  };
  const ExecutorKind executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  CHECK(message_of_run(600, executor) ==
        "node 3: a message of 600 bytes from node 0 (tag 0) arrived with 536: link 1->2 lost 1 "
        "flit");
  for (const Bytes bytes : {100, 64}) {  // the tail, the only one
    CHECK_THAT(message_of_run(bytes, executor),
               Contains("deadlock: 2 of 4 nodes wait, 2 have finished, nothing moves\n") &&
                   Contains("1 flit lost"));
  }
  CHECK(message_of_run(0, executor) == "nothing");
}

TEST_CASE("a stalled link is a deadlock that names it", "[machine]") {
  MachineOptions options = in_flits(ExecutorKind::threads, 4, 1);
  options.faults = {{1, 2, LinkFault::stall}};
  Machine machine(Topology::parse("line:4"), options);
  CHECK_THROWS_WITH(machine.run([](Node& node) {
    const Memory memory = node.memory(600);
    if (node.rank() == 0) node.step({send(2, memory)});
    if (node.rank() == 2) node.step({receive(0, memory)});
  }),
                    Contains("worm 0 -> 2, 600 bytes: holds 0->1 (4 of 4 flits), 1->2 (4 of 4 "
                             "flits); the link is stalled (--fault 1-2:stall)"));
}

TEST_CASE("a link's occupancy and waits are those of one run", "[machine]") {
  Machine machine(Topology::parse("line:3"), in_flits(ExecutorKind::fibers, 4, 1));
  // Two worms want the link 1->2: while one passes, the other's head waits in the lane before.
  const Statistics crowded = machine.run([](Node& node) {
    const Memory memory = node.memory(6400);
    if (node.rank() < 2) node.step({send(2, memory)});
    if (node.rank() == 2) {
      node.step({receive(0, memory)});
      node.step({receive(1, memory)});
    }
  });
  CHECK(crowded.links[0].channels[0].occupancy.size() > 1);
  CHECK(crowded.links[0].channels[0].waited > 0);
  const Statistics light = machine.run([](Node& node) {
    const Memory memory = node.memory(64);
    if (node.rank() == 0) node.step({send(2, memory)});
    if (node.rank() == 2) node.step({receive(0, memory)});
  });
  for (const LinkStatistics& link : light.links) {
    CHECK(link.channels[0].occupancy == std::vector<std::uint64_t>{1});
    CHECK(link.channels[0].waited == 0);
  }
}

TEST_CASE("a node that computes does not stop worms that pass it", "[machine]") {
  Machine machine(Topology::parse("line:3"), in_flits(ExecutorKind::threads, 1, 1));
  std::atomic<bool> arrived{false};
  CHECK_NOTHROW(machine.run([&](Node& node) {
    const Memory memory = node.memory(5000);
    if (node.rank() == 0) node.step({send(2, memory)});
    if (node.rank() == 2) {
      node.step({receive(0, memory)});
      arrived = true;
    }
    if (node.rank() == 1) {
      node.local([&] {
        while (!arrived) std::this_thread::yield();
      });
    }
  }));
}

TEST_CASE("options of flits are checked before anything runs", "[machine]") {
  const auto refusal = [](const MachineOptions& options) {
    return message_of<UsageError>([&] { Machine(Topology::parse("torus:4x4"), options); });
  };
  MachineOptions options = in_flits(ExecutorKind::threads, 0, 1);
  CHECK(refusal(options) == "channel capacity: 0 flits, need 1 to 1048576");
  options.channel_capacity = 4;
  options.routers = -1;
  CHECK(refusal(options) == "routers: -1, need 1 or more, or 0 for one per core");
  options.routers = 0;
  options.faults = {{1, 6, LinkFault::flip}};
  CHECK(refusal(options) == "no link 1-6 in torus:4x4; node 1 has links to 0, 2, 5, 13");
  options.faults = {{16, 0, LinkFault::flip}};
  CHECK(refusal(options) == "no link 16-0 in torus:4x4: its nodes are 0 to 15");
}
