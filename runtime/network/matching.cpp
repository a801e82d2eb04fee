// The lists behind matching.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/matching.hpp"

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

Receive* Matching::take_receive(Rank from, Tag tag) {
  auto& list = posted_[bucket(from, tag)];
  return take(list.first, list.last, &Receive::next_posted, from, tag);
}

void Matching::post(Receive& receive) {
  auto& list = posted_[bucket(receive.from, receive.tag)];
  push(list.first, list.last, &Receive::next_posted, receive);
}

Matching::Early* Matching::take_early(Rank from, Tag tag) {
  auto& list = early_[bucket(from, tag)];
  return take(list.first, list.last, &Early::next, from, tag);
}

Matching::Early* Matching::fresh() {
  if (unused_.empty()) {
    all_.push_back(std::make_unique<Early>());
    unused_.reserve(all_.size());  // recycle() must not allocate
    return all_.back().get();
  }
  Early* const early = unused_.back();
  unused_.pop_back();
  return early;
}

void Matching::append(Early& early) {
  auto& list = early_[bucket(early.from, early.tag)];
  push(list.first, list.last, &Early::next, early);
}

Matching::Early* Matching::keep_short(const Worm& worm) {
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

void Matching::keep_absorbed(Worm& worm) {
  Early* const early = fresh();
  early->from = worm.from;
  early->tag = worm.tag;
  early->bytes = worm.bytes;
  early->worm = &worm;
  append(*early);
}

void Matching::recycle(Early* early) {
  if (early->worm == nullptr) --buffers_;
  unused_.push_back(early);
}

const Matching::Early* Matching::leftover() const {
  for (const auto& list : early_) {
    if (list.first != nullptr) return list.first;
  }
  return nullptr;
}

void Matching::reset() noexcept {
  Reservation::reset();
  posted_ = {};
  early_ = {};
  unused_.clear();
  for (const auto& early : all_) unused_.push_back(early.get());
  buffers_ = 0;
}

}  // namespace wormcube
