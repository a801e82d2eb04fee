// Cached results for the last few graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/graph.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace wormcube::theory {

/// A program asks the same about a network for each algorithm, so results of searches are kept.
template <class Value>
class Kept {
 public:
  template <class Find>
  Value operator()(const Graph& graph, const Find& find) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : kept_) {
      if (known == graph) return value;
    }
    if (kept_.size() == most) kept_.erase(kept_.begin());
    kept_.emplace_back(graph, find());
    return kept_.back().second;
  }

 private:
  static constexpr std::size_t most = 8;
  std::mutex mutex_;
  std::vector<std::pair<Graph, Value>> kept_;
};

}  // namespace wormcube::theory
