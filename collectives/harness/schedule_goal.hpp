// What a schedule must do for an operation: the bridge from operations to the proof of text 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/operation.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

namespace wormcube {

/// An operation with its arguments, as a schedule's file names it.
struct ScheduledCall {
  Operation operation;
  Arguments arguments;
};
/// Throws UsageError for an operation that does not exist, and for arguments that it has not or
/// that do not fit this many nodes.
ScheduledCall scheduled_call(const NamedOperation& named, Rank nodes);
NamedOperation named_operation(Operation operation, const Arguments& arguments);

/// The goal of a call; it keeps a copy of the arguments.
Goal goal_of(Operation operation, const Arguments& arguments, Rank nodes);

/// What the reader of text 2 asks.
OperationFacts operation_facts(const NamedOperation& named, Rank nodes);

}  // namespace wormcube
