// How a machine treats messages of requests that come early or go wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/requests.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace wormcube {

/// Steps need none of it: the MPI front end sets it.
struct MessagingOptions {
  /// Each node keeps messages that come before their receive: those of at most unexpected_limit
  /// bytes (0: of at most eager_limit), at most unexpected_messages of them, unexpected_bytes in
  /// all. Those longer than eager_limit are copied into memory of the receiver's node. With an
  /// unexpected_limit each message counts its header too.
  Bytes unexpected_limit = 0;
  std::size_t unexpected_messages = 64;
  Bytes unexpected_bytes = Bytes{256} << 10;
  /// It is no error if requests are open, or messages not received, when all programs have ended.
  /// Statistics::unreceived has the messages.
  bool allow_unreceived = false;
  /// Makes the text of a Deadlock from the machine's own table and the messages that nobody has
  /// received. Called once, by the thread that has found it, which sees all that the nodes did.
  /// Empty: the table.
  std::function<std::string(const std::string& table, std::span<const UnreceivedMessage> messages)>
      deadlock_text = {};
  /// Called before the machine stops for it; by any thread. What it throws, run() throws.
  std::function<void(const WrongMessage&)> on_wrong_message = {};
  /// Called before the machine stops, with the reason, once a run; by any thread. It must not
  /// throw.
  std::function<void(const std::exception_ptr& error)> on_failure = {};
  /// A receive of any source takes a message of one of those that are there, at random by this
  /// number, and nodes let others run at random times. On one worker a number repeats a run.
  std::optional<std::uint64_t> shuffle = {};
};

}  // namespace wormcube
