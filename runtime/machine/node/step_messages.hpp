// The sends and receives of one step, and which memory they use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wormcube {

/// One function for each kind of thing.
template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

/// The bytes from the lowest to the highest of some pieces; none: no byte.
struct Extent {
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;

  void add(std::span<const Span> pieces) {
    for (const Span piece : pieces) {
      if (piece.empty()) continue;
      const auto first = reinterpret_cast<std::uintptr_t>(piece.data());
      begin = std::min(begin, first);
      end = std::max(end, first + piece.size());
    }
  }
  bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

/// Things that stay where they are, the first of them here: most steps have one of each.
template <class T>
class FirstHere {
 public:
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return i == 0 ? first_ : *more_[i - 1]; }
  const T& operator[](std::size_t i) const { return i == 0 ? first_ : *more_[i - 1]; }
  /// One more, made when first needed.
  T& another() {
    if (count_ > more_.size()) more_.push_back(std::make_unique<T>());
    return (*this)[count_++];
  }
  void clear() { count_ = 0; }

 private:
  T first_;
  std::vector<std::unique_ptr<T>> more_;
  std::size_t count_ = 0;  // in use
};

/// The sends and receives of one step; reused, so that steady state does not allocate.
///
/// Threads  the node's; the worms and receives are the network's until they are complete.
struct StepMessages {
  FirstHere<Worm> worms;
  FirstHere<Receive> receives;
  // With a window, where the caller's may be gone.
  std::vector<Span> pieces;
  Extent sent, received;
  bool receives_empty = false;  ///< a message without data: its arrival is its only content

  /// Calls f(worm) or f(receive) for each.
  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < receives.size(); ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms.size(); ++i) f(worms[i]);
  }
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < receives.size(); ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms.size(); ++i) f(worms[i]);
  }
  /// The number of this step at its node.
  std::uint64_t number() const { return receives.size() > 0 ? receives[0].step : worms[0].step; }
  void forget() {
    worms.clear();
    receives.clear();
    pieces.clear();
    sent = received = {};
    receives_empty = false;
  }

  /// Whether an empty message has not arrived yet.
  bool waits_for_empty() const;
  /// Whether data overlap what the network still holds: what it sends, if they will be written to,
  /// and what it receives.
  bool uses(std::span<const Span> data, bool to_write) const;
};

}  // namespace wormcube
