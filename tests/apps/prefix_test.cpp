// Prefix sums: every count and type, on every number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/prefix/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

Algorithms automatic_prefix() { return {"auto", prefix_operations()}; }

PrefixResult prefix_of(const Topology& topology, const Array& numbers,
                       const Algorithms& algorithms = automatic_prefix()) {
  return run_prefix(proof(topology), algorithms, {numbers, {}});
}

Array whole(const std::vector<std::int64_t>& numbers) {
  return to_array<std::int64_t>(ElementType::int64, numbers, {numbers.size()});
}
Array real(const std::vector<double>& numbers) {
  return to_array<double>(ElementType::float64, numbers, {numbers.size()});
}

}  // namespace

TEST_CASE("prefix sums are the textbook's, on any number of nodes", "[apps][prefix]") {
  for (const char* const name : {"complete:1", "line:2", "ring:3", "hypercube:2", "line:5",
                                 "mesh:2x4", "tree:7", "torus:4x4"}) {
    CAPTURE(name);
    const PrefixResult result = prefix_of(Topology::parse(name), whole({3, 1, 4, 0, 2}));
    CHECK(std::ranges::equal(elements<std::int64_t>(result.sums),
                             std::vector<std::int64_t>{3, 4, 8, 8, 10}));
    CHECK(result.passed());
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->matched());
  }
}

TEST_CASE("prefix sums of every count and type agree with serial ones", "[apps][prefix]") {
  const Topology topology = Topology::parse(GENERATE("complete:1", "ring:3", "line:7", "mesh:3x4"));
  for (const ElementType type : {ElementType::int64, ElementType::float64}) {
    for (const std::size_t count : {0, 1, 2, 11, 12, 13, 1000}) {
      CAPTURE(topology.name(), to_string(type), count);
      const Array numbers = read_all(made_array(type, {count}, 5));
      const PrefixResult result = prefix_of(topology, numbers);
      CHECK(result.passed());
      CHECK(count_wrong_sums(numbers, result.sums) == 0);
      std::uint64_t sum = 0;  // int64: modulo 2^64
      if (type == ElementType::int64) {
        for (std::size_t k = 0; k < count; ++k) {
          sum += static_cast<std::uint64_t>(elements<std::int64_t>(numbers)[k]);
          REQUIRE(elements<std::uint64_t>(result.sums)[k] == sum);
        }
      }
    }
  }
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CHECK(prefix_of(topology, real({1, infinite, 2, -infinite, 3})).passed());
  CHECK(prefix_of(topology, real({1e300, 1, -1e300, 1e-300})).passed());
}

TEST_CASE("prefix sums work with every registered algorithm", "[apps][prefix]") {
  const Topology topology = Topology::parse("hypercube:3");
  const Array numbers = read_all(made_array(ElementType::int64, {100}, 1));
  Arguments sum;
  sum.reduction = find_reduction("sum", "int64");
  for (const Collective& collective : admitted(operations::exscan, topology, sum)) {
    Algorithms algorithms = automatic_prefix();
    algorithms.use(collective);
    CAPTURE(collective.text());
    CHECK(prefix_of(topology, numbers, algorithms).passed());
  }
}

TEST_CASE("a machine computes prefix sums, as threads and as fibers", "[apps][prefix][machine]") {
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  Machine machine(Topology::parse("torus:4x4"), {.executor = executor, .timing = true});
  const Array numbers = read_all(made_array(ElementType::float64, {5000}, 1));
  const PrefixResult result =
      run_prefix(on(machine), automatic_prefix(), {numbers, {.iterations = 3}});
  CHECK(result.passed());
  REQUIRE(result.figures.schedule);
  CHECK(result.figures.schedule->messages == result.figures.messages);
  CHECK(result.figures.schedule->total_bytes == result.figures.bytes_moved);
}

TEST_CASE("a check of prefix sums sees every wrong sum", "[apps][prefix]") {
  const Array numbers = whole({3, 1, 4, 0, 2}), good = whole({3, 4, 8, 8, 10});
  CHECK(count_wrong_sums(numbers, good) == 0);
  for (std::size_t at = 0; at < 5; ++at) {
    Array bad = good;
    elements<std::int64_t>(bad)[at] ^= 1;
    CHECK(count_wrong_sums(numbers, bad) == 1);
  }
  CHECK(count_wrong_sums(numbers, whole({3, 4, 8, 8})) == 5);
  CHECK(count_wrong_sums(numbers, whole({0, 3, 4, 8, 8})) == 4);  // exclusive: 8 stands twice
  const Array tenths = real({0.1, 0.2, 0.3}), rounded = real({0.1, 0.1 + 0.2, 0.1 + (0.2 + 0.3)});
  CHECK(count_wrong_sums(tenths, rounded) == 0);
  CHECK(count_wrong_sums(tenths, real({0.1, 0.3000001, 0.6})) == 1);
  CHECK(count_wrong_sums(tenths, real({0.1, 0.3, std::numeric_limits<double>::quiet_NaN()})) == 1);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Array with_infinity = real({1, infinite, 2});
  CHECK(count_wrong_sums(with_infinity, real({1, infinite, infinite})) == 0);
  CHECK(count_wrong_sums(with_infinity, real({1, 5, -infinite})) == 2);
  // The first node gets nothing from a scan that is exclusive; the second is damaged.
  Algorithms algorithms = automatic_prefix();
  algorithms.use(damaging<operations::exscan, 1>());
  const PrefixResult damaged = prefix_of(Topology::parse("complete:3"), numbers, algorithms);
  CHECK(damaged.verified());
  CHECK(damaged.wrong == std::size_t{2});
}

TEST_CASE("prefix sums refuse what cannot be added", "[apps][prefix]") {
  const Topology topology = Topology::parse("ring:3");
  const auto refused = [&](const Array& numbers, const char* why) {
    CHECK_THROWS_WITH(prefix_of(topology, numbers), Contains(why));
  };
  refused(to_array<float>(ElementType::float32, std::vector<float>{1}, {1}),
          "float32 numbers; need int64 or float64");
  refused(read_all(made_array(ElementType::int64, {2, 2}, 1)), "need 1, a list of numbers");
  refused(real({1, std::numeric_limits<double>::quiet_NaN()}), "element 1");
}
