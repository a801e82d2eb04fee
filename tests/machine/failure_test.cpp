// Failure: the right exception, all nodes unwound, the machine ready to run again.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

/// Counts the messages that get as far as a link.
class Headers final : public NetworkObserver {
 public:
  void reserved(Rank, Rank, Channel, int) override { ++count; }
  std::atomic<int> count{0};
};

/// Steps of messages of all sizes between many pairs; node `victim` throws before, in the middle of
/// or after its work in step `when`. Data lives on the heap of the step: it is gone when a node is
/// unwound.
void fail_at(Node& node, std::uint64_t seed, int victim, int when, std::atomic<int>& alive) {
  const Alive one(alive);
  const Rank p = node.size(), r = node.rank();
  for (int step = 0; step < 12; ++step) {
    const Alive two(alive);
    const Memory memory = node.memory(100, Purpose::blocks);
    if (r == victim && step == when) throw std::out_of_range("gave up in " + std::to_string(step));
    std::vector<std::vector<std::byte>> data;
    std::vector<Op> ops;
    for (Rank t = 0; t < p; ++t) {
      const auto bytes = [&](Rank a, Rank b) { return 10 * some_size(seed + step, a, b); };
      const Rank to = mod(r + t, p), from = mod(r - t, p);
      fill(data.emplace_back(bytes(r, to)), key(seed, r, to, step));
      ops.push_back(send(to, ConstSpan(data.back())));
      data.emplace_back(bytes(from, r));
      ops.push_back(receive(from, Span(data.back())));
    }
    node.step(std::span<const Op>(ops));
    for (Rank t = 0; t < p; ++t) {
      expect_payload(data[2 * t + 1], key(seed, mod(r - t, p), r, step), "the exchange");
    }
  }
}

}  // namespace

TEST_CASE("a node that throws at a random step stops the machine and is named", "[machine]") {
  const std::vector<MachineOptions> all = variations();
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    CAPTURE(describe(all[kind]));
    Machine machine(Topology::parse("torus:2x3"), all[kind]);
    for (std::uint64_t run = 0; run < (sanitized ? 1 : 8); ++run) {
      const std::uint64_t seed = 100 * kind + run;
      const int victim = static_cast<int>(mix({seed, 1}) % 6);
      const int when = static_cast<int>(mix({seed, 2}) % 12);
      CAPTURE(seed, victim, when);
      std::atomic<int> alive{0};
      CHECK(message_of<NodeFailure>([&] {
              machine.run([&](Node& node) { fail_at(node, seed, victim, when, alive); });
            }) == "node " + std::to_string(victim) + ": gave up in " + std::to_string(when));
      CHECK(alive == 0);
    }
    std::atomic<int> alive{0};
    CHECK_NOTHROW(machine.run([&](Node& node) { fail_at(node, kind, -1, 0, alive); }));
    CHECK(alive == 0);
  }
}

TEST_CASE("a node that asks for more memory than there is fails, and the machine runs again",
          "[machine]") {
  if (patience > 1) return;  // sanitizers end the process instead
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:3"), plain(executor));
    CHECK_THAT(message_of<NodeFailure>([&] {
                 machine.run([](Node& node) {
                   const Memory some = node.memory(1000, Purpose::blocks);
                   const Memory too_much = node.memory(Bytes{1} << 46, Purpose::blocks);
                 });
               }),
               Contains("no memory for 70368744177664 bytes"));
    const Statistics statistics = machine.run([](Node& node) { exchange(node, 1); });
    for (const NodeStatistics& node : statistics.nodes) CHECK(node.peak_bytes < 100'000);
  }
}

// An empty array less one. Rounded up to whole lines, or to whole pages, these sizes are small.
TEST_CASE("a node that asks for a negative number of bytes is told so, everywhere", "[machine]") {
  const Topology ring = Topology::parse("ring:3");
  for (const Bytes bytes : {~Bytes{0}, ~Bytes{0} - 62, ~Bytes{0} - 63, ~Bytes{0} - 5000,
                            Bytes{1} << 63, (Bytes{1} << 47) + 1}) {
    const auto asks = [&](Node& node) {
      const Memory before = node.memory(100);
      if (node.rank() == 2) static_cast<void>(node.along(0).memory(bytes));
    };
    const std::string text = fmt::format(
        "memory of {} bytes: a node can have up to 140737488355328 at once (is the "
        "size negative?)",
        bytes);
    for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
      Machine machine(ring, plain(executor));
      CHECK(message_of<UsageError>([&] { machine.run(asks); }) == "node 2: " + text);
    }
    CHECK_THAT(message_of<UsageError>([&] { record(ring, asks); }), Contains(text));
    CHECK_THAT(message_of<UsageError>([&] { prove(ring, asks); }), Contains(text));
  }
}

