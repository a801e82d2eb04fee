// The output of wormcube check and wormcube list.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using wormcube::all_operations;
using wormcube::Operation;
using wormcube::test::run_wormcube;

namespace {

struct Expected {
  std::string on;
  int startups, transmission, rearranged;
};

}  // namespace

TEST_CASE("check counts suh-torus as its paper does, and proves it") {
  const auto [on, startups, transmission, rearranged] =
      GENERATE(Expected{"torus:8x8", 6, 192, 192}, Expected{"torus:12x12", 8, 576, 432},
               Expected{"torus:8x12", 8, 384, 288}, Expected{"torus:16x16", 10, 1280, 768},
               Expected{"torus:4x4x4", 6, 192, 64});
  const auto output = run_wormcube("check alltoall --on " + on + " --algorithm suh-torus --json -");
  INFO(output.out);
  CHECK(output.exit == 0);
  CHECK(output.err.empty());
  const auto result = output.json();
  REQUIRE(result.is_object());
  CHECK(result["operation"] == "alltoall");
  CHECK(result["algorithm"] == "suh-torus");
  CHECK(result["topology"] == on);
  CHECK(result["ports"] == "one");
  CHECK(result["startups"] == startups);
  CHECK(result["transmission_blocks"] == transmission);
  CHECK(result["rearranged_blocks"] == rearranged);
  CHECK(result["predicted"]["startups"] == startups);
  CHECK(result["predicted"]["transmission_blocks"] == transmission);
  CHECK(result["link_load_max"] == 1);
  CHECK(result["port_violations"] == 0);
  CHECK(result["delivered"] == true);
  CHECK(result["exactly_once"] == true);
  CHECK(result["deadlock_free"] == true);
  CHECK(result["passed"] == true);
}

TEST_CASE("check gives every key that the design names") {
  const auto result =
      run_wormcube("check alltoall --on torus:4x4 --algorithm mesh --json -").json();
  for (const char* key : {"operation",
                          "algorithm",
                          "topology",
                          "nodes",
                          "ports",
                          "startups",
                          "transmission_blocks",
                          "rearranged_blocks",
                          "messages",
                          "total_blocks",
                          "block_hops",
                          "sum_max_hops",
                          "max_hops",
                          "link_load_max",
                          "port_violations",
                          "delivered",
                          "exactly_once",
                          "peak_blocks",
                          "deadlock_free",
                          "predicted",
                          "lower_bound",
                          "options",
                          "arguments",
                          "combined_blocks",
                          "link_blocks",
                          "working_blocks",
                          "arrivals",
                          "step_bytes",
                          "step_load",
                          "step_cost_bytes",
                          "time_lockstep",
                          "provenance",
                          "passed"}) {
    INFO(key);
    CHECK(result.contains(key));
  }
  for (const char* key : {"startups", "transmission_blocks", "rearranged_blocks"}) {
    CHECK(result["predicted"].contains(key));
  }
  for (const char* key : {"schema", "version", "command", "host", "cores", "date"}) {
    INFO(key);
    CHECK(result["provenance"].contains(key));
  }
  CHECK_THAT(result["provenance"]["command"].get<std::string>(),
             Catch::EndsWith("check alltoall --on torus:4x4 --algorithm mesh --json -"));
}

TEST_CASE(
    "an algorithm that a network does not admit is refused with the reason, and nothing runs") {
  const auto output = run_wormcube("check alltoall --on torus:6x6 --algorithm suh-torus --json -");
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK(output.err.starts_with("wormcube: "));
  CHECK_THAT(output.err,
             Catch::Contains("suh-torus") && Catch::Contains("6") && Catch::Contains("4"));
  CHECK(run_wormcube("run alltoall --on torus:6x6 --algorithm ring,suh-torus").exit == 2);
}

TEST_CASE(
    "check without an algorithm's name takes all that are admitted, and lists the others with "
    "their reason") {
  const auto output = run_wormcube("check alltoall --on torus:6x6 --algorithm all --wide");
  CHECK(output.exit == 0);
  CHECK_THAT(output.out, Catch::Contains("# not applicable: ") && Catch::Contains("suh-torus"));
  const auto results =
      run_wormcube("check alltoall --on torus:6x6 --algorithm all --json -").json();
  REQUIRE(results.is_array());
  CHECK(results.size() > 1);
  for (const auto& result : results) CHECK(result["passed"] == true);
}

