// Follows the chunks of an MSCCL++ plan through one run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp_data.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// The cells of an operand that the operation's thread block works on: first, and how many.
std::pair<std::size_t, std::size_t> slice(const PlanChunks& chunks, const PlanOperation& what,
                                          int units) {
  const std::size_t cells =
      static_cast<std::size_t>(chunks.count) * static_cast<std::size_t>(units);
  const auto part = static_cast<std::size_t>(what.part),
             parts = static_cast<std::size_t>(what.parts);
  const std::size_t first = cells / parts * part;
  return {first, cells / parts};
}

}  // namespace

bool reads_packets(const PlanOperation& what, std::size_t source) {
  switch (what.type) {
    case PlanType::upkt:
    case PlanType::rppkt:
    case PlanType::gstorepkt:
      return true;
    case PlanType::ppkt:
      return what.port;
    case PlanType::repkt:
    case PlanType::respkt:
    case PlanType::recpkt:
    case PlanType::recspkt:
      return source > 0;
    default:
      return false;
  }
}

bool writes_packets(const PlanOperation& what, std::size_t target) {
  switch (what.type) {
    case PlanType::ppkt:
    case PlanType::rppkt:
    case PlanType::cpkt:
    case PlanType::gstorepkt:
      return true;
    case PlanType::respkt:
    case PlanType::recpkt:
    case PlanType::recspkt:
      return target > 0;
    default:
      return false;
  }
}

PlanData::PlanData(const MscclppPlan& plan)
    : plan_(plan),
      cells_(plan),
      words_(plan.ranks()),
      held_(cells_.size(), Cell{held_nothing, -1, nullptr}),
      races_(cells_) {
  const int input = plan.gpus.front().input;
  const bool cut = plan.collective == MscclCollective::alltoall ||
                   plan.collective == MscclCollective::reduce_scatter;
  chunks_ = {plan.collective, plan.ranks(), (cut ? input / plan.ranks() : input) * plan.units};
  std::size_t lanes = plan.ends.size();
  for (int gpu = 0; gpu < plan.ranks(); ++gpu) {
    const PlanGpu& of = plan.gpus[static_cast<std::size_t>(gpu)];
    lanes += 2 * of.blocks.size();
    for (int c = 0; c < of.input; ++c) {
      const std::size_t first = cells_.cell(gpu, MscclBuffer::input, c);
      for (int unit = 0; unit < plan.units; ++unit) {
        Cell& cell = held_[first + static_cast<std::size_t>(unit)];
        cell.value = chunks_.given(gpu, c * plan.units + unit).value_or(held_nothing);
      }
    }
  }
  last_in_.assign(lanes, -1);
  last_out_.assign(lanes, -1);
}

template <class Text>
void PlanData::find(Text text) {
  if (findings_.size() < most_msccl_findings) findings_.push_back(text());
}

std::string PlanData::where(const PlanPlace& place) const {
  return fmt::format("gpu {}, {}", place.gpu, step_text(place));
}

/// "chunk 3 of 0+1", "chunk 3 of all"
std::string PlanData::text(const NamedValue& value) const {
  if (value == held_nothing) return "nothing";
  const int index = chunks_.index(value);
  return fmt::format(
      "chunk {}{} of {}", index / plan_.units,
      plan_.units == 1 ? "" : fmt::format(" (part {} of {})", index % plan_.units, plan_.units),
      chunks_.origins(words_, value));
}

std::optional<std::size_t> PlanData::missing_packets(int gpu, const PlanOperation& what) const {
  if (what.port && what.type == PlanType::ppkt) return std::nullopt;  // a proxy does not wait
  for (std::size_t s = 0; s < what.sources.size(); ++s) {
    if (!reads_packets(what, s)) continue;
    const PlanChunks& chunks = what.sources[s];
    const auto [first, count] = slice(chunks, what, plan_.units);
    const std::size_t start = cells_.cell(gpu, chunks.buffer, chunks.at) + first;
    for (std::size_t c = start; c < start + count; ++c) {
      if (!held_[c].packet) return c;
    }
  }
  return std::nullopt;
}

