// Several programs' steps as one: in every execution mode, nested, of uneven length, with failures.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/together.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/tests/alive.hpp"
#include "wormcube/tests/schedule/programs.hpp"
#include "wormcube/tests/worlds.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using machine_tests::Alive;
using programs::get;
using programs::put;
using programs::word;
using programs::word_bytes;
using worlds::runs;

namespace {

/// A word once round the ring of a dimension, `steps` hops; the tag keeps parts apart.
void travel(Node& node, int dimension, int steps, Tag tag) {
  const Memory words = node.memory(2 * word_bytes, Purpose::blocks);
  const Span here = words.subspan(0, word_bytes), next = words.subspan(word_bytes, word_bytes);
  node.local([&] { put(here, word(node.rank(), tag)); });
  for (int t = 0; t < steps; ++t) {
    const Memory copy = node.memory(word_bytes);  // comes and goes with every step
    node.rearrange(word_bytes, [&] { put(copy, get(here)); });
    node.step({send(Move{dimension, 1}, copy, tag), receive(Move{dimension, -1}, next, tag)});
    node.local([&] { put(here, get(next)); });
  }
  node.local([&] {
    const Rank from = node.neighbour(dimension, -(steps % node.topology().size(dimension)));
    if (get(here) != word(from, tag)) throw std::logic_error("the wrong word came round");
  });
}

}  // namespace

TEST_CASE("the parts' steps are one step, until the longest part ends", "[together]") {
  const Schedule dry = runs("torus:5x4", [](Node& node) {
    together(node,
             {[](Node& part) { travel(part, 0, 4, 1); }, [](Node& part) { travel(part, 1, 2, 2); },
              [](Node& /*part*/) {}, [](Node& part) { part.idle(3); }});
    node.step();
  });
  CHECK(dry.steps() == 5);
  for (std::size_t step = 0; step < 5; ++step) {
    CAPTURE(step);
    const auto ops = dry.ops(6, step);  // row 1, column 2
    REQUIRE(ops.size() == (step < 2 ? 4 : step < 4 ? 2 : 0));
    if (step < 4) CHECK(ops[0] == OpRecord{Op::Kind::send, 1, 10, 1, ops[0].first_move, 8});
    if (step < 4) CHECK(ops[1] == OpRecord{Op::Kind::receive, 0, 2, 1, ops[1].first_move, 8});
    if (step < 2) CHECK(ops[2] == OpRecord{Op::Kind::send, 1, 7, 2, ops[2].first_move, 8});
    if (step < 2) CHECK(ops[3] == OpRecord{Op::Kind::receive, 0, 5, 2, ops[3].first_move, 8});
  }
  CHECK(dry.ranks[6].rearranged == GapBytes{16, 16, 8, 8});
  CHECK(dry.ranks[6].peak_block_bytes == 2 * 16);
  CHECK(dry.ranks[6].peak_bytes == 2 * 16 + 2 * 8);
}

TEST_CASE("parts on views of different dimensions share the steps", "[together]") {
  const Schedule dry = runs("torus:4x4", [](Node& node) {
    together(node, {[](Node& part) {
                      auto column = part.along(0);
                      programs::exchange(column);
                    },
                    [](Node& part) {
                      auto row = part.along(1);
                      programs::exchange(row);
                    }});
  });
  CHECK(dry.steps() == 3);
  CHECK(dry.ops(0, 1).size() == 4);
}

TEST_CASE("together in a part is together in the whole", "[together]") {
  const auto leaf = [](int dimension, int steps, Tag tag) {
    return [=](Node& part) { travel(part, dimension, steps, tag); };
  };
  const Schedule nested = runs("torus:3x3x3", [&](Node& node) {
    together(node, {leaf(0, 2, 0),
                    [&](Node& part) {
                      together(part, {leaf(1, 1, 1), [&](Node& inner) {
                                        together(inner, {leaf(2, 2, 2), leaf(0, 3, 3)});
                                      }});
                      travel(part, 2, 2, 4);
                    },
                    leaf(1, 4, 5)});
  });
  const Schedule flat = record(Topology::parse("torus:3x3x3"), [&](Node& node) {
    together(node, {leaf(0, 2, 0), leaf(1, 1, 1), leaf(2, 2, 2),
                    [&](Node& part) {
                      travel(part, 0, 3, 3);
                      travel(part, 2, 2, 4);
                    },
                    leaf(1, 4, 5)});
  });
  CHECK(nested == flat);
}

TEST_CASE("no parts take no step", "[together]") {
  const Schedule dry = runs("ring:2", [](Node& node) {
    together(node, std::span<const Part>{});
    together(node, 3, [](int, Node& part) { part.local([] {}); });
  });
  CHECK(dry.steps() == 0);
}

TEST_CASE("numbered parts run in the order of their numbers", "[together]") {
  runs("ring:3", [](Node& node) {
    std::vector<int> order;
    together(node, 4, [&](int i, Node& part) {
      for (int t = 0; t < 4 - i; ++t) {
        order.push_back(10 * t + i);
        part.step();
      }
    });
    if (order != std::vector<int>{0, 1, 2, 3, 10, 11, 12, 20, 21, 30}) {
      throw std::logic_error("another order");
    }
  });
}

