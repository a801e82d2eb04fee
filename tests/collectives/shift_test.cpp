// Circular shifts: the textbook's formulas, and where they are wrong.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/shift/leaps.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/collectives/textbook.hpp"

#include <bit>

using namespace textbook;

namespace {

constexpr Operation shift = operations::shift;

/// What a shift costs on a hypercube whose nodes are numbered along a line by the Gray code.
ScheduleReport on_gray_labels(int d, const std::string& algorithm, Rank q) {
  const Collective collective = parse_collective(shift, algorithm, by(q));
  const Topology cube = Topology::parse(sized("hypercube", d));
  std::vector<Rank> members;
  for (Rank i = 0; i < cube.nodes(); ++i) members.push_back(gray_code(i));
  const Schedule schedule = record(cube, [&](Node& node) {
    GroupView line = node.group(members);
    const Memory memory = line.memory(16);
    collective(line, ConstSpan(memory.subspan(0, 8)), memory.subspan(8, 8));
  });
  return check(schedule, Routing(cube), false);
}

/// The exact number of unit steps on s x s nodes.
Rank unit_steps(Rank s, Rank q) {
  const Rank r = q % s, rows = q / s;
  return std::min(r, s - r) + (r > 0 ? std::min(rows + 1, s - rows) : std::min(rows, s - rows));
}

}  // namespace

TEST_CASE("unit steps on a ring or line: min(q, p - q), for any q",
          "[collectives][shift]") {  // 7.1
  for (const Rank p : {1, 2, 3, 8, 9}) {
    for (const char* shape : {"ring", "line"}) {
      for (Rank q = -2 * p; q <= 2 * p; ++q) {
        const CheckResult result = checked(shift, "unit-steps", sized(shape, p), by(q));
        const auto steps = static_cast<std::size_t>(std::min(mod(q, p), mod(-q, p)));
        CHECK(result.report.startups == steps);
        CHECK(result.report.max_hops <= (shape[0] == 'r' ? 1 : p - 1));
      }
    }
  }
  CHECK(time(shift, "unit-steps", "ring:1024", 7, by(-300)) == (100 + 7) * 300);
}

TEST_CASE("E1: a 3-shift on 4 x 4 nodes is no single row shift: that delivers 4 of 16 packets",
          "[collectives][shift][errata]") {
  Rank delivered = 0, moves_on = 0;  // by one backward row shift alone, and one row further down
  for (Rank r = 0; r < 16; ++r) {
    const Rank back = r / 4 * 4 + mod(r - 1, 4), right = mod(r + 3, 16);
    delivered += back == right ? 1 : 0;
    moves_on += mod(back + 4, 16) == right ? 1 : 0;
  }
  CHECK(delivered == 4);
  CHECK(moves_on == 12);
  for (const char* network : {"mesh:4x4", "torus:4x4"}) {
    CHECK(checked(shift, "unit-steps", network, by(3)).report.startups == 2);
  }
}

TEST_CASE("E2: unit steps with compensation take at most s steps on s x s nodes, never s + 1",
          "[collectives][shift][errata]") {  // row 7.3
  CHECK(checked(shift, "unit-steps", "torus:4x4", by(5)).report.startups == 3);
  for (const Rank s : {2, 3, 4, 5, 8}) {
    const std::string sides = std::to_string(s) + "x" + std::to_string(s);
    std::size_t most = 0;
    for (Rank q = 0; q < s * s; ++q) {
      for (const char* shape : {"mesh:", "torus:"}) {
        const CheckResult result = checked(shift, "unit-steps", shape + sides, by(q));
        CHECK(result.report.startups == static_cast<std::size_t>(unit_steps(s, q)));
        most = std::max(most, result.report.startups);
      }
    }
    CHECK(most == static_cast<std::size_t>(s));
  }
  for (const char* network :
       {"mesh:3x5", "torus:2x8", "mesh:2x3x4", "torus:3x1x4", "hypercube:4"}) {
    for (Rank q = -1; q < Topology::parse(network).nodes(); ++q) {
      checked(shift, "unit-steps", network, by(q));
    }
  }
}

