// `wormcube sort`: a list of the host, sorted by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/sort/run.hpp"

#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/pair_counts.hpp"
#include "wormcube/apps/random.hpp"
#include "wormcube/apps/sort/key_order.hpp"
#include "wormcube/apps/sort/sample_sort.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;
using Place = std::uint64_t;  // of a node's first key in the whole: what the scan adds up

// The algorithms of one sort.
struct SortCollectives {
  Collective allgatherv, alltoall, exscan, alltoallv;
};

SortCollectives choose(const Algorithms& algorithms, const Topology& topology,
                       const Distribution& keys, const RegularSampling& sampling, Bytes element) {
  const auto p = static_cast<std::size_t>(keys.nodes);
  Arguments addition;
  addition.reduction = find_reduction("sum", "int64");
  return {algorithms.choose(operations::allgatherv, topology, sampling.samples(0) * element),
          algorithms.choose(operations::alltoall, topology, sizeof(std::size_t)),
          algorithms.choose(operations::exscan, topology, sizeof(Place), addition),
          algorithms.choose(operations::alltoallv, topology, (keys.largest() / p + 1) * element)};
}

template <class Code>
class SampleSort {
 public:
  SampleSort(const SortCollectives& collectives, const RegularSampling& sampling, bool rebalances,
             KeyOrder<Code> order, std::span<const Code> keys, std::span<Code> sorted)
      : collectives_(collectives),
        sampling_(sampling),
        order_(order),
        keys_(keys),
        sorted_(sorted),
        parts_(sampling.keys),
        places_(nodes()),
        host_(nodes()) {
    if (rebalances) shares_.emplace(sampling.keys);
    std::vector<std::size_t> samples;
    for (Rank r = 0; r < sampling.keys.nodes; ++r) samples.push_back(sampling.samples(r));
    sample_offsets_ = block_offsets(samples, sizeof(Code));
    for (const std::size_t count : samples) sample_bytes_.push_back(count * sizeof(Code));
    // For the dry run before the first run: as if every node kept each p-th of its keys.
    std::size_t first = 0;
    for (Rank r = 0; r < sampling.keys.nodes; ++r) {
      place(r) = first;
      first += share(r);
      if (!shares_) continue;
      share_out(r, share(r));
      for (Rank q = 0; q < sampling.keys.nodes; ++q) {
        shares_->received(q)[static_cast<std::size_t>(r)] =
            shares_->sent(r)[static_cast<std::size_t>(q)];
      }
    }
  }

  void operator()(Node& node) {
    const Rank r = node.rank();
    Clock::duration& host = host_[static_cast<std::size_t>(r)];
    const Memory own = node.memory(sampling_.keys.count(r) * sizeof(Code), Purpose::blocks);
    node.local([&] {
      const auto start = Clock::now();
      std::ranges::transform(keys_.subspan(sampling_.keys.first(r), sampling_.keys.count(r)),
                             as<Code>(own).begin(),
                             [this](Code pattern) { return order_.code(pattern); });
      host = Clock::now() - start;
      std::ranges::sort(as<Code>(own));
    });
    cut(node, as<Code>(own));
    parts_.tell(node, collectives_.alltoall);

    const std::size_t share = parts_.total_received(r);
    const Memory in = node.memory(share * sizeof(Code), Purpose::blocks),
                 room = node.memory(share * sizeof(Code), Purpose::blocks);
    parts_.exchange(node, collectives_.alltoallv, own, in, sizeof(Code));
    std::span<Code> merged = as<Code>(in);
    node.local([&] {
      merged = merge_runs(as<Code>(in), std::span<const std::size_t>(parts_.received(r)),
                          as<Code>(room));
    });
    find_place(node, share);
    if (shares_) {
      rebalance(node, merged);
    } else {
      put(node, place(r), merged);
    }
  }

