// `wormcube lookup`: keys of the host looked up in a table that a machine's nodes share, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/run.hpp"

#include "wormcube/apps/pair_counts.hpp"
#include "wormcube/apps/random.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

// An answer on its way: the value, and whether there is one. A block has all values first, then all
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
  Lookup(const LookupCollectives& collectives, const DistributedTable& table,
         std::span<const Key> keys, Rank nodes, LookupResult& result)
      : collectives_(collectives),
        table_(table),
        keys_(keys),
        before_{keys.size(), nodes},
        result_(result),
        counts_(before_),
        host_(static_cast<std::size_t>(nodes)) {}

  void operator()(Node& node) {
    const Rank r = node.rank();
    const std::size_t count = before_.count(r);
    Clock::duration& host = host_[static_cast<std::size_t>(r)];
    const auto entries = table_.of_node(r);
    const Memory table = node.memory(entries.size_bytes(), Purpose::blocks),
                 keys = node.memory(count * sizeof(Key), Purpose::blocks);
    node.local([&] {
      const auto start = Clock::now();
      copy(std::as_bytes(entries), table);
      copy(std::as_bytes(keys_.subspan(before_.first(r), count)), keys);
      host = Clock::now() - start;
    });

    // Entry k: where key k stands among those that are sent.
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
    // A binary search: a comparison and an entry of memory for each halving.
    const double halvings = std::ceil(std::log2(static_cast<double>(entries.size()) + 1)) *
                            static_cast<double>(requests);
    node.computes(halvings, halvings * sizeof(Entry));
    node.local([&] { answer(as<Entry>(table), as<Key>(wanted), counts_.received(r), answers); });

    const Memory answered = node.memory(count * answer_bytes, Purpose::blocks);
    node.phase("answers");
    counts_.answer(node, collectives_.alltoallv, answers, answered, answer_bytes);
    node.phase("answers to the host");
    node.local([&] {
      const auto start = Clock::now();
      put(before_.first(r), as<std::size_t>(places), counts_.sent(r), answered);
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

  void join_answers(const Runner& runner) {
    const auto join_array = [&](auto& array) {
      constexpr Bytes element = sizeof(array[0]);
      apps::join(runner, std::as_writable_bytes(std::span(array)), [&](Rank r) {
        return std::pair(before_.first(r) * element, before_.first(r + 1) * element);
      });
    };
    join_array(result_.values);
    join_array(result_.found);
  }

 private:
  void count_owners(std::span<const Key> keys, std::span<std::size_t> counts) const {
    std::ranges::fill(counts, std::size_t{0});
    for (const Key key : keys) ++counts[static_cast<std::size_t>(table_.owner()(key))];
  }

  void sort_by_owner(std::span<const Key> keys, std::span<const std::size_t> counts,
                     std::span<Key> sorted, std::span<std::size_t> places) const {
    std::vector<std::size_t> next(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
    for (std::size_t k = 0; k < keys.size(); ++k) {
      places[k] = next[static_cast<std::size_t>(table_.owner()(keys[k]))]++;
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

  // The answers, in the order of the keys.
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
  const DistributedTable& table_;
  std::span<const Key> keys_;
  Distribution before_;
  LookupResult& result_;
  PairCounts counts_;                  // of keys; of answers the other way
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

}  // namespace

std::vector<Operation> lookup_operations() { return {operations::alltoall, operations::alltoallv}; }

LookupResult run_lookup(const Runner& runner, const Algorithms& algorithms, const LookupJob& job) {
  const Rank p = runner.topology.nodes();
  const auto what = fmt::format("lookup of {} keys in {} entries on {} nodes", job.keys.size(),
                                job.table_keys.size(), p);
  // The host's table and the order of its rows; the answers; for the check a hashed table.
  constexpr double hashed_entry = 64;
  const auto entries = static_cast<double>(job.table_keys.size());
  const double host_bytes = entries * (sizeof(Entry) + sizeof(std::size_t)) +
                            static_cast<double>(job.keys.size()) * answer_bytes +
                            PairCounts::bytes(p) +
                            (job.options.verify ? entries * hashed_entry : 0);
  require_memory(what, host_bytes, "use a smaller table, or fewer keys");

  const Distribution keys{job.keys.size(), p};
  const LookupCollectives collectives{
      algorithms.choose(operations::alltoall, runner.topology, sizeof(std::size_t)),
      algorithms.choose(operations::alltoallv, runner.topology,
                        (keys.largest() / static_cast<std::size_t>(p) + 1) * answer_bytes)};
  const DistributedTable table(job.by, p, job.table_keys, job.table_values);
  LookupResult result;
  result.values.resize(job.keys.size());
  result.found.resize(job.keys.size());
  Lookup lookup(collectives, table, job.keys, p, result);
  const Program program = [&](Node& node) { lookup(node); };
  job.options.tell("memory");
  require_memory_to_run(what, runner, job.options.verify ? entries * hashed_entry : 0, program,
                        "use a smaller table, or fewer keys");
  RunFigures known;
  known.collectives = {UsedCollective(collectives.alltoall, 1),
                       UsedCollective(collectives.alltoallv, 2)};
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return lookup.after_run(runner); });
  result.figures.block_bytes = lookup.block_bytes();
  lookup.join_answers(runner);
  result.absent = static_cast<std::size_t>(std::ranges::count(result.found, 0));
  result.largest_table = table.largest();
  for (Rank r = 0; r < p; ++r) {
    result.largest_requests = std::max(result.largest_requests, lookup.requests(r));
  }
  result.average_table = entries / p;
  result.average_requests = static_cast<double>(job.keys.size()) / p;
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  result.wrong = count_wrong_answers(job, result);
  return result;
}

LookupJob generate_lookup(std::size_t entries, std::size_t lookups, double absent,
                          std::uint64_t seed) {
  if (!(absent >= 0 && absent <= 1)) {
    throw UsageError(fmt::format("lookup: a share {} of absent keys; need 0 to 1", absent));
  }
  require_memory(
      fmt::format("a table of {} entries and {} keys", entries, lookups),
      static_cast<double>(entries) * sizeof(Entry) + static_cast<double>(lookups) * sizeof(Key),
      "use fewer (--entries, --lookups)");
  LookupJob job;
  // SplitMix64 gives no number twice before all 2^64 were there.
  SplitMix distinct(seed), random(seed, SplitMix::second);
  job.table_keys.resize(entries);
  for (Key& key : job.table_keys) key = static_cast<Key>(distinct.next());
  job.table_values.resize(entries);
  std::iota(job.table_values.begin(), job.table_values.end(), Value{0});
  job.keys.resize(lookups);
  for (Key& key : job.keys) {
    const bool is_absent = entries == 0 || (random.symmetric() + 1) / 2 < absent;
    key = is_absent ? static_cast<Key>(distinct.next()) : job.table_keys[random.next() % entries];
  }
  return job;
}

std::size_t count_wrong_answers(const LookupJob& job, const LookupResult& result) {
  if (result.values.size() != job.keys.size() || result.found.size() != job.keys.size()) {
    return std::max<std::size_t>(job.keys.size(), 1);
  }
  std::unordered_map<Key, Value> table;
  table.reserve(job.table_keys.size());
  for (std::size_t row = 0; row < job.table_keys.size(); ++row) {
    table.emplace(job.table_keys[row], job.table_values[row]);
  }
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < job.keys.size(); ++k) {
    const auto entry = table.find(job.keys[k]);
    const bool is_there = entry != table.end();
    const Value wanted = is_there ? entry->second : 0;
    if (result.found[k] != (is_there ? 1 : 0) || result.values[k] != wanted) ++wrong;
  }
  return wrong;
}

}  // namespace wormcube::apps
