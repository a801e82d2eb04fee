// Problems that users of the first version reported: lost results, missing messages, limits, texts.
// By command.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using wormcube::test::read_text;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;
using wormcube::test::with_addresses;
using wormcube::test::wormcube_starts;

namespace {

/// A mistake, reported before anything is printed, with exit code 2.
void is_refused(const char* arguments, const char* expected) {
  const auto output = run_wormcube(arguments);
  INFO(arguments << "\n" << output.out << output.err);
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK_THAT(output.err, Contains(expected));
}

}  // namespace

TEST_CASE("a run over its time limit is named, and the next ones go on") {
  const TemporaryFile json(".json");
  const auto output = run_wormcube(
      "run alltoall --on ring:4,ring:5 --algorithm ring --bytes 8 --iterations 1000000 "
      "--time-limit "
      "0.2 --json " +
      json.path());
  CHECK(output.exit == 4);
  CHECK_THAT(output.err,
             Contains("alltoall ring on ring:4, blocks of 8 bytes: ") &&
                 Contains("alltoall ring on ring:5, blocks of 8 bytes: ") &&
                 Contains("not finished after 200 ms"));  // the run, or on busy hosts the dry run
  CHECK_THAT(output.out, Contains("# no result: alltoall ring on ring:4, blocks of 8 bytes"));
  const auto results = nlohmann::json::parse(read_text(json.path()));
  REQUIRE(results.size() == 2);
  for (const auto& result : results) {
    CHECK(result["status"] == "time limit");
    CHECK(result["passed"].is_null());
    CHECK_THAT(result["passed_reason"].get<std::string>(),
               Contains("not finished after 200 ms, the time limit"));
    CHECK(result["block_bytes"] == 8);
    CHECK_FALSE(result.contains("times_us"));
  }
  CHECK(results[0]["topology"] == "ring:4");
  CHECK(results[1]["topology"] == "ring:5");
}

TEST_CASE("with --jsonl a file holds this run's results only") {
  const TemporaryFile lines(".jsonl");
  lines.write("an earlier run's\n");
  CHECK(run_wormcube("run alltoall --on ring:4 --algorithm ring --bytes 8 --iterations 1000000 "
                     "--time-limit 0.2 --jsonl " +
                     lines.path())
            .exit == 4);
  CHECK(nlohmann::json::parse(read_text(lines.path()))["status"] == "time limit");
  CHECK(run_wormcube("run alltoall --on ring:4 --algorithm ring,shift --bytes 8 --jsonl " +
                     lines.path())
            .exit == 0);
  const std::string text = read_text(lines.path());
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("with --quiet a table keeps the network in each row, and the reasons") {
  const auto rows =
      run_wormcube("run alltoall --on ring:4,hypercube:3 --bytes 64,1K --iterations 1 --quiet");
  CHECK_THAT(rows.out, Contains("\n  ring:4 ") && Contains("\n  hypercube:3 "));
  const auto failed =
      run_wormcube("check alltoall --on ring:5 --algorithm shift --virtual-channels 1 --quiet");
  CHECK(failed.exit == 1);
  CHECK_THAT(failed.out, Contains("FAILED: its routes can deadlock: a cycle of"));
}

TEST_CASE("a list of algorithms goes over networks that not all of them admit") {
  const auto output = run_wormcube(
      "run alltoall --on torus:4x4,mesh:4x4 --algorithm suh-torus,suh-mesh,mesh --iterations 1");
  CHECK(output.exit == 0);
  CHECK_THAT(output.out,
             Contains("torus:4x4  suh-torus") && Contains("mesh:4x4   suh-mesh") &&
                 Contains("# not applicable: suh-mesh: every dimension must be a line"));
}

TEST_CASE("of all algorithms those that do not fit are named, with --wide with their reasons") {
  const std::string sweep = "run alltoall --on ring:4 --algorithm all --bytes 8 --iterations 1";
  CHECK_THAT(run_wormcube(sweep).out, Contains("# not applicable: ") && Contains("suh-torus") &&
                                          Contains("gives the reasons") &&
                                          !Contains("suh-torus: needs"));
  CHECK_THAT(run_wormcube(sweep + " --wide").out,
             Contains("# not applicable: suh-torus: needs 2 dimensions or more"));
  CHECK(run_wormcube(sweep + " --quiet").out.find("not applicable") == std::string::npos);
}

TEST_CASE("a remark about more dimensions is not made of a network that has fewer") {
  const std::string check = "check alltoall --algorithm kim-a1 --on ";
  CHECK(run_wormcube(check + "torus:4x4").out.find("our extension") == std::string::npos);
  CHECK_THAT(run_wormcube(check + "torus:4x4x4").out, Contains("n > 2 dimensions: our extension"));
}

TEST_CASE("what moves no data has no bandwidth") {
  const auto still =
      run_wormcube("run shift --on torus:4x4 --distance 16 --iterations 1 --json -").json();
  CHECK(still["busbw_gb_per_s"].is_null());
  const auto moved =
      run_wormcube("run shift --on torus:4x4 --distance 1 --iterations 1 --json -").json();
  CHECK(moved["busbw_gb_per_s"].is_number());
}

TEST_CASE("nodes in processes need an MPI and an mpirun, and the error says so") {
  for (const char* command : {"run alltoall", "fft", "transpose --shape 8x8", "matvec --shape 8x8",
                              "sort --count 100", "lookup --entries 10 --lookups 10"}) {
    const auto output = run_wormcube(std::string(command) + " --on ring:4 --executor mpi");
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, StartsWith("wormcube: ") && Contains("--executor mpi"));
  }
}

