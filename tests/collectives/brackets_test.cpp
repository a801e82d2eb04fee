// Whether all nodes of an all-reduce combine operands in the same order, so that they round alike.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/brackets.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/choose/work.hpp"
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/tests/collectives/built_in.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// Every combination of the algorithm's choices.
std::vector<Collective> forms(const Algorithm& algorithm, const Arguments& arguments) {
  std::vector<Collective> all{Collective(algorithm, arguments)};
  for (const Option& option : algorithm.options) {
    if (option.by_name) continue;
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

/// Sums of doubles that round: in [1, 2), with all bits of the fraction.
Reduction rounded_sum() {
  Reduction sum = find_reduction("sum", "double");
  sum.operands = [](std::uint64_t stream, Span data) {
    for (Bytes at = 0; at < data.size(); at += sizeof(double)) {
      const double value = 1 + std::ldexp(static_cast<double>(mixed(stream + at) >> 12U), -52);
      std::memcpy(data.data() + at, &value, sizeof(value));
    }
  };
  return sum;
}

/// Whether all nodes end with the same bits, if the call's operator is this one.
bool ends_alike_with(Collective collective, const Topology& topology, const Reduction& reduction) {
  constexpr Bytes units = 64;
  collective.arguments.reduction = reduction;
  const auto alike = ends_alike(
      collective, topology,
      contract_of(collective, topology.nodes(), units * unit_block_bytes(collective, topology), 1));
  REQUIRE(alike);
  return *alike;
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
    for (const Algorithm* const algorithm : cases::built_in()) {
      if (algorithm->operation != operations::allreduce) continue;
      for (const bool commutes : {false, true}) {
        Arguments arguments;
        arguments.reduction = bracketing_reduction(commutes);
        for (const Collective& collective : forms(*algorithm, arguments)) {
          if (refusal(collective, topology)) continue;
          INFO(collective.text() << " on " << on << (commutes ? ", commuting" : ""));
          const bool same = ends_alike_with(collective, topology, bracketing_reduction(commutes));
          CHECK(same == !may_differ(collective, topology));
          if (commutes) CHECK(same == ends_alike_with(collective, topology, rounded_sum()));
          same ? ++alike : ++differed[collective.text()];
        }
      }
    }
  }
  CHECK(alike > 300);
  CHECK(differed.size() == 3);  // of swing, swing-all-port and ternary
}

TEST_CASE("a check finds where nodes round differently", "[reductions]") {
  const auto checked = [](const Algorithm& algorithm, const char* options, const char* type,
                          const char* on) {
    Arguments arguments;
    arguments.reduction = find_reduction("sum", type);
    Collective collective(algorithm, arguments);
    if (*options != 0) collective.options.set("form", options);
    return check_collective(collective, Topology::parse(on));
  };
  const Algorithm& swing = find_algorithm(operations::allreduce, "swing");
  const CheckResult differs = checked(swing, "latency", "double", "ring:8");
  CHECK(differs.same_bits == SameBits::no);
  CHECK(differs.passed());
  CHECK(checked(swing, "latency", "double", "ring:4").same_bits == SameBits::yes);
  CHECK(checked(swing, "latency", "int64", "ring:8").same_bits == SameBits::exact);
  const CheckResult of_one =
      checked(find_algorithm(operations::reduce, "direct"), "", "double", "ring:4");
  CHECK_FALSE(of_one.same_bits.has_value());
  CHECK(of_one.bits == "no two nodes end with the same combination");

  Algorithm claims = swing;
  claims.brackets_differ = nullptr;
  const CheckResult refuted = checked(claims, "latency", "double", "ring:8");
  CHECK(refuted.same_bits == SameBits::no);
  REQUIRE(refuted.failures.size() == 1);
  CHECK(refuted.failures.front() ==
        "nodes combine in different orders, so rounded results differ in their last bits");
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
        return cheapest({.operation = operations::allreduce,
                         .topology = topology,
                         .block_bytes = 8,
                         .ports = ports,
                         .arguments = arguments});
      };
      const auto least = [&](const Arguments& arguments) {
        return least_work({.operation = operations::allreduce,
                           .topology = topology,
                           .block_bytes = 8,
                           .ports = ports,
                           .arguments = arguments});
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
