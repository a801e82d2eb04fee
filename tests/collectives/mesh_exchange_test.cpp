// The total exchanges on meshes: delivery, ports, links, and counts equal to the formulas; and the
// paper's misprints, which must fail.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_array.hpp"
#include "wormcube/collectives/alltoall/scott_direct.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <array>
#include <atomic>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

constexpr Bytes tag_bytes = 8;

const Algorithm& alltoall(std::string_view name) {
  return find_algorithm(Operation::alltoall, name);
}

Schedule dry_run(const Algorithm& algorithm, const Topology& topology, const Parameters& parameters,
                 Bytes block_bytes = tag_bytes) {
  return record(topology, collective_program(algorithm, parameters, block_bytes, 0, nullptr));
}

/// Laws, counts equal to the formulas, and delivery of the real program's tags.
ScheduleReport require_all(std::string_view name, const std::string& shape,
                           const Parameters& parameters = {}) {
  CAPTURE(name, shape, static_cast<int>(parameters.order), static_cast<int>(parameters.ring));
  const Algorithm& algorithm = alltoall(name);
  const Topology topology = Topology::parse(shape);
  const ScheduleReport report =
      check(dry_run(algorithm, topology, parameters), Routing(topology), false);
  CAPTURE(report.problems);
  REQUIRE(report.matched());
  REQUIRE(report.port_violations == 0);
  REQUIRE(report.link_load_max <= 1);
  REQUIRE(report.deadlock_free);

  const Prediction predicted = algorithm.predict(topology, parameters);
  const auto blocks = [](Bytes bytes) { return static_cast<double>(bytes) / tag_bytes; };
  REQUIRE(static_cast<double>(report.startups) == predicted.startups.value());
  REQUIRE(report.steps == report.startups);  // no step is idle on all nodes
  REQUIRE(blocks(report.transmission) == predicted.transmission_blocks.value());
  REQUIRE(blocks(report.rearranged) == predicted.rearranged_blocks.value());
  REQUIRE(blocks(report.peak_block_bytes) == predicted.peak_blocks.value());

  Verification verification(topology.nodes());
  prove(topology,
        collective_program(algorithm, parameters, tag_bytes, 0, &verification, Pattern::tags));
  CAPTURE(verification.first());
  REQUIRE(verification.passed());
  return report;
}

constexpr std::array orders{MeshOrder::paper, MeshOrder::parity, MeshOrder::overlap};
constexpr std::array rings{MeshRing::plus, MeshRing::folded};

Parameters with(MeshOrder order, MeshRing ring) {
  Parameters parameters;
  parameters.order = order;
  parameters.ring = ring;
  return parameters;
}

}  // namespace

TEST_CASE("suh-mesh delivers on every mesh up to 8 x 8, at its formulas' cost") {
  for (int R = 1; R <= 8; ++R) {
    for (int C = 1; C <= 8; ++C) {
      for (const MeshRing ring : rings) {
        require_all("suh-mesh", fmt::format("mesh:{}x{}", R, C), with(MeshOrder::best, ring));
      }
    }
  }
}

TEST_CASE("suh-mesh delivers on larger and longer meshes") {
  for (const char* shape : {"mesh:9x13", "mesh:16x16", "mesh:3x16", "mesh:16x5", "mesh:11x12",
                            "mesh:15x15", "mesh:2x16", "mesh:10x14"}) {
    for (const MeshRing ring : rings) {
      require_all("suh-mesh", shape, with(MeshOrder::best, ring));
    }
  }
}

TEST_CASE("suh-mesh delivers on single lines, single nodes and hypercubes") {
  for (const char* shape :
       {"line:1", "line:2", "line:3", "line:4", "line:9", "line:16", "mesh:1x1x1", "mesh:1x6x1",
        "hypercube:3", "hypercube:6", "torus:2x2", "ring:2*line:3*ring:1"}) {
    for (const MeshOrder order : orders) {
      require_all("suh-mesh", shape, with(order, MeshRing::folded));
    }
  }
}

