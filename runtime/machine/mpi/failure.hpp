// A failure in one process, in a form that is sent to all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <string>

namespace wormcube {

/// A UsageError whose text already names node and step.
struct UsageErrorOfStep : UsageError {
  using UsageError::UsageError;
};

/// A failure, in a form that can be sent.
struct MpiFailure {
  // A program's own usage error is distinguished from a step's, whose text names the node.
  enum class Kind : int { usage, node, deadlock, time_limit, usage_of_program };
  Rank rank = 0;
  Kind kind = Kind::node;
  std::string text;

  [[noreturn]] void raise() const {
    switch (kind) {
      case Kind::usage:
      case Kind::usage_of_program:
        throw UsageError(text);
      case Kind::deadlock:
        throw Deadlock(text);
      case Kind::time_limit:
        throw TimeLimit(text);
      case Kind::node:
        break;
    }
    throw NodeFailure(text);
  }
};

}  // namespace wormcube
