// Lists by match key, in a table that grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

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
  /// The first, removed. There must be one.
  Item* take_first() {
    Item* const item = first;
    first = item->next;
    if (first == nullptr) last = nullptr;
    return item;
  }
  /// The first that satisfies the predicate.
  template <class Wanted>
  Item* find(Wanted&& wanted) const {
    Item* item = first;
    while (item != nullptr && !wanted(*item)) item = item->next;
    return item;
  }
  /// The same, removed.
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

/// A hash table of lists. An item has `next` and key(), of type Item::Key with hash() and ==; it
/// stays where it is.
///
/// Threads     one at a time.
/// Invariants  items of one key are in one list, in the order appended. Lists that are not in use
///             are empty.
/// Memory      a table that was large once and has been emptied starts again with the lists in
///             here: the heap is far from everything else that is touched with it.
template <class Item>
class MatchLists {
 public:
  using Key = typename Item::Key;

  MatchLists() = default;
  MatchLists(const MatchLists&) = delete;
  MatchLists& operator=(const MatchLists&) = delete;

  /// May throw std::bad_alloc; then nothing has changed.
  void append(Item& item) {
    if (count_ >= most_per_list * (std::size_t{mask_} + 1)) grow();
    list(item.key()).append(item);
    ++count_;
  }
  /// The first item of this key, or null.
  Item* find(const Key& key) const { return list(key).find(is(key)); }
  /// The same, removed.
  Item* take(const Key& key) {
    Item* const item = list(key).take(is(key));
    if (item != nullptr) one_less();
    return item;
  }
  /// Removes this item, if it is here.
  bool remove(const Item& wanted) {
    const auto is_it = [&](const Item& item) { return &item == &wanted; };
    const bool found = list(wanted.key()).take(is_it) != nullptr;
    if (found) one_less();
    return found;
  }
  /// Calls f(item) for all, in an unspecified order; f may move the item to another list.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i <= mask_; ++i) {
      for (Item* item = lists_[i].first; item != nullptr;) {
        Item* const next = item->next;
        f(*item);
        item = next;
      }
    }
  }
  std::size_t count() const { return count_; }

  void clear() {
    for (std::size_t i = 0; i <= mask_; ++i) lists_[i] = {};
    begin_anew();
  }

 private:
  static auto is(const Key& key) {
    return [=](const Item& item) { return item.key() == key; };
  }
  MatchList<Item>& list(const Key& key) const { return lists_[key.hash() & mask_]; }
  void grow() {
    if (mask_ >= grown_mask_) {
      const std::uint32_t mask = 2 * mask_ + 1;
      auto grown = std::make_unique<MatchList<Item>[]>(std::size_t{mask} + 1);
      move_to(grown.get(), mask);
      grown_ = std::move(grown);
      grown_mask_ = mask;
    } else {
      move_to(grown_.get(), grown_mask_);
    }
    own_ = {};
  }
  void move_to(MatchList<Item>* lists, std::uint32_t mask) {
    each([&](Item& item) { lists[item.key().hash() & mask].append(item); });
    lists_ = lists;
    mask_ = mask;
  }
  void one_less() {
    if (--count_ == 0) begin_anew();
  }
  // All lists are empty.
  void begin_anew() {
    count_ = 0;
    lists_ = own_.data();
    mask_ = first_lists - 1;
  }

  static constexpr std::size_t first_lists = 2, most_per_list = 2;

  std::array<MatchList<Item>, first_lists> own_;
  MatchList<Item>* lists_ = own_.data();
  std::uint32_t mask_ = first_lists - 1, count_ = 0;
  std::uint32_t grown_mask_ = 0;
  std::unique_ptr<MatchList<Item>[]> grown_;
};

}  // namespace wormcube
