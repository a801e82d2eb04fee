// The dry run: its log, its errors, and that programs cannot cheat it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/schedule/dies.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("a dry run logs steps, ops, moves, rearrangement and peaks", "[schedule]") {
  const Topology topology = Topology::parse("torus:2x4");
  const Schedule schedule = record(topology, [](Node& node) {
    const Memory blocks = node.memory(80, Purpose::blocks);
    node.rearrange(7, [] { FAIL("a dry run does no work"); });
    node.rearrange(8, [] {});
    node.step({send(Move{1, -1}, blocks.subspan(0, 10), 5),
               receive(node.topology().neighbour(node.rank(), 1, 1), blocks.subspan(10, 10), 5)});
    {
      const Memory staging = node.memory(20);
      const std::array<Move, 2> moves{Move{1, 2}, Move{0, 1}};
      const std::array<Span, 2> pieces{staging.subspan(0, 3), staging.subspan(10, 4)};
      node.step({send_pieces(std::span<const Move>(moves), pieces)});
    }
    node.step();
    node.local([] { FAIL("a dry run does no work"); });
    node.rearrange(1, [] {});
  });

  CHECK(schedule.topology == topology);
  REQUIRE(schedule.ranks.size() == 8);
  CHECK(schedule.steps() == 3);
  const RankLog& log = schedule.ranks[5];  // row 1, column 1
  CHECK(log.step_ends == std::vector<std::uint32_t>{2, 3, 3});
  CHECK(log.rearranged == GapBytes{15, 0, 0, 1});
  CHECK(log.peak_bytes == 100);
  CHECK(log.peak_block_bytes == 80);
  REQUIRE(schedule.ops(5, 0).size() == 2);
  CHECK(schedule.ops(5, 0)[0] == OpRecord{Op::Kind::send, 1, 4, 5, 0, 10});
  CHECK(schedule.ops(5, 0)[1] == OpRecord{Op::Kind::receive, 0, 6, 5, 1, 10});
  REQUIRE(schedule.ops(5, 1).size() == 1);
  const OpRecord& gathered = schedule.ops(5, 1)[0];
  CHECK(gathered == OpRecord{Op::Kind::send, 2, 3, 0, 1, 7});
  const auto moves = schedule.moves(5, gathered);
  REQUIRE(moves.size() == 2);
  CHECK((moves[0] == Move{1, 2} && moves[1] == Move{0, 1}));
  CHECK(schedule.ops(5, 2).empty());
  CHECK(schedule.ops(5, 3).empty());  // past the end: idle
  CHECK(schedule == schedule);
}

TEST_CASE("steps of views are logged in the ranks and dimensions of the whole network",
          "[schedule]") {
  const Schedule schedule = record(Topology::parse("torus:3x4"), [](Node& node) {
    const Memory data = node.memory(8);
    auto column = node.along(0);
    column.step({send(Move{0, 1}, data.subspan(0, 4)),
                 receive(mod(column.rank() - 1, column.size()), data.subspan(4, 4))});
    const std::array<Rank, 2> pair{node.rank() & ~1, node.rank() | 1};
    auto group = node.group(pair);
    group.step({send(1 - group.rank(), data.subspan(0, 4)),
                receive(1 - group.rank(), data.subspan(4, 4))});
    group.step({send(Move{0, 1}, data.subspan(0, 4)), receive(Move{0, -1}, data.subspan(4, 4))});
  });
  CHECK(schedule.ops(9, 0)[0] == OpRecord{Op::Kind::send, 1, 1, 0, 0, 4});  // row 2 to row 0
  CHECK(schedule.moves(9, schedule.ops(9, 0)[0])[0] == Move{0, 1});
  CHECK(schedule.ops(9, 0)[1] == OpRecord{Op::Kind::receive, 0, 5, 0, 1, 4});
  CHECK(schedule.ops(9, 1)[0] == OpRecord{Op::Kind::send, 0, 8, 0, 1, 4});
  CHECK(schedule.ops(9, 2)[0] == schedule.ops(9, 1)[0]);  // of two that are all joined
  CHECK(schedule.ops(9, 2)[1] == schedule.ops(9, 1)[1]);
}

