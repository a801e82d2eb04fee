// The chunks of GPUs' buffers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chunk_machine.hpp"

#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/dataflow/builder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

// Cells.

ChunkCells::ChunkCells(const ChunkLayout& layout) : layout_(layout), starts_{0} {
  for (const ChunkLayout::Gpu& gpu : layout.gpus) {
    const auto chunks = static_cast<std::size_t>(gpu.input) + static_cast<std::size_t>(gpu.output) +
                        static_cast<std::size_t>(gpu.scratch);
    starts_.push_back(starts_.back() + chunks * static_cast<std::size_t>(layout.units));
  }
}

std::size_t ChunkCells::cell(int gpu, MscclBuffer buffer, int chunk) const {
  const auto g = static_cast<std::size_t>(gpu);
  const ChunkLayout::Gpu& of = layout_.gpus[g];
  if (layout_.in_place) {
    if (layout_.collective == MscclCollective::reduce_scatter) {
      if (buffer == MscclBuffer::output) buffer = MscclBuffer::input, chunk += gpu * of.output;
    } else if (buffer == MscclBuffer::input && layout_.collective != MscclCollective::custom) {
      buffer = MscclBuffer::output;
      if (layout_.collective == MscclCollective::allgather) chunk += gpu * of.input;
    }
  }
  if (buffer != MscclBuffer::input) chunk += of.input;
  if (buffer == MscclBuffer::scratch) chunk += of.output;
  return starts_[g] + static_cast<std::size_t>(chunk) * static_cast<std::size_t>(layout_.units);
}

int ChunkCells::gpu(std::size_t cell) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, cell) - starts_.begin()) - 1;
}

std::pair<MscclBuffer, std::size_t> ChunkCells::place(std::size_t cell) const {
  const auto g = static_cast<std::size_t>(gpu(cell));
  const auto units = static_cast<std::size_t>(layout_.units);
  const std::size_t inputs = static_cast<std::size_t>(layout_.gpus[g].input) * units,
                    outputs = static_cast<std::size_t>(layout_.gpus[g].output) * units,
                    at = cell - starts_[g];
  if (at < inputs) return {MscclBuffer::input, at};
  if (at < inputs + outputs) return {MscclBuffer::output, at - inputs};
  return {MscclBuffer::scratch, at - inputs - outputs};
}

std::string ChunkCells::text(std::size_t cell) const {
  const auto [buffer, at] = place(cell);
  const auto units = static_cast<std::size_t>(layout_.units);
  const char letter = buffer == MscclBuffer::input    ? 'i'
                      : buffer == MscclBuffer::output ? 'o'
                                                      : 's';
  return fmt::format("{}[{}]{}", letter, at / units,
                     units == 1 ? "" : fmt::format(" (part {} of {})", at % units, units));
}

// Data.

ChunkMachine::ChunkMachine(ChunkLayout layout)
    : layout_(std::move(layout)),
      cells_(layout_),
      words_(layout_.ranks()),
      held_(cells_.size(), Cell{{held_nothing}, nullptr}),
      accesses_(cells_.size()) {
  if (layout_.collective != MscclCollective::custom) {
    const ScheduledCall call =
        scheduled_call({.name = std::string(to_string(layout_.collective))}, layout_.ranks());
    goal_ = goal_of(call.operation, call.arguments, layout_.ranks());
  }
  for (int gpu = 0; gpu < layout_.ranks(); ++gpu) {
    const std::size_t first = cells_.cell(gpu, MscclBuffer::input, 0);
    for (int c = 0; c < layout_.gpus[static_cast<std::size_t>(gpu)].input * layout_.units; ++c)
      held_[first + static_cast<std::size_t>(c)].value = given(gpu, c).value_or(held_nothing);
  }
}

/// Cell `c` of a GPU's input; nothing if the GPU gives none.
std::optional<NamedValue> ChunkMachine::given(int gpu, int c) const {
  const Rank gives = goal_ ? goal_->gives(gpu) : 1;
  if (gives == 0) return std::nullopt;
  const auto word = static_cast<WordId>(gpu);
  if (gives == 1) return NamedValue{word, 0, c};
  return NamedValue{word, c / layout_.parts, c % layout_.parts};
}

/// What cell `c` of a GPU's output must hold; nothing: anything.
std::optional<NamedValue> ChunkMachine::wanted(int gpu, int c) {
  const Rank ends_with = goal_ ? goal_->ends_with(gpu) : 0;
  if (ends_with == 0) return std::nullopt;
  const Goal::Wanted want = goal_->result(gpu, ends_with == 1 ? 0 : c / layout_.parts);
  return NamedValue{words_.interval(want.first, want.last), want.block,
                    ends_with == 1 ? c : c % layout_.parts};
}

std::string ChunkMachine::place_text(const ChunkPlace& place, std::string_view block_end) {
  return fmt::format("tb {}{} step {}{} ({})", place.block, block_end, place.step,
                     place.inner < 0 ? "" : fmt::format(".{}", place.inner), place.type);
}

