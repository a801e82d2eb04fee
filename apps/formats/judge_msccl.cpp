// Judges an MSCCL algorithm: hangs, messages left over, data flow, races.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chunk_machine.hpp"
#include "wormcube/apps/formats/msccl_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// The least step of each message that its two thread blocks allow; and for each event the last
/// step that it needs.
class MscclLayout {
 public:
  explicit MscclLayout(const MscclRun& run)
      : run_(run), steps_(run.messages.size(), -1), needed_(run.events.size(), -1) {}

  /// False if only the FIFOs order its thread blocks.
  bool find() {
    const auto most = static_cast<std::int64_t>(run_.messages.size());
    while (pass()) {
      if (std::ranges::any_of(steps_, [&](std::int64_t step) { return step >= most; }))
        return false;
    }
    return true;
  }
  std::int64_t step(std::size_t message) const { return steps_[message]; }
  std::int64_t needed(std::size_t event) const { return needed_[event]; }

 private:
  struct Last {
    std::int64_t needed = -1, sent = -1, received = -1;
  };

  bool pass() {
    bool changed = false;
    std::vector<Last> last(run_.blocks.size());
    const auto raise = [&](std::int64_t message, std::int64_t least) {
      std::int64_t& step = steps_[static_cast<std::size_t>(message)];
      changed = changed || least > step;
      step = std::max(step, least);
      return step;
    };
    for (std::size_t e = 0; e < run_.events.size(); ++e) {
      const MscclEvent& event = run_.events[e];
      Last& here = last[event.block];
      if (event.after >= 0)
        here.needed = std::max(here.needed, needed_[static_cast<std::size_t>(event.after)]);
      if (event.received >= 0) {
        here.received = raise(event.received, 1 + std::max(here.needed, here.received));
        here.needed = std::max(here.needed, here.received);
      }
      if (event.sent >= 0) here.sent = raise(event.sent, 1 + std::max(here.needed, here.sent));
      needed_[e] = here.needed;
    }
    return changed;
  }

  const MscclRun& run_;
  std::vector<std::int64_t> steps_, needed_;
};

/// The data flow of one run: contents of messages.
class MscclData {
 public:
  MscclData(const MscclAlgorithm& algorithm, const MscclRun& run, bool in_place)
      : run_(run),
        machine_(layout(algorithm, in_place)),
        contents_(run.messages.size()),
        clocks_(run.blocks.size(), LaneTimes(run.blocks.size())),
        of_events_(run.events.size()) {
    for (std::size_t event = 0; event < run.events.size(); ++event) follow(event);
    machine_.finish();
  }

  const ChunkMachine& machine() const { return machine_; }

  /// In text 2; nothing if only FIFOs order its thread blocks.
  std::optional<NamedSchedule> lay(bool named) const {
    MscclLayout steps(run_);
    if (!steps.find()) return std::nullopt;
    std::vector<ChunkMachine::Message> messages;
    for (std::size_t m = 0; m < run_.messages.size(); ++m) {
      const MscclMessage& message = run_.messages[m];
      messages.push_back({message.from,
                          message.to,
                          message.channel,
                          steps.step(m),
                          message.sent,
                          message.received,
                          message.count,
                          {}});
      for (const Held& held : contents_[m]) messages.back().values.push_back(held.value);
    }
    std::vector<ChunkCombination> combinations = machine_.combinations();
    for (ChunkCombination& each : combinations) each.gap = steps.needed(each.operation) + 1;
    return machine_.lay(messages, std::move(combinations), named);
  }

 private:
  using Held = ChunkMachine::Held;

  static ChunkLayout layout(const MscclAlgorithm& algorithm, bool in_place) {
    ChunkLayout layout{.collective = algorithm.collective,
                       .in_place = in_place,
                       .parts = algorithm.parts(),
                       .block_end = ",",
                       .keeps_accesses = true};
    if (!algorithm.name.empty()) layout.about = "MSCCL: " + algorithm.name;
    for (const MscclGpu& gpu : algorithm.gpus) {
      layout.gpus.push_back({algorithm.size(gpu, MscclBuffer::input),
                             algorithm.size(gpu, MscclBuffer::output), gpu.scratch});
    }
    return layout;
  }