TEST_CASE("the original exception is nested in the one that names the node", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:3"), plain(executor));
    std::atomic<int> alive{0};
    try {
      machine.run([&](Node& node) { fail_at(node, 1, 2, 3, alive); });
      FAIL("nothing was thrown");
    } catch (const NodeFailure& failure) {
      CHECK_THROWS_AS(std::rethrow_if_nested(failure), std::out_of_range);
    }
    CHECK(message_of<NodeFailure>([&] {
            machine.run([](Node& node) {
              if (node.rank() == 1) throw 5;
              std::byte in{};
              node.step({receive(1, {&in, 1})});
            });
          }) == "node 1: unknown exception type");
  }
}

TEST_CASE("when all nodes throw, one of them is reported", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:3x3"), options);
    for (int run = 0; run < 5; ++run) {
      CHECK_THAT(message_of<NodeFailure>([&] {
                   machine.run([](Node& node) {
                     exchange(node, 1);
                     throw std::runtime_error("all fall down");
                   });
                 }),
                 Catch::Matchers::Matches("node [0-8]: all fall down"));
    }
  }
}

TEST_CASE("an exception while a node waits inside a handler keeps the handled one", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:6"), plain(executor));
    CHECK_NOTHROW(machine.run([](Node& node) {
      try {
        throw std::runtime_error(std::to_string(node.rank()));
      } catch (const std::runtime_error& error) {
        exchange(node, 1);
        expect(error.what() == std::to_string(node.rank()), "the handled exception");
        try {
          throw;
        } catch (const std::runtime_error& again) {
          expect(&again == &error, "the exception thrown again");
        }
      }
    }));
  }
}

TEST_CASE("destructors may step while an exception unwinds their node", "[machine]") {
  struct Exchange {
    ~Exchange() { exchange(node, 3); }
    Node& node;
  };
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:6"), plain(executor));
    CHECK_NOTHROW(machine.run([](Node& node) {
      std::string caught;
      try {
        const Exchange first{node}, second{node};
        throw std::runtime_error(std::to_string(node.rank()));
      } catch (const std::runtime_error& error) {
        caught = error.what();
      }
      expect(caught == std::to_string(node.rank()), "its own exception");
      expect(std::uncaught_exceptions() == 0, "none is left");
    }));
  }
}

TEST_CASE("a program that swallows Stopped still ends, and does not hide the failure",
          "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:4"), options);
    CHECK(message_of<NodeFailure>([&] {
            machine.run([](Node& node) {
              for (int i = 0; i < 5; ++i) {
                try {
                  exchange(node, 1);
                  if (i == 1 && node.rank() == 2) throw std::logic_error("here");
                } catch (const Stopped&) {
                  node.local([] {});
                }
              }
            });
          }) == "node 2: here");
  }
}

TEST_CASE("a node that sleeps ends when the machine stops", "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    CAPTURE(executor == ExecutorKind::fibers);
    MachineOptions options = plain(executor);
    options.workers = 2;
    Machine machine(Topology::parse("ring:6"), options);
    for (int run = 0; run < 3; ++run) {
      std::atomic<int> alive{0}, slept{0};
      CHECK(message_of<NodeFailure>([&] {
              machine.run([&](Node& node) {
                const Alive one(alive);
                // With fibers these share a worker with others, who talk.
                if (node.rank() == 0 || node.rank() == 3) {
                  requests_of(node).sleep(std::chrono::hours(1));
                  ++slept;
                } else if (node.rank() == 5) {
                  node.step({receive(1, Span())});
                  throw std::logic_error("here");
                } else {
                  for (const Rank to : {2, 1, 2, 4, 2, 5}) {
                    const Rank from = to == 5 || to == 4 ? 1 : 3 - to;
                    if (node.rank() == from) node.step({send(to, ConstSpan())});
                    if (node.rank() == to) node.step({receive(from, Span())});
                  }
                }
              });
            }) == "node 5: here");
      CHECK(alive == 0);
      CHECK(slept == 0);
      // Another run sleeps again, and for any time.
      machine.run([&](Node& node) {
        if (node.rank() == 0) requests_of(node).sleep(std::chrono::microseconds(1));
      });
    }
    options.time_limit = std::chrono::milliseconds(1);
    Machine limited(Topology::parse("ring:2"), options);
    CHECK_THROWS_AS(
        limited.run([&](Node& node) { requests_of(node).sleep(std::chrono::nanoseconds::max()); }),
        TimeLimit);
  }
}

