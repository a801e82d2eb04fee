// Notifies tests, traces and lessons of what worms do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <cstdint>

namespace wormcube {

/// Notified of each channel that a header reserves, by the thread that moved it, before the header
/// continues. An observer that waits holds the worm where it is, with all that it has reserved.
class NetworkObserver {
 public:
  virtual ~NetworkObserver() = default;
  /// \param hop  0 for the first link of the route
  virtual void reserved(Rank from, Rank to, Channel channel, int hop) = 0;
};

/// A flit that leaves a lane, and its message.
struct LaneFlit {
  Link link;
  int virtual_channel;
  Rank from, to;
  std::uint64_t step;  ///< of the sender
  Bytes bytes;         ///< of the message
  bool head, tail;
};

/// Notified of each flit that leaves a lane, by the router that takes it.
///
/// Threads  the routers' tasks; for one lane always the same in a run.
class FlitObserver {
 public:
  virtual ~FlitObserver() = default;
  virtual void leaves(const LaneFlit& flit) noexcept = 0;
};

}  // namespace wormcube
