// The node's interface: addresses, views, charges, plans; in every execution mode.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/node.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/tests/schedule/programs.hpp"
#include "wormcube/tests/worlds.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using programs::get;
using programs::put;
using programs::word;
using programs::word_bytes;
using worlds::refused;
using worlds::runs;

namespace {

void expect(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

/// A word of each node's own, and room for one that comes.
class Words {
 public:
  explicit Words(Node& node) : node_(node), memory_(node.memory(2 * word_bytes)) {
    node.local([&] { put(out(), word(node.rank(), 7)); });
  }
  Span out() const { return memory_.subspan(0, word_bytes); }
  Span in() const { return memory_.subspan(word_bytes, word_bytes); }
  void expect_from(Rank from) const {
    node_.local([&] { expect(get(in()) == word(from, 7), "the word of another node"); });
  }

 private:
  Node& node_;
  Memory memory_;
};

}  // namespace

TEST_CASE("a negative rank is no node, least of all oneself", "[node]") {
  refused(
      "line:3",
      [](Node& node) {
        const Words words(node);
        node.step({send(node.rank() - 1, words.out()), receive(0, words.in())});
      },
      "peer -1 out of range [0, 3)");
  refused(
      "line:3",
      [](Node& node) {
        const Words words(node);
        const std::array<Span, 1> out{words.out()};
        node.step({send_pieces(node.rank() - 1, out)});
      },
      "peer -1 out of range [0, 3)");
  refused(
      "ring:3", [](Node& node) { node.step({receive(node.rank() - 1, {})}); },
      "peer -1 out of range [0, 3)");
  refused(
      "torus:3x2",
      [](Node& node) {
        auto column = node.along(0);
        column.step({send(column.rank() - 1, {})});
      },
      "peer -1 out of range [0, 3)");
}

TEST_CASE("no moves, and a move of no hops, lead to oneself", "[node]") {
  runs("torus:2x3", [](Node& node) {
    const Words words(node);
    node.step(
        {send(std::span<const Move>{}, words.out()), receive(std::span<const Move>{}, words.in())});
    words.expect_from(node.rank());
    node.step({send(Move{1, 0}, words.out(), 1), receive(Move{0, 0}, words.in(), 1)});
    words.expect_from(node.rank());
  });
}

TEST_CASE("a receive by move is from the node where the move leads", "[node]") {
  const Schedule dry = runs("torus:3x4", [](Node& node) {
    const Words words(node);
    for (int d = 0; d < 2; ++d) {
      node.step({send(Move{d, 1}, words.out()), receive(Move{d, -1}, words.in())});
      words.expect_from(node.neighbour(d, -1));
    }
    const std::array<Move, 2> there{Move{1, 2}, Move{0, 1}}, back{Move{0, -1}, Move{1, -2}};
    const std::array<Span, 2> halves{words.in().first(3), words.in().subspan(3)};
    node.step({send(there, words.out()), receive_pieces(std::span<const Move>(back), halves)});
    words.expect_from(node.topology().neighbour(node.neighbour(0, -1), 1, -2));
  });
  // A log names the source, and no way to it: the same as if it had been named by rank.
  CHECK(dry.ops(0, 0)[1] == OpRecord{Op::Kind::receive, 0, 8, 0, 1, word_bytes});
  refused(
      "line:4",
      [](Node& node) {
        node.step({receive(Move{0, -1}, {})});
      },
      "cannot move -1");
  refused(
      "line:4",
      [](Node& node) {
        node.step({receive(Move{1, 1}, {})});
      },
      "dimension 1");
}

TEST_CASE("an exchange sends to a partner and receives from it", "[node]") {
  runs("hypercube:3", [](Node& node) {
    const Words words(node);
    for (const Rank bit : {1, 2, 4}) {
      node.step(exchange(node.rank() ^ bit, words.out(), words.in()));
      words.expect_from(node.rank() ^ bit);
    }
  });
  runs("torus:8x6", [](Node& node) {
    const Words words(node);
    const int sign = node.coordinate(0) % 2 == 0 ? 1 : -1;
    node.step(exchange(Move{0, 4 * sign}, words.out(), words.in(), 3));
    words.expect_from(node.neighbour(0, 4));
    node.step(exchange(Move{0, sign}, words.out(), words.in()));
    words.expect_from(node.neighbour(0, sign));
  });
}

TEST_CASE("memory that is received into is nothing else's in that step", "[node]") {
  const auto exchange_at = [](std::size_t out, std::size_t in, std::size_t other_in) {
    return [=](Node& node) {
      const Memory data = node.memory(24);
      node.step({send(node.rank(), data.subspan(out, 4)), receive(node.rank(), data.subspan(in, 4)),
                 send(node.rank(), data.subspan(out, 4), 1),
                 receive(node.rank(), data.subspan(other_in, 4), 1)});
    };
  };
  refused("ring:2", exchange_at(0, 3, 8), "overlap in memory");
  refused("ring:2", exchange_at(0, 8, 3), "overlap in memory");
  refused("ring:2", exchange_at(0, 8, 11), "overlap in memory");
  runs("ring:2", exchange_at(0, 8, 12));  // both sends are of the same bytes
}

TEST_CASE("a view of a dimension that is not there is refused", "[node][view]") {
  refused(
      "torus:3x4", [](Node& node) { node.along(2); }, "no dimension 2");
  refused(
      "torus:3x4", [](Node& node) { node.along(-1); }, "no dimension -1");
  refused(
      "torus:3x4",
      [](Node& node) {
        node.along({0, 2});
      },
      "no dimension 2");
  refused(
      "torus:3x4",
      [](Node& node) {
        node.along({1, 0});
      },
      "name each once");
  refused(
      "torus:3x4",
      [](Node& node) {
        node.along({1, 1});
      },
      "name each once");
  refused(
      "torus:3x4", [](Node& node) { node.along(1).along(1); }, "no dimension 1");
}

TEST_CASE("a view refuses moves of dimensions that it does not have", "[node][view]") {
  for (const int dimension : {1, 7, -1}) {
    const Move move{dimension, 1};
    const std::string text = "in dimension " + std::to_string(dimension);
    const auto send_along = [move](Node& node) { node.along(1).step({send(move, {})}); };
    refused("torus:3x4", send_along, text);
    const auto receive_along = [move](Node& node) { node.along(1).step({receive(move, {})}); };
    refused("torus:3x4", receive_along, text);
  }
  refused(
      "torus:3x4",
      [](Node& node) {
        node.along({0, 1}).step({send(Move{2, 1}, {})});
      },
      "in dimension 2");
  refused(
      "torus:4x4",
      [](Node& node) {
        node.every(2).step({send(Move{2, 1}, {})});
      },
      "in dimension 2");
}

TEST_CASE("a group refuses a member that is named twice, and one that is no node", "[node][view]") {
  const auto group = [](std::vector<Rank> members) {
    return [members](Node& node) { node.group(members); };
  };
  refused("ring:4", group({0, 1, 2, 3, 2}), "member 2 occurs twice");
  refused("ring:4", group({3, 2, 1, 0, 0}), "member 0 occurs twice");
  refused("ring:4", group({0, 0, 1, 2, 3}), "member 0 occurs twice");
  refused("ring:4", group({0, 1, 2, 3, 4}), "member 4 out of range [0, 4)");
  refused("ring:4", group({0, 1, 2, -3}), "member -3 out of range [0, 4)");
  refused("ring:4", group({0, 1, 2}), "node 3 is not among");
  runs("ring:4", group({2, 0, 3, 1}));
}

TEST_CASE("a view along several dimensions keeps their shapes", "[node][view]") {
  const auto program = [](Node& node) {
    auto plane = node.along({0, 2});
    expect(plane.topology().dimensions() == 2, "two dimensions");
    expect(plane.topology().factor(0).name() == "ring:3", "a ring");
    expect(plane.topology().factor(1).name() == "line:4", "a line");
    expect(plane.rank() == node.coordinate(0) * 4 + node.coordinate(2), "row-major");
    programs::exchange(plane);
    const Words words(plane);
    plane.step({send(Move{0, 2}, words.out()), receive(Move{0, -2}, words.in())});
    words.expect_from(plane.neighbour(0, -2));
    const int sign = plane.coordinate(1) % 2 == 0 ? 1 : -1;
    plane.step(exchange(Move{1, sign}, words.out(), words.in()));
    words.expect_from(plane.neighbour(1, sign));
  };
  const Schedule dry = runs("ring:3*complete:2*line:4", program);
  CHECK(dry.steps() == 11 + 2);
  // Node (1, 1, 2) to the plane's next: (1, 1, 3).
  CHECK(dry.ops(14, 0)[0].peer == 15);
  runs("torus:2x3", [](Node& node) {
    auto all = node.along({0, 1});
    expect(all.rank() == node.rank() && all.size() == node.size(), "the whole");
    auto one = node.along(std::span<const int>{});
    expect(one.rank() == 0 && one.size() == 1, "one node");
    one.step({send(0, {}), receive(0, {})});
    auto rows = all.along(1);
    programs::exchange(rows);
  });
}

TEST_CASE("every s-th node is a torus or mesh of its own, of s times the hops", "[node][view]") {
  for (const char* const text : {"torus:4x6", "mesh:4x6", "ring:4*line:6"}) {
    const Schedule dry = runs(text, [](Node& node) {
      auto part = node.every(2);
      expect(part.topology().size(0) == 2 && part.topology().size(1) == 3, "sizes");
      expect(part.rank() == node.coordinate(0) / 2 * 3 + node.coordinate(1) / 2, "rank");
      for (int d = 0; d < 2; ++d) {
        expect(part.topology().factor(d).shape() == node.topology().factor(d).shape(), "shape");
      }
      programs::exchange(part);
      const Words words(part);
      const int hops = part.coordinate(0) == 0 ? 1 : -1;
      part.step(exchange(Move{0, hops}, words.out(), words.in()));
      words.expect_from(part.neighbour(0, hops));
    });
    // Node (1, 3) and its partner (3, 3), two hops on.
    CHECK(dry.ops(9, 5)[0].peer == 21);
    CHECK(dry.moves(9, dry.ops(9, 5)[0])[0] == Move{0, 2});
  }
  runs("torus:8x12", [](Node& node) {
    auto twice = node.every(2);
    auto four = twice.every(2);
    auto direct = node.every(4);
    expect(four.rank() == direct.rank() && four.size() == 6, "two by two is four");
    programs::exchange(four);
    programs::exchange(direct);
    auto row = four.along(1);
    const Words words(node);
    row.step({send(Move{0, 1}, words.out()), receive(Move{0, -1}, words.in())});
    words.expect_from(node.neighbour(1, -4));
  });
  const Schedule third = record(Topology::parse("ring:9"), [](Node& node) {
    auto part = node.every(3);
    part.step({send(Move{0, -1}, {}), receive(Move{0, 1}, {})});
  });
  CHECK(third.moves(4, third.ops(4, 0)[0])[0] == Move{0, -3});
}

TEST_CASE("every s-th node is refused where s does not divide all sizes", "[node][view]") {
  const auto every = [](int spacing) { return [=](Node& node) { node.every(spacing); }; };
  refused("torus:4x6", every(4), "dimension 1 is ring:6");
  refused("torus:4x6", every(3), "dimension 0 is ring:4");
  refused("torus:4x6", every(0), "every 0 nodes");
  refused("torus:4x6", every(-2), "every -2 nodes");
  refused("ring:4*complete:4", every(2), "dimension 1 is complete:4");
  refused(
      "line:4",
      [](Node& node) {
        node.every(2).step({send(Move{0, 2}, {})});
      },
      "cannot move +2 in dimension 0: it is at");
}

TEST_CASE("hops of every s-th node that are no number below are refused", "[node][view]") {
  // 2^30 hops of 4 nodes each are 2^32: no hop at all, in 32 bits.
  for (const int hops : {1 << 30, -(1 << 30), 2, -2}) {
    const std::string text = "cannot move " + std::string(hops < 0 ? "" : "+") +
                             std::to_string(hops) + " in dimension 0";
    const auto sends = [=](Node& node) { node.every(4).step({send(Move{0, hops}, {})}); };
    const auto receives = [=](Node& node) { node.every(4).step({receive(Move{0, hops}, {})}); };
    for (const char* const network : {"ring:8", "line:8"}) {
      refused(network, sends, text);
      refused(network, receives, text);
    }
  }
}

TEST_CASE("on one cable of every s-th node either sign leads to the other", "[node][view]") {
  for (const char* const network : {"line:8", "ring:8", "mesh:8x4", "line:8*ring:4"}) {
    runs(network, [](Node& node) {
      const Words words(node);
      auto cable = node.every(4);
      const Rank other = mod(node.coordinate(0) + 4, 8) * (node.size() / 8) +
                         (node.size() > 8 ? node.coordinate(1) : 0);
      Tag tag = 0;
      for (const int there : {1, -1}) {
        for (const int back : {1, -1}) {
          cable.step(
              {send(Move{0, there}, words.out(), tag), receive(Move{0, back}, words.in(), tag)});
          words.expect_from(other);
          ++tag;
        }
      }
      // A part of a part, of one line.
      auto line = node.along(0), half = line.every(2), twice = half.every(2);
      twice.step({send(Move{0, -1}, words.out()), receive(Move{0, -1}, words.in())});
      words.expect_from(other);
    });
  }
  // The sign that is travelled: the only one on a line, the one that was asked for on a ring.
  const Program program = [](Node& node) {
    node.every(4).step({send(Move{0, -1}, {}), receive(Move{0, 1}, {})});
  };
  const Schedule line = record(Topology::parse("line:8"), program);
  CHECK(line.moves(1, line.ops(1, 0)[0])[0] == Move{0, 4});
  CHECK(line.moves(6, line.ops(6, 0)[0])[0] == Move{0, -4});
  const Schedule ring = record(Topology::parse("ring:8"), program);
  CHECK(ring.moves(1, ring.ops(1, 0)[0])[0] == Move{0, -4});
}

TEST_CASE("moves of every s-th node are counted on from where the last one led", "[node][view]") {
  for (const char* const network : {"mesh:6x8", "torus:6x8", "line:6*ring:8"}) {
    runs(network, [](Node& node) {
      const Words words(node);
      auto part = node.every(2);
      const Rank r = part.coordinate(0), c = part.coordinate(1);
      const int across = c < 3 ? 1 : -3, down = r < 2 ? 1 : -2;  // cyclic, without going round
      const std::array<Move, 2> there{Move{1, across}, Move{0, down}};
      const Rank from_r = mod(r - 1, 3), from_c = mod(c - 1, 4);
      const std::array<Move, 2> back{Move{0, from_r - r}, Move{1, from_c - c}};
      part.step({send(std::span<const Move>(there), words.out()),
                 receive(std::span<const Move>(back), words.in())});
      words.expect_from((2 * from_r + node.coordinate(0) % 2) * 8 + 2 * from_c +
                        node.coordinate(1) % 2);
    });
  }
}

// A line of two nodes of a line: there and back are two hops of opposite signs below.
TEST_CASE("moves that lead there and back over one cable lead to oneself", "[node][view]") {
  runs("line:8", [](Node& node) {
    const Words words(node);
    auto cable = node.every(4);
    const std::array<Move, 2> there_and_back{Move{0, 1}, Move{0, 1}};
    cable.step({send(cable.rank(), words.out()),
                receive(std::span<const Move>(there_and_back), words.in())});
    words.expect_from(node.rank());
  });
}

TEST_CASE("idle steps are steps", "[node]") {
  const Schedule dry = runs("torus:2x2", [](Node& node) {
    node.along(0).idle(3);
    node.idle(0);
    node.idle(2);
  });
  CHECK(dry.steps() == 5);
  CHECK(dry.ranks[0].ops.empty());
}

TEST_CASE("rearranging and combining are charged apart, and add up between two steps", "[node]") {
  const Program program = [](Node& node) {
    const Bytes r = static_cast<Bytes>(node.rank());
    node.rearrange(5 + r, [] {});
    node.combine(30, [] {});
    node.combine(10 * r, [] {});
    node.local([] {});
    node.step();
    node.along(0).combine(8 - r, [] {});
    node.step();
    node.rearrange(1, [] {});
  };
  const Schedule dry = runs("ring:3", program);
  CHECK(dry.ranks[2].rearranged == GapBytes{7, 0, 1});
  CHECK(dry.ranks[2].combined == GapBytes{50, 6});
  const ScheduleReport report = check(dry, Routing(dry.topology, 2), false);
  CHECK(report.rearranged == 7 + 0 + 1);
  CHECK(report.combined == 50 + 8 + 0);

  // The clock of the parts is the processor's, of the node's own thread.
  const auto own_time = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto spins = [&](Node& node) {
    const auto spin = [&] {
      const auto end = own_time() + std::chrono::milliseconds(2);
      while (own_time() < end) {
      }
    };
    node.rank() == 0 ? node.combine(0, spin) : node.rearrange(0, spin);
  };
  MachineOptions timed = worlds::machine(ExecutorKind::threads);
  timed.timing = true;
  const Statistics statistics = Machine(Topology::parse("line:2"), timed).run(spins);
  CHECK(statistics.nodes[0].combining.count() >= 2'000'000);
  CHECK(statistics.nodes[0].rearranging.count() == 0);
  CHECK(statistics.nodes[1].combining.count() == 0);
  CHECK(statistics.nodes[1].rearranging.count() >= 2'000'000);
  CHECK(statistics.nodes[1].local.count() == 0);
}

TEST_CASE("a plan is made once a node, and found again in every later run", "[node][plan]") {
  struct Plan {
    Rank rank;
    std::string network;
  };
  std::atomic<int> made{0};
  const auto plan = [&](Node& node) -> const Plan& {
    return node.plan<Plan>("test", {node.size()}, [&] {
      ++made;
      return Plan{node.rank(), node.topology().name()};
    });
  };
  const auto correct = [&](Node& node) {
    const Plan& found = plan(node);
    expect(found.rank == node.rank() && found.network == node.topology().name(), "another's plan");
    return &found;
  };
  const Program program = [&](Node& node) {
    const Plan* const whole = correct(node);
    auto rows = node.along(0), columns = node.along(1);
    correct(rows);
    correct(columns);
    auto half = rows.every(2);
    correct(half);
    expect(correct(node) == whole, "found again, at the same place");
  };
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("torus:4x6"), worlds::machine(executor));
    made = 0;
    for (int run = 0; run < 3; ++run) CHECK_NOTHROW(machine.run(program));
    CHECK(made == 24 * 4);
    // Where both dimensions are alike and the coordinates equal, both lines have one plan.
    Machine square(Topology::parse("torus:4x4"), worlds::machine(executor));
    made = 0;
    for (int run = 0; run < 3; ++run) CHECK_NOTHROW(square.run(program));
    CHECK(made == 16 * 4 - 4);
  }
  made = 0;
  record(Topology::parse("torus:4x6"), program);
  CHECK(made == 24 * 4);
  prove(Topology::parse("torus:4x6"), program);
  CHECK(made == 2 * 24 * 4);
}