TEST_CASE("suh-mesh delivers in n dimensions, in all orders and rings") {
  for (const char* shape :
       {"mesh:8x8x4", "mesh:16x4x4", "mesh:8x4x2x2", "mesh:4x6x8", "mesh:5x5x5", "mesh:7x5x3",
        "mesh:3x3x3x3", "mesh:2x3x1x4x3", "mesh:9x2x3", "mesh:4x4x4x2"}) {
    for (const MeshOrder order : orders) {
      for (const MeshRing ring : rings) require_all("suh-mesh", shape, with(order, ring));
    }
  }
  require_all("suh-mesh", "mesh:8x8x8");
}

TEST_CASE("suh-mesh delivers on random meshes of 2 to 5 dimensions") {
  std::mt19937 random(7);
  for (int i = 0; i < 25;) {
    std::string shape = "mesh:";
    int nodes = 1;
    const int dimensions = std::uniform_int_distribution(2, 5)(random);
    for (int d = 0; d < dimensions; ++d) {
      const int size = std::uniform_int_distribution(1, 10)(random);
      shape += fmt::format("{}{}", d == 0 ? "" : "x", size);
      nodes *= size;
    }
    if (nodes > 200) continue;
    ++i;
    require_all("suh-mesh", shape, with(orders[i % 3], rings[i % 2]));
  }
}

TEST_CASE("suh-mesh moves blocks of no bytes and of odd sizes") {
  const Topology topology = Topology::parse("mesh:5x4");
  for (const Bytes block_bytes : {0, 1, 13}) {
    Verification verification(topology.nodes());
    prove(topology, collective_program(alltoall("suh-mesh"), {}, block_bytes, 1, &verification));
    CAPTURE(block_bytes, verification.first());
    REQUIRE(verification.passed());
  }
}

TEST_CASE("folded rings keep every hop of a ring within 4 links") {
  const Parameters plus = with(MeshOrder::best, MeshRing::plus),
                   folded = with(MeshOrder::best, MeshRing::folded);
  const ScheduleReport straight = require_all("suh-mesh", "mesh:16x16", plus);
  REQUIRE(straight.sum_max_hops == 198);
  REQUIRE(straight.max_hops == 14);
  const ScheduleReport short_hops = require_all("suh-mesh", "mesh:16x16", folded);
  REQUIRE(short_hops.sum_max_hops == 58);
  REQUIRE(short_hops.max_hops == 4);
}

TEST_CASE("every message of suh-mesh moves along one dimension, by explicit moves") {
  const Topology topology = Topology::parse("mesh:5x4x6");
  const Schedule schedule = dry_run(alltoall("suh-mesh"), topology, {});
  for (const RankLog& log : schedule.ranks) {
    for (const OpRecord& op : log.ops) {
      if (op.kind == Op::Kind::send) REQUIRE(op.moves == 1);
    }
  }
}

TEST_CASE("the last messages of suh-mesh have 1, 1 pieces in two dimensions, 1, 1, 2 in three") {
  const auto most_pieces = [](const std::string& shape, int d) {
    std::atomic<std::size_t> most = 0;
    record(Topology::parse(shape), [&](Node& node) {
      const Memory data = node.memory(2 * static_cast<Bytes>(node.size()));
      const Call call{ConstBlocks(data.span().first(node.size()), node.size()),
                      Blocks(data.span().last(node.size()), node.size()),
                      {}};
      const std::size_t pieces = MeshArray(node, call).second_half(d, false).size();
      std::size_t seen = most;
      while (seen < pieces && !most.compare_exchange_weak(seen, pieces)) {
      }
    });
    return most.load();
  };
  REQUIRE(most_pieces("line:6", 0) == 1);
  REQUIRE(most_pieces("mesh:6x4", 1) == 1);
  REQUIRE(most_pieces("mesh:6x4", 0) == 1);
  REQUIRE(most_pieces("mesh:4x2x6", 2) == 1);
  REQUIRE(most_pieces("mesh:4x2x6", 1) == 1);
  REQUIRE(most_pieces("mesh:4x2x6", 0) == 2);
}