TEST_CASE("where nothing of a sweep runs, that is a mistake") {
  for (const char* arguments :
       {"check alltoall --on torus:6x6,torus:5x5 --algorithm suh-torus",
        "run alltoall --on torus:6x6,torus:5x5 --algorithm suh-torus,tseng-diagonal",
        "check alltoall --on ring:4,ring:5 --ports one --algorithm product-multiport"}) {
    is_refused(arguments, "none of the requested alltoall algorithms runs here\n  ");
  }
}

TEST_CASE("reproduce without a row is a mistake") {
  for (const char* arguments : {"reproduce kim --sizes 6", "reproduce kim --on mesh:4x4",
                                "reproduce suh --on torus:4x4,torus:8x8"}) {
    is_refused(arguments, "no row of its tables applies to ");
  }
}

TEST_CASE("what is not proved has not passed, and has not failed") {
  const std::string check = "check alltoall --on torus:8x8 --algorithm shift --prove-up-to 1";
  const auto table = run_wormcube(check);
  CHECK(table.exit == 0);
  CHECK_THAT(table.out,
             Contains("?        ?       ?\n") &&
                 Contains("# shift on torus:8x8: delivery: not proved: 64 nodes; the limit"));
  const auto result = run_wormcube(check + " --json -").json();
  CHECK(result["passed"].is_null());
  CHECK_THAT(result["passed_reason"].get<std::string>(), Contains("the limit for proofs is 1"));
  // A failure is one, proved or not.
  const auto failed = run_wormcube(check + " --virtual-channels 1 --json -");
  CHECK(failed.exit == 1);
  CHECK(failed.json()["passed"] == false);
  const auto row = run_wormcube("reproduce kim --sizes 8 --prove-up-to 1 --json -").json();
  REQUIRE_FALSE(row["rows"].empty());
  CHECK(row["rows"][0]["passed"].is_null());
  CHECK(row["rows"][0]["passed_reason"] == row["rows"][0]["delivered_reason"]);
}

