// `wormcube sort`: a list of the host, sorted by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/sort/run.hpp"

#include "wormcube/apps/common/pair_counts.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/common/random.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/sort/key_order.hpp"
#include "wormcube/apps/sort/sample_sort.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;
using Place = std::uint64_t;  // a node's first key in the whole: what the scan sums up

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
             KeyOrder<Code> order, std::span<const Code> keys, std::size_t first_key,
             std::span<Code> sorted)
      : collectives_(collectives),
        sampling_(sampling),
        order_(order),
        keys_(keys),
        first_key_(first_key),
        sorted_(sorted),
        own_sorted_(nodes()),
        parts_(sampling.keys),
        places_(nodes()),
        host_(nodes()) {
    if (rebalances) shares_.emplace(sampling.keys);
    std::vector<std::size_t> samples;
    for (Rank r = 0; r < sampling.keys.nodes; ++r) samples.push_back(sampling.samples(r));
    sample_offsets_ = block_offsets(samples, sizeof(Code));
    for (const std::size_t count : samples) sample_bytes_.push_back(count * sizeof(Code));
    // For the dry run before the first run: as if every node kept every p-th of its keys.
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
    node.phase("sort own keys");
    computes_passes(node, sampling_.keys.count(r), sampling_.keys.count(r));
    node.local([&] {
      const auto start = Clock::now();
      std::ranges::transform(
          keys_.subspan(sampling_.keys.first(r) - first_key_, sampling_.keys.count(r)),
          as<Code>(own).begin(), [this](Code pattern) { return order_.code(pattern); });
      host = Clock::now() - start;
      std::ranges::sort(as<Code>(own));
    });
    node.phase("splitters");
    cut(node, as<Code>(own));
    node.phase("counts");
    parts_.tell(node, collectives_.alltoall);

    const std::size_t share = parts_.total_received(r);
    const Memory in = node.memory(share * sizeof(Code), Purpose::blocks),
                 room = node.memory(share * sizeof(Code), Purpose::blocks);
    node.phase("exchange");
    parts_.exchange(node, collectives_.alltoallv, own, in, sizeof(Code));
    node.phase("merge");
    std::span<Code> merged = as<Code>(in);
    const auto& runs = parts_.received(r);
    computes_passes(node, share,
                    static_cast<std::size_t>(
                        std::ranges::count_if(runs, [](std::size_t count) { return count > 0; })));
    node.local([&] {
      merged = merge_runs(as<Code>(in), std::span<const std::size_t>(parts_.received(r)),
                          as<Code>(room));
    });
    node.phase("places");
    find_place(node, share);
    node.phase(shares_ ? "equal shares" : "keys to the host");
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

  /// The keys of the whole that a node has at the end.
  Part sorted_part(Rank r) {
    return shares_ ? Part{sampling_.keys.first(r), sampling_.keys.count(r)}
                   : Part{place(r), share(r)};
  }
  /// The keys that a node has sorted, if the host has no array for all.
  std::vector<Code> take_sorted(Rank r) {
    return std::move(own_sorted_[static_cast<std::size_t>(r)]);
  }

 private:
  std::size_t nodes() const { return static_cast<std::size_t>(sampling_.keys.nodes); }
  // For prices: the keys of these runs become one run, merged two at a time; a comparison for each
  // key and pass, and each pass reads and writes all keys.
  static void computes_passes(Node& node, std::size_t keys, std::size_t runs) {
    const double passes = runs > 1 ? std::ceil(std::log2(static_cast<double>(runs))) : 0;
    const double compared = passes * static_cast<double>(keys);
    node.computes(compared, 2 * compared * sizeof(Code));
  }
  Place& place(Rank r) { return places_[static_cast<std::size_t>(r)]; }

  // Samples to all; every node finds the same splitters, and the cuts of its keys.
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
      as<Place>(before)[0] = 0;  // node 0 receives nothing
    });
    collectives_.exscan(node, mine.span(), before.span());
    node.local([&] {
      const Place first = as<Place>(before)[0];
      const std::size_t all = sampling_.keys.items;
      if (first > all || share > all - first) {
        throw std::runtime_error(
            fmt::format("exscan {}: node {} got start {} for {} keys; the input has {}",
                        collectives_.exscan.name(), node.rank(), first, share, all));
      }
      place(node.rank()) = first;
    });
  }

  // How many of its sorted keys, at their place in the whole, node r must send to each node.
  void share_out(Rank r, std::size_t share) {
    const std::size_t first = place(r), last = first + share;
    for (Rank q = 0; q < sampling_.keys.nodes; ++q) {
      const std::size_t begin = std::clamp(sampling_.keys.first(q), first, last),
                        end = std::clamp(sampling_.keys.first(q + 1), first, last);
      shares_->sent(r)[static_cast<std::size_t>(q)] = end - begin;
    }
  }

  // Sorted keys at this place in the whole go to the nodes whose equal shares they belong to.
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
      std::vector<Code>& own = own_sorted_[static_cast<std::size_t>(node.rank())];
      if (sorted_.empty()) own.resize(keys.size());
      std::ranges::transform(keys, sorted_.empty() ? own.data() : sorted_.data() + first,
                             [this](Code code) { return order_.pattern(code); });
      host_[static_cast<std::size_t>(node.rank())] += Clock::now() - start;
    });
  }

  const SortCollectives& collectives_;
  const RegularSampling sampling_;
  const KeyOrder<Code> order_;
  std::span<const Code>
      keys_;                // of this process, as bit patterns, like the result; in between, codes
  std::size_t first_key_;   // the place of the first of them
  std::span<Code> sorted_;  // all of them; empty if several processes share them
  std::vector<std::vector<Code>> own_sorted_;  // then each node's
  PairCounts parts_;                           // by splitters
  std::optional<PairCounts> shares_;           // to equal shares
  std::vector<Bytes> sample_offsets_;          // of each node's samples among all
  std::vector<Bytes> sample_bytes_;
  // Entry r is written by node r.
  std::vector<Place> places_;
  std::vector<Clock::duration> host_;
};

