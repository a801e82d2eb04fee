// The proof run: delivery, mismatches, failures; and its trace against the dry run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/prove.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/tests/schedule/dies.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace programs;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

/// A proof run whose every node is traced.
Schedule trace(const Topology& topology, const Program& program) {
  Schedule schedule{topology, std::vector<RankLog>(static_cast<std::size_t>(topology.nodes()))};
  prove(topology, [&](Node& node) {
    TracingNode traced(node, schedule.ranks[static_cast<std::size_t>(node.rank())]);
    program(traced);
  });
  return schedule;
}

const std::array sample_topologies{"ring:1",  "ring:2",    "ring:3",     "ring:5",
                                   "ring:7",  "ring:8",    "ring:12",    "ring:16",
                                   "ring:31", "torus:3x4", "hypercube:4"};

}  // namespace

TEST_CASE("a proof run delivers every message to its receive", "[prove]") {
  const std::string name = GENERATE(from_range(sample_topologies));
  const Topology topology = Topology::parse(name);
  CAPTURE(name);
  CHECK_NOTHROW(prove(topology, programs::exchange));
  CHECK_NOTHROW(prove(topology, exchange_at_once));
  CHECK_NOTHROW(prove(topology, rotate));
  CHECK_NOTHROW(prove(topology, exchange_in_groups));
}

TEST_CASE("a proof reports every message that has arrived, with its bytes", "[prove]") {
  const Topology topology = Topology::parse("ring:5");
  std::vector<std::array<std::int64_t, 4>> reported;
  prove(topology, programs::exchange, [&](const Delivery& message) {
    REQUIRE(message.pieces.size() == 1);
    reported.push_back({message.from, message.to, static_cast<std::int64_t>(message.step),
                        get(message.pieces[0])});
  });
  std::vector<std::array<std::int64_t, 4>> all;
  for (Rank from = 0; from < 5; ++from) {
    for (Rank t = 1; t < 5; ++t) {
      const Rank to = (from + t) % 5;
      all.push_back({from, to, t - 1, word(from, to)});
    }
  }
  CHECK(std::ranges::is_sorted(reported, {}, [](const auto& message) { return message[2]; }));
  std::ranges::sort(reported);
  std::ranges::sort(all);
  CHECK(reported == all);

  // The pieces are the receiver's, all of them; tags come along.
  prove(
      Topology::parse("line:2"),
      [](Node& node) {
        const Memory data = node.memory(2 * word_bytes);
        const Span out = data.subspan(0, word_bytes), in = data.subspan(word_bytes, word_bytes);
        node.local([&] { put(out, 5 + node.rank()); });
        const std::array<Span, 2> pieces{in.first(3), in.subspan(3)};
        if (node.rank() == 0) node.step({send(1, out, 9)});
        if (node.rank() == 1) node.step({receive_pieces(0, pieces, 9)});
      },
      [](const Delivery& message) {
        CHECK(message.tag == 9);
        REQUIRE(message.pieces.size() == 2);
        CHECK(get({message.pieces[0].data(), word_bytes}) == 5);
      });
}

TEST_CASE("what the listener throws ends the proof", "[prove]") {
  int programs_left = 0;
  const auto run = [&] {
    prove(
        Topology::parse("ring:3"),
        [&](Node& node) {
          struct Leaves {
            int& count;
            ~Leaves() { ++count; }
          } leaves{programs_left};
          programs::exchange(node);
        },
        [](const Delivery&) { throw UsageError("seen enough"); });
  };
  CHECK_THROWS_WITH(run(), "seen enough");
  CHECK(programs_left == 3);
}