TEST_CASE("plans differ by type, algorithm, options, network and rank", "[plan]") {
  PlanCache cache;
  const Topology ring = Topology::parse("ring:4"), line = Topology::parse("line:4");
  int made = 0;
  const auto get = [&](std::string_view algorithm, std::vector<std::int64_t> options,
                       const Topology& topology, Rank rank) -> const int& {
    return cache.get<int>(algorithm, options, topology, rank, [&] { return ++made; });
  };
  std::set<const int*> places;
  const auto all = [&] {
    for (const char* const algorithm : {"a", "b", ""}) {
      for (const std::vector<std::int64_t>& options :
           std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {0, 1}, {1, 0}, {-1}}) {
        for (const Topology* const topology : {&ring, &line}) {
          for (Rank rank = 0; rank < 4; ++rank) {
            places.insert(&get(algorithm, options, *topology, rank));
          }
        }
      }
    }
  };
  all();
  CHECK(made == 3 * 6 * 2 * 4);
  CHECK(places.size() == static_cast<std::size_t>(made));
  all();
  CHECK(places.size() == cache.size());  // nothing moved, nothing new
  CHECK(cache.get<double>("a", {}, ring, 0, [] { return 0.5; }) == 0.5);
  // A topology that is equal is the same, one that is gone is not asked.
  const int& kept = get("a", {}, Topology::parse("ring:4"), 0);
  CHECK(&kept == &get("a", {}, ring, 0));
}

TEST_CASE("a plan may need other plans, one that cannot be made is not kept", "[plan]") {
  PlanCache cache;
  const Topology ring = Topology::parse("ring:4");
  const auto inner = [&] { return cache.get<int>("inner", {}, ring, 0, [] { return 5; }); };
  CHECK_THROWS_AS(cache.get<int>("outer", {}, ring, 0,
                                 [&]() -> int {
                                   inner();
                                   throw UsageError("no");
                                 }),
                  UsageError);
  CHECK(cache.size() == 1);
  CHECK(cache.get<int>("outer", {}, ring, 0, [&] { return 10 * inner(); }) == 50);
  CHECK(cache.size() == 2);
}
