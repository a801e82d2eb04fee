// Waiting: what a machine may wait for, and its report when no node can continue.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/network/tag_table.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <barrier>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

constexpr std::array executors{ExecutorKind::threads, ExecutorKind::fibers};

/// Every node sends to its partner and only then receives.
void send_then_receive(Node& node, Bytes bytes) {
  const Rank partner = node.rank() ^ 1;
  std::vector<std::byte> out(bytes), in(bytes);
  fill(out, key(1, node.rank(), partner, 0));
  node.step({send(partner, ConstSpan(out))});
  node.step({receive(partner, Span(in))});
  expect_payload(in, key(1, partner, node.rank(), 0), "the partner's message");
}

void wait_for_each_other(Node& node) {
  std::array<std::byte, 4> in{};
  node.step();
  if (node.rank() < 2) node.step({receive(1 - node.rank(), Span(in), 9)});
}

}  // namespace

TEST_CASE("two nodes that wait for each other are a deadlock with a table", "[machine]") {
  for (const ExecutorKind executor : executors) {
    Machine machine(Topology::parse("line:3"), plain(executor));
    for (int run = 0; run < 20; ++run) {
      CHECK(message_of<Deadlock>([&] { machine.run(wait_for_each_other); }) ==
            "deadlock: 2 of 3 nodes wait, 1 have finished, nothing is in flight\n"
            "  node   step  waits for / holds\n"
            "     0      1  a message of 4 bytes from node 1 (tag 9)\n"
            "     1      1  a message of 4 bytes from node 0 (tag 9)");
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
    }
  }
}

TEST_CASE("a table names the ops that are missing, not those that are done", "[machine]") {
  for (const ExecutorKind executor : executors) {
    Machine machine(Topology::parse("line:2"), plain(executor));
    const std::string table = message_of<Deadlock>([&] {
      machine.run([](Node& node) {
        std::array<std::byte, 3> in{}, out{};
        const std::vector<std::byte> large(5000);
        if (node.rank() == 1) return node.step({receive(0, Span(in), 1), send(0, ConstSpan(out))});
        node.step({send(1, ConstSpan(out), 1), receive(1, Span(in)), send(1, ConstSpan(large), 2)});
      });
    });
    CHECK(table ==
          "deadlock: 1 of 2 nodes wait, 1 have finished, nothing is in flight\n"
          "  node   step  waits for / holds\n"
          "     0      0  node 1 to receive 5000 bytes (tag 2)");
  }
}

TEST_CASE("a long table is cut", "[machine]") {
  for (const ExecutorKind executor : executors) {
    Machine machine(Topology::parse("line:100"), plain(executor));
    const std::string table = message_of<Deadlock>([&] {
      machine.run([](Node& node) {
        std::byte in{};
        node.step({receive(mod(node.rank() + 1, node.size()), {&in, 1})});
      });
    });
    CHECK_THAT(table, Contains("100 of 100 nodes wait") && Contains("... and 36 more"));
    CHECK(std::count(table.begin(), table.end(), '\n') == 66);
  }
}

TEST_CASE("of many ops that wait a table names the first few", "[machine]") {
  for (const ExecutorKind executor : executors) {
    Machine machine(Topology::parse("line:2"), plain(executor));
    const std::string table = message_of<Deadlock>([&] {
      machine.run([](Node& node) {
        std::vector<std::byte> in(100);
        std::vector<Op> ops;
        for (int i = 0; i < 100; ++i) {
          ops.push_back(receive(1 - node.rank(), Span(in).subspan(i, 1), i));
        }
        node.step(std::span<const Op>(ops));
      });
    });
    CHECK_THAT(table, Contains("(tag 7); and 92 more") && !Contains("(tag 8)"));
  }
}

TEST_CASE("send, then receive: short messages pass each other, long ones are a deadlock",
          "[machine]") {
  for (const ExecutorKind executor : executors) {
    for (const Bytes eager_limit : {0, 64, 1024}) {
      MachineOptions options = plain(executor);
      options.eager_limit = eager_limit;
      CAPTURE(describe(options));
      Machine machine(Topology::parse("hypercube:2"), options);
      for (int run = 0; run < 5; ++run) {
        CHECK_NOTHROW(machine.run([&](Node& node) { send_then_receive(node, eager_limit); }));
        const auto too_long = [&] {
          machine.run([&](Node& node) { send_then_receive(node, eager_limit + 1); });
        };
        const std::string size = std::to_string(eager_limit + 1);
        CHECK_THAT(message_of<Deadlock>(too_long),
                   Contains("4 of 4 nodes wait") &&
                       Contains("     2      0  node 3 to receive " + size + " bytes (tag 0)"));
      }
    }
  }
}

