// Who takes a waiting node off its core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/gate.hpp"
#include "wormcube/runtime/topology/topology.hpp"

namespace wormcube {

/// Takes nodes off their cores and puts them back; for OS threads or for fibers.
class Parker {
 public:
  virtual ~Parker() = default;
  /// Called by the node after gate.park(); returns when another thread has woken it.
  virtual void block(Rank rank, Gate& gate) = 0;
  /// Called by whoever learns from the gate that it must wake the node; of several, one does.
  virtual void wake(Rank rank, Gate& gate) noexcept = 0;
  /// Called by the node before it parks: a short wait on its core. True if the gate opened then.
  virtual bool linger(const Gate& gate) = 0;
  /// Called by the node, which goes on after others on its core have run, if any can.
  virtual void yield(Rank rank) = 0;
};

}  // namespace wormcube
