// wormcube run --links: the traffic of every channel, compared with the recorded schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <catch2/catch.hpp>

using wormcube::test::read_text;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

namespace {

struct Carried {
  std::uint64_t messages = 0, bytes = 0;
  bool operator==(const Carried&) const = default;
};
/// By link and virtual channel.
using Load = std::map<std::pair<int, int>, Carried>;

/// Each message of the schedule, on each link of its route.
Load recorded(const std::string& call) {
  Load load;
  const auto shown = run_wormcube("show " + call + " --json -").json();
  for (const auto& step : shown["steps"]) {
    for (const auto& message : step["messages"]) {
      for (const auto& hop : message["route"]) {
        Carried& carried = load[{hop["link"].get<int>(), hop["virtual_channel"].get<int>()}];
        carried.messages += 1;
        carried.bytes += message["bytes"].get<std::uint64_t>();
      }
    }
  }
  return load;
}

Load measured(const std::string& call) {
  const TemporaryFile file(".json");
  const auto output = run_wormcube("run " + call + " --iterations 3 --links " + file.path());
  INFO(output.err);
  REQUIRE(output.exit == 0);
  Load load;
  const auto document = nlohmann::json::parse(read_text(file.path()));
  for (const auto& channel : document["channels"]) {
    load[{channel["link"].get<int>(), channel["virtual_channel"].get<int>()}] = {
        channel["messages"].get<std::uint64_t>(), channel["bytes"].get<std::uint64_t>()};
  }
  return load;
}

}  // namespace

TEST_CASE("every channel carries in a run what the recorded schedule says", "[cli][links]") {
  const std::string call = GENERATE(
      "alltoall --on torus:4x4 --algorithm suh-torus --bytes 4K",
      "alltoall --on ring:5 --algorithm shift --bytes 24", "alltoall --on tree:4 --bytes 8",
      "alltoall --on hypercube:3 --algorithm hypercube-all-port --bytes 96",
      "alltoallv --on ring:4 --algorithm shift", "broadcast --on mesh:3x3 --root 4 --bytes 2K",
      "allreduce --on hypercube:3", "barrier --on petersen");
  CAPTURE(call);
  const Load load = measured(call);
  CHECK(!load.empty());
  CHECK(load == recorded(call));
}

TEST_CASE("the bytes on the links are the messages' bytes times their hops", "[cli][links]") {
  const std::string call = "alltoall --on torus:4x4 --algorithm mesh --bytes 1K";
  std::uint64_t bytes = 0;
  for (const auto& [channel, carried] : measured(call)) bytes += carried.bytes;
  const auto checked = run_wormcube("check " + call + " --json -").json();
  CHECK(bytes == 1024 * checked["block_hops"].get<std::uint64_t>());
}

TEST_CASE("links of all runs go to one file, as CSV or JSON by its name", "[cli][links]") {
  const TemporaryFile csv(".csv");
  const auto output = run_wormcube(
      "run alltoall --on ring:4,ring:5 --algorithm ring,shift --bytes 8,16 --iterations 1 "
      "--links " +
      csv.path());
  INFO(output.err);
  REQUIRE(output.exit == 0);
  const std::string text = read_text(csv.path());
  CHECK_THAT(text, Catch::StartsWith("topology,operation,algorithm,block_bytes,link,link_name,"
                                     "from,to,virtual_channel,messages,bytes,"));
  for (const char* row : {"\nring:4,alltoall,ring,8,", "\nring:4,alltoall,shift,16,",
                          "\nring:5,alltoall,ring,16,", "\nring:5,alltoall,shift,8,"}) {
    CHECK_THAT(text, Catch::Contains(row));
  }
  for (const char* file : {"links", "links.txt", "-"}) {
    const auto refused = run_wormcube(std::string("run alltoall --on ring:4 --links ") + file);
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Catch::Contains(".json or .csv"));
  }
  CHECK(run_wormcube("run alltoall --on ring:4 --links a.json --json a.json").exit == 2);
}
