// wormcube matvec, sort, prefix and lookup: files in and out, figures, verdicts, mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/array.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <span>

#include <catch2/catch.hpp>

using namespace wormcube::apps;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using wormcube::test::Output;
using wormcube::test::read_text;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

namespace {

struct ApplicationMistake {
  std::string arguments, expected;  // what standard error must contain
};

}  // namespace

TEST_CASE("matvec reads CSV, multiplies and writes", "[cli][matvec]") {
  const TemporaryFile matrix(".csv", "1,2,3\n4,5,6\n"),
      vector(".csv", "name,x\n1,1\n2,0.5\n3,-2\n");
  const TemporaryFile csv(".csv"), npy(".npy");
  const std::string command = "matvec --on mesh:2x2 --matrix " + matrix.path() + " --vector " +
                              vector.path() + " --column x";
  const auto json = run_wormcube(command + " --json - --output " + csv.path()).json();
  CHECK(read_text(csv.path()) == "y\n-4\n-5.5\n");
  CHECK(json["passed"] == true);
  CHECK(json["grid"] == nlohmann::json({2, 2}));
  CHECK(json["shape"] == nlohmann::json({2, 3}));
  CHECK(json["collectives"].size() == 2);
  CHECK(json["schedule"]["startups"] == 2);
  CHECK(json["bytes_moved"] == 2 * 16 + 2 * 8);  // two columns, blocks of 2; two rows, blocks of 1
  CHECK(json["check"]["wrong"] == 0);
  CHECK(run_wormcube(command + " --vectors-on diagonal --output " + npy.path()).exit == 0);
  const Array y = read_npy(npy.path());
  CHECK(std::ranges::equal(elements<double>(y), std::vector<double>{-4, -5.5}));
}

TEST_CASE("sort reads CSV and .npy, and writes what is sorted", "[cli][sort]") {
  const TemporaryFile csv(".csv", "year,value\n1,5\n2,-3\n3,9007199254740993\n4,5\n");
  const TemporaryFile sorted(".csv"), npy(".npy"), again(".npy");
  const std::string on = "sort --on ring:3 ";
  const auto json = run_wormcube(on + "--input " + csv.path() +
                                 " --column value --json - --output " + sorted.path())
                        .json();
  CHECK(read_text(sorted.path()) == "sorted\n-3\n5\n5\n9007199254740993\n");
  CHECK(json["passed"] == true);
  CHECK(json["type"] == "int64");
  CHECK(json["keys"] == 4);
  CHECK(json["missing"] == 0);
  CHECK(json["descents"] == 0);
  CHECK(json["largest_share"] <= 4);
  CHECK(json["collectives"].size() == 4);
  CHECK(run_wormcube(on + "--count 1000 --type float --rebalance --output " + npy.path()).exit ==
        0);
  CHECK(run_wormcube(on + "--input " + npy.path() + " --output " + again.path()).exit == 0);
  CHECK(read_npy(npy.path()).data == read_npy(again.path()).data);
  CHECK(read_npy(npy.path()).elements() == 1000);
  CHECK(run_wormcube(on + "--count 0").exit == 0);
}

TEST_CASE("prefix prints a few sums, and reads and writes files", "[cli][prefix]") {
  const Output few = run_wormcube("prefix --numbers 3,1,4,0,2 --on line:2");
  CHECK(few.exit == 0);
  CHECK_THAT(few.out, Contains("prefix sums: 3 4 8 8 10\n"));
  const auto json = run_wormcube("prefix --numbers 3,1,4,0,2 --on hypercube:2 --json -").json();
  CHECK(json["sums"] == nlohmann::json({3, 4, 8, 8, 10}));
  CHECK(json["wrong"] == 0);
  CHECK(json["passed"] == true);
  CHECK(json["collectives"].size() == 1);
  CHECK(json["schedule"]["startups"] == 2);
  const TemporaryFile csv(".csv", "day,rain\n1,0.5\n2,0\n3,-2\n4,1\n"), sums(".csv"), npy(".npy");
  CHECK(run_wormcube("prefix --on ring:3 --input " + csv.path() + " --column rain --output " +
                     sums.path())
            .exit == 0);
  CHECK(read_text(sums.path()) == "sum\n0.5\n0.5\n-1.5\n-0.5\n");
  const auto many =
      run_wormcube("prefix --on mesh:2x3 --count 1000 --json - --output " + npy.path()).json();
  CHECK(many["sums"].is_null());
  CHECK(many["numbers"] == 1000);
  CHECK(many["type"] == "int64");
  CHECK(read_npy(npy.path()).elements() == 1000);
  CHECK(run_wormcube("prefix --on ring:3 --count 0").exit == 0);
}

TEST_CASE("lookup reads a table and keys, and writes values and what is absent", "[cli][lookup]") {
  const TemporaryFile table(".csv", "id,price\n7,1.5\n-3,20\n12,0.25\n"),
      keys(".csv", "12\n7\n8\n12\n");
  const TemporaryFile prices(".csv"), rows(".npy");
  const std::string command =
      "lookup --on line:3 --table " + table.path() + " --table-column id --keys " + keys.path();
  const auto json = run_wormcube(command + " --values " + table.path() +
                                 " --values-column price --json - --output " + prices.path())
                        .json();
  CHECK(read_text(prices.path()) == "value\n0.25\n1.5\nnan\n0.25\n");
  CHECK(json["passed"] == true);
  CHECK(json["absent"] == 1);
  CHECK(json["wrong"] == 0);
  CHECK(json["values"] == "float64");
  CHECK(run_wormcube(command + " --distribution block --output " + rows.path()).exit == 0);
  const Array found = read_npy(rows.path());
  CHECK(std::ranges::equal(
      elements<std::int64_t>(found),
      std::vector<std::int64_t>{2, 0, std::numeric_limits<std::int64_t>::min(), 2}));
}

