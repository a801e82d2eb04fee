// How often the messages of one step use each link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/keyed_values.hpp"
#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace wormcube {

/// What the messages of one step put on each link, or on each channel: messages in total, as their
/// first, as their last link, and their bytes.
class LinkUse {
 public:
  struct Counts {
    int all = 0, first = 0, last = 0;
    Bytes bytes = 0;
  };

  /// \param used  how many different links messages use, roughly
  LinkUse(Link links, std::size_t used) : counts_(links, used, {}) {}
  /// Whoever asks for the counts of a link counts a message on it.
  Counts& operator[](Link link) {
    Counts& counts = counts_[link];
    if (counts.all == 0) touched_.push_back(link);
    return counts;
  }
  /// The links used, in the order first used.
  std::span<const Link> touched() const { return touched_; }
  void clear() {
    counts_.clear(touched_);
    touched_.clear();
  }

 private:
  KeyedValues<Counts> counts_;  // a complete graph of 100 000 nodes has 10^10 links
  std::vector<Link> touched_;
};

}  // namespace wormcube
