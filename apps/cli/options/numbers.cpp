// Numbers, sizes, switches.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/numbers.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// Whether a number in digits exceeds the type; CLI11 would clamp it.
template <class Number>
bool is_beyond(std::string_view digits) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc::result_out_of_range && end == digits.data() + digits.size();
}

template <class Number>
std::string too_large(std::string_view text) {
  return fmt::format("{} is too large; at most {}", text, std::numeric_limits<Number>::max());
}

}  // namespace

CLI::Validator at_least(double least) {
  const auto complaint = [least](std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    if (!std::isfinite(value)) return fmt::format("{} is not finite", text);
    if (is_beyond<std::int64_t>(text)) return too_large<std::int64_t>(text);
    return value >= least ? "" : fmt::format("{} is less than {}", text, least);
  };
  return {complaint, ""};
}

CLI::Validator between(double least, double most) {
  const auto complaint = [least, most](std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    return value >= least && value <= most
               ? ""
               : fmt::format("{} is not from {} to {}", text, least, most);
  };
  return {complaint, ""};
}

CLI::Validator whole_number() {
  const auto complaint = [](std::string& text) -> std::string {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (!digits) return fmt::format("'{}' is not a whole number of 0 or more", text);
    return is_beyond<std::uint64_t>(text) ? too_large<std::uint64_t>(text) : "";
  };
  return {complaint, ""};
}

CLI::Validator whole_signed_number() {
  const auto complaint = [](std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument)
      return fmt::format("'{}' is not a whole number", text);
    return error == std::errc{} ? "" : fmt::format("{} is beyond 64 bits", text);
  };
  return {complaint, ""};
}

Bytes parse_bytes(std::string_view text) {
  if (text.find(',') != text.npos || text.find("..") != text.npos) {
    throw UsageError(fmt::format(
        "'{}': expected one size; only commands such as `run` and `list` accept several sizes or a "
        "range",
        text));
  }
  const auto fail = [&](std::string_view problem) -> Bytes {
    throw UsageError(
        fmt::format("'{}' is not a number of bytes: {}; expected a whole number, with K, M or G "
                    "for 1024, 1024^2 or 1024^3",
                    text, problem));
  };
  constexpr Bytes most = Bytes{1} << 44;
  const std::string too_large = fmt::format("too large, the most is {}", size_text(most));
  Bytes number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return fail(too_large);
  if (error != std::errc{}) return fail("not a number");
  std::string_view suffix = text.substr(end - text.data());
  std::size_t shift = 0;
  if (!suffix.empty()) {
    constexpr std::string_view units = "bkmgBKMG";
    const std::size_t unit = units.find(suffix.front());
    suffix.remove_prefix(1);
    const bool ends = suffix.empty() || suffix == "B" || suffix == "iB";
    if (text[static_cast<std::size_t>(end - text.data())] == '-') return fail("a range is 8..1M");
    if (unit == units.npos || !ends) return fail("unknown suffix");
    shift = 10 * (unit % 4);
  }
  if (number > most >> shift) return fail(too_large);
  return number << shift;
}

std::vector<Bytes> parse_byte_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {parse_bytes(text)};
  if (dots == 0 || dots + 2 == text.size()) {
    throw UsageError(fmt::format("'{}': a range has two ends, as in 8..64K", text));
  }
  const Bytes first = parse_bytes(text.substr(0, dots)), last = parse_bytes(text.substr(dots + 2));
  if (first == 0 || first > last) {
    throw UsageError(
        fmt::format("'{}': a range doubles from a size of 1 or more to a larger one", text));
  }
  std::vector<Bytes> sizes;
  for (Bytes bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

std::vector<Bytes> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<Bytes> sizes;
  for (const std::string& text : texts) {
    const std::vector<Bytes> range = parse_byte_range(text);
    sizes.insert(sizes.end(), range.begin(), range.end());
  }
  return sizes;
}

CLI::Option* add_sizes_option(CLI::App& app, std::vector<std::string>& sizes, const char* what) {
  return app
      .add_option("--bytes", sizes,
                  fmt::format("{}. Separate sizes with commas; a range such as 8..64K doubles at "
                              "each step. For a broadcast, the block is the whole message",
                              what))
      ->type_name("N[K|M|G][..N][,N..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("What");
}

std::string size_text(Bytes bytes) {
  for (const auto& [unit, size] : {std::pair{'G', Bytes{1} << 30}, std::pair{'M', Bytes{1} << 20},
                                   std::pair{'K', Bytes{1} << 10}}) {
    if (bytes >= size && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  }
  return std::to_string(bytes);
}

}  // namespace wormcube::cli
