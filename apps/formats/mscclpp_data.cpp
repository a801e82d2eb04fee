// Follows the chunks of an MSCCL++ plan through one run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp_data.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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

ChunkPlace chunk_place(const PlanPlace& place) {
  return {place.gpu, place.block, place.what->step, place.what->inner, to_string(place.what->type)};
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

namespace {

ChunkLayout layout_of(const MscclppPlan& plan) {
  const int input = plan.gpus.front().input;
  const bool cut = plan.collective == MscclCollective::alltoall ||
                   plan.collective == MscclCollective::reduce_scatter;
  ChunkLayout layout{.collective = plan.collective,
                     .in_place = plan.in_place,
                     .parts = (cut ? input / plan.ranks() : input) * plan.units,
                     .units = plan.units};
  if (!plan.name.empty()) layout.about = "MSCCL++: " + plan.name;
  for (const PlanGpu& gpu : plan.gpus) layout.gpus.push_back({gpu.input, gpu.output, gpu.scratch});
  return layout;
}

}  // namespace

void PlanClock::join(const PlanClock& other) {
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], other.times[i]);
  needed = std::max(needed, other.needed);
  sent = std::max(sent, other.sent);
}

std::string step_text(const PlanPlace& place) {
  return ChunkMachine::place_text(chunk_place(place), "");
}

PlanData::PlanData(const MscclppPlan& plan) : plan_(plan), machine_(layout_of(plan)) {
  std::size_t lanes = plan.ends.size();
  for (const PlanGpu& gpu : plan.gpus) lanes += 2 * gpu.blocks.size();
  last_in_.assign(lanes, -1);
  last_out_.assign(lanes, -1);
}

std::optional<std::size_t> PlanData::missing_packets(int gpu, const PlanOperation& what) const {
  if (what.port && what.type == PlanType::ppkt) return std::nullopt;  // a proxy does not wait
  for (std::size_t s = 0; s < what.sources.size(); ++s) {
    if (!reads_packets(what, s)) continue;
    const PlanChunks& chunks = what.sources[s];
    const auto [first, count] = slice(chunks, what, plan_.units);
    const std::size_t start = machine_.cells().cell(gpu, chunks.buffer, chunks.at) + first;
    for (std::size_t c = start; c < start + count; ++c) {
      if (!machine_[c].packet) return c;
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
    const std::size_t start = machine_.cells().cell(place.gpu, chunks.buffer, chunks.at) + first;
    for (std::size_t c = start; c < start + count; ++c) {
      const auto* const packet = static_cast<const PlanClock*>(machine_[c].packet.get());
      if (packet == nullptr || packet == last) continue;
      last = packet;
      const std::int64_t sent = clock.sent;  // this lane has not sent what it read
      clock.join(*packet);
      clock.sent = sent;
    }
  }
}

/// One operation while it is followed.
class PlanData::Operation {
 public:
  Operation(PlanData& data, const PlanPlace& place, std::uint32_t lane, PlanClock& clock,
            const std::shared_ptr<const PlanClock>& packet)
      : data_(data),
        machine_(data.machine_),
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
            {gpu, machine_.cells().cell(gpu, chunks.buffer, chunks.at) + first, count,
             is_source ? reads_packets(what_, number) : writes_packets(what_, number)});
      }
    }
    return result;
  }

  using Held = ChunkMachine::Held;

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
        machine_.access(range.start + c, false);
        read_values.push_back(machine_.read(range.start + c, range.packets));
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
    ChunkMachine::Message message{from, to, 0, step, 0, 0, 0, {}};
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
        results[c] = machine_.combine(results[c], values[i][c]);
      if (data_last) results[c] = machine_.combine(results[c], values[0][c]);
    }
    return results;
  }

  void write(const Range& range, std::size_t offset, const Held& result, std::int64_t step) {
    const std::size_t cell = range.start + offset;
    machine_.access(cell, true);
    machine_.write(cell, {result.value, std::max(result.ready, step)},
                   range.packets ? packet_ : nullptr);
  }

  PlanData& data_;
  ChunkMachine& machine_;
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
  machine_.begin(chunk_place(place), lane, clock.times);
  Operation(*this, place, lane, clock, packet).run();
}

void PlanData::join_messages() {
  std::map<std::tuple<std::int64_t, int, int>, ChunkMachine::Message> joined;
  for (ChunkMachine::Message& message : messages_) {
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
  for (auto& [key, message] : joined) {
    message.sent = message.received = static_cast<std::int64_t>(messages_.size());
    message.bytes = message.values.size();
    messages_.push_back(std::move(message));
  }
}

void PlanData::finish() {
  join_messages();
  machine_.finish();
  bool data = false, packets = false;
  for (int gpu = 0; gpu < plan_.ranks(); ++gpu) {
    const int pieces = plan_.gpus[static_cast<std::size_t>(gpu)].scratch;
    const std::size_t chunks =
        static_cast<std::size_t>(pieces) * static_cast<std::size_t>(plan_.units);
    const std::size_t first = machine_.cells().cell(gpu, MscclBuffer::scratch, 0);
    for (std::size_t c = first; c < first + chunks; ++c) {
      data = data || machine_[c].data;
      packets = packets || machine_[c].packets;
    }
  }
  mixes_packets_ = data && packets;
}

NamedSchedule PlanData::lay(bool named) const {
  return machine_.lay(messages_, machine_.combinations(), named);
}

}  // namespace wormcube::apps
