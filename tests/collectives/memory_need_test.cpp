// Memory estimates of a program: counts from some ranks, and the resulting figures for all.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/product.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/network/lane.hpp"
#include "wormcube/runtime/network/tag_table.hpp"
#include "wormcube/tests/resident.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::StartsWith;

TEST_CASE("a few ranks suffice to estimate the memory for all") {
  const Topology ring = Topology::parse("ring:200");
  const MemoryNeed need = memory_need(ring, [](Node& node) {
    const Memory memory = node.memory(1000);
    node.step();
  });
  CHECK(need.nodes == Approx(200 * 1000));
  CHECK(need.schedule > 0);
  CHECK(need.plans == 0);
}

TEST_CASE(
    "nodes that differ are asked for by their range, where none of them is tried, as the mean") {
  const auto of = [](Rank first, Rank end) {
    return memory_need(
               Topology::parse("ring:200"),
               [](Node& node) { const Memory memory = node.memory(node.rank() < 50 ? 1000 : 200); },
               0, nullptr, {first, end})
        .here;
  };
  CHECK(of(0, 50) == Approx(50 * 1000));
  CHECK(of(50, 200) == Approx(150 * 200));
  CHECK(of(1, 3) == Approx(2 * 400).epsilon(0.05));
  CHECK(of(7, 7) == 0);
}

namespace {

/// Each node sends `messages` of `bytes` to the next before it receives as many.
void unexpected_messages(Node& node, int messages, Bytes bytes) {
  const Rank p = node.size(), r = node.rank();
  const Memory out = node.memory(bytes), in = node.memory(bytes);
  for (int i = 0; i < messages; ++i) node.step({send((r + 1) % p, out)});
  for (int i = 0; i < messages; ++i) node.step({receive((r + p - 1) % p, in)});
}

}  // namespace

TEST_CASE("buffers for messages that come early are among what a run needs, up to their bound") {
  const Topology ring = Topology::parse("ring:200");
  const auto need = [&](int messages, Bytes bytes, const NetworkMemory& network) {
    return memory_need(
               ring, [&](Node& node) { unexpected_messages(node, messages, bytes); }, 0, &network)
               .early /
           ring.nodes();
  };
  const NetworkMemory usual, none{.eager_limit = 99}, all{.eager_limit = ~Bytes{0}};
  CHECK(need(0, 100, usual) == 0);
  const double one = need(1, 100, usual);
  CHECK((one >= 128 && one < 512));
  CHECK(need(10, 100, usual) == Approx(10 * one));
  CHECK(need(64, 100, usual) == Approx(64 * one));
  CHECK(need(1000, 100, usual) == Approx(64 * one));
  CHECK(need(10, 100, none) == 0);
  CHECK(need(10, 1000, usual) > need(10, 100, usual));
  CHECK(need(10, 1025, usual) == 0);
  // However long they may be: 256 KiB are kept, in buffers of up to twice that.
  CHECK(need(64, Bytes{1} << 24, all) < 1.1 * (512 << 10));
  NetworkMemory scaled = usual;
  scaled.scale = 10;
  CHECK(need(10, 100, scaled) == Approx(need(10, 1000, usual)));
  CHECK(need(10, 103, scaled) == 0);
}

TEST_CASE("early messages take the memory that was foreseen") {
  const Topology ring = Topology::parse("ring:400");
  Machine machine(ring, {.executor = ExecutorKind::fibers});
  machine.run([](Node& node) { unexpected_messages(node, 1, 1024); });
  const double before = resident_bytes();
  const Program program = [](Node& node) { unexpected_messages(node, 64, 1024); };
  machine.run(program);
  const double taken = resident_bytes() - before;
  const NetworkMemory network;
  const double foreseen = memory_need(ring, program, 0, &network).early;
  CAPTURE(foreseen, taken);
  CHECK(foreseen > 20e6);
  if (!sanitized) CHECK((taken > foreseen / 1.3 && taken < foreseen * 1.3));
}

TEST_CASE("the plans of a product's exchange are among what a run needs") {
  const Topology torus = Topology::parse("torus:5x4");
  const Collective product(find_algorithm(operations::alltoall, "product"));
  const Contract contract = contract_of(product, torus.nodes(), 8, 1);
  const MemoryNeed need = memory_need(torus, collective_program(product, contract, nullptr));
  double bytes = 0;
  for (Rank rank = 0; rank < torus.nodes(); ++rank) {
    bytes +=
        static_cast<double>(make_plan(rank, product_rounds(torus)).places.size() * sizeof(Rank));
  }
  CHECK(need.plans == bytes);
}

TEST_CASE("of up to 127 nodes all are tried, of 128 every other one, and the root") {
  const auto tried = [](const char* ring, Rank root) {
    std::mutex mutex;
    std::set<Rank> ranks;
    memory_need(
        Topology::parse(ring),
        [&](Node& node) {
          const std::lock_guard lock(mutex);
          ranks.insert(node.rank());
        },
        root);
    return ranks;
  };
  CHECK(tried("ring:1", 0) == std::set<Rank>{0});
  std::set<Rank> expected;
  for (Rank rank = 0; rank < 127; ++rank) expected.insert(rank);
  CHECK(tried("ring:127", 5) == expected);
  expected = {5};
  for (Rank rank = 0; rank < 128; rank += 2) expected.insert(rank);
  CHECK(tried("ring:128", 5) == expected);
}

