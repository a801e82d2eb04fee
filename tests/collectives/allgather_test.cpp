// All-gather: the textbook's formulas, on its networks and on those with fewer links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/textbook.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>

using namespace textbook;

namespace {

constexpr Operation allgather = operations::allgather;

}  // namespace

TEST_CASE(
    "all-gather on a ring, a line or a mesh costs p - 1 blocks, in as many steps as sides add up "
    "to",
    "[collectives][allgather]") {
  for (const Rank p : {1, 2, 3, 7, 16, 64, 1024}) {
    if (sanitized && p > 64) break;
    for (const char* shape : {"ring", "line"}) {  // rows 2.1, 2.2
      const CheckResult result = checked(allgather, "ring", sized(shape, p));
      CHECK(result.report.startups == static_cast<std::size_t>(p - 1));
      CHECK(result.transmission_blocks == p - 1);
      CHECK(result.report.link_load_max == (p > 1 ? 1 : 0));
    }
  }
  for (const auto& [network, startups, p] :
       std::vector<std::tuple<const char*, std::size_t, double>>{{"mesh:4x4", 6, 16},
                                                                 {"torus:3x5", 6, 15},
                                                                 {"mesh:2x3x4", 6, 24},
                                                                 {"torus:32x32", 62, 1024},
                                                                 {"mesh:8x8x16", 29, 1024}}) {
    const CheckResult result = checked(allgather, "mesh", network);  // rows 2.3, 2.4
    CHECK(result.report.startups == startups);
    CHECK(result.transmission_blocks == p - 1);
    CHECK(result.rearranged_blocks == 0);
    CHECK(result.report.link_load_max == 1);
  }
  CHECK(time(allgather, "mesh", "mesh:4x6", 10) == 100 * 8 + 10 * 23);
}

TEST_CASE(
    "recursive doubling is free of contention on a hypercube in either order, elsewhere the "
    "order decides",
    "[collectives][allgather]") {
  for (int d = 0; d <= 10; ++d) {
    const double p = 1 << d, s = 1 << d / 2;
    for (const std::string order : {"ascending", "descending"}) {
      const std::string algorithm = "hypercube:order=" + order;
      const CheckResult cube = checked(allgather, algorithm, sized("hypercube", d));  // row 2.5
      CHECK(cube.report.startups == static_cast<std::size_t>(d));
      CHECK(cube.transmission_blocks == p - 1);
      CHECK(cube.report.link_load_max == (d > 0 ? 1 : 0));
      CHECK(checked(allgather, algorithm, sized("complete", 1 << std::min(d, 7)))  // row 2.12
                .report.link_load_max == (d > 0 ? 1 : 0));
      for (const char* shape : {"line", "ring", "tree"}) {  // rows 2.6, 2.7; erratum E5
        const CheckResult poorer = checked(allgather, algorithm, sized(shape, 1 << d));
        const double contended = order == "ascending" ? (p * p - 1) / 3 : p / 2 * d;
        CHECK(poorer.link_blocks == contended);
        CHECK(poorer.predicted.link_blocks == contended);
      }
      if (d % 2 == 0 && d > 0) {  // row 2.8
        const std::string mesh =
            "mesh:" + std::to_string(1 << d / 2) + "x" + std::to_string(1 << d / 2);
        CHECK(checked(allgather, algorithm, mesh).link_blocks ==
              (order == "ascending" ? (p - 1) * (s + 1) / 3 : (p + s) * d / 4));
      }
    }
  }
  CHECK(time(allgather, "hypercube:order=ascending", "line:64", 3) == 600 + 3 * (64 * 64 - 1) / 3);
  CHECK(time(allgather, "hypercube:order=descending", "line:64", 3) == (100 + 3 * 32) * 6);
}

