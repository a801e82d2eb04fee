// The total exchanges on meshes: delivery, ports, links, and counts equal to the formulas; and the
// paper's misprints, which must fail.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_places.hpp"
#include "wormcube/collectives/alltoall/scott_layer.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/sanitized.hpp"

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

using cases::alltoall;

constexpr Bytes tag_bytes = 8;

cases::Call call(const Collective& collective, const Topology& topology) {
  return {collective, topology, tag_bytes, Pattern::tags};
}

Schedule dry_run(const Collective& collective, const Topology& topology) {
  return record(topology, call(collective, topology).dry());
}

/// Laws, counts equal to the formulas, and delivery of the real program's tags.
ScheduleReport require_all(const std::string& text, const std::string& shape) {
  CAPTURE(text, shape);
  const Collective collective = alltoall(text);
  const Topology topology = Topology::parse(shape);
  const ScheduleReport report = check(dry_run(collective, topology), Routing(topology), false);
  CAPTURE(report.problems);
  REQUIRE(report.matched());
  REQUIRE(report.port_violations == 0);
  REQUIRE(report.link_load_max <= 1);
  REQUIRE(report.deadlock_free);

  const Prediction predicted = collective.predict(topology);
  const auto blocks = [](Bytes bytes) { return static_cast<double>(bytes) / tag_bytes; };
  REQUIRE(static_cast<double>(report.startups) == predicted.startups.value());
  REQUIRE(report.steps == report.startups);  // no step is idle on all nodes
  REQUIRE(blocks(report.transmission) == predicted.transmission_blocks.value());
  REQUIRE(blocks(report.rearranged) == predicted.rearranged_blocks.value());
  REQUIRE(blocks(report.peak_block_bytes) == predicted.working_blocks.value());

  const cases::Outcome outcome = cases::outcome(call(collective, topology), topology);
  CAPTURE(outcome.first);
  REQUIRE(outcome.delivered);
  REQUIRE(outcome.exactly_once());
  return report;
}

constexpr std::array orders{"paper", "parity", "overlap"};
constexpr std::array rings{"plus", "folded"};

std::string with(const char* order, const char* ring) {
  return fmt::format("suh-mesh:order={}:ring={}", order, ring);
}

}  // namespace

TEST_CASE("suh-mesh delivers on every mesh up to 8 x 8, at its formulas' cost") {
  for (int R = 1; R <= 8; ++R) {
    for (int C = 1; C <= 8; ++C) {
      for (const char* const ring : rings) {
        require_all(with("paper", ring), fmt::format("mesh:{}x{}", R, C));
      }
    }
  }
}

TEST_CASE("suh-mesh delivers on larger and longer meshes") {
  for (const char* shape : {"mesh:9x13", "mesh:16x16", "mesh:3x16", "mesh:16x5", "mesh:11x12",
                            "mesh:15x15", "mesh:2x16", "mesh:10x14"}) {
    for (const char* const ring : rings) {
      require_all(with("paper", ring), shape);
    }
  }
}

TEST_CASE("suh-mesh delivers on single lines, single nodes and hypercubes") {
  for (const char* shape :
       {"line:1", "line:2", "line:3", "line:4", "line:9", "line:16", "mesh:1x1x1", "mesh:1x6x1",
        "hypercube:3", "hypercube:6", "torus:2x2", "ring:2*line:3*ring:1"}) {
    for (const char* const order : orders) {
      require_all(with(order, "folded"), shape);
    }
  }
}

TEST_CASE("suh-mesh delivers in n dimensions, in all orders and rings") {
  for (const char* shape :
       {"mesh:8x8x4", "mesh:16x4x4", "mesh:8x4x2x2", "mesh:4x6x8", "mesh:5x5x5", "mesh:7x5x3",
        "mesh:3x3x3x3", "mesh:2x3x1x4x3", "mesh:9x2x3", "mesh:4x4x4x2"}) {
    if (sanitized && Topology::parse(shape).nodes() > 81) continue;
    for (const char* const order : orders) {
      for (const char* const ring : rings) require_all(with(order, ring), shape);
    }
  }
  if (!sanitized) require_all("suh-mesh", "mesh:8x8x8");
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
    require_all(with(orders[i % 3], rings[i % 2]), shape);
  }
}