TEST_CASE("a failure is reported once, and links that may be shared are not failures") {
  const auto output =
      run_wormcube("check alltoall --on ring:8 --virtual-channels 1 --algorithm bruck");
  CHECK(output.exit == 1);
  CHECK_THAT(output.out, Contains("FAILED: its routes can deadlock: a cycle of 8 channels: "));
  CHECK(output.out.find("FAILED") == output.out.rfind("FAILED"));
}

TEST_CASE("a refusal names algorithms that run there") {
  const auto error_of = [](const std::string& arguments) {
    const auto output = run_wormcube("check " + arguments);
    CHECK(output.exit == 2);
    return output.err;
  };
  CHECK_THAT(error_of("alltoall --on torus:6x6 --algorithm tseng-diagonal"),
             Contains("; use mesh or shift\n"));
  CHECK_THAT(error_of("allgather --on star:5 --algorithm hypercube-all-port"),
             Contains("; use bruck"));
  CHECK_THAT(error_of("alltoall --on star:5 --algorithm ring"), Contains("; use shift\n"));
  CHECK_THAT(error_of("alltoall --on torus:8x8 --algorithm bokhari-quadrant"),
             Contains("; use mesh or shift\n"));
  CHECK_THAT(error_of("alltoall --on torus:4x4 --algorithm ring-all-port"),
             Contains("; use shift\n"));
}

TEST_CASE("list compares sizes, counts shared links, and says what auto picks and leaves out") {
  const auto table = run_wormcube("list alltoall --on torus:4x4 --bytes 64,1K..2K");
  CHECK_THAT(table.out, Contains("  bruck ") && Contains("# auto picks ") &&
                            Contains(" for alltoall of 64 B with one port ("));
  const auto rows = run_wormcube("list alltoall --on torus:4x4 --bytes 64,1K..2K --json -").json();
  std::vector<int> sizes;
  for (const auto& row : rows) {
    if (row["algorithm"] != "bruck") continue;
    sizes.push_back(row["block_bytes"]);
    CHECK(row["considered_by_auto"] == true);
    CHECK(row["chosen_by_auto"].is_boolean());
    double parts = 0;
    for (const auto& part : row["model_time_parts_us"]) parts += part.get<double>();
    CHECK(parts == Approx(row["model_time_us"].get<double>()));
    const double m = row["block_bytes"], ts = row["cost_model"]["ts_us"],
                 tw = row["cost_model"]["tw_us_per_byte"], tr = row["cost_model"]["tr_us_per_byte"];
    const double th = row["cost_model"]["th_us"];
    const auto count = [&](const char* name) { return row["predicted"][name].get<double>(); };
    CHECK(row["model_time_us"].get<double>() ==
          Approx(ts * count("startups") +
                 std::max(th * count("hops") + tw * m * count("transmission_blocks"),
                          th * count("startups") + tw * m * count("link_blocks")) +
                 tr * m * count("rearranged_blocks")));
  }
  CHECK(sizes == std::vector<int>{64, 1024, 2048});
}

TEST_CASE("every setting that changes a result is reported") {
  const auto says = [](const std::string& arguments, const std::string& expected) {
    INFO(arguments);
    CHECK_THAT(run_wormcube(arguments).out, Contains(expected));
  };
  says("run reduce --on ring:4 --operator min --type int32 --iterations 1",
       "# arguments        root 0, min on int32\n");
  says("check reduce --on ring:4 --operator compose", "root 0, compose on affine\n");
  says("check k_broadcast --on ring:8 --sources 7,", "1 source: 7\n");
  says("show broadcast --on ring:4 --root 2", "# arguments        root 2\n");
  says("check allgatherv --on ring:8 --seed 3", "# block sizes      seed 3\n");
  says("check barrier --on ring:5", ": exactly once: a barrier moves no data");
  const auto of_networks =
      run_wormcube("check broadcast --on hypercube:4,tree:6 --algorithm scatter-allgather");
  CHECK_THAT(of_networks.out, Contains("scatter-allgather on hypercube:4: exactly once: "));
  CHECK_THAT(run_wormcube("deadlock").out, Contains("# topology         ring:4"));
}

