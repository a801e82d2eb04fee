// Worms of nodes whose ports are slower than their links: the times of their flits in closed form.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// From flit `first` on, no flit k starts before `time` + (k - `first`) x `stride`.
using Line = Run;

Ticks at(const Line& line, std::int64_t flit) {
  return line.time + (flit - line.first) * line.stride;
}

/// The first flit from `from` on for which a line lies above another; `flits`: none.
std::int64_t first_above(const Line& line, const Line& other, std::int64_t from,
                         std::int64_t flits) {
  from = std::max(from, line.first);
  const Ticks behind = at(other, from) - at(line, from);
  if (behind < 0) return from;
  if (line.stride <= other.stride) return flits;
  return std::min(flits, from + behind / (line.stride - other.stride) + 1);
}

/// The latest of the lines, flit by flit, as runs. The first line begins with flit 0.
std::vector<Run> latest_of(const std::vector<Line>& lines, std::int64_t flits) {
  std::vector<Run> runs;
  std::int64_t next = 0;
  for (std::int64_t flit = 0; flit < flits; flit = next) {
    const Line* latest = nullptr;
    for (const Line& line : lines) {
      if (line.first > flit) continue;
      if (latest == nullptr || at(line, flit) > at(*latest, flit) ||
          (at(line, flit) == at(*latest, flit) && line.stride > latest->stride)) {
        latest = &line;
      }
    }
    runs.push_back({flit, at(*latest, flit), latest->stride});
    next = flits;
    for (const Line& line : lines) {
      if (&line != latest) next = std::min(next, first_above(line, *latest, flit + 1, flits));
    }
  }
  return runs;
}

}  // namespace

/// What the formula
///   s(i,k) = max( ready + k P + i H,
///                 over j >= i with k >= S(j-i):     g_j + (k - S(j-i)) R_j + (j-i) C,
///                 over j >= 0 with k >= S j + Q-1:  g_j + (k - S j - Q+1) P + j C + i H )
/// gives: R_j is P at the ejection port and F elsewhere.
std::vector<Run> Simulation::slow_formula_runs(const Worm& worm, std::int32_t stage) const {
  const Ticks port = model_.port_flit(), hops = stage * model_.hop;
  const std::int64_t slots = model_.slots, behind_port = model_.port_buffer();
  std::vector<Line> lines{{0, message_of(worm).ready + hops, port}};
  for (std::int32_t j = 0; j <= worm.granted_to; ++j) {
    const Ticks granted = worm.at(j).granted;
    if (j >= stage && slots * (j - stage) < worm.flits) {
      lines.push_back({slots * (j - stage), granted + (j - stage) * model_.credit, rate(worm, j)});
    }
    const std::int64_t held_back = slots * j + behind_port - 1;
    if (held_back < worm.flits) {
      lines.push_back({held_back, granted + j * model_.credit + hops, port});
    }
  }
  return latest_of(lines, worm.flits);
}

/// When a flit has passed the injection port,
///   n(k) = max( ready + k P,  over j with k >= S j + Q:  g_j + (k - S j - Q+1) P + j C )
Ticks Simulation::formula_at_link(const Worm& worm, std::int64_t flit) const {
  const Ticks port = model_.port_flit();
  Ticks time = message_of(worm).ready + flit * port;
  for (std::int32_t j = 0; j <= worm.granted_to; ++j) {
    const std::int64_t held_back = model_.slots * j + model_.port_buffer();
    if (flit < held_back) break;
    time = std::max(time, worm.at(j).granted + (flit - held_back + 1) * port + j * model_.credit);
  }
  return time;
}

/// The starts of all flits at the injection port, a port's time before they have passed it.
std::vector<Run> Simulation::injection_runs(const Worm& worm) const {
  const Ticks port = model_.port_flit();
  std::vector<Line> lines{{0, message_of(worm).ready - port, port}};
  for (std::int32_t j = 0; j <= worm.granted_to; ++j) {
    const std::int64_t held_back = model_.slots * j + model_.port_buffer();
    if (held_back >= worm.flits) break;
    lines.push_back({held_back, worm.at(j).granted + j * model_.credit, port});
  }
  return latest_of(lines, worm.flits);
}

}  // namespace wormcube
