// Plans: what a node's algorithms compute from their inputs' shapes alone, computed once and kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wormcube {

/// Keeps the plans of one node: index tables, moves, slices. A plan depends on its key alone: the
/// algorithm, its options, and the network and rank that the algorithm sees (a view's, in a view).
///
/// Threads  the node's own program only.
class PlanCache {
 public:
  struct Key {
    const void* type;  // one address per type of plan
    std::string_view algorithm;
    std::span<const std::int64_t> options;
    const Topology& topology;
    Rank rank;
  };

  PlanCache() = default;
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The plan of this key, from make() if there is none yet; lives as long as the cache. make() may
  /// request other plans; if it throws, nothing is kept.
  template <class Plan, class Make>
  const Plan& get(std::string_view algorithm, std::span<const std::int64_t> options,
                  const Topology& topology, Rank rank, Make&& make) {
    const Key key{&type<Plan>, algorithm, options, topology, rank};
    const void* plan = find(key);
    if (plan == nullptr) plan = keep(key, std::make_shared<const Plan>(make()));
    return *static_cast<const Plan*>(plan);
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    const void* type;
    std::string algorithm;
    std::vector<std::int64_t> options;
    std::shared_ptr<const Topology> topology;  // shared by the entries that have the same
    Rank rank;
    std::shared_ptr<const void> plan;
  };

  template <class Plan>
  static constexpr char type{};

  static std::uint64_t hash(const Key& key);
  const void* find(const Key& key) const;
  const void* keep(const Key& key, std::shared_ptr<const void> plan);

  std::unordered_multimap<std::uint64_t, Entry> entries_;
};

}  // namespace wormcube