TEST_CASE(
    "the applications run on any nodes, threads and fibers, and repeat their data by the seed",
    "[cli]") {
  const std::string command = GENERATE("matvec --shape 20x31", "sort --count 500",
                                       "prefix --count 500", "lookup --entries 50 --lookups 300");
  const std::string on = GENERATE("complete:1", "ring:7", "torus:4x4", "hypercube:3");
  for (const std::string executor : {"threads", "fibers --lockstep"}) {
    const TemporaryFile first(".npy"), second(".npy");
    const std::string same = command + " --seed 7 --on " + on + " --executor " + executor;
    const Output output = run_wormcube(same + " --quiet --iterations 2 --output " + first.path());
    INFO(output.out << output.err);
    CHECK(output.exit == 0);
    CHECK_THAT(output.out, StartsWith("# quantity") && !Contains("# machine"));
    CHECK(run_wormcube(command + " --seed 7 --on mesh:3x2 --output " + second.path()).exit == 0);
    if (command.starts_with("matvec")) continue;  // sums are rounded in another order
    CHECK(read_text(first.path()) == read_text(second.path()));
  }
}

TEST_CASE("mistakes with the applications end with exit code 2 and one line", "[cli]") {
  const TemporaryFile numbers(".csv", "1\n2\n3\n"), fractions(".csv", "1.5\n2\n3\n"),
      holes(".csv", "1\nNaN\n3\n"), repeated(".csv", "1\n2\n1\n"), matrix(".csv", "1,2\n3,4\n");
  const std::string n = numbers.path();
  for (const auto& [arguments, expected] : std::vector<ApplicationMistake>{
           {"matvec --shape 10", "--shape"},
           {"matvec --matrix " + matrix.path() + " --shape 2x2", "already defines the shape"},
           {"matvec --matrix " + matrix.path() + " --vector " + n,
            "a vector of 3; need a vector of 2"},
           {"matvec --column x", "name the file with --vector"},
           {"matvec --algorithm magic", "unknown algorithm 'magic'"},
           {"matvec --algorithm alltoall=shift",
            "this command does not call 'alltoall'; available: broadcast"},
           {"matvec --algorithm hypercube-all-port --on hypercube:4 --ports one", "--ports"},
           {"matvec --vectors-on corner", "corner"},
           {"matvec --shape 1000000x1000000", "needs"},
           {"sort --input " + n + " --count 5", "already defines the keys"},
           {"sort --input " + holes.path(), "line 2: 'NaN' in column 1 is not finite"},
           {"sort --input /nonexistent.csv", "/nonexistent.csv"},
           {"sort --type complex", "complex"},
           {"sort --generate noise", "uniform, equal, few"},
           {"sort --column x", "name the file with --input"},
           {"sort --on ring:6 --algorithm alltoallv=hypercube-pairwise", "hypercube-pairwise"},
           {"sort --count 100000000000000", "needs"},
           {"sort --count -1", "-1"},
           {"sort --count 5 --output /nonexistent/x.npy", "/nonexistent/x.npy"},
           {"prefix --numbers 1,x", "x"},
           {"prefix --numbers 1,2 --count 3", "--numbers already gives the numbers"},
           {"prefix --input " + n + " --count 3", "--input already defines the numbers"},
           {"prefix --type float", "prefix adds int64 or double numbers"},
           {"prefix --column x", "name the file with --input"},
           {"prefix --algorithm scan=hypercube", "this command does not call 'scan'"},
           {"lookup --table " + n, "--table needs --keys"},
           {"lookup --keys " + n, "--keys needs --table"},
           {"lookup --table " + repeated.path() + " --keys " + n, "key 1 occurs in rows 0 and 2"},
           {"lookup --table " + fractions.path() + " --keys " + n, "keys must be whole numbers"},
           {"lookup --table " + n + " --keys " + n + " --lookups 3", "already defines the data"},
           {"lookup --table " + n + " --keys " + n + " --values " + matrix.path() +
                " --values-column 1",
            "3 keys in"},
           {"lookup --absent 2", "--absent"},
           {"lookup --distribution random", "random"}}) {
    const Output output = run_wormcube(arguments);
    INFO("wormcube " << arguments << "\n" << output.out << output.err);
    CHECK(output.exit == 2);
    CHECK(output.out.empty());
    CHECK(output.err.starts_with("wormcube: "));
    CHECK_THAT(output.err, Contains(expected));
  }
}

TEST_CASE("help shows the values of --algorithm, options included", "[cli]") {
  CHECK_THAT(run_wormcube("sort --help").out,
             Contains("--algorithm [OPERATION=]NAME[:OPTION=VALUE..],..|auto"));
  CHECK_THAT(run_wormcube("run --help").out,
             Contains("--ports auto|one|all\n") || Contains("--ports auto|one|all "));
}

TEST_CASE("the applications end at the time limit", "[cli]") {
  for (const char* const command : {"sort --count 200000", "lookup --entries 20000 --lookups 50000",
                                    "matvec", "fft --shape 65536", "transpose"}) {
    const TemporaryFile json(".json");
    const Output output = run_wormcube(
        std::string(command) + " --on torus:8x8 --iterations 1000000 --time-limit 0.001 --json " +
        json.path());
    INFO(command << output.err);
    CHECK(output.exit == 4);
    const auto result = nlohmann::json::parse(read_text(json.path()));
    CHECK(result["status"] == "time limit");
    CHECK(result["passed"].is_null());
    CHECK_THAT(result["passed_reason"].get<std::string>(),
               StartsWith("not finished after 1 ms, the time limit"));
    CHECK(result["topology"] == "torus:8x8");
  }
}