TEST_CASE("memory of parts comes and goes in any order", "[together]") {
  // Two parts that in turn hold a piece across the step in which the other gives its own back: in
  // all far more than there are addresses in a dry run, and at most two at once.
  const auto hold = [](Bytes bytes) {
    return [bytes](Node& node) {
      std::vector<Memory> held;
      for (int t = 0; t < 300; ++t) {
        Memory next = node.memory(bytes);
        node.step();
        if (!held.empty() && held.back().data() == next.data()) throw std::logic_error("twice");
        held.clear();
        held.push_back(std::move(next));
      }
    };
  };
  const Schedule dry = record(Topology::parse("ring:2"), [&](Node& node) {
    together(node, {hold(Bytes{1} << 28), hold(Bytes{3} << 27)});
  });
  CHECK(dry.ranks[0].peak_bytes == 2 * ((Bytes{1} << 28) + (Bytes{3} << 27)));
  runs("ring:2", [&](Node& node) { together(node, {hold(3000), hold(5000), hold(10)}); });
}

TEST_CASE("a part that refuses ends the others, before any message", "[together]") {
  for (const auto& [name, run] : worlds::all) {
    CAPTURE(name);
    for (const int refusing : {0, 1, 2}) {
      std::atomic<int> alive{0}, unwound{0};
      const Program program = [&](Node& node) {
        together(node, 3, [&](int i, Node& part) {
          const Alive one(alive);
          const Memory memory = part.memory(100);
          if (i == refusing) throw UsageError("part " + std::to_string(i) + " refuses");
          try {
            part.step({send(0, {}), receive(0, {})});
          } catch (const Stopped&) {
            ++unwound;
            throw;
          }
        });
      };
      CHECK_THROWS_AS(run(Topology::parse("ring:3"), program), UsageError);
      CHECK_THROWS_WITH(run(Topology::parse("ring:3"), program),
                        Catch::Matchers::Contains("part " + std::to_string(refusing) + " refuses"));
      CHECK(alive == 0);
      if (refusing > 0) CHECK(unwound >= refusing);
    }
  }
}

TEST_CASE("a node that fails unwinds the parts of all others", "[together]") {
  for (const auto& [name, run] : worlds::all) {
    CAPTURE(name);
    for (const int when : {0, 1, 4}) {
      std::atomic<int> alive{0};
      const Program program = [&](Node& node) {
        const Alive outer(alive);
        together(node, 3, [&](int i, Node& part) {
          const Alive one(alive);
          const Memory own = part.memory(64);
          together(part, 2, [&](int k, Node& inner) {
            const Alive two(alive);
            const Memory words = inner.memory(2 * word_bytes);
            for (int t = 0; t < 6; ++t) {
              if (inner.rank() == 2 && i == 1 && k == 1 && t == when) {
                throw std::out_of_range("gave up");
              }
              inner.step({send(Move{0, 1}, words.subspan(0, 8), 2 * i + k),
                          receive(Move{0, -1}, words.subspan(8, 8), 2 * i + k)});
            }
          });
        });
      };
      CHECK_THROWS_AS(run(Topology::parse("ring:5"), program), NodeFailure);
      CHECK_THROWS_WITH(
          run(Topology::parse("ring:5"), program),
          Catch::Matchers::Contains("node 2") && Catch::Matchers::Contains("gave up"));
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("a part that goes on after Stopped is stopped again", "[together]") {
  std::atomic<int> stops{0};
  const Program program = [&](Node& node) {
    together(node, {[&](Node& part) {
                      for (int i = 0; i < 3; ++i) {
                        try {
                          part.step();
                        } catch (const Stopped&) {
                          ++stops;
                        }
                      }
                    },
                    [](Node& /*part*/) { throw UsageError("no"); }});
  };
  CHECK_THROWS_WITH(record(Topology::parse("line:1"), program), "no");
  CHECK(stops == 3);
}

TEST_CASE("a deadlock of parts is reported, and the machine runs again", "[together]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:3"), worlds::machine(executor));
    std::atomic<int> alive{0};
    const Program waits = [&](Node& node) {
      together(node, 2, [&](int i, Node& part) {
        const Alive one(alive);
        const Memory word = part.memory(8);
        part.step();
        part.step({receive(mod(part.rank() + 1, 3), word, i)});
      });
    };
    CHECK_THROWS_AS(machine.run(waits), Deadlock);
    CHECK(alive == 0);
    CHECK_NOTHROW(machine.run(
        [](Node& node) { together(node, 2, [](int i, Node& part) { travel(part, 0, 3, i); }); }));
  }
}

TEST_CASE("a part finds the plans of its node", "[together][plan]") {
  std::atomic<int> made{0};
  Machine machine(Topology::parse("torus:4x4"), worlds::machine(ExecutorKind::fibers));
  for (int run = 0; run < 3; ++run) {
    machine.run([&](Node& node) {
      together(node, 5, [&](int, Node& part) {
        part.plan<int>("test", {}, [&] { return ++made; });
        part.step();
      });
    });
  }
  CHECK(made == 16);
}

TEST_CASE("many parts on many nodes, repeatedly", "[together][stress]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("torus:4x4"), worlds::machine(executor, true));
    for (int run = 0; run < 3; ++run) {
      CHECK_NOTHROW(machine.run([](Node& node) {
        for (int repetition = 0; repetition < 5; ++repetition) {
          together(node, 12, [](int i, Node& part) { travel(part, i % 2, i % 4, i); });
        }
      }));
    }
  }
}
