// Lists by (context, source, tag), in a table that grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace wormcube {

/// A list, in order; an item has `next`.
template <class Item>
struct MatchList {
  Item* first = nullptr;
  Item* last = nullptr;

  void append(Item& item) {
    item.next = nullptr;
    (last == nullptr ? first : last->next) = &item;
    last = &item;
  }
  /// The first that is wanted.
  template <class Wanted>
  Item* find(Wanted&& wanted) const {
    Item* item = first;
    while (item != nullptr && !wanted(*item)) item = item->next;
    return item;
  }
  /// The same, taken out.
  template <class Wanted>
  Item* take(Wanted&& wanted) {
    for (Item *item = first, *previous = nullptr; item != nullptr;
         previous = item, item = item->next) {
      if (!wanted(*item)) continue;
      (previous == nullptr ? first : previous->next) = item->next;
      if (last == item) last = previous;
      item->next = nullptr;
      return item;
    }
    return nullptr;
  }
};

/// A hash table of lists; an item has context, from, tag and next, and stays where it is.
///
/// Threads     one at a time.
/// Invariants  items of one (context, from, tag) are in one list, in the order appended.
template <class Item>
class MatchLists {
 public:
  MatchLists() = default;
  MatchLists(const MatchLists&) = delete;
  MatchLists& operator=(const MatchLists&) = delete;

  /// May throw std::bad_alloc; then nothing has changed.
  void append(Item& item) {
    if (count_ >= most_per_list * (mask_ + 1)) grow();
    lists_[slot(item.context, item.from, item.tag)].append(item);
    ++count_;
  }
  /// The first item of this key, or null.
  Item* find(std::uint32_t context, Rank from, Tag tag) const {
    return lists_[slot(context, from, tag)].find(is(context, from, tag));
  }
  /// The same, taken out.
  Item* take(std::uint32_t context, Rank from, Tag tag) {
    Item* const item = lists_[slot(context, from, tag)].take(is(context, from, tag));
    if (item != nullptr) --count_;
    return item;
  }
  /// Takes this item out, if it is here.
  bool remove(const Item& wanted) {
    const bool found = lists_[slot(wanted.context, wanted.from, wanted.tag)].take(
                           [&](const Item& item) { return &item == &wanted; }) != nullptr;
    if (found) --count_;
    return found;
  }
  std::size_t count() const { return count_; }

  void clear() {
    for (std::size_t i = 0; i <= mask_; ++i) lists_[i] = {};
    count_ = 0;
  }

 private:
  static auto is(std::uint32_t context, Rank from, Tag tag) {
    return [=](const Item& item) {
      return item.from == from && item.tag == tag && item.context == context;
    };
  }
  std::size_t slot(std::uint32_t context, Rank from, Tag tag) const {
    return (static_cast<std::size_t>(from) + 7U * static_cast<std::size_t>(tag) +
            13U * static_cast<std::size_t>(context)) &
           mask_;
  }
  void grow() {
    const std::size_t lists = 2 * (mask_ + 1);
    auto grown = std::make_unique<MatchList<Item>[]>(lists);
    const std::size_t old = mask_ + 1;
    mask_ = lists - 1;
    for (std::size_t i = 0; i < old; ++i) {
      for (Item* item = lists_[i].first; item != nullptr;) {
        Item* const next = item->next;
        grown[slot(item->context, item->from, item->tag)].append(*item);
        item = next;
      }
    }
    grown_ = std::move(grown);
    lists_ = grown_.get();
  }

  static constexpr std::size_t first_lists = 2, most_per_list = 2;

  std::array<MatchList<Item>, first_lists> own_;
  MatchList<Item>* lists_ = own_.data();
  std::size_t mask_ = first_lists - 1, count_ = 0;
  std::unique_ptr<MatchList<Item>[]> grown_;
};

}  // namespace wormcube
