// The sends and receives of one step, and which memory they use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/node.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// The sends and receives of one step; kept, so that steady state does not allocate.
///
/// Threads  the node's; the worms and receives are the network's until they are complete.
struct StepMessages {
  std::deque<Worm> worms;
  std::deque<Receive> receives;
  std::size_t worms_in_use = 0, receives_in_use = 0;
  // With a window, where the caller's may be gone.
  std::vector<Span> pieces;
  Extent sent, received;
  bool receives_empty = false;  ///< a message without data, whose coming is all that it tells

  /// Calls f(worm) or f(receive) for each.
  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < receives_in_use; ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms_in_use; ++i) f(worms[i]);
  }
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < receives_in_use; ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms_in_use; ++i) f(worms[i]);
  }
  /// The node's step that it is.
  std::uint64_t number() const {
    return receives_in_use > 0 ? receives.front().step : worms.front().step;
  }
  /// The next to fill.
  Worm& another_worm() {
    if (worms_in_use == worms.size()) worms.emplace_back();
    return worms[worms_in_use++];
  }
  Receive& another_receive() {
    if (receives_in_use == receives.size()) receives.emplace_back();
    return receives[receives_in_use++];
  }
  void forget() {
    worms_in_use = receives_in_use = 0;
    pieces.clear();
    sent = received = {};
    receives_empty = false;
  }

  /// Whether an empty message has not come yet.
  bool waits_for_empty() const;
  /// Whether data are among those that still are the network's: those that it sends, if they will be
  /// written to, and those that it receives.
  bool uses(std::span<const Span> data, bool to_write) const;
};

}  // namespace wormcube