  std::chrono::nanoseconds after_run(const Runner& runner) {
    parts_.join(runner);
    if (shares_) shares_->join(runner);
    apps::join(runner, std::as_writable_bytes(std::span(places_)), [](Rank r) {
      const auto at = static_cast<std::size_t>(r) * sizeof(Place);
      return std::pair(at, at + sizeof(Place));
    });
    return sum(runner, host_) / sampling_.keys.nodes;
  }

  /// The largest block of the exchange by splitters.
  Bytes block_bytes() const { return parts_.largest() * sizeof(Code); }
  /// The keys of a node after the exchange by splitters.
  std::size_t share(Rank r) const { return parts_.total_received(r); }

  void join_sorted(const Runner& runner) {
    apps::join(runner, std::as_writable_bytes(sorted_), [&](Rank r) {
      const std::size_t first = shares_ ? sampling_.keys.first(r) : place(r),
                        count = shares_ ? sampling_.keys.count(r) : share(r);
      return std::pair(first * sizeof(Code), (first + count) * sizeof(Code));
    });
  }

 private:
  std::size_t nodes() const { return static_cast<std::size_t>(sampling_.keys.nodes); }
  Place& place(Rank r) { return places_[static_cast<std::size_t>(r)]; }

  // Samples to all; every node finds the same splitters, and how its keys are cut.
  void cut(Node& node, std::span<const Code> keys) {
    const Rank r = node.rank();
    const Memory mine = node.memory(sample_bytes_[static_cast<std::size_t>(r)]),
                 all = node.memory(sample_offsets_.back());
    node.local([&] {
      const std::span<Code> samples = as<Code>(mine);
      for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = keys[sampling_.index(r, k)];
    });
    collectives_.allgatherv(node, ConstBlocks(mine, 1),
                            Blocks(all, std::span<const Bytes>(sample_offsets_)), sample_bytes_);
    node.local([&] {
      count_parts(keys, r, choose_splitters<Code>(sampling_, as<Code>(all)), parts_.sent(r));
    });
  }

  // The sum of the lower nodes' shares.
  void find_place(Node& node, std::size_t share) {
    const Memory mine = node.memory(sizeof(Place)), before = node.memory(sizeof(Place));
    node.local([&] {
      as<Place>(mine)[0] = share;
      as<Place>(before)[0] = 0;  // node 0 gets nothing
    });
    collectives_.exscan(node, mine.span(), before.span());
    node.local([&] {
      const Place first = as<Place>(before)[0];
      if (first > sorted_.size() || share > sorted_.size() - first) {
        throw std::runtime_error(
            fmt::format("exscan {}: node {} was told to start at key {} with {}; there are {}",
                        collectives_.exscan.name(), node.rank(), first, share, sorted_.size()));
      }
      place(node.rank()) = first;
    });
  }

  // How many of its sorted keys, at their place of the whole, node r owes to each node.
  void share_out(Rank r, std::size_t share) {
    const std::size_t first = place(r), last = first + share;
    for (Rank q = 0; q < sampling_.keys.nodes; ++q) {
      const std::size_t begin = std::clamp(sampling_.keys.first(q), first, last),
                        end = std::clamp(sampling_.keys.first(q + 1), first, last);
      shares_->sent(r)[static_cast<std::size_t>(q)] = end - begin;
    }
  }

  // Sorted keys at this place of the whole go to the nodes whose equal shares they are.
  void rebalance(Node& node, std::span<const Code> merged) {
    const Rank r = node.rank();
    node.local([&] { share_out(r, merged.size()); });
    shares_->tell(node, collectives_.alltoall);
    const Memory in = node.memory(shares_->total_received(r) * sizeof(Code), Purpose::blocks);
    shares_->exchange(node, collectives_.alltoallv, std::as_bytes(merged), in, sizeof(Code));
    put(node, sampling_.keys.first(r), as<Code>(in));
  }