TEST_CASE(
    "one message each: min(q, p - q) on a link of a ring or line, the worst dimension on a "
    "mesh, 1 on a hypercube",
    "[collectives][shift]") {
  for (const Rank p : {2, 7, 16, 64}) {  // row 7.2
    for (const char* shape : {"ring", "line"}) {
      for (Rank q = 1; q < p; ++q) {
        CHECK(checked(shift, "direct", sized(shape, p), by(q)).report.link_load_max ==
              std::min(q, p - q));
      }
    }
  }
  for (const Rank s : {3, 4, 8}) {  // row 7.4
    const std::string sides = std::to_string(s) + "x" + std::to_string(s);
    for (Rank q = 1; q < s * s; ++q) {
      const Rank r = q % s, rows = q / s;
      const Rank load = std::max({std::min(r, s - r), std::min(rows, s - rows),
                                  r > 0 ? std::min(rows + 1, s - rows - 1) : 0});
      for (const char* shape : {"mesh:", "torus:"}) {
        CHECK(checked(shift, "direct", shape + sides, by(q)).link_blocks == load);
      }
    }
  }
  for (int d = 1; d <= 7; ++d) {  // rows 7.7, 7.8
    for (Rank q = 1; q < 1 << d; ++q) {
      const CheckResult result = checked(shift, "direct", sized("hypercube", d), by(q));
      CHECK(result.report.link_load_max == 1);
      CHECK(result.report.max_hops == d - std::countr_zero(static_cast<unsigned>(q)));
    }
  }
  CHECK(time(shift, "direct", "hypercube:10", 50, by(333)) == 150);
}

TEST_CASE("powers of two along a Gray code: neighbours only, two steps each, one for bit 0",
          "[collectives][shift]") {  // rows 7.5, 7.6
  for (int d = 1; d <= 6; ++d) {
    for (Rank q = 0; q < 1 << d; ++q) {
      const int bits = std::popcount(static_cast<unsigned>(q));
      for (const std::string powers : {"forward", "both"}) {
        const ScheduleReport report = on_gray_labels(d, "gray-code:powers=" + powers, q);
        CAPTURE(d, q, report.problems);
        CHECK(report.matched());
        CHECK(report.port_violations == 0);
        CHECK(report.link_load_max == (q > 0 ? 1 : 0));
        CHECK(report.max_hops == (q > 0 ? 1 : 0));
        if (powers == "forward") {
          CHECK(report.startups == static_cast<std::size_t>(2 * bits - q % 2));
        } else {
          CHECK(report.startups <= static_cast<std::size_t>(d));
        }
      }
      for (const char* powers : {"forward", "both"}) {
        checked(shift, std::string("gray-code:powers=") + powers, sized("hypercube", d), by(q));
      }
    }
  }
}

TEST_CASE("with Gray labels a shift by a power of two takes two links at most, by one takes one",
          "[collectives][shift]") {  // Fig. 4.23
  for (int d = 1; d <= 7; ++d) {
    const std::string network = sized("gray-hypercube", d);
    for (int b = 0; b < d; ++b) {
      for (const Rank q : {1 << b, -(1 << b)}) {
        const CheckResult direct = checked(shift, "direct", network, by(q));
        CHECK(direct.report.max_hops == (b == 0 || d == 1 ? 1 : 2));
        for (const char* powers : {"forward", "both"}) {
          if (q < 0 && std::string_view(powers) == "forward") continue;
          const CheckResult steps =
              checked(shift, std::string("gray-code:powers=") + powers, network, by(q));
          CHECK(steps.report.max_hops == 1);
          CHECK(steps.report.link_load_max == 1);
          CHECK(steps.report.startups == (b == 0 ? 1U : 2U));
        }
      }
    }
  }
  // With natural labels a shift by one takes up to log p links.
  CHECK(checked(shift, "gray-code", "hypercube:5", by(1)).report.max_hops == 5);
}

TEST_CASE("signed digits are the fewest steps, and log p of them are needed",
          "[collectives][shift]") {
  for (int d = 1; d <= 10; ++d) {
    const Rank p = 1 << d;
    // The fewest steps to every q: breadth first, where a leap of 1 costs one and others two.
    std::vector<int> fewest(static_cast<std::size_t>(p), p);
    fewest[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (Rank q = 0; q < p; ++q) {
        for (int b = 0; b < d; ++b) {
          for (const Rank leap : {1 << b, -(1 << b)}) {
            int& there = fewest[static_cast<std::size_t>(mod(q + leap, p))];
            const int cost = fewest[static_cast<std::size_t>(q)] + (b > 0 ? 2 : 1);
            if (cost < there) there = cost, changed = true;
          }
        }
      }
    }
    int most = 0;
    for (Rank q = 0; q < p; ++q) {
      int steps = 0;
      Rank sum = 0;
      for (const Rank leap : shift_leaps(q, d, ShiftPowers::both)) {
        steps += std::abs(leap) > 1 ? 2 : 1;
        sum += leap;
      }
      CHECK(mod(sum, p) == q);
      CHECK(steps == fewest[static_cast<std::size_t>(q)]);
      most = std::max(most, steps);
    }
    CHECK(most == d);
  }
}

