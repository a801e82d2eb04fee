// Bounds and choices that replays hold up: on random networks, machines and calls.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/near_winners.hpp"

#include "wormcube/apps/cli/commands/replay_figures.hpp"
#include "wormcube/apps/common/machines.hpp"
#include "wormcube/collectives/core/needs.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;
using wormcube::test::run_wormcube;

namespace {

template <typename Range>
const auto& any_of(std::mt19937& random, const Range& range) {
  return range[random() % std::size(range)];
}

const std::vector<std::string>& networks() {
  static const std::vector<std::string> names{
      "line:8",   "ring:7",   "ring:16",       "torus:4x4",   "torus:3x5",
      "mesh:4x4", "mesh:2x6", "torus:2x3x3",   "hypercube:4", "complete:6",
      "tree:8",   "ghc:4x3",  "ring:4*line:3", "petersen",    "torus:4x4~0-1"};
  return names;
}

Arguments arguments_of(Operation operation) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
  return arguments;
}

}  // namespace

TEST_CASE("no replay takes less time than the bound on any algorithm", "[cli][replay]") {
  std::mt19937 random(1);  // NOLINT: the same each time
  std::set<std::string> slow_ports;
  int replayed = 0;
  for (int i = 0; i < (sanitized ? 60 : 1000); ++i) {
    const MachineProfile& profile = any_of(random, machine_profiles());
    const Topology topology = Topology::parse(any_of(random, networks()));
    const Algorithm& algorithm = *any_of(random, registry());
    const Ports ports = random() % 2 == 0 ? Ports::one : Ports::all;
    const Bytes bytes = Bytes{8} << random() % 15;
    const Collective collective(algorithm, arguments_of(algorithm.operation));
    const bool all_port = takes_all_ports(algorithm, ports);
    if (refusal(collective, topology)) continue;
    MachineModel model = profile.model;
    model.all_port = all_port;
    const Routing routing(topology, 2);
    const Schedule schedule = record_call(collective, topology, bytes);
    const auto time = replay(schedule, routing, model).time;
    if (!time) continue;
    const cli::ReplayBounds bounds =
        cli::bounds_of({&collective, bytes, {}}, schedule, routing, model);
    CAPTURE(profile.name, topology.name(), algorithm.operation->name, algorithm.name, bytes,
            all_port);
    CHECK(bounds.highest() <= *time);
    CHECK(bounds.schedule.ports <= *time);
    CHECK(bounds.schedule.links <= *time);
    if (bounds.links > bounds.ports) slow_ports.insert(profile.name);
    ++replayed;
  }
  CHECK(replayed > (sanitized ? 10 : 100));
  CHECK(slow_ports.size() > (sanitized ? 0 : 3));
}

TEST_CASE("a bound on links has the links' rate, a bound on ports the ports'", "[cli][replay]") {
  // 16 blocks of 64 KiB cross the middle of the line, in 3.3 ns a byte; 7 leave a port, in 37 ns.
  const auto row = run_wormcube(
                       "replay alltoall --on line:8 --algorithm shift --machine t3d --bytes 64K "
                       "--messages off --json -")
                       .json();
  const auto& bounds = row["bounds"];
  CHECK(bounds["ports_ps"].get<double>() == Approx(7 * 65536 * 37037.5).epsilon(0.01));
  CHECK(bounds["links_ps"].get<double>() == Approx(16 * 65536 * 3333.3).epsilon(0.02));
  CHECK(bounds["highest_ps"] == bounds["ports_ps"]);
  CHECK(row["efficiency"] <= 1);
}

TEST_CASE("check shows each bound beside the count that it bounds", "[cli]") {
  const auto row = run_wormcube("check alltoall --on mesh:4x4 --algorithm shift --json -").json();
  CHECK(row["transmission_blocks"] == 15);
  CHECK(row["lower_bound"]["port_blocks"] == 15);
  CHECK(row["link_blocks"] == 24);
  CHECK(row["lower_bound"]["transmission_blocks"] == 16);
}

