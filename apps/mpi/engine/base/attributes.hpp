// Attributes of communicators and datatypes, under keys with user-defined functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube::mpi {

/// A rank's key for one kind of object: attributes are copied when an object is duplicated and
/// deleted with it.
template <class Handle>
struct AttributeKey {
  using Copy = int(Handle, int, void*, void*, void*, int*);
  using Delete = int(Handle, int, void*, void*);
  int number;
  Copy* copy;      ///< null: not copied; 1: copied unchanged
  Delete* remove;  ///< null: nothing to do
  void* extra;

  bool copies_as_it_is() const { return reinterpret_cast<std::uintptr_t>(copy) == 1; }
};

/// One rank's keys. A freed key lives on while an attribute uses it; until then it may be named and
/// freed again.
template <class Handle>
class AttributeKeys {
 public:
  using Key = AttributeKey<Handle>;
  int create(typename Key::Copy* copy, typename Key::Delete* remove, void* extra) {
    const auto key = std::make_shared<const Key>(Key{next_, copy, remove, extra});
    keys_.emplace(next_, Entry{key, key});
    return next_++;
  }
  /// Null if there is none with this number.
  std::shared_ptr<const Key> find(int number) const {
    const auto place = keys_.find(number);
    return place == keys_.end() ? nullptr : place->second.used.lock();
  }
  void free(int number) {
    if (const auto place = keys_.find(number); place != keys_.end()) place->second.owned = nullptr;
    std::erase_if(keys_, [](const auto& numbered) { return numbered.second.used.expired(); });
  }

 private:
  struct Entry {
    std::shared_ptr<const Key> owned;  ///< null: freed
    std::weak_ptr<const Key> used;
  };
  std::map<int, Entry> keys_;
  int next_ = 1000;  // above the predefined ones
};

/// The attributes of an object. If a user's function returns anything but MPI_SUCCESS, the
/// operation stops and returns that.
template <class Handle>
class AttributeSet {
 public:
  using Key = AttributeKey<Handle>;
  /// Null if it is not set.
  void* const* find(const Key& key) const {
    for (const auto& [set_key, value] : set_) {
      if (set_key.get() == &key) return &value;
    }
    return nullptr;
  }
  int set(Handle object, const std::shared_ptr<const Key>& key, void* value) {
    for (auto& [set_key, old] : set_) {
      if (set_key != key) continue;
      if (const int error = call_delete(object, *key, old)) return error;
      old = value;
      return MPI_SUCCESS;
    }
    set_.emplace_back(key, value);
    return MPI_SUCCESS;
  }
  int remove(Handle object, const Key& key) {
    for (auto entry = set_.begin(); entry != set_.end(); ++entry) {
      if (entry->first.get() != &key) continue;
      if (const int error = call_delete(object, key, entry->second)) return error;
      set_.erase(entry);
      return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
  }
  /// For an object that ends: deletes the last attribute first.
  int remove_all(Handle object) {
    while (!set_.empty()) {
      const auto [key, value] = set_.back();
      if (const int error = call_delete(object, *key, value)) return error;
      set_.pop_back();
    }
    return MPI_SUCCESS;
  }
  /// For a duplicate of the object, which has no attributes yet.
  int copy_to(Handle object, AttributeSet& duplicate) const {
    for (const auto& [key, value] : set_) {
      if (key->copy == nullptr) continue;
      void* copied = value;
      int is_copied = 1;
      if (!key->copies_as_it_is()) {
        const int error = key->copy(object, key->number, key->extra, value, &copied, &is_copied);
        if (error != MPI_SUCCESS) return error;
      }
      if (is_copied != 0) duplicate.set_.emplace_back(key, copied);
    }
    return MPI_SUCCESS;
  }
  bool empty() const { return set_.empty(); }

 private:
  static int call_delete(Handle object, const Key& key, void* value) {
    return key.remove == nullptr ? MPI_SUCCESS : key.remove(object, key.number, value, key.extra);
  }
  std::vector<std::pair<std::shared_ptr<const Key>, void*>> set_;
};

}  // namespace wormcube::mpi
