// `wormcube lookup`: keys of the host looked up in a table that a machine's nodes share, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/run.hpp"

#include "wormcube/apps/common/pair_counts.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

// An answer to a query: the value, and whether there is one. A block has all values first, then all
// flags, so that both are aligned.
constexpr Bytes answer_bytes = sizeof(Value) + 1;

void write_answer(Span block, std::size_t answers, std::size_t at, const Entry* entry) {
  const Value value = entry == nullptr ? 0 : entry->value;
  std::memcpy(&block[at * sizeof(Value)], &value, sizeof value);
  block[answers * sizeof(Value) + at] = std::byte{entry != nullptr};
}

struct LookupCollectives {
  Collective alltoall, alltoallv;
};

class Lookup {
 public:
  Lookup(const LookupCollectives& collectives, const KeyOwner& owner, const DistributedTable& table,
         std::span<const std::size_t> entries, std::span<const Key> keys,
         const Distribution& all_keys, LookupResult& result)
      : collectives_(collectives),
        owner_(owner),
        table_(table),
        entries_(entries),
        keys_(keys),
        before_(all_keys),
        result_(result),
        counts_(before_),
        host_(static_cast<std::size_t>(all_keys.nodes)) {}

  void operator()(Node& node) {
    const Rank r = node.rank();
    const std::size_t count = before_.count(r);
    Clock::duration& host = host_[static_cast<std::size_t>(r)];
    const std::size_t entries = entries_[static_cast<std::size_t>(r)];
    const Memory table = node.memory(entries * sizeof(Entry), Purpose::blocks),
                 keys = node.memory(count * sizeof(Key), Purpose::blocks);
    node.local([&] {
      const auto start = Clock::now();
      copy(std::as_bytes(table_.of_node(r)), table);
      copy(std::as_bytes(keys_.subspan(before_.first(r) - result_.here.first, count)), keys);
      host = Clock::now() - start;
    });

    // Entry k: the place of key k among those that are sent.
    const Memory places = node.memory(count * sizeof(std::size_t)),
                 asked = node.memory(count * sizeof(Key), Purpose::blocks);
    node.phase("keys by owner");
    node.local([&] { count_owners(as<Key>(keys), counts_.sent(r)); });
    node.rearrange(count * sizeof(Key), [&] {
      sort_by_owner(as<Key>(keys), counts_.sent(r), as<Key>(asked), as<std::size_t>(places));
    });
    node.phase("counts");
    counts_.tell(node, collectives_.alltoall);

    const std::size_t requests = counts_.total_received(r);
    const Memory wanted = node.memory(requests * sizeof(Key), Purpose::blocks),
                 answers = node.memory(requests * answer_bytes, Purpose::blocks);
    node.phase("requests");
    counts_.exchange(node, collectives_.alltoallv, asked, wanted, sizeof(Key));
    node.phase("search");
    // A binary search: a comparison and a memory access for each halving.
    const double halvings =
        std::ceil(std::log2(static_cast<double>(entries) + 1)) * static_cast<double>(requests);
    node.computes(halvings, halvings * sizeof(Entry));
    node.local([&] { answer(as<Entry>(table), as<Key>(wanted), counts_.received(r), answers); });

    const Memory answered = node.memory(count * answer_bytes, Purpose::blocks);
    node.phase("answers");
    counts_.answer(node, collectives_.alltoallv, answers, answered, answer_bytes);
    node.phase("answers to the host");
    node.local([&] {
      const auto start = Clock::now();
      put(before_.first(r) - result_.here.first, as<std::size_t>(places), counts_.sent(r),
          answered);
      host += Clock::now() - start;
    });
  }

  std::chrono::nanoseconds after_run(const Runner& runner) {
    counts_.join(runner);
    return sum(runner, host_) / before_.nodes;
  }

  /// The largest block of answers.
  Bytes block_bytes() const { return counts_.largest() * answer_bytes; }
  std::size_t requests(Rank r) const { return counts_.total_received(r); }

 private:
  void count_owners(std::span<const Key> keys, std::span<std::size_t> counts) const {
    std::ranges::fill(counts, std::size_t{0});
    for (const Key key : keys) ++counts[static_cast<std::size_t>(owner_(key))];
  }