TEST_CASE("two logs are equal only if all they hold is", "[schedule]") {
  const auto recorded = [](Bytes bytes, Rank shift, Bytes permuted) {
    return record(Topology::parse("ring:4"), [=](Node& node) {
      const Memory data = node.memory(2 * bytes);
      node.rearrange(permuted, [] {});
      node.step({send(mod(node.rank() + shift, 4), data.subspan(0, bytes)),
                 receive(mod(node.rank() - shift, 4), data.subspan(bytes, bytes))});
    });
  };
  CHECK(recorded(8, 1, 0) == recorded(8, 1, 0));
  CHECK_FALSE(recorded(8, 1, 0) == recorded(9, 1, 0));
  CHECK_FALSE(recorded(8, 1, 0) == recorded(8, 3, 0));
  CHECK_FALSE(recorded(8, 1, 0) == recorded(8, 1, 1));
}

TEST_CASE("memory of a dry run is distinct, returned, and may go in any order", "[schedule]") {
  const Schedule schedule = record(Topology::parse("line:1"), [](Node& node) {
    std::vector<Memory> held;
    for (Bytes bytes = 1; bytes <= 100; bytes += 33) held.push_back(node.memory(bytes));
    for (std::size_t i = 0; i < held.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (held[i].data() < held[k].data() + held[k].size() &&
            held[k].data() < held[i].data() + held[i].size()) {
          throw std::logic_error("memory overlaps");
        }
      }
    }
    const std::byte* last = held.back().data();
    { const Memory early = std::move(held.front()); }  // before those above it
    if (node.memory(1).data() <= last)
      throw std::logic_error("memory below the top was given again");
    held.clear();
    const Memory again = node.memory(1, Purpose::blocks);
    if (again.data() > last) throw std::logic_error("memory was not returned");
    if (node.memory(0).size() != 0) throw std::logic_error("no bytes");
  });
  CHECK(schedule.ranks[0].peak_bytes == 1 + 34 + 67 + 100);
  CHECK(schedule.ranks[0].peak_block_bytes == 1);
}

TEST_CASE("a program that needs more memory than there are addresses gets an error", "[schedule]") {
  const Topology topology = Topology::parse("ring:3");
  const Bytes too_much = Bytes{1} << 50;
  CHECK_THROWS_AS(record(topology, [&](Node& node) { node.memory(too_much); }), UsageError);
  CHECK_THROWS_WITH(record(topology, [&](Node& node) { node.memory(too_much); }),
                    Contains(std::to_string(too_much)));
  CHECK_THROWS_AS(record(topology, [&](Node& node) { node.memory(most_memory); }), UsageError);
}

TEST_CASE("touching data outside local ends a dry run, which says where", "[schedule]") {
  if (sanitized) return;
  const Topology topology = Topology::parse("line:1");  // one node: no other thread in the child
  const auto run = [&](bool inside, bool write, std::string_view what) {
    return end_of([&] {
      record(
          topology,
          [&](Node& node) {
            const Memory data = node.memory(8);
            const auto touch = [&] {
              volatile std::byte* byte = data.data();
              if (write) *byte = std::byte{1};
              static_cast<void>(*byte);
            };
            node.idle(3);
            inside ? node.local(touch) : touch();
          },
          what);
    });
  };
  const std::string text =
      "node 0, step 3 on line:1: a node program touches its data outside local() in a dry run "
      "(record, check)\n";
  for (const bool write : {false, true}) {
    const End plain = run(false, write, "");
    CHECK(plain.exit_code == 2);
    CHECK(plain.text == text);
    CHECK(run(false, write, "alltoall mine").text == "alltoall mine: " + text);
    const End inside = run(true, write, "");
    CHECK((inside.exit_code == 0 && inside.signal == 0 && inside.text.empty()));
  }
}

