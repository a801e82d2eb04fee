// wormcube check and run on products: bounds and errors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <fstream>

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

TEST_CASE("check says exactly whether a product's exchange meets its bound") {
  const auto check = [](const char* algorithm, const char* network) {
    const auto output = run_wormcube(std::string("check alltoall --on '") + network +
                                     "' --algorithm " + algorithm + " --json -");
    INFO(output.err);
    REQUIRE(output.exit == 0);
    return output.json();
  };
  const auto ring = check("product-multiport", "ring:6");
  CHECK(ring["startups"] == 5);
  CHECK(ring["lower_bound"]["exact"] == "9/2");
  CHECK(ring["lower_bound"]["startups"] == 4.5);
  CHECK(ring["lower_bound"]["source"] == "cut (4)");
  CHECK(ring["bound_met"] == false);
  CHECK(ring["optimal"] == true);
  const auto product = check("product", "ccc:3*line:2");
  CHECK(product["lower_bound"]["exact"] == "172");
  CHECK(product["startups"] == 172);
  CHECK(product["bound_met"] == true);
  CHECK(product["lower_bound"]["source"] == "average status (3)");
  const auto mesh = check("product", "mesh:3x3");
  CHECK(mesh["startups"] == 24);
  CHECK(mesh["lower_bound"]["exact"] == "16");
  CHECK(mesh["bound_met"] == false);
  CHECK(mesh["optimal"] == false);
  const auto shift = check("shift", "ring:6");
  CHECK(shift["bound_met"].is_null());
  CHECK(shift["bound_met_reason"] == "start-ups and transmission have separate bounds");
  CHECK(shift["lower_bound"]["exact"].is_null());
  const auto wide =
      run_wormcube("check alltoall --on ring:6 --algorithm product,product-multiport,shift --wide");
  CHECK_THAT(wide.out, Contains("optimal") && Contains("met") && Contains("best"));
}

TEST_CASE("check and run refuse a graph without routes before they build anything") {
  const TemporaryFile file(".txt");
  {
    std::ofstream out(file.path());
    for (int v = 0; v < 9000; ++v) out << v << ' ' << (v + 1) % 9000 << '\n';
  }
  for (const char* command : {"check alltoall", "run broadcast --bytes 8"}) {
    const auto output = run_wormcube(std::string(command) + " --on graph:" + file.path());
    CHECK(output.exit == 2);
    CHECK(output.out.empty());
    CHECK_THAT(output.err, Contains("9000 nodes and 18000 links") && Contains("up to 8192 nodes"));
  }
}

TEST_CASE("a shape that is nearly one that exists is asked about") {
  const auto output = run_wormcube("topology buterfly:3");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains("unknown shape 'buterfly' at position 1 (did you mean "
                                  "'butterfly'?); available:"));
  CHECK_THAT(run_wormcube("topology ring:4*xyz:3").err, Contains("position 8; available:"));
  CHECK_THAT(run_wormcube("topology line:2").out, Contains("1 cable,"));
}