TEST_CASE("what the listener throws is not blamed on a node", "[prove]") {
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto run = [](const std::function<void(const Delivery&)>& listener) {
    prove(Topology::parse("ring:3"), programs::exchange, listener);
  };
  const auto mine = [](const Delivery&) { throw Mine("full"); };
  CHECK_THROWS_AS(run(mine), Mine);
  CHECK_THROWS_WITH(run(mine), "full");
  CHECK_THROWS_AS(run([](const Delivery&) { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK_THROWS_AS(run([](const Delivery&) { throw 17; }), int);
}

// A stack and its guard are two maps of the process, which has 65530: all stacks are in one, and
// from some number on they have no guards.
TEST_CASE("a proof has room for more nodes than the process may have memory maps", "[prove]") {
  if (sanitized) return;  // they touch shadow memory for all stacks
  std::int64_t sum = 0;
  CHECK_NOTHROW(prove(Topology::parse("ring:40000"), [&](Node& node) {
    const Memory data = node.memory(2 * word_bytes);
    const Span out = data.subspan(0, word_bytes), in = data.subspan(word_bytes, word_bytes);
    node.local([&] { put(out, node.rank()); });
    node.step({send(Move{0, 1}, out), receive(Move{0, -1}, in)});
    node.local([&] { sum += get(in); });
  }));
  CHECK(sum == std::int64_t{40000} * 39999 / 2);
}

TEST_CASE("the trace of a proof run equals the dry run", "[prove][trace]") {
  const std::string name = GENERATE(from_range(sample_topologies));
  const Topology topology = Topology::parse(name);
  CAPTURE(name);
  CHECK(trace(topology, programs::exchange) == record(topology, programs::exchange));
  CHECK(trace(topology, exchange_at_once) == record(topology, exchange_at_once));
  CHECK(trace(topology, rotate) == record(topology, rotate));
  CHECK(trace(topology, exchange_in_groups) == record(topology, exchange_in_groups));
}

TEST_CASE("the trace of a program that looks at its data differs from the dry run",
          "[prove][trace]") {
  const Topology topology = Topology::parse("ring:4");
  const Program data_dependent = [](Node& node) {
    bool talk = false;
    node.local([&] { talk = true; });
    const Memory data = node.memory(4);
    if (talk)
      node.step({send(node.rank(), data.subspan(0, 2)), receive(node.rank(), data.subspan(2, 2))});
  };
  CHECK_FALSE(trace(topology, data_dependent) == record(topology, data_dependent));
}

TEST_CASE("a log used again starts empty", "[trace]") {
  const Topology topology = Topology::parse("line:1");
  RankLog log;
  for (int repetition = 0; repetition < 2; ++repetition) {
    prove(topology, [&](Node& node) {
      TracingNode traced(node, log);
      exchange_at_once(traced);
    });
  }
  CHECK(log == record(topology, exchange_at_once).ranks[0]);
}

TEST_CASE("a traced node gives memory back to the one that it has it from", "[trace]") {
  RankLog log;
  const Schedule schedule = record(Topology::parse("line:1"), [&](Node& node) {
    TracingNode traced(node, log);
    for (int i = 0; i < 3; ++i) const Memory data = traced.memory(10, Purpose::blocks);
  });
  CHECK(schedule.ranks[0].peak_bytes == 10);
  CHECK(schedule.ranks[0].peak_block_bytes == 10);
}

TEST_CASE("pieces are gathered and scattered, cut differently on both sides", "[prove]") {
  prove(Topology::parse("ring:2"), [](Node& node) {
    const Memory out = node.memory(12), in = node.memory(12);
    node.local([&] {
      for (std::size_t i = 0; i < 12; ++i)
        out.data()[i] = static_cast<std::byte>(i + 100 * node.rank());
    });
    const std::array<Span, 4> cut{out.subspan(9, 3), out.subspan(0, 0), out.subspan(0, 5),
                                  out.subspan(7, 1)};
    const std::array<Span, 5> other_cut{in.subspan(0, 1), in.subspan(4, 4), in.subspan(3, 0),
                                        in.subspan(2, 2), in.subspan(9, 2)};
    node.step({send_pieces(1 - node.rank(), cut), receive_pieces(1 - node.rank(), other_cut)});
    node.local([&] {
      const std::array<int, 9> sent{9, 10, 11, 0, 1, 2, 3, 4, 7},
          places{0, 4, 5, 6, 7, 2, 3, 9, 10};
      for (std::size_t i = 0; i < sent.size(); ++i) {
        const int expected = (sent[i] + 100 * (1 - node.rank())) % 256;
        if (std::to_integer<int>(in.data()[places[i]]) != expected)
          throw std::runtime_error("wrong byte");
      }
    });
  });
}

TEST_CASE("messages of one pair and tag keep their order, tags are distinguished", "[prove]") {
  prove(Topology::parse("ring:2"), [](Node& node) {
    const Rank other = 1 - node.rank();
    const Memory out = node.memory(4 * word_bytes), in = node.memory(4 * word_bytes);
    const auto at = [](const Memory& memory, int i) {
      return memory.subspan(word_bytes * i, word_bytes);
    };
    node.local([&] {
      for (int i = 0; i < 4; ++i) put(at(out, i), i);
    });
    node.step({receive(other, at(in, 0), 7), receive(other, at(in, 1), 3),
               receive(other, at(in, 2), 7), receive(other, at(in, 3), 3),
               send(other, at(out, 0), 3), send(other, at(out, 1), 3), send(other, at(out, 2), 7),
               send(other, at(out, 3), 7)});
    node.local([&] {
      const std::array<std::int64_t, 4> expected{2, 0, 3, 1};
      for (int i = 0; i < 4; ++i) {
        if (get(at(in, i)) != expected[i]) throw std::runtime_error("wrong order");
      }
    });
  });
}

TEST_CASE("memory of a proof run holds nothing useful before a message brings it", "[prove]") {
  prove(Topology::parse("ring:3"), programs::exchange);
  prove(Topology::parse("ring:3"), [](Node& node) {
    const Memory in = node.memory(3 * word_bytes, Purpose::blocks);
    node.local([&] {
      if (!std::ranges::all_of(in.span(), [](std::byte b) { return b == std::byte{0xDB}; })) {
        throw std::runtime_error("memory is not fresh");
      }
    });
  });
}

TEST_CASE("a node of a proof gets as many bytes as it asks for", "[prove]") {
  prove(Topology::parse("line:1"), [](Node& node) {
    for (const Bytes bytes : {0, 1, 2, 65}) {
      if (node.memory(bytes).size() != bytes) throw std::runtime_error("other bytes");
    }
  });
}

TEST_CASE("a proof without an end ends at the limit of dry runs", "[prove]") {
  const DryRunLimit limit(std::chrono::milliseconds(1));
  CHECK_THROWS_AS(prove(Topology::parse("ring:3"),
                        [](Node& node) {
                          while (true) node.step();
                        }),
                  TimeLimit);
}

TEST_CASE("the failure of the earlier step is reported, also if a node passed it idly", "[prove]") {
  const Topology topology = Topology::parse("ring:4");
  const auto run = [&](int idle, int lonely, bool throws) {
    prove(topology, [=](Node& node) {
      const Memory data = node.memory(8);
      if (node.rank() == 0) {
        for (int step = 0; step < idle; ++step) node.step();
        if (throws) throw std::runtime_error("I have failed");
      }
      for (int step = 0; step < lonely && node.rank() == 2; ++step) node.step();
      if (node.rank() == 2) node.step({send(Rank{0}, data)});
    });
  };
  CHECK_THROWS_WITH(run(9, 5, true), "step 5: node 2 sends 8 bytes to 0, which receives none");
  CHECK_THROWS_WITH(run(5, 5, true), "node 0: I have failed");
  CHECK_THROWS_WITH(run(4, 5, true), "node 0: I have failed");
  // Node 0's program ends in step 9; here it is in step 5.
  CHECK_THROWS_WITH(run(9, 5, false), EndsWith("which receives none"));
  CHECK_THROWS_WITH(run(5, 5, false), EndsWith("its program has ended"));
}

TEST_CASE("steps in which a node does nothing are counted as its others", "[prove]") {
  std::vector<std::size_t> steps;
  prove(
      Topology::parse("line:3"),
      [](Node& node) {
        const Memory data = node.memory(8);
        // 0 to 2 in step 3, 2 to 1 in step 7, 1 to 0 in step 8; the rest is idle.
        const auto idle = [&](int count) {
          for (int i = 0; i < count; ++i) node.step();
        };
        if (node.rank() == 0)
          idle(3), node.step({send(Rank{2}, data)}), idle(4), node.step({receive(Rank{1}, data)});
        if (node.rank() == 1)
          idle(7), node.step({receive(Rank{2}, data)}), node.step({send(Rank{0}, data)});
        if (node.rank() == 2)
          idle(3), node.step({receive(Rank{0}, data)}), idle(3), node.step({send(Rank{1}, data)});
      },
      [&](const Delivery& message) { steps.push_back(message.step); });
  CHECK(steps == std::vector<std::size_t>{3, 7, 8});
}

TEST_CASE("a step whose sends and receives do not match is reported with ranks and sizes",
          "[prove]") {
  const Topology topology = Topology::parse("ring:4");
  // In step 1 of 2 only node 0 or 1 acts: a send of `sent` bytes from 0 to 1, a receive of
  // `expected` ones.
  const auto run = [&](Bytes sent, Bytes expected, bool sends, bool receives, Tag tag = 0) {
    prove(topology, [=](Node& node) {
      const Memory data = node.memory(64);
      node.step();
      if (node.rank() == 0 && sends) {
        node.step({send(Rank{1}, data.subspan(0, sent))});
      } else if (node.rank() == 1 && receives) {
        node.step({receive(Rank{0}, data.subspan(0, expected), tag)});
      } else {
        node.step();
      }
    });
  };
  CHECK_NOTHROW(run(8, 8, true, true));
  CHECK_THROWS_AS(run(8, 16, true, true), UsageError);
  CHECK_THROWS_WITH(run(8, 16, true, true), "step 1: node 0 sends 8 bytes to 1, which receives 16");
  CHECK_THROWS_WITH(run(8, 8, true, false),
                    "step 1: node 0 sends 8 bytes to 1, which receives none");
  CHECK_THROWS_WITH(run(8, 8, false, true),
                    "step 1: node 1 receives 8 bytes from 0, which sends none");
  CHECK_THROWS_AS(run(8, 8, true, true, 1), UsageError);
}

TEST_CASE("a program may end early if nobody talks to it any more", "[prove]") {
  const Topology topology = Topology::parse("ring:4");
  const auto run = [&](Rank steps_of_three) {
    prove(topology, [=](Node& node) {
      const Memory data = node.memory(8);
      for (Rank t = 0; t < (node.rank() == 3 ? steps_of_three : 4); ++t) {
        if (t == 2 && node.rank() == 2) {
          node.step({send(Rank{3}, data.span())});
        } else if (t == 2 && node.rank() == 3) {
          node.step({receive(Rank{2}, data)});
        } else {
          node.step();
        }
      }
    });
  };
  CHECK_NOTHROW(run(4));
  CHECK_NOTHROW(run(3));
  CHECK_THROWS_WITH(
      run(2), Contains("step 2: node 2 sends 8 bytes to 3,") && Contains("its program has ended"));
}

TEST_CASE("when a node throws, all others unwind and its exception leaves with the rank in front",
          "[prove]") {
  struct Count {
    explicit Count(int& alive) : alive_(alive) { ++alive_; }
    ~Count() { --alive_; }
    int& alive_;
  };
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const Topology topology = Topology::parse("ring:16");
  int alive = 0, most = 0, stopped = 0;
  const auto run = [&](Rank thrower, int step, const std::function<void()>& thrown) {
    alive = most = stopped = 0;
    prove(topology, [&](Node& node) {
      const Count count(alive);
      most = std::max(most, alive);
      const Memory data = node.memory(8);
      for (int t = 0; t < 4; ++t) {
        if (node.rank() == thrower && t == step) thrown();
        try {
          node.step(
              {send(Move{0, 1}, data.subspan(0, 4)), receive(Move{0, -1}, data.subspan(4, 4))});
          node.local([] {});  // waits until the step is delivered
        } catch (const Stopped&) {
          ++stopped;
          CHECK_THROWS_AS(node.step(), Stopped);  // for ever, also where it would do nothing
          throw;
        }
      }
    });
  };
  const auto mine = [] { throw Mine("mine"); };

  CHECK_THROWS_AS(run(5, 2, mine), NodeFailure);
  CHECK(most == 16);
  CHECK(alive == 0);
  CHECK(stopped == 15);
  CHECK_THROWS_WITH(run(5, 2, mine), "node 5: mine");
  CHECK_THROWS_WITH(run(0, 3, [] { throw 17; }), "node 0: unknown exception type");
  CHECK(alive == 0);
  try {
    run(15, 0, mine);
    FAIL("it throws");
  } catch (const NodeFailure& failure) {
    CHECK_THROWS_AS(std::rethrow_if_nested(failure), Mine);
  }
  CHECK_THROWS_AS(run(3, 1, [] { throw UsageError("usage"); }), UsageError);
  CHECK_THROWS_WITH(run(3, 1, [] { throw UsageError("usage"); }), "usage");
  CHECK(alive == 0);

  // Before any step: the others have begun theirs.
  CHECK_THROWS_AS(run(4, 0, mine), NodeFailure);
  CHECK(stopped == 15);
  CHECK(alive == 0);
}

TEST_CASE("no program works on its data behind the step in which it is stopped", "[prove]") {
  int went_on = 0;
  CHECK_THROWS_AS(prove(Topology::parse("ring:4"),
                        [&](Node& node) {
                          const Memory data = node.memory(8);
                          node.step();
                          if (node.rank() == 0) throw std::runtime_error("failed");
                          node.step({receive(Rank{0}, data)});
                          node.local([&] { ++went_on; });
                        }),
                  NodeFailure);
  CHECK(went_on == 0);
}

TEST_CASE("no program works on its data behind a step that does not match", "[prove]") {
  int went_on = 0;
  CHECK_THROWS_WITH(prove(Topology::parse("ring:4"),
                          [&](Node& node) {
                            const Memory data = node.memory(8);
                            node.step({send(node.rank(), data)});
                            node.local([&] { ++went_on; });
                          }),
                    "step 0: node 0 sends 8 bytes to 0, which receives none");
  CHECK(went_on == 0);
}

TEST_CASE("programs ahead of what is delivered get what a step brought, however they take it",
          "[prove]") {
  // By rank and step: data in memory(), in several pieces, and on the stack; memory that is freed
  // before its step is delivered; a program that ends before its last step is delivered.
  constexpr int steps = 40;
  const Topology topology = Topology::parse("ring:5");
  std::vector<std::int64_t> sums(5, 0);
  std::size_t delivered = 0, last_step = 0;
  prove(
      topology,
      [&](Node& node) {
        const Memory all = node.memory((steps + 1) * word_bytes);
        const auto place = [&](int i) { return all.subspan(i * word_bytes, word_bytes); };
        node.local([&] { put(place(0), node.rank()); });
        for (int t = 0; t < steps; ++t) {
          const Memory short_lived = node.memory(word_bytes);
          std::array<std::byte, word_bytes> on_stack{};
          const std::array<Span, 2> pieces{place(t + 1).first(3), place(t + 1).subspan(3)};
          const bool cut = t % 7 == 3;
          node.step({send(Move{0, 1}, place(t)), cut ? receive_pieces(Move{0, -1}, pieces)
                                                     : receive(Move{0, -1}, place(t + 1))});
          if (t % 5 == 0) node.step();
          if (t % 11 == 4) {
            node.step({send(Move{0, 1}, place(t)), receive(Move{0, -1}, on_stack)});
            node.local([&] { sums[node.rank()] += get(on_stack); });
          }
          if (t % 9 == 2) {
            node.step({send(Move{0, 1}, place(t)), receive(Move{0, -1}, short_lived)});
          }
        }
        if (node.rank() != 3) node.local([&] { sums[node.rank()] += get(place(steps)); });
      },
      [&](const Delivery& message) {
        CHECK(message.step >= last_step);
        last_step = message.step;
        ++delivered;
      });
  CHECK(delivered == 5 * (steps + 4 + 5));  // t = 4, 15, 26, 37; 2, 11, 20, 29, 38
  for (Rank rank = 0; rank < 5; ++rank) {
    const auto behind = [&](int hops) { return ((rank - hops) % 5 + 5) % 5; };
    std::int64_t expected = rank == 3 ? 0 : behind(steps);
    for (const int t : {4, 15, 26, 37}) expected += behind(t + 1);
    CHECK(sums[rank] == expected);
  }
}

TEST_CASE("a mismatch unwinds all programs too", "[prove]") {
  int unwound = 0;
  struct Count {
    ~Count() { ++unwound_; }
    int& unwound_;
  };
  CHECK_THROWS_AS(prove(Topology::parse("ring:8"),
                        [&](Node& node) {
                          const Count count{unwound};
                          node.step();
                          if (node.rank() == 7) {
                            node.step({send(Rank{0}, {})});
                          } else {
                            node.step();
                          }
                        }),
                  UsageError);
  CHECK(unwound == 8);
}

TEST_CASE("a proof run refuses what a dry run refuses", "[prove]") {
  const Topology line = Topology::parse("line:4");
  CHECK_THROWS_AS(prove(line, [](Node& node) { node.step({send(Rank{4}, {})}); }), UsageError);
  CHECK_THROWS_AS(prove(line, [](Node& node) { node.step({receive(Rank{-1}, {})}); }), UsageError);
  CHECK_THROWS_AS(prove(line, [](Node& node) { node.step({send(Move{0, 4}, {})}); }), UsageError);
  CHECK_THROWS_AS(prove(line,
                        [](Node& node) {
                          const Memory data = node.memory(8);
                          node.step({send(node.rank(), data.span()), receive(node.rank(), data)});
                        }),
                  UsageError);
}

TEST_CASE("a proof run takes a thousand nodes through a thousand steps", "[prove]") {
  const int dimensions = sanitized ? 6 : 10;
  CHECK_NOTHROW(
      prove(Topology::parse("hypercube:" + std::to_string(dimensions)), programs::exchange));
}

namespace {

/// Each node passes on what it got, `steps` times, and checks it now and then.
void pass_on(Node& node, int steps) {
  const Memory all = node.memory((static_cast<std::size_t>(steps) + 1) * word_bytes);
  const auto place = [&](int i) {
    return all.subspan(static_cast<std::size_t>(i) * word_bytes, word_bytes);
  };
  node.local([&] { put(place(0), node.rank()); });
  for (int t = 0; t < steps; ++t) {
    const auto step = [&] {
      node.step({send(Move{0, 1}, place(t)), receive(Move{0, -1}, place(t + 1))});
    };
    if (t % 5 == 3) {  // it waits while it handles an exception
      try {
        throw node.rank();
      } catch (Rank) {
        step();
        node.local([] {});
        try {
          throw;
        } catch (Rank thrown) {
          if (thrown != node.rank()) throw std::runtime_error("another's exception");
        }
      }
    } else {
      step();
    }
    if ((node.rank() + t) % 9 != 4) continue;
    node.local([&] {
      const std::int64_t expected = mod(node.rank() - t - 1, node.size());
      if (get(place(t + 1)) != expected) throw std::runtime_error("wrong");
    });
  }
}

}  // namespace

TEST_CASE("a proof on all threads delivers the same messages in the same order",
          "[prove][schedule]") {
  constexpr Rank nodes = 1100;
  constexpr int steps = 40;
  const Topology topology = Topology::parse("ring:" + std::to_string(nodes));
  using Message = std::array<std::int64_t, 4>;
  const auto delivered = [&](ProofThreads threads) {
    std::vector<Message> messages;
    prove(
        topology, [](Node& node) { pass_on(node, steps); },
        [&](const Delivery& message) {
          messages.push_back({message.from, message.to, static_cast<std::int64_t>(message.step),
                              get(message.pieces[0])});
        },
        threads);
    return messages;
  };
  const std::vector<Message> messages = delivered(ProofThreads::all);
  CHECK(messages.size() == std::size_t{nodes} * steps);
  CHECK(messages == delivered(ProofThreads::calling));
}

TEST_CASE("a proof on all threads reports the first failure, and unwinds all programs",
          "[prove][schedule]") {
  constexpr Rank nodes = 1100;
  const Topology topology = Topology::parse("ring:" + std::to_string(nodes));
  std::atomic<int> unwound = 0;
  const auto proof = [&](const std::function<void(Node&)>& extra) {
    unwound = 0;
    prove(
        topology,
        [&](Node& node) {
          struct Count {
            ~Count() { ++count; }
            std::atomic<int>& count;
          } const count{unwound};
          pass_on(node, 5);
          extra(node);
          pass_on(node, 5);
        },
        {}, ProofThreads::all);
  };
  CHECK_THROWS_WITH(proof([](Node& node) {
                      if (node.rank() == 10) node.step();
                      if (node.rank() == 10 || node.rank() == 900 || node.rank() == 1090)
                        throw std::runtime_error("gives up");
                    }),
                    "node 900: gives up");
  CHECK(unwound == nodes);
  CHECK_THROWS_WITH(proof([](Node& node) {
                      if (node.rank() == 700 || node.rank() == 20)
                        node.step({receive(Rank{3}, {})});
                    }),
                    Contains("step 5") && Contains("node 20"));
  CHECK(unwound == nodes);
}