void PlanData::join_packets(const PlanPlace& place, PlanClock& clock) const {
  const PlanOperation& what = *place.what;
  if (what.port && what.type == PlanType::ppkt) return;
  const PlanClock* last = nullptr;
  for (std::size_t s = 0; s < what.sources.size(); ++s) {
    if (!reads_packets(what, s)) continue;
    const PlanChunks& chunks = what.sources[s];
    const auto [first, count] = slice(chunks, what, plan_.units);
    const std::size_t start = cells_.cell(place.gpu, chunks.buffer, chunks.at) + first;
    for (std::size_t c = start; c < start + count; ++c) {
      const PlanClock* const packet = held_[c].packet.get();
      if (packet == nullptr || packet == last) continue;
      last = packet;
      const std::int64_t sent = clock.sent;  // this lane has not sent what it read
      clock.join(*packet);
      clock.sent = sent;
    }
  }
}

PlanData::Held PlanData::combine(const PlanPlace& place, const Held& left, const Held& right) {
  const Held failed{held_unknown, std::max(left.ready, right.ready)};
  const NamedValue &a = left.value, &b = right.value;
  if (a == held_unknown || b == held_unknown) return failed;
  if (a.block != b.block || a.part != b.part) {
    find([&] { return fmt::format("{}: reduces {} with {}", where(place), text(a), text(b)); });
    return failed;
  }
  if (const auto shared = words_.shared(a.word, b.word)) {
    find([&] {
      return fmt::format("{}: reduces gpu {}'s chunk {} twice", where(place), *shared,
                         chunks_.index(a) / plan_.units);
    });
    return failed;
  }
  combinations_.push_back({place.gpu, failed.ready + 1, a, b});
  return {{words_.join(a.word, b.word), a.block, a.part}, failed.ready};
}

/// One operation while it is followed.
class PlanData::Operation {
 public:
  Operation(PlanData& data, const PlanPlace& place, std::uint32_t lane, PlanClock& clock,
            const std::shared_ptr<const PlanClock>& packet)
      : data_(data),
        place_(place),
        what_(*place.what),
        lane_(lane),
        clock_(clock),
        packet_(packet) {}

  void run() {
    using enum PlanType;
    switch (what_.type) {
      case put:
      case pws:
      case pwsf:
      case ppkt:
      case get:
        for (std::size_t i = 0; i < what_.sources.size(); ++i) add_pair({i}, {i});
        break;
      case re:
      case rre:
      case repkt:
        add_pair(all(what_.sources), {0});
        break;
      case recpkt:
        add_pair(all(what_.sources), {0, 1});
        break;
      default:
        add_pair(all(what_.sources), all(what_.targets));
    }
  }