template <class Code>
std::vector<Code> codes_of(const KeyOrder<Code>& order, std::span<const Code> patterns) {
  std::vector<Code> codes(patterns.size());
  std::ranges::transform(patterns, codes.begin(),
                         [&](Code pattern) { return order.code(pattern); });
  return codes;
}

template <class Code>
bool descends(const KeyOrder<Code>& order, Code before, Code after) {
  return after < before && !order.are_zeros(after, before);
}

template <class Code>
SortCheck check_keys(ElementType type, std::span<const Code> input, std::span<const Code> sorted) {
  SortCheck check{.measured = true};
  const KeyOrder<Code> order(type);
  std::vector<Code> wanted = codes_of(order, input), found = codes_of(order, sorted);
  for (std::size_t i = 1; i < found.size(); ++i) {
    check.descents += descends(order, found[i - 1], found[i]) ? 1 : 0;
  }
  const auto start = Clock::now();
  std::ranges::sort(wanted);
  check.serial_wall = Clock::now() - start;
  std::ranges::sort(found);
  // One pass over both lists: the keys that only the first has.
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

/// Order-independent sums over all keys: two lists with equal sums have the same keys, except with
/// a probability of 2^-128.
template <class Code>
std::array<std::uint64_t, 3> fingerprint(const Runner& runner, std::span<const Code> keys) {
  std::array<std::uint64_t, 3> sums{keys.size(), 0, 0};
  for (const Code key : keys) {
    SplitMix random(std::uint64_t{key} * 2 + 1);
    sums[1] += random.next();
    sums[2] += random.next();
  }
  for (std::uint64_t& value : sums) value = sum(runner, value);
  return sums;
}

/// check_keys if each process has a part of both.
template <class Code>
SortCheck check_parts(const Runner& runner, ElementType type, std::span<const Code> input,
                      std::span<const Code> sorted) {
  SortCheck check{.measured = true, .counted = false};
  const KeyOrder<Code> order(type);
  std::uint64_t descents = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    descents += descends(order, order.code(sorted[i - 1]), order.code(sorted[i])) ? 1 : 0;
  }
  check.descents = sum(runner, descents);
  // Where one process's keys end and the next nonempty one's begin.
  struct Ends {
    bool any;
    Code first, last;
  };
  const Ends mine = sorted.empty()
                        ? Ends{false, 0, 0}
                        : Ends{true, order.code(sorted.front()), order.code(sorted.back())};
  const Ends* before = nullptr;
  const std::vector<Ends> all = of_all_processes(runner, mine);
  for (const Ends& ends : all) {
    if (!ends.any) continue;
    if (before != nullptr) check.descents += descends(order, before->last, ends.first) ? 1 : 0;
    before = &ends;
  }
  check.missing = fingerprint(runner, input) == fingerprint(runner, sorted) ? 0 : 1;
  return check;
}