TEST_CASE("a fault that is none of the dry run's goes where it went before", "[schedule]") {
  if (sanitized) return;
  const Topology topology = Topology::parse("line:1");
  const auto fault = [] {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  };
  CHECK(dies([&] { record(topology, [&](Node& /*node*/) { fault(); }); }));
  CHECK(dies([&] {
    record(topology, [](Node& /*node*/) {});
    fault();
  }));
  const auto handled = [&](auto install) {
    return end_of([&] {
             install();
             record(topology, [&](Node& /*node*/) { fault(); });
           })
        .exit_code;
  };
  CHECK(handled([] { std::signal(SIGSEGV, [](int) { _exit(7); }); }) == 7);
  CHECK(handled([] {
          struct sigaction action {};
          action.sa_flags = SA_SIGINFO;
          action.sa_sigaction = [](int, siginfo_t* info, void*) {
            _exit(info->si_addr == nullptr ? 8 : 9);
          };
          sigaction(SIGSEGV, &action, nullptr);
        }) == 8);
  // After the dry run the handler is the old one again.
  CHECK(end_of([&] {
          std::signal(SIGSEGV, [](int) { _exit(7); });
          record(topology, [](Node& node) { record(node.topology(), [](Node& /*node*/) {}); });
          fault();
        }).exit_code == 7);
}

TEST_CASE("a dry run in a dry run is reported with its own node", "[schedule]") {
  if (sanitized) return;
  const Topology outer = Topology::parse("line:1"), inner = Topology::parse("ring:1");
  const auto touch = [](Node& node) {
    const Memory data = node.memory(8);
    *static_cast<volatile std::byte*>(data.data()) = std::byte{1};
  };
  const auto text = [&](const Program& program) {
    return end_of([&] { record(outer, program); }).text;
  };
  CHECK_THAT(text([&](Node& node) {
               node.step();
               record(inner, touch);
             }),
             Contains("step 0 on ring:1"));
  CHECK_THAT(text([&](Node& node) {
               node.step();
               record(inner, [](Node& /*node*/) {});
               touch(node);
             }),
             Contains("step 1 on line:1"));
}

TEST_CASE("a fault after a dry run in a dry run has failed is the outer one's", "[schedule]") {
  if (sanitized) return;
  const Topology outer = Topology::parse("line:1"), inner = Topology::parse("ring:1");
  const std::string text = end_of([&] {
                             record(outer, [&](Node& node) {
                               node.step();
                               try {
                                 record(inner, [](Node&) { throw std::runtime_error("failed"); });
                               } catch (const NodeFailure&) {
                               }
                               const Memory data = node.memory(8);
                               *static_cast<volatile std::byte*>(data.data()) = std::byte{1};
                             });
                           }).text;
  CHECK_THAT(text, Contains("node 0, step 1 on line:1"));
}

TEST_CASE("what nodes compute, and the pieces of their messages, are recorded", "[schedule]") {
  const Schedule schedule = record(Topology::parse("ring:2"), [](Node& node) {
    const Memory data = node.memory(16);
    const std::array<Span, 2> pieces{data.subspan(0, 3), data.subspan(3, 5)};
    node.computes(10, 4);
    node.computes(5, 2);
    node.step({send_pieces(1 - node.rank(), pieces), receive(1 - node.rank(), data.subspan(8, 8))});
    if (node.rank() == 1) node.computes(1, 0);
  });
  REQUIRE(schedule.computed.size() == 2);
  for (const std::size_t rank : {0, 1}) {
    const std::vector<Computed>& computed = schedule.computed[rank];
    REQUIRE(computed.size() == 1 + rank);
    CHECK(computed[0].step == 0);
    CHECK(computed[0].operations == 15);
    CHECK(computed[0].bytes == 6);
    CHECK(schedule.pieces[rank] == 3);
  }
  CHECK(schedule.computed[1][1].step == 1);
  CHECK(schedule.computed[1][1].operations == 1);
  CHECK(schedule.computed[1][1].bytes == 0);
  CHECK(record(Topology::parse("ring:2"), [](Node& node) { node.step(); }).computed.empty());
}

