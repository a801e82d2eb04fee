// Reports an exception that left a node's program, or the network while it carried a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <exception>

namespace wormcube {

/// A UsageError whose text already names node and step.
struct UsageErrorOfNode : ProgramError {
  using ProgramError::ProgramError;
};

/// A node's exception as run() throws it: a NodeFailure with the rank in front and the original
/// nested in it. If there is no memory for the text: the original, or std::bad_alloc.
std::exception_ptr error_of_node(Rank rank, std::exception_ptr thrown) noexcept;

/// The same for a step's message: a UsageError becomes the program's error, with node and step in
/// front.
std::exception_ptr error_of_step(Rank rank, std::uint64_t step, std::exception_ptr thrown) noexcept;

}  // namespace wormcube