TEST_CASE("the reason for a stop is reported before any node learns of it", "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    CAPTURE(executor == ExecutorKind::fibers);
    std::atomic<bool> was_reported = false;
    std::atomic<int> times = 0, learnt_before = 0;
    std::string text;
    MachineOptions options = plain(executor);
    options.messaging.on_failure = [&](const std::exception_ptr& error) {
      ++times;
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& thrown) {
        text = thrown.what();
      }
      was_reported = true;
    };
    Machine machine(Topology::parse("ring:4"), options);
    const auto run = [&](const Program& program) {
      was_reported = false;
      times = 0;
      CHECK_THROWS(machine.run([&](Node& node) {
        try {
          program(node);
        } catch (const Stopped&) {
          if (!was_reported) ++learnt_before;
          throw;
        }
      }));
      CHECK(times == 1);
      CHECK(learnt_before == 0);
    };
    // Within the network, by whoever carries the action.
    run([](Node& node) {
      if (node.rank() == 1) requests_of(node).act_at(2, 0, [] { throw std::bad_alloc(); });
      exchange(node, 1);
    });
    CHECK_THAT(text, Contains("node 1") && Contains("bad_alloc"));
    run([](Node& node) {
      if (node.rank() == 3) throw std::logic_error("here");
      exchange(node, 1);
    });
    CHECK(text == "node 3: here");
    run([](Node& node) { node.step({receive(node.rank(), Span())}); });
    CHECK_THAT(text, Contains("deadlock") || Contains("wait"));
    times = 0;
    machine.run([](Node& node) { exchange(node, 1); });
    CHECK(times == 0);
  }
}

TEST_CASE("a usage error that every node throws comes before the first message", "[machine]") {
  Headers headers;
  for (MachineOptions options : variations()) {
    CAPTURE(describe(options));
    options.observer = &headers;
    Machine machine(Topology::parse("torus:3x2"), options);
    std::array<std::byte, 6> data{};
    const Span span = Span(data).subspan(2, 2);
    const std::array<Move, 2> rising{Move{0, 1}, Move{1, 1}}, twice{Move{1, 1}, Move{1, 1}};
    const std::vector<std::pair<Op, std::string>> wrong{
        {send(Rank{6}, span), "peer 6 out of range [0, 6)"},
        {receive(6, span), "peer 6 out of range [0, 6)"},
        {receive(-1, span), "peer -1 out of range [0, 6)"},
        {send(Move{2, 1}, span), "cannot move +1 in dimension 2"},
        {send(Move{-1, 1}, span), "dimension -1"},
        {send(Move{0, 3}, span), "once round"},
        {send(std::span<const Move>(rising), span), "last dimension first"},
        {send(std::span<const Move>(twice), span), "each dimension once"},
    };
    for (const auto& [op, text] : wrong) {
      CAPTURE(text);
      const auto program = [&, &op = op](Node& node) {
        const Rank p = node.size();
        node.step({send(mod(node.rank() + 1, p), Span(data).first(2)), op,
                   receive(mod(node.rank() - 1, p), Span(data).last(2))});
      };
      CHECK_THAT(message_of<UsageError>([&] { machine.run(program); }), Contains(text));
    }
  }
  CHECK(headers.count == 0);
}

TEST_CASE("a step must not send from the memory that it receives into", "[machine]") {
  Machine machine(Topology::parse("ring:2"), plain(ExecutorKind::threads));
  const auto step = [&](std::size_t send_at, std::size_t receive_at) {
    machine.run([=](Node& node) {
      std::array<std::byte, 12> data{};
      const Rank other = 1 - node.rank();
      node.step({send(other, ConstSpan(data).subspan(send_at, 4)),
                 receive(other, Span(data).subspan(receive_at, 4))});
    });
  };
  CHECK_THAT(message_of<UsageError>([&] { step(0, 3); }),
             Contains("step 0: a send of 4 bytes and the receive from") &&
                 Contains("of 4 bytes overlap in memory"));
  CHECK_THAT(message_of<UsageError>([&] { step(3, 0); }), Contains("overlap in memory"));
  CHECK_NOTHROW(step(0, 4));
  CHECK_NOTHROW(step(4, 0));
}

