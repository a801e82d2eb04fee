// A query to the tag table of a node: for a message, or for a receive that is still posted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"

#include <cstdint>

namespace wormcube {

/// Probes for a message, claims one, or withdraws a receive.
struct TagQuery : Seeker {
  TagQuery() : Seeker(Kind::query) {}

  enum class Action : std::uint8_t {
    probe,     ///< which message is there?
    claim,     ///< the same, and reserves it for the receive that names it (Receive::claimed)
    withdraw,  ///< `receive`, if it is still posted
  };

  Action action = Action::probe;
  bool may_wait = true;           ///< probe and claim: wait for a message to arrive
  bool found = false;             ///< it has a message, or has withdrawn the receive
  EarlyMessage* early = nullptr;  ///< the message
  Receive* receive = nullptr;     ///< to withdraw
  TagQuery* next = nullptr;       ///< of the tag table's list
};

}  // namespace wormcube
