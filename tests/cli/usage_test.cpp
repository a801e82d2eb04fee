// Usage errors, help, and wormcube topology.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <filesystem>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using wormcube::test::Output;
using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;

namespace {

struct Mistake {
  std::string arguments, expected;  // what standard error must contain
};

}  // namespace

TEST_CASE("a usage error ends with exit code 2 and one line that names the mistake") {
  const auto [arguments, expected] = GENERATE(
      Mistake{"", "--help"}, Mistake{"fly", "fly"}, Mistake{"run", "OPERATION"},
      Mistake{"--plugins fly", "unknown option '--plugins'"}, Mistake{"run alltoall", "--on"},
      Mistake{"run teleport --on ring:4", "alltoall"}, Mistake{"run alltoall --on blob:4", "blob"},
      Mistake{"run alltoall --on torus:8y8", "8y8"},
      Mistake{"run alltoall --on ring:4 --algorithm magic", "magic"},
      Mistake{"run alltoall --on ring:4 --bytes many", "many"},
      Mistake{"run alltoall --on ring:4 --bytes 4Q", "4Q"},
      Mistake{"run alltoall --on ring:4 --bytes -1", "-1"},
      Mistake{"run alltoall --on ring:4 --iterations 0", "--iterations"},
      Mistake{"run alltoall --on ring:4 --executor goblins",
              "unknown value 'goblins'; available: threads fibers mpi mpi+fibers"},
      Mistake{"run alltoall --on ring:4 --executor fibres", "did you mean 'fibers'?"},
      Mistake{"run alltoall --on ring:4 --transport flits --capacity 0", "--capacity"},
      Mistake{"run alltoall --on ring:4 --capacity 4", "--capacity applies to --transport flits"},
      Mistake{"fft --on ring:4 --routers 1", "--routers applies to --transport flits"},
      Mistake{"sort --on ring:4 --fault 0-1:flip", "--fault applies to --transport flits"},
      Mistake{"run alltoall --on ring:4 --occupancy o.csv",
              "--occupancy applies to --transport flits"},
      Mistake{"run alltoall --on ring:4 --transport flits --executor mpi",
              "the network between processes is MPI's; use --executor threads or fibers"},
      Mistake{"run alltoall --on ring:4 --transport flits --executor fibers --routers 2",
              "--routers 2 has no effect with --executor fibers"},
      Mistake{"run alltoall --on ring:4 --transport flits --fault 0-2:flip",
              "no link 0-2 in ring:4; node 0 has links to 1, 3"},
      Mistake{"run alltoall --on ring:4 --transport flits --fault 0-1:melt",
              "unknown fault 'melt'; one of flip, drop, stall"},
      Mistake{"run alltoall --on ring:4 --transport flits --fault 01:flip",
              "write FROM-TO:KIND, such as 1-2:flip"},
      Mistake{"run alltoall --on ring:4 --executor fibers --workers 5",
              "--workers 5: ring:4 has 4 nodes"},
      Mistake{"run alltoall --on ring:4 --workers 2", "each of the 4 nodes is a thread"},
      Mistake{"run alltoall --on ring:4 --executor fibers --workers 1025", "1024"},
      Mistake{"run alltoall --on ring:1000 --executor fibers --workers 1000 --pin --iterations 1",
              "1000 workers cannot have a core each"},
      Mistake{"transpose --shape 8x8 --on ring:4 --workers 3", "--executor fibers"},
      Mistake{"run alltoall --on ring:4 --no-verify=maybe", "maybe"},
      Mistake{"run alltoall --on ring:4 --virtual-channels 3", "--virtual-channels"},
      Mistake{"run alltoall --on ring:4 --json - --csv -", "--csv"},
      Mistake{"run alltoall --on ring:5 --virtual-channels 1 --algorithm shift", "cycle"},
      Mistake{"run broadcast --on ring:4 --root 4", "root"},
      Mistake{"run alltoall --on hypercube:3 --algorithm hypercube-all-port --ports one",
              "--ports"},
      Mistake{"check broadcast --on ring:4 --ports 2",
              "2 ports: a node has one port or one per link, nothing between is modelled"},
      Mistake{"best alltoall --on ring:4 --ports 1", "write `one` for one port"},
      Mistake{"check permute --on ring:4 --permutation shufle", "did you mean 'shuffle'?"},
      Mistake{"check permute --on ring:4 --permutation 0,1,1,2", "1 is repeated"},
      Mistake{"check permute --on ring:4 --permutation 1,0", "2 images for 4 nodes"},
      Mistake{"run alltoall --on ring:4 --unknown-option", "--unknown-option"},
      Mistake{"run alltoall --on ring:4 --root 1", "--root has no effect on alltoall"},
      Mistake{"check barrier --on ring:4 --operator sum", "--operator has no effect on barrier"},
      Mistake{"check alltoall --on ring:4 --in-place", "--in-place has no effect on alltoall"},
      Mistake{"check alltoall --on mesh:4x4 --algorithm suh-mesh:order=best",
              "need paper|parity|overlap"},
      Mistake{"check alltoall --on torus:8x8 --divisions 1", "--divisions"},
      Mistake{"run alltoall --on ring:4 --bytes 64..8", "a range doubles"},
      Mistake{"run alltoall --on ring:4 --json /nonexistent/x.json --iterations 1",
              "/nonexistent/x.json"},
      Mistake{"check alltoall --on graph:/nonexistent", "/nonexistent"},
      Mistake{"topology ring:4 --node 4", "0 to 3"}, Mistake{"topology ring:4 --route 0,9", "9"},
      Mistake{"topology ring:4*", "position"}, Mistake{"deadlock --on ring:1", "one node"},
      Mistake{"deadlock --of channels --on mesh:4x4", "ring"},
      Mistake{"transpose --shape 10", "--shape"}, Mistake{"transpose --shape 0x4", "--shape"},
      Mistake{"transpose --type string", "string"},
      Mistake{"transpose --input /nonexistent.npy", "/nonexistent.npy"},
      Mistake{"fft --shape 2x2x2", "--shape"}, Mistake{"fft --generate noise --shape 8", "noise"},
      Mistake{"fft --generate tones", "--shape"}, Mistake{"fft --method magic", "magic"},
      Mistake{"fft --algorithm magic", "magic"},
      Mistake{"fft --input /nonexistent.csv", "/nonexistent.csv"},
      Mistake{"list teleport", "alltoall"}, Mistake{"version extra", "unexpected argument 'extra'"},
      // A variable of a script that is not set.
      Mistake{"run alltoall --on ring:4 --json ''", "empty file name"},
      Mistake{"list --csv ''", "empty file name"},
      Mistake{"run alltoall --on ring:4 --links ''", "empty file name"},
      Mistake{"show shift --on ring:4 --svg ''", "empty file name"},
      Mistake{"fft --output ''", "empty file name"},
      Mistake{"reproduce wang-tseng --svg ''", "empty file name"},
      Mistake{"show alltoall --on ring:4 --bytes 8..64", "'8..64': expected one size"},
      Mistake{"show alltoall --on torus:4x4,ring:4", "expected one network"},
      Mistake{"topology ring:4,ring:5", "expected one network"},
      Mistake{"deadlock --on ring:4,ring:5", "expected one network"},
      Mistake{"run barrier --on ring:4 --bytes 5", "--bytes has no effect on barrier"},
      Mistake{"check barrier --on ring:4 --bytes 5", "--bytes has no effect on barrier"},
      Mistake{"check alltoall --on ring:4 --seed 7", "--seed has no effect on alltoall"},
      Mistake{"deadlock --virtual-channels 2", "--virtual-channels has no effect"},
      Mistake{"reproduce grama --count-up-to 3", "--count-up-to"},
      Mistake{"list --bytes 4K", "--bytes has no effect without a network"},
      Mistake{"run alltoall --on ring:4 --time-limit -1", "-1 is not from 0 to 1000000"},
      Mistake{"run alltoall --on ring:4 --iterations 2 --iterations 3",
              "--iterations: given more than once"},
      Mistake{"run alltoal", "unknown operation 'alltoal' (did you mean 'alltoall'?)"},
      Mistake{"run alltoall --on ring:4 --bytes 1000000G", "too large, the most is 16384G"},
      Mistake{"run alltoall --on ring:4 --bytes 0..", "'0..': a range has two ends"},
      Mistake{"run alltoall --on ring:4 --bytes ..8", "'..8': a range has two ends"},
      Mistake{"check k_broadcast --on ring:4 --sources 9",
              "k_broadcast: 9 sources of 4 nodes; give up to 4"},
      Mistake{"check --schedule /dev/null", "/dev/null: empty, or only comments"},
      Mistake{"--version extra", "--version: unexpected argument 'extra'"},
      Mistake{"topology graph:/", "Is a directory"},
      Mistake{"mpirun -n 4 --transport flits /bin/true",
              "apply to run and the applications; an MPI program's messages are copied once"},
      Mistake{"mpirun -n 4 --stack 1 /bin/true", "--stack 1: a rank's stack has 64K or more"},
      // Endless, and read no further than to a limit.
      Mistake{"machines /dev/zero", "has more than 1 MiB, the limit of a machine profile"},
      Mistake{"run permute --on ring:4 --permutation /dev/zero",
              "has more than 16 MiB, the limit of a permutation"});
  const auto output = run_wormcube(arguments);
  INFO("wormcube " << arguments << "\n" << output.out << output.err);
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK(output.err.starts_with("wormcube: "));
  CHECK_THAT(output.err, Catch::Contains(expected));
}

