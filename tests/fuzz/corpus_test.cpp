// Every fuzz target handles its corpus, so that the fuzzer's findings stay tested with every
// compiler.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/fuzz/targets.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

struct Target {
  const char* name;
  void (*run)(std::string_view);
};
constexpr Target targets[]{{"topology", fuzz::topology}, {"graph", fuzz::graph},
                           {"npy", fuzz::npy},           {"csv", fuzz::csv},
                           {"schedule", fuzz::schedule}, {"command_line", fuzz::command_line}};

const std::filesystem::path corpus = WORMCUBE_SOURCE_DIR "/tests/fuzz/corpus";

}  // namespace

TEST_CASE("every fuzz target handles its corpus", "[fuzz]") {
  for (const auto& [name, run] : targets) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / name)) {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      INFO(entry.path());
      run(bytes.str());  // ends the process where a promise is broken
      ++files;
    }
    CAPTURE(name);
    CHECK(files >= 3);
  }
}

TEST_CASE("every folder of the corpus has a target", "[fuzz]") {
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    CAPTURE(entry.path());
    CHECK(std::ranges::any_of(
        targets, [&](const Target& target) { return target.name == entry.path().filename(); }));
  }
}