TEST_CASE("suh-mesh moves blocks of no bytes and of odd sizes") {
  const Topology topology = Topology::parse("mesh:5x4");
  for (const Bytes block_bytes : {0, 1, 13}) {
    const cases::Outcome outcome =
        cases::outcome({alltoall("suh-mesh"), topology, block_bytes, Pattern::words}, topology);
    CAPTURE(block_bytes, outcome.first);
    REQUIRE(outcome.delivered);
  }
}

TEST_CASE("folded rings keep every hop of a ring within 4 links") {
  const ScheduleReport straight = require_all("suh-mesh:ring=plus", "mesh:16x16");
  REQUIRE(straight.sum_max_hops == 198);
  REQUIRE(straight.max_hops == 14);
  const ScheduleReport short_hops = require_all("suh-mesh:ring=folded", "mesh:16x16");
  REQUIRE(short_hops.sum_max_hops == 58);
  REQUIRE(short_hops.max_hops == 4);
}

TEST_CASE("every message of suh-mesh moves along one dimension, by explicit moves") {
  const Topology topology = Topology::parse("mesh:5x4x6");
  const Schedule schedule = dry_run(alltoall("suh-mesh"), topology);
  for (const RankLog& log : schedule.ranks) {
    for (const OpRecord& op : log.ops) {
      if (op.kind == Op::Kind::send) REQUIRE(op.moves == 1);
    }
  }
}

TEST_CASE("the last messages of suh-mesh have 1, 1 pieces in two dimensions, 1, 1, 2 in three") {
  const auto most_pieces = [](const std::string& shape, int d) {
    const Topology topology = Topology::parse(shape);
    std::size_t most = 0;
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      const MeshPlaces places(topology, rank, MeshRing::plus);
      std::size_t pieces = 0;
      Rank end = -1;
      for (const Slice& slice : places.second_half(d, false)) {
        pieces += slice.first != end ? 1 : 0;  // neighbours are sent as one
        end = slice.first + slice.count;
      }
      most = std::max(most, pieces);
    }
    return most;
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
Collective printed() {
  static const Algorithm algorithm = [] {
    Algorithm copy = *alltoall("suh-mesh").algorithm;
    copy.program = printed_mesh<misprint>;
    return copy;
  }();
  return Collective(algorithm);
}

std::uint64_t wrong_places(const Collective& collective, const std::string& shape) {
  const Topology topology = Topology::parse(shape);
  return cases::outcome(call(collective, topology), topology).wrong_elements;
}

}  // namespace

