// Tables and lines for people, and figures as texts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/table.hpp"

#include "wormcube/apps/cli/core/json.hpp"

#include <catch2/catch.hpp>

using namespace wormcube::cli;

TEST_CASE("figures have four significant digits, whole numbers all of theirs", "[cli][table]") {
  CHECK(cell_rate(105657.3) == "105700");
  CHECK(cell_rate(9999.6) == "10000");
  CHECK(cell_rate(1234.5678) == "1235");
  CHECK(cell_rate(12.345678) == "12.35");
  CHECK(cell_rate(0.00123456) == "0.001235");
  CHECK(cell_rate(1.23456e-5) == "1.235e-05");
  CHECK(cell_rate(-4.5) == "-4.500");
  CHECK(cell_rate(0.0) == "0");
  CHECK(cell_rate(std::nullopt) == "-");
  CHECK(cell(589824.0) == "589824");
  CHECK(cell(36.25) == "36.25");
  CHECK(cell(1234567.5) == "1235000");
}

TEST_CASE("a line that is too long is broken at a blank", "[cli][table]") {
  const std::string text = filled(
      std::string(40, 'a') + " " + std::string(40, 'b') + " c " + std::string(30, 'd') + "  e",
      "# ", "#   ");
  CHECK(text == "# " + std::string(40, 'a') + " " + std::string(40, 'b') + " c\n#   " +
                    std::string(30, 'd') + "  e\n");
  CHECK(filled("", "# ", "#   ") == "# \n");
  const std::string exact(100 - 2, 'x');
  CHECK(filled(exact, "# ", "#   ") == "# " + exact + "\n");
  CHECK(filled("a " + exact, "# ", "#   ") == "# a\n#   " + exact + "\n");
}

TEST_CASE("columns that may be cut are cut until the line fits", "[cli][table]") {
  Table table({{.head = "network", .text = true, .cut = 10},
               {.head = "what", .text = true},
               {.head = "note", .text = true, .wide = true}});
  table.add({std::string(30, 'n'), std::string(80, 'w'), "more"});
  CHECK(table.text({}) ==
        table.heads_text({}) + "  " + std::string(14, 'n') + "..  " + std::string(80, 'w') + "\n");
  CHECK(table.text({.wide = true}) == table.heads_text({.wide = true}) + "  " +
                                          std::string(30, 'n') + "  " + std::string(80, 'w') +
                                          "  more\n");
  Table longer({{.head = "network", .text = true, .cut = 10}, {.head = "what", .text = true}});
  longer.add({std::string(30, 'n'), std::string(120, 'w')});
  CHECK(longer.text({}) ==
        longer.heads_text({}) + "  " + std::string(8, 'n') + "..  " + std::string(120, 'w') + "\n");
}

TEST_CASE("names are cut in the middle, and no further than they stay different", "[cli][table]") {
  Table table({{.head = "algorithm", .text = true, .cut = 12, .is_name = true},
               {.head = "time", .width = 20}});
  const std::string parity = "suh-mesh:order=parity:ring=folded",
                    overlap = "suh-mesh:order=overlap:ring=folded";
  table.add({parity, "1"});
  table.add({overlap, "2"});
  const std::string text = table.text({.most = 40});
  CHECK(text.find(parity) == text.npos);
  CHECK(text.find("suh-mesh:orde..y:ring=folded") != text.npos);
  CHECK(text.find("suh-mesh:orde..p:ring=folded") != text.npos);
  // Of rows that come one by one the names are known before.
  const Table rows({{.head = "algorithm",
                     .text = true,
                     .cut = 8,
                     .is_name = true,
                     .names = {"kim-recursive:divisions=1", "kim-recursive:divisions=2"}},
                    {.head = "time", .width = 30}});
  CHECK(rows.row_text({"kim-recursive:divisions=1", "1"}, {.most = 50}) ==
        "  kim-rec..sions=1  " + std::string(29, ' ') + "1\n");
}

TEST_CASE("columns that may be left out go, the largest first, before any is cut", "[cli][table]") {
  Table table({{.head = "algorithm", .text = true, .cut = 5, .is_name = true},
               {.head = "median"},
               {.head = "min", .drop = 2},
               {.head = "max", .drop = 3},
               {.head = "busbw", .drop = 1}});
  table.add({"kim-recursive", "1", "2", "3", "4"});
  CHECK(table.text({.most = 60}) == table.text({.wide = true}));
  CHECK(table.text({.most = 36}).starts_with("# algorithm      median  min  busbw\n"));
  CHECK(table.text({.most = 30}).starts_with("# algorithm      median  busbw\n"));
  CHECK(table.text({.most = 20}) == "# algorithm   median\n  kim-..sive       1\n");
}

TEST_CASE("winners are green and failures red where colour is wanted", "[cli][table]") {
  Table table({{.head = "algorithm", .text = true, .answer = true},
               {.head = "passed", .width = 8, .verdict = true}});
  table.add({"mesh", "yes"}, true);
  table.add({"ring\x1b[2J", "FAILED"});
  const std::string green = "\x1b[1;32m", red = "\x1b[1;31m", plain = "\x1b[0m";
  CHECK(table.text({.color = true}) == table.heads_text({}) + "  " + green + "mesh       " + plain +
                                           "       yes\n" + "  ring\\x1b[2J  " + red + "  FAILED" +
                                           plain + "\n");
  CHECK(table.text({}).find(green) == std::string::npos);
}

TEST_CASE("a figure is never cut, however narrow its column", "[cli][table]") {
  const Table table({{.head = "topology", .text = true, .width = 6, .cut = 6}, {.head = "us"}});
  CHECK(table.row_text({"ring:4", "0.0023165"}, {}) == "  ring:4    0.0023165\n");
}

TEST_CASE("null has a reason, a figure has none", "[cli][table]") {
  Json json;
  put(json, "wrong", nullptr, "--no-verify");
  put(json, "passed", true, "--no-verify");
  CHECK(json == Json{{"wrong", nullptr}, {"wrong_reason", "--no-verify"}, {"passed", true}});
}
