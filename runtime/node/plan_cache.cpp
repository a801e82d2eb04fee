// Finding a plan by its key.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/plan_cache.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace wormcube {

std::uint64_t PlanCache::hash(const Key& key) {
  std::uint64_t hash = std::hash<std::string_view>()(key.algorithm);
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  };
  mix(std::hash<const void*>()(key.type));
  mix(static_cast<std::uint64_t>(key.topology.nodes()));
  mix(static_cast<std::uint64_t>(key.rank));
  for (const std::int64_t option : key.options) mix(static_cast<std::uint64_t>(option));
  return hash;
}

const void* PlanCache::find(const Key& key) const {
  const auto [first, last] = entries_.equal_range(hash(key));
  for (auto entry = first; entry != last; ++entry) {
    const Entry& kept = entry->second;
    if (kept.type == key.type && kept.rank == key.rank && kept.algorithm == key.algorithm &&
        std::ranges::equal(kept.options, key.options) && *kept.topology == key.topology) {
      return kept.plan.get();
    }
  }
  return nullptr;
}

namespace {

/// One object for all caches that keep equal networks: each node of a machine has a cache.
///
/// Threads  any.
std::shared_ptr<const Topology> shared(const Topology& topology) {
  static std::mutex mutex;
  static std::unordered_multimap<Rank, std::weak_ptr<const Topology>> all;  // by nodes
  const std::lock_guard lock(mutex);
  auto [kept, end] = all.equal_range(topology.nodes());
  while (kept != end) {
    if (auto same = kept->second.lock()) {
      if (*same == topology) return same;
      ++kept;
    } else {
      kept = all.erase(kept);
    }
  }
  auto made = std::make_shared<const Topology>(topology);
  all.emplace(topology.nodes(), made);
  return made;
}

}  // namespace

const void* PlanCache::keep(const Key& key, std::shared_ptr<const void> plan) {
  Entry entry{key.type,
              std::string(key.algorithm),
              {key.options.begin(), key.options.end()},
              shared(key.topology),
              key.rank,
              std::move(plan)};
  return entries_.emplace(hash(key), std::move(entry))->second.plan.get();
}

}  // namespace wormcube