TEST_CASE("a dry run without an end ends at the limit, one within it does not", "[schedule]") {
  const Topology line = Topology::parse("line:1");
  const Program few = [](Node& node) { node.idle(3); };
  {
    const DryRunLimit limit(std::chrono::milliseconds(1));
    CHECK_THROWS_AS(record(line,
                           [](Node& node) {
                             while (true) node.step();
                           }),
                    TimeLimit);
    CHECK_THROWS_WITH(record(line,
                             [](Node& node) {
                               while (true) node.step();
                             }),
                      Contains("after 1 ms"));
  }
  const DryRunLimit hours(std::chrono::hours(3));
  CHECK_NOTHROW(record(line, few));
}

TEST_CASE("of two limits, one inside the other, the one that ends first holds", "[schedule]") {
  const Topology line = Topology::parse("line:1");
  const Program endless = [](Node& node) {
    while (true) node.step();
  };
  const DryRunLimit outer(std::chrono::milliseconds(2));
  {
    const DryRunLimit inner(std::chrono::hours(3));
    CHECK_THROWS_WITH(record(line, endless), Contains("after 2 ms"));
  }
  { const DryRunLimit none(std::chrono::milliseconds(0)); }
  CHECK_THROWS_WITH(record(line, endless), Contains("after 2 ms"));
}

TEST_CASE("a dry run says how many of its ranks are done", "[schedule]") {
  CHECK_FALSE(LongLoop::now());
  std::atomic<bool> shown = true;
  record(Topology::parse("ring:4"), [&](Node&) {
    const auto state = LongLoop::now();
    if (!state || std::string_view(state->what) != "dry run" || state->total != 4 ||
        state->done > 3) {
      shown = false;
    }
  });
  CHECK(shown);
  CHECK_FALSE(LongLoop::now());
}

TEST_CASE("of loops at the same time the first one is shown", "[schedule]") {
  LongLoop outer("outer", 2);
  outer.step();
  {
    LongLoop inner("inner", 9);
    inner.step();
    inner.step();
    const auto state = LongLoop::now();
    REQUIRE(state);
    CHECK(state->what == std::string_view("outer"));
    CHECK(state->done == 1);
    CHECK(state->total == 2);
  }
  CHECK(LongLoop::now());
}

TEST_CASE("a limit of nothing is none", "[schedule]") {
  const DryRunLimit none(std::chrono::milliseconds(0));
  CHECK_NOTHROW(record(Topology::parse("line:1"), [](Node& node) { node.idle(3); }));
}

TEST_CASE("blocks that were given back are no part of the peak", "[schedule]") {
  const Schedule schedule = record(Topology::parse("line:1"), [](Node& node) {
    for (int i = 0; i < 3; ++i) const Memory blocks = node.memory(10, Purpose::blocks);
  });
  CHECK(schedule.ranks[0].peak_bytes == 10);
  CHECK(schedule.ranks[0].peak_block_bytes == 10);
}

TEST_CASE("all addresses of a node are given, and again what was given back", "[schedule]") {
  const Topology topology = Topology::parse("line:1");
  Bytes all = 0;
  try {
    record(topology, [](Node& node) { node.memory(most_memory); });
  } catch (const UsageError& error) {
    const std::string text = error.what();
    all = std::stoull(text.substr(text.find("a node has ") + 11));
  }
  REQUIRE(all > 1 << 20);
  const auto require = [](bool right, const char* what) {
    if (!right) throw std::logic_error(what);
  };
  record(topology, [&](Node& node) {
    Memory first = node.memory(64), second = node.memory(100), gap = node.memory(1);
    const Memory rest = node.memory(all - 64 - 128 - 64);
    require(reinterpret_cast<std::uintptr_t>(first.data()) % 64 == 0, "not aligned");
    require(rest.data() == first.data() + 256, "not one behind the other");
    std::byte *const at_first = first.data(), *const at_second = second.data();
    const auto fits = [&](Bytes bytes) {
      try {
        return node.memory(bytes).data();
      } catch (const UsageError&) {
        return static_cast<std::byte*>(nullptr);
      }
    };
    require(fits(1) == nullptr, "more than all");
    { const Memory gone = std::move(second); }
    require(fits(128) == at_second, "the hole is not found");
    require(fits(129) == nullptr, "more than the hole");
    { const Memory gone = std::move(first); }
    require(fits(192) == at_first, "the larger hole is not found");
    require(fits(193) == nullptr, "more than the larger hole");
    const Memory low = node.memory(64);
    require(low.data() == at_first, "not the first hole");
    require(fits(128) == at_second, "not behind what is held");
  });
}

