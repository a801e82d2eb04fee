// Notifies tests, traces and lessons of what worms do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/routing.hpp"

namespace wormcube {

/// Notified of each channel that a header reserves, by the thread that moved it, before the header
/// continues. An observer that waits holds the worm where it is, with all that it has reserved.
class NetworkObserver {
 public:
  virtual ~NetworkObserver() = default;
  /// \param hop  0 for the first link of the route
  virtual void reserved(Rank from, Rank to, Channel channel, int hop) = 0;
};

}  // namespace wormcube
