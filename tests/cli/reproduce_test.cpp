// The output of wormcube reproduce.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <regex>
#include <set>

#include <catch2/catch.hpp>

using wormcube::test::run_wormcube;

TEST_CASE("reproduce prints three figures for each entry of a paper's table, and every erratum") {
  const auto [paper, networks, rows, errata] =
      GENERATE(std::tuple("kim", "--sizes 8,16", 13U, 15U),
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
    for (const char* figure :
         {"startups", "transmission_blocks", "rearranged_blocks", "working_blocks"}) {
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

TEST_CASE("reproduce kim gives formulas alone where networks are too large to record") {
  const auto output = run_wormcube("reproduce kim --on torus:16x16,torus:512x512 --json -");
  INFO(output.err);
  CHECK(output.exit == 0);
  const auto result = output.json();
  CHECK(result["passed"] == true);
  int large = 0;
  for (const auto& row : result["rows"]) {
    if (row["topology"] == "torus:16x16") {
      CHECK(row["passed"] == true);
      continue;
    }
    ++large;
    INFO(row.dump());
    CHECK(row["passed"].is_null());
    CHECK(row["startups"]["counted"].is_null());
    CHECK_THAT(row["startups"]["counted_reason"].get<std::string>(),
               Catch::Matchers::Contains("--count-up-to"));
    if (row["row"] == "A1") {
      CHECK(row["startups"]["printed"] == 133);
      CHECK(row["startups"]["corrected"] == 133);
      CHECK(row["transmission_blocks"]["corrected"] == 34734080);
    }
  }
  CHECK(large == 7);
  const auto none = run_wormcube("reproduce kim --sizes 8 --count-up-to 63 --quiet --json -");
  CHECK(none.json()["rows"][0]["startups"]["counted"].is_null());
  const auto refused = run_wormcube("reproduce grama --count-up-to 5");
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Catch::Matchers::Contains("has no effect on reproduce grama"));
}

TEST_CASE("reproduce kim counts the working space against sec. 2.2") {
  const auto result = run_wormcube("reproduce kim --sizes 16 --json -").json();
  int found = 0;
  for (const auto& row : result["rows"]) {
    const auto& space = row["working_blocks"];
    if (row["row"] == "A_{n-1}") {
      CHECK(space["printed"] == 2048);
      CHECK(space["counted"] == 2048);
      ++found;
    } else if (row["row"] == "A1 by [10]") {
      CHECK(space["counted"] == 512);
      CHECK(row["rearranged_blocks"]["counted"] == 14 * 256);
      ++found;
    }
  }
  CHECK(found == 2);
}

TEST_CASE("reproduce wang-tseng checks Lemma 1 and Theorem 2 on tori of any dimensions") {
  const auto output = run_wormcube(
      "reproduce wang-tseng --on "
      "torus:25x25,torus:2x2,torus:3x3,torus:7x7x7,torus:5x10,torus:3x3x3x3 "
      "--json -");
  INFO(output.err);
  CHECK(output.exit == 0);
  const auto result = output.json();
  CHECK(result["passed"] == true);
  CHECK(result["errata"].size() == 9);
  CHECK_FALSE(result.contains("series"));
  CHECK(result["refused"].size() == 1);
  const auto of = [&](const char* network, const char* figure, const char* algorithm) {
    for (const auto& row : result["rows"]) {
      const std::string by = row["algorithm"].is_null() ? "" : row["algorithm"];
      if (row["topology"] == network && row["figure"] == figure && by == algorithm) return row;
    }
    return nlohmann::json();
  };
  CHECK(of("torus:25x25", "steps", "wang-tseng")["printed"] == 5);
  CHECK(of("torus:25x25", "steps", "wang-tseng")["counted"] == 5);
  CHECK(of("torus:25x25", "lower bound", "")["printed"] == 4);
  CHECK(of("torus:25x25", "steps above the bound", "wang-tseng")["counted"] == 1);
  CHECK(of("torus:7x7x7", "steps", "wang-tseng")["place"] == "Theorems 1 and 2");
  CHECK(of("torus:7x7x7", "steps", "wang-tseng")["counted"] == 5);
  const auto small = of("torus:3x3", "steps", "wang-tseng");
  CHECK(small["printed"] == 3);
  CHECK(small["counted"] == 2);
  CHECK(small["as_printed"] == false);
  CHECK(small["errata"] == nlohmann::json({"wang-tseng-3"}));
  CHECK(of("torus:2x2", "lower bound", "")["errata"] == nlohmann::json({"wang-tseng-6"}));
  CHECK(of("torus:5x10", "steps", "plan")["passed"] == true);
}

TEST_CASE("reproduce wang-tseng refuses other networks and mixed requests") {
  const auto [arguments, text] = GENERATE(std::pair("--on mesh:5x5", "mesh:5x5 is not a torus"),
                                          std::pair("--on torus:5x5 --sizes 8", "use one of them"),
                                          std::pair("--on torus:5x5 --svg a.svg", "omit --on"));
  const auto output = run_wormcube(std::string("reproduce wang-tseng ") + arguments);
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Catch::Matchers::Contains(text));
}
