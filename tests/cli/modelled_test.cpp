// Replayed times in `list`, `run` and the applications.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/choose/replayed.hpp"
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

using Catch::Matchers::Contains;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

TEST_CASE("list --cost replay gives replay's times, sorts by them and marks the least",
          "[cli][replay]") {
  const auto rows =
      run_wormcube("list alltoall --on ring:6 --cost replay --machine t3d --bytes 256 --json -")
          .json();
  const auto replayed =
      run_wormcube(
          "replay alltoall --on ring:6 --machine t3d --bytes 256 --ports auto --algorithm "
          "shift,ring,bruck --messages off --json -")
          .json();
  std::map<std::string, long> times;
  for (const auto& row : replayed) times[row["algorithm"]] = row["time_ps"];
  REQUIRE(times.size() == 3);
  long least = std::numeric_limits<long>::max();
  std::string chosen;
  for (const auto& row : rows) {
    if (!row["admitted"]) continue;
    const long time = row["replayed_ps"];
    if (times.contains(row["algorithm"])) CHECK(times[row["algorithm"]] == time);
    if (row["ports"] == "one" && row["considered_by_auto"]) least = std::min(least, time);
    if (row["chosen_by_auto"]) chosen = row["algorithm"];
  }
  // What `auto` picks may have options that no row has; here the least has none.
  const auto taken = run_wormcube(
                         "replay alltoall --on ring:6 --machine t3d --bytes 256 --cost replay "
                         "--messages off --json -")
                         .json();
  CHECK(taken["algorithm"] == chosen);
  CHECK(taken["time_ps"] <= least);
  // The table is in this order.
  const auto table =
      run_wormcube("list alltoall --on ring:6 --cost replay --machine t3d --bytes 256 --quiet");
  CHECK_THAT(table.out, Contains("replayed"));
  CHECK_THAT(run_wormcube("list alltoall --on ring:6 --quiet").out, !Contains("replayed"));
}

TEST_CASE("best --cost replay: a table without the slower times names the winners of the whole one",
          "[cli][replay]") {
  const std::string call =
      "best --on torus:3x3,mesh:2x4,complete:12 --cost replay --bytes 64,4K --ports both ";
  const auto whole = run_wormcube(call + "--json -").json();
  REQUIRE(whole.size() > 40);
  std::size_t slower = 0;
  for (const auto& row : whole) {
    for (const auto& each : row["ranking"]) slower += each["replayed_ps"].is_null() ? 0 : 1;
  }
  CHECK(slower > 3 * whole.size());  // more than the table needs
  const TemporaryFile file("best.json");
  const auto table = run_wormcube(call + "--quiet");
  CHECK(table.out == run_wormcube(call + "--quiet --json " + file.path()).out);
}

TEST_CASE("a call's replayed time is the same alone and among others", "[cli][replay]") {
  using namespace wormcube;
  const Topology topology = Topology::parse("mesh:3x3");
  const CostModel cost;
  for (const Operation operation : {operations::alltoall, operations::broadcast}) {
    Weights weights(topology, false);
    for (const Ports ports : {Ports::one, Ports::all}) {
      const auto ranked = ranking({.operation = operation,
                                   .topology = topology,
                                   .block_bytes = 1024,
                                   .ports = ports,
                                   .model = cost});
      REQUIRE(ranked.size() > 3);
      MachineModel model;
      ReplayedTimes alone(topology, model), together(topology, model), two(topology, model);
      together.compute(ranked, 1024, ports, CallFigures::all);
      {
        const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
        two.compute(ranked, 1024, ports, 2);
      }
      std::vector<std::int64_t> times;
      std::size_t left_out = 0;
      const auto all_port = [&](const Priced& priced) {
        return takes_all_ports(*priced.collective.algorithm, ports);
      };
      for (const Priced& priced : ranked) {
        const auto figure = alone(priced.collective, 1024, all_port(priced)).figure;
        CHECK(together(priced.collective, 1024, all_port(priced)).figure == figure);
        if (figure) times.push_back(*figure);
      }
      std::ranges::sort(times);
      for (const Priced& priced : ranked) {
        const auto figure = alone(priced.collective, 1024, all_port(priced)).figure;
        const auto& answer = two(priced.collective, 1024, all_port(priced));
        if (figure && *figure <= times.at(1)) CHECK(answer.figure == figure);
        if (answer.figure) continue;
        ++left_out;
        CHECK(answer.reason == "stopped: others take less time");
      }
      if (!sanitized) CHECK(left_out > 0);  // several threads may begin all of them
    }
  }
}

