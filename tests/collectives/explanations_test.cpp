// Every algorithm and every named phase has its sentences.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/explanations.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/collectives/built_in.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

/// What is wrong with a text: "too long: ..", "no full stop: ..".
std::vector<std::string> faults(std::string_view text) {
  std::vector<std::string> all;
  constexpr std::size_t most_words = 35;
  std::size_t words = 0, sentences = 0;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) {
    ++words;
    const bool ends = word.ends_with('.') && word != "..";
    if (ends || word.ends_with(':') || word.ends_with(';')) {
      if (words > most_words) all.push_back(fmt::format("{} words: {}", words, text));
      words = 0, sentences += ends ? 1 : 0;
    }
  }
  if (words > 0) all.push_back(fmt::format("no full stop: {}", text));
  if (sentences > 3) all.push_back(fmt::format("{} sentences: {}", sentences, text));
  return all;
}

/// The phases of a registered algorithm on one of these networks, without their sentences.
std::vector<std::string> unexplained_phases(const Algorithm& algorithm) {
  std::vector<std::string> missing;
  for (const char* const network :
       {"torus:4x4", "torus:8x8", "mesh:4x4", "mesh:5x6", "line:3*complete:4"}) {
    const Topology topology = Topology::parse(network);
    const Collective collective(algorithm);
    if (refusal(collective, topology)) continue;
    const Contract contract = contract_of(collective, topology.nodes(), 64, 1);
    const Schedule schedule = record(topology, collective_program(collective, contract, nullptr));
    for (const Phase& phase : schedule.phases) {
      if (explanation(algorithm, phase.name).empty()) missing.push_back(phase.name);
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("every algorithm has one or two sentences", "[collectives]") {
  std::set<std::pair<std::string_view, std::string_view>> named;
  for (const Algorithm* algorithm : cases::built_in()) {
    if (!origin(*algorithm).empty()) continue;  // another test's
    CAPTURE(algorithm->operation->name, algorithm->name);
    CHECK(explanation(*algorithm) != algorithm->summary);
    named.insert({algorithm->operation->name, algorithm->name});
  }
  for (const Explanation& row : explanations()) {
    CAPTURE(row.operation, row.algorithm, row.phase);
    CHECK(faults(row.text) == std::vector<std::string>{});
    CHECK(named.contains({row.operation, row.algorithm}));
  }
}

TEST_CASE("every named phase has its sentences", "[collectives]") {
  for (const char* const name :
       {"suh-torus", "suh-mesh", "tseng-diagonal", "kim-a1", "kim-recursive", "bokhari-quadrant",
        "sundar-cyclic", "product", "product-naive", "product-multiport",
        "product-multiport-general"}) {
    CAPTURE(name);
    CHECK(unexplained_phases(find_algorithm(operations::alltoall, name)) ==
          std::vector<std::string>{});
  }
  CHECK(unexplained_phases(find_algorithm(operations::broadcast, "wang-tseng")) ==
        std::vector<std::string>{});
}

TEST_CASE("sentences that are missing or too long are found", "[collectives]") {
  Algorithm unknown = find_algorithm(operations::alltoall, "suh-torus");
  unknown.name = "unheard-of";
  CHECK(explanation(unknown) == unknown.summary);
  CHECK(explanation(unknown, "two hops").empty());
  CHECK_FALSE(unexplained_phases(unknown).empty());
  std::string many;
  for (int i = 0; i < 36; ++i) many += "word ";
  CHECK(faults(many + "end.").size() == 1);
  CHECK(faults("no end").size() == 1);
  CHECK(faults("One. Two. Three. Four.").size() == 1);
  CHECK(faults("One. Two.").empty());
}
