// Stress: the protocols of the machine, repeatedly, far more nodes than cores.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <algorithm>
#include <array>

using namespace machine_tests;

namespace {

/// Random partners, sizes, tags and ways, several messages a step, some of them to itself. The plan
/// of a step is a function of (seed, step) alone, so each node knows what it will receive.
struct Plan {
  struct Message {
    Rank from, to;
    Tag tag;
    Bytes bytes;
    int way;  // 0: by rank; else by moves, this sign round the ring of dimension 0
  };
  std::vector<Message> messages;

  Plan(const Topology& topology, std::uint64_t seed, int step) {
    const auto p = static_cast<std::uint64_t>(topology.nodes());
    const std::uint64_t count = mix({seed, static_cast<std::uint64_t>(step), 1}) % (3 * p);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t dice = mix({seed, static_cast<std::uint64_t>(step), 2, i});
      const auto from = static_cast<Rank>(dice % p);
      const Bytes bytes = some_size(dice, 0, 0);
      const Tag tag = static_cast<Tag>(dice >> 20U) % 2;
      const int way = topology.factor(0).wraps() ? static_cast<int>(dice >> 30U) % 3 - 1 : 0;
      if (way == 0) {
        messages.push_back({from, static_cast<Rank>((dice >> 40U) % p), tag, bytes, 0});
      } else {
        messages.push_back({from, topology.neighbour(from, 0, 1), tag, bytes, way});
      }
    }
  }
};

void run_plans(Node& node, const std::vector<Plan>& plans, std::uint64_t seed) {
  const Topology& topology = node.topology();
  for (std::size_t step = 0; step < plans.size(); ++step) {
    const std::vector<Plan::Message>& messages = plans[step].messages;
    std::vector<std::vector<std::byte>> out, in;
    std::vector<std::uint64_t> keys;
    std::vector<Op> ops;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Plan::Message& message = messages[i];
      const std::uint64_t its_key = key(seed, message.from, message.to, 1000 * step + i);
      if (message.from == node.rank()) {
        out.emplace_back(message.bytes);
        node.local([&] { fill(out.back(), its_key); });
        const ConstSpan data(out.back());
        const int n = topology.size(0);
        ops.push_back(message.way == 0
                          ? send(message.to, data, message.tag)
                          : send(Move{0, message.way > 0 ? 1 : 1 - n}, data, message.tag));
      }
      if (message.to == node.rank()) {
        in.emplace_back(message.bytes);
        keys.push_back(its_key);
        ops.push_back(receive(message.from, Span(in.back()), message.tag));
      }
    }
    node.step(std::span<const Op>(ops));
    node.local([&] {
      for (std::size_t i = 0; i < in.size(); ++i) {
        expect_payload(in[i], keys[i], "step " + std::to_string(step));
      }
    });
  }
}

std::vector<Plan> plans(const Topology& topology, std::uint64_t seed, int steps) {
  std::vector<Plan> all;
  for (int step = 0; step < steps; ++step) all.emplace_back(topology, seed, step);
  return all;
}

}  // namespace

TEST_CASE("random steps on every kind of machine", "[machine][stress]") {
  const std::vector<std::string> texts{"ring:8", "torus:4x4", "torus:3x2x3", "ring:5*tree:3"};
  std::uint64_t seed = 0;
  for (MachineOptions options : with_windows()) {
    const Topology topology = Topology::parse(texts[seed % texts.size()]);
    CAPTURE(topology.name(), describe(options), seed);
    const std::vector<Plan> all = plans(topology, ++seed, 80 / patience);
    Machine machine(topology, options);
    CHECK_NOTHROW(machine.run([&](Node& node) { run_plans(node, all, seed); }));
  }
}

TEST_CASE("short runs start and end repeatedly", "[machine][stress]") {
  for (const MachineOptions& options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("hypercube:3"), options);
    for (int run = 0; run < 150 / patience; ++run) {
      CHECK_NOTHROW(machine.run([](Node& node) {
        std::byte out{static_cast<unsigned char>(node.rank())}, in{};
        const Rank partner = node.rank() ^ 5;
        node.step({send(partner, {&out, 1}), receive(partner, {&in, 1})});
        expect(in == static_cast<std::byte>(partner), "a short run's message");
      }));
    }
  }
}

TEST_CASE("machines are made, run once and destroyed repeatedly", "[machine][stress]") {
  for (const MachineOptions& options : with_windows()) {
    CAPTURE(describe(options));
    for (int i = 0; i < 40 / patience; ++i) {
      Machine machine(Topology::parse("ring:6"), options);
      if (i % 4 != 0) machine.run([](Node& node) { exchange(node, 1); });
    }
  }
}

