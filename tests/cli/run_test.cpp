// The output of wormcube run, fft, transpose and deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using wormcube::test::read_text;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

TEST_CASE("every admitted alltoall moves its data without a wrong element") {
  const std::string on = GENERATE("hypercube:4", "torus:4x4", "mesh:3x5", "ring:7", "complete:5",
                                  "tree:4", "ring:4*line:3");
  const auto output = run_wormcube("run alltoall --on '" + on +
                                   "' --algorithm all --bytes 4K --iterations 2 --json -");
  INFO(output.out << output.err);
  CHECK(output.exit == 0);
  const auto results = output.json();
  REQUIRE(results.is_array());
  REQUIRE(!results.empty());
  for (const auto& result : results) {
    CHECK(result["topology"] == on);
    CHECK(result["block_bytes"] == 4096);
    CHECK(result["wrong"] == 0);
    CHECK(result["passed"] == true);
    CHECK(result["times_us"].size() == 2);
    CHECK(result["time_min_us"] <= result["time_median_us"]);
    CHECK(result["time_median_us"] <= result["time_max_us"]);
    const double nodes = result["nodes"];
    const double ratio =
        result["busbw_gb_per_s"].get<double>() / result["algbw_gb_per_s"].get<double>();
    CHECK(ratio == Approx((nodes - 1) / nodes));
  }
}

TEST_CASE("every operation runs on threads and on fibers") {
  const std::string operation =
      GENERATE("alltoall", "alltoallv", "allgather", "broadcast", "barrier");
  const std::string as = GENERATE("threads", "fibers");
  const auto output = run_wormcube("run " + operation + " --on " +
                                   (operation == "allgather" ? "ring:6" : "torus:4x3") +
                                   " --algorithm all --iterations 2 --executor " + as +
                                   " --json -" + (operation == "barrier" ? "" : " --bytes 100"));
  INFO(output.out << output.err);
  CHECK(output.exit == 0);
  for (const auto& result : output.json()) {
    CHECK(result["executor"] == as);
    if (operation == "barrier") {
      CHECK(result["algbw_gb_per_s"].is_null());
    } else {
      CHECK(result["wrong"] == 0);
    }
  }
}

TEST_CASE("a sweep over sizes and networks gives a result for each") {
  const auto results = run_wormcube(
                           "run allgather --on ring:4,ring:5 --bytes 0,64,4K --algorithm ring "
                           "--iterations 1 --json -")
                           .json();
  REQUIRE(results.size() == 6);
  CHECK(results[1]["block_bytes"] == 64);
  CHECK(results[5]["topology"] == "ring:5");
}

TEST_CASE("what is not measured is null, with the reason") {
  const auto result =
      run_wormcube("run alltoall --on ring:4 --algorithm ring --no-verify --iterations 1 --json -")
          .json();
  REQUIRE(result.is_object());
  CHECK(result["wrong"].is_null());
  CHECK(result["wrong_reason"].is_string());
}

TEST_CASE("tables echo the settings in '#' lines, and --quiet leaves only data") {
  const auto table = run_wormcube("run alltoall --on ring:4 --algorithm ring --iterations 1");
  CHECK(table.out.starts_with("#"));
  for (const char* word : {"ring:4", "threads", "eager limit", "free running", "(us)", "(MB/s)"}) {
    CHECK_THAT(table.out, Catch::Contains(word));
  }
  const auto quiet =
      run_wormcube("run alltoall --on ring:4 --algorithm ring --iterations 1 --quiet");
  // Two lines of heads, and one of data; no settings.
  CHECK_THAT(quiet.out, Catch::StartsWith("# topology  algorithm"));
  CHECK(quiet.out.find("# run") == std::string::npos);
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '#') == 2);
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '\n') == 3);
  CHECK(quiet.err.empty());
}

TEST_CASE("JSON can go to a file beside the table") {
  const TemporaryFile file(".json");
  const auto output = run_wormcube(
      "run alltoall --on ring:4 --algorithm ring --iterations 1 --json " + file.path());
  CHECK(output.out.starts_with("#"));
  CHECK(nlohmann::json::parse(read_text(file.path()))["wrong"] == 0);
}

TEST_CASE("a run that needs more memory than the computer has is refused with the figure") {
  const auto output = run_wormcube("run alltoall --on torus:8x8 --bytes 64G");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Catch::Contains("memory"));
  CHECK(output.out.empty());
}

