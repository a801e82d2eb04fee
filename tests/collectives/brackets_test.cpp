// Whether all nodes of an all-reduce combine operands in the same order, so that they round alike.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/collectives/harness/work.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// What two elements are bracketed as: of any two different bracketings the numbers differ but for
/// a chance of 2^-64; of those that differ in the order of the two only if the operator does not
/// commute.
Reduction bracketing(bool commutes) {
  return elementwise<std::uint64_t>(
      "bracketing",
      [commutes](std::uint64_t x, std::uint64_t y) {
        std::uint64_t both = (commutes ? x + y : x + 3 * y) + 0x9e3779b97f4a7c15U;
        both = (both ^ both >> 30) * 0xbf58476d1ce4e5b9U;
        both = (both ^ both >> 27) * 0x94d049bb133111ebU;
        return both ^ both >> 31;
      },
      commutes);
}

/// Every combination of the algorithm's choices.
std::vector<Collective> forms(const Algorithm& algorithm, const Arguments& arguments) {
  std::vector<Collective> all{Collective(algorithm, arguments)};
  for (const Option& option : algorithm.options) {
    const std::size_t before = all.size();
    for (const std::string_view choice : option.choices) {
      for (std::size_t i = 0; i < before; ++i) {
        all.push_back(all[i]);
        all.back().options.set(option.name, choice);
      }
    }
  }
  return all;
}

/// Whether all nodes end with the same bits.
bool ends_alike(const Collective& collective, const Topology& topology) {
  constexpr std::size_t elements = 24;
  std::vector<std::vector<std::uint64_t>> results(static_cast<std::size_t>(topology.nodes()));
  prove(topology, [&](Node& node) {
    std::vector<std::uint64_t> mine(elements), result(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      mine[i] = 1000 * static_cast<std::uint64_t>(node.rank()) + i + 1;
    }
    collective(node, mine, result);
    node.local([&] { results[static_cast<std::size_t>(node.rank())] = result; });
  });
  return std::ranges::all_of(results, [&](const auto& result) { return result == results[0]; });
}

bool may_differ(const Collective& collective, const Topology& topology) {
  return same_bits(collective, topology) == SameBits::no;
}

/// Of a form that an exact operator selected: the same for doubles.
bool may_differ_if_rounded(Collective collective, const Topology& topology) {
  collective.arguments.reduction = find_reduction("sum", "double");
  return may_differ(collective, topology);
}

}  // namespace

TEST_CASE("all nodes bracket an all-reduce alike, but for the forms that say they do not",
          "[reductions]") {
  std::map<std::string, int> differed;
  std::size_t alike = 0;
  for (const char* const on : {"ring:5", "ring:8", "ring:9", "ring:16", "line:6", "torus:4x4",
                               "torus:3x5", "torus:2x8", "torus:8x4", "torus:8x8", "torus:2x4x4",
                               "ring:4", "mesh:3x4", "hypercube:4", "complete:7"}) {
    const Topology topology = Topology::parse(on);
    for (const Algorithm* const algorithm : registry()) {
      if (algorithm->operation != operations::allreduce) continue;
      for (const bool commutes : {false, true}) {
        Arguments arguments;
        arguments.reduction = bracketing(commutes);
        for (const Collective& collective : forms(*algorithm, arguments)) {
          if (refusal(collective, topology)) continue;
          INFO(collective.text() << " on " << on << (commutes ? ", commuting" : ""));
          const bool same = ends_alike(collective, topology);
          CHECK(same == !may_differ(collective, topology));
          same ? ++alike : ++differed[collective.text()];
        }
      }
    }
  }
  CHECK(alike > 300);
  CHECK(differed.size() == 3);  // of swing, swing-all-port and ternary
}

TEST_CASE("auto picks a form whose nodes round differently for exact operators only",
          "[reductions]") {
  for (const char* const on : {"ring:8", "torus:8x8", "torus:4x8", "torus:4x4x4"}) {
    const Topology topology = Topology::parse(on);
    for (const Ports ports : {Ports::one, Ports::all}) {
      const auto taken = [&](const char* type, auto choose) {
        Arguments arguments;
        arguments.reduction = find_reduction("sum", type);
        return may_differ_if_rounded(choose(arguments), topology);
      };
      const auto cheap = [&](const Arguments& arguments) {
        return cheapest(operations::allreduce, topology, CostModel{}, 8, ports, arguments);
      };
      const auto least = [&](const Arguments& arguments) {
        return least_work(operations::allreduce, topology, 8, ports, arguments);
      };
      INFO(on);
      const bool is_small = std::ranges::max(topology.sizes()) <= 4;
      CHECK(taken("int64", cheap) == !is_small);
      CHECK_FALSE(taken("double", cheap));
      CHECK_FALSE(taken("double", least));
      CHECK_FALSE(taken("float", least));
    }
  }
  CHECK(find_reduction("min", "uint8").exact);
  CHECK(find_reduction("compose", "affine").exact);
  CHECK_FALSE(find_reduction("max", "float").exact);  // there are two zeros
  CHECK_FALSE(find_reduction("product", "complex").exact);
}
