// Handles as numbers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"

#include <mutex>
#include <unordered_map>

namespace wormcube::mpi {
namespace {

constexpr int first_number = 4096;  // the predefined ones are below

/// Few programs need these, and rarely: one table with a lock.
struct Numbers {
  std::mutex lock;
  std::unordered_map<void*, int> of_handle;
  std::unordered_map<int, void*> handle_of;
  int next = first_number;
};

Numbers& numbers() {
  static Numbers the;
  return the;
}

}  // namespace

int number_of_handle(void* handle) {
  if (is_predefined(handle)) return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
  Numbers& the = numbers();
  const std::lock_guard hold(the.lock);
  const auto [place, is_new] = the.of_handle.try_emplace(handle, the.next);
  if (is_new) the.handle_of.emplace(the.next++, handle);
  return place->second;
}

void* handle_of_number(int number) {
  if (number >= 0 && number < first_number) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  }
  Numbers& the = numbers();
  const std::lock_guard hold(the.lock);
  const auto place = the.handle_of.find(number);
  return place == the.handle_of.end() ? nullptr : place->second;
}

void forget_number_of(void* handle) {
  Numbers& the = numbers();
  const std::lock_guard hold(the.lock);
  const auto place = the.of_handle.find(handle);
  if (place == the.of_handle.end()) return;
  the.handle_of.erase(place->second);
  the.of_handle.erase(place);
}

}  // namespace wormcube::mpi
