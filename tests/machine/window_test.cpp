// Windows: several steps of a node in progress at once, without any visible difference.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/runtime/node/together.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <functional>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

MachineOptions one_worker(int window) {
  MachineOptions options = plain(ExecutorKind::fibers);
  options.workers = 1;  // so turns are always taken in the same order
  options.window = window;
  return options;
}

/// Node 0 sends a long message, that node 1 does not receive before node 0 has had its turns, and
/// then does something. Returns whether it was done before the message was received.
bool done_before_it_is_received(int window,
                                const std::function<void(Node&, Memory& sent, Memory& other)>& act,
                                int messages = 1) {
  Machine machine(Topology::parse("line:2"), one_worker(window));
  bool received = false, before = false;
  machine.run([&](Node& node) {
    Memory data = node.memory(5000), other = node.memory(5000);
    node.local([&] { fill(data, key(1, node.rank(), 0, 0)); });
    if (node.rank() == 0) {
      node.step({send(1, data)});
      act(node, data, other);
      before = !received;
    } else {
      for (int turns = 0; turns < 500; ++turns) node.step();
      received = true;
      for (int i = 0; i < messages; ++i) {
        node.step({receive(0, other)});
        node.local([&] { expect_payload(other.span(), key(1, 0, 0, 0), "the long message"); });
      }
    }
  });
  return before;
}

/// Calls it with machines of two nodes, as threads and as fibers, with windows of 1, 2 and 8.
void with_each_window(const std::function<void(Machine&)>& act) {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const int window : {1, 2, 8}) {
      CAPTURE(executor == ExecutorKind::fibers, window);
      MachineOptions options = plain(executor);
      options.window = window;
      Machine machine(Topology::parse("line:2"), options);
      act(machine);
    }
  }
}

}  // namespace

TEST_CASE("a step returns before it is complete, until the window is full", "[machine][window]") {
  const auto nothing = [](Node&, Memory&, Memory&) {};
  CHECK_FALSE(done_before_it_is_received(1, nothing));
  CHECK(done_before_it_is_received(2, nothing));
  const auto empty_steps = [](Node& node, Memory&, Memory&) { node.idle(20); };
  CHECK(done_before_it_is_received(2, empty_steps));
  const auto another = [](Node& node, Memory& data, Memory&) { node.step({send(1, data)}); };
  CHECK_FALSE(done_before_it_is_received(2, another, 2));
  CHECK(done_before_it_is_received(3, another, 2));
  const auto short_one = [](Node& node, Memory& data, Memory&) {
    node.step({send(0, data.subspan(0, 8)), receive(0, node.memory(8))});
  };
  CHECK_FALSE(done_before_it_is_received(2, short_one));
  CHECK(done_before_it_is_received(3, short_one));
}

TEST_CASE("what could tell waits until the steps before are complete", "[machine][window]") {
  using Act = std::function<void(Node&, Memory&, Memory&)>;
  const std::vector<std::pair<const char*, Act>> waits{
      {"local", [](Node& node, Memory&, Memory&) { node.local([] {}); }},
      {"rearrange", [](Node& node, Memory&, Memory&) { node.rearrange(1, [] {}); }},
      {"combine", [](Node& node, Memory&, Memory&) { node.combine(1, [] {}); }},
      {"to give back what is sent",
       [](Node&, Memory& sent, Memory&) { Memory gone(std::move(sent)); }},
      {"to receive into what is sent",
       [](Node& node, Memory& sent, Memory& other) {
         node.step({send(0, other.subspan(0, 8)), receive(0, sent.subspan(4992, 8))});
       }},
      {"a request",
       [](Node& node, Memory&, Memory& other) {
         Request request = requests_of(node).start(send(0, other.subspan(0, 8)));
         Request answer = requests_of(node).start(receive(0, other.subspan(8, 8)));
         requests_of(node).wait(request);
         requests_of(node).wait(answer);
       }},
      {"data on the stack", [](Node& node, Memory&, Memory&) {
         std::array<std::byte, 8> out{}, in{};
         node.step({send(0, ConstSpan(out)), receive(0, Span(in))});
       }}};
  for (const auto& [what, act] : waits) {
    CAPTURE(what);
    CHECK_FALSE(done_before_it_is_received(8, act));
  }
  const std::vector<std::pair<const char*, Act>> need_not{
      {"other memory", [](Node& node, Memory&, Memory&) { node.memory(100); }},
      {"to give back what is not sent",
       [](Node&, Memory&, Memory& other) { Memory gone(std::move(other)); }},
      {"to send the same",
       [](Node& node, Memory& sent, Memory& other) {
         node.step({send(0, sent.subspan(0, 8)), receive(0, other.subspan(0, 8))});
       }},
      {"to receive beside it", [](Node& node, Memory&, Memory& other) {
         node.step({send(0, other.subspan(0, 8)), receive(0, other.subspan(8, 8))});
       }}};
  for (const auto& [what, act] : need_not) {
    CAPTURE(what);
    CHECK(done_before_it_is_received(8, act));
  }
}