TEST_CASE(
    "E3: on Gray labels, e-cube routing of a whole shift congests, on binary labels it is free",
    "[collectives][shift][errata]") {
  const auto congested = [](int d) {
    std::vector<Rank> all;
    for (Rank q = 1; q < 1 << d; ++q) {
      const ScheduleReport report = on_gray_labels(d, "direct", q);
      if (report.link_load_max > 1) all.push_back(q);
    }
    return all;
  };
  CHECK(congested(3) == std::vector<Rank>{3, 5});
  CHECK(congested(6).size() == 52);
  for (Rank q = 1; q < 64; ++q) {
    CHECK(checked(shift, "direct", "hypercube:6", by(q)).report.link_load_max == 1);
  }
  // Nor is the longest path that of problem 4.23: a 1-shift takes one link, not log p.
  CHECK(on_gray_labels(6, "direct", 1).max_hops == 1);
}

TEST_CASE("named permutations in one step: row 7.9", "[collectives][shift]") {
  const auto permuting = [](Permutation permutation) {
    Arguments arguments;
    arguments.permutation = permutation;
    return arguments;
  };
  for (int d = 0; d <= 10; ++d) {
    const std::string cube = sized("hypercube", d);
    const CheckResult complement =
        checked(operations::permute, "direct", cube, permuting(Permutation::complement));
    CHECK(complement.report.startups == (d > 0 ? 1U : 0U));
    CHECK(complement.report.link_load_max == (d > 0 ? 1 : 0));
    CHECK(complement.report.max_hops == d);
    if (d % 2 != 0 || d == 0) continue;
    const int load = 1 << (d / 2 - 1);  // sqrt(p) / 2
    for (const Permutation permutation : {Permutation::bit_reversal, Permutation::transpose}) {
      const CheckResult result =
          checked(operations::permute, "direct", cube, permuting(permutation));
      CHECK(result.report.link_load_max == load);
      CHECK(result.predicted.link_blocks == load);
      CHECK(time(operations::permute, "direct", cube, 50, permuting(permutation)) ==
            100 + 50 * load);
    }
  }
  for (const char* network : {"ring:7", "mesh:3x5", "tree:6", "complete:1", "petersen"}) {
    checked(operations::permute, "direct", network, permuting(Permutation::complement));
  }
  for (const char* network : {"ring:9", "mesh:5x5", "torus:3x3", "complete:4"}) {
    checked(operations::permute, "direct", network, permuting(Permutation::transpose));
  }
  CHECK(Permutation(Permutation::bit_reversal).destination(1, 8) == 4);
  CHECK(Permutation(Permutation::transpose).destination(5, 9) == 7);
  const auto refused = [&](Permutation permutation, const char* network) {
    return refusal(parse_collective(operations::permute, "direct", permuting(permutation)),
                   Topology::parse(network))
        .value_or("");
  };
  CHECK(refused(Permutation::bit_reversal, "ring:6") ==
        "permute: bit-reversal needs a power-of-2 number of nodes, not 6; use complement");
  CHECK(refused(Permutation::transpose, "hypercube:3") ==
        "permute: transpose needs s x s nodes, not 8; use complement");
  every_step_matters(operations::permute, "direct", "hypercube:4",
                     permuting(Permutation::transpose));
}

TEST_CASE("no step of a shift can be left out, in place or not", "[collectives][shift]") {
  every_step_matters(shift, "unit-steps", "mesh:3x4", by(7));
  every_step_matters(shift, "direct", "petersen", by(3));
  every_step_matters(shift, "gray-code:powers=forward", "hypercube:3", by(7));
  every_step_matters(shift, "gray-code:powers=both", "ring:8", by(3));
  for (const char* algorithm : {"unit-steps", "direct", "gray-code:powers=forward"}) {
    for (Rank q = 0; q < 8; ++q) {
      CheckOptions options;
      options.in_place = true;
      const CheckResult result = check_collective(parse_collective(shift, algorithm, by(q)),
                                                  Topology::parse("ring:8"), options);
      CAPTURE(algorithm, q, result.failures);
      CHECK(result.passed());
    }
  }
}
