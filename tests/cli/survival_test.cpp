// Files, numbers and empty words on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube::test;
using Catch::Matchers::Contains;

namespace {

void put(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

TEST_CASE("no output is an input or another output, by whatever name") {
  const TemporaryFile data(".csv"), graph(".txt"), out(".json"), link(".link");
  const std::string numbers = "v\n3\n1\n2\n", edges = "0 1\n1 2\n";
  put(data.path(), numbers);
  put(graph.path(), edges);
  std::filesystem::create_symlink(data.path(), link.path());
  const std::string folder = std::filesystem::path(out.path()).parent_path().string(),
                    name = std::filesystem::path(out.path()).filename().string(),
                    twice = "'" + folder + "/./" + name + "'";
  for (const std::string& arguments :
       {"sort --on ring:2 --input " + data.path() + " --json " + data.path(),
        "sort --on ring:2 --input " + data.path() + " --csv " + link.path(),
        "sort --on ring:2 --input " + data.path() + " --output " + link.path(),
        "run barrier --on graph:" + graph.path() + " --json " + graph.path(),
        "run barrier --on 'graph:" + graph.path() + "*ring:3' --jsonl " + graph.path(),
        "run barrier --on ring:2 --json " + out.path() + " --csv " + twice,
        "run barrier --on ring:2 --jsonl " + out.path() + " --json " + twice,
        "fft --on ring:2 --generate noise --shape 16 --output " + out.path() + " --json " + twice,
        "run barrier --on ring:2 --json " + out.path() + " > " + out.path()}) {
    CAPTURE(arguments);
    const Output output = run_wormcube(arguments);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("would overwrite") || Contains("would write the same file"));
    CHECK(read_text(data.path()) == numbers);
    CHECK(read_text(graph.path()) == edges);
  }
  const Output sorted = run_wormcube("sort --on ring:2 --overwrite --input " + data.path() +
                                     " --output " + data.path());
  CHECK(sorted.exit == 0);
  CHECK(read_text(data.path()) == "sorted\n1\n2\n3\n");
  const Output found = run_wormcube("lookup --on ring:2 --overwrite --table " + data.path() +
                                    " --keys " + data.path() + " --output " + data.path());
  CHECK(found.exit == 0);
  CHECK(read_text(data.path()) == "value\n0\n1\n2\n");
}

TEST_CASE("a file that cannot be written is reported, with the results on standard output") {
  const Output output = run_wormcube("sort --on ring:2 --count 10 --output /dev/full");
  CHECK(output.exit == 2);
  CHECK_THAT(output.err, Contains("cannot write '/dev/full': No space left on device"));
  CHECK_THAT(output.out, Contains("wall"));
}

TEST_CASE("numbers beyond 64 bits are refused, not clamped") {
  for (const char* arguments : {"run barrier --on ring:2 --seed 99999999999999999999",
                                "check barrier --on ring:2 --prove-messages 99999999999999999999",
                                "check barrier --on ring:2 --record-pieces 99999999999999999999",
                                "sort --on ring:2 --samples 99999999999999999999",
                                "run shift --on ring:2 --distance -99999999999999999999"}) {
    const Output output = run_wormcube(arguments);
    CAPTURE(arguments);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("99999999999999999999 is too large; at most") ||
                               Contains("99999999999999999999 is beyond 64 bits"));
  }
}

TEST_CASE("empty values and items are refused, and errors say what to do") {
  const auto expect_error = [](const std::string& arguments, const std::string& text) {
    const Output output = run_wormcube(arguments);
    CAPTURE(arguments);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains(text));
  };
  expect_error("list '' --on ring:4", "empty argument");
  expect_error("fft --shape ''", "--shape: empty value");
  expect_error("fft --column=", "--column: empty value");
  expect_error("check alltoall --on ring:4,", "--on 'ring:4,': empty item in the list");
  expect_error("check alltoall --on ring:4,,ring:5", "empty item in the list");
  expect_error("run alltoall --on ring:4 --bytes 1,,2", "empty item in the list");
  expect_error("check alltoall --on ring:4 --algorithm shift:", "missing after the last ':'");
  expect_error("check alltoall --on ring:4 --algorithm kim-recursive:divisions=1:divisions=2",
               "option 'divisions' is given twice");
  expect_error("list --plugin x.so", "--plugin must precede the command");
  expect_error("run alltoall ring:4", "--on ring:4");
  expect_error("run alltoall --iteration 3", "did you mean '--iterations'?");
  expect_error("run alltoall --on ring:4 --transport flits --capacity abc",
               "'abc' is not a number");
  expect_error("run alltoall --on ring:4 --virtual-channels 4K4", "'4K4' is not a number");
  const std::string long_word(100'000, 'A');
  CHECK(run_wormcube("topology " + long_word).err.size() < 2000);
}