// Node 0's empty message comes late; node 2 hears of it through node 1, by messages that have nothing
// to do with each other.
TEST_CASE("no send overtakes an empty message that is to be received", "[machine][window]") {
  for (const Bytes bytes : {Bytes{0}, Bytes{8}}) {
    CAPTURE(bytes);
    Machine machine(Topology::parse("line:3"), one_worker(8));
    bool sent = false, sent_before = false;
    machine.run([&](Node& node) {
      const Memory data = node.memory(8), other = node.memory(8);
      switch (node.rank()) {
        case 0:
          for (int turns = 0; turns < 500; ++turns) node.step();
          node.local([&] { sent = true; });
          node.step({send(1, data.subspan(0, bytes))});
          break;
        case 1:
          node.step({receive(0, data.subspan(0, bytes))});
          node.step({send(2, other)});
          break;
        default:
          node.step({receive(1, other)});
          node.local([&] { sent_before = sent; });
      }
    });
    CHECK(sent_before == (bytes == 0));  // data are ordered by who uses them
  }
}

// Node 1 sends on what it receives: round and round, each step by the data of the one before.
TEST_CASE("a step that sends what the one before receives waits for it", "[machine][window]") {
  for (MachineOptions options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:6"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      constexpr Bytes bytes = 1500;
      const Rank p = node.size(), r = node.rank(), next = mod(r + 1, p), last = mod(r - 1, p);
      const Memory all = node.memory(bytes * static_cast<Bytes>(p));
      const auto block = [&](Rank of) {
        return all.subspan(static_cast<Bytes>(mod(of, p)) * bytes, bytes);
      };
      for (std::uint64_t round = 0; round < 5; ++round) {
        node.local([&] { fill(block(r), key(2, r, 0, round)); });
        for (Rank t = 0; t + 1 < p; ++t) {
          node.step({send(next, block(r - t)), receive(last, block(r - t - 1))});
        }
        node.local([&] {
          for (Rank q = 0; q < p; ++q) expect_payload(block(q), key(2, q, 0, round), "a block");
        });
      }
    }));
  }
}

// Long ones and short ones by turns, both ways round the ring: of one tag they arrive in order.
TEST_CASE("messages of steps under way at once keep their order", "[machine][window]") {
  for (MachineOptions options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:6"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      constexpr int messages = 40;
      constexpr Bytes most = 4000;
      const Rank p = node.size(), r = node.rank();
      const Memory out = node.memory(messages * most), in = node.memory(messages * most);
      const auto bytes = [&](int i) {
        return 1 + key(3, 0, 0, static_cast<std::uint64_t>(i)) % most;
      };
      const auto at = [&](const Memory& memory, int i) {
        return memory.subspan(static_cast<Bytes>(i) * most, bytes(i));
      };
      node.local([&] {
        for (int i = 0; i < messages; ++i) fill(at(out, i), key(4, r, 0, i));
      });
      for (int i = 0; i < messages; ++i) {
        const ConstSpan data = at(out, i);
        const Op receives = receive(mod(r - 2, p), at(in, i));
        switch (key(5, 0, 0, i) % 3) {
          case 0:
            node.step({send(Move{0, 2}, data), receives});
            break;
          case 1:
            node.step({send(Move{0, -4}, data), receives});
            break;
          default:
            node.step({send(mod(r + 2, p), data), receives});
        }
      }
      node.local([&] {
        for (int i = 0; i < messages; ++i) {
          expect_payload(at(in, i), key(4, mod(r - 2, p), 0, i), "message " + std::to_string(i));
        }
      });
    }));
  }
}