TEST_CASE("the paper's text, its misprints corrected, sends the messages that suh-mesh sends") {
  for (const char* shape : {"mesh:2x2", "mesh:4x4", "mesh:6x6", "mesh:4x8", "mesh:2x6"}) {
    const Topology topology = Topology::parse(shape);
    const Schedule ours = dry_run(alltoall("suh-mesh"), topology),
                   printed_one = dry_run(printed<Misprint{}>(), topology);
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
  REQUIRE_THROWS_AS(dry_run(printed<Misprint{.last_step = true}>(), Topology::parse("mesh:6x6")),
                    UsageError);
  REQUIRE_THROWS_AS(wrong_places(printed<Misprint{.last_step = true}>(), "mesh:6x6"), UsageError);
}

TEST_CASE("misprint: the index rule for odd coordinates delivers blocks to wrong nodes") {
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:4x4") == 112);
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:6x6") == 567);
  REQUIRE(wrong_places(printed<Misprint{.index = true}>(), "mesh:4x8") == 448);
}

TEST_CASE("misprint: a recursion that ends at one dimension puts two rings on one line") {
  const Topology topology = Topology::parse("mesh:6x6");
  const Collective collective = printed<Misprint{.recursion = true}>();
  const ScheduleReport report = check(dry_run(collective, topology), Routing(topology), false);
  REQUIRE(report.matched());
  REQUIRE(report.link_load_max == 2);
  REQUIRE(wrong_places(collective, "mesh:6x6") == 0);  // it delivers, but not free of contention
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

// The layers in pairs the other way round would be as good; the header says which is which.
TEST_CASE("a pattern of scott-direct is the cycle j, i, j+h, i+h, i the lower one in even layers") {
  for (const Rank a : {4, 8, 12, 20}) {
    const Rank h = a / 2;
    for (Rank number = 0; number < a; ++number) {
      const ScottLayer layer{a, number};
      for (Rank x = 0; x < h; ++x) {
        const Rank y = layer.target(x) % h;
        if (y == x) continue;  // of the last two layers
        const Rank i = number % 2 == 0 ? std::min(x, y) : std::max(x, y), j = x + y - i;
        CAPTURE(a, number, i, j);
        REQUIRE(layer.target(j) == i);
        REQUIRE(layer.target(i) == j + h);
        REQUIRE(layer.target(j + h) == i + h);
        REQUIRE(layer.target(i + h) == j);
      }
    }
    // The last two: i <-> i+h, and j and j+h to themselves; then i and j exchanged.
    for (Rank x = 0; x < a; ++x) {
      const ScottLayer even{a, a - 2}, odd{a, a - 1};
      const Rank across = (x + h) % a;
      REQUIRE((even.target(x) == across) == (odd.target(x) == x));
      REQUIRE((even.target(x) == x || even.target(x) == across));
    }
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

TEST_CASE("mesh algorithms refuse other networks with both numbers and alternatives") {
  const auto refused = [](std::string_view name, std::string_view shape) {
    const auto reason = refusal(alltoall(name), Topology::parse(shape));
    return reason.value_or("admitted");
  };
  using Catch::Contains;
  REQUIRE(refused("scott-direct", "mesh:6x6") ==
          "scott-direct: every dimension must be a multiple of 4; mesh:6x6 has 6; use suh-mesh, "
          "mesh or shift");
  REQUIRE_THAT(refused("scott-direct", "mesh:4x4x4"),
               Contains("2 dimensions") && Contains("has 3"));
  REQUIRE_THAT(refused("bokhari-quadrant", "mesh:4x8"),
               Contains("2^d x 2^d; mesh:4x8 is not one") && Contains("suh-mesh"));
  REQUIRE_THAT(refused("sundar-cyclic", "mesh:6x6"),
               Contains("mesh:6x6 is not one") && Contains("suh-mesh"));
  REQUIRE_THAT(refused("suh-mesh", "torus:3x4"), Contains("ring:3") && Contains("shift"));
  REQUIRE_THAT(refused("suh-mesh", "complete:4"), Contains("complete:4"));
  REQUIRE_THAT(refused("naive-direct", "mesh:64x32"), Contains("1024") && Contains("2048"));
  REQUIRE_THAT(refused("naive-direct", "ghc:3x3"), Contains("complete:3"));
  REQUIRE(refused("suh-mesh", "mesh:7x5x3") == "admitted");
  REQUIRE(refused("suh-mesh", "hypercube:4") == "admitted");
}

TEST_CASE("dry runs of large meshes take seconds at most", "[large]") {
  if (sanitized) return;
  for (const char* shape : {"mesh:15x17x13", "mesh:64x64", "mesh:63x65"}) {
    const Topology topology = Topology::parse(shape);
    const Schedule schedule = dry_run(alltoall("suh-mesh"), topology);
    const ScheduleReport report = check(schedule, Routing(topology), false);
    const Prediction predicted = alltoall("suh-mesh").predict(topology);
    CAPTURE(shape);
    REQUIRE(report.link_load_max == 1);
    REQUIRE(report.startups == predicted.startups.value());
    REQUIRE(report.transmission == predicted.transmission_blocks.value() * tag_bytes);
  }
}