template <class Code>
SortResult sort_keys(const Runner& runner, const Algorithms& algorithms, const SortJob& job) {
  const Rank p = runner.topology.nodes();
  const ElementType type = job.keys.type();
  const Distribution before{job.keys.elements(), p};
  const RegularSampling sampling{before,
                                 job.samples == 0 ? static_cast<std::size_t>(p) : job.samples};
  const SortCollectives collectives =
      choose(algorithms, runner.topology, before, sampling, sizeof(Code));
  const auto what = fmt::format("sort of {} {} on {} nodes", before.items, to_string(type), p);
  const bool alone = holds_all(runner);
  const Part part = part_here(runner, [&](Rank r) {
    return Part{before.first(r), before.count(r)};
  });
  const double part_bytes = static_cast<double>(part.count) * sizeof(Code);

  SortResult result;
  result.samples = sampling.per_node;
  Loaded loaded;
  in_all_processes(runner, [&] {
    // The result; for the check in one process, the input and the result once more, each sorted; in
    // several, each node's share of the result before they are concatenated.
    const double copies = alone ? (job.options.verify ? 4 : 1) : 2;
    require_memory_here(what, runner,
                        Loaded::bytes(job.keys, part) + copies * part_bytes +
                            PairCounts::bytes(p) * (job.rebalance ? 2 : 1),
                        "use a smaller array, or fewer nodes");
    loaded = Loaded(job.keys, part);
    require_numbers(type, loaded.bytes(), part.first, "sort");
    if (alone) {
      result.sorted = {type, {before.items}, std::vector<std::byte>(before.items * sizeof(Code))};
    }
  });
  const std::span<const Code> keys{reinterpret_cast<const Code*>(loaded.bytes().data()),
                                   part.count};
  SampleSort<Code> sort(collectives, sampling, job.rebalance, KeyOrder<Code>(type), keys,
                        part.first, elements<Code>(result.sorted));
  const Program program = [&](Node& node) { sort(node); };
  // Every node holds all samples, and while it chooses their splitters as records.
  double samples = 0;
  for (Rank r = 0; r < p; ++r) samples += static_cast<double>(sampling.samples(r));
  // The check sorts input and result once more while the nodes still hold their memory.
  const double copies = job.options.verify && alone ? 2 : 0;
  job.options.tell("memory");
  in_all_processes(runner, [&] {
    const auto [first, last] = nodes_here(runner);
    require_memory_to_run(
        what, runner, copies * part_bytes + 2.0 * (last - first) * samples * sizeof(Splitter<Code>),
        program, "use a smaller array, or fewer samples (--samples)");
  });

  RunFigures known;
  const int exchanges = job.rebalance ? 2 : 1;
  known.collectives = {
      UsedCollective(collectives.allgatherv, 1), UsedCollective(collectives.alltoall, exchanges),
      UsedCollective(collectives.alltoallv, exchanges), UsedCollective(collectives.exscan, 1)};
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return sort.after_run(runner); });
  result.figures.block_bytes = sort.block_bytes();
  result.here = part_here(runner, [&](Rank r) { return sort.sorted_part(r); });
  if (!alone) {
    result.sorted = {type, {result.here.count}, {}};
    result.sorted.data.reserve(result.here.count * sizeof(Code));
    const auto [first, last] = nodes_here(runner);
    for (Rank r = first; r < last; ++r) {
      const std::vector<Code> own = sort.take_sorted(r);
      const auto bytes = std::as_bytes(std::span(own));
      result.sorted.data.insert(result.sorted.data.end(), bytes.begin(), bytes.end());
    }
  }
  result.smallest_share = before.items;
  for (Rank r = 0; r < p; ++r) {
    result.largest_share = std::max(result.largest_share, sort.share(r));
    result.smallest_share = std::min(result.smallest_share, sort.share(r));
  }
  result.average_share = static_cast<double>(before.items) / p;
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  const std::span<const Code> sorted = elements<Code>(std::as_const(result.sorted));
  result.check = alone ? check_keys(type, keys, sorted) : check_parts(runner, type, keys, sorted);
  return result;
}

}  // namespace

std::vector<Operation> sort_operations() {
  return {operations::allgatherv, operations::alltoall, operations::alltoallv, operations::exscan};
}

SortResult run_sort(const Runner& runner, const Algorithms& algorithms, const SortJob& job) {
  if (job.keys.shape().size() != 1) {
    throw UsageError(fmt::format("sort: an array of {} dimensions; need 1, a list of numbers",
                                 job.keys.shape().size()));
  }
  return with_code(job.keys.type(), "sort",
                   [&]<class Code>(Code) { return sort_keys<Code>(runner, algorithms, job); });
}

SortCheck check_sorted(const Array& input, const Array& sorted) {
  if (sorted.type != input.type || sorted.shape != input.shape ||
      sorted.data.size() != input.data.size()) {
    return {.measured = true, .descents = 0, .missing = std::max<std::size_t>(input.elements(), 1)};
  }
  return with_code(input.type, "sort", [&]<class Code>(Code) {
    return check_keys<Code>(input.type, elements<Code>(input), elements<Code>(sorted));
  });
}

}  // namespace wormcube::apps
