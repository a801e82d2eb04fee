// Adds ranks and steps to exceptions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/failure.hpp"

#include <fmt/core.h>

namespace wormcube {

std::exception_ptr error_of_node(Rank rank, std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    try {
      std::throw_with_nested(NodeFailure(fmt::format("node {}: {}", rank, exception.what())));
    } catch (...) {
      return std::current_exception();
    }
  } catch (...) {
    try {
      return std::make_exception_ptr(
          NodeFailure(fmt::format("node {}: unknown exception type", rank)));
    } catch (...) {
      return thrown;
    }
  }
}

std::exception_ptr error_of_step(Rank rank, std::uint64_t step,
                                 std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& usage) {
    try {
      return std::make_exception_ptr(
          ProgramError(fmt::format("node {}, step {}: {}", rank, step, usage.what())));
    } catch (...) {  // no memory for the text
      return thrown;
    }
  } catch (...) {
    return error_of_node(rank, thrown);
  }
}

}  // namespace wormcube
