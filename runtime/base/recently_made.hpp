// Cached values that are expensive to compute, for the last few keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace wormcube {

/// A value that all nodes of a process ask for is computed by the first.
///
/// Threads  any may ask: one computes a value while the others wait.
template <class Key, class Value>
class RecentlyMade {
 public:
  /// The value for this key, from make() if it is not among the last few.
  template <class Make>
  std::shared_ptr<const Value> operator()(const Key& key, Make make) {
    constexpr std::size_t most = 16;
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : kept_) {
      if (known == key) return value;
    }
    auto value = std::make_shared<const Value>(make());
    if (kept_.size() == most) kept_.erase(kept_.begin());
    kept_.emplace_back(key, value);
    return value;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

}  // namespace wormcube