TEST_CASE("Bruck's all-gather takes ceil(log p) steps and p - 1 blocks on any number of nodes",
          "[collectives][allgather]") {
  for (Rank p = 1; p <= 40; ++p) {
    const CheckResult result = checked(allgather, "bruck", sized("complete", p));
    CHECK(result.report.startups == static_cast<std::size_t>(log2_ceiling(p)));
    CHECK(result.transmission_blocks == p - 1);
    CHECK(result.report.link_load_max == (p > 1 ? 1 : 0));
    checked(allgather, "bruck", sized("ring", p));
    checked(operations::allgatherv, "bruck", sized("line", p));
  }
  for (int d = 1; d <= 10; ++d) {
    CHECK(checked(allgather, "bruck", sized("hypercube", d)).report.link_load_max == 1);
  }
}

TEST_CASE(
    "with all links at once a link still carries one message, and a hypercube takes (p - 1)/d "
    "blocks",
    "[collectives][allgather]") {  // row 2.9
  for (int d = 1; d <= std::min(most_dimensions, 8); ++d) {
    const CheckResult cube = checked(allgather, "hypercube-all-port", sized("hypercube", d));
    CHECK(cube.report.startups == static_cast<std::size_t>(d));
    CHECK(cube.transmission_blocks == Approx(((1 << d) - 1) / static_cast<double>(d)));
    CHECK(cube.report.link_load_max == 1);
  }
  for (const Rank p : {1, 2, 3, 4, 9, 64, 255}) {
    const CheckResult ring = checked(allgather, "all-port", sized("ring", p));
    CHECK(ring.report.startups == static_cast<std::size_t>(p / 2));
    CHECK(ring.transmission_blocks == p / 2);  // ceil((p - 1)/2)
  }
  const CheckResult torus = checked(allgather, "all-port", "torus:5x5");
  CHECK(torus.report.startups == 4);
  CHECK(torus.transmission_blocks == (2 * 1 + 2 * 5) / 2.0);  // a lower bound: 24 over 4 ports
  for (const char* network : {"torus:2x8", "torus:3x4x5", "torus:1x7", "torus:2x2x2"}) {
    checked(allgather, "all-port", network);
  }
}

TEST_CASE("uneven blocks are gathered like even ones", "[collectives][allgather]") {
  for (const char* network : {"ring:7", "line:8"}) checked(operations::allgatherv, "ring", network);
  for (const char* network : {"mesh:3x5", "torus:2x3x4"}) {
    checked(operations::allgatherv, "mesh", network);
  }
  for (const char* order : {"ascending", "descending"}) {
    checked(operations::allgatherv, std::string("hypercube:order=") + order, "hypercube:4");
  }
}

TEST_CASE("no step of an all-gather can be left out", "[collectives][allgather]") {
  every_step_matters(allgather, "ring", "line:5");
  every_step_matters(allgather, "mesh", "mesh:3x4");
  every_step_matters(allgather, "hypercube:order=ascending", "hypercube:3");
  every_step_matters(allgather, "hypercube:order=descending", "ring:8");
  every_step_matters(allgather, "bruck", "complete:7");
  every_step_matters(allgather, "all-port", "torus:4x3");
  every_step_matters(allgather, "hypercube-all-port", "hypercube:3");
}

TEST_CASE("all-gathers refuse unsupported calls and suggest alternatives",
          "[collectives][allgather]") {
  const auto refused = [](const char* algorithm, const char* network) {
    return refusal(parse_collective(allgather, algorithm), Topology::parse(network)).value_or("");
  };
  CHECK(refused("hypercube", "ring:6") ==
        "hypercube: the number of nodes must be a power of 2; ring:6 has 6; use bruck");
  CHECK(refused("all-port", "tree:4") ==
        "all-port: every dimension must be a line, a ring or a complete graph; tree:4 has tree:4; "
        "use ring or bruck");
  CHECK(refused("hypercube-all-port", "ring:8") ==
        "hypercube-all-port: needs a hypercube; ring:8 is not one (8 nodes); use all-port or "
        "bruck");
}