  void sort_by_owner(std::span<const Key> keys, std::span<const std::size_t> counts,
                     std::span<Key> sorted, std::span<std::size_t> places) const {
    std::vector<std::size_t> next(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
    for (std::size_t k = 0; k < keys.size(); ++k) {
      places[k] = next[static_cast<std::size_t>(owner_(keys[k]))]++;
      sorted[places[k]] = keys[k];
    }
  }

  static void answer(std::span<const Entry> table, std::span<const Key> wanted,
                     std::span<const std::size_t> counts, Span answers) {
    std::size_t first = 0;
    for (const std::size_t count : counts) {
      const Span block = answers.subspan(first * answer_bytes, count * answer_bytes);
      for (std::size_t k = 0; k < count; ++k) {
        write_answer(block, count, k, find_entry(table, wanted[first + k]));
      }
      first += count;
    }
  }

  // The answers, in the order of the keys. \param first_key  among those of this process
  void put(std::size_t first_key, std::span<const std::size_t> places,
           std::span<const std::size_t> counts, ConstSpan answered) {
    std::vector<Value> values(places.size());
    std::vector<unsigned char> found(places.size());
    std::size_t first = 0;
    for (const std::size_t count : counts) {
      const ConstSpan block = answered.subspan(first * answer_bytes, count * answer_bytes);
      if (count > 0) {
        std::memcpy(&values[first], block.data(), count * sizeof(Value));
        std::memcpy(&found[first], &block[count * sizeof(Value)], count);
      }
      first += count;
    }
    for (std::size_t k = 0; k < places.size(); ++k) {
      result_.values[first_key + k] = values[places[k]];
      result_.found[first_key + k] = found[places[k]];
    }
  }

  const LookupCollectives& collectives_;
  const KeyOwner& owner_;
  const DistributedTable& table_;         // of the nodes of this process, like the keys
  std::span<const std::size_t> entries_;  // how many each node has, over all nodes
  std::span<const Key> keys_;
  Distribution before_;
  LookupResult& result_;
  PairCounts counts_;                  // of keys; for answers in the other direction
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

}  // namespace

std::vector<Operation> lookup_operations() { return {operations::alltoall, operations::alltoallv}; }

LookupResult run_lookup(const Runner& runner, const Algorithms& algorithms, const LookupJob& job) {
  const Rank p = runner.topology.nodes();
  const Distribution keys{job.keys.elements(), p};
  const std::size_t rows = job.table.count();
  if (rows != job.table.values.elements()) {
    throw UsageError(fmt::format("lookup: {} keys and {} values in the table", rows,
                                 job.table.values.elements()));
  }
  const auto what = fmt::format("lookup of {} keys in {} entries on {} nodes", keys.items, rows, p);
  constexpr const char* way_out = "use a smaller table, or fewer keys";
  const NodeRange nodes{nodes_here(runner).first, nodes_here(runner).second};
  LookupResult result;
  result.here = part_here(runner, [&](Rank r) { return Part{keys.first(r), keys.count(r)}; });
  const std::size_t own = result.here.count;
  // The entries, the keys and their answers; for the check the keys once more.
  const double check_bytes =
      job.options.verify ? answer_check_bytes(own) + Loaded::bytes(job.keys, result.here) : 0;
  const auto require_room = [&](double entries) {
    require_memory_here(what, runner,
                        entries * sizeof(Entry) + Loaded::bytes(job.keys, result.here) +
                            static_cast<double>(own) * answer_bytes + PairCounts::bytes(p) +
                            check_bytes,
                        way_out);
  };

  const LookupCollectives collectives{
      algorithms.choose(operations::alltoall, runner.topology, sizeof(std::size_t)),
      algorithms.choose(operations::alltoallv, runner.topology,
                        (keys.largest() / static_cast<std::size_t>(p) + 1) * answer_bytes)};
  std::optional<KeyOwner> owner;
  std::optional<DistributedTable> table;
  Loaded loaded;
  in_all_processes(runner, [&] {
    // Before anything is counted: the nodes' mean share.
    require_room(static_cast<double>(rows) * (nodes.end - nodes.first) / p);
    owner.emplace(job.by, p, job.table);
    const std::size_t entries = holds_all(runner) ? rows : count_entries(*owner, nodes, job.table);
    require_room(static_cast<double>(entries));
    table.emplace(*owner, nodes, job.table, entries);
    loaded = Loaded(job.keys, result.here);
    result.values.resize(own);
    result.found.resize(own);
  });
  // All processes know how many each node has: a dry run has all nodes.
  std::vector<std::size_t> entries(static_cast<std::size_t>(p));
  for (Rank r = nodes.first; r < nodes.end; ++r) {
    entries[static_cast<std::size_t>(r)] = table->of_node(r).size();
  }
  join(runner, std::as_writable_bytes(std::span(entries)), [](Rank r) {
    const auto at = static_cast<std::size_t>(r) * sizeof(std::size_t);
    return std::pair(at, at + sizeof(std::size_t));
  });
  const std::span<const Key> own_keys{reinterpret_cast<const Key*>(loaded.bytes().data()), own};
  Lookup lookup(collectives, *owner, *table, entries, own_keys, keys, result);
  const Program program = [&](Node& node) { lookup(node); };
  job.options.tell("memory");
  in_all_processes(runner,
                   [&] { require_memory_to_run(what, runner, check_bytes, program, way_out); });
  RunFigures known;
  known.collectives = {UsedCollective(collectives.alltoall, 1),
                       UsedCollective(collectives.alltoallv, 2)};
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return lookup.after_run(runner); });
  result.figures.block_bytes = lookup.block_bytes();
  result.absent = sum(runner, static_cast<std::uint64_t>(std::ranges::count(result.found, 0)));
  result.largest_table = std::ranges::max(entries);
  for (Rank r = 0; r < p; ++r) {
    result.largest_requests = std::max(result.largest_requests, lookup.requests(r));
  }
  result.average_table = static_cast<double>(rows) / p;
  result.average_requests = static_cast<double>(keys.items) / p;
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  std::uint64_t wrong = 0;
  in_all_processes(runner, [&] { wrong = count_wrong_answers(job, result); });
  result.wrong = sum(runner, wrong);
  return result;
}

}  // namespace wormcube::apps
