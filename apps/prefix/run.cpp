// `wormcube prefix`: the prefix sums of a list of the host, computed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/prefix/run.hpp"

#include "wormcube/apps/common/distribution.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

/// Calls act(T{}) with the type in which the elements are added.
template <class Act>
decltype(auto) with_summed_type(ElementType type, Act act) {
  if (type == ElementType::int64) return act(std::uint64_t{});  // wraps around
  if (type == ElementType::float64) return act(double{});
  throw UsageError(fmt::format("prefix: {} numbers; need int64 or float64", to_string(type)));
}

/// What a check knows of the numbers before some place.
template <class T>
struct Before {
  using Exact = std::conditional_t<std::is_integral_v<T>, T, long double>;
  Exact sum = 0;
  long double of_magnitudes = 0;
  std::size_t count = 0;

  void add(T number) {
    sum += static_cast<Exact>(number);
    if constexpr (!std::is_integral_v<T>) of_magnitudes += std::abs(number);
    ++count;
  }
  /// Higham, Accuracy and Stability of Numerical Algorithms, 2002, sec. 4.2: any order of additions
  /// errs by (count - 1) u times the sum of the magnitudes at most, u = epsilon/2.
  bool agrees(T found) const {
    if constexpr (std::is_integral_v<T>) {
      return found == sum;
    } else {
      const auto error = static_cast<long double>(count) * std::numeric_limits<T>::epsilon();
      if (std::isnan(sum)) return std::isnan(found);
      if (std::isinf(sum)) return found == sum;
      return std::abs(static_cast<long double>(found) - sum) <= error * of_magnitudes;
    }
  }
};

template <class T>
std::size_t count_wrong(std::span<const T> numbers, std::span<const T> sums, Before<T> before) {
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    before.add(numbers[k]);
    wrong += before.agrees(sums[k]) ? 0 : 1;
  }
  return wrong;
}

/// The node program.
/// \param own  this node's numbers, which become the sums
template <class T>
void prefix_sums(Node& node, const Collective& exscan, Span own) {
  const std::span<T> sums = as<T>(own);
  const Memory mine = node.memory(sizeof(T)), before = node.memory(sizeof(T));
  const auto additions = static_cast<double>(sums.size());
  node.phase("own sums");
  node.computes(additions, 2 * additions * sizeof(T));
  node.local([&] {
    std::inclusive_scan(sums.begin(), sums.end(), sums.begin());
    as<T>(mine)[0] = sums.empty() ? T{0} : sums.back();
    as<T>(before)[0] = 0;  // node 0 receives nothing
  });
  node.phase("sum of the nodes before");
  exscan(node, mine.span(), before.span());
  node.phase("whole sums");
  node.computes(additions, 2 * additions * sizeof(T));
  node.local([&] {
    for (T& sum : sums) sum += as<T>(before)[0];
  });
}

template <class T>
PrefixResult sum_up(const Runner& runner, const Algorithms& algorithms, const PrefixJob& job) {
  const Rank p = runner.topology.nodes();
  const ElementType type = job.numbers.type();
  const Distribution numbers{job.numbers.elements(), p};
  Arguments addition;
  addition.reduction = find_reduction("sum", std::is_integral_v<T> ? "int64" : "double");
  const Collective exscan =
      algorithms.choose(operations::exscan, runner.topology, sizeof(T), addition);
  const auto what =
      fmt::format("prefix sums of {} {} on {} nodes", numbers.items, to_string(type), p);

  PrefixResult result;
  result.here = part_here(runner, [&](Rank r) { return Part{numbers.first(r), numbers.count(r)}; });
  Loaded loaded;
  std::vector<Clock::duration> host(static_cast<std::size_t>(p));  // entry r: written by node r
  const Program program = [&](Node& node) {
    const Rank r = node.rank();
    const Bytes first = (numbers.first(r) - result.here.first) * sizeof(T);
    const Memory own = node.memory(numbers.count(r) * sizeof(T), Purpose::blocks);
    Clock::duration& time = host[static_cast<std::size_t>(r)];
    node.local([&] {
      const auto start = Clock::now();
      copy(loaded.bytes().subspan(first, own.size()), own);
      time = Clock::now() - start;
    });
    prefix_sums<T>(node, exscan, own);
    node.local([&] {
      const auto start = Clock::now();
      copy(own, Span(result.sums.data).subspan(first, own.size()));
      time += Clock::now() - start;
    });
  };
  in_all_processes(runner, [&] {
    const std::size_t bytes = result.here.count * sizeof(T);
    const double host_bytes = Loaded::bytes(job.numbers, result.here) + static_cast<double>(bytes);
    require_memory_here(what, runner, host_bytes, "use fewer numbers");
    require_memory_to_run(what, runner, host_bytes, program, "use fewer numbers");
    job.options.tell("input");
    loaded = Loaded(job.numbers, result.here);
    require_numbers(type, loaded.bytes(), result.here.first, "prefix");
    result.sums = {type, {result.here.count}, std::vector<std::byte>(bytes)};
  });
  RunFigures known;
  known.collectives = {UsedCollective(exscan, 1)};
  known.block_bytes = sizeof(T);
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return sum(runner, host) / p; });
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  const std::span<const T> given{reinterpret_cast<const T*>(loaded.bytes().data()),
                                 result.here.count};
  Before<T> mine, before;
  for (const T number : given) mine.add(number);
  const auto of_all = of_all_processes(runner, mine);
  const auto process =
      static_cast<std::size_t>(runner.processes == nullptr ? 0 : runner.processes->process());
  for (std::size_t i = 0; i < process; ++i) {
    before.sum += of_all[i].sum;
    before.of_magnitudes += of_all[i].of_magnitudes;
    before.count += of_all[i].count;
  }
  result.wrong =
      sum(runner, count_wrong<T>(given, elements<T>(std::as_const(result.sums)), before));
  return result;
}

}  // namespace

std::vector<Operation> prefix_operations() { return {operations::exscan}; }

PrefixResult run_prefix(const Runner& runner, const Algorithms& algorithms, const PrefixJob& job) {
  const Activity activity("prefix");
  if (job.numbers.shape().size() != 1) {
    throw UsageError(fmt::format("prefix: an array of {} dimensions; need 1, a list of numbers",
                                 job.numbers.shape().size()));
  }
  return with_summed_type(job.numbers.type(),
                          [&]<class T>(T) { return sum_up<T>(runner, algorithms, job); });
}

std::size_t count_wrong_sums(const Array& numbers, const Array& sums) {
  if (sums.type != numbers.type || sums.shape != numbers.shape ||
      sums.data.size() != numbers.data.size()) {
    return std::max<std::size_t>(numbers.elements(), 1);
  }
  return with_summed_type(numbers.type, [&]<class T>(T) {
    return count_wrong<T>(elements<T>(numbers), elements<T>(sums), {});
  });
}

}  // namespace wormcube::apps
