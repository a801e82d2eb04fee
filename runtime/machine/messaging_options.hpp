// How a machine treats messages of requests that arrive before their receive or go wrong.
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

/// Steps use none of it: the MPI front end sets it.
struct MessagingOptions {
  /// Each node keeps messages that arrive before their receive: those of at most unexpected_limit
  /// bytes (0: of at most eager_limit), at most unexpected_messages of them, unexpected_bytes in
  /// all. Those longer than eager_limit are copied into memory of the receiver's node. With an
  /// unexpected_limit each message counts its header too.
  Bytes unexpected_limit = 0;
  std::size_t unexpected_messages = 64;
  Bytes unexpected_bytes = Bytes{256} << 10;
  /// Open requests, or messages not received, are no error when all programs have ended.
  /// Statistics::unreceived has the messages.
  bool allow_unreceived = false;
  /// Builds the text of a Deadlock from the machine's own table and the messages that have no
  /// receive. Called once, by the thread that detects it, which sees all that the nodes did. Empty:
  /// the table.
  std::function<std::string(const std::string& table, std::span<const UnreceivedMessage> messages)>
      deadlock_text = {};
  /// Called before the machine stops for it, by any thread. run() throws what it throws.
  std::function<void(const WrongMessage&)> on_wrong_message = {};
  /// Called before the machine stops, with the reason, once a run; by any thread. It must not
  /// throw.
  std::function<void(const std::exception_ptr& error)> on_failure = {};
  /// A receive of any source picks one of the messages that are there, at random by this seed, and
  /// nodes yield at random times. On one worker a seed repeats a run.
  std::optional<std::uint64_t> shuffle = {};
};

}  // namespace wormcube