namespace {

/// The program of the paper's section 3, even sizes of two dimensions, with what is misprinted
/// there as an option. Written from the text, block by block, apart from the library's.
struct Misprint {
  bool index = false;      // section 3.3: index = hops along +, also for odd coordinates
  bool last_step = false;  // section 3.2, phase 3 step 2: by the parity of the column
  bool recursion = false;  // section 4 read down to one dimension: by the parity of the row alone
};

template <Misprint misprint>
void printed_mesh(Node& node, const Call& call) {
  const Topology& topology = node.topology();
  const Bytes bytes = call.input.bytes();
  const std::array a{topology.size(0), topology.size(1)};
  const std::array x{topology.coordinate(node.rank(), 0), topology.coordinate(node.rank(), 1)};
  const Memory array = node.memory(call.input.all().size(), Purpose::blocks);
  const Memory staging = node.memory(call.input.all().size());

  using Index = std::array<Rank, 2>;
  const auto node_at = [&](const Index& at) { return mod(at[0], a[0]) * a[1] + mod(at[1], a[1]); };
  const auto for_each = [&](auto&& f) {
    for (Rank u = 0; u < a[0]; ++u) {
      for (Rank v = 0; v < a[1]; ++v) f(Index{u, v});
    }
  };
  const auto block = [&](const Memory& memory, const Index& w) {
    return memory.subspan(node_at(w) * bytes, bytes);
  };
  // Sends the chosen blocks along dimension d and puts what comes from there into their places.
  const auto exchange = [&](int d, Rank to, Rank from, auto&& chosen) {
    std::vector<Span> going, coming;
    for_each([&](const Index& w) {
      if (!chosen(w[d])) return;
      going.push_back(block(array, w));
      coming.push_back(block(staging, w));
    });
    Index peer = x;
    peer[d] = from;
    node.step({send_pieces(Move{d, to - x[d]}, going), receive_pieces(node_at(peer), coming)});
    node.local([&] {
      for (std::size_t i = 0; i < going.size(); ++i) copy(coming[i], going[i]);
    });
  };

  node.local([&] {
    for_each([&](const Index& w) {
      Index to = x;
      for (const int d : {0, 1}) {
        const bool back = !misprint.index && x[d] % 2 != 0 && w[d] % 2 != 0;
        to[d] += back ? w[d] - 2 : w[d];
      }
      copy(call.input[node_at(to)], block(array, w));
    });
  });
  const int first = (misprint.recursion ? x[0] : x[0] + x[1]) % 2 == 0 ? 1 : 0;
  for (const int d : {first, 1 - first}) {
    for (Rank s = 1; s < std::max(a[0], a[1]) / 2; ++s) {
      if (2 * s < a[d]) {
        exchange(d, mod(x[d] + 2, a[d]), x[d] - 2, [&](Rank w) { return w >= 2 * s; });
      } else {
        node.step();
      }
    }
  }
  for (const int d : {1, 0}) {
    const Rank step = x[misprint.last_step ? 1 : d] % 2 == 0 ? 1 : -1;
    exchange(d, x[d] + step, x[d] + step, [](Rank w) { return w % 2 != 0; });
  }
  node.local([&] {
    for_each([&](const Index& w) {
      Index from = x;
      for (const int d : {0, 1}) from[d] = (w[d] % 2 == 0 ? x[d] : x[d] ^ 1) - w[d] / 2 * 2;
      copy(block(array, w), call.output[node_at(from)]);
    });
  });
}

template <Misprint misprint>
Algorithm printed() {
  Algorithm algorithm = alltoall("suh-mesh");
  algorithm.program = printed_mesh<misprint>;
  return algorithm;
}

std::uint64_t wrong_places(const Algorithm& algorithm, const std::string& shape) {
  const Topology topology = Topology::parse(shape);
  Verification verification(topology.nodes());
  prove(topology, collective_program(algorithm, {}, tag_bytes, 0, &verification, Pattern::tags));
  std::uint64_t wrong = 0;
  for (Rank r = 0; r < topology.nodes(); ++r) wrong += verification.of(r).missing;
  return wrong;
}

}  // namespace

