// The arithmetic of suh-mesh: rings, slots, orders and formulas, against the specification.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_order.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

using Sides = std::vector<Rank>;

std::int64_t product(const Sides& sizes) {
  std::int64_t nodes = 1;
  for (const Rank size : sizes) nodes *= size;
  return nodes;
}

}  // namespace

TEST_CASE("a ring visits each coordinate of its parity once and uses each directed link once") {
  for (const MeshRing ring : {MeshRing::plus, MeshRing::folded}) {
    for (Rank size = 1; size <= 17; ++size) {
      const MeshLine line(size, ring);
      for (Rank start = 0; start < std::min(size, 2); ++start) {
        CAPTURE(size, start, ring == MeshRing::folded);
        std::set<Rank> visited;
        std::map<std::pair<Rank, int>, int> load;  // by the link's first node and sign
        Rank x = start;
        do {
          REQUIRE(visited.insert(x).second);
          const Rank next = line.ahead(x, 1);
          REQUIRE(next < size);
          REQUIRE(line.ahead(next, -1) == x);
          REQUIRE(line.ahead(start, static_cast<Rank>(visited.size())) == next);
          const int sign = next > x ? 1 : -1;
          for (Rank at = x; at != next; at += sign) ++load[{at, sign}];
          if (ring == MeshRing::folded) REQUIRE(std::abs(next - x) <= 4);
          x = next;
        } while (x != start);
        REQUIRE(static_cast<Rank>(visited.size()) == line.members(start));
        for (const auto& [link, messages] : load) REQUIRE(messages == 1);
      }
    }
  }
}

TEST_CASE("even sizes: slot w of x is for the coordinate next^(w/2)(x) xor (w mod 2)") {
  for (const Rank size : {2, 4, 6, 10}) {
    const MeshLine line(size);
    for (Rank x = 0; x < size; ++x) {
      REQUIRE(line.slots(x) == size);
      for (Rank w = 0; w < size; ++w) {
        const Rank hops = x % 2 == 0 || w % 2 == 0 ? w : w - 2;
        REQUIRE(line.ends(x, w).source == x);
        REQUIRE(line.ends(x, w).destination == mod(x + hops, size));
      }
    }
  }
}

TEST_CASE("the slots of a line hold each pair of coordinates once, before and after the rings") {
  for (const MeshRing ring : {MeshRing::plus, MeshRing::folded}) {
    for (Rank size = 1; size <= 13; ++size) {
      const MeshLine line(size, ring);
      CAPTURE(size);
      std::set<std::pair<Rank, Rank>> before;
      for (Rank x = 0; x < size; ++x) {
        std::set<Rank> places, sources;
        for (Rank slot = 0; slot < line.slots(x); ++slot) {
          const auto [source, destination] = line.ends(x, slot);
          REQUIRE(before.emplace(source, destination).second);
          REQUIRE((source == x || (source == x + 1 && destination == size - 1)));
        }
        for (const int half : {0, 1}) {
          for (Rank i = 0; i < line.in_half(x, half, false); ++i)
            places.insert(line.slot(x, half, i));
          for (Rank i = 0; i < line.in_half(x, half, true); ++i) {
            sources.insert(line.source(x, half, i));
          }
        }
        REQUIRE(static_cast<Rank>(places.size()) == line.slots(x));
        REQUIRE(*places.rbegin() == line.slots(x) - 1);
        REQUIRE(static_cast<Rank>(sources.size()) == size);
        REQUIRE(*sources.rbegin() == size - 1);
      }
      REQUIRE(static_cast<Rank>(before.size()) == size * size);
    }
  }
}

