// The lists behind a tag table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/tag_table.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {
namespace {

// Takes the first item of this source and tag out of a list; `next` names its link.
template <class Item>
Item* take(Item*& first, Item*& last, Item* Item::*next, Rank from, Tag tag) {
  for (Item *item = first, *previous = nullptr; item != nullptr;
       previous = item, item = item->*next) {
    if (item->from != from || item->tag != tag) continue;
    (previous == nullptr ? first : previous->*next) = item->*next;
    if (last == item) last = previous;
    item->*next = nullptr;
    return item;
  }
  return nullptr;
}

template <class Item>
void push(Item*& first, Item*& last, Item* Item::*next, Item& item) {
  item.*next = nullptr;
  (last == nullptr ? first : last->*next) = &item;
  last = &item;
}

}  // namespace

Receive* TagTable::take_receive(Rank from, Tag tag) {
  auto& list = posted_[bucket(from, tag)];
  return take(list.first, list.last, &Receive::next_posted, from, tag);
}

void TagTable::post(Receive& receive) {
  auto& list = posted_[bucket(receive.from, receive.tag)];
  push(list.first, list.last, &Receive::next_posted, receive);
}

TagTable::Early* TagTable::take_early(Rank from, Tag tag) {
  auto& list = early_[bucket(from, tag)];
  return take(list.first, list.last, &Early::next, from, tag);
}

TagTable::Early* TagTable::fresh() {
  if (unused_.empty()) {
    all_.push_back(std::make_unique<Early>());
    unused_.reserve(all_.size());  // recycle() must not allocate
    return all_.back().get();
  }
  Early* const early = unused_.back();
  unused_.pop_back();
  return early;
}

void TagTable::append(Early& early) {
  auto& list = early_[bucket(early.from, early.tag)];
  push(list.first, list.last, &Early::next, early);
}

TagTable::Early* TagTable::keep_short(const Worm& worm) {
  if (buffers_ == early_slots) return nullptr;
  Early* const early = fresh();
  if (early->capacity < worm.bytes) {  // by doubling, so that steady state does not allocate
    const Bytes capacity = std::bit_ceil(std::max<Bytes>(worm.bytes, 64));
    early->buffer = std::make_unique_for_overwrite<std::byte[]>(capacity);
    early->capacity = capacity;
  }
  ++buffers_;
  early->from = worm.from;
  early->tag = worm.tag;
  early->bytes = worm.bytes;
  early->worm = nullptr;
  append(*early);
  return early;
}

void TagTable::keep_absorbed(Worm& worm) {
  Early* const early = fresh();
  early->from = worm.from;
  early->tag = worm.tag;
  early->bytes = worm.bytes;
  early->worm = &worm;
  append(*early);
}

void TagTable::recycle(Early* early) {
  if (early->worm == nullptr) --buffers_;
  unused_.push_back(early);
}

const TagTable::Early* TagTable::leftover() const {
  for (const auto& list : early_) {
    if (list.first != nullptr) return list.first;
  }
  return nullptr;
}

void TagTable::reset() noexcept {
  Reservation::reset();
  posted_ = {};
  early_ = {};
  unused_.clear();
  for (const auto& early : all_) unused_.push_back(early.get());
  buffers_ = 0;
}

}  // namespace wormcube
