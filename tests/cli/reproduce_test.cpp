// The output of wormcube reproduce.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <regex>
#include <set>

#include <catch2/catch.hpp>

using wormcube::test::run_wormcube;

TEST_CASE("reproduce prints three figures for each entry of a paper's table, and every erratum") {
  const auto [paper, networks, rows, errata] =
      GENERATE(std::tuple("kim", "--sizes 8,16", 11U, 15U),
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
  CHECK(std::regex_search(output.out, std::regex("1664 +2176 +2176 +no +yes\n")));
  CHECK_THAT(output.out, Catch::Matchers::Contains("erratum kim-1:"));
  CHECK_THAT(output.out, Catch::Matchers::Contains("[10] Tseng: reconstruction"));
}

TEST_CASE("reproduce refuses an unknown paper and an unknown network") {
  const auto [arguments, text] =
      GENERATE(std::pair("reproduce knuth", "available: kim suh dimakopoulos wang-tseng"),
               std::pair("reproduce kim --on torus:0x8", "torus:0x8"),
               std::pair("reproduce kim --sizes 0", "--sizes"));
  const auto output = run_wormcube(arguments);
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK_THAT(output.err, Catch::Matchers::Contains(text));
}

TEST_CASE(
    "reproduce says for each product what the theory's exchanges take and whether it is optimal") {
  const auto output = run_wormcube(
      "reproduce dimakopoulos --on torus:6x6,mesh:3x3,hypercube:3,ring:5*line:3 --json -");
  INFO(output.err);
  CHECK(output.exit == 0);
  const auto result = output.json();
  CHECK(result["passed"] == true);
  CHECK(result["errata"].size() == 7);
  REQUIRE(result["rows"].size() == 4);
  const auto& torus = result["rows"][0];
  CHECK(torus["average_status"] == "108");
  CHECK(torus["average_distance"] == "108/35");
  CHECK(torus["cut_bound"] == "27");
  const auto of = [](const auto& row, const char* name) {
    for (const auto& exchange : row["exchanges"]) {
      if (exchange["algorithm"] == name) return exchange;
    }
    return nlohmann::json();
  };
  CHECK(of(torus, "product")["steps"] == 108);
  CHECK(of(torus, "product")["met"] == true);
  CHECK(of(torus, "product-multiport")["steps"] == 30);
  CHECK(of(torus, "product-multiport")["optimal"] == false);
  CHECK(of(torus, "product-multiport-general")["steps"] == 27);
  CHECK(of(torus, "product-multiport-general")["met"] == true);
  CHECK(of(result["rows"][1], "product")["optimal"] == false);
  CHECK(of(result["rows"][3], "product-multiport").is_null());
  CHECK(result["refused"].size() == 2);  // A3 on three dimensions, and on unequal ones
  for (const auto& row : result["rows"]) {
    for (const auto& exchange : row["exchanges"]) CHECK(exchange["delivered"] == true);
  }
}

TEST_CASE("reproduce prints the products' table for people") {
  const auto output = run_wormcube("reproduce dimakopoulos --on torus:6x6");
  CHECK(output.exit == 0);
  CHECK_THAT(output.out, Catch::Matchers::Contains("torus:6x6"));
  CHECK_THAT(output.out, Catch::Matchers::Contains("erratum dimakopoulos-2:"));
}
