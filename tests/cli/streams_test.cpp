// Standard streams that are closed, full, or no longer read.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/wait.h>

using namespace wormcube::test;
using Catch::Matchers::StartsWith;

namespace {

/// \param redirections  of the program: "2>&-"
/// \param reader        a command that reads its standard output; none: it goes nowhere
/// \return its exit code; 128 + signal if one has ended it
int code_of(const std::string& arguments, const std::string& redirections,
            const std::string& reader = {}) {
  const TemporaryFile code(".code");
  std::string command = "{ '" WORMCUBE_PROGRAM "' " + arguments + " </dev/null";
  if (reader.empty()) command += " >/dev/null";
  command += " " + redirections + "; echo $? >'" + code.path() + "'; }";
  if (!reader.empty()) command += " | " + reader;
  INFO(command);
  REQUIRE(WIFEXITED(std::system(command.c_str())));
  return std::stoi("0" + read_text(code.path()));
}

}  // namespace

TEST_CASE("a closed standard stream never becomes a file of results", "[cli][streams]") {
  const std::string closed = GENERATE(">&-", "2>/dev/null 2>&-", "<&-", ">&- 2>&- <&-");
  for (const char* arguments : {"fft --on ring:4 --shape 64", "sort --on ring:4 --count 100",
                                "run alltoall --on torus:2x2 --algorithm all --iterations 1",
                                "check alltoall --on ring:4 --algorithm all"}) {
    const TemporaryFile json(".json"), lines(".jsonl"), csv(".csv");
    const int code = code_of(arguments + (" --json " + json.path()) + " --jsonl " + lines.path() +
                                 " --csv " + csv.path(),
                             closed);
    CAPTURE(arguments, closed);
    CHECK(code == (closed.find(">&- ") == 0 || closed == ">&-" ? 2 : 0));
    const auto results = nlohmann::json::parse(read_text(json.path()), nullptr, false);
    CHECK_FALSE(results.is_discarded());
    const std::string first = read_text(lines.path());
    CHECK_FALSE(
        nlohmann::json::parse(first.substr(0, first.find('\n')), nullptr, false).is_discarded());
    CHECK(read_text(csv.path()).find('#') == std::string::npos);
  }
}

TEST_CASE("what cannot be printed on standard error changes no exit code", "[cli][streams]") {
  struct Command {
    const char* arguments;
    int code;
  };
  for (const auto& [arguments, code] :
       {Command{"deadlock", 3}, Command{"nonsense", 2}, Command{"topology ring:", 2},
        Command{"run alltoall --on ring:4 --algorithm ring --bytes 8 --iterations 1000000 "
                "--time-limit 0.2",
                4},
        Command{"check alltoall --on ring:5 --algorithm shift --virtual-channels 1", 1},
        Command{"best alltoall --on ring:4 --markdown", 0}}) {
    CAPTURE(arguments);
    CHECK(code_of(arguments, "2>&-") == code);
    CHECK(code_of(arguments, "2>/dev/full") == code);
    CHECK(code_of(arguments, "2>&1 >/dev/null", ":") == code);
  }
}

TEST_CASE("what cannot be printed on standard output is an error, and no signal",
          "[cli][streams]") {
  for (const char* arguments :
       {"list", "best alltoall --on ring:4", "best alltoall --on ring:4 --markdown",
        "list alltoall --markdown", "topology ring:4", "machines", "--help",
        "run alltoall --on ring:4 --iterations 1 --json -"}) {
    CAPTURE(arguments);
    CHECK(code_of(arguments, ">/dev/full 2>/dev/null") == 2);
    CHECK(code_of(arguments, ">&- 2>&-") == 2);
    CHECK(code_of(arguments, ">/dev/full 2>&1") == 2);
  }
  CHECK(code_of("deadlock", ">/dev/full 2>&1") == 3);
  CHECK(code_of("nonsense", ">&- 2>&-") == 2);
  CHECK(code_of("deadlock", "2>&1", ":") == 3);
  const int left = code_of("list alltoall --on torus:8x8 --bytes 1..1M --wide", "", "true");
  CHECK((left == 0 || left == 141));
}
