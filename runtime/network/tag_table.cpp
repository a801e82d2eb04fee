// The lists behind a tag table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/tag_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace wormcube {
namespace {

// The capacity of a buffer for this many bytes: it doubles, so that steady state does not allocate.
Bytes buffer_capacity(Bytes bytes) {
  return bytes == 0 ? 0 : std::bit_ceil(std::max<Bytes>(bytes, 64));
}

}  // namespace

Bytes TagTable::bytes_of_early(std::size_t messages, Bytes longest) {
  const std::size_t buffers = std::min(messages, early_slots);
  const Bytes capacity = longest <= sizeof EarlyMessage::own
                             ? 0
                             : buffer_capacity(std::min(longest, unexpected_bytes));
  return std::min(buffers * capacity, 2 * unexpected_bytes) +
         buffers * (sizeof(EarlyMessage) + sizeof(std::uintptr_t));  // what owns it
}

Receive* TagTable::take_oldest_receive(Rank from, Tag tag, std::uint32_t context) {
  const auto fits = [&](const Receive& receive) { return receive.fits(from, tag, context); };
  const Receive* const any = with_wildcard_.find(fits);
  const Receive* const exact = posted_.find({from, tag, context});
  if (any == nullptr || (exact != nullptr && exact->order < any->order))
    return posted_.take({from, tag, context});
  return with_wildcard_.take(fits);
}

bool TagTable::withdraw(Receive& receive) {
  const auto is_it = [&](const Receive& other) { return &other == &receive; };
  return receive.has_wildcard() ? with_wildcard_.take(is_it) != nullptr : posted_.remove(receive);
}

EarlyMessage* TagTable::take_early(Rank from, Tag tag, std::uint32_t context) {
  EarlyMessage* const early = early_.take({from, tag, context});
  if (early != nullptr) unlink(*early);
  return early;
}

EarlyMessage* TagTable::look(const Seeker& seeker) const {
  if (!seeker.has_wildcard()) return early_.find(seeker.key());
  if (seeker.choice != 0 && seeker.from == any_source) return look_for_any(seeker);
  EarlyMessage* early = oldest_;
  while (early != nullptr && !seeker.fits(early->from, early->tag, early->context)) {
    early = early->newer;
  }
  return early;
}

// The first of each source, all equally likely.
EarlyMessage* TagTable::look_for_any(const Seeker& seeker) const {
  std::vector<EarlyMessage*> firsts;
  for (EarlyMessage* early = oldest_; early != nullptr; early = early->newer) {
    if (!seeker.fits(early->from, early->tag, early->context)) continue;
    const auto is_of = [&](const EarlyMessage* other) { return other->from == early->from; };
    if (std::ranges::none_of(firsts, is_of)) firsts.push_back(early);
  }
  return firsts.empty() ? nullptr : firsts[seeker.choice % firsts.size()];
}

EarlyMessage* TagTable::take_oldest_early(const Seeker& seeker) {
  if (!seeker.has_wildcard()) return take_early(seeker.from, seeker.tag, seeker.context);
  EarlyMessage* const early = look(seeker);
  if (early != nullptr) claim(*early);
  return early;
}

void TagTable::claim(EarlyMessage& early) {
  early_.remove(early);
  unlink(early);
}

void TagTable::unlink(EarlyMessage& early) {
  (early.older == nullptr ? oldest_ : early.older->newer) = early.newer;
  (early.newer == nullptr ? newest_ : early.newer->older) = early.older;
}

EarlyMessage* TagTable::fresh() {
  if (own_is_free_) {
    own_is_free_ = false;
    return &own_;
  }
  if (unused_ == nullptr) {
    all_.push_back(std::make_unique<EarlyMessage>());
    return all_.back().get();
  }
  return std::exchange(unused_, unused_->next);
}

void TagTable::append(EarlyMessage& early) {
  early_.append(early);
  early.newer = nullptr;
  early.older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &early;
  newest_ = &early;
}

void TagTable::make_room(EarlyMessage& early, Bytes bytes) {
  if (bytes <= sizeof early.own || bytes <= early.capacity) return;
  const Bytes capacity = buffer_capacity(bytes);
  early.buffer = std::make_unique_for_overwrite<std::byte[]>(capacity);
  capacity_ += capacity - early.capacity;
  early.capacity = capacity;
}

EarlyMessage* TagTable::keep_short(const Worm& worm, const Limits& limits) {
  const Bytes room = limits.bytes - buffered_;
  if (buffers_ >= limits.messages || limits.header > room || worm.bytes > room - limits.header)
    return nullptr;
  EarlyMessage* const early = fresh();
  make_room(*early, worm.bytes);
  early->from = worm.from;
  early->tag = worm.tag;
  early->context = worm.context;
  early->bytes = worm.bytes;
  early->note = worm.note;
  early->worm = nullptr;
  append(*early);
  ++buffers_;
  buffered_ += limits.header + worm.bytes;
  peak_ = std::max(peak_, buffered_ + not_kept_);
  return early;
}

std::pair<EarlyMessage*, bool> TagTable::keep_arriving(Worm& worm, bool may_keep,
                                                       const Limits& limits) {
  EarlyMessage* early = may_keep ? keep_short(worm, limits) : nullptr;
  const bool is_kept = early != nullptr;
  if (!is_kept) {
    early = &keep_absorbed(worm);
    make_room(*early, worm.bytes);
    not_kept_ += worm.bytes;
    peak_ = std::max(peak_, buffered_ + not_kept_);
  }
  early->is_arriving = true;
  early->taker = nullptr;
  return {early, is_kept};
}

EarlyMessage& TagTable::keep_absorbed(Worm& worm) {
  EarlyMessage* const early = fresh();
  early->from = worm.from;
  early->tag = worm.tag;
  early->context = worm.context;
  early->bytes = worm.bytes;
  early->note = worm.note;
  early->worm = &worm;
  append(*early);
  return *early;
}

void TagTable::recycle(EarlyMessage* early, const Limits& limits) {
  if (early->worm == nullptr) {
    --buffers_;
    buffered_ -= limits.header + early->bytes;
  } else {
    not_kept_ -= std::min(not_kept_, early->bytes);
  }
  if (early->capacity > 0 && capacity_ > 2 * limits.bytes) {  // what large ones have left over
    capacity_ -= early->capacity;
    early->buffer.reset();
    early->capacity = 0;
  }
  if (early == &own_) {
    own_is_free_ = true;
    return;
  }
  early->next = unused_;
  unused_ = early;
}

void TagTable::wait_for_message(TagQuery& query) { queries_.append(query); }

TagQuery* TagTable::take_oldest_query(const EarlyMessage& early) {
  const auto asks_for = [&](TagQuery::Action action) {
    return queries_.take([&](const TagQuery& query) {
      return query.action == action && query.fits(early.from, early.tag, early.context);
    });
  };
  TagQuery* const probes = asks_for(TagQuery::Action::probe);
  return probes != nullptr ? probes : asks_for(TagQuery::Action::claim);
}

void TagTable::reset() noexcept {
  Reservation::reset();
  posted_.clear();
  early_.clear();
  with_wildcard_ = {};
  queries_ = {};
  oldest_ = newest_ = nullptr;
  own_is_free_ = true;
  unused_ = nullptr;
  for (const auto& early : all_) early->next = std::exchange(unused_, early.get());
  buffers_ = 0;
  buffered_ = not_kept_ = peak_ = 0;
}

}  // namespace wormcube