 private:
  using Numbers = std::vector<std::size_t>;
  static Numbers all(const std::vector<PlanChunks>& chunks) {
    Numbers numbers(chunks.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    return numbers;
  }
  struct Range {
    int gpu;
    std::size_t start, count;
    bool packets;
  };
  /// The cells of operands, one GPU after the other.
  std::vector<Range> ranges(const std::vector<PlanChunks>& operands, const Numbers& numbers,
                            bool is_source) const {
    std::vector<Range> result;
    for (const std::size_t number : numbers) {
      const PlanChunks& chunks = operands[number];
      const auto [first, count] = slice(chunks, what_, data_.plan_.units);
      for (const int gpu : chunks.gpus) {
        result.push_back(
            {gpu, data_.cells_.cell(gpu, chunks.buffer, chunks.at) + first, count,
             is_source ? reads_packets(what_, number) : writes_packets(what_, number)});
      }
    }
    return result;
  }

  Held read(std::size_t cell, bool packets) {
    data_.races_.access(cell, lane_, clock_, place_, false);
    const Cell& held = data_.held_[cell];
    if (held.value == held_nothing) {
      data_.find([&] {
        return fmt::format("{}: reads {}, which nothing was written to", data_.where(place_),
                           name(cell));
      });
      return {held_unknown, held.ready};
    }
    if (packets != (held.packet != nullptr) && !(held.value == held_unknown)) {
      data_.find([&] {
        return fmt::format("{}: reads {} as {}, which holds {}", data_.where(place_), name(cell),
                           packets ? "packets" : "data", packets ? "data" : "packets");
      });
      return {held_unknown, held.ready};
    }
    return {held.value, held.ready};
  }
  std::string name(std::size_t cell) const {
    const int gpu = data_.cells_.gpu(cell);
    return gpu == place_.gpu ? data_.cells_.text(cell)
                             : fmt::format("gpu {}'s {}", gpu, data_.cells_.text(cell));
  }

  void add_pair(const Numbers& sources, const Numbers& targets) {
    const std::vector<Range> from = ranges(what_.sources, sources, true);
    const std::vector<Range> to = ranges(what_.targets, targets, false);
    const std::size_t count = from.front().count;
    std::vector<std::vector<Held>> values;
    std::int64_t ready = -1;
    for (const Range& range : from) {
      std::vector<Held>& read_values = values.emplace_back();
      std::int64_t local = -1;
      std::int64_t& latest = range.gpu == place_.gpu ? local : ready;
      for (std::size_t c = 0; c < count; ++c) {
        read_values.push_back(read(range.start + c, range.packets));
        latest = std::max(latest, read_values.back().ready);
      }
      // A packet that is read has been received.
      if (range.packets) clock_.needed = std::max(clock_.needed, latest);
    }
    receive(from, values, ready);
    const std::vector<Held> results = combined(values);
    send(to, results);
    for (const Range& range : to) {
      const std::int64_t step = range.gpu == place_.gpu ? -1 : data_.last_out_[lane_];
      for (std::size_t c = 0; c < count; ++c) write(range, c, results[c], step);
    }
  }

  /// Messages for what was read from other GPUs; all in one step.
  void receive(const std::vector<Range>& from, std::vector<std::vector<Held>>& values,
               std::int64_t ready) {
    const auto is_remote = [&](const Range& range) { return range.gpu != place_.gpu; };
    if (std::ranges::none_of(from, is_remote)) return;
    std::int64_t& last = data_.last_in_[lane_];
    last = 1 + std::max({last, ready, clock_.needed});
    clock_.needed = std::max(clock_.needed, last);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!is_remote(from[i])) continue;
      add_message(from[i].gpu, place_.gpu, last, values[i]);
      for (Held& held : values[i]) held.ready = last;
    }
  }

  void send(const std::vector<Range>& to, const std::vector<Held>& values) {
    const auto is_remote = [&](const Range& range) { return range.gpu != place_.gpu; };
    if (std::ranges::none_of(to, is_remote)) return;
    std::int64_t ready = -1;
    for (const Held& held : values) ready = std::max(ready, held.ready);
    std::int64_t& last = data_.last_out_[lane_];
    last = 1 + std::max({last, ready, clock_.needed});
    clock_.sent = std::max(clock_.sent, last);
    for (const Range& range : to) {
      if (is_remote(range)) add_message(place_.gpu, range.gpu, last, values);
    }
  }

  void add_message(int from, int to, std::int64_t step, const std::vector<Held>& values) {
    PlanMessage message{from, to, step, {}};
    for (const Held& held : values) {
      if (std::ranges::find(message.values, held.value) == message.values.end() ||
          held.value == held_unknown) {
        message.values.push_back(held.value);
      }
    }
    data_.messages_.push_back(std::move(message));
  }

  /// Packets are added up before what is not a packet.
  std::vector<Held> combined(const std::vector<std::vector<Held>>& values) {
    std::vector<Held> results = values.front();
    const bool data_last = values.size() > 1 && reads_packets(what_, 1);
    for (std::size_t c = 0; c < results.size(); ++c) {
      if (data_last) results[c] = values[1][c];
      for (std::size_t i = data_last ? 2 : 1; i < values.size(); ++i)
        results[c] = data_.combine(place_, results[c], values[i][c]);
      if (data_last) results[c] = data_.combine(place_, results[c], values[0][c]);
    }
    return results;
  }

  void write(const Range& range, std::size_t offset, const Held& result, std::int64_t step) {
    const std::size_t cell = range.start + offset;
    data_.races_.access(cell, lane_, clock_, place_, true);
    Cell& held = data_.held_[cell];
    held.value = result.value;
    held.ready = std::max(result.ready, step);
    held.packet = range.packets ? packet_ : nullptr;
    (range.packets ? held.packets : held.data) = true;
    const std::string text = data_.cells_.text(cell);
    if (!data_.plan_.in_place && text.front() == 'i' &&
        data_.written_inputs_.size() < most_msccl_findings) {
      data_.written_inputs_.push_back(
          fmt::format("{}: writes to the caller's input {}", data_.where(place_), name(cell)));
    }
  }

  PlanData& data_;
  const PlanPlace& place_;
  const PlanOperation& what_;
  std::uint32_t lane_;
  PlanClock& clock_;
  const std::shared_ptr<const PlanClock>& packet_;
};

