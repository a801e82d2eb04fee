// The constants of a modelled machine: the ticks of a message, a flit and a byte of own work.
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
/// Not a time: not yet, or never.
inline constexpr Ticks no_tick = std::numeric_limits<Ticks>::max();

/// Ticks at this rate for this many bytes, rounded up.
struct Rate {
  Ticks ticks = 0;
  std::int64_t bytes = 1;
  Ticks of(Bytes count) const;
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// How a router forwards a message: flit by flit; in packets that hold nothing while they wait, in
/// unlimited buffers; or as a whole after all of it has arrived, with the start-up paid once by the
/// sender or again at each router.
enum class Forwarding : std::uint8_t { wormhole, packets, store_once, store_each };

/// A machine to replay schedules on (docs/explanation/replay.md). The default is that of
/// --ts --tw --tr --tc.
struct MachineModel {
  Ticks startup = 10'000'000;   // of a message, paid by its sender
  std::int64_t flit_bytes = 1;  // bytes in a flit
  Ticks flit = 1000;            // a flit occupies a link
  Ticks hop = 1000;             // from a flit's start on a link to its earliest start on the next
  Ticks credit = 1;             // from there to when the slot that it leaves can be reused
  std::int64_t slots = 4;       // flits that the buffer of one virtual channel holds
  Ticks port = 0;               // a flit occupies an injection or ejection port; 0: as a link
  std::int64_t port_slots = 0;  // flits between the injection port and the first link; 0: slots
  std::int64_t packet = 16;     // flits of a packet
  Ticks node = 0;  // a flit occupies the node's bus to all its injection ports; 0: no bus
  Rate rearrange{500, 1}, combine{500, 1};
  /// The time of declared computation: ticks per operations, and per bytes of memory; a phase takes
  /// the longer of the two. 0 ticks: not counted.
  Rate operations{}, memory{};
  bool all_port = false;
  bool lock_step = false;
  Forwarding forwarding = Forwarding::wormhole;

  std::int64_t flits(Bytes bytes) const;
  bool stores() const {
    return forwarding == Forwarding::store_once || forwarding == Forwarding::store_each;
  }
  /// How long a flit occupies a port. Machines that store messages have ports as fast as their
  /// links.
  Ticks port_flit() const { return port == 0 || stores() ? flit : port; }
  std::int64_t port_buffer() const { return port_slots == 0 ? slots : port_slots; }
  bool has_bus() const { return node > 0 && all_port && forwarding == Forwarding::packets; }
  /// Whether a buffer is deep enough for a link to be busy all the time.
  bool full_rate() const;
  /// The same for a port.
  bool full_port_rate() const;
  /// A message alone, from the end of its start-up to its last flit's arrival.
  Ticks transit(std::int64_t flits, std::int64_t hops) const;
  /// A message alone, start-up included.
  Ticks alone(std::int64_t flits, std::int64_t hops) const {
    return startup + transit(flits, hops);
  }
  /// Throws UsageError for a constant below its least value or too large to compute with.
  void require_valid() const;
  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

/// A time in microseconds as ticks: "0.001" is 1000. Throws UsageError for text that is not a
/// number, is negative, is not whole in ticks, or is too large.
Ticks parse_microseconds(std::string_view text, std::string_view what);
/// The reverse, exactly: "0.001", "12".
std::string microseconds_text(Ticks ticks);

}  // namespace wormcube
