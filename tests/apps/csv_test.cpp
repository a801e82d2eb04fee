// A column of a CSV file, found by name or number; anything else is refused with its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/csv.hpp"

#include "wormcube/apps/io/array.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<double> column(const std::string& text, const std::string& name = {}) {
  const test::TemporaryFile file(".csv", text);
  const Array values = read_all(open_csv_column(file.path(), name).values);
  return {elements<double>(values).begin(), elements<double>(values).end()};
}

std::string refusal_of(const std::string& text, const std::string& name = {}) {
  const test::TemporaryFile file(".csv", text);
  try {
    open_csv_column(file.path(), name);
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains(file.path()));
    return error.what();
  }
  return "accepted";
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a CSV column is found by name and by number from 1", "[apps][csv]") {
  const std::string text =
      "# a comment\n\nyear,month, value\n1749,1,58\n# another\n1749,2,-6.25e1\n";
  CHECK(column(text, "value") == Values{58, -62.5});
  CHECK(column(text, "3") == Values{58, -62.5});
  CHECK(column(text, "year") == Values{1749, 1749});
  CHECK(column("1,10\n2,20\n", "2") == Values{10, 20});
  const test::TemporaryFile file(".csv", text);
  CHECK(open_csv_column(file.path(), "3").name == "value");
}

TEST_CASE("the only CSV column needs no name", "[apps][csv]") {
  CHECK(column("1\n2.5\n+3\n") == Values{1, 2.5, 3});
  CHECK(column("height\n1\n2\n") == Values{1, 2});
  CHECK(column("\xef\xbb\xbfheight\r\n1\r\n2\r\n") == Values{1, 2});
}

TEST_CASE("CSV fields may be quoted, and separated by semicolons or tabs", "[apps][csv]") {
  CHECK(column("\"a, b\",\"say \"\"c\"\"\"\n1,\"2\"\n", "say \"c\"") == Values{2});
  CHECK(column("a;b\n1;2\n", "b") == Values{2});
  CHECK(column("a\tb\n1\t2\n", "b") == Values{2});
}

TEST_CASE("a name goes before a number", "[apps][csv]") {
  CHECK(column("x,1\n10,20\n", "1") == Values{20});
}

TEST_CASE("what is wrong in a CSV file is refused with its line", "[apps][csv]") {
  CHECK_THAT(refusal_of("# c\na,b\n1,2\n1,x\n", "b"), Contains("line 4") && Contains("'x'"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,\n", "b"), Contains("line 3") && Contains("no value"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,NA\n", "b"), Contains("line 3") && Contains("no value"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,nan\n", "b"), Contains("line 3") && Contains("not finite"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,1e999\n", "b"),
             Contains("line 3") && Contains("'1e999' in b is too large or too small for a double"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,inf\n", "b"), Contains("line 3") && Contains("not finite"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1,2,3\n", "b"), Contains("line 3") && Contains("3 fields"));
  CHECK_THAT(refusal_of("a,b\n1,2\n1\n", "b"), Contains("line 3") && Contains("1 fields"));
  CHECK_THAT(refusal_of("1,\n2,3\n", "2"), Contains("line 1") && Contains("no value"));
  CHECK_THAT(refusal_of("a\n\"1\n"), Contains("line 2") && Contains("quote"));
  CHECK_THAT(refusal_of("a,b\n1,2 3\n", "b"), Contains("line 2") && Contains("'2 3'"));
}

TEST_CASE("a CSV column that is not there is refused with those that are", "[apps][csv]") {
  CHECK_THAT(refusal_of("a,b\n1,2\n", "c"), Contains("'c'") && Contains("a, b"));
  CHECK_THAT(refusal_of("a,b\n1,2\n", "3"), Contains("'3'") && Contains("2 columns"));
  CHECK_THAT(refusal_of("a,b\n1,2\n", "0"), Contains("'0'"));
  CHECK_THAT(refusal_of("a,b\n1,2\n"), Contains("no column chosen") && Contains("a, b"));
  CHECK_THAT(refusal_of(""), Contains("no data"));
  CHECK_THAT(refusal_of("# nothing\n"), Contains("no data"));
  CHECK_THAT(refusal_of("a,b\n", "b"), Contains("no values"));
  CHECK_THROWS_WITH(open_csv_column("/nonexistent.csv", ""),
                    Contains("cannot be opened: No such file or directory"));
  CHECK_THROWS_WITH(open_csv_column("/tmp", ""), Contains("cannot be opened: Is a directory"));
}

TEST_CASE("files that are not text are refused by name, with advice", "[apps][csv]") {
  CHECK_THAT(refusal_of(std::string("PK\x03\x04\x00\x01", 6)),
             Contains(".npz") && Contains("unpack"));
  CHECK_THAT(refusal_of("\xff\xfe\n"), Contains("UTF-16") && Contains("UTF-8"));
  CHECK_THAT(refusal_of("\xfe\xff\n"), Contains("UTF-16"));
  CHECK_THAT(refusal_of("\x1f\x8b\x08"), Contains("gzip"));
  CHECK_THAT(refusal_of(std::string("1\n2\n\0", 5)), Contains("byte 5 is 0x00"));
  CHECK_THAT(refusal_of("\x93NUMPY\x01"), Contains(".npy"));
  CHECK_THAT(refusal_of("1\r2\r3\r"), Contains("carriage returns"));
  CHECK_THROWS_WITH(open_csv_column("/dev/zero", ""), Contains("byte 1 is 0x00"));
}

