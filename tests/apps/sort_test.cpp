// Sample sort: every count, order and type of keys, on every number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/sort/run.hpp"
#include "wormcube/apps/sort/sample_sort.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

Algorithms automatic_sort() { return {"auto", sort_operations()}; }

SortResult sorted(const Topology& topology, const SortJob& job,
                  const Algorithms& algorithms = automatic_sort()) {
  return run_sort(proof(topology), algorithms, job);
}

template <class T>
Array list(ElementType type, const std::vector<T>& keys) {
  return to_array<T>(type, keys, {keys.size()});
}

// Written for itself: the oracle of check_sorted() too.
void require_sorted(const Array& input, const Array& output) {
  REQUIRE(output.type == input.type);
  REQUIRE(output.shape == input.shape);
  with_real_type(input.type, "test", [&]<class T>(T) {
    const std::span<const T> in = elements<T>(input), out = elements<T>(output);
    std::vector<T> wanted(in.begin(), in.end());
    std::ranges::sort(wanted);
    REQUIRE(std::ranges::equal(wanted, out));
  });
}

}  // namespace

TEST_CASE("a sort gives the input in order on every network, count and order of keys",
          "[apps][sort]") {
  const auto topology =
      Topology::parse(GENERATE("complete:1", "ring:2", "line:3", "ring:7", "torus:4x2",
                               "hypercube:4", "complete:31", "tree:8"));
  for (const std::size_t count : {0, 1, 2, 5, 30, 31, 500}) {
    if (sanitized && (count == 1 || count == 5 || count == 30)) continue;
    for (const KeyKind kind :
         {KeyKind::uniform, KeyKind::equal, KeyKind::few, KeyKind::sorted, KeyKind::reverse}) {
      for (const bool rebalance : {false, true}) {
        CAPTURE(topology.name(), count, static_cast<int>(kind), rebalance);
        const Array keys = generate_keys(kind, ElementType::float64, count, 1);
        const SortResult result = sorted(topology, {keys, 0, rebalance, {}});
        require_sorted(keys, result.sorted);
        CHECK(result.passed());
        // Twice the mean, and what rounding adds, whatever the keys are.
        const auto p = static_cast<std::size_t>(topology.nodes());
        CHECK(result.largest_share <= 2 * (count / p + 1) + p);
        REQUIRE(result.figures.schedule);
        CHECK(result.figures.schedule->matched());
        CHECK(result.figures.schedule->port_violations == 0);
      }
    }
  }
}

TEST_CASE("random, sorted and equal keys are shared evenly with few samples", "[apps][sort]") {
  const auto topology = Topology::parse("mesh:5x3");
  for (const KeyKind kind :
       {KeyKind::uniform, KeyKind::equal, KeyKind::few, KeyKind::sorted, KeyKind::reverse}) {
    const Array keys = generate_keys(kind, ElementType::float64, 15000, 1);
    const SortResult result = sorted(topology, {keys, 0, false, {}});
    CAPTURE(static_cast<int>(kind), result.largest_share, result.smallest_share);
    CHECK(result.largest_share <= 1150);
    CHECK(result.smallest_share >= 850);
  }
}

TEST_CASE("more samples make the shares more even", "[apps][sort]") {
  const auto topology = Topology::parse("ring:8");
  const Array keys = generate_keys(KeyKind::uniform, ElementType::float64, 8000, 1);
  for (const std::size_t samples : {1, 2, 8, 64, 1000}) {
    const SortResult result = sorted(topology, {keys, samples, false, {}});
    CAPTURE(samples, result.largest_share);
    CHECK(result.passed());
    CHECK(static_cast<double>(result.largest_share) <=
          (1 + 8.0 / static_cast<double>(samples)) * 1000 + 8);
  }
  // All keys are samples: every share is exact.
  CHECK(sorted(topology, {keys, 1000, false, {}}).largest_share == 1000);
}

TEST_CASE("a sort takes every real type, and infinities", "[apps][sort]") {
  const ElementType type =
      GENERATE(ElementType::float32, ElementType::float64, ElementType::int8, ElementType::int16,
               ElementType::int32, ElementType::int64, ElementType::uint8, ElementType::uint16,
               ElementType::uint32, ElementType::uint64);
  const Array keys = generate_keys(KeyKind::uniform, type, 300, 2);
  const SortResult result = sorted(Topology::parse("mesh:3x2"), {keys, 0, true, {}});
  require_sorted(keys, result.sorted);
  CHECK(result.passed());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Array odd =
      list<double>(ElementType::float64, {0.0, infinity, -0.0, 5e-324, -infinity, -0.0, 1, 0.0});
  const SortResult of_odd = sorted(Topology::parse("ring:3"), {odd, 0, false, {}});
  require_sorted(odd, of_odd.sorted);
  CHECK(of_odd.passed());
}

TEST_CASE("a sort works with every registered algorithm", "[apps][sort]") {
  const auto topology = Topology::parse(GENERATE("ring:6", "mesh:4x3", "hypercube:3", "ghc:4x3"));
  const Array keys = generate_keys(KeyKind::few, ElementType::int32, 200, 3);
  Arguments sum;
  sum.reduction = find_reduction("sum", "int64");
  for (const Operation operation : sort_operations()) {
    for (const Collective& collective : admitted(operation, topology, sum)) {
      CAPTURE(topology.name(), operation->name, collective.text());
      Algorithms algorithms = automatic_sort();
      algorithms.use(collective);
      if (collective.name() == "two-phase") {  // a node does not know the sizes of all pairs
        CHECK_THROWS_AS(sorted(topology, {keys, 0, true, {}}, algorithms), UsageError);
        continue;
      }
      require_sorted(keys, sorted(topology, {keys, 0, true, {}}, algorithms).sorted);
    }
  }
}

