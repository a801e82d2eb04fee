// wormcube reproduce, as a user sees it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <set>

#include <catch2/catch.hpp>

using wormcube::test::run_wormcube;

TEST_CASE("reproduce prints three figures for each entry of a paper's table, and every erratum") {
  const auto [paper, networks, rows, errata] =
      GENERATE(std::tuple("kim", "--sizes 8,16", 11U, 12U),
               std::tuple("suh", "--on mesh:4x4,mesh:5x7", 8U, 7U));
  const auto output =
      run_wormcube(std::string("reproduce ") + paper + " " + networks + " --json -");
  INFO(output.err);
  CHECK(output.exit == 0);
  const auto result = output.json();
  CHECK(result["passed"] == true);
  CHECK(result["rows"].size() == rows);
  for (const auto& row : result["rows"]) {
    INFO(row.dump());
    CHECK(row["delivered"] == true);
    for (const char* figure : {"startups", "transmission_blocks", "rearranged_blocks"}) {
      CHECK(row[figure]["counted"] == row[figure]["corrected"]);
      CHECK(row[figure].contains("printed"));
    }
  }
  std::set<std::string> names;
  for (const auto& erratum : result["errata"]) names.insert(erratum["name"].get<std::string>());
  CHECK(names.size() == errata);
}

TEST_CASE("reproduce prints tables for people") {
  const auto output = run_wormcube("reproduce kim --sizes 16");
  CHECK(output.exit == 0);
  CHECK_THAT(output.out, Catch::Matchers::Contains("1664         2176       2176"));
  CHECK_THAT(output.out, Catch::Matchers::Contains("erratum kim-1:"));
  CHECK_THAT(output.out, Catch::Matchers::Contains("[10] Tseng: reconstruction"));
}

TEST_CASE("reproduce refuses an unknown paper and an unknown network") {
  const auto [arguments, text] = GENERATE(std::pair("reproduce knuth", "known are kim, suh and wang-tseng"),
                                          std::pair("reproduce kim --on torus:0x8", "torus:0x8"),
                                          std::pair("reproduce kim --sizes 0", "--sizes"));
  const auto output = run_wormcube(arguments);
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK_THAT(output.err, Catch::Matchers::Contains(text));
}
