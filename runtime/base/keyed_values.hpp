// Values by key: an array if many keys have one, otherwise a hash table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

/// Keys are 0 .. keys - 1. A key that was not used yet has the value that the constructor is given.
/// One thread at a time.
template <class Value>
class KeyedValues {
 public:
  using Key = std::int64_t;

  /// \param used  how many keys will be used, roughly: a page of the array that none of them is in
  ///              costs as much time as the array saves for a dozen keys
  KeyedValues(Key keys, std::size_t used, const Value& initial) : initial_(initial) {
    constexpr std::size_t most_bytes = std::size_t{1} << 28, small = 4096, bytes_for_one = 256;
    const auto count = static_cast<std::size_t>(keys);
    if (count <= std::min(most_bytes, bytes_for_one * (used + small)) / sizeof(Value)) {
      dense_.assign(count + 1, initial);  // never empty
    } else {
      slots_.resize(small);
    }
  }

  /// Valid until the next call.
  Value& operator[](Key key) {
    return dense_.empty() ? in_slots(key) : dense_[static_cast<std::size_t>(key)];
  }
  const Value& operator[](Key key) const {
    if (!dense_.empty()) return dense_[static_cast<std::size_t>(key)];
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == none ? initial_ : slot.value;
  }

  /// Forgets all values; `used` has the keys that have one.
  void clear(std::span<const Key> used) {
    constexpr std::size_t faster = 8;  // to clear a slot of the table than to find it
    if (dense_.empty() && slots_.size() / faster < used.size()) {
      slots_.assign(slots_.size(), {});
      filled_ = 0;
    } else {
      for (const Key key : used) (*this)[key] = initial_;
    }
  }

 private:
  static constexpr Key none = -1;
  struct Slot {
    Key key = none;
    Value value{};
  };

  Value& in_slots(Key key) {
    std::size_t at = slot_of(key);
    if (slots_[at].key == none) {
      if (2 * ++filled_ > slots_.size()) {
        grow();
        at = slot_of(key);
      }
      slots_[at] = {key, initial_};
    }
    return slots_[at].value;
  }
  /// That of the key, or the empty one where it belongs. The number of slots is a power of two.
  std::size_t slot_of(Key key) const {
    std::size_t at = mixed(static_cast<std::uint64_t>(key)) & (slots_.size() - 1);
    while (slots_[at].key != key && slots_[at].key != none) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != none) slots_[slot_of(slot.key)] = slot;
    }
  }

  Value initial_;
  std::vector<Value> dense_;
  std::vector<Slot> slots_;
  std::size_t filled_ = 0;
};

}  // namespace wormcube
