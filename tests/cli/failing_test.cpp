// Algorithms that misbehave in the program: each gets a row, and the others still run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace wormcube;
using namespace wormcube::test;
using Catch::Matchers::Contains;

namespace {

enum class Evil { none, throws, throws_in_local, other_size, far, idle, faults, exits, loops } evil;

void misbehave(Node& node, const Call& call) {
  if (evil == Evil::throws) throw std::runtime_error("thrown \x1b[31m here");
  if (evil == Evil::far) node.step({send(99, call.output.all())});
  if (evil == Evil::idle) {
    for (;;) node.step();
  }
  node.local([&] {
    if (evil == Evil::throws_in_local) throw std::runtime_error("in local");
    if (evil == Evil::faults && node.rank() == 1) std::abort();
    if (evil == Evil::exits && node.rank() == 1) std::exit(0);
  });
  node.step();
  if (evil != Evil::other_size) return;
  const Span out = call.output.all();
  if (node.rank() == 0) {
    node.step({send(1, out)});
  } else if (node.rank() == 1) {
    node.step({receive(0, out.first(8))});
  } else {
    node.step();
  }
}

const Algorithm misbehaving{.operation = operations::allgather,
                            .name = "evil",
                            .summary = "misbehaves",
                            .source = "failing_test.cpp",
                            .predict = [](const Setting&) -> Prediction {
                              if (evil == Evil::loops) throw std::runtime_error("no formula");
                              return {};
                            },
                            .program = misbehave};

/// The program in a child of this process, with the algorithm in its registry.
Output with_evil(Evil how, std::vector<std::string> words) {
  const TemporaryFile out(".out"), err(".err");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, SIG_DFL);  // Catch has its own
    if (std::freopen(out.path().c_str(), "w", stdout) == nullptr ||
        std::freopen(err.path().c_str(), "w", stderr) == nullptr) {
      _exit(99);
    }
    std::setvbuf(stderr, nullptr, _IONBF, 0);  // as it is where nobody has opened it anew
    evil = how;
    add_algorithm(misbehaving, "evil.so");
    std::vector<const char*> arguments{"wormcube"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const int code = cli::main(static_cast<int>(arguments.size()), arguments.data());
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  Output output;
  REQUIRE(waitpid(child, &status, 0) == child);
  output.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  output.out = read_text(out.path());
  output.err = read_text(err.path());
  return output;
}

std::vector<std::string> sweep(const char* command, const std::string& json) {
  std::vector<std::string> words{command,       "allgather", "--on",   "ring:4,ring:5",
                                 "--algorithm", "evil,ring", "--json", json};
  if (words.front() == "run") words.insert(words.end(), {"--iterations", "1"});
  return words;
}

}  // namespace

TEST_CASE("an algorithm that fails is a row, and the others of the sweep follow") {
  const auto [how, command] = GENERATE(table<Evil, const char*>({{Evil::throws, "run"},
                                                                 {Evil::throws, "check"},
                                                                 {Evil::throws_in_local, "run"},
                                                                 {Evil::other_size, "run"},
                                                                 {Evil::other_size, "check"},
                                                                 {Evil::far, "run"},
                                                                 {Evil::far, "check"}}));
  const TemporaryFile json(".json");
  const Output output = with_evil(how, sweep(command, json.path()));
  CAPTURE(command, static_cast<int>(how), output.out, output.err);
  CHECK(output.exit == 1);
  const auto rows = nlohmann::json::parse(read_text(json.path()));
  REQUIRE(rows.size() == 4);
  for (const auto& row : rows) {
    if (row["algorithm"] == "ring") {
      CHECK(row["passed"] == true);
      continue;
    }
    CHECK(row["passed"] == false);
    REQUIRE(row.contains("failures"));
    CHECK_FALSE(row["failures"].empty());
  }
  CHECK(output.out.find('\x1b') == std::string::npos);
  CHECK(output.err.find('\x1b') == std::string::npos);
  CHECK_THAT(output.out, Contains("FAILED"));
}

TEST_CASE("a fault in a node program says where, and rows that are finished are in the JSON") {
  if (sanitized) return;
  const TemporaryFile json(".json");
  const Output output =
      with_evil(Evil::faults, {"run", "allgather", "--on", "ring:4,ring:5", "--algorithm",
                               "ring,evil", "--iterations", "1", "--json", json.path()});
  CAPTURE(output.out);
  CHECK(output.exit == 128 + SIGABRT);
  CHECK_THAT(output.err, Contains("allgather evil") && Contains("node 1, step ") &&
                             Contains("on ring:4: abort, in the node program"));
  const auto rows = nlohmann::json::parse(read_text(json.path()));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["passed"] == true);
  CHECK(rows[1]["status"] == "crashed");
  CHECK(rows[1]["passed"] == false);
}

TEST_CASE("exit() in a node program is reported as a failure") {
  if (sanitized) return;
  const TemporaryFile json(".json");
  const Output output =
      with_evil(Evil::exits, {"run", "allgather", "--on", "ring:4", "--algorithm", "ring,evil",
                              "--iterations", "1", "--json", json.path()});
  CHECK(output.exit == 1);
  CHECK_THAT(output.err, Contains("allgather evil on ring:4") && Contains("called exit(0)"));
  CHECK(nlohmann::json::parse(read_text(json.path())).size() == 2);
}

TEST_CASE("a program without an end comes to the time limit in its dry run") {
  const std::string command = std::string(GENERATE("run", "check"));
  const TemporaryFile json(".json");
  std::vector<std::string> words = sweep(command.c_str(), json.path());
  words.insert(words.end(), {"--time-limit", "0.2"});
  const Output output = with_evil(Evil::idle, words);
  CAPTURE(output.out);
  CHECK(output.exit == 4);
  CHECK_THAT(output.err, Contains("evil on ring:4") && Contains("not finished after 200 ms"));
  const auto rows = nlohmann::json::parse(read_text(json.path()));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["status"] == "time limit");
  CHECK(rows[1]["passed"] == true);
}

TEST_CASE("a formula that throws is reported, and the others are listed") {
  const Output output = with_evil(Evil::loops, {"list", "allgather", "--on", "ring:4"});
  CHECK_THAT(output.err, Contains("allgather evil on ring:4: its formula threw: no formula"));
  CHECK(output.exit == 1);
}