TEST_CASE("algorithms that differ in an option have different names in tables") {
  const Output output = run_wormcube(
      "check alltoall --on torus:16x16 --algorithm "
      "kim-recursive:divisions=1,kim-recursive:divisions=2 --quiet");
  CHECK_THAT(output.out, Contains("divisions=1") && Contains("divisions=2"));
}

TEST_CASE("list marks auto's pick, and --wide has the parts of a time") {
  const Output table = run_wormcube("list alltoall --on torus:8x8 --bytes 4K");
  const auto rows = run_wormcube("list alltoall --on torus:8x8 --bytes 4K --json -").json();
  int chosen = 0;
  double least = 1e300, of_chosen = 0;
  for (const auto& row : rows) {
    if (!row.contains("chosen_by_auto")) continue;
    if (row["ports"] == "one" && row["considered_by_auto"] == true)
      least = std::min(least, row["model_time_us"].get<double>());
    if (row["chosen_by_auto"] != true) continue;
    ++chosen;
    of_chosen = row["model_time_us"];
  }
  CHECK(chosen == 1);
  CHECK(of_chosen <= least);
  CHECK_THAT(table.out, Contains("  *\n"));
  CHECK_THAT(run_wormcube("list alltoall --on torus:4x4 --wide").out, Contains("transfer"));
  CHECK_THAT(run_wormcube("check alltoall --on torus:4x4 --wide").out, Contains("transfer"));
}

TEST_CASE("a block is followed from node to node") {
  const auto hops = [](const std::string& arguments) {
    return run_wormcube("show " + arguments + " --json -").json()["block"]["hops"];
  };
  const auto suh = hops("alltoall --on torus:4x4 --algorithm suh-torus --block 0,10");
  REQUIRE(suh.size() == 2);
  CHECK(suh[0]["from"] == 0);
  CHECK(suh[0]["to"] == suh[1]["from"]);
  CHECK(suh[1]["to"] == 10);
  for (const auto& hop : suh) CHECK(hop["part"] == 1);
  const auto ring = hops("alltoall --on ring:5 --algorithm ring --block 1,4");
  REQUIRE(ring.size() == 3);
  CHECK(ring.back()["to"] == 4);
  CHECK(hops("alltoall --on ring:4 --block 2,2").empty());
  CHECK_THAT(run_wormcube("show allreduce --on ring:4 --block 0,1").err,
             Contains("allreduce combines blocks"));
  CHECK(run_wormcube("show alltoall --on ring:4 --block 0,9").exit == 2);
  // Whatever sizes blocks have.
  CHECK_THAT(
      run_wormcube("show allgatherv --on ring:5 --algorithm ring --block 0,2").out,
      Contains("     0     0   1        1         1\n     1     1   2        1         1\n"));
}