// Each run ends in a deadlock at another step, with some nodes finished, some waiting for a
// message, some for a receive, and works again in the next.
TEST_CASE("deadlocks are found every time", "[machine][stress]") {
  for (const MachineOptions& options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:3x3"), options);
    for (std::uint64_t run = 0; run < 24 / patience; ++run) {
      const auto silent = static_cast<Rank>(mix({run, 1}) % 9);
      const int when = static_cast<int>(mix({run, 2}) % 6);
      CAPTURE(silent, when);
      std::atomic<int> alive{0};
      CHECK_THROWS_AS(machine.run([&](Node& node) {
        const Alive one(alive);
        const Rank p = node.size(), r = node.rank();
        for (int step = 0; step < 6; ++step) {
          if (r == silent && step == when) return;
          std::array<std::byte, 2000> out{}, in{};
          const Rank t = 1 + step % (p - 1);
          node.step({send(mod(r + t, p), ConstSpan(out)), receive(mod(r - t, p), Span(in))});
        }
      }),
                      Deadlock);
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("a failure in the middle of traffic always unwinds all nodes", "[machine][stress]") {
  const Topology topology = Topology::parse("torus:4x4");
  std::uint64_t seed = 0;
  for (MachineOptions options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(topology, options);
    for (int run = 0; run < 16 / patience; ++run) {
      CAPTURE(++seed);
      const std::vector<Plan> all = plans(topology, seed, 6);
      const auto victims = mix({seed, 3});  // a bit for each node
      const int when = static_cast<int>(mix({seed, 4}) % 6);
      std::atomic<int> alive{0};
      CHECK_THROWS_AS(machine.run([&](Node& node) {
        const Alive one(alive);
        const std::vector<Plan> before(all.begin(), all.begin() + when);
        run_plans(node, before, seed);
        if ((victims >> node.rank() & 3U) == 0) throw std::runtime_error("enough");
        run_plans(node, all, seed + 1);
        throw std::runtime_error("late");
      }),
                      NodeFailure);
      CHECK(alive == 0);
    }
  }
}

// Both ends' memory is from the heap and goes with each step, for some in the middle of a failure: who
// read what had been a body's once too often, or late, would read freed memory.
TEST_CASE("memory is its node's again when the step is complete, or the node unwinds",
          "[machine][stress]") {
  constexpr int steps = 12;
  const auto ring = [](Node& node, std::uint64_t seed, Bytes bytes, Rank far) {
    const Rank p = node.size(), r = node.rank();
    const Rank to = mod(r + far, p), from = mod(r - far, p);
    std::vector<std::byte> out(bytes), in(bytes);
    fill(out, key(seed, r, to, bytes));
    node.step({send(to, ConstSpan(out)), receive(from, Span(in))});
    std::ranges::fill(out, std::byte{0xff});
    expect_payload(in, key(seed, from, r, bytes), "a body");
  };
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const int workers : {1, 4}) {
      if (executor == ExecutorKind::threads && workers > 1) continue;  // fibers' only
      for (const bool all_port : {false, true}) {
        CAPTURE(executor == ExecutorKind::fibers, workers, all_port);
        MachineOptions options = plain(executor);
        options.workers = workers;
        options.all_port = all_port;
        Machine machine(Topology::parse("torus:4x6"), options);
        for (int run = 0; run < 24 / patience + 2; ++run) {
          const std::uint64_t seed = mix({11, static_cast<std::uint64_t>(run)});
          const bool fails = run % 2 == 1;
          const auto victim = static_cast<Rank>(seed % 24);
          const Program program = [&](Node& node) {
            for (int step = 0; step < steps; ++step) {
              if (fails && node.rank() == victim &&
                  step == static_cast<int>((seed >> 8U) % steps)) {
                throw std::runtime_error("enough");
              }
              ring(node, seed, some_size(seed, 0, step), 1 + step * 5 % 23);
            }
          };
          if (!fails) {
            CHECK_NOTHROW(machine.run(program));
          } else {
            CHECK_THROWS_AS(machine.run(program), NodeFailure);
          }
        }
      }
    }
  }
}

// The time limit comes from outside, at any moment: also between two nodes' arrivals at a barrier.
TEST_CASE("a stop from outside ends a run at any moment", "[machine][stress]") {
  for (MachineOptions options : with_windows()) {
    CAPTURE(describe(options));
    options.time_limit = std::chrono::milliseconds(1);
    Machine machine(Topology::parse("ring:4"), options);
    for (int run = 0; run < 12 / patience + 1; ++run) {
      std::atomic<int> alive{0};
      CHECK_THROWS_AS(machine.run([&](Node& node) {
        const Alive one(alive);
        for (;;) exchange(node, 1);
      }),
                      TimeLimit);
      CHECK(alive == 0);
    }
  }
}
