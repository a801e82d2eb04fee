// The constants of a modelled machine: what a message, a flit and a byte of own work cost, in ticks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace wormcube {

/// Modelled time in whole ticks; a tick is a picosecond wherever times are read or written.
using Ticks = std::int64_t;
/// For sums and products that must not overflow on the way.
__extension__ using WideTicks = __int128;
/// A time that is none: not yet, or not at all.
inline constexpr Ticks no_tick = std::numeric_limits<Ticks>::max();

/// So many ticks for so many bytes; parts of a tick count as one.
struct Rate {
  Ticks ticks = 0;
  std::int64_t bytes = 1;
  Ticks of(Bytes count) const;
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// How a router passes a message on: flit by flit, or when all of it has arrived, with the start-up
/// paid once by the sender or again at each router.
enum class Forwarding : std::uint8_t { wormhole, store_once, store_each };

/// A machine to replay schedules on (docs/explanation/replay.md). The defaults are those of
/// --ts --tw --tr --tc.
struct MachineModel {
  Ticks startup = 10'000'000;   // of a message, paid by its sender
  std::int64_t flit_bytes = 1;  // bytes in a flit
  Ticks flit = 1000;            // a flit occupies a link or a port
  Ticks hop = 1000;             // from a flit's start on a link to its earliest start on the next
  Ticks credit = 1;             // from there to when the slot that it leaves can be used again
  std::int64_t slots = 4;       // flits that the buffer of one virtual channel holds
  Rate rearrange{500, 1}, combine{500, 1};
  /// What nodes say that they compute: ticks for so many operations, and for so many bytes of memory;
  /// a phase takes the longer of the two. 0 ticks: left out.
  Rate operations{}, memory{};
  bool all_port = false;
  bool lock_step = false;
  Forwarding forwarding = Forwarding::wormhole;

  std::int64_t flits(Bytes bytes) const;
  /// Whether a buffer is deep enough for a link to be busy all the time.
  bool full_rate() const;
  /// A message alone, from the end of its start-up to its last flit's arrival.
  Ticks transit(std::int64_t flits, std::int64_t hops) const;
  /// A message alone, start-up included.
  Ticks alone(std::int64_t flits, std::int64_t hops) const {
    return startup + transit(flits, hops);
  }
  /// Throws UsageError for a constant below its least value or too large to count with.
  void require_valid() const;
  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

/// A time in microseconds as ticks: "0.001" is 1000. Throws UsageError for what is no number, is
/// negative, is not whole in ticks, or is too large.
Ticks parse_microseconds(std::string_view text, std::string_view what);
/// The other way round, exactly: "0.001", "12".
std::string microseconds_text(Ticks ticks);

}  // namespace wormcube
