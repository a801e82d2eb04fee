// Which send of a step matches which receive: by (from, to, tag), in the order posted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube {

/// The ends of one step's messages, for a proof run (Record = Op) and for the checker (Record =
/// OpRecord). Constant time per message if a node has one send and one receive; k log k for the
/// k messages of a busier node.
///
/// Keeps its memory from step to step.
template <class Record>
class StepMatcher {
 public:
  struct End {
    Rank from, to;
    Tag tag;
    std::int32_t next = none;  // the next end for the same node `to`
    const Record* record;
  };

  explicit StepMatcher(Rank nodes)
      : sends_to_(static_cast<std::size_t>(nodes)), receives_of_(static_cast<std::size_t>(nodes)) {}

  /// Both ranks must be nodes. Ends of one (from, to, tag) come in the order posted.
  void add_send(Rank from, Rank to, const Record& send) {
    append(sends_to_[static_cast<std::size_t>(to)], {from, to, tag_of(send), none, &send});
  }
  void add_receive(Rank from, Rank to, const Record& receive) {
    append(receives_of_[static_cast<std::size_t>(to)], {from, to, tag_of(receive), none, &receive});
  }

  /// Calls pair(send end, receive end) for each message and lone(end, is_send) for each end without
  /// another, receiver by receiver; then discards all ends.
  template <class Pair, class Lone>
  void match(Pair pair, Lone lone) {
    each_receiver([&](std::size_t to) {
      const List sends = std::exchange(sends_to_[to], {});
      const List receives = std::exchange(receives_of_[to], {});
      if (sends.first == none && receives.first == none) return;
      if (sends.first != none && sends.first == sends.last && receives.first != none &&
          receives.first == receives.last && key(at(sends.first)) == key(at(receives.first))) {
        pair(at(sends.first), at(receives.first));
        return;
      }
      sorted(sends, sorted_sends_);
      sorted(receives, sorted_receives_);
      auto send = sorted_sends_.begin();
      auto receive = sorted_receives_.begin();
      while (send != sorted_sends_.end() || receive != sorted_receives_.end()) {
        if (receive == sorted_receives_.end() ||
            (send != sorted_sends_.end() && key(**send) < key(**receive))) {
          lone(**send++, true);
        } else if (send == sorted_sends_.end() || key(**receive) < key(**send)) {
          lone(**receive++, false);
        } else {
          pair(**send++, **receive++);
        }
      }
    });
    ends_.clear();
    receivers_.clear();
  }

 private:
  static constexpr std::int32_t none = -1;
  struct List {
    std::int32_t first = none, last = none;
  };
  using Ends = std::vector<const End*>;

  static Tag tag_of(const Op& op) { return op.tag(); }
  template <class R>
  static Tag tag_of(const R& record) {
    return record.tag;
  }
  static std::tuple<Rank, Tag> key(const End& end) { return {end.from, end.tag}; }

  /// Calls f(to) for each node with an end, ascending; a step of few messages does not visit every
  /// node.
  template <class F>
  void each_receiver(F f) {
    if (receivers_.size() < sends_to_.size() / 8) {
      std::ranges::sort(receivers_);
      for (const Rank to : receivers_) f(static_cast<std::size_t>(to));
    } else {
      for (std::size_t to = 0; to < sends_to_.size(); ++to) f(to);
    }
  }

  const End& at(std::int32_t index) const { return ends_[static_cast<std::size_t>(index)]; }

  void append(List& list, const End& end) {
    const auto index = static_cast<std::int32_t>(ends_.size());
    ends_.push_back(end);
    if (list.first == none) receivers_.push_back(end.to);
    (list.first == none ? list.first : ends_[static_cast<std::size_t>(list.last)].next) = index;
    list.last = index;
  }
  void sorted(const List& list, Ends& ends) const {
    ends.clear();
    for (std::int32_t i = list.first; i != none; i = at(i).next) {
      ends.push_back(&at(i));
    }
    std::ranges::stable_sort(ends, {}, [](const End* end) { return key(*end); });
  }

  std::vector<End> ends_;
  std::vector<List> sends_to_, receives_of_;  // by receiver
  std::vector<Rank> receivers_;               // with an end; once for sends, once for receives
  Ends sorted_sends_, sorted_receives_;
};

}  // namespace wormcube