TEST_CASE("a step must not receive twice into the same memory", "[machine]") {
  Machine machine(Topology::parse("ring:1"), plain(ExecutorKind::fibers));
  const auto step = [&](std::size_t first, std::size_t second) {
    machine.run([=](Node& node) {
      std::array<std::byte, 12> data{};
      node.step({send(Rank{0}, ConstSpan(data).last(4)), receive(0, Span(data).subspan(first, 4)),
                 send(Rank{0}, ConstSpan(data).last(4), 1),
                 receive(0, Span(data).subspan(second, 4), 1)});
    });
  };
  CHECK_THAT(message_of<UsageError>([&] { step(0, 3); }),
             Contains("the receive from 0 of 4 bytes and the receive from 0 of 4 bytes overlap"));
  CHECK_THAT(message_of<UsageError>([&] { step(2, 0); }), Contains("overlap in memory"));
  CHECK_NOTHROW(step(0, 4));
  CHECK_THAT(message_of<UsageError>([&] {
               machine.run([](Node& node) {
                 std::array<std::byte, 12> data{};
                 const std::array<Span, 2> pieces{Span(data).first(4), Span(data).subspan(3, 4)};
                 node.step({send(Rank{0}, ConstSpan(data).last(4)), receive_pieces(0, pieces)});
               });
             }),
             Contains("two pieces of the receive from 0 of 8 bytes overlap in memory"));
}

TEST_CASE("pieces that are only sent may overlap, and empty ones overlap nothing", "[machine]") {
  Machine machine(Topology::parse("ring:1"), plain(ExecutorKind::fibers));
  CHECK_NOTHROW(machine.run([](Node& node) {
    std::array<std::byte, 12> data{};
    const std::array<Span, 2> twice{Span(data).first(4), Span(data).first(4)};
    const std::array<Span, 2> pieces{Span(data).subspan(4, 8), Span(data).subspan(6, 0)};
    node.step({send_pieces(Rank{0}, twice), send(Rank{0}, ConstSpan(data).subspan(6, 0), 1),
               receive_pieces(0, pieces), receive(0, Span(data).subspan(5, 0), 1)});
  }));
}