TEST_CASE("a hint is close to the typed word") {
  const auto error_of = [](const std::string& arguments) { return run_wormcube(arguments).err; };
  CHECK_THAT(error_of("run alltoall --on ring:4 --bites 4"), Contains("did you mean '--bytes'?"));
  CHECK_THAT(error_of("run alltoall --on ring:4 --iteration 4"), Contains("'--iterations'?"));
  for (const char* arguments :
       {"topology ring:4 --wide", "check alltoall --on ring:4 --node 3", "reproduce kim --csv -"}) {
    INFO(arguments);
    CHECK_THAT(error_of(arguments), !Contains("did you mean"));
  }
}

TEST_CASE("help explains every command, with examples, on standard output") {
  const std::string command = GENERATE("", "list", "run", "check", "topology", "fft", "transpose",
                                       "matvec", "sort", "lookup", "deadlock");
  const auto output = run_wormcube(command + " --help");
  CHECK(output.exit == 0);
  CHECK(output.err.empty());
  CHECK_THAT(output.out, Catch::Contains("Examples:") && Catch::Contains("wormcube " + command));
}

TEST_CASE("the option --version lists the program's libraries and their licences") {
  const std::string text = run_wormcube("--version").out;
  CHECK(text.starts_with("wormcube 1."));
  for (const char* line : {"\n  commit     ", "\n  build      ", "\n  compiler   ",
                           "\n  MPI        ", "\n  FFTW       fftw-3", "\n  GLPK       "}) {
    CHECK_THAT(text, Catch::Contains(line));
  }
  CHECK_THAT(text, Catch::Contains("GPL") && Catch::Contains("WORMCUBE_FFTW=OFF"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}

TEST_CASE("topology prints nodes, links and deadlock freedom") {
  const auto torus = run_wormcube("topology torus:8x8 --json -").json();
  CHECK(torus["nodes"] == 64);
  CHECK(torus["links"] == 256);
  CHECK(torus["diameter"] == 8);
  CHECK(torus["halving_cut_cables"] == 16);
  CHECK(torus["deadlock_free"] == true);
  const auto cyclic = run_wormcube("topology torus:8x8 --virtual-channels 1 --json -").json();
  CHECK(cyclic["deadlock_free"] == false);
  CHECK(cyclic["cycle"].is_string());
  const auto degenerate = run_wormcube("topology torus:2x1");
  CHECK_THAT(degenerate.out, Catch::Contains("one cable") && Catch::Contains("no link"));
}

TEST_CASE("what topology and check judge with one virtual channel is in words", "[cli]") {
  const std::string moves = "messages that go around a ring";
  CHECK_THAT(run_wormcube("topology ring:3 --virtual-channels 1").out,
             Catch::Contains("# deadlock free    no: messages that go around a ring"));
  const auto refused = run_wormcube("run alltoallv --on ring:3 --virtual-channels 1");
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err,
             Catch::Contains(moves) && Catch::Contains("`check` examines one algorithm"));
  CHECK(run_wormcube("check alltoallv --on ring:3 --virtual-channels 1 --json -")
            .json()["deadlock_free"] == true);
}

TEST_CASE("a failed node out of range, and too many values, are named", "[cli]") {
  const auto error = [](const char* arguments) {
    const auto output = run_wormcube(arguments);
    CHECK(output.exit == 2);
    return output.err;
  };
  CHECK_THAT(error("topology 'ring:4~9~1'"),
             Catch::Contains("failed node '9' is out of range; the nodes of ring:4 are 0 to 3"));
  CHECK_THAT(error("topology 'ring:4~0-9'"), Catch::Contains("failed cable '0-9' is out of range"));
  CHECK_THAT(error("topology 'ring:4~0-2'"),
             Catch::Contains("failed cable '0-2': ring:4 has no cable there"));
  CHECK_THAT(error("topology ring:4 --route 0,1,2"),
             Catch::Contains("--route needs 2 values, but 3 are given"));
}

TEST_CASE("a table in Markdown leaves the other outputs whole, or is refused", "[cli]") {
  const TemporaryFile json(".json"), csv(".csv");
  for (const std::string arguments : {"list scatter", "best scatter --on ring:3"}) {
    const auto output =
        run_wormcube(arguments + " --markdown --json " + json.path() + " --csv " + csv.path());
    CAPTURE(arguments, output.err);
    CHECK(output.exit == 0);
    CHECK_THAT(output.out, Catch::Contains("|---|"));
    CHECK_FALSE(nlohmann::json::parse(json.text()).empty());
    CHECK_THAT(csv.text(), Catch::Contains("scatter"));
    std::filesystem::remove(json.path());
    std::filesystem::remove(csv.path());
    for (const char* form : {"--json", "--jsonl", "--csv"}) {
      const auto both = run_wormcube(arguments + " --markdown " + form + " -");
      CHECK(both.exit == 2);
      CHECK(both.out.empty());
      CHECK_THAT(both.err, Catch::Contains("--markdown and " + std::string(form) +
                                           " - cannot both write to standard output"));
    }
  }
  for (const char* option : {"--on ring:3", "--bytes 64", "--cost work", "--machine paragon"}) {
    const auto output = run_wormcube(std::string("list scatter --markdown ") + option);
    CAPTURE(option);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Catch::Contains("--markdown lists algorithms without a network"));
  }
}