  void put(Node& node, std::size_t first, std::span<const Code> keys) {
    node.local([&] {
      const auto start = Clock::now();
      std::ranges::transform(keys, sorted_.begin() + static_cast<std::ptrdiff_t>(first),
                             [this](Code code) { return order_.pattern(code); });
      host_[static_cast<std::size_t>(node.rank())] += Clock::now() - start;
    });
  }

  const SortCollectives& collectives_;
  const RegularSampling sampling_;
  const KeyOrder<Code> order_;
  std::span<const Code> keys_;  // of the host, as bit patterns, like the result; between them codes
  std::span<Code> sorted_;
  PairCounts parts_;                   // by splitters
  std::optional<PairCounts> shares_;   // to equal shares
  std::vector<Bytes> sample_offsets_;  // of each node's samples among all
  std::vector<Bytes> sample_bytes_;
  // Entry r is written by node r.
  std::vector<Place> places_;
  std::vector<Clock::duration> host_;
};

template <class Code>
std::vector<Code> codes_of(const Array& array) {
  const KeyOrder<Code> order(array.type);
  std::vector<Code> codes(array.elements());
  std::ranges::transform(elements<Code>(array), codes.begin(),
                         [&](Code pattern) { return order.code(pattern); });
  return codes;
}

template <class Code>
SortCheck check_keys(const Array& input, const Array& sorted) {
  SortCheck check{.measured = true};
  const KeyOrder<Code> order(input.type);
  std::vector<Code> wanted = codes_of<Code>(input), found = codes_of<Code>(sorted);
  for (std::size_t i = 1; i < found.size(); ++i) {
    check.descents += found[i] < found[i - 1] && !order.are_zeros(found[i], found[i - 1]) ? 1 : 0;
  }
  const auto start = Clock::now();
  std::ranges::sort(wanted);
  check.serial_wall = Clock::now() - start;
  std::ranges::sort(found);
  // One pass over both: what is in the first alone.
  std::size_t at = 0;
  for (const Code key : wanted) {
    while (at < found.size() && found[at] < key) ++at;
    if (at < found.size() && found[at] == key) {
      ++at;
    } else {
      ++check.missing;
    }
  }
  return check;
}

template <class Code>
SortResult sort_keys(const Runner& runner, const Algorithms& algorithms, const SortJob& job) {
  const std::span<const Code> keys = elements<Code>(job.keys);
  const Rank p = runner.topology.nodes();
  const Distribution before{keys.size(), p};
  const RegularSampling sampling{before,
                                 job.samples == 0 ? static_cast<std::size_t>(p) : job.samples};
  const SortCollectives collectives =
      choose(algorithms, runner.topology, before, sampling, sizeof(Code));
  const auto what =
      fmt::format("sort of {} {} on {} nodes", keys.size(), to_string(job.keys.type), p);
  // The result; for the check the input and the result once more, each sorted.
  const double host_bytes = static_cast<double>(keys.size_bytes()) * (job.options.verify ? 4 : 1) +
                            PairCounts::bytes(p) * (job.rebalance ? 2 : 1);
  require_memory(what, host_bytes, "use a smaller array, or fewer nodes");

  SortResult result;
  result.samples = sampling.per_node;
  result.sorted = {job.keys.type, {keys.size()}, std::vector<std::byte>(keys.size_bytes())};
  SampleSort<Code> sort(collectives, sampling, job.rebalance, KeyOrder<Code>(job.keys.type), keys,
                        elements<Code>(result.sorted));
  const Program program = [&](Node& node) { sort(node); };
  // Every node holds all samples, and their splitters as records while it chooses.
  double samples = 0;
  for (Rank r = 0; r < p; ++r) samples += static_cast<double>(sampling.samples(r));
  // The check sorts input and result once more while the nodes still keep their memory.
  const double copies = job.options.verify ? 2 : 0;
  job.options.tell("memory");
  require_memory_to_run(
      what, runner,
      copies * static_cast<double>(keys.size_bytes()) + 2.0 * p * samples * sizeof(Splitter<Code>),
      program, "use a smaller array, or fewer samples (--samples)");

  RunFigures known;
  const int exchanges = job.rebalance ? 2 : 1;
  known.collectives = {
      UsedCollective(collectives.allgatherv, 1), UsedCollective(collectives.alltoall, exchanges),
      UsedCollective(collectives.alltoallv, exchanges), UsedCollective(collectives.exscan, 1)};
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return sort.after_run(runner); });
  result.figures.block_bytes = sort.block_bytes();
  sort.join_sorted(runner);
  result.smallest_share = keys.size();
  for (Rank r = 0; r < p; ++r) {
    result.largest_share = std::max(result.largest_share, sort.share(r));
    result.smallest_share = std::min(result.smallest_share, sort.share(r));
  }
  result.average_share = static_cast<double>(keys.size()) / p;
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  result.check = check_keys<Code>(job.keys, result.sorted);
  return result;
}

