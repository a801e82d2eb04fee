// How an application's algorithms are named and chosen.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/algorithms.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using Catch::Matchers::Contains;

namespace {

const std::vector<Operation> operations_used{operations::allgatherv, operations::alltoall,
                                             operations::alltoallv, operations::broadcast};

std::string chosen(const char* text, Operation operation, const char* topology = "hypercube:3") {
  return Algorithms(text, operations_used).choose(operation, Topology::parse(topology), 64).text();
}

}  // namespace

TEST_CASE("algorithms are named for one operation, or for each that has the name", "[apps]") {
  CHECK(chosen("alltoall=bruck", operations::alltoall) == "bruck");
  CHECK(chosen("shift", operations::alltoall) == "shift");
  CHECK(chosen("shift", operations::alltoallv) == "shift");
  CHECK(chosen("shift,alltoall=bruck", operations::alltoall) == "bruck");
  CHECK(chosen("alltoallv=shift,allgatherv=hypercube:order=descending", operations::allgatherv) ==
        "hypercube:order=descending");
  CHECK(Algorithms("auto", operations_used).named().empty());
  CHECK(Algorithms("shift", operations_used).named().size() == 2);
}

TEST_CASE("without a name the cheapest runs, for uneven blocks through its namesake", "[apps]") {
  const auto topology = Topology::parse("hypercube:4");
  CHECK(chosen("auto", operations::broadcast, "hypercube:4") ==
        cheapest({.operation = operations::broadcast, .topology = topology, .block_bytes = 64})
            .text());
  // Both take p - 1 steps; links of a ring carry fewer messages at once by the one than the other.
  for (const char* const name : {"ring:16", "complete:7", "mesh:4x4", "hypercube:4"}) {
    const auto network = Topology::parse(name);
    const auto time = [&](std::string_view algorithm) {
      return predicted_us(
          Collective(find_algorithm(operations::alltoall, algorithm)).predict(network), CostModel{},
          64);
    };
    const std::string best = chosen("auto", operations::alltoallv, name);
    for (const Collective& other : admitted(operations::alltoallv, network)) {
      if (other.algorithm->needs_sizes) continue;  // applications do not share them
      CHECK(time(best) <= time(other.name()));
    }
  }
}

TEST_CASE("a chooser overrides the formulas, for uneven blocks through the namesake of its pick",
          "[apps]") {
  const auto topology = Topology::parse("hypercube:4");
  const AutoChooser takes_shift = [](const Choice& choice) {
    return parse_collective(choice.operation,
                            choice.operation == operations::alltoall ? "shift" : "hypercube");
  };
  const Algorithms chosen("broadcast=halving", operations_used, {}, Ports::one, takes_shift);
  CHECK(chosen.choose(operations::alltoall, topology, 64).text() == "shift");
  CHECK(chosen.choose(operations::alltoallv, topology, 64).name() == "shift");
  CHECK(chosen.choose(operations::allgatherv, topology, 64).name() == "hypercube");
  CHECK(chosen.choose(operations::broadcast, topology, 64).name() == "halving");
}

TEST_CASE("algorithms that are not there are refused", "[apps]") {
  const auto refused = [](const char* text) { Algorithms(text, operations_used); };
  CHECK_THROWS_WITH(refused("magic"), Contains("unknown algorithm 'magic'") &&
                                          Contains("allgatherv, alltoall, alltoallv, broadcast"));
  CHECK_THROWS_WITH(refused("reduce=halving"), Contains("this command does not call 'reduce'"));
  CHECK_THROWS_WITH(refused("alltoall=magic"), Contains("magic"));
  CHECK_THROWS_WITH(refused("shift,"), Contains("unknown algorithm ''"));
  CHECK_THROWS_WITH(chosen("two-phase", operations::alltoallv, "ring:3"),
                    Contains("needs the sizes of all pairs' blocks") && Contains("use shift"));
  CHECK_THROWS_WITH(chosen("hypercube-pairwise", operations::alltoallv, "ring:3"),
                    Contains("hypercube-pairwise"));
}
