// Commands that would take long: refused with the figures, or ended by --time-limit.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <fstream>
#include <string>

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using wormcube::test::Output;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

namespace {

/// A graph file: a path of this many nodes.
void write_path(const std::string& file, int nodes) {
  std::ofstream out(file);
  for (int i = 1; i < nodes; ++i) out << i - 1 << " " << i << "\n";
}

}  // namespace

TEST_CASE("best picks no algorithm because its contention is unknown", "[cli]") {
  const std::string network = GENERATE("mesh:64x64", "torus:64x64");
  const auto cells = run_wormcube("best broadcast --on " + network + " --bytes 1M --json -").json();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0]["winner"] == "scatter-allgather");
  bool has_unknown = false;
  for (const auto& cell : cells) {
    for (const auto& row : cell["ranking"]) {
      if (row["algorithm"] == cell["winner"]) CHECK(row["model_contention"] != "unknown");
      has_unknown = has_unknown || row["model_contention"] == "unknown";
    }
  }
  CHECK(has_unknown);
  const Output table = run_wormcube("best broadcast --on " + network + " --bytes 1M --ports one");
  CHECK_THAT(table.out, Contains("broadcast on " + network +
                                 ", one port: not compared, because their "
                                 "contention is unknown: circulant"));
}

TEST_CASE("best, list and auto name the same algorithm", "[cli]") {
  const auto [operation, network, bytes] = GENERATE(
      std::tuple("broadcast", "mesh:64x64", "1M"), std::tuple("reduce", "torus:6x5", "64K"),
      std::tuple("allgather", "hypercube:6", "1K"), std::tuple("scan", "ring:9", "64"));
  const std::string call = std::string(operation) + " --on " + network + " --bytes " + bytes;
  const auto best = run_wormcube("best " + call + " --json -").json();
  const auto list = run_wormcube("list " + call + " --json -").json();
  std::string one, all;
  for (const auto& row : list) {
    if (!row["admitted"]) continue;
    if (row["chosen_by_auto"]) one = row["algorithm"];
    if (row["chosen_by_auto_all_ports"]) all = row["algorithm"];
  }
  const auto name = [](const nlohmann::json& cell) {
    const std::string winner = cell["winner"];
    return winner.substr(0, winner.find(':'));
  };
  CHECK(name(best[0]) == one);
  CHECK(name(best[1]) == all);
}

TEST_CASE("list and best by replay replay a one-port algorithm with one port alike", "[cli]") {
  const std::string call = " alltoall --on ghc:3x4 --bytes 64 --cost replay --json -";
  const auto list = run_wormcube("list" + call).json();
  const auto best = run_wormcube("best --ports one" + call).json();
  std::size_t compared = 0;
  for (const auto& row : list) {
    if (!row["admitted"] || row["ports"] != "one" || row["replayed_ps"].is_null()) continue;
    for (const auto& other : best[0]["ranking"]) {
      if (other["algorithm"] != row["algorithm"] || other["options"] != row["chosen_options"] ||
          other["replayed_ps"].is_null()) {
        continue;
      }
      CHECK(other["replayed_ps"] == row["replayed_ps"]);
      ++compared;
    }
  }
  CHECK(compared > 2);
}

TEST_CASE("no cost model makes a command run without an end", "[cli]") {
  const std::string arguments =
      GENERATE("list broadcast --on hypercube:3 --ts 0 --bytes 64",
               "replay broadcast --on ring:3 --algorithm circulant --bytes 1 --ts 0",
               "run broadcast --on ring:3 --bytes 64 --ts 0 --cost replay --iterations 1",
               "best broadcast --on hypercube:3 --bytes 65536 --ports one --cost replay --ts 0 "
               "--tw 0.003 --tr 0.001 --tc 0.001",
               "best broadcast --on hypercube:3 --bytes 1M --ts 0 --tw 0");
  CAPTURE(arguments);
  CHECK(run_wormcube(arguments).exit == 0);
}

TEST_CASE("every long command ends at its time limit", "[cli]") {
  const std::string arguments = GENERATE(
      "best --on hypercube:14", "best alltoall --on torus:64x64 --cost replay",
      "list --on hypercube:14", "draw alltoall --on torus:64x64 --html /dev/null",
      "draw alltoall --on torus:32x32~0-1 --html /dev/null", "reproduce kim --on torus:64x64",
      "reproduce dimakopoulos --on torus:16x16", "reproduce wang-tseng",
      "replay alltoall --on torus:32x32 --algorithm shift", "show alltoall --on torus:32x32",
      "tune --iterations 1000000", "check alltoall --on torus:64x64");
  CAPTURE(arguments);
  const Output output = run_wormcube(arguments + " --time-limit 0.05");
  CHECK(output.exit == 4);
  CHECK_THAT(output.err, Contains("not finished after 50 ms, the time limit"));
}

TEST_CASE("the time limit of check includes what comes before the check", "[cli]") {
  const TemporaryFile graph(".txt");
  write_path(graph.path(), 8191);
  const Output output =
      run_wormcube("check broadcast --on graph:" + graph.path() + " --time-limit 0.05");
  CHECK(output.exit == 4);
  CHECK_THAT(output.err, Contains("not finished after 50 ms, the time limit"));
}

TEST_CASE("what would take too long or too much memory is refused with the figures", "[cli]") {
  const auto [arguments, text] = GENERATE(
      std::tuple("reproduce kim --on torus:1024x1024 --count-up-to 1048576",
                 "steps, about a million a second"),
      std::tuple("reproduce suh --on mesh:1024x1024 --count-up-to 1048576",
                 "steps, about a million a second"),
      std::tuple("reproduce dimakopoulos --on torus:64x64", "steps, about a million a second"),
      std::tuple("best alltoall --on torus:64x64 --cost replay", "the limit is 100000000"),
      std::tuple("run alltoall --on hypercube:20", "1048576 nodes as threads"));
  CAPTURE(arguments);
  const Output output = run_wormcube(arguments);
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains(text));
}