TEST_CASE("every operation passes its check on every kind of network") {
  const std::string on = sanitized ? "torus:4x4,ring:7,tree:4,ring:1"
                                   : "torus:4x4,mesh:3x5,hypercube:3,ring:7,complete:5,tree:4,"
                                     "'ring:4*line:3',ring:1,torus:2x3";
  const auto networks = static_cast<std::size_t>(std::ranges::count(on, ',') + 1);
  for (const Operation operation : all_operations) {
    const auto output = run_wormcube(
        fmt::format("check {} --on {} --algorithm all --json -", to_string(operation), on));
    INFO(to_string(operation) << "\n" << output.out << output.err);
    CHECK(output.exit == 0);
    std::set<std::string> seen;
    for (const auto& result : output.json()) {
      seen.insert(result["topology"]);
      CHECK(result["passed"] == true);
      CHECK(result["delivered"] == true);
      CHECK(result["deadlock_free"] == true);
    }
    CHECK(seen.size() == networks);
  }
}

TEST_CASE("what was not proved is null, with the reason") {
  const auto result =
      run_wormcube("check alltoall --on torus:4x4 --algorithm suh-torus --prove-up-to 8 --json -")
          .json();
  CHECK(result["delivered"].is_null());
  CHECK(result["exactly_once"].is_null());
  CHECK_THAT(result["delivered_reason"].get<std::string>(), Catch::Contains("16"));
  CHECK(result["startups"] == 4);
}

TEST_CASE("check with one virtual channel per ring link reports the cycle") {
  const auto output =
      run_wormcube("check alltoall --on ring:5 --algorithm shift --virtual-channels 1 --json -");
  CHECK(output.json()["deadlock_free"] == false);
  CHECK(output.json()["passed"] == false);
  CHECK(output.exit == 1);
}

TEST_CASE("several networks are several results") {
  const auto results =
      run_wormcube("check allgather --on ring:4,ring:5 --algorithm ring --json -").json();
  REQUIRE(results.size() == 2);
  CHECK(results[0]["topology"] == "ring:4");
  CHECK(results[1]["topology"] == "ring:5");
}

TEST_CASE("list shows the registry, and what a network admits") {
  const auto all = run_wormcube("list --json -");
  CHECK(all.exit == 0);
  CHECK(all.json().size() > 8);
  const auto some = run_wormcube("list alltoall --on torus:6x6 --json -").json();
  bool refused = false;
  for (const auto& algorithm : some) {
    CHECK(algorithm["operation"] == "alltoall");
    if (algorithm["algorithm"] == "suh-torus") {
      CHECK(algorithm["admitted"] == false);
      CHECK(algorithm["refusal"].is_string());
      refused = true;
    } else if (algorithm["admitted"] == true) {
      CHECK(algorithm.contains("predicted"));
    }
  }
  CHECK(refused);
}

TEST_CASE("CSV has one line per result under JSON's keys") {
  const auto output =
      run_wormcube("check alltoall --on torus:4x4 --algorithm mesh,suh-torus --csv -");
  CHECK(output.exit == 0);
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') == 3);
  CHECK(output.out.starts_with("operation,algorithm,topology,nodes,ports,startups,"));
}

TEST_CASE("CSV has the columns that vary, --wide adds the rest and the provenance") {
  const std::string command =
      "run alltoall --on torus:2x2 --algorithm shift --iterations 1 --executor fibers --csv -";
  const std::string brief = run_wormcube(command).out;
  CHECK(
      brief.starts_with("operation,topology,algorithm,ports,executor,block_bytes,time_median_us,"));
  CHECK(std::count(brief.begin(), brief.end(), ',') == 2 * 12);
  CHECK(brief.ends_with(",0,true\n"));
  CHECK(run_wormcube(command + " --wide").out.find("provenance.command") != std::string::npos);
  const std::string check = run_wormcube("check alltoall --on torus:4x4 --csv -").out;
  CHECK(check.find("provenance") == std::string::npos);
}