TEST_CASE("topology shows a node's neighbours and a route") {
  const auto node = run_wormcube("topology torus:4x4 --node 0 --json -").json();
  REQUIRE(node["neighbours"].size() == 4);
  const auto route = run_wormcube("topology torus:4x4 --route 0,5 --json -").json();
  REQUIRE(route["route"].size() == 2);
  CHECK(route["route"][0]["dimension"] == 1);  // the last coordinate first
  CHECK(route["route"][1]["dimension"] == 0);
}

TEST_CASE("a file name that the system refuses is a usage error with its reason", "[cli]") {
  const std::string name = "/tmp/" + std::string(300, 'x');
  for (const std::string option : {"--json ", "--output "}) {
    const Output output = run_wormcube("fft --on ring:2 --shape 4 " + option + name);
    CHECK(output.exit == 2);
    CHECK_THAT(output.err, Contains("cannot write") && Contains("File name too long"));
  }
}

TEST_CASE("show lists the messages of a step, and writes what the other forms say", "[cli][show]") {
  const std::string show = "show alltoall --on torus:4x4 --algorithm suh-torus --bytes 8 ";
  const Output text = run_wormcube(show + "--step 2 --node 5");
  CHECK(text.exit == 0);
  CHECK_THAT(text.out, Contains("# step 2, phase 4: one hop: 2 messages") && Contains("4->5"));
  const auto json = run_wormcube(show + "--json -").json();
  CHECK(json["steps"].size() == 4);
  CHECK(json["steps"][0]["messages"].size() == 16);
  CHECK(json["steps"][0]["messages"][0]["route"].size() == 2);
  CHECK(json["steps"][0]["messages"][0]["blocks"] == 8);
  CHECK(json["steps"][0]["link_load_max"] == 1);
  CHECK(json["steps"][0]["phase"] == "phase 3: two hops");
  CHECK(run_wormcube("show shift --on ring:4 --json -").json()["steps"][0]["phase_reason"] ==
        "it has no name");
  CHECK_THAT(run_wormcube(show + "--csv -").out, StartsWith("step,from,to,bytes,blocks"));
  CHECK_THAT(run_wormcube(show + "--step 0 --dot -").out, StartsWith("digraph"));
  CHECK_THAT(run_wormcube(show + "--step 0 --svg -").out, StartsWith("<svg"));
  CHECK_THAT(run_wormcube("show broadcast --on tree:4 --step 0 --svg -").out, StartsWith("<svg"));
  CHECK_THAT(run_wormcube(show + "--write-schedule -").out, StartsWith("wormcube schedule 2\n"));
  CHECK_THAT(run_wormcube(show + "--write-schedule - --without-names").out,
             StartsWith("wormcube schedule 1\n"));
  CHECK_THAT(run_wormcube(show + "--write-schedule - --text-limit 1K").err,
             Contains("more than 1 KiB") && Contains("--without-names"));
  for (const char* const wrong :
       {"--step 4", "--node 16", "--svg -", "--json - --csv -", "--algorithm all"}) {
    CAPTURE(wrong);
    CHECK(run_wormcube(show + wrong).exit == 2);
  }
}