TEST_CASE("messages, bytes, steps and peaks are the same with every window", "[machine][window]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    Machine one(Topology::parse("torus:3x3"), options);
    const Statistics plain_run = one.run([](Node& node) { exchange(node, 4); });
    for (const int window : {2, 8, MachineOptions::most_window}) {
      options.window = window;
      Machine machine(Topology::parse("torus:3x3"), options);
      for (int run = 0; run < 2; ++run) {
        const Statistics windowed = machine.run([](Node& node) { exchange(node, 4); });
        for (std::size_t r = 0; r < 9; ++r) {
          const NodeStatistics &a = plain_run.nodes[r], &b = windowed.nodes[r];
          CHECK(a.steps == b.steps);
          CHECK(a.messages == b.messages);
          CHECK(a.bytes == b.bytes);
          CHECK(a.peak_bytes == b.peak_bytes);
          CHECK(a.peak_block_bytes == b.peak_block_bytes);
        }
        REQUIRE(plain_run.links.size() == windowed.links.size());
        for (std::size_t i = 0; i < plain_run.links.size(); ++i) {
          CHECK(plain_run.links[i].messages == windowed.links[i].messages);
          CHECK(plain_run.links[i].bytes == windowed.links[i].bytes);
        }
      }
    }
  }
}

// The second message of the first step is launched when the first is complete, and not before.
TEST_CASE("a message is not passed by one of a later step on the same path", "[machine][window]") {
  for (const int window : {1, 2, 4}) {
    for (const bool all_port : {false, true}) {
      CAPTURE(window, all_port);
      MachineOptions options = one_worker(window);
      options.all_port = all_port;
      Machine machine(Topology::parse("line:2"), options);
      machine.run([](Node& node) {
        const Memory long_one = node.memory(100'000), first = node.memory(4),
                     second = node.memory(4);
        if (node.rank() == 0) {
          node.local([&] {
            fill(first, 1);
            fill(second, 2);
          });
          node.step({send(Move{0, 1}, long_one), send(Move{0, 1}, first)});
          node.step({send(Move{0, 1}, second)});
        } else {
          for (int turns = 0; turns < 500; ++turns) node.step();
          node.step({receive(Move{0, -1}, long_one), receive(Move{0, -1}, first)});
          node.step({receive(Move{0, -1}, second)});
          node.local([&] {
            expect_payload(first.span(), 1, "the message of the first step");
            expect_payload(second.span(), 2, "the message of the second step");
          });
        }
      });
    }
  }
}

TEST_CASE("a step of a part with data on its stack is complete when it returns",
          "[machine][window][together]") {
  with_each_window([](Machine& machine) {
    std::atomic<bool> returned{false};
    bool too_early = false;
    machine.run([&](Node& node) {
      const Memory data = node.memory(4096);
      node.local([&] { fill(data, 1); });
      together(node, {[&](Node& part) {
                 if (node.rank() == 0) {
                   std::array<std::byte, 4096> room{};
                   part.step({receive(1, Span(room))});
                   returned = true;
                   expect_payload(room, 1, "the message on the stack");
                 } else {
                   for (int turns = 0; turns < 500; ++turns) part.step();
                   too_early = returned;
                   part.step({send(0, data)});
                 }
               }});
    });
    CHECK_FALSE(too_early);
  });
}

TEST_CASE("what goes wrong in a step under way names that step", "[machine][window]") {
  with_each_window([](Machine& machine) {
    const Program program = [](Node& node) {
      const Memory data = node.memory(800);
      for (Bytes i = 0; i < 8; ++i) {
        const Span here = data.subspan(100 * i, i == 3 && node.rank() == 1 ? 9 : 8);
        node.step({node.rank() == 0 ? send(1, here) : receive(0, here)});
      }
    };
    CHECK(message_of<UsageError>([&] { machine.run(program); }) ==
          "node 1, step 3: receives 9 bytes from node 0 with tag 0, but the message has 8");
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  });
}

TEST_CASE("a deadlock with a window names the first step that is not complete",
          "[machine][window]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    const auto table = [&](int window) {
      options.window = window;
      Machine machine(Topology::parse("line:2"), options);
      std::string text = message_of<Deadlock>([&] {
        machine.run([](Node& node) {
          const Memory data = node.memory(100);
          const Rank other = 1 - node.rank();
          node.step({send(other, data.subspan(0, 4)), receive(other, data.subspan(4, 4))});
          if (node.rank() == 0) node.step({receive(1, data.subspan(8, 4), 9)});
          if (node.rank() == 0) node.step({receive(1, data.subspan(12, 5), 10)});
        });
      });
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
      return text;
    };
    const std::string first =
        "deadlock: 1 of 2 nodes wait, 1 have finished, nothing is in flight\n"
        "  node   step  waits for / holds\n"
        "     0      1  a message of 4 bytes from node 1 (tag 9)";
    CHECK(table(1) == first);
    CHECK(table(8) == first + "; a message of 5 bytes from node 1 (tag 10) in step 2");
  }
}

