// Constants, checked; exact conversion between microseconds and ticks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/machine_model.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Far more than any machine's, and small enough that a few add up within 64 bits.
constexpr Ticks largest_constant = Ticks{1} << 50;

}  // namespace

Ticks Rate::of(Bytes count) const {
  Ticks exact = 0;
  if (bytes == 1 && count <= static_cast<Bytes>(no_tick) &&
      !__builtin_mul_overflow(ticks, static_cast<Ticks>(count), &exact)) {
    return exact;
  }
  const auto product = static_cast<WideTicks>(ticks) * static_cast<WideTicks>(count);
  const WideTicks quotient = (product + bytes - 1) / bytes;
  return quotient >= no_tick ? no_tick : static_cast<Ticks>(quotient);
}

std::int64_t MachineModel::flits(Bytes bytes) const {
  const auto size = static_cast<Bytes>(flit_bytes);
  constexpr Bytes most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp<Bytes>(bytes / size + (bytes % size != 0), 1, most));
}

bool MachineModel::full_rate() const {
  return static_cast<WideTicks>(slots) * flit >= static_cast<WideTicks>(hop) + credit;
}

bool MachineModel::full_port_rate() const {
  return static_cast<WideTicks>(slots) * port_flit() >= static_cast<WideTicks>(hop) + credit;
}

Ticks MachineModel::transit(std::int64_t flits, std::int64_t hops) const {
  switch (forwarding) {
    case Forwarding::wormhole:
    case Forwarding::packets:
      return hops * hop + flits * port_flit();
    case Forwarding::store_once:
      return hops * (hop + flits * flit);
    case Forwarding::store_each:
      return hops * (hop + flits * flit) + (hops - 1) * startup;
  }
  return 0;
}

void MachineModel::require_valid() const {
  const auto require = [](std::string_view name, Ticks value, Ticks least) {
    if (value >= least && value <= largest_constant) return;
    throw UsageError(
        fmt::format("{} is {}; expected {} to {}", name, value, least, largest_constant));
  };
  require("the start-up", startup, 0);
  require("the flit's size", flit_bytes, 1);
  require("the flit time", flit, 1);
  require("the hop time", hop, 1);
  require("the credit time", credit, 1);
  require("the number of slots", slots, 1);
  require("the port's time", port, 0);
  require("the number of slots behind a port", port_slots, 0);
  require("the packet's size", packet, 1);
  require("the node's time", node, 0);
  if (port != 0 && port < flit) {
    throw UsageError(fmt::format(
        "a port must not be faster than a link: a flit takes {} ticks at a port, {} on a link",
        port, flit));
  }
  for (const auto& [name, rate] :
       {std::pair("the time to rearrange", rearrange), std::pair("the time to combine", combine),
        std::pair("the time of operations", operations),
        std::pair("the time to go through memory", memory)}) {
    require(name, rate.ticks, 0);
    require(name, rate.bytes, 1);
  }
}

Ticks parse_microseconds(std::string_view text, std::string_view what) {
  constexpr int decimals = 6;
  const auto fail = [&](std::string_view why) {
    throw UsageError(fmt::format("{}: '{}' {}", what, text, why));
  };
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view part = text.substr(std::min(point + 1, text.size()));
  while (part.ends_with('0')) part.remove_suffix(1);
  const auto digits = [](std::string_view s) {
    return std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(whole) || !digits(part) || (whole.empty() && point + 1 >= text.size())) {
    fail("is not a number of microseconds");
  }
  if (part.size() > decimals) fail("is not a whole number of picoseconds; use at most 6 decimals");
  std::string number(whole);
  number += part;
  number.append(decimals - part.size(), '0');
  const auto ticks = number_of<Ticks>(number);
  if (!ticks || *ticks > largest_constant) {
    fail(fmt::format("is too long; at most {} us", microseconds_text(largest_constant)));
  }
  return *ticks;
}

std::string microseconds_text(Ticks ticks) {
  constexpr Ticks per_microsecond = 1'000'000;
  std::string text = fmt::format("{}.{:06}", ticks / per_microsecond, ticks % per_microsecond);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace wormcube