TEST_CASE("in every order the two rings of a line are never active at the same time") {
  std::mt19937 random(20240607);
  std::vector<Sides> shapes{{2}, {7}, {8}, {5, 8}, {8, 5}, {16, 4, 4}, {7, 5, 3}, {8, 4, 2, 2}};
  for (int i = 0; i < 60; ++i) {
    Sides sizes(std::uniform_int_distribution<std::size_t>(1, 5)(random));
    for (Rank& size : sizes) size = std::uniform_int_distribution<Rank>(2, 11)(random);
    shapes.push_back(sizes);
  }
  for (const Sides& sizes : shapes) {
    for (const MeshOrder order : {MeshOrder::paper, MeshOrder::parity, MeshOrder::overlap}) {
      CAPTURE(sizes, static_cast<int>(order));
      std::vector<bool> busy(ring_steps(sizes, order), false);
      const std::uint32_t groups = 1U << sizes.size();
      const auto dimension_at = [&](std::uint32_t group, Rank t) {
        for (const auto [d, start] : ring_turns(sizes, order, group)) {
          const Rank steps = MeshLine(sizes[d]).members(group >> d & 1) - 1;
          if (t >= start && t < start + steps) return d;
        }
        return -1;
      };
      for (std::uint32_t group = 0; group < groups; ++group) {
        const auto turns = ring_turns(sizes, order, group);
        REQUIRE(turns.size() == sizes.size());
        REQUIRE(std::ranges::is_sorted(turns, {}, &RingTurn::start));
        REQUIRE(turns.back().start <= ring_steps(sizes, order));
        for (Rank t = 0; t < ring_steps(sizes, order); ++t) {
          const int d = dimension_at(group, t);
          if (d < 0) continue;
          busy[t] = true;
          REQUIRE(dimension_at(group ^ 1U << d, t) != d);
        }
      }
      REQUIRE(std::ranges::all_of(busy, [](bool step) { return step; }));  // no step is empty
    }
  }
}

TEST_CASE("even R x C: max(R,C) start-ups, RC max(R,C)/2 blocks, 2RC rearranged, in all orders") {
  for (Rank R = 2; R <= 16; R += 2) {
    for (Rank C = 2; C <= 16; C += 2) {
      for (const MeshOrder order : {MeshOrder::paper, MeshOrder::parity, MeshOrder::overlap}) {
        REQUIRE(mesh_startups(Sides{R, C}, order) == std::max(R, C));
        REQUIRE(mesh_transmission(Sides{R, C}, order) == R * C * std::max(R, C) / 2);
        REQUIRE(mesh_rearranged(Sides{R, C}, order) == 2 * R * C);
      }
    }
  }
}

TEST_CASE("odd sides: one more start-up each than the mesh rounded up, and its closed forms") {
  const auto up = [](Rank a) { return a + a % 2; };
  for (Rank R = 2; R <= 16; ++R) {
    for (Rank C = 2; C <= 16; ++C) {
      CAPTURE(R, C);
      const Sides sizes{R, C};
      const Rank longest = std::max(up(R), up(C));
      REQUIRE(mesh_startups(sizes, MeshOrder::paper) == longest + R % 2 + C % 2);
      const std::int64_t blocks = mesh_transmission(sizes, MeshOrder::paper);
      if (R % 2 == 0 && C % 2 != 0) REQUIRE(blocks == R * up(C) * longest / 2 + R / 2);
      if (R % 2 != 0 && C % 2 == 0) REQUIRE(blocks == up(R) * C * longest / 2 + C);
      if (R == C && R % 2 != 0) {
        REQUIRE(blocks == longest * longest * longest / 2 + 3 * longest / 2 - 1);
      }
    }
  }
  REQUIRE(mesh_transmission(Sides{3, 16}, MeshOrder::paper) == 528);
  REQUIRE(mesh_transmission(Sides{3, 3}, MeshOrder::paper) == 37);
}

TEST_CASE("a single line of a needs a - 1 start-ups if even, a if odd") {
  for (Rank a = 2; a <= 16; ++a) {
    REQUIRE(mesh_startups(Sides{a}, MeshOrder::paper) == (a % 2 == 0 ? a - 1 : a));
    if (a % 2 == 0) REQUIRE(mesh_transmission(Sides{a}, MeshOrder::paper) == a * (a - 1) / 2);
  }
}