TEST_CASE("auto by replay is another choice where formulas leave contention's chains out",
          "[cli][replay]") {
  const std::string call =
      "alltoall --on torus:4x4 --algorithm hypercube-pairwise,shift --bytes 1K ";
  const auto both = run_wormcube("replay " + call + "--messages off --json -").json();
  REQUIRE(both.size() == 2);
  CHECK(both[0]["formula_us"] < both[1]["formula_us"]);
  CHECK(both[0]["time_ps"] > both[1]["time_ps"]);
}

TEST_CASE("check and run choose by replay, and take a machine's constants", "[cli][replay]") {
  const auto replayed =
      run_wormcube("replay alltoall --on mesh:3x3 --cost replay --bytes 64 --messages off --json -")
          .json();
  const auto checked =
      run_wormcube("check alltoall --on mesh:3x3 --cost replay --bytes 64 --json -").json();
  CHECK(checked["algorithm"] == replayed["algorithm"]);
  const auto ran = run_wormcube(
                       "run alltoall --on mesh:3x3 --cost replay --bytes 64 --iterations 1 "
                       "--machine paragon --json -")
                       .json();
  CHECK(ran["cost_model"]["ts_us"] == 70);
  const auto own =
      run_wormcube("run alltoall --on mesh:3x3 --ts 3 --iterations 1 --machine paragon --json -")
          .json();
  CHECK(own["cost_model"]["ts_us"] == 3);
  const auto mistake = run_wormcube("list alltoall --cost replay");
  CHECK(mistake.exit == 2);
  CHECK_THAT(mistake.err, Contains("no effect without a network"));
  CHECK_THAT(run_wormcube("list alltoall --on ring:4 --cost replay --tw 0.0000001").err,
             Contains("not a whole number of picoseconds"));
}

TEST_CASE("an application reports its time on a modelled machine, part by part", "[cli][replay]") {
  const std::string call = "transpose --on mesh:2x3 --shape 60x50 --machine paragon ";
  const auto left_out = run_wormcube(call + "--json -").json()["modelled"];
  CHECK(left_out["computing"] == "left out");
  CHECK(left_out["model"]["machine"] == "paragon");
  const auto sum = [](const nlohmann::json& parts) {
    long all = 0;
    for (const auto& [name, part] : parts.items()) all += part.get<long>();
    return all;
  };
  CHECK(sum(left_out["parts_ps"]) == left_out["time_ps"]);
  CHECK(left_out["parts_ps"]["computing"] == 0);
  CHECK(left_out["parts_ps"]["rearranging"] > 0);

  // 2 x 100 x 70 operations on one node, a thousand a microsecond.
  const std::string product = "matvec --on ring:1 --shape 100x70 --machine paragon --json - ";
  const auto counted = run_wormcube(product + "--flops 1").json()["modelled"];
  CHECK(counted["computing"] == "counted");
  CHECK(counted["time_ps"] == 2 * 100 * 70 * 1000);
  CHECK(counted["parts_ps"]["computing"] == counted["time_ps"]);
  // The longer of the two: 8 bytes an element, 2 bytes a nanosecond.
  const auto memory = run_wormcube(product + "--flops 1 --memory-rate 2").json()["modelled"];
  CHECK(memory["time_ps"] == 100 * 70 * 8 * 500);

  CHECK(run_wormcube("transpose --on ring:3 --shape 6x6 --json -").json()["modelled"].is_null());
  const auto mistake = run_wormcube("fft --on ring:3 --flops 2");
  CHECK(mistake.exit == 2);
  CHECK_THAT(mistake.err, Contains("--flops and --memory-rate have no effect without --machine"));
  CHECK_THAT(run_wormcube("sort --on ring:3 --machine cray-99").err,
             Contains("unknown machine 'cray-99'"));
  CHECK_THAT(run_wormcube("lookup --on ring:3 --entries 9 --lookups 9 --machine t3d").out,
             Contains("without computing") && Contains("its ports are slower than its links"));
}

