// The lines that all trace files have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace wormcube {

/// Microseconds with three decimals, so that readers keep nanoseconds.
inline std::string trace_time(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// A name given by a user, escaped for a JSON string.
inline std::string trace_quoted(std::string_view name) {
  const std::string text =
      nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

/// \param what  process_name, thread_name
inline std::string trace_name(std::string_view what, std::int64_t pid, std::int64_t tid,
                              std::string_view name) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what,
                     pid, tid, name);
}

/// The file's first line. \param other  further members of otherData, or empty
inline std::string trace_head(std::string_view clock, std::string_view other, std::uint64_t slices,
                              std::uint64_t left_out) {
  return fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"clock\":\"{}\"{}{},\"slices\":{},"
      "\"slices_left_out\":{}}},\"traceEvents\":[\n",
      clock, other.empty() ? "" : ",", other, slices, left_out);
}

}  // namespace wormcube
