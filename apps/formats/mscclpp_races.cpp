// Cells of an MSCCL++ plan, and accesses of them that nothing orders.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp_data.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

namespace wormcube::apps {

void PlanClock::join(const PlanClock& other) {
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], other.times[i]);
  needed = std::max(needed, other.needed);
  sent = std::max(sent, other.sent);
}

std::string step_text(const PlanPlace& place) {
  const PlanOperation& what = *place.what;
  return fmt::format("tb {} step {}{} ({})", place.block, what.step,
                     what.inner < 0 ? "" : fmt::format(".{}", what.inner), to_string(what.type));
}

PlanCells::PlanCells(const MscclppPlan& plan) : plan_(plan), starts_{0} {
  for (const PlanGpu& gpu : plan.gpus) {
    const auto chunks = static_cast<std::size_t>(gpu.input) + static_cast<std::size_t>(gpu.output) +
                        static_cast<std::size_t>(gpu.scratch);
    starts_.push_back(starts_.back() + chunks * static_cast<std::size_t>(plan.units));
  }
}

std::size_t PlanCells::cell(int gpu, MscclBuffer buffer, int chunk) const {
  const auto g = static_cast<std::size_t>(gpu);
  const PlanGpu& of = plan_.gpus[g];
  if (plan_.in_place) {
    if (plan_.collective == MscclCollective::reduce_scatter) {
      if (buffer == MscclBuffer::output) buffer = MscclBuffer::input, chunk += gpu * of.output;
    } else if (buffer == MscclBuffer::input && plan_.collective != MscclCollective::custom) {
      buffer = MscclBuffer::output;
      if (plan_.collective == MscclCollective::allgather) chunk += gpu * of.input;
    }
  }
  if (buffer != MscclBuffer::input) chunk += of.input;
  if (buffer == MscclBuffer::scratch) chunk += of.output;
  return starts_[g] + static_cast<std::size_t>(chunk) * static_cast<std::size_t>(plan_.units);
}

int PlanCells::gpu(std::size_t cell) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, cell) - starts_.begin()) - 1;
}

std::string PlanCells::text(std::size_t cell) const {
  const auto g = static_cast<std::size_t>(gpu(cell));
  const PlanGpu& of = plan_.gpus[g];
  const auto units = static_cast<std::size_t>(plan_.units);
  auto chunk = static_cast<int>((cell - starts_[g]) / units);
  const std::size_t unit = (cell - starts_[g]) % units;
  const std::string part = units == 1 ? "" : fmt::format(" (part {} of {})", unit, units);
  if (chunk < of.input) return fmt::format("i[{}]{}", chunk, part);
  chunk -= of.input;
  if (chunk < of.output) return fmt::format("o[{}]{}", chunk, part);
  return fmt::format("s[{}]{}", chunk - of.output, part);
}

std::tuple<int, int, int, int> PlanRaces::order(const PlanPlace& place) {
  return {place.gpu, place.block, place.what->step, place.what->inner};
}

void PlanRaces::access(std::size_t cell, std::uint32_t lane, const PlanClock& clock,
                       const PlanPlace& place, bool writes) {
  std::vector<Last>& all = last_[cell];
  Last* own = nullptr;
  const auto add = [&](const PlanPlace& other, bool other_writes) {
    const bool is_first = order(other) < order(place);
    const PlanPlace &first = is_first ? other : place, &second = is_first ? place : other;
    races_.try_emplace(
        {cell, order(first), order(second)},
        Race{first, second, is_first ? other_writes : writes, is_first ? writes : other_writes});
    constexpr std::size_t most_kept = 1000;
    if (races_.size() > most_kept) races_.erase(std::prev(races_.end()));
  };
  for (Last& other : all) {
    if (other.lane == lane) {
      own = &other;
      continue;
    }
    const std::uint32_t seen = clock.times[other.lane];
    if (other.written > seen) {
      add(other.writer, true);
    } else if (writes && other.read > seen) {
      add(other.reader, false);
    }
  }
  if (own == nullptr) own = &all.emplace_back(Last{lane});
  (writes ? own->written : own->read) = clock.times[lane];
  (writes ? own->writer : own->reader) = place;
}

std::string PlanRaces::text(std::size_t cell, const PlanPlace& place, bool writes) const {
  return fmt::format("{}{} {}",
                     place.gpu == cells_.gpu(cell) ? "" : fmt::format("gpu {}'s ", place.gpu),
                     step_text(place), writes ? "writes" : "reads");
}

std::vector<std::string> PlanRaces::texts() const {
  std::vector<std::string> texts;
  constexpr std::size_t most = 10;
  for (const auto& [key, race] : races_) {
    if (texts.size() == most) break;
    const std::size_t cell = std::get<0>(key);
    texts.push_back(fmt::format("gpu {}, {}: {}, {}, and nothing orders them", cells_.gpu(cell),
                                cells_.text(cell), text(cell, race.first, race.first_writes),
                                text(cell, race.second, race.second_writes)));
  }
  return texts;
}

std::vector<std::string> PlanRaces::late(const std::vector<PlanClock>& ends) const {
  std::vector<std::string> texts;
  constexpr std::size_t most = 10;
  for (std::size_t cell = 0; cell < last_.size() && texts.size() < most; ++cell) {
    if (last_[cell].empty()) continue;
    const int gpu = cells_.gpu(cell);
    const PlanClock& end = ends[static_cast<std::size_t>(gpu)];
    for (const Last& each : last_[cell]) {
      if (each.written <= end.times[each.lane]) continue;
      const std::string name = cells_.text(cell);
      if (name.front() == 's') break;
      texts.push_back(fmt::format("gpu {}, {}: {}, and gpu {} may have ended", gpu, name,
                                  text(cell, each.writer, true), gpu));
      break;
    }
  }
  return texts;
}

}  // namespace wormcube::apps
