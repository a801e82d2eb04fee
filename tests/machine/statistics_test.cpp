// Statistics and traces of a run agree with its dry schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/routing.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

using namespace machine_tests;

namespace {

struct Load {
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  friend bool operator==(const Load&, const Load&) = default;
};

/// Messages and bytes per link, by routing each message of a schedule.
std::map<Link, Load> loads(const Schedule& schedule) {
  const Routing routing(schedule.topology);
  std::map<Link, Load> loads;
  for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
    for (const OpRecord& op : schedule.ranks[rank].ops) {
      if (op.kind != Op::Kind::send) continue;
      std::vector<Channel> route;
      if (op.moves > 0) {
        routing.route(rank, schedule.moves(rank, op), route);
      } else {
        routing.route(rank, op.peer, route);
      }
      for (const Channel channel : route) {
        Load& load = loads[routing.link(channel)];
        ++load.messages;
        load.bytes += op.bytes;
      }
    }
  }
  return loads;
}

const std::vector<std::pair<std::string, Program>>& all_programs() {
  static const std::vector<std::pair<std::string, Program>> all{
      {"exchange", [](Node& node) { exchange(node, 5); }},
      {"exchange at once", [](Node& node) { exchange_at_once(node, 6); }},
      {"exchange of words", programs::exchange},
      {"exchange of words at once", programs::exchange_at_once},
      {"exchange in groups", programs::exchange_in_groups},
      {"idle steps",
       [](Node& node) {
         for (int i = 0; i < 3; ++i) node.step();
       }},
      {"nothing", [](Node&) {}},
  };
  return all;
}

}  // namespace

TEST_CASE("a run's statistics are its own, whatever was run, or failed, before", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:3x4"), options);
    const Program program = all_programs().front().second;
    const Statistics first = machine.run(program);
    CHECK_FALSE(first.links.empty());
    CHECK(machine.run([](Node&) {}).links.empty());
    CHECK_THROWS_AS(machine.run([&](Node& node) {
      program(node);
      if (node.rank() == 5) throw std::logic_error("5");
      program(node);
    }),
                    NodeFailure);
    CHECK_THROWS_AS(machine.run([&](Node& node) {  // never received
      if (node.rank() == 5) node.step({send(Rank{6}, ConstSpan{})});
    }),
                    UsageError);
    CHECK_THROWS_AS(machine.run([&](Node& node) {
      if (node.rank() == 5) node.step({receive(Rank{6}, Span{})});
    }),
                    Deadlock);
    const Statistics again = machine.run(program);
    REQUIRE(again.links.size() == first.links.size());
    for (std::size_t i = 0; i < first.links.size(); ++i) {
      CHECK(again.links[i].link == first.links[i].link);
      CHECK(again.links[i].messages == first.links[i].messages);
      CHECK(again.links[i].bytes == first.links[i].bytes);
    }
    REQUIRE(again.nodes.size() == first.nodes.size());
    for (std::size_t i = 0; i < first.nodes.size(); ++i) {
      CHECK(again.nodes[i].steps == first.nodes[i].steps);
      CHECK(again.nodes[i].messages == first.nodes[i].messages);
      CHECK(again.nodes[i].peak_bytes == first.nodes[i].peak_bytes);
    }
  }
}

TEST_CASE("the trace of a real run is the dry run's record", "[machine]") {
  const std::vector<MachineOptions> all = variations();
  std::size_t turn = 0;
  for (const char* const text : {"torus:3x4", "ring:5", "tree:5", "line:1", "hypercube:3"}) {
    const Topology topology = Topology::parse(text);
    for (const auto& [name, program] : all_programs()) {
      const MachineOptions& options = all[turn++ % all.size()];
      CAPTURE(text, name, describe(options));
      const Schedule dry = record(topology, program);
      Machine machine(topology, options);
      Schedule real{topology, {}};
      for (int run = 0; run < 2; ++run) {
        machine.run(program, real);
        CHECK(real == dry);
      }
    }
  }
  const Topology rings = Topology::parse("torus:3x4");
  for (const MachineOptions& options : all) {
    CAPTURE(describe(options));
    Schedule real{rings, {}};
    Machine(rings, options).run(programs::rotate, real);
    CHECK(real == record(rings, programs::rotate));
  }
}

TEST_CASE("links and nodes count the traffic of the dry schedule", "[machine]") {
  const std::vector<MachineOptions> all = variations();
  std::size_t turn = 0;
  std::vector<std::pair<std::string, Program>> tested = all_programs();
  tested.emplace_back("long way round", [](Node& node) {
    const std::vector<std::byte> out(100);
    std::vector<std::byte> in(100);
    const Rank from = node.topology().neighbour(node.rank(), 0, 1);
    for (int i = 0; i < 5; ++i) node.step({send(Move{0, -1}, out), receive(from, in)});
  });
  for (const char* const text : {"torus:3x4", "ring:2*ring:3", "ring:5"}) {
    const Topology topology = Topology::parse(text);
    for (const auto& [name, program] : tested) {
      const MachineOptions& options = all[turn++ % all.size()];
      CAPTURE(text, name, describe(options));
      const Schedule dry = record(topology, program);
      Machine machine(topology, options);
      for (int run = 0; run < 2; ++run) {  // the second run starts from zero
        const Statistics statistics = machine.run(program);
        std::map<Link, Load> counted;
        Link previous = -1;
        for (const LinkStatistics& link : statistics.links) {
          CHECK(link.link > previous);
          previous = link.link;
          counted[link.link] = {link.messages, link.bytes};
        }
        CHECK(counted == loads(dry));
        REQUIRE(statistics.nodes.size() == static_cast<std::size_t>(topology.nodes()));
        for (Rank rank = 0; rank < topology.nodes(); ++rank) {
          const NodeStatistics& node = statistics.nodes[rank];
          const RankLog& log = dry.ranks[rank];
          Load sent;
          for (const OpRecord& op : log.ops) {
            if (op.kind != Op::Kind::send) continue;
            ++sent.messages;
            sent.bytes += op.bytes;
          }
          CHECK(Load{node.messages, node.bytes} == sent);
          CHECK(node.steps == log.step_ends.size());
          CHECK(node.peak_bytes == log.peak_bytes);
          CHECK(node.peak_block_bytes == log.peak_block_bytes);
        }
      }
    }
  }
}