TEST_CASE("a program that throws while a step is under way throws after it", "[machine][window]") {
  with_each_window([](Machine& machine) {
    for (int run = 0; run < 10; ++run) {
      // The message never comes: with a window of 1 the program never gets that far.
      CHECK_THROWS_AS(machine.run([](Node& node) {
        const Memory data = node.memory(8);
        if (node.rank() == 0) node.step({receive(1, data)});
        if (node.rank() == 0) throw std::runtime_error("too early");
      }),
                      Deadlock);
      CHECK_THAT(message_of<NodeFailure>([&] {
                   machine.run([](Node& node) {
                     const Memory data = node.memory(5000);
                     if (node.rank() == 1) node.step();
                     node.step({node.rank() == 0 ? receive(1, data) : send(0, data)});
                     if (node.rank() == 0) throw std::runtime_error("in time");
                   });
                 }),
                 Contains("node 0: in time"));
    }
  });
}

// Own work, and the end of its memory, wait for steps under way: they may be what is stopped.
TEST_CASE("own work throws what stops the step under way, and is not done", "[machine][window]") {
  with_each_window([](Machine& machine) {
    bool worked = false, stopped = false;
    CHECK_THROWS_AS(machine.run([&](Node& node) {
      const Memory data = node.memory(8);
      if (node.rank() == 1) return;
      try {
        node.step({receive(1, data)});  // which nobody sends
        node.local([&] { worked = true; });
      } catch (const Stopped&) {
        stopped = true;
        throw;
      }
    }),
                    Deadlock);
    CHECK(stopped);
    CHECK_FALSE(worked);
  });
}