TEST_CASE("a schedule's text is checked and shown again") {
  const TemporaryFile file(".txt"), again(".txt"), wrong(".txt");
  CHECK(run_wormcube("show alltoall --on torus:4x4 --algorithm suh-torus --write-schedule " +
                     file.path())
            .exit == 0);
  const auto checked = run_wormcube("check --schedule " + file.path() + " --json -").json();
  CHECK(checked["startups"] == 4);
  CHECK(checked["operation"] == "alltoall");
  CHECK(checked["delivered"] == true);
  CHECK(checked["exactly_once"] == true);
  CHECK(checked["link_load_max"] == 1);
  CHECK(checked["passed"] == true);
  CHECK(run_wormcube("show --schedule " + file.path() + " --write-schedule " + again.path()).exit ==
        0);
  CHECK(read_text(again.path()) == read_text(file.path()));
  const auto direct =
      run_wormcube("run alltoall --on torus:4x4 --algorithm suh-torus --bytes 96 --json -").json();
  for (const char* const executor : {"threads", "fibers"}) {
    const auto ran = run_wormcube("run --schedule " + file.path() + " --bytes 96 --executor " +
                                  executor + " --json -")
                         .json();
    CHECK(ran["wrong"] == 0);
    CHECK(ran["messages"] == direct["messages"]);
  }
  CHECK_THAT(run_wormcube("run --schedule " + file.path() + " --on ring:4").err,
             Contains("is for 16 nodes; ring:4 has 4"));
  // Among the algorithms, and on a page.
  const auto listed = run_wormcube("list --schedule " + file.path() + " --json -").json();
  const auto ranks = [&](const char* name) {
    return std::ranges::any_of(listed, [&](const auto& row) {
      return row["algorithm"] == name && row["topology"] == "torus:4x4" &&
             row["predicted"]["startups"] == 4;
    });
  };
  CHECK(ranks("schedule"));
  CHECK(ranks("suh-torus"));
  const auto best = run_wormcube("best --schedule " + file.path() +
                                 " --algorithm shift --bytes 96 --ports one --json -")
                        .json();
  CHECK(best[0]["winner"] == "schedule");
  const auto compared = run_wormcube("compare --schedule " + file.path() +
                                     " --algorithm suh-torus --bytes 96 --json -")
                            .json();
  CHECK(compared["sizes"][0]["calls"].size() == 2);
  const auto replayed = run_wormcube("replay --schedule " + file.path() + " --bytes 96 --json -");
  const auto itself =
      run_wormcube("replay alltoall --on torus:4x4 --algorithm suh-torus --bytes 96 --json -");
  CHECK(replayed.json()["block_bytes"] == 96);
  CHECK(replayed.json()["messages_in_all"] == itself.json()["messages_in_all"]);
  CHECK(run_wormcube("replay --schedule " + file.path() + " --on mesh:4x4 --quiet").exit == 0);
  const Output page = run_wormcube("draw --schedule " + file.path() + " --html -");
  CHECK(page.exit == 0);
  CHECK_THAT(page.out, Contains("\"algorithm\":\"schedule\""));
  for (const char* const command : {"draw --html -", "compare --algorithm shift,ring", "best"}) {
    CHECK_THAT(run_wormcube(command).err, Contains("is required"));
  }
  put(wrong.path(),
      "wormcube schedule 1\ntopology ring:4\nsteps 1\n\nstep 0\nnode 0: send 8 to 1, send 8 to 3\n"
      "node 1: receive 8 from 0\n\nend\n");
  const Output failed = run_wormcube("check --schedule " + wrong.path());
  CHECK(failed.exit == 1);
  CHECK_THAT(failed.out, Contains("FAILED") && Contains("unmatched"));
  CHECK(run_wormcube("check --schedule " + file.path() + " --on ring:4").exit == 2);
  const auto elsewhere =
      run_wormcube("check --schedule " + file.path() + " --on line:16 --ports all --json -").json();
  CHECK(elsewhere["topology"] == "line:16");
  CHECK(elsewhere["delivered"] == true);
  CHECK(elsewhere["link_load_max"] > 1);
}

TEST_CASE("Chakra traces are written, read again, and searched") {
  const TemporaryFile prefix(".trace");
  const std::string name = prefix.path();
  CHECK(
      run_wormcube("show allgather --on ring:3 --algorithm ring --bytes 8 --chakra " + name).exit ==
      0);
  for (const std::string& file : {name + ".0.et", name + ".2.et"}) {
    const auto read = run_wormcube("check --schedule " + file + " --as allgather --json -").json();
    CHECK(read["format"] == "Chakra");
    CHECK(read["startups"] == 2);
    CHECK(read["messages"] == 6);
    CHECK(read["delivered"].is_null());
    CHECK_THAT(read["delivered_reason"].get<std::string>(), Contains("searched: can deliver"));
    CHECK_THAT(read["witness"].get<std::string>(), Contains("operation allgather"));
  }
  const Output cannot =
      run_wormcube("check --schedule " + name + ".1.et --as allgather --bytes 16");
  CHECK(cannot.exit == 1);
  CHECK_THAT(cannot.out, Contains("cannot: node 0 gets 0 bytes and needs 32"));
  CHECK_THAT(run_wormcube("show allgather --on ring:3 --chakra -").err, Contains("name a prefix"));
  CHECK(run_wormcube("check --schedule " + name + " --bytes 8").exit == 2);
  for (const char* const rank : {"0", "1", "2"})
    CHECK(std::filesystem::remove(name + "." + rank + ".et"));
}