std::string ChunkMachine::where() const {
  const ChunkPlace& place = operations_.back();
  return fmt::format("gpu {}, {}", place.gpu, place_text(place, layout_.block_end));
}

std::string ChunkMachine::unit_text(std::size_t unit) const {
  return layout_.units == 1 ? "" : fmt::format(" (part {} of {})", unit, layout_.units);
}

std::string ChunkMachine::origins(const NamedValue& value) const {
  std::vector<Rank> nodes = words_.nodes_of(value.word);
  if (nodes.size() > 1 && std::cmp_equal(nodes.size(), layout_.ranks())) return "all";
  std::ranges::sort(nodes);
  std::string who;
  for (const Rank node : nodes) who += (who.empty() ? "" : "+") + std::to_string(node);
  return who;
}

std::string ChunkMachine::text(const NamedValue& value) const {
  if (value == held_nothing) return "nothing";
  const auto at = static_cast<std::size_t>(index(value)),
             units = static_cast<std::size_t>(layout_.units);
  return fmt::format("chunk {}{} of {}", at / units, unit_text(at % units), origins(value));
}

std::string ChunkMachine::name(std::size_t cell) const {
  const int gpu = cells_.gpu(cell);
  return gpu == operations_.back().gpu ? cells_.text(cell)
                                       : fmt::format("gpu {}'s {}", gpu, cells_.text(cell));
}

void ChunkMachine::begin(const ChunkPlace& place, std::uint32_t lane, const LaneTimes& times) {
  operations_.push_back(place);
  lane_ = lane, times_ = &times;
}

ChunkMachine::Held ChunkMachine::read(std::size_t cell, bool packets) {
  const Cell& held = held_[cell];
  if (held.value == held_nothing) {
    find([&] { return fmt::format("reads {}, which nothing was written to", name(cell)); });
    return {held_unknown, held.ready};
  }
  if (packets != (held.packet != nullptr) && !(held.value == held_unknown)) {
    find([&] {
      return fmt::format("reads {} as {}, which holds {}", name(cell), packets ? "packets" : "data",
                         packets ? "data" : "packets");
    });
    return {held_unknown, held.ready};
  }
  return held;
}

ChunkMachine::Held ChunkMachine::combine(const Held& left, const Held& right) {
  const Held failed{held_unknown, std::max(left.ready, right.ready)};
  const NamedValue &a = left.value, &b = right.value;
  if (a == held_unknown || b == held_unknown) return failed;
  if (a.block != b.block || a.part != b.part) {
    find([&] { return fmt::format("reduces {} with {}", text(a), text(b)); });
    return failed;
  }
  if (const auto shared = words_.shared(a.word, b.word)) {
    find([&] {
      return fmt::format("reduces gpu {}'s chunk {} twice", *shared, index(a) / layout_.units);
    });
    return failed;
  }
  combinations_.push_back(
      {operations_.size() - 1, operations_.back().gpu, failed.ready + 1, {a, b}});
  return {{words_.join(a.word, b.word), a.block, a.part}, failed.ready};
}

void ChunkMachine::write(std::size_t cell, const Held& value,
                         const std::shared_ptr<const void>& packet) {
  Cell& held = held_[cell];
  static_cast<Held&>(held) = value;
  held.packet = packet;
  (packet ? held.packets : held.data) = true;
  if (!layout_.in_place && written_inputs_.size() < most_msccl_findings &&
      cells_.buffer(cell) == MscclBuffer::input) {
    written_inputs_.push_back(
        fmt::format("{}: writes to the caller's input {}", where(), name(cell)));
  }
}

void ChunkMachine::finish() {
  for (int gpu = 0; gpu < layout_.ranks(); ++gpu) {
    const std::size_t first = cells_.cell(gpu, MscclBuffer::output, 0);
    const int outputs = layout_.gpus[static_cast<std::size_t>(gpu)].output * layout_.units;
    for (int c = 0; c < outputs && findings_.size() < most_msccl_findings; ++c) {
      const auto want = wanted(gpu, c);
      const Cell& cell = held_[first + static_cast<std::size_t>(c)];
      const NamedValue& held = cell.value;
      if (!want || held == held_unknown) continue;
      const std::string to = fmt::format("o[{}]{}", c / layout_.units,
                                         unit_text(static_cast<std::size_t>(c % layout_.units)));
      const bool is_same = !(held == held_nothing) && held.block == want->block &&
                           held.part == want->part && words_.sorted(held.word) == want->word;
      if (cell.packet) {
        findings_.push_back(fmt::format("gpu {} ends with packets in {}, not with data", gpu, to));
      } else if (!is_same) {
        findings_.push_back(
            fmt::format("gpu {} ends with {} in {}, not {}", gpu, text(held), to, text(*want)));
      }
    }
  }
}

// Races.

