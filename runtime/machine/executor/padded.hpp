// An atomic on a cache line of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace wormcube {

template <class T>
struct alignas(64) Padded : std::atomic<T> {
  using std::atomic<T>::atomic;
  using std::atomic<T>::operator=;
};

}  // namespace wormcube
