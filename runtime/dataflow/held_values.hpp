// The values that one node holds or has received: a hash table with open addressing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/values.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace wormcube {

/// A tree of combinations by its number: node r's own value is tree r.
using TreeId = std::uint32_t;

class HeldValues {
 public:
  struct Entry {
    NamedValue value;
    TreeId tree : 31;
    std::uint32_t received : 1;
  };

  const Entry* find(const NamedValue& value) const {
    if (slots_.empty()) return nullptr;
    const Entry& slot = slots_[place(value)];
    return is_free(slot) ? nullptr : &slot;
  }
  /// The entry of a value, which is new if it was not there.
  Entry& insert(const NamedValue& value, TreeId tree, bool& is_new) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Entry& slot = slots_[place(value)];
    is_new = is_free(slot);
    if (is_new) {
      slot = {value, tree, 0};
      ++size_;
    }
    return slot;
  }
  template <class F>
  void each(F f) const {
    for (const Entry& slot : slots_) {
      if (!is_free(slot)) f(slot);
    }
  }

 private:
  static constexpr WordId free_word = ~WordId{0};
  static bool is_free(const Entry& entry) { return entry.value.word == free_word; }
  std::size_t place(const NamedValue& value) const {
    auto key = (std::uint64_t{value.word} << 32 | static_cast<std::uint32_t>(value.block)) *
               0x9E3779B97F4A7C15U;
    key = (key ^ (key >> 29) ^ static_cast<std::uint32_t>(value.part)) * 0xD6E8FEB86659FD93U;
    std::size_t at = (key ^ (key >> 32)) & (slots_.size() - 1);
    while (!is_free(slots_[at]) && !(slots_[at].value == value))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Entry> old(slots_.empty() ? 8 : 2 * slots_.size(),
                           {NamedValue{free_word, 0, 0}, 0, 0});
    old.swap(slots_);
    for (const Entry& slot : old) {
      if (!is_free(slot)) slots_[place(slot.value)] = slot;
    }
  }

  std::vector<Entry> slots_;
  std::size_t size_ = 0;
};

/// Whether the nodes of one word come after those of the other, in the order of lists.
inline bool is_greater(const Words& words, WordId a, WordId b) {
  return a != b && words.nodes_of(b) < words.nodes_of(a);
}

/// What a node holds, by the set of its nodes, block and part; of equal sets the greatest word.
inline std::map<std::tuple<WordId, Rank, Rank>, NamedValue> words_by_set(const HeldValues& held,
                                                                         Words& words) {
  std::map<std::tuple<WordId, Rank, Rank>, NamedValue> all;
  held.each([&](const HeldValues::Entry& entry) {
    const NamedValue& value = entry.value;
    NamedValue& kept =
        all.try_emplace({words.sorted(value.word), value.block, value.part}, value).first->second;
    if (is_greater(words, value.word, kept.word)) kept = value;
  });
  return all;
}

}  // namespace wormcube