TEST_CASE("messages about CSV files name the detected separator", "[apps][csv]") {
  CHECK_THAT(refusal_of("t v\n0 0.3455\n"),
             Contains("'0 0.3455'") && Contains("no comma") && Contains("one column"));
  CHECK_THAT(refusal_of("a;b\n1;2,5\n", "b"), Contains("semicolons"));
  CHECK_THAT(refusal_of("a\tb\n1\tx\n", "b"), Contains("tabs"));
  CHECK_THAT(refusal_of("a,b\n1,2,3\n", "b"), Contains("commas"));
}

TEST_CASE("messages about CSV files are short and cannot command a terminal", "[apps][csv]") {
  const std::string red = "\x1b[31m" + std::string(1'000'000, 'x');
  std::string padded = "v\n";  // so much that the escape is not among the first bytes
  while (padded.size() < 5000) padded += "1\n";
  for (const std::string& text :
       {refusal_of(padded + red + "\n"), refusal_of(std::string(1'000'000, 'x') + ",b\n1,2\n")}) {
    CHECK(text.size() < 400);
    CHECK_THAT(text, !Contains("\x1b"));
  }
  std::string wide = "c0";
  for (int i = 1; i < 100'000; ++i) wide += ",c" + std::to_string(i);
  CHECK_THAT(refusal_of(wide + "\n1\n"), Contains("100000 columns") && Contains("and 99980 more"));
  CHECK(refusal_of(wide + "\n1\n").size() < 500);
  CHECK_THAT(refusal_of(std::string((std::size_t{1} << 24) + 1, '1')), Contains("16 MiB"));
}

TEST_CASE("the sunspot record has 2820 months", "[apps][csv]") {
  const CsvColumn record = open_csv_column(sunspots, "sunspots");
  CHECK(record.name == "sunspots");
  const Array values = read_all(record.values);
  REQUIRE(values.elements() == 2820);
  CHECK(elements<double>(values).front() == 58);
  CHECK(elements<double>(values).back() == 33.4);
}

TEST_CASE("a CSV file is read by parts, from any row to any row", "[apps][csv]") {
  // More rows than lie between two remembered places; comments and blank lines where they may be.
  constexpr std::size_t rows = 9000;
  const bool header = GENERATE(false, true);
  std::string text = "\xef\xbb\xbf# one\n\n";
  if (header) text += "whole;real;text\r\n";
  for (std::size_t row = 0; row < rows; ++row) {
    text += fmt::format("{};{};0\n", row, static_cast<double>(row) + 0.5);
    if (row % 4096 > 4090) text += "# comment\n";
  }
  const test::TemporaryFile file(".csv", text);
  const Source whole = open_csv_column(file.path(), "1", CsvNumbers::whole_or_real).values;
  const Source real = open_csv_column(file.path(), header ? "real" : "2").values;
  const Source table = open_csv_table(file.path());
  REQUIRE(whole.type() == ElementType::int64);
  REQUIRE(whole.elements() == rows);
  REQUIRE(table.shape() == std::vector<std::size_t>{rows, 3});
  for (const Part part : {Part{0, 1}, Part{0, rows}, Part{4095, 2}, Part{4096, 1}, Part{5000, 4000},
                          Part{8999, 1}, Part{9000, 0}}) {
    std::vector<std::int64_t> integers(part.count);
    std::vector<double> reals(part.count);
    whole.reader().read(part.first, std::as_writable_bytes(std::span(integers)));
    real.reader().read(part.first, std::as_writable_bytes(std::span(reals)));
    for (std::size_t k = 0; k < part.count; ++k) {
      REQUIRE(integers[k] == static_cast<std::int64_t>(part.first + k));
      REQUIRE(reals[k] == static_cast<double>(part.first + k) + 0.5);
    }
  }
  // Elements of the table that begin and end within rows, and a block of it.
  std::vector<double> some(6), block(4);
  table.reader().read(4096 * 3 + 2, std::as_writable_bytes(std::span(some)));
  CHECK(some == Values{0, 4097, 4097.5, 0, 4098, 4098.5});
  table.reader().read_block(8192 * 3 + 1, 3, 2, std::as_writable_bytes(std::span(block)));
  CHECK(block == Values{8192.5, 0, 8193.5, 0});
}

TEST_CASE("a CSV file that became shorter while it was read is reported", "[apps][csv]") {
  const test::TemporaryFile file(".csv", "1\n2\n3\n");
  const Source source = open_csv_column(file.path(), "").values;
  std::filesystem::resize_file(file.path(), 4);
  CHECK_THROWS_WITH(read_all(source), Contains("became shorter while it was read"));
}