TEST_CASE(
    "the sunspot record's spectrum is the same on every network, with its peak near 130 months") {
  std::vector<std::complex<double>> first;
  for (const char* on : {"torus:8x8", "mesh:5x3", "hypercube:4", "ring:1"}) {
    const TemporaryFile file(".npy");
    const auto output =
        run_wormcube(std::string("fft --json - --on ") + on + " --output " + file.path());
    INFO(on << output.out << output.err);
    REQUIRE(output.exit == 0);
    const auto result = output.json();
    CHECK(result["passed"] == true);
    CHECK(result["peak"]["period"].get<double>() == Approx(130).margin(5));
    const auto spectrum = wormcube::apps::to_complex(wormcube::apps::read_npy(file.path()));
    REQUIRE(spectrum.size() == 2820);
    if (first.empty()) first = spectrum;
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      largest = std::max(largest, std::abs(first[i]));
      difference = std::max(difference, std::abs(first[i] - spectrum[i]));
    }
    CHECK(difference <= 1e-12 * largest);
  }
}

TEST_CASE("fft prints the solar cycle") {
  const auto output = run_wormcube("fft --on ring:4");
  CHECK(output.exit == 0);
  CHECK_THAT(output.out,
             Catch::Contains("strongest period: 128 to 141 months, 10.7 to 11.8 years (bin "
                             "21 of 2820)"));
}

TEST_CASE("a two-dimensional transform and its inverse are verified") {
  const TemporaryFile file(".npy");
  const auto forward =
      run_wormcube("fft --shape 60x33 --on torus:3x2 --json - --output " + file.path());
  INFO(forward.out << forward.err);
  CHECK(forward.exit == 0);
  CHECK(forward.json()["passed"] == true);
  CHECK(forward.json()["shape"] == nlohmann::json({60, 33}));
  const auto back = run_wormcube("fft --inverse --on mesh:2x2 --json - --input " + file.path());
  CHECK(back.exit == 0);
  CHECK(back.json()["passed"] == true);
}

TEST_CASE("transpose moves every element of any type, with more nodes than rows too") {
  const auto [shape, type, on] =
      GENERATE(table<std::string, std::string, std::string>({{"30x40", "double", "torus:2x3"},
                                                             {"3x50", "float", "torus:4x4"},
                                                             {"17x1", "complex", "mesh:3x2"}}));
  const auto output =
      run_wormcube("transpose --shape " + shape + " --type " + type + " --on " + on + " --json -");
  INFO(output.out << output.err);
  CHECK(output.exit == 0);
  CHECK(output.json()["wrong"] == 0);
}

TEST_CASE("transpose twice through files gives the matrix again") {
  const TemporaryFile a(".npy"), b(".npy"), c(".npy");
  REQUIRE(
      run_wormcube("transpose --shape 9x7 --type float --on ring:3 --output " + a.path()).exit ==
      0);
  REQUIRE(
      run_wormcube("transpose --on ring:4 --input " + a.path() + " --output " + b.path()).exit ==
      0);
  REQUIRE(
      run_wormcube("transpose --on mesh:2x3 --input " + b.path() + " --output " + c.path()).exit ==
      0);
  CHECK(read_text(a.path()) == read_text(c.path()));
  CHECK(read_text(a.path()) != read_text(b.path()));
}

TEST_CASE("a deadlock ends with exit code 3 and a table of who waits for what") {
  const std::string of = GENERATE("receives", "channels");
  const auto output = run_wormcube("deadlock --on ring:4 --of " + of);
  INFO(output.out << output.err);
  CHECK(output.exit == 3);
  CHECK(output.err.starts_with("wormcube: "));
  for (const char* node : {"0", "1", "2", "3"}) CHECK_THAT(output.err, Catch::Contains(node));
}

TEST_CASE("with the second virtual channel the same messages arrive") {
  const auto output = run_wormcube("deadlock --of channels --on ring:4 --virtual-channels 2");
  INFO(output.err);
  CHECK(output.exit == 0);
}

TEST_CASE("a run over its time limit ends with exit code 4") {
  const auto output = run_wormcube(
      "run alltoall --on torus:4x4 --algorithm mesh --bytes 64K --iterations 1000000 --time-limit "
      "0.2");
  CHECK(output.exit == 4);
  CHECK(output.err.starts_with("wormcube: "));
}