TEST_CASE("the exception of the lowest rank leaves a dry run", "[schedule]") {
  const Topology topology = Topology::parse("complete:200");
  for (int repetition = 0; repetition < 20; ++repetition) {
    CHECK_THROWS_WITH(record(topology,
                             [](Node& node) {
                               if (node.rank() % 50 == 37)
                                 throw UsageError("rank " + std::to_string(node.rank()));
                             }),
                      "rank 37");
  }
}

TEST_CASE("an exception of a program names node, step and network after its first step",
          "[schedule]") {
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const Topology ring = Topology::parse("ring:5");
  const auto usage = [&](std::size_t steps) {
    record(ring, [=](Node& node) {
      node.idle(steps);
      if (node.rank() >= 3) throw UsageError("no");
    });
  };
  CHECK_THROWS_AS(usage(0), UsageError);
  CHECK_THROWS_WITH(usage(0), "no");
  CHECK_THROWS_AS(usage(2), UsageError);
  CHECK_THROWS_WITH(usage(2), "node 3, step 2 on ring:5: no");
  const auto mine = [&] {
    record(ring, [](Node& node) {
      if (node.rank() == 3) throw Mine("mine");
    });
  };
  CHECK_THROWS_AS(mine(), NodeFailure);
  CHECK_THROWS_WITH(mine(), "node 3, step 0 on ring:5: mine");
  try {
    mine();
  } catch (const NodeFailure& failure) {
    CHECK_THROWS_AS(std::rethrow_if_nested(failure), Mine);
  }
  CHECK_THROWS_WITH(record(ring, [](Node& /*node*/) { throw 1; }),
                    "node 0, step 0 on ring:5: unknown exception type");
}

TEST_CASE("a step is refused for a peer or a move outside the topology", "[schedule]") {
  const Topology line = Topology::parse("line:4");
  const auto throws = [&](Op op) {
    CHECK_THROWS_AS(record(line, [=](Node& node) { node.step({op}); }), UsageError);
  };
  throws(send(Rank{4}, {}));
  throws(receive(Rank{4}, {}));
  throws(receive(Rank{-1}, {}));
  throws(send(Rank{-1}, {}));
  throws(send_pieces(Rank{-1}, {}));
  throws(receive(Move{0, 4}, {}));
  throws(receive(Move{-1, 1}, {}));
  throws(send(Move{0, 4}, {}));
  throws(send(Move{1, 1}, {}));
  CHECK_THROWS_WITH(record(line, [](Node& node) { node.step({receive(Rank{9}, {})}); }),
                    "node 0, step 0: line:4: peer 9 out of range [0, 4)");
  CHECK_THROWS_WITH(record(line,
                           [](Node& node) {
                             node.idle(2);
                             node.step({send(node.rank() - 1, {})});
                           }),
                    "node 0, step 2: line:4: peer -1 out of range [0, 4)");
  CHECK_NOTHROW(record(line, [](Node& node) {
    node.step({send(node.rank(), {}), receive(node.rank(), {})});
  }));
}