// The check of a real step looks at all pairs of pieces, so at those of few pieces only: a step of few
// ops may have thousands. A dry run checks them all.
TEST_CASE("a step of many pieces is not slowed by their check", "[machine]") {
  const auto overlaps = [](std::size_t pieces) {
    return [=](Node& node) {
      const Memory data = node.memory(2 * pieces);
      std::vector<Span> out, in;
      for (std::size_t i = 0; i + 2 < pieces; i += 2) {
        out.push_back(data.subspan(i, 1));
        in.push_back(data.subspan(pieces + i, 1));
      }
      // The first byte again: sent to oneself, so that one thread does all.
      out.push_back(data.subspan(0, 1));
      in.push_back(data.subspan(pieces, 1));
      node.step({send_pieces(node.rank(), out), receive_pieces(node.rank(), in)});
    };
  };
  const Topology ring = Topology::parse("ring:1");
  Machine machine(ring, plain(ExecutorKind::fibers));
  CHECK_THAT(message_of<UsageError>([&] { machine.run(overlaps(16)); }), Contains("overlap"));
  CHECK_NOTHROW(machine.run(overlaps(17)));
  CHECK_THAT(message_of<UsageError>([&] { record(ring, overlaps(17)); }), Contains("overlap"));

  const auto start = std::chrono::steady_clock::now();
  CHECK_NOTHROW(machine.run(overlaps(300'000)));  // some 20 s if each pair is looked at
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("options out of range are refused", "[machine]") {
  MachineOptions options;
  options.workers = -1;
  CHECK(message_of<UsageError>([&] { Machine(Topology::parse("ring:4"), options); }) ==
        "workers: -1, need 1 or more, or 0 for one per core");
  options = {};
  options.virtual_channels = 3;
  CHECK_THROWS_AS(Machine(Topology::parse("ring:4"), options), UsageError);
  options.virtual_channels = 1;
  CHECK_THROWS_AS(Machine(Topology::parse("torus:2x5"), options), UsageError);
  for (const char* const acyclic : {"mesh:4x4", "torus:2x2", "hypercube:4", "tree:5"}) {
    CHECK_NOTHROW(Machine(Topology::parse(acyclic), options));
  }
}

TEST_CASE("a message that does not fit its receive is an error that names both sizes",
          "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:5"), options);
    for (const Bytes sent : {0, 5, 100, 3000}) {
      std::atomic<int> alive{0};
      CHECK(message_of<UsageError>([&] {
              machine.run([&](Node& node) {
                const Alive one(alive);
                exchange(node, 1);
                std::vector<std::byte> data(4000);
                if (node.rank() == 1) node.step({send(3, ConstSpan(data).first(sent), 2)});
                if (node.rank() == 3) node.step({receive(1, Span(data).first(4), 2)});
                exchange(node, 2);
              });
            }) == "node 3, step 5: receives 4 bytes from node 1 with tag 2, but the message has " +
                      std::to_string(sent));
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("a message that nobody receives is an error at the end", "[machine]") {
  for (MachineOptions options : variations()) {
    if (options.eager_limit < 8) continue;
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:5"), options);
    CHECK(message_of<UsageError>([&] {
            machine.run([](Node& node) {
              exchange(node, 1);
              const std::array<std::byte, 8> out{};
              if (node.rank() == 4) node.step({send(1, ConstSpan(out), 6)});
            });
          }) == "node 1 never received a message of 8 bytes from node 4 with tag 6");
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  }
}

namespace {

class Thrower final : public NetworkObserver {
 public:
  void reserved(Rank, Rank, Channel, int) override {
    if (--left == 0) throw std::runtime_error("heard enough");
  }
  std::atomic<int> left{0};
};

}  // namespace

// The node whose thread the observer has left may hold memory that others are still copying from.
TEST_CASE("an observer that throws stops the machine like a node that throws", "[machine]") {
  Thrower thrower;
  for (MachineOptions options : variations()) {
    CAPTURE(describe(options));
    options.observer = &thrower;
    Machine machine(Topology::parse("torus:2x3"), options);
    for (const int left : {1, 7, 50}) {
      thrower.left = left;
      std::atomic<int> alive{0};
      CHECK_THAT(message_of<NodeFailure>(
                     [&] { machine.run([&](Node& node) { fail_at(node, 1, -1, 0, alive); }); }),
                 Contains("heard enough"));
      CHECK(alive == 0);
    }
    std::atomic<int> alive{0};
    CHECK_NOTHROW(machine.run([&](Node& node) { fail_at(node, 2, -1, 0, alive); }));
  }
}

namespace {

/// Throws at node 0's first link, when node 1's message to it is under way; and holds that message
/// for a while, to see whether node 0 is unwound meanwhile.
class LateMessage final : public NetworkObserver {
 public:
  void reserved(Rank from, Rank, Channel, int) override {
    if (from == 0) {
      under_way.wait(false);
      throw std::runtime_error("lost");
    }
    under_way = true;
    under_way.notify_all();
    for (int i = 0; i < 200 && !unwound; ++i) std::this_thread::yield();
    too_early = unwound.load();
  }
  std::atomic<bool> under_way{false}, unwound{false}, too_early{false};
};

}  // namespace

TEST_CASE("a node is not unwound while a message is on its way into its memory", "[machine]") {
  LateMessage observer;
  MachineOptions options = plain(ExecutorKind::threads);
  options.observer = &observer;
  Machine machine(Topology::parse("line:3"), options);
  CHECK(message_of<NodeFailure>([&] {
          machine.run([&](Node& node) {
            struct Unwinding {
              ~Unwinding() { flag = true; }
              std::atomic<bool>& flag;
            };
            std::vector<std::byte> in(100), out(100);
            if (node.rank() == 0) {
              const Unwinding unwinding{observer.unwound};
              node.step({receive(1, Span(in)), send(Rank{2}, ConstSpan(out))});
            }
            if (node.rank() == 1) node.step({send(Rank{0}, ConstSpan(out))});
            if (node.rank() == 2) node.step({receive(0, Span(in))});
          });
        }) == "node 0: lost");
  CHECK_FALSE(observer.too_early);
}

TEST_CASE("what on_wrong_message throws, the run throws", "[machine]") {
  for (MachineOptions options : variations()) {
    options.messaging.on_wrong_message = [](const WrongMessage&) {
      throw std::runtime_error("from on_wrong_message");
    };
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:2"), options);
    CHECK(message_of<std::runtime_error>([&] {
            machine.run([](Node& node) {
              const Memory data = node.memory(2);
              node.step({node.rank() == 1 ? send(0, data.subspan(0, 1)) : receive(1, data.span())});
            });
          }) == "from on_wrong_message");
  }
}

TEST_CASE("a node begins with the floating-point environment of who runs it", "[machine]") {
  for (MachineOptions options : variations()) {
    options.workers = 1;
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:8"), options);
    for (const int mode : {FE_TONEAREST, FE_DOWNWARD, FE_TONEAREST}) {
      std::fesetround(mode);
      std::atomic<int> others{0};
      machine.run([&](Node& node) {
        if (std::fegetround() != mode) ++others;
        if (node.rank() % 2 == 0) std::fesetround(FE_UPWARD);
        node.step();
        if (node.rank() % 2 == 0 && std::fegetround() != FE_UPWARD) ++others;
      });
      std::fesetround(FE_TONEAREST);
      CHECK(others == 0);
    }
  }
}
