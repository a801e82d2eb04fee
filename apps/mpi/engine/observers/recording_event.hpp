// An event of a recording, in the form stored in the temporary file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/observers/recording.hpp"

#include <tuple>

namespace wormcube::mpi {

struct Recording::Event {
  enum class Kind : std::uint8_t {
    call,
    open_call,  // that had not returned when the run ended
    mark,
    send,
    send_end,
    receive,
    arrival,  // of a message, in the call that received it
    access,   // of another rank's memory, in the call that did it
    touch,    // the same, on the other rank's track
    flow_start,
    flow_end
  };
  bool is_arrow() const { return kind == Kind::flow_start || kind == Kind::flow_end; }
  std::int64_t begin = 0, length = 0;    // nanoseconds
  std::uint64_t order = 0;               // the order of reports; for an arrow its number
  std::uint64_t started = 0, ended = 0;  // of messages: stamps
  Bytes bytes = 0;
  std::uint32_t context = 0;
  Tag tag = 0;
  Rank rank = 0, peer = 0;
  std::uint16_t function = 0;
  Kind kind = Kind::call;
  bool waits = false;  // of a send
  bool on = true;
};

/// The order in the file: by time, longer slices first, slices before arrows.
struct Recording::ByTime : Event {
  friend bool operator<(const ByTime& a, const ByTime& b) {
    return std::tuple(a.begin, -a.length, a.kind, a.order, a.rank) <
           std::tuple(b.begin, -b.length, b.kind, b.order, b.rank);
  }
};

/// Messages in the order in which their ends started.
struct Recording::ByStart : Event {
  friend bool operator<(const ByStart& a, const ByStart& b) {
    return std::tuple(a.started, a.ended, a.kind) < std::tuple(b.started, b.ended, b.kind);
  }
};

}  // namespace wormcube::mpi