TEST_CASE("the paper's text, its misprints corrected, sends the messages that suh-mesh sends") {
  for (const char* shape : {"mesh:2x2", "mesh:4x4", "mesh:6x6", "mesh:4x8", "mesh:2x6"}) {
    const Topology topology = Topology::parse(shape);
    const Schedule ours = dry_run(alltoall("suh-mesh"), topology, {}),
                   printed_one = dry_run(printed<Misprint{}>(), topology, {});
    REQUIRE(wrong_places(printed<Misprint{}>(), shape) == 0);
    REQUIRE(ours.steps() == printed_one.steps());
    for (Rank r = 0; r < topology.nodes(); ++r) {
      CAPTURE(shape, r);
      REQUIRE(ours.ranks[r].ops == printed_one.ranks[r].ops);
      REQUIRE(ours.ranks[r].moves == printed_one.ranks[r].moves);
    }
  }
}

TEST_CASE("misprint: the last step by the parity of the column sends off the mesh") {
  REQUIRE_THROWS_AS(
      dry_run(printed<Misprint{.last_step = true}>(), Topology::parse("mesh:6x6"), {}), UsageError);
  REQUIRE_THROWS_AS(wrong_places(printed<Misprint{.last_step = true}>(), "mesh:6x6"), UsageError);
}

TEST_CASE("misprint: the index rule for odd coordinates delivers blocks to wrong nodes") {
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:4x4") == 112);
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:6x6") == 567);
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:4x8") == 448);
}

TEST_CASE("misprint: a recursion that ends at one dimension puts two rings on one line") {
  const Topology topology = Topology::parse("mesh:6x6");
  const Algorithm algorithm = printed<Misprint{.recursion = true}>();
  const ScheduleReport report = check(dry_run(algorithm, topology, {}), Routing(topology), false);
  REQUIRE(report.matched());
  REQUIRE(report.link_load_max == 2);
  REQUIRE(wrong_places(algorithm, "mesh:6x6") == 0);  // it delivers, but not free of contention
}

TEST_CASE("bokhari-quadrant and sundar-cyclic cost what Table 2 of the paper says") {
  for (int d = 0; d <= 4; ++d) {
    const int side = 1 << d;
    const std::string shape = fmt::format("mesh:{}x{}", side, side);
    CAPTURE(shape);
    const ScheduleReport quadrant = require_all("bokhari-quadrant", shape);
    const ScheduleReport cyclic = require_all("sundar-cyclic", shape);
    if (d == 0) continue;
    const auto blocks = static_cast<Bytes>(side * side);
    REQUIRE(quadrant.startups == 3 * (side - 1U));
    REQUIRE(quadrant.transmission == 3 * (side - 1U) * blocks / 4 * tag_bytes);
    REQUIRE(quadrant.rearranged == (d - 1U) * blocks * tag_bytes);
    REQUIRE(cyclic.startups == static_cast<std::size_t>(side));
    REQUIRE(cyclic.transmission == side * blocks / 2 * tag_bytes);
    REQUIRE(cyclic.rearranged == (d - 1U) * blocks * tag_bytes);
  }
}

TEST_CASE("the layers of scott-direct hold every pair of coordinates once, in disjoint patterns") {
  for (const Rank a : {4, 8, 12, 20}) {
    std::set<std::pair<Rank, Rank>> pairs;
    for (Rank number = 0; number < a; ++number) {
      const ScottLayer layer{a, number};
      std::vector<Rank> members(a / 4, 0);
      for (Rank x = 0; x < a; ++x) {
        CAPTURE(a, number, x);
        REQUIRE(pairs.emplace(x, layer.target(x)).second);
        REQUIRE(layer.pattern(layer.target(x)) == layer.pattern(x));
        REQUIRE(layer.target(layer.source(x)) == x);
        ++members.at(layer.pattern(x));
      }
      for (const Rank count : members) REQUIRE(count == 4);
    }
    REQUIRE(static_cast<Rank>(pairs.size()) == a * a);
  }
}