TEST_CASE("among algorithms near the lowest modelled time, the lowest replayed one wins",
          "[cli][replay]") {
  std::mt19937 random(2);  // NOLINT: the same each time
  const std::vector<Operation> operations{operations::alltoall, operations::allgather,
                                          operations::allreduce, operations::scatter};
  int decided = 0, changed = 0;
  for (int i = 0; i < 60; ++i) {
    const Topology topology = Topology::parse(any_of(random, networks()));
    const Operation operation = any_of(random, operations);
    const Bytes bytes = Bytes{1} << random() % 18;
    const Ports ports = random() % 2 == 0 ? Ports::one : Ports::all;
    const CostModel cost;
    const auto ranked = ranking({.operation = operation,
                                 .topology = topology,
                                 .block_bytes = bytes,
                                 .ports = ports,
                                 .model = cost,
                                 .arguments = arguments_of(operation)});
    if (ranked.empty() || !ranked.front().us) continue;
    const auto model = machine_of(cost);
    REQUIRE(model);
    NearWinners near(topology, *model);
    const auto answers = near(ranked, bytes, ports);
    REQUIRE(answers.size() == ranked.size());
    const std::size_t winner = NearWinners::winner(answers);
    CAPTURE(topology.name(), operation->name, bytes, ranked[winner].collective.text());
    if (!answers[winner].figure) {
      CHECK(winner == 0);
      continue;
    }
    ++decided;
    changed += winner == 0 ? 0 : 1;
    ReplayedTimes times(topology, *model);
    for (std::size_t k = 0; k < ranked.size(); ++k) {
      if (!ranked[k].us || *ranked[k].us > 1.5 * *ranked.front().us) continue;
      const auto time = times(ranked[k].collective, bytes,
                              takes_all_ports(*ranked[k].collective.algorithm, ports));
      CHECK(answers[k].figure == time.figure);
      if (time.figure) CHECK(*answers[winner].figure <= *time.figure);
    }
  }
  CHECK(decided > 20);
  CHECK(changed > 2);
}

TEST_CASE("best, list and auto pick the same algorithm, and say when a replay decided",
          "[cli][replay]") {
  for (const char* const call :
       {"alltoall --on torus:4x4 --bytes 1K", "scatter --on ring:9 --bytes 4K",
        "alltoall --on ring:16 --bytes 4K --machine paragon"}) {
    const std::string one = fmt::format("{} --ports one ", call);
    const auto best = run_wormcube("best " + one + "--json -").json().at(0);
    const std::string winner = best["winner"];
    CAPTURE(call, winner);
    CHECK(best["ranking"][0]["replayed_ps"].is_number());
    for (const auto& row : run_wormcube("list " + one + "--json -").json()) {
      if (!row["admitted"] || !row["chosen_by_auto"]) continue;
      CHECK(winner.starts_with(row["algorithm"].get<std::string>()));
    }
    const std::string checked = run_wormcube("check " + one + "--json -").json()["algorithm"];
    CHECK(winner.starts_with(checked));
    const std::string table = run_wormcube("best " + one + "--quiet").out;
    CHECK_THAT(table, Contains("r  "));
    CHECK_THAT(run_wormcube("best " + one).out, Contains("`r`: replayed"));
    CHECK_THAT(run_wormcube("list " + one).out, Contains("us replayed)"));
  }
  CHECK_THAT(
      run_wormcube("best alltoall --on ring:3 --algorithm ring,mesh --ports one --bytes 64").out,
      !Contains("replayed"));
}

TEST_CASE("best on a machine ranks for its ports, and others on request", "[cli]") {
  const std::string call = "best allreduce --on complete:8 --bytes 1M --json - ";
  const auto ports = [&](const std::string& options) {
    std::set<std::string> all;
    for (const auto& row : run_wormcube(call + options).json()) all.insert(row["ports"]);
    return all;
  };
  CHECK(ports("--machine hgx-h100") == std::set<std::string>{"one"});
  CHECK(ports("--machine tpu-v4") == std::set<std::string>{"all"});
  CHECK(ports("--machine hgx-h100 --ports both") == std::set<std::string>{"one", "all"});
  CHECK(ports("") == std::set<std::string>{"one", "all"});
  CHECK_THAT(run_wormcube("best allreduce --on complete:8 --bytes 1M --machine hgx-h100").out,
             Contains("hgx-h100 has one port per node"));
}