  /// What the thread block of an event has seen, the event included.
  const LaneTimes& see(std::size_t number) {
    const MscclEvent& event = run_.events[number];
    LaneTimes& clock = clocks_[event.block];
    const auto join = [&](std::int64_t other) {
      const LaneTimes& times = of_events_[static_cast<std::size_t>(other)];
      for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], times[i]);
    };
    if (event.after >= 0) join(event.after);
    if (event.received >= 0) join(run_.messages[static_cast<std::size_t>(event.received)].sent);
    clock[event.block] = event.step + 1;
    const bool is_awaited = run_.blocks[event.block].content->steps[event.step].flagged;
    if (is_awaited || event.sent >= 0) of_events_[number] = clock;
    return clock;
  }

  void follow(std::size_t number) {
    const MscclEvent& event = run_.events[number];
    const MscclPlace& place = run_.blocks[event.block];
    const MscclStep& step = place.content->steps[event.step];
    machine_.begin({.gpu = place.gpu,
                    .block = place.block,
                    .step = static_cast<int>(event.step),
                    .type = to_string(step.type)},
                   event.block, see(number));
    if (step.type == MscclType::nop) return;
    const auto count = static_cast<std::size_t>(step.count);
    const auto cell = [&](MscclBuffer buffer, int first, std::size_t i) {
      return machine_.cells().cell(place.gpu, buffer, first + static_cast<int>(i));
    };
    for (std::size_t i = 0; step.reads() && i < count; ++i)
      machine_.access(cell(step.source, step.source_at, i), false);
    for (std::size_t i = 0; step.writes() && i < count; ++i)
      machine_.access(cell(step.target, step.target_at, i), true);
    std::vector<Held> received, values;
    if (event.received >= 0) {
      received = contents_[static_cast<std::size_t>(event.received)];
      if (received.size() != count) {
        machine_.find([&] {
          return fmt::format("receives {} chunks, and gpu {} sends {} on channel {}", count,
                             place.content->receive, received.size(), place.content->channel);
        });
        received.resize(count, Held{held_unknown});
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto source = [&] { return machine_.read(cell(step.source, step.source_at, i)); };
      if (step.type == MscclType::re) {
        const Held left = machine_.read(cell(step.target, step.target_at, i));
        values.push_back(machine_.combine(left, source()));
      } else if (step.combines()) {
        values.push_back(machine_.combine(source(), received[i]));
      } else {
        values.push_back(step.reads() ? source() : received[i]);
      }
    }
    for (std::size_t i = 0; step.writes() && i < count; ++i)
      machine_.write(cell(step.target, step.target_at, i), values[i]);
    if (event.sent >= 0) contents_[static_cast<std::size_t>(event.sent)] = std::move(values);
  }

  const MscclRun& run_;
  ChunkMachine machine_;
  std::vector<std::vector<Held>> contents_;  // of messages
  std::vector<LaneTimes> clocks_, of_events_;
};

/// The first messages that nobody receives.
void find_left_over(const MscclRun& run, std::vector<std::string>& findings) {
  std::map<std::tuple<int, int, int>, std::uint64_t> left;
  for (const MscclMessage& message : run.messages) {
    if (message.received < 0) left[{message.from, message.to, message.channel}] += message.count;
  }
  for (const auto& [key, count] : left) {
    const auto& [from, to, channel] = key;
    findings.push_back(
        fmt::format("gpu {} sends {} chunk{} to {} on channel {} that are never received", from,
                    count, count == 1 ? "" : "s", to, channel));
  }
}