TEST_CASE("without its notes a command still prints and labels its results") {
  const auto topology = run_wormcube("topology ring:4 --quiet");
  CHECK_THAT(topology.out, Contains("# nodes            4\n") && Contains("# dimension  shape"));
  const auto show = run_wormcube("show broadcast --on mesh:4x4 --quiet");
  CHECK_THAT(show.out, Contains("# step 0: ") && Contains("# from  to") && !Contains("# show"));
  const auto reproduced = run_wormcube("reproduce kim --sizes 4,8 --quiet");
  CHECK_THAT(reproduced.out, Contains("# topology         torus:8x8"));
  CHECK_THAT(run_wormcube("list alltoall --on ring:4 --quiet").out, Contains("# operation"));
}

TEST_CASE("topology parses its network like other commands and reports what it did not search") {
  const auto petersen = run_wormcube("topology --on petersen");
  CHECK(petersen.exit == 0);
  CHECK_THAT(petersen.out, Contains("not searched; for graphs") && Contains("5 steps: 5 | 5"));
  CHECK_THAT(run_wormcube("topology ring:5").out, Contains("no dimension has an even number"));
  CHECK_THAT(run_wormcube("topology tree:8").out, Contains("1 per link, because there is no ring"));
  CHECK_THAT(run_wormcube("topology ring:2").out, Contains("1 step of total exchange"));
  CHECK_THAT(run_wormcube("show alltoall --on tree:4 --algorithm shift --step 0").out,
             Contains("0->s0"));
}

TEST_CASE("a claim about other networks is not made beside a result") {
  CHECK(run_wormcube("run alltoall --on ring:4 --algorithm shift --iterations 1")
            .out.find("free of") == std::string::npos);
  CHECK_THAT(run_wormcube("list alltoall --wide").out,
             Contains("free of contention on hypercubes"));
}

TEST_CASE("memory that is unavailable after all is reported in a sentence, with exit code 2") {
  if (sanitized) return;
  for (const char* arguments :
       {"run alltoall --on ring:8 --algorithm shift --bytes 16M --iterations 1",
        "check alltoall --on torus:16x16 --algorithm shift", "transpose --shape 20000x10000",
        "fft --shape 16777213 --on ring:4", "topology complete:1024",
        "show alltoall --on torus:16x16 --algorithm shift"}) {
    for (const int mebibytes : {30, 60, 120, 250, 500}) {
      const std::string limit = with_addresses(mebibytes);
      if (!wormcube_starts(limit)) continue;  // with libmpich it takes over 50 MiB to load
      const auto output = run_wormcube(arguments, limit);
      INFO(arguments << " with " << mebibytes << " MiB: " << output.err);
      CHECK((output.exit == 0 || output.exit == 2));
      CHECK(output.err.find("std::") == std::string::npos);
      CHECK(output.err.find("terminate") == std::string::npos);
      if (output.exit == 2)
        CHECK_THAT(output.err, StartsWith("wormcube: ") && Contains("ulimit -v"));
    }
  }
}

TEST_CASE("queues that are too large are refused with figures, before anything runs") {
  if (sanitized) return;
  const std::string limit = with_addresses(400);
  for (const char* arguments :
       {"run alltoall --on torus:4x4 --executor fibers --transport flits --bytes 64",
        "run alltoall --on torus:4x4 --executor fibers --transport flits --bytes 4K",
        "fft --on torus:4x4 --executor fibers --transport flits --shape 1024"}) {
    const auto output = run_wormcube(std::string(arguments) + " --capacity 1048576", limit);
    INFO(arguments << ": " << output.out << output.err);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("memory for queues of 1048576 flits each needs") &&
                               Contains(" GiB of memory") && Contains("is available (") &&
                               Contains("use a smaller --capacity"));
    CHECK(run_wormcube(std::string(arguments) + " --capacity 64", limit).exit == 0);
  }
}

