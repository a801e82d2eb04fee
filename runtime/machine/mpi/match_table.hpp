// Matching by (from, to, tag) for all nodes of a process, in the order of arrival.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube {

/// A hash table of lists; an item has from, to, tag and next, and stays where it is.
///
/// Threads     one.
/// Invariants  items of one (from, to, tag) are in one list, in the order appended.
template <class Item>
class MatchTable {
 public:
  MatchTable() : lists_(64) {}

  void append(Item& item) {
    if (count_ == 2 * lists_.size()) grow();
    put(lists_, item);
    ++count_;
  }

  /// Takes the first item of this key out, or returns null.
  Item* take(Rank from, Rank to, Tag tag) {
    List& list = lists_[slot(from, to, tag, lists_.size())];
    for (Item *item = list.first, *previous = nullptr; item != nullptr;
         previous = item, item = item->next) {
      if (item->from != from || item->to != to || item->tag != tag) continue;
      (previous == nullptr ? list.first : previous->next) = item->next;
      if (list.last == item) list.last = previous;
      --count_;
      return item;
    }
    return nullptr;
  }

  /// Calls f(item) for all, in no order of note.
  template <class F>
  void each(F f) const {
    for (const List& list : lists_) {
      for (Item* item = list.first; item != nullptr;) {
        Item* const next = item->next;  // f may pass the item on
        f(*item);
        item = next;
      }
    }
  }

  void clear() {
    lists_.assign(lists_.size(), {});
    count_ = 0;
  }
  std::size_t count() const { return count_; }

 private:
  struct List {
    Item* first = nullptr;
    Item* last = nullptr;
  };

  /// \param lists  a power of two
  static std::size_t slot(Rank from, Rank to, Tag tag, std::size_t lists) {
    const auto word = [](auto number) { return std::uint64_t{static_cast<std::uint32_t>(number)}; };
    std::uint64_t x = (word(from) << 32 | word(to)) ^ word(tag) * 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9U;
    return (x ^ x >> 29) & (lists - 1);
  }

  static void put(std::vector<List>& lists, Item& item) {
    List& list = lists[slot(item.from, item.to, item.tag, lists.size())];
    item.next = nullptr;
    (list.last == nullptr ? list.first : list.last->next) = &item;
    list.last = &item;
  }

  void grow() {
    std::vector<List> lists(2 * lists_.size());
    each([&](Item& item) { put(lists, item); });
    lists_.swap(lists);
  }

  std::vector<List> lists_;
  std::size_t count_ = 0;
};

}  // namespace wormcube