TEST_CASE("a sender runs ahead of its receiver by as many short messages as there are slots",
          "[machine]") {
  for (const ExecutorKind executor : executors) {
    Machine machine(Topology::parse("line:2"), plain(executor));
    // Node 1 first receives what node 0 sends last.
    const auto run_ahead = [&](int messages) {
      machine.run([messages](Node& node) {
        for (int i = 0; i <= messages && node.rank() == 0; ++i) {
          const auto out = static_cast<std::byte>(i);
          node.step({send(1, {&out, 1}, i == messages ? 5 : 1)});
        }
        for (int i = 0; i <= messages && node.rank() == 1; ++i) {
          std::byte in{};
          node.step({receive(0, {&in, 1}, i == 0 ? 5 : 1)});
          expect(in == static_cast<std::byte>(i == 0 ? messages : i - 1), "the order of the slots");
        }
      });
    };
    constexpr auto slots = static_cast<int>(TagTable::early_slots);
    for (int run = 0; run < 5; ++run) {
      CHECK_NOTHROW(run_ahead(slots));
      CHECK_THAT(message_of<Deadlock>([&] { run_ahead(slots + 1); }),
                 Contains("     0     64  node 1 to receive 1 bytes (tag 1)") &&
                     Contains("     1      0  a message of 1 bytes from node 0 (tag 5)"));
    }
  }
}

TEST_CASE("messages beyond the slots wait with their sender and arrive in order", "[machine]") {
  for (const MachineOptions& options : variations()) {
    if (options.lock_step) continue;  // the receives take more steps than the sends
    CAPTURE(describe(options));
    Machine machine(Topology::parse("line:3"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      constexpr int messages = 3 * TagTable::early_slots;
      std::vector<std::byte> data(messages);
      std::vector<Op> ops;
      for (int i = 0; i < messages; ++i) {
        if (node.rank() < 2) data[i] = payload(3 + node.rank(), i);
        if (node.rank() < 2) ops.push_back(send(Rank{2}, ConstSpan(data).subspan(i, 1)));
      }
      if (node.rank() < 2) node.step(std::span<const Op>(ops));
      // Node 2's receives come one by one, those from node 1 first.
      for (const Rank from : {1, 0}) {
        for (int i = 0; i < messages && node.rank() == 2; ++i) {
          node.step({receive(from, Span(data).subspan(i, 1))});
          expect(data[i] == payload(3 + from, i), "the order of early messages");
        }
      }
    }));
  }
}

TEST_CASE("nodes that are slow are no deadlock", "[machine]") {
  for (const ExecutorKind executor : executors) {
    MachineOptions options = plain(executor);
    options.lock_step = GENERATE(false, true);
    Machine machine(Topology::parse("ring:5"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      for (Rank slow = 0; slow < node.size(); ++slow) {
        std::uint64_t work = 1;
        if (node.rank() == slow) {
          node.local([&] {
            for (int i = 0; i < 2'000'000 / patience; ++i) work = mix(work);
          });
        }
        std::byte out{7}, in{};
        const Rank p = node.size();
        node.step(
            {send(mod(node.rank() + 1, p), {&out, 1}), receive(mod(node.rank() - 1, p), {&in, 1})});
        expect(in == out && work != 0, "the token");
      }
    }));
  }
}

TEST_CASE("in lock step, nodes at the barrier and nodes in a step can wait for each other",
          "[machine]") {
  for (const ExecutorKind executor : executors) {
    MachineOptions options = plain(executor);
    options.lock_step = true;
    Machine machine(Topology::parse("line:3"), options);
    for (int run = 0; run < 5; ++run) {
      const std::string table = message_of<Deadlock>([&] {
        machine.run([](Node& node) {
          std::byte data{};
          if (node.rank() == 0) node.step({receive(1, {&data, 1})});
          if (node.rank() != 1) return;
          node.step();
          node.step({send(0, {&data, 1})});
        });
      });
      CHECK_THAT(table, Contains("2 of 3 nodes wait, 1 have finished") &&
                            Contains("0      0  a message of 1 bytes from node 1 (tag 0)") &&
                            Contains("1      1  the other nodes at the barrier"));
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
    }
  }
}

