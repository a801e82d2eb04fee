// How one stage limits when the flits of another may start: a line of ticks, beside a forecast.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/starts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace wormcube {

inline constexpr Ticks long_ago = -(Ticks{1} << 62);

/// A start without a tick imposes no constraint.
inline Ticks later(Ticks time, Ticks by) { return time == no_tick ? no_tick : time + by; }

/// How long the flits' readiness (a constraint's straight piece) agrees with a line of starts.
struct Constraint {
  Ticks time = long_ago, stride = 0;  // of the flit at the beginning of the piece
  std::int64_t length = std::numeric_limits<std::int64_t>::max();
};

inline Constraint constraint(const Starts::Piece& piece, Ticks delay) {
  return {later(piece.time, delay), piece.stride, piece.length};
}

inline constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// The first flit of the piece whose constraint lies above the line.
inline std::int64_t first_above(const Constraint& c, Ticks line, Ticks stride) {
  if (c.time > line) return 0;
  return c.stride > stride ? (line - c.time) / (c.stride - stride) + 1 : no_end;
}
/// The first flit of the piece whose constraint lies below the line, or some flit before that.
inline std::int64_t first_below(const Constraint& c, Ticks line, Ticks stride) {
  if (c.time == no_tick) return no_end;
  if (c.time < line) return 0;
  return c.stride < stride ? (c.time - line) / (stride - c.stride) + 1 : no_end;
}
inline bool is_on(const Constraint& c, Ticks line, Ticks stride) {
  return c.time == line && c.stride == stride;
}
/// The first flit for which the later of two constraints is not on the line, or some flit before
/// that.
inline std::int64_t first_off(const Constraint& a, const Constraint& b, Ticks line, Ticks stride) {
  const std::int64_t above = std::min(first_above(a, line, stride), first_above(b, line, stride));
  if (above == 0 || is_on(a, line, stride) || is_on(b, line, stride)) return above;
  return std::min<std::int64_t>(above, a.time == line || b.time == line ? 1 : 0);
}

}  // namespace wormcube