TEST_CASE("a step is refused if a receive overlaps a send or another receive", "[schedule]") {
  // Send and receive [first, first + 8) and [second, second + 8) of 32 bytes.
  const auto run = [](bool first_sends, Bytes first, bool second_sends, Bytes second) {
    record(Topology::parse("line:1"), [=](Node& node) {
      const Memory data = node.memory(32);
      const auto op = [&](bool sends, Bytes at) {
        return sends ? send(Rank{0}, data.subspan(at, 8)) : receive(Rank{0}, data.subspan(at, 8));
      };
      node.step({op(first_sends, first), op(second_sends, second)});
    });
  };
  CHECK_NOTHROW(run(true, 0, false, 8));
  CHECK_NOTHROW(run(true, 8, false, 0));
  CHECK_NOTHROW(run(true, 0, true, 4));  // two sends may share
  CHECK_NOTHROW(run(false, 0, false, 8));
  CHECK_THROWS_AS(run(true, 0, false, 7), UsageError);
  CHECK_THROWS_AS(run(false, 7, true, 0), UsageError);
  CHECK_THROWS_AS(run(true, 4, false, 4), UsageError);
  CHECK_THROWS_AS(run(false, 0, false, 7), UsageError);
  CHECK_THROWS_WITH(run(true, 0, false, 7),
                    "node 0, step 0: line:1: a send of 8 bytes and the receive from 0 of 8 bytes "
                    "overlap in memory");

  // Pieces count one by one: interleaved ones do not overlap, and a long send covers what comes
  // after a short one.
  CHECK_NOTHROW(record(Topology::parse("line:1"), [](Node& node) {
    const Memory data = node.memory(32);
    const std::array<Span, 2> even{data.subspan(0, 8), data.subspan(16, 8)};
    const std::array<Span, 3> odd{data.subspan(24, 8), data.subspan(8, 8), data.subspan(12, 0)};
    node.step({send_pieces(Rank{0}, even), receive_pieces(Rank{0}, odd)});
  }));
  CHECK_THROWS_AS(
      record(Topology::parse("line:1"),
             [](Node& node) {
               const Memory data = node.memory(32);
               node.step({send(Rank{0}, data.subspan(0, 32)), send(Rank{0}, data.subspan(1, 2)),
                          receive(Rank{0}, data.subspan(20, 2))});
             }),
      UsageError);
}

TEST_CASE("an overlap is found among many pieces in any order", "[schedule]") {
  // Three lists of 20 pieces of 8 bytes: ascending, descending, every second one first.
  const auto run = [](Bytes moved) {
    static_cast<void>(record(Topology::parse("line:2"), [=](Node& node) {
      const Memory memory = node.memory(60 * 8);
      const auto place = [&](Bytes i) { return memory.subspan(i * 8, 8); };
      std::vector<std::vector<Span>> lists(3);
      for (Bytes i = 0; i < 20; ++i) {
        lists[0].push_back(place(i));
        lists[1].push_back(place(39 - i));
        lists[2].push_back(place(40 + (i < 10 ? 2 * i : 2 * i - 19)));
      }
      if (moved > 0) lists[2][7] = memory.subspan(moved, 8);
      std::vector<Op> ops;
      for (Tag tag = 0; tag < 3; ++tag) {
        ops.push_back(receive_pieces(1 - node.rank(), lists[static_cast<std::size_t>(tag)], tag));
      }
      node.step(ops);
    }));
  };
  CHECK_NOTHROW(run(0));
  for (const Bytes moved : {4, 100, 250, 316, 404}) {
    CAPTURE(moved);
    CHECK_THROWS_WITH(run(moved), Contains("overlap"));
  }
}

TEST_CASE("a node has no ops in the step behind its last, whatever lies in memory there",
          "[schedule]") {
  Schedule schedule{Topology::parse("line:1"), std::vector<RankLog>(1)};
  RankLog& log = schedule.ranks[0];
  log.ops.assign(5, OpRecord{Op::Kind::send, 0, 0, 0, 0, 8});
  log.step_ends = {2, 5};
  log.step_ends.pop_back();
  CHECK(schedule.ops(0, 0).size() == 2);
  CHECK(schedule.ops(0, 1).empty());
}

TEST_CASE("a program may take a thousand steps for each node and more", "[schedule]") {
  CHECK(record(Topology::parse("line:2"), [](Node& node) { node.idle(3000); }).steps() == 3000);
}

TEST_CASE("ranks may end at different steps", "[schedule]") {
  const Schedule schedule = record(Topology::parse("ring:3"), [](Node& node) {
    for (Rank i = 0; i < node.rank(); ++i) node.step();
  });
  CHECK(schedule.steps() == 2);
  CHECK(schedule.ranks[0].step_ends.empty());
  CHECK(schedule.ranks[2].step_ends.size() == 2);
  CHECK(schedule.ops(0, 1).empty());
}
