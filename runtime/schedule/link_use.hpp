// How often the messages of one step use each link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

namespace wormcube {

/// What the messages of one step put on each link: messages in total, as their first, as their last
/// link, and their bytes.
class LinkUse {
 public:
  struct Counts {
    int all = 0, first = 0, last = 0;
    Bytes bytes = 0;
  };

  explicit LinkUse(Link links) : is_dense_(links <= dense_links) {
    if (is_dense_) dense_.resize(static_cast<std::size_t>(links));
  }
  Counts& operator[](Link link) {
    Counts& counts = is_dense_ ? dense_[static_cast<std::size_t>(link)] : sparse_[link];
    if (counts.all == 0) touched_.push_back(link);
    return counts;
  }
  /// The links used, in the order first used.
  std::span<const Link> touched() const { return touched_; }
  void clear() {
    for (const Link link : touched_) {
      if (is_dense_) dense_[static_cast<std::size_t>(link)] = {};
    }
    sparse_.clear();
    touched_.clear();
  }

 private:
  static constexpr Link dense_links = Link{1} << 23;  // 200 MB a thread
  bool is_dense_;
  std::vector<Counts> dense_;
  std::unordered_map<Link, Counts> sparse_;  // a complete graph of 100 000 nodes has 10^10 links
  std::vector<Link> touched_;
};

}  // namespace wormcube
