// Names and types of exceptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string_view>

namespace wormcube {

/// The text that is reported for a thrown object that is not derived from std::exception.
inline constexpr std::string_view unknown_exception = "unknown exception type";

/// Whether an exception, or one nested in it, is of one of these types.
template <class... Wanted>
bool holds(const std::exception& error) {
  if ((... || (dynamic_cast<const Wanted*>(&error) != nullptr))) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    return holds<Wanted...>(nested);
  } catch (...) {  // not derived from std::exception
  }
  return false;
}

}  // namespace wormcube
