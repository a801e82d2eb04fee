// Golden schedules: classic algorithms on a few nodes, as a reader follows them with the paper
// open. Written by `wormcube show OPERATION --on TOPOLOGY --algorithm NAME --bytes 8 --write-schedule -`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

struct Golden {
  Operation operation;
  const char* algorithm;
  const char* topology;

  std::string file() const {
    std::string name = fmt::format("{}-{}-{}.txt", to_string(operation), algorithm, topology);
    for (char& c : name) c = c == ':' ? '-' : c;
    return name;
  }
};

constexpr Golden goldens[]{
    {operations::alltoall, "ring", "ring:8"},
    {operations::alltoall, "mesh", "mesh:2x4"},
    {operations::alltoall, "hypercube-pairwise", "hypercube:3"},
    {operations::alltoall, "suh-torus", "torus:4x4"},
    {operations::alltoall, "shift", "complete:8"},
    {operations::broadcast, "halving", "line:8"},
    {operations::barrier, "dissemination", "complete:8"},
    {operations::allgather, "ring", "ring:8"},
};

const std::filesystem::path folder = WORMCUBE_SOURCE_DIR "/tests/schedule/golden";

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// "line 7: golden 'node 0: ..', now 'node 0: ..'"; nothing if the texts are equal.
std::optional<std::string> first_difference(const std::string& golden, const std::string& now) {
  std::istringstream old_lines(golden), new_lines(now);
  std::string old_line, new_line;
  for (int number = 1;; ++number) {
    const bool has_old = static_cast<bool>(std::getline(old_lines, old_line));
    const bool has_new = static_cast<bool>(std::getline(new_lines, new_line));
    if (!has_old && !has_new) return {};
    if (!has_old) old_line = "(end)";
    if (!has_new) new_line = "(end)";
    if (has_old != has_new || old_line != new_line)
      return fmt::format("line {}: golden '{}', now '{}'", number, old_line, new_line);
  }
}

}  // namespace

TEST_CASE("classic algorithms have the schedules that are kept as text", "[schedule][golden]") {
  for (const Golden& golden : goldens) {
    const auto topology = Topology::parse(golden.topology);
    const Collective collective(find_algorithm(golden.operation, golden.algorithm));
    const Schedule schedule = record(
        topology,
        collective_program(collective, contract_of(collective, topology.nodes(), 8, 1), nullptr));
    const auto difference =
        first_difference(text_of(folder / golden.file()), schedule_text(schedule));
    INFO(golden.file() << ": " << difference.value_or(""));
    CHECK_FALSE(difference);
  }
}

TEST_CASE("there is no golden schedule without a test", "[schedule][golden]") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++files;
    CAPTURE(entry.path());
    CHECK(std::ranges::any_of(
        goldens, [&](const Golden& golden) { return golden.file() == entry.path().filename(); }));
  }
  CHECK(files == std::size(goldens));
}

TEST_CASE("the comparison with a golden schedule names the first line that differs",
          "[schedule][golden]") {
  CHECK_FALSE(first_difference("a\nb\n", "a\nb\n"));
  CHECK(first_difference("a\nb\nc\n", "a\nx\ny\n") == "line 2: golden 'b', now 'x'");
  CHECK(first_difference("a\nb\n", "a\n") == "line 2: golden 'b', now '(end)'");
  CHECK(first_difference("a\n", "a\nb\n") == "line 2: golden '(end)', now 'b'");
}