TEST_CASE("a deadlock whose messages do not fit is refused with figures") {
  if (sanitized) return;
  const auto bytes = run_wormcube("deadlock --of channels --on ring:20000", with_addresses(400));
  CHECK(bytes.exit == 2);
  CHECK_THAT(bytes.err, Contains("20000 messages of 65536 bytes needs 2.44 GiB of memory") &&
                            Contains("is available ("));
}

TEST_CASE("more nodes than there can be threads are refused before one is started") {
  const auto output = run_wormcube("deadlock --on ring:1000000");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err,
             Contains("1000000 nodes") && (Contains("vm.max_map_count") || Contains("of memory")));
}

TEST_CASE("list refuses networks whose messages it could not count") {
  if (sanitized) return;
  const auto output = run_wormcube("list alltoall --on torus:1000x1000", with_addresses(130));
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains("1000000 nodes needs 122 MiB of memory"));
}

TEST_CASE("formulas of a dense network take memory by the links that messages use") {
  if (sanitized) return;
  const std::string limit = with_addresses(1000);  // a counter for each link would be 1.6 GB
  CHECK(run_wormcube("show scan --on complete:20000 --algorithm hypercube --step 0 --node 0", limit)
            .exit == 0);
  CHECK(run_wormcube("list scan --on complete:20000", limit).exit == 0);
}

TEST_CASE("a dry run that would take hours is refused with figures, unless it is wanted") {
  CHECK(run_wormcube("check alltoall --on ring:8 --algorithm bruck --record-pieces 100").exit == 2);
  CHECK(run_wormcube("check alltoall --on ring:8 --algorithm bruck --record-pieces 1000").exit ==
        0);
  if (sanitized) return;  // the formulas alone take half a minute there
  const auto output = run_wormcube("check alltoall --on complete:20000 --algorithm bruck");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains("check alltoall bruck on complete:20000: the dry run would "
                                  "visit 55") &&
                             Contains("the limit is 2000000000") && Contains("--record-pieces"));
  const auto shown = run_wormcube("show alltoall --on complete:20000 --algorithm bruck");
  CHECK(shown.exit == 2);
  CHECK_THAT(shown.err, Contains("show alltoall bruck on complete:20000: the dry run would visit"));
}

TEST_CASE("a picture of too many nodes is refused before the dry run") {
  // The dry run alone would take too much memory, and be refused with another text.
  const std::string limit = sanitized ? "" : with_addresses(500);
  for (const auto& [picture, reason] :
       {std::pair("--svg", "160000 links, the limit for pictures is 100000"),
        std::pair("--dot", "40000 nodes, the limit for Graphviz is 1024")}) {
    const auto output =
        run_wormcube(std::string("show alltoall --on torus:200x200 --algorithm shift --step 0 ") +
                         picture + " -",
                     limit);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains(reason));
  }
}

TEST_CASE("every estimate is in the JSON, beside what was used") {
  const auto made =
      run_wormcube(
          "run alltoall --on torus:4x4 --algorithm suh-torus --bytes 64K --iterations 1 --json -")
          .json()["provenance"];
  CHECK(made["memory_estimate_bytes"] > 2 * 16 * 16 * (64 << 10));
  CHECK(made["memory_peak_bytes"] > 2 * 16 * 16 * (64 << 10));
}

TEST_CASE("a constant series has no period, and JSON says why") {
  const TemporaryFile file(".csv"), json(".json");
  file.write("v\n5\n5\n5\n5\n");
  const auto output =
      run_wormcube("fft --on ring:2 --input " + file.path() + " --json " + json.path());
  CHECK(output.exit == 0);
  CHECK_THAT(output.out, Contains("no period: "));
  const auto result = nlohmann::json::parse(read_text(json.path()));
  CHECK(result["peak"].is_null());
  CHECK(result["peak_reason"].is_string());
}

