// Every row of the textbook's ledger is found in `wormcube list`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// The rows of sections 1 to 7 that are formulas or were simulated, in the ledger's order: the basic
/// communication operations of Grama, Gupta, Karypis, Kumar, chapter 4.
const std::vector<std::string> ledger{
    "1.1",  "1.2",  "1.3",  "1.4",  "1.5",  "1.6",  "1.7",  "1.8",  "1.9",  "1.10", "1.11",
    "1.12", "1.13", "1.14", "1.15", "1.16", "1.17", "1.18", "1.20", "1.21",                  //
    "2.1",  "2.2",  "2.3",  "2.4",  "2.5",  "2.6",  "2.7",  "2.8",  "2.9",  "2.10", "2.12",  //
    "2.20", "2.21", "2.22",                                                                  //
    "3.1",  "3.2",  "3.3",  "3.4",  "3.5",  "3.6",  "3.7",  "3.8",  "3.9",                   //
    "4.1",  "4.2",  "4.3",  "4.4",  "4.5",  "4.6",                                           //
    "5.1",  "5.2",  "5.3",  "5.4",  "5.5",  "5.6",  "5.7",  "5.8",  "5.9",  "5.10", "5.11",  //
    "5.12", "5.13", "5.14", "5.15",                                                          //
    "6.1",  "6.2",  "6.3",  "6.4",  "6.5",                                                   //
    "7.1",  "7.2",  "7.3",  "7.4",  "7.5",  "7.6",  "7.7",  "7.8",  "7.9"};
/// Lower bounds, which are not asked for.
const std::vector<std::string> others{"2.11", "4.7"};

bool holds(const std::vector<std::string>& rows, const std::string& row) {
  return std::ranges::find(rows, row) != rows.end();
}

}  // namespace

TEST_CASE("list names an algorithm for every row of the ledger, with its options") {
  const auto listed = test::run_wormcube("list --json -").json();
  REQUIRE(listed.is_array());
  std::map<std::string, int> found;
  for (const auto& algorithm : listed) {
    const std::string operation = algorithm["operation"], name = algorithm["algorithm"];
    INFO(operation << " " << name);
    CHECK((algorithm["ports"] == "one" || algorithm["ports"] == "all"));
    CHECK_FALSE(algorithm["source"].get<std::string>().empty());
    for (const auto& row : algorithm["rows"]) {
      const std::string number = row["row"];
      INFO("row " << number << ": " << row.dump());
      ++found[number];
      CHECK((holds(ledger, number) || holds(others, number)));
      // The entry runs with these options on the network that it names.
      std::string text = name;
      for (const auto& [option, value] : row["options"].items()) {
        text += ":" + option + "=" + value.get<std::string>();
      }
      CHECK(row["algorithm"] == (row["options"].empty() ? name : text));
      Arguments arguments;
      arguments.reduction = find_reduction("sum", "int32");
      const Collective collective = parse_collective(parse_operation(operation), text, arguments);
      CHECK_FALSE(refusal(collective, Topology::parse(row["on"].get<std::string>())));
    }
  }
  for (const std::string& row : ledger) {
    INFO("row " << row);
    CHECK(found[row] > 0);
  }
}