TEST_CASE("an application's exchange is the one that the modelled machine ends first",
          "[cli][replay]") {
  const std::string call = "--on mesh:4x4 --machine paragon ";
  const auto ran =
      run_wormcube("transpose " + call + "--shape 256x256 --cost replay --json -").json();
  const std::string bytes = ran["block_bytes"].dump();
  long least = std::numeric_limits<long>::max();
  std::string first;
  for (const auto& row :
       run_wormcube("list alltoall " + call + "--cost replay --bytes " + bytes + " --json -")
           .json()) {
    if (row["admitted"] && row["chosen_by_auto"]) first = row["algorithm"];
  }
  const auto replayed = run_wormcube("replay alltoall " + call + "--cost replay --bytes " + bytes +
                                     " --messages off --json -")
                            .json();
  const std::string algorithm = ran["algorithm"];
  CHECK(algorithm.substr(0, algorithm.find(':')) == first);
  CHECK(replayed["algorithm"] == first);
  least = replayed["time_ps"];
  // No exchange of the same blocks ends earlier than this one.
  for (const char* const other : {"shift", "suh-mesh", "mesh", "bruck"}) {
    CHECK(run_wormcube("replay alltoall " + call + "--algorithm " + other + " --bytes " + bytes +
                       " --messages off --json -")
              .json()["time_ps"] >= least);
  }
  const auto output = run_wormcube("transpose " + call + "--shape 64x64 --cost replay");
  CHECK_THAT(output.out, Contains("(auto: fastest by replay)") && Contains("replayed on"));
  CHECK_THAT(run_wormcube("transpose " + call + "--shape 64x64").out,
             Contains("(auto: lowest modelled time)") && !Contains("replayed on"));
}

TEST_CASE("best by replay, or by times measured, has those that are least by them in front",
          "[cli][replay]") {
  const auto in_order = [](const std::string& by, const std::string& key) {
    const auto contests =
        run_wormcube("best alltoall --on mesh:3x3 --bytes 64,4K --ports one --cost " + by +
                     (by == "measured" ? " --iterations 1" : "") + " --json -")
            .json();
    REQUIRE(contests.size() == 2);
    for (const auto& contest : contests) {
      CHECK(contest["cost"] == by);
      double last = 0;
      for (const auto& each : contest["ranking"]) {
        if (each[key].is_null()) continue;
        CHECK(each[key].get<double>() >= last);
        last = each[key];
      }
      CHECK(last > 0);
      CHECK(contest["winner"].get<std::string>().starts_with(
          contest["ranking"][0]["algorithm"].get<std::string>()));
    }
  };
  in_order("replay", "replayed_ps");
  in_order("measured", "measured_us");
  in_order("formula", "model_time_us");
}