namespace {

/// Holds node 0's message on link 1->2 until node 1 has launched its second message, the one to
/// node 0: its first then waits for that link.
class Holder final : public NetworkObserver {
 public:
  void reserved(Rank from, Rank to, Channel, int hop) override {
    if (from == 0 && hop == 1) {
      holds = true;
      holds.notify_all();
      launched.wait(false);
    }
    if (from == 1 && to == 0) {
      launched = true;
      launched.notify_all();
    }
  }
  std::atomic<bool> holds{false}, launched{false};
};

}  // namespace

TEST_CASE("a header that waits for a link is counted there", "[machine]") {
  Holder holder;
  MachineOptions options = plain(ExecutorKind::threads);
  options.observer = &holder;
  options.all_port = true;
  Machine machine(Topology::parse("line:4"), options);
  const Statistics statistics = machine.run([&](Node& node) {
    std::byte data{}, other{};
    switch (node.rank()) {
      case 0:
        return node.step({send(3, {&data, 1}), receive(1, {&other, 1})});
      case 1:
        node.local([&] { holder.holds.wait(false); });
        return node.step({send(3, {&data, 1}), send(0, {&data, 1})});
      case 3:
        return node.step({receive(0, {&data, 1}), receive(1, {&other, 1})});
      default:
        return node.step();
    }
  });
  REQUIRE(statistics.links.size() == 4);
  for (const LinkStatistics& link : statistics.links) {
    const std::string name = machine.topology().link_name(link.link);
    CAPTURE(name);
    CHECK(link.messages == (name == "1->2" || name == "2->3" ? 2 : 1));
    CHECK(link.blocked == (name == "1->2" ? 1 : 0));
  }
}

TEST_CASE("peak memory is the most that a node held at once", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:3"), plain(executor));
    const auto program = [](Node& node) {
      const auto scale = static_cast<Bytes>(node.rank() + 1);
      const Memory base = node.memory(1000 * scale, Purpose::blocks);
      for (int i = 0; i < 3; ++i) {
        const Memory staging = node.memory(70 * scale);
        const Memory blocks = node.memory(10'000 * scale, Purpose::blocks);
        expect(reinterpret_cast<std::uintptr_t>(blocks.data()) % 64 == 0, "alignment");
        node.local([&] {
          fill(staging, 1);
          fill(blocks, 2);
          fill(base, 3);
          expect_payload(staging.span(), 1, "staging");
          expect_payload(blocks.span(), 2, "blocks");
        });
        node.step();
      }
      const Memory last = node.memory(5000 * scale);
    };
    for (int run = 0; run < 3; ++run) {
      const Statistics statistics = machine.run(program);
      for (Bytes scale : {1, 2, 3}) {
        CHECK(statistics.nodes[scale - 1].peak_bytes == 11'070 * scale);
        CHECK(statistics.nodes[scale - 1].peak_block_bytes == 11'000 * scale);
      }
    }
    const Statistics idle = machine.run([](Node&) {});
    CHECK(idle.nodes[0].peak_bytes == 0);
  }
}

TEST_CASE("memory that is released out of order is not mixed up", "[machine]") {
  Machine machine(Topology::parse("ring:2"), plain(ExecutorKind::threads));
  for (int run = 0; run < 2; ++run) {
    const Statistics statistics = machine.run([](Node& node) {
      std::vector<std::unique_ptr<Memory>> held;
      for (std::uint64_t i = 0; i < 300; ++i) {
        held.push_back(std::make_unique<Memory>(node.memory(1 + mix(i) % 3000)));
        fill(*held.back(), i);
        if (held.size() < 8) continue;
        const std::size_t victim = mix({i, 5}) % held.size();
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      std::uint64_t i = 0;
      for (const auto& memory : held) {  // ascending i: find each piece's key
        const auto holds = [&] {
          for (Bytes at = 0; at < memory->size(); ++at) {
            if (memory->data()[at] != payload(i, at)) return false;
          }
          return true;
        };
        while (i < 300 && !(memory->size() == 1 + mix(i) % 3000 && holds())) ++i;
        expect(i < 300, "a piece of memory was overwritten");
      }
      std::set<const std::byte*> distinct;
      for (const auto& memory : held) distinct.insert(memory->data());
      expect(distinct.size() == held.size(), "a piece was given out twice");
    });
    CHECK(statistics.nodes[0].peak_bytes < 8 * 3001);
  }
}