/// The least bytes with which it gets stuck because FIFOs are full, and where.
void find_full_fifos(const MscclAlgorithm& algorithm, MscclVerdict& verdict) {
  const bool is_simple = algorithm.protocol == "Simple";
  const std::uint64_t fifo = is_simple ? 2097152 : algorithm.protocol == "LL" ? 32768 : 576000;
  constexpr int most_chunks = 71;
  const auto chunks = static_cast<std::uint64_t>(algorithm.chunks);
  std::array<bool, most_chunks + 1> counts{};
  for (const MscclGpu& gpu : algorithm.gpus) {
    for (const MscclThreadBlock& block : gpu.blocks) {
      for (const MscclStep& step : block.steps) counts[static_cast<std::size_t>(step.count)] = true;
    }
  }
  std::vector<int> before;  // operations of each count in use
  for (int carried = most_chunks; carried >= 1; --carried) {
    std::vector<int> operations;
    for (int count = 1; count <= most_chunks; ++count) {
      if (counts[static_cast<std::size_t>(count)])
        operations.push_back((count + carried - 1) / carried);
    }
    if (operations == before) continue;
    before = std::move(operations);
    const auto stuck = run_msccl(algorithm, {is_simple ? 2U : 8U, carried}).stuck;
    if (!stuck) continue;
    verdict.hangs_from = carried == most_chunks
                             ? 1
                             : chunks * (fifo / (static_cast<std::uint64_t>(carried) + 1)) + 1;
    constexpr std::uint64_t default_most = std::uint64_t{128} << 20;
    const std::uint64_t most = algorithm.most_bytes == 0 ? default_most : algorithm.most_bytes;
    std::string text = fmt::format("with {} bytes or more it {}: its FIFO is full or empty",
                                   *verdict.hangs_from, *stuck);
    (*verdict.hangs_from <= most ? verdict.findings : verdict.notes).push_back(std::move(text));
    return;
  }
}

void find_in_mode(const MscclAlgorithm& algorithm, const MscclRun& run, bool in_place,
                  const std::string& mode, MscclVerdict& verdict) {
  const MscclData data(algorithm, run, in_place);
  const ChunkMachine& machine = data.machine();
  for (const auto& texts : {machine.findings(), machine.races(), machine.written_inputs()}) {
    for (const std::string& text : texts) {
      if (verdict.findings.size() < most_msccl_findings) verdict.findings.push_back(mode + text);
    }
  }
  if (!verdict.schedule && verdict.findings.empty()) verdict.schedule = data.lay(true);
}

}  // namespace

MscclVerdict judge_msccl(const MscclAlgorithm& algorithm) {
  MscclVerdict verdict;
  verdict.notes = algorithm.notes;
  verdict.in_place = algorithm.in_place, verdict.out_of_place = algorithm.out_of_place;
  const MscclRun run = run_msccl(algorithm);
  verdict.messages = run.messages.size();
  for (const MscclMessage& message : run.messages) verdict.chunks_sent += message.count;
  if (run.stuck) {
    verdict.findings.push_back(*run.stuck);
    verdict.no_schedule = "it hangs";
    return verdict;
  }
  find_left_over(run, verdict.findings);
  if (!verdict.findings.empty()) {
    verdict.no_schedule = "messages are left over";
    return verdict;
  }
  find_full_fifos(algorithm, verdict);
  const bool both = algorithm.in_place && algorithm.out_of_place;
  const bool judged = algorithm.collective != MscclCollective::custom;
  if (judged && algorithm.in_place)
    find_in_mode(algorithm, run, true, both ? "in place: " : "", verdict);
  if (judged && algorithm.out_of_place)
    find_in_mode(algorithm, run, false, both ? "out of place: " : "", verdict);
  verdict.proved = judged && verdict.findings.empty();
  if (verdict.schedule) return verdict;
  verdict.no_schedule =
      judged ? "it is not right" : "a custom collective, whose correct result is unknown";
  verdict.schedule = MscclData(algorithm, run, false).lay(false);
  if (!verdict.schedule) {
    verdict.no_schedule =
        "its thread blocks wait for each other in a ring that only FIFOs resolve: it cannot be "
        "laid into steps";
  }
  return verdict;
}

}  // namespace wormcube::apps