TEST_CASE("a waiting message frees the links behind it if a buffer holds all of it",
          "[cli][replay]") {
  const TemporaryFile file(".txt",
                           "wormcube schedule 2\ntopology line:5\nblock 1\nsteps 1\nstep 0\n"
                           "node 0: send 100000 to 4\n"
                           "node 1: rearrange 2000, send 1000 to 2\n"
                           "node 2: receive 1000 from 1\nnode 3: send 100000 to 4\n"
                           "node 4: receive 100000 from 0, receive 100000 from 3\nend\n");
  // 0 -> 4 waits at node 3, behind 3 -> 4; 1 -> 2 needs a link that it has passed.
  const auto delivered = [&](const std::string& options) {
    const auto result =
        run_wormcube("replay --ports all --json - --schedule " + file.path() + options).json();
    return result["messages"][1]["delivered_ps"].get<double>();
  };
  CHECK(delivered("") > 200e6);                 // wormhole
  CHECK(delivered(" --slots 100000") < 120e6);  // virtual cut-through
}

TEST_CASE("best compares networks by links times time, and at equal cost", "[cli]") {
  const auto plain =
      run_wormcube("best allgather --on torus:8x8,hypercube:6 --ports one --bytes 1K --json -")
          .json();
  REQUIRE(plain.size() == 2);
  for (const auto& row : plain) {
    const double time = row["ranking"][0]["replayed_ps"].get<double>() / 1e6;
    CHECK(row["links_time_us"] == row["links"].get<double>() * time);
    CHECK(row["equal_cost_factor"] == 1.0);
  }
  CHECK(plain[0]["links"] == 256);
  // P4.25: by wires a mesh's links are log p / 4 times as fast, by bisection sqrt(p) / 4 times.
  const auto factor = [](const std::string& by) {
    const auto rows = run_wormcube(
                          "best allgather --on torus:8x8 --ports one --bytes 1K "
                          "--equal-cost-to hypercube:6 --equal-cost-by " +
                          by + " --json -")
                          .json();
    CHECK(rows[0]["cost_model"]["tw_us_per_byte"].get<double>() ==
          Approx(0.001 * rows[0]["equal_cost_factor"].get<double>()));
    return rows[0]["equal_cost_factor"].get<double>();
  };
  CHECK(factor("links") == Approx(4.0 / 6));
  CHECK(factor("bisection") == Approx(4.0 / 8));
  CHECK_THAT(run_wormcube("best alltoall --on star:16 --ports one --bytes 1K --equal-cost-to "
                          "hypercube:4 --equal-cost-by bisection")
                 .out,
             Catch::Contains("tw x 0.5333 on star:16: an exchange bound of 15 steps"));
  const auto refused = [](const std::string& options) {
    const auto output = run_wormcube("best allgather --bytes 1K " + options);
    CHECK(output.exit == 2);
    return output.err;
  };
  CHECK_THAT(refused("--on torus:4x4 --equal-cost-to hypercube:6"),
             Catch::Contains("it has 64 nodes, torus:4x4 has 16"));
  CHECK_THAT(refused("--on torus:8x8 --equal-cost-by links"),
             Catch::Contains("no effect without --equal-cost-to"));
  CHECK_THAT(refused("--on torus:8x8 --equal-cost-to hypercube:6 --cost replay"),
             Catch::Contains("use --cost formula"));
}

TEST_CASE("list and best rank algorithms under the names of other libraries", "[cli]") {
  const auto listed =
      run_wormcube("list allreduce --on ring:6 --algorithm openmpi.ring --json -").json();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["algorithm"] == "ring");
  CHECK(listed[0]["chosen_options"]["order"] == "rank");
  // Its options are its own, but for those that the name leaves open.
  const std::string names = "openmpi.segmented_ring,openmpi.segmented_ring:segments=8,nccl.tree";
  const auto best = run_wormcube("best allreduce --on ring:6 --ports one --bytes 64K --algorithm " +
                                 names + " --json -")
                        .json();
  REQUIRE(best.size() == 1);
  std::set<std::string> ranked;
  for (const auto& row : best[0]["ranking"]) {
    const auto segments = row["options"]["segments"].get<int>();
    ranked.insert(row["algorithm"].get<std::string>() +
                  (row["algorithm"] == "ring" ? std::to_string(segments) : ""));
  }
  CHECK(ranked == std::set<std::string>{"ring4", "ring8", "double-tree"});
  const auto all = run_wormcube("best --on ring:4 --ports one --bytes 1K --algorithm nccl.ring");
  CHECK(all.exit == 0);
  CHECK_THAT(all.out, Catch::Contains("nccl.ring is ring") && Catch::Contains("reduce_scatter"));
  CHECK_THAT(run_wormcube("best allreduce --on ring:6 --algorithm openmpi.rings").err,
             Catch::Contains("wormcube list --aliases"));
}