TEST_CASE("what nodes hold is added up, those asked for apart") {
  // 8, 16, .. 48 bytes.
  const auto need = [](Rank first, Rank end) {
    return memory_need(Topology::parse("ring:6"),
                       [](Node& node) {
                         const Memory memory = node.memory(8 * static_cast<Bytes>(node.rank() + 1));
                       },
                       0, nullptr, {first, end});
  };
  CHECK(need(0, 0).nodes == 168);
  CHECK(need(0, 0).here == 0);
  CHECK(need(1, 2).here == 16);
  CHECK(need(1, 3).here == 40);
  CHECK(need(0, 6).here == 168);
}

TEST_CASE("a recorded schedule takes its ops, moves, ends of steps and gaps, and each node's log") {
  const Topology ring = Topology::parse("ring:6");
  const MemoryNeed need = memory_need(ring, [](Node& node) {
    const Memory memory = node.memory(8);
    const std::array moves{Move{0, 1}, Move{0, 1}};
    node.step({send(moves, memory), send(0, memory), send(1, memory)});
    node.step();
    node.rearrange(8, [] {});
    node.combine(8, [] {});
  });
  constexpr std::size_t steps = 2, filled_gaps = 2;
  CHECK(need.schedule ==
        6.0 * (3 * sizeof(OpRecord) + 2 * sizeof(Move) + steps * sizeof(std::uint32_t) +
               filled_gaps * sizeof(GapBytes::Gap) + sizeof(RankLog)));
}

namespace {

/// Makes a plan, and sends two messages that it might have placed: their pieces lie right before
/// and right behind their op. The root sends one more. What comes before the plan is not of it.
void placed_messages(Node& node, Rank root) {
  const Memory memory = node.memory(64);
  const Span data = memory.span();
  struct {
    std::array<Span, 3> before;
    std::array<Op, 1> op;
    std::array<Span, 2> behind;
  } placed{{data.subspan(0, 8), data.subspan(8, 8), data.subspan(16, 8)},
           {send(0, data)},
           {data.subspan(24, 8), data.subspan(32, 8)}};
  const auto sends = [&](std::span<const Span> pieces) {
    placed.op[0] = send_pieces(0, pieces);
    node.step(placed.op);
  };
  sends(placed.before);
  node.local([] {});
  node.plan<int>("test", {}, [] { return 0; });
  sends(placed.before);
  sends(placed.behind);
  if (node.rank() == root) sends(placed.behind);
  node.step({send(0, data)});
  node.local([] {});
  node.local([] {});
}

}  // namespace

TEST_CASE("a plan keeps a word of each message, or each message that it places, and copies") {
  const auto need = [](const char* ring, Rank root) {
    return memory_need(
        Topology::parse(ring), [&](Node& node) { placed_messages(node, root); }, root);
  };
  const MemoryNeed six = need("ring:6", -1);
  CHECK(six.pieces == 6 * (3 + 3 + 2 + 1));
  CHECK(six.plans == 6 * (2 * 150 + 5 * 8 + 2 * 12 * 6));
  // Of 65 ranks tried one sends more.
  const MemoryNeed of_many = need("ring:128", 5);
  CHECK(of_many.pieces == Approx(128 * (9 + 2 / 65.0)));
  CHECK(of_many.plans == Approx(128 * (340 + (150 + 2 * 8) / 65.0 + 2 * 12 * 128)));
  // No more than 1024 copies.
  CHECK(need("ring:12800", 0).plans ==
        Approx(12800 * (340 + (150 + 2 * 8) / 64.0 + 2 * 12 * 1024)));

  const auto unplaced = [](int plans) {
    return memory_need(Topology::parse("ring:6"),
                       [&](Node& node) {
                         const Memory memory = node.memory(8), other = node.memory(8);
                         if (plans > 0) node.plan<int>("test", {}, [] { return 0; });
                         node.step({send(0, memory), receive(1, other)});
                         node.step({send(0, memory)});
                         node.local([] {});
                       })
        .plans;
  };
  CHECK(unplaced(0) == 0);
  CHECK(unplaced(1) == 6 * 3 * sizeof(Rank));
}

