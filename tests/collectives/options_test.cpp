// Options of algorithms: defaults, parsing, errors, and their form on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/options.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

enum class Colour { red, green, blue };

const std::vector<Option> declared{
    {.name = "colour", .choices = {"red", "green", "blue"}, .preset = 1, .help = "of the message"},
    {.name = "parts", .preset = 2, .least = 1, .most = 8, .help = "of a block"}};

}  // namespace

TEST_CASE("options have their defaults until they are set", "[collectives][options]") {
  Options options(declared);
  CHECK(options.choice<Colour>("colour") == Colour::green);
  CHECK(options.is("colour", "green"));
  CHECK(options.number("parts") == 2);
  CHECK(options.text().empty());  // all defaults
  options.set("colour", "blue");
  options.set("parts", "8");
  CHECK(options.choice<Colour>("colour") == Colour::blue);
  CHECK(options.is("colour", "blue"));
  CHECK_FALSE(options.is("colour", "green"));
  CHECK(options.number("parts") == 8);
  CHECK(options.text() == "colour=blue:parts=8");
  CHECK(std::vector(options.values().begin(), options.values().end()) ==
        std::vector<std::int64_t>{2, 8});
  CHECK(Options().text().empty());
  CHECK(declared[0].values() == "red|green|blue");
  CHECK(declared[1].values() == "1..8");
  CHECK(declared[1].text(5) == "5");
  CHECK(declared[0].text(0) == "red");
}

TEST_CASE("values that are not admitted are refused with those that are, and change nothing",
          "[collectives][options]") {
  Options options(declared);
  CHECK_THROWS_WITH(options.set("colour", "pink"), "option colour is 'pink'; need red|green|blue");
  for (const char* const wrong : {"0", "9", "-1", "", "2x", "x", "1.5", "99999999999999999999"}) {
    CHECK_THROWS_WITH(options.set("parts", wrong),
                      "option parts is '" + std::string(wrong) + "'; need 1..8");
  }
  CHECK(options.text().empty());  // all defaults
  CHECK_NOTHROW(options.set("parts", "1"));
}

TEST_CASE("unknown options are refused with the known ones and the one that was meant",
          "[collectives][options]") {
  Options options(declared);
  CHECK_THROWS_WITH(options.set("color", "red"),
                    "unknown option 'color' (did you mean 'colour'?); available: colour parts");
  CHECK_THROWS_WITH(options.number("xyz"), "unknown option 'xyz'; available: colour parts");
  CHECK_THROWS_WITH(Options().set("x", "1"), "unknown option 'x'; the algorithm has no options");
}

TEST_CASE("an algorithm's name carries its options", "[collectives][options]") {
  const auto parsed = [](std::string_view text) {
    return parse_collective(operations::alltoall, text).text();
  };
  CHECK(parsed("suh-mesh") == "suh-mesh");
  CHECK(parsed("suh-mesh:order=parity") == "suh-mesh:order=parity");
  CHECK(parsed("suh-mesh:ring=folded:order=overlap") == "suh-mesh:order=overlap:ring=folded");
  CHECK_THROWS_WITH(parsed("suh-mesh:order=parity:order=paper"),
                    "suh-mesh: option 'order' is given twice");
  CHECK(parsed("kim-recursive:divisions=2") == "kim-recursive:divisions=2");
  CHECK(parsed("ring") == "ring");
  for (const Algorithm* algorithm : cases::built_in()) {
    for (const Options& options : cases::every_option(*algorithm)) {
      Collective collective(*algorithm);
      collective.options = options;
      CHECK(parse_collective(algorithm->operation, collective.text()).text() == collective.text());
    }
  }
  CHECK_THROWS_WITH(
      parsed("suh-mesh:ordr=parity"),
      "suh-mesh: unknown option 'ordr' (did you mean 'order'?); available: order ring");
  CHECK_THROWS_WITH(parsed("suh-mesh:order=best"),
                    "suh-mesh: option order is 'best'; need paper|parity|overlap");
  CHECK_THROWS_WITH(parsed("suh-mesh:parity"), "suh-mesh: expected OPTION=VALUE, got 'parity'");
  CHECK_THROWS_WITH(parsed("ring:x=1"), "ring: unknown option 'x'; the algorithm has no options");
  CHECK_THROWS_WITH(parsed("suh-mehs"), Catch::Matchers::Contains("(did you mean 'suh-mesh'?)"));
}

TEST_CASE("the options change what the algorithm does, and what it is predicted to cost",
          "[collectives][options]") {
  const Topology mesh = Topology::parse("mesh:7x5x3");
  std::set<double> startups;
  for (const std::string order : {"paper", "parity", "overlap"}) {
    const Collective collective = cases::alltoall("suh-mesh:order=" + order);
    const cases::Counts counts = cases::count(collective, mesh);
    CHECK(collective.predict(mesh).startups == counts.startups);
    startups.insert(counts.startups);
  }
  CHECK(startups == std::set<double>{12, 14, 15});
  const Topology torus = Topology::parse("torus:16x16");
  CHECK(cases::count(cases::alltoall("kim-recursive:divisions=1"), torus).startups == 9);
  CHECK(cases::count(cases::alltoall("kim-recursive"), torus).startups == 11);
  CHECK(cases::count(cases::alltoall("suh-mesh:ring=folded"), Topology::parse("mesh:16x16"))
            .report.max_hops == 4);
}

TEST_CASE("the walk over options takes every combination of choices once",
          "[collectives][options]") {
  Algorithm algorithm = find_algorithm(operations::alltoall, "suh-mesh");
  std::set<std::string> texts;
  for (const Options& options : cases::every_option(algorithm)) texts.insert(options.text());
  CHECK(texts.size() == 6);
  CHECK(cases::every_option(algorithm).size() == 6);
  CHECK(cases::every_option(algorithm).front().text().empty());
  algorithm.options = declared;
  CHECK(cases::every_option(algorithm).size() == 3 * 4);  // parts: 1, 2, 3, 4, 8
}