TEST_CASE("a sort's dry run repeats what its messages were", "[apps][sort]") {
  const auto topology = Topology::parse(GENERATE("torus:4x2", "ring:1", "line:5"));
  const bool rebalance = GENERATE(false, true);
  const Array keys = generate_keys(KeyKind::uniform, ElementType::float64, 77, 5);
  CHECK_NOTHROW(require_repeated(topology, [&](const Runner& runner) {
    run_sort(runner, automatic_sort(), {keys, 0, rebalance, {}});
  }));
}

TEST_CASE("a machine sorts, as threads and as fibers", "[apps][sort][machine]") {
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  for (const char* const name : {"torus:4x4", "ring:7", "hypercube:3"}) {
    Machine machine(Topology::parse(name), {.executor = executor, .timing = true});
    const Array keys = generate_keys(KeyKind::uniform, ElementType::float64, 5000, 1);
    const SortResult result =
        run_sort(on(machine), automatic_sort(), {keys, 0, true, {.iterations = 3}});
    CHECK(result.passed());
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->messages == result.figures.messages);
    CHECK(result.figures.schedule->total_bytes == result.figures.bytes_moved);
  }
}

TEST_CASE("a check of a sort sees disorder, and any other multiset", "[apps][sort]") {
  const Array input = generate_keys(KeyKind::uniform, ElementType::int16, 50, 1);
  Array good = input;
  std::ranges::sort(elements<std::int16_t>(good));
  CHECK(check_sorted(input, good).passed());
  for (std::size_t at = 0; at < 50; ++at) {
    Array bad = good;
    elements<std::int16_t>(bad)[at] ^= 1;  // one that was not there, or there once less
    CHECK(check_sorted(input, bad).missing == 1);
  }
  Array swapped = good;
  std::swap(elements<std::int16_t>(swapped)[3], elements<std::int16_t>(swapped)[30]);
  const SortCheck disorder = check_sorted(input, swapped);
  CHECK(disorder.descents > 0);
  CHECK(disorder.missing == 0);
  CHECK_FALSE(disorder.passed());
  Array doubled = good;  // in order, but one key twice and another not at all
  elements<std::int16_t>(doubled)[7] = elements<std::int16_t>(doubled)[8];
  CHECK(check_sorted(input, doubled).descents == 0);
  CHECK(check_sorted(input, doubled).missing == 1);
  Array shorter = good;
  shorter.data.resize(shorter.data.size() - 2);
  CHECK_FALSE(check_sorted(input, shorter).passed());
  const Array zeros = list<double>(ElementType::float64, {-0.0, 0.0}),
              positive = list<double>(ElementType::float64, {0.0, 0.0});
  CHECK(check_sorted(zeros, positive).missing == 1);
}

TEST_CASE("a sort over damaging collectives does not pass", "[apps][sort]") {
  const auto topology = Topology::parse("ring:4");
  const Array keys = generate_keys(KeyKind::uniform, ElementType::int64, 100, 1);
  const auto over = [&](Collective collective) {
    Algorithms algorithms = automatic_sort();
    algorithms.use(std::move(collective));
    return sorted(topology, {keys, 0, false, {}}, algorithms);
  };
  const SortResult keys_damaged = over(damaging<operations::alltoallv>());
  CHECK(keys_damaged.verified());
  CHECK(keys_damaged.check.missing == 1);
  CHECK_FALSE(keys_damaged.passed());
  CHECK_THROWS_WITH(over(damaging<operations::alltoall>()), Contains("received a count of"));
  CHECK_THROWS_WITH(over(damaging<operations::exscan>()), Contains("got start "));
}

TEST_CASE("a sort that is not verified has not passed", "[apps][sort]") {
  const Array keys = generate_keys(KeyKind::uniform, ElementType::int64, 100, 1);
  const SortResult result = sorted(Topology::parse("ring:4"), {keys, 0, false, {.verify = false}});
  CHECK_FALSE(result.verified());
  CHECK_FALSE(result.passed());
}

TEST_CASE("a sort that cannot be is refused before it runs", "[apps][sort]") {
  const Runner unused{Topology::parse("ring:3"), [](const Program&) -> Statistics {
                        FAIL("it ran");
                        return {};
                      }};
  const auto refused = [&](Array keys) {
    run_sort(unused, automatic_sort(), {std::move(keys), 0, false, {}});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(refused(list<double>(ElementType::float64, {1, 2, nan, nan})),
                    Contains("element 2 (from 0)") && Contains("NaN"));
  CHECK_THROWS_WITH(refused({ElementType::complex64, {1}, std::vector<std::byte>(8)}),
                    Contains("complex"));
  CHECK_THROWS_WITH(refused({ElementType::int8, {2, 2}, std::vector<std::byte>(4)}),
                    Contains("2 dimensions") && Contains("need 1"));
  Algorithms algorithms("hypercube-pairwise", sort_operations());
  CHECK_THROWS_WITH(run_sort(unused, algorithms,
                             {generate_keys(KeyKind::few, ElementType::int8, 9, 1), 0, false, {}}),
                    Contains("hypercube-pairwise") && Contains("3"));
}

TEST_CASE("sorted runs are merged in their order", "[apps][sort]") {
  std::vector<int> runs{5, 9, 1, 2, 3, 7, 4}, room(7);
  const std::vector<std::size_t> counts{0, 2, 3, 0, 1, 1};
  const std::span<int> merged = merge_runs<int>(runs, counts, room);
  CHECK(std::vector<int>(merged.begin(), merged.end()) == std::vector<int>{1, 2, 3, 4, 5, 7, 9});
  CHECK(merge_runs<int>({}, {}, {}).empty());
}
