// Total exchange: the textbook's formulas, on its networks and on those with fewer links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/textbook.hpp"

using namespace textbook;

namespace {

constexpr Operation alltoall = operations::alltoall;

}  // namespace

TEST_CASE("rings: one direction, both in turn, both at once", "[collectives][alltoall]") {
  for (const Rank p : {1, 2, 3, 4, 7, 8, 33, 64}) {  // rows 5.1, 5.2, 5.3, errata E11
    const double d = p;
    for (const char* shape : {"ring", "line"}) {
      const CheckResult one = checked(alltoall, "ring", sized(shape, p)),
                        both = checked(alltoall, "ring-bidirectional", sized(shape, p));
      CHECK(one.transmission_blocks == d * (d - 1) / 2);
      CHECK(both.transmission_blocks == p * p / 4);
      CHECK(both.report.startups == static_cast<std::size_t>(p - 1));
    }
    const CheckResult all = checked(alltoall, "ring-all-port", sized("ring", p));
    CHECK(all.report.startups == static_cast<std::size_t>(p / 2));
    CHECK(all.transmission_blocks == (p == 2 ? 1 : p % 2 == 0 ? d * d / 8 : (d * d - 1) / 8));
    CHECK(all.report.link_load_max == (p > 1 ? 1 : 0));
  }
}

TEST_CASE("exchanges of the hypercube, also unaltered on poorer networks",
          "[collectives][alltoall]") {
  for (int d = 0; d <= 8; ++d) {  // rows 5.6, 5.7, 5.9, 5.12, erratum E14
    const double p = 1 << d;
    const std::string cube = sized("hypercube", d);
    CHECK(checked(alltoall, "hypercube-combine", cube).transmission_blocks == p / 2 * d);
    CHECK(checked(alltoall, "bruck", cube).transmission_blocks == p / 2 * d);
    CHECK(checked(alltoall, "hypercube-pairwise", cube).link_blocks == p - 1);
    for (const char* shape : {"line", "tree"}) {
      CHECK(checked(alltoall, "hypercube-pairwise", sized(shape, 1 << d)).link_blocks ==
            (p * p - 1) / 3);
    }
    if (d > 0 && d <= 6) {
      const CheckResult all = checked(alltoall, "hypercube-all-port", cube);
      CHECK(all.transmission_blocks == p / 2);
      CHECK(all.report.link_load_max == 1);
    }
  }
  for (const Rank s : {2, 4, 8}) {  // rows 5.10, 5.11
    const double p = s * s;
    const std::string mesh = "mesh:" + std::to_string(s) + "x" + std::to_string(s);
    CHECK(checked(alltoall, "hypercube-combine", mesh).link_blocks == p * (s - 1));
    CHECK(checked(alltoall, "hypercube-pairwise", mesh).link_blocks == 3 * (p * s - 1) / 7);
  }
}

TEST_CASE("no step of a total exchange can be left out", "[collectives][alltoall]") {
  every_step_matters(alltoall, "ring-bidirectional", "line:5");
  every_step_matters(alltoall, "ring-all-port", "ring:6");
  every_step_matters(alltoall, "hypercube-combine", "hypercube:3");
  every_step_matters(alltoall, "hypercube-pairwise", "mesh:2x4");
  every_step_matters(alltoall, "bruck", "complete:7");
}
