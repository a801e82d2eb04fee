// What the messages of one step put on the links.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/keyed_values.hpp"
#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// The links of all messages of a step. One thread at a time; keeps its memory from step to step.
class StepLinks {
 public:
  /// Messages in total, as their first, as their last link, and their bytes.
  struct Counts {
    int all = 0, first = 0, last = 0;
    Bytes bytes = 0;
  };
  struct Load {
    int messages = 0;
    Bytes bytes = 0;
  };

  /// \param used  how many different links messages use, roughly
  StepLinks(const Topology& topology, std::size_t used)
      : links_(topology.links()), counts_(topology.links(), used, {}) {}

  void clear() {
    runs_.clear(), messages_.clear();
    hops_ = 0;
  }
  /// Where the route of the next message is to be appended.
  std::vector<LinkRun>& runs() { return runs_; }
  /// A message with the runs appended since the last one. Returns its hops.
  int add(Bytes bytes) {
    const std::size_t first = messages_.empty() ? 0 : messages_.back().end_run;
    messages_.push_back({bytes, first, runs_.size()});
    int hops = 0;
    for (const LinkRun& run : runs_of(messages_.back())) hops += run.count;
    hops_ += hops;
    return hops;
  }

  /// The most messages on a link, and the most bytes, perhaps on another.
  Load most() {
    // Where every link has several messages, it is faster to note only where runs begin and end.
    constexpr std::int64_t few = 2;
    if (hops_ > few * links_) return most_by_ends();
    Load most;
    each([&](Link /*link*/, const Counts& counts) {
      most.messages = std::max(most.messages, counts.all);
      most.bytes = std::max(most.bytes, counts.bytes);
    });
    return most;
  }

  /// Calls f(link, counts) for each link used, in the order first used.
  template <class F>
  void each(F f) {
    for (const Message& message : messages_) {
      const std::span<const LinkRun> runs = runs_of(message);
      for (const LinkRun& run : runs) {
        Link link = run.first;
        for (int i = 0; i < run.count; ++i, link += run.step) {
          Counts& counts = counts_[link];
          if (counts.all++ == 0) used_.push_back(link);
          counts.bytes += message.bytes;
        }
      }
      if (runs.empty()) continue;
      ++counts_[runs.front().first].first;
      ++counts_[runs.back().last()].last;
    }
    for (const Link link : used_) f(link, std::as_const(counts_)[link]);
    counts_.clear(used_);
    used_.clear();
  }

 private:
  struct Message {
    Bytes bytes;
    std::size_t first_run, end_run;
  };
  std::span<const LinkRun> runs_of(const Message& message) const {
    return std::span(runs_).subspan(message.first_run, message.end_run - message.first_run);
  }

  Load most_by_ends() {
    changes_.assign(static_cast<std::size_t>(links_) + 1, {});
    for (const Message& message : messages_) {
      for (const LinkRun& run : runs_of(message)) {
        const auto first = static_cast<std::size_t>(std::min(run.first, run.last()));
        Load& begin = changes_[first];
        Load& end = changes_[first + static_cast<std::size_t>(run.count)];
        ++begin.messages, begin.bytes += message.bytes;
        --end.messages, end.bytes -= message.bytes;  // modulo 2^64
      }
    }
    Load on_link, most;
    for (const Load& change : changes_) {
      on_link.messages += change.messages, on_link.bytes += change.bytes;
      most.messages = std::max(most.messages, on_link.messages);
      most.bytes = std::max(most.bytes, on_link.bytes);
    }
    return most;
  }

  std::int64_t links_, hops_ = 0;
  std::vector<LinkRun> runs_;
  std::vector<Message> messages_;
  KeyedValues<Counts> counts_;  // a complete graph of 100 000 nodes has 10^10 links
  std::vector<Link> used_;
  std::vector<Load> changes_;  // from each link to the next
};

}  // namespace wormcube