TEST_CASE("buffers are for the short messages that a node receives, each as long as the longest") {
  const Topology ring = Topology::parse("ring:6");
  const auto early = [&](const NetworkMemory& network) {
    return memory_need(
               ring,
               [](Node& node) {
                 const Memory memory = node.memory(4000);
                 const Span data = memory.span();
                 node.step({receive(1, data.subspan(0, 100)), receive(2, data.subspan(100, 300)),
                            receive(3, data.subspan(400, 3000)), send(0, data.subspan(3400, 400))});
                 node.step({receive(0, data.subspan(0, 200))});
               },
               0, &network)
        .early;
  };
  const auto buffers = [](std::size_t messages, Bytes longest) {
    return 6.0 * static_cast<double>(TagTable::bytes_of_early(messages, longest));
  };
  CHECK(early({}) == buffers(3, 300));
  CHECK(early({.eager_limit = 300}) == buffers(3, 300));
  CHECK(early({.eager_limit = 299}) == buffers(2, 200));
  CHECK(early({.eager_limit = 3000}) == buffers(4, 3000));
  CHECK(early({.eager_limit = 3000, .scale = 10}) == buffers(3, 3000));
  CHECK(early({.eager_limit = 99}) == 0);
}

TEST_CASE("each channel that a message takes counts once, with its queue if it has one") {
  const auto need = [](Bytes unit, const NetworkMemory& network) {
    return memory_need(
        Topology::parse("line:5"),
        [&](Node& node) {
          const Memory memory = node.memory(1025);
          const auto first = [&](Bytes bytes) { return ConstSpan(memory.span().first(bytes)); };
          switch (node.rank()) {
            case 0:  // up to 3; up to 2
              node.step({send(3, first(64 / unit))});
              return node.step({send(2, first(80 / unit))});
            case 1:
              return node.step({send(2, first(1024 / unit))});
            case 2:  // down to 0
              return node.step({send(Move{0, -2}, first(128 / unit))});
            case 3:  // down to 2
              return node.step({send(2, first(1024 / unit + 1))});
            default:
              return node.step();
          }
        },
        0, &network);
  };
  constexpr double of_each = 112, flit = 80;
  CHECK(need(1, {}).channels == 6 * of_each);
  CHECK(need(1, {}).queues == 0);
  CHECK(need(16, {.scale = 16}).channels == 6 * of_each);
  // A queue is a ring of one more than it holds.
  CHECK(need(1, {.capacity = 9}).queues == 6 * (10 * flit + sizeof(LinkLane)));
}

TEST_CASE("channels are as many as all nodes may take, or as there are") {
  const NetworkMemory network;
  const auto need = [&](bool far) {
    return memory_need(
        Topology::parse("line:128"),
        [&](Node& node) {
          const Memory memory = node.memory(128);
          node.step({send(far ? 127 - node.rank() : node.rank() + 1, memory)});
        },
        0, &network);
  };
  constexpr double of_each = 112;
  // Each second node is tried.
  CHECK(need(false).channels == 128 * of_each);
  CHECK(need(true).channels == 254 * of_each);  // not twice the 252 of those tried
}

TEST_CASE("as many pieces are recorded as are allowed, more are refused with both figures") {
  const Program program = [](Node& node) {
    const Memory memory = node.memory(8);
    node.step({send(0, memory), send(1, memory)});
  };
  const auto with_at_most = [&](std::int64_t most) {
    return need_to_record("check it", Topology::parse("ring:6"), program, 0, most,
                          ", or wait (--longer)");
  };
  CHECK(with_at_most(12).pieces == 12);
  CHECK_THROWS_WITH(with_at_most(11),
                    "check it: the dry run would visit 12 pieces of messages, 2 for each node; "
                    "the limit is 11; use fewer nodes or another algorithm, or wait (--longer)");
}

TEST_CASE("a program recorded within limits has the same schedule, on small and large networks") {
  const Program program = [](Node& node) {
    const Memory memory = node.memory(16);
    node.phase("shift");
    node.step({send(Move{0, 1}, memory.subspan(0, 8)), receive(Move{0, -1}, memory.subspan(8, 8))});
    node.computes(5, 40);
    node.phase("end");
    if (node.rank() % 3 == 1) node.step();
  };
  for (const char* const network : {"ring:5", "ring:64", "ring:127", "ring:128", "ring:200"}) {
    CAPTURE(network);
    const Topology topology = Topology::parse(network);
    const Schedule whole = record(topology, program);
    const auto within = [&](std::int64_t most_pieces) {
      return record_within_limits("check it", topology, program, 0, "it", most_pieces);
    };
    const Schedule again = within(2 * topology.nodes());
    CHECK(again == whole);
    CHECK(again.phases == whole.phases);
    CHECK(again.computed == whole.computed);
    CHECK(again.pieces == whole.pieces);
    CHECK_THROWS_WITH(within(2 * topology.nodes() - 1), StartsWith("check it: the dry run would"));
  }
}

TEST_CASE("a schedule is recorded with the table of routes, which may be what does not fit") {
  // 2 tables of a 16-bit word for each pair: 931 GiB; the schedule is 70 MiB.
  constexpr Rank nodes = 500'000;
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 1; rank < nodes; ++rank) edges.emplace_back(rank - 1, rank);
  const Topology large({Graph::arbitrary(nodes, edges, "large")});
  CHECK_THROWS_WITH(need_to_record(
                        "check it", large, [](Node&) {}, 0),
                    StartsWith("check it: the recorded schedule needs 931 GiB of memory, ") &&
                        Catch::Matchers::EndsWith("; use fewer nodes"));
}