TEST_CASE("a signal without a period is reported, and errors below rounding are not printed") {
  const auto impulse = run_wormcube("fft --generate impulse --shape 1000 --on ring:4");
  CHECK(impulse.exit == 0);
  CHECK_THAT(impulse.out, Contains("no period: ") && !Contains("strongest"));
  const auto tones = run_wormcube("fft --generate tones --shape 1024 --on ring:4");
  CHECK_THAT(tones.out, Contains("< 1.1e-16") && Contains("log2 N") && Contains("strongest"));
  const auto zeros = run_wormcube("fft --generate impulse --shape 1 --on ring:1");
  CHECK_THAT(zeros.out, !Contains("0.000e+00"));
}

TEST_CASE("values of every size pass their checks") {
  for (const char* scale : {"e200", "e-310", ""}) {
    const TemporaryFile file(".csv");
    std::string text = "v\n";
    for (int i = 1; i < 120; ++i) text += std::to_string(i * 37 % 101) + scale + "\n";
    file.write(text);
    const auto output = run_wormcube("fft --on ring:4 --input " + file.path());
    INFO(output.out << output.err);
    CHECK(output.exit == 0);
    CHECK(output.out.find("nan") == std::string::npos);
  }
}

TEST_CASE("what cannot be written is refused with the file and the reason, streams too") {
  for (const char* option : {"--json", "--csv", "--output"}) {
    const auto output = run_wormcube(std::string("fft --on ring:2 ") + option + " /dev/null/x");
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("cannot write '/dev/null/x': Not a directory"));
  }
  for (const char* arguments : {"fft --on ring:2 >/dev/full", "--help >/dev/full", "fft --help >&-",
                                "--version >/dev/full"}) {
    const auto output = run_wormcube(arguments);
    INFO(arguments);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("cannot write to standard output"));
  }
  const auto full = run_wormcube("fft --on ring:2 --json /dev/full");
  CHECK(full.exit == 2);
  CHECK_THAT(full.err, Contains("'/dev/full': No space left on device"));
}