TEST_CASE("lock step waits for nobody who has finished", "[machine]") {
  for (const ExecutorKind executor : executors) {
    MachineOptions options = plain(executor);
    options.lock_step = true;
    Machine machine(Topology::parse("ring:7"), options);
    const Statistics statistics = machine.run([](Node& node) {
      for (Rank step = 0; step < node.rank(); ++step) node.step();
    });
    for (Rank r = 0; r < 7; ++r) CHECK(statistics.nodes[r].steps == static_cast<std::uint64_t>(r));
  }
}

namespace {

/// Lets no worm go on before four have reserved their first link.
class FirstLinks final : public NetworkObserver {
 public:
  void reserved(Rank, Rank, Channel, int hop) override {
    if (hop == 0) all_four_.arrive_and_wait();
  }

 private:
  std::barrier<> all_four_{4};
};

void half_way_round(Node& node) {
  const auto out = static_cast<std::byte>(node.rank());
  std::byte in{};
  node.step({send(Move{0, 2}, {&out, 1}), receive(node.rank() ^ 2, {&in, 1})});
  expect(in == static_cast<std::byte>(node.rank() ^ 2), "the message from across the ring");
}

}  // namespace

// Threads only: fibers of one worker cannot stop each other in the middle of a launch.
TEST_CASE("four worms on a ring without its second virtual channel are a deadlock", "[machine]") {
  FirstLinks observer;
  MachineOptions options = plain(ExecutorKind::threads);
  options.observer = &observer;
  options.virtual_channels = 1;
  options.all_port = GENERATE(false, true);
  CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("ring:4"), options); }),
             Contains("ring:4") && Contains("0->1, 1->2, 2->3, 3->0"));

  options.allow_cycles = true;
  Machine machine(Topology::parse("ring:4"), options);
  for (int run = 0; run < 20; ++run) {
    const std::string table = message_of<Deadlock>([&] { machine.run(half_way_round); });
    CHECK_THAT(table, Contains("4 of 4 nodes wait, 0 have finished"));
    const std::array<std::string, 4> links{"0->1", "1->2", "2->3", "3->0"};
    for (std::size_t r = 0; r < 4; ++r) {
      const auto node = [&](std::size_t i) { return std::to_string((r + i) % 4); };
      CHECK_THAT(table,
                 Contains("link " + links[(r + 1) % 4] + " for its message to node " + node(2) +
                          ", held by " + node(1) + " -> " + node(3) + " / holds " + links[r]));
      CHECK_THAT(table, Contains("     " + node(0) + "      0  a message of 1 bytes from node " +
                                 node(2) + " (tag 0); link"));
    }
  }

  options.allow_cycles = false;
  options.virtual_channels = 2;
  Machine with_dateline(Topology::parse("ring:4"), options);
  for (int run = 0; run < 20; ++run) CHECK_NOTHROW(with_dateline.run(half_way_round));
}

TEST_CASE("a run that takes longer than its time limit is stopped", "[machine]") {
  for (MachineOptions options : variations()) {
    CAPTURE(describe(options));
    options.time_limit = std::chrono::milliseconds(20);
    Machine machine(Topology::parse("ring:4"), options);
    std::atomic<int> alive{0};
    CHECK_THAT(message_of<TimeLimit>([&] {
                 machine.run([&](Node& node) {
                   const Alive one(alive);
                   for (;;) exchange(node, 1);
                 });
               }),
               Contains("20 ms"));
    CHECK(alive == 0);
  }
  for (const ExecutorKind executor : executors) {  // a limit that is not reached changes nothing
    MachineOptions options = plain(executor);
    options.time_limit = std::chrono::hours(1);
    Machine machine(Topology::parse("ring:4"), options);
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
    CHECK_THROWS_AS(machine.run(wait_for_each_other), Deadlock);
  }
}

TEST_CASE("a node at the barrier of the lock step does not wait for its open requests",
          "[machine][requests]") {
  MachineOptions options = plain(ExecutorKind::fibers);
  options.lock_step = true;
  Machine machine(Topology::parse("line:2"), options);
  const std::string table = message_of<Deadlock>([&] {
    machine.run([](Node& node) {
      const Memory data = node.memory(8);
      if (node.rank() == 1) return node.step({receive(0, data, 3)});
      static_cast<void>(requests_of(node).start(receive(1, data, 4)));
      node.step();
    });
  });
  CHECK_THAT(table, Contains("     0      1  the other nodes at the barrier of the lock step\n"));
}