constexpr std::array<std::pair<KeyKind, std::string_view>, 5> kinds{
    {{KeyKind::uniform, "uniform"},
     {KeyKind::equal, "equal"},
     {KeyKind::few, "few"},
     {KeyKind::sorted, "sorted"},
     {KeyKind::reverse, "reverse"}}};

template <class T>
T random_key(SplitMix& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(random.symmetric());
  } else {
    return static_cast<T>(random.next());
  }
}

}  // namespace

std::vector<Operation> sort_operations() {
  return {operations::allgatherv, operations::alltoall, operations::alltoallv, operations::exscan};
}

SortResult run_sort(const Runner& runner, const Algorithms& algorithms, const SortJob& job) {
  if (job.keys.shape.size() != 1) {
    throw UsageError(fmt::format("sort: an array of {} dimensions; need 1, a list of numbers",
                                 job.keys.shape.size()));
  }
  require_numbers(job.keys, "sort");
  return with_code(job.keys.type, "sort",
                   [&]<class Code>(Code) { return sort_keys<Code>(runner, algorithms, job); });
}

KeyKind parse_key_kind(std::string_view text) {
  std::string known;
  for (const auto& [kind, name] : kinds) {
    if (name == text) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw UsageError(fmt::format("no keys '{}'; there are {}", text, known));
}

Array generate_keys(KeyKind kind, ElementType type, std::size_t count, std::uint64_t seed) {
  require_memory(fmt::format("{} keys of {}", count, to_string(type)),
                 static_cast<double>(count) * static_cast<double>(bytes_of(type)),
                 "use fewer (--count)");
  Array made = with_real_type(type, "sort", [&]<class T>(T) {
    SplitMix random(seed);
    std::vector<T> keys(count);
    std::array<T, 16> some{};
    for (T& key : some) key = random_key<T>(random);
    for (T& key : keys) {
      key = kind == KeyKind::equal ? some[0]
            : kind == KeyKind::few ? some[random.next() % some.size()]
                                   : random_key<T>(random);
    }
    return to_array<T>(type, keys, {count});
  });
  if (kind == KeyKind::sorted || kind == KeyKind::reverse) {
    with_code(type, "sort", [&]<class Code>(Code) {
      std::vector<Code> codes = codes_of<Code>(made);
      std::ranges::sort(codes);
      if (kind == KeyKind::reverse) std::ranges::reverse(codes);
      const KeyOrder<Code> order(type);
      std::ranges::transform(codes, elements<Code>(made).begin(),
                             [&](Code code) { return order.pattern(code); });
    });
  }
  return made;
}

SortCheck check_sorted(const Array& input, const Array& sorted) {
  if (sorted.type != input.type || sorted.shape != input.shape ||
      sorted.data.size() != input.data.size()) {
    return {.measured = true, .descents = 0, .missing = std::max<std::size_t>(input.elements(), 1)};
  }
  return with_code(input.type, "sort",
                   [&]<class Code>(Code) { return check_keys<Code>(input, sorted); });
}

}  // namespace wormcube::apps