TEST_CASE("what has no effect is refused") {
  const TemporaryFile series(".csv");
  series.write("v\n1\n2\n3\n4\n");
  const std::string input = " --input " + series.path();
  const auto refusal = [](const std::string& arguments) {
    const auto output = run_wormcube(arguments);
    INFO(arguments << "\n" << output.out);
    CHECK(output.exit == 2);
    return output.err;
  };
  CHECK_THAT(refusal("fft --column v"),
             Contains("--column names a column of a CSV file; add --input"));
  CHECK_THAT(refusal("fft --seed 3" + input), Contains("--seed has no effect on data from a file"));
  CHECK_THAT(refusal("sort --seed 3" + input),
             Contains("--seed has no effect on data from a file"));
  CHECK_THAT(refusal("sort --output -"), Contains("'-' is not allowed here"));
  CHECK_THAT(refusal("matvec --output a.csv --csv a.csv"),
             Contains("--csv and --output would write the same file, a.csv"));
  CHECK_THAT(refusal("lookup --output -"), Contains("'-' is not allowed here"));
  CHECK_THAT(refusal("transpose --type int32" + input),
             Contains("--input already defines shape and type"));
  CHECK_THAT(refusal("run alltoall --on ring:4 --seed -1"), Contains("'-1' is not a whole number"));
  CHECK_THAT(refusal("run alltoall --on ring:4 --seed abc"),
             Contains("'abc' is not a whole number"));
  CHECK_THAT(refusal("run alltoall --on ring:4 --ts inf"), Contains("inf is not finite"));
  for (const char* const option : {"--workers 2", "--pin", "--executor fibers", "--lockstep",
                                   "--window 2", "--iterations 3"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    for (const char* const by : {"formula", "replay"}) {
      CHECK_THAT(refusal(std::string("best alltoall --on ring:4 --cost ") + by + " " + option),
                 Contains(name + " has no effect with --cost " + by));
    }
  }
  CHECK(run_wormcube("best alltoall --on ring:4 --bytes 64 --cost measured --executor fibers "
                     "--workers 1 --iterations 1")
            .exit == 0);
  CHECK_THAT(refusal("fft --on ring:2 --output -"), Contains("need a file name"));
  CHECK_THAT(refusal("fft --on ring:2 --json x.out --output x.out"),
             Contains("--json and --output would write the same file, x.out"));
}

TEST_CASE("hints help where they stand") {
  const auto said = [](const std::string& arguments) {
    const auto output = run_wormcube(arguments);
    CHECK(output.exit == 2);
    return output.err;
  };
  CHECK_THAT(said("fft data.csv"), Contains("to read a file, use --input data.csv"));
  CHECK_THAT(said("topology ring:4 --time-limit 3"),
             Contains("unknown option --time-limit for `topology`"));
  CHECK_THAT(said("run alltoall --on ring:4 --iteration 3"),
             Contains("did you mean '--iterations'?"));
  CHECK_THAT(said("run alltoall --on torus:8,8"), Contains("x separates sizes: torus:8x8"));
  CHECK_THAT(said("topology 'torus:8*8'"), Contains("sizes are separated by x, as in torus:8x8"));
  CHECK_THAT(said("help nonsense"), Contains("unknown command 'nonsense'"));
  CHECK_THAT(said("run alltoall --on ring:8 --iterations 100000000 --bytes 1G"),
             Contains("or fewer iterations"));
  const TemporaryFile graph(".txt"), twice(".csv");
  graph.write("1 2\n2 3\n3 1\n");
  CHECK_THAT(said("topology graph:" + graph.path()), Contains("numbered from 0, not from 1"));
  twice.write("v,v\n1,2\n");
  CHECK_THAT(said("fft --column v --input " + twice.path()),
             Contains("two columns are called 'v'"));
}

TEST_CASE("help and version are found under their usual names") {
  CHECK(run_wormcube("version").out == run_wormcube("--version").out);
  CHECK(run_wormcube("-V").out == run_wormcube("--version").out);
  CHECK(run_wormcube("help").out == run_wormcube("--help").out);
  CHECK(run_wormcube("help run").out == run_wormcube("run --help").out);
}

TEST_CASE("one of a thing is not called several") {
  CHECK_THAT(run_wormcube("run alltoall --on line:2 --iterations 1").out,
             Contains("(2 nodes, 2 links)"));
  CHECK_THAT(run_wormcube("topology line:2").out, Contains("1 cable,"));
}

// Its thread pool must not wait for an attempt to start it that has failed.
TEST_CASE("with little memory for data (ulimit -d) commands end, and with exit code 2 at worst") {
  if (sanitized) return;
  for (const char* arguments :
       {"run alltoall --on torus:4x4 --bytes 1K --iterations 1", "replay alltoall --on torus:4x4",
        "best alltoall --on torus:4x4", "list alltoall --on torus:4x4", "topology torus:4x4"}) {
    for (const int kibibytes : {1024, 3072, 4096, 12000, 16384, 40000}) {
      const std::string limit = "ulimit -c 0; ulimit -d " + std::to_string(kibibytes) + ";";
      if (!wormcube_starts(limit)) continue;
      const auto output = run_wormcube(arguments, limit + " timeout 60");
      INFO(arguments << " with " << kibibytes << " KiB: " << output.err);
      CHECK((output.exit == 0 || output.exit == 2));
      CHECK_THAT(output.err, !Contains("terminate"));
      if (output.exit == 2) CHECK_THAT(output.err, StartsWith("wormcube: "));
    }
  }
}

TEST_CASE("a missing folder for temporary files is named with its variable") {
  const TemporaryFile program(".c", "");
  const auto output =
      run_wormcube("prove " + program.path() + " --as allreduce", "TMPDIR=/nonexistent");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains("/nonexistent") && Contains("set TMPDIR"));
}