TEST_CASE("n even sides: the paper's order costs n a_1 / 2 start-ups and n a_1 N / 4 blocks") {
  for (const Sides& sizes : {Sides{8, 8, 8}, Sides{16, 4, 4}, Sides{4, 4, 4, 4}, Sides{4, 6, 8},
                             Sides{8, 4, 2, 2}, Sides{4, 2, 6, 2, 2}}) {
    const auto n = std::ssize(sizes);
    const Rank longest = std::ranges::max(sizes);
    REQUIRE(mesh_startups(sizes, MeshOrder::paper) == n * longest / 2);
    REQUIRE(mesh_transmission(sizes, MeshOrder::paper) == n * longest * product(sizes) / 4);
    REQUIRE(mesh_rearranged(sizes, MeshOrder::paper) == n * product(sizes));
  }
}

TEST_CASE("the three orders cost what the specification's table says") {
  struct Row {
    Sides sizes;
    std::int64_t startups[3], blocks[3];
  };
  const Row rows[]{{{8, 8, 8}, {12, 12, 12}, {3072, 3072, 3072}},
                   {{16, 4, 4}, {24, 18, 17}, {3072, 2304, 2176}},
                   {{8, 4, 2, 2}, {16, 11, 10}, {1024, 704, 640}},
                   {{4, 6, 8}, {12, 11, 9}, {1152, 1056, 960}},
                   {{5, 5, 5}, {12, 12, 12}, {1012, 1012, 1012}},
                   {{7, 5, 3}, {15, 14, 12}, {971, 987, 915}}};
  for (const Row& row : rows) {
    for (const int i : {0, 1, 2}) {
      const MeshOrder order =
          std::array{MeshOrder::paper, MeshOrder::parity, MeshOrder::overlap}[i];
      CAPTURE(row.sizes, i);
      REQUIRE(mesh_startups(row.sizes, order) == row.startups[i]);
      REQUIRE(mesh_transmission(row.sizes, order) == row.blocks[i]);
    }
  }
  REQUIRE(mesh_transmission(Sides{16, 16, 20}, MeshOrder::paper) == 76800);
  REQUIRE(mesh_transmission(Sides{16, 16, 20}, MeshOrder::overlap) == 80128);
}

TEST_CASE(
    "auto picks the order that weighs start-ups against transmission, the paper's of equals") {
  const auto best = [](const char* mesh, double startup_us, Bytes block_bytes) {
    CostModel model;
    model.startup_us = startup_us;
    const Topology topology = Topology::parse(mesh);
    Collective cheapest_one;
    double least = std::numeric_limits<double>::infinity();
    // As cheapest() does among all algorithms; here suh-mesh alone is asked.
    for (const char* const order : {"paper", "parity", "overlap"}) {
      const Collective collective =
          parse_collective(operations::alltoall, std::string("suh-mesh:order=") + order);
      const double time = predicted_us(collective.predict(topology), model, block_bytes);
      if (time < least) cheapest_one = collective;
      least = std::min(least, time);
    }
    // Where suh-mesh is the choice of all, it is with this order.
    const Collective chosen = cheapest({.operation = operations::alltoall,
                                        .topology = topology,
                                        .block_bytes = block_bytes,
                                        .model = model});
    if (chosen.name() == "suh-mesh") CHECK(chosen.text() == cheapest_one.text());
    return cheapest_one.options.choice<MeshOrder>("order");
  };
  REQUIRE(best("mesh:16x16x20", 1000, 1) == MeshOrder::overlap);
  REQUIRE(best("mesh:16x16x20", 0, 1024) != MeshOrder::overlap);
  REQUIRE(best("mesh:7x5x3", 10, 1024) == MeshOrder::overlap);
  REQUIRE(best("mesh:8x8x8", 10, 1024) == MeshOrder::paper);
  REQUIRE(best("mesh:4x9", 10, 1024) == MeshOrder::paper);
}