void ChunkMachine::access(std::size_t cell, bool writes) {
  std::vector<Access>& all = accesses_[cell];
  const auto operation = static_cast<std::uint32_t>(operations_.size() - 1);
  Access* own = nullptr;
  const auto order = [&](std::uint32_t number) {
    const ChunkPlace& place = operations_[number];
    return Order{place.gpu, place.block, place.step, place.inner};
  };
  const auto add = [&](Racer first) {
    Racer second{operation, writes};
    if (!(order(first.operation) < order(operation))) std::swap(first, second);
    races_.try_emplace({cell, order(first.operation), order(second.operation)}, first, second);
    constexpr std::size_t most_kept = 1000;
    if (races_.size() > most_kept) races_.erase(std::prev(races_.end()));
  };
  for (Access& other : all) {
    if (other.lane == lane_) {
      if (!layout_.keeps_accesses || std::max(other.reader, other.writer) == operation)
        own = &other;
      continue;
    }
    const std::uint32_t seen = (*times_)[other.lane];
    if (other.written > seen) {
      add({other.writer, true});
    } else if (writes && other.read > seen) {
      add({other.reader, false});
    }
  }
  if (own == nullptr) own = &all.emplace_back(Access{lane_});
  (writes ? own->written : own->read) = (*times_)[lane_];
  (writes ? own->writer : own->reader) = operation;
}

std::string ChunkMachine::access_text(std::size_t cell, Racer racer) const {
  const ChunkPlace& place = operations_[racer.operation];
  return fmt::format("{}{} {}",
                     place.gpu == cells_.gpu(cell) ? "" : fmt::format("gpu {}'s ", place.gpu),
                     place_text(place, ""), racer.writes ? "writes" : "reads");
}

std::vector<std::string> ChunkMachine::races() const {
  std::vector<std::string> texts;
  for (const auto& [key, race] : races_) {
    if (texts.size() == most_msccl_findings) break;
    const std::size_t cell = std::get<0>(key);
    texts.push_back(fmt::format("gpu {}, {}: {}, {}, and nothing orders them", cells_.gpu(cell),
                                cells_.text(cell), access_text(cell, race.first),
                                access_text(cell, race.second)));
  }
  return texts;
}

std::vector<std::string> ChunkMachine::late(const std::vector<LaneTimes>& ends) const {
  std::vector<std::string> texts;
  for (std::size_t cell = 0; cell < accesses_.size() && texts.size() < most_msccl_findings;
       ++cell) {
    if (accesses_[cell].empty() || cells_.buffer(cell) == MscclBuffer::scratch) continue;
    const int gpu = cells_.gpu(cell);
    const LaneTimes& end = ends[static_cast<std::size_t>(gpu)];
    const auto late = std::ranges::find_if(
        accesses_[cell], [&](const Access& each) { return each.written > end[each.lane]; });
    if (late == accesses_[cell].end()) continue;
    texts.push_back(fmt::format("gpu {}, {}: {}, and gpu {} may have ended", gpu, cells_.text(cell),
                                access_text(cell, {late->writer, true}), gpu));
  }
  return texts;
}

// Text 2.

NamedSchedule ChunkMachine::lay(const std::vector<Message>& messages,
                                std::vector<ChunkCombination> combinations, bool named) const {
  const int ranks = layout_.ranks();
  NamedSchedule header{{Topology::parse(fmt::format("complete:{}", ranks)), {}}, words_};
  if (goal_) {
    header.operation = NamedOperation{.name = std::string(to_string(layout_.collective))};
    header.form.several_blocks = goal_->several_blocks;
    header.commutative = goal_->reduces;
  }
  header.form.parts = layout_.parts;
  header.form.block = static_cast<Bytes>(layout_.parts);
  if (!layout_.about.empty()) header.about.push_back(layout_.about);

  struct End {
    std::int64_t step, order;
    const Message* message;
    bool is_send;
  };
  std::vector<End> ends;
  for (const Message& message : messages) {
    ends.push_back({message.step, message.sent, &message, true});
    ends.push_back({message.step, message.received, &message, false});
  }
  std::ranges::stable_sort(ends, {}, [](const End& end) { return std::pair(end.step, end.order); });
  NamedBuilder builder(std::move(header));
  const std::int64_t steps = ends.empty() ? 0 : ends.back().step + 1;
  auto next = ends.begin();
  for (std::int64_t step = 0; step < steps; ++step) {
    builder.begin_step();
    for (; next != ends.end() && next->step == step; ++next) {
      const Message& what = *next->message;
      const Rank node = next->is_send ? what.from : what.to,
                 peer = next->is_send ? what.to : what.from;
      const Op::Kind kind = next->is_send ? Op::Kind::send : Op::Kind::receive;
      builder.add(node, {kind, 0, peer, what.tag, 0, what.bytes},
                  next->is_send && named ? NamedBuilder::Values(what.values) : std::nullopt);
    }
  }
  if (!named) return builder.finish();
  std::ranges::stable_sort(combinations, {}, &ChunkCombination::gap);
  for (const ChunkCombination& each : combinations)
    builder.combine(each.gpu, static_cast<std::size_t>(each.gap), {&each.pair, 1}, 1);
  return builder.finish();
}

}  // namespace wormcube::apps