void PlanData::follow(const PlanPlace& place, std::uint32_t lane, PlanClock& clock,
                      const std::shared_ptr<const PlanClock>& packet) {
  uses_switch_ = uses_switch_ || place.what->type == PlanType::glres ||
                 place.what->type == PlanType::gstore || place.what->type == PlanType::gstorepkt;
  Operation(*this, place, lane, clock, packet).run();
}

void PlanData::join_messages() {
  std::map<std::tuple<std::int64_t, int, int>, PlanMessage> joined;
  for (PlanMessage& message : messages_) {
    const std::tuple key(message.step, message.from, message.to);
    const auto [found, is_new] = joined.try_emplace(key, std::move(message));
    if (is_new) continue;
    std::vector<NamedValue>& values = found->second.values;
    for (const NamedValue& value : message.values) {
      if (value == held_unknown || std::ranges::find(values, value) == values.end())
        values.push_back(value);
    }
  }
  messages_.clear();
  for (auto& [key, message] : joined) messages_.push_back(std::move(message));
}

void PlanData::finish() {
  join_messages();
  bool data = false, packets = false;
  for (int gpu = 0; gpu < plan_.ranks(); ++gpu) {
    const PlanGpu& of = plan_.gpus[static_cast<std::size_t>(gpu)];
    for (int chunk = 0; chunk < of.scratch * plan_.units; ++chunk) {
      const Cell& cell =
          held_[cells_.cell(gpu, MscclBuffer::scratch, 0) + static_cast<std::size_t>(chunk)];
      data = data || cell.data;
      packets = packets || cell.packets;
    }
    for (int chunk = 0; chunk < of.output * plan_.units; ++chunk) {
      const std::size_t at =
          cells_.cell(gpu, MscclBuffer::output, 0) + static_cast<std::size_t>(chunk);
      const auto want = chunks_.wanted(gpu, chunk, words_);
      const NamedValue& held = held_[at].value;
      if (!want || held == held_unknown) continue;
      const std::string to = fmt::format(
          "o[{}]{}", chunk / plan_.units,
          plan_.units == 1 ? ""
                           : fmt::format(" (part {} of {})", chunk % plan_.units, plan_.units));
      if (held_[at].packet) {
        find([&] { return fmt::format("gpu {} ends with packets in {}, not with data", gpu, to); });
        continue;
      }
      const bool is_same = !(held == held_nothing) && held.block == want->block &&
                           held.part == want->part && words_.sorted(held.word) == want->word;
      if (is_same) continue;
      find([&] {
        return fmt::format("gpu {} ends with {} in {}, not {}", gpu, text(held), to, text(*want));
      });
    }
  }
  mixes_packets_ = data && packets;
}

}  // namespace wormcube::apps