TEST_CASE("scott-direct delivers single blocks at the bisection bound") {
  const std::pair<const char*, std::size_t> rows[]{
      {"mesh:4x4", 16},   {"mesh:4x8", 64},    {"mesh:8x4", 64},    {"mesh:8x8", 128},
      {"mesh:4x16", 256}, {"mesh:12x12", 432}, {"mesh:16x16", 1024}};
  for (const auto& [shape, steps] : rows) {
    const ScheduleReport report = require_all("scott-direct", shape);
    REQUIRE(report.startups == steps);
    REQUIRE(report.transmission == steps * tag_bytes);
  }
}

TEST_CASE("naive-direct delivers single blocks without contention, in more steps") {
  const std::pair<const char*, std::size_t> rows[]{
      {"mesh:1x1", 0}, {"mesh:4x4", 24}, {"mesh:6x6", 87}, {"mesh:5x7", 78}, {"mesh:8x8", 196}};
  for (const auto& [shape, steps] : rows) {
    REQUIRE(require_all("naive-direct", shape).startups == steps);
  }
  for (const char* shape : {"line:9", "torus:5x4", "torus:2x2x3", "hypercube:4", "ring:5*line:3"}) {
    require_all("naive-direct", shape);
  }
}

TEST_CASE("the algorithms of meshes refuse other networks, with both numbers and a way out") {
  const auto refused = [](std::string_view name, std::string_view shape) {
    const auto reason = refusal(alltoall(name), Topology::parse(shape), {});
    return reason.value_or("admitted");
  };
  using Catch::Contains;
  REQUIRE(refused("scott-direct", "mesh:6x6") ==
          "scott-direct: both sides must be multiples of 4; mesh:6x6 has 6; use suh-mesh");
  REQUIRE_THAT(refused("scott-direct", "mesh:4x4x4"), Contains("2 dimensions") && Contains("3"));
  REQUIRE_THAT(refused("bokhari-quadrant", "mesh:4x8"),
               Contains("power of two") && Contains("4 and 8") && Contains("suh-mesh"));
  REQUIRE_THAT(refused("sundar-cyclic", "mesh:6x6"), Contains("6 and 6") && Contains("suh-mesh"));
  REQUIRE_THAT(refused("suh-mesh", "torus:3x4"), Contains("ring:3") && Contains("shift"));
  REQUIRE_THAT(refused("suh-mesh", "complete:4"), Contains("complete:4"));
  REQUIRE_THAT(refused("naive-direct", "mesh:64x32"), Contains("1024") && Contains("2048"));
  REQUIRE_THAT(refused("naive-direct", "ghc:3x3"), Contains("complete:3"));
  REQUIRE(refused("suh-mesh", "mesh:7x5x3") == "admitted");
  REQUIRE(refused("suh-mesh", "hypercube:4") == "admitted");
}

TEST_CASE("dry runs of large meshes take seconds at most", "[large]") {
  for (const char* shape : {"mesh:64x64", "mesh:63x65", "mesh:15x17x13"}) {
    const Topology topology = Topology::parse(shape);
    const Schedule schedule = dry_run(alltoall("suh-mesh"), topology, {});
    const ScheduleReport report = check(schedule, Routing(topology), false);
    const Prediction predicted = alltoall("suh-mesh").predict(topology, {});
    CAPTURE(shape);
    REQUIRE(report.link_load_max == 1);
    REQUIRE(report.startups == predicted.startups.value());
    REQUIRE(report.transmission == predicted.transmission_blocks.value() * tag_bytes);
  }
}