// Node 1's step waits for node 0, which never sends. Memory is freed before anything could throw.
TEST_CASE("after a step that freed memory left incomplete, no own work is done and no memory given",
          "[machine][window]") {
  enum class Cause { failure, deadlock, time_limit };
  for (const Cause cause : {Cause::failure, Cause::deadlock, Cause::time_limit}) {
    for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
      for (const int window : {1, 2, 8}) {
        CAPTURE(static_cast<int>(cause), executor == ExecutorKind::fibers, window);
        MachineOptions options = plain(executor);
        options.window = window;
        if (cause == Cause::time_limit) options.time_limit = std::chrono::milliseconds(50);
        Machine machine(Topology::parse("ring:3"), options);
        std::atomic<bool> has_begun{window == 1};
        int worked = 0, given = 0, stopped = 0;
        const auto run = [&] {
          machine.run([&](Node& node) {
            const Memory data = node.memory(8);
            if (node.rank() == 2) return node.step({send(1, data)});
            if (node.rank() == 0) {
              while (!has_begun || cause == Cause::time_limit) node.step();
              if (cause == Cause::failure) throw std::runtime_error("the one to report");
              return;
            }
            {
              const Memory temporary = node.memory(8);
              node.step({receive(0, data), receive(2, temporary)});
              has_begun = true;
            }
            for (int time = 0; time < 2; ++time) {  // however often it catches what is thrown
              try {
                node.local([&] { ++worked; });
              } catch (const Stopped&) {
                ++stopped;
              }
            }
            const Memory more = node.memory(8);
            ++given;
          });
        };
        switch (cause) {
          case Cause::failure:
            CHECK(message_of<NodeFailure>(run) == "node 0: the one to report");
            break;
          case Cause::deadlock:
            CHECK_THROWS_AS(run(), Deadlock);
            break;
          case Cause::time_limit:
            CHECK_THROWS_AS(run(), TimeLimit);
        }
        CHECK(worked == 0);
        CHECK(given == 0);
        CHECK(stopped == (window == 1 ? 0 : 2));
        CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
      }
    }
  }
}

TEST_CASE("in lock step the window is 1", "[machine][window]") {
  for (const bool lock_step : {false, true}) {
    MachineOptions options = one_worker(8);
    options.lock_step = lock_step;
    Machine machine(Topology::parse("line:2"), options);
    const auto send_then_receive = [&] {
      machine.run([](Node& node) {
        const Rank other = 1 - node.rank();
        const Memory out = node.memory(5000), in = node.memory(5000);
        node.step({send(other, out)});
        node.step({receive(other, in)});
      });
    };
    if (lock_step) {
      CHECK_THROWS_AS(send_then_receive(), Deadlock);
    } else {
      CHECK_NOTHROW(send_then_receive());
    }
  }
}

TEST_CASE("a window out of range is refused", "[machine][window]") {
  for (const int window : {0, -1, MachineOptions::most_window + 1}) {
    MachineOptions options;
    options.window = window;
    CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("line:2"), options); }),
               Contains(std::to_string(window) + " steps") && Contains("1 to 1024"));
  }
}

TEST_CASE("windows on many more nodes than workers, repeatedly", "[machine][window][stress]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const int workers : {1, 2, 4}) {
      if (executor == ExecutorKind::threads && workers > 1) continue;  // fibers' only
      for (const int window : {2, 3, 8}) {
        CAPTURE(workers, window);
        MachineOptions options = plain(executor);
        options.workers = workers;
        options.window = window;
        options.all_port = window == 3;
        Machine machine(Topology::parse("torus:6x5"), options);
        for (int run = 0; run < 40 / patience + 1; ++run) {
          CHECK_NOTHROW(machine.run([&](Node& node) {
            const Rank p = node.size(), r = node.rank();
            const Memory out = node.memory(static_cast<Bytes>(p) * 1100),
                         in = node.memory(static_cast<Bytes>(p) * 1100);
            const auto at = [](const Memory& memory, Rank i, std::uint64_t seed) {
              return memory.subspan(static_cast<Bytes>(i) * 1100, key(seed, 0, 0, i) % 1100);
            };
            node.local([&] {
              for (Rank t = 0; t < p; ++t) fill(at(out, t, run), key(6, r, mod(r + t, p), run));
            });
            for (Rank t = 0; t < p; ++t) {
              node.step(
                  {send(mod(r + t, p), at(out, t, run)), receive(mod(r - t, p), at(in, t, run))});
            }
            node.local([&] {
              for (Rank t = 0; t < p; ++t) {
                expect_payload(at(in, t, run), key(6, mod(r - t, p), r, run), "a block");
              }
            });
          }));
        }
      }
    }
  }
}