TEST_CASE("what has no time in best says whether auto never picks it", "[cli]") {
  const std::string call = "best gather --on tree:5 --bytes 1 --ports all --json - ";
  const auto reason_of = [&](const std::string& options) {
    const auto rows = run_wormcube(call + options).json();
    for (const auto& row : rows[0]["ranking"]) {
      if (row["algorithm"] == "direct")
        return row["model_time_us"].is_null() ? row["model_time_us_reason"].get<std::string>() : "";
    }
    return std::string("not ranked");
  };
  CHECK_THAT(reason_of(""), Catch::Contains("auto never picks it: name it with --algorithm"));
  CHECK(reason_of("--algorithm direct").empty());
}

TEST_CASE("the constants that tune prints are those of the profile that it saves", "[cli]") {
  const auto tuned =
      run_wormcube(
          "tune alltoall reduce --on ring:4 --bytes 8,64 --iterations 1 --executor fibers "
          "--json -")
          .json();
  const auto &fitted = tuned["fitted"], &profile = tuned["profile"];
  CHECK(fitted["flit_bytes"] == profile["flit_bytes"]);
  CHECK(1e6 * fitted["th_us"].get<double>() == Approx(profile["hop_ps"].get<double>()));
}

TEST_CASE("work counts all nodes, and auto by work picks the least", "[cli]") {
  // Two messages a node to its neighbours on the line, 100 bytes each; then the same by hand.
  const auto rows =
      run_wormcube("list alltoall --on ring:3 --cost work --bytes 100 --json -").json();
  std::map<std::string, long> work;
  for (const auto& row : rows) {
    if (row["admitted"]) work[row["algorithm"]] = row["work_bytes"];
  }
  CHECK(work.at("shift") == 3 * 2 * (100 + 8192 + 128 + 512 + 2 * 192));
  // Of a reduction each byte that is combined counts three times: two nodes send a vector, one
  // adds.
  const auto reduced =
      run_wormcube("list reduce --on line:2 --cost work --bytes 80 --json -").json();
  for (const auto& row : reduced) {
    if (row["algorithm"] == "halving")
      CHECK(row["work_bytes"] == 80 + 8192 + 128 + 2 * (512 + 192) + 3 * 80);
  }
  // Where messages are short few of them win, where they are long few bytes.
  const auto taken = [](const std::string& bytes) {
    const auto ran =
        run_wormcube("check alltoall --on torus:8x8 --cost work --json - --bytes " + bytes).json();
    return ran["messages"].get<int>();
  };
  CHECK(taken("64") < 64 * 8);
  CHECK(taken("64K") >= 64 * 63);
  const auto best =
      run_wormcube("best alltoall --on torus:4x4 --ports one --cost work --bytes 64,1M --json -")
          .json();
  for (const auto& cell : best) {
    const auto& ranking = cell["ranking"];
    REQUIRE(ranking.size() > 1);
    for (std::size_t i = 1; i < ranking.size() && !ranking[i]["work_bytes"].is_null(); ++i) {
      CHECK(ranking[i - 1]["work_bytes"] <= ranking[i]["work_bytes"]);
    }
  }
  const std::string exchange = run_wormcube("transpose --on ring:3 --shape 6x6 --cost work").out;
  CHECK_THAT(exchange, Contains("auto: least work"));
  CHECK_THAT(exchange, Contains("chosen by"));
}
