// Judges an MSCCL algorithm: hangs, messages left over, data flow, races.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl_data.hpp"
#include "wormcube/apps/formats/msccl_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// The lists of who reads and writes a chunk, and when.
class MscclRaces {
 public:
  MscclRaces(const MscclRun& run, const MscclCells& cells)
      : run_(run),
        cells_(cells),
        accesses_(cells.size()),
        clocks_(run.blocks.size(), Clock(run.blocks.size())),
        of_events_(run.events.size()) {
    for (std::size_t e = 0; e < run.events.size(); ++e) {
      const MscclEvent& event = run.events[e];
      const MscclStep& step = run.blocks[event.block].content->steps[event.step];
      Clock& clock = clocks_[event.block];
      if (event.after >= 0) join(clock, of_events_[static_cast<std::size_t>(event.after)]);
      if (event.received >= 0) {
        const auto sent = run.messages[static_cast<std::size_t>(event.received)].sent;
        join(clock, of_events_[static_cast<std::size_t>(sent)]);
      }
      clock[event.block] = event.step + 1;
      const int gpu = run.blocks[event.block].gpu;
      if (step.reads()) {
        for (int i = 0; i < step.count; ++i)
          access(cells.cell(gpu, step.source, step.source_at + i), event, false);
      }
      if (step.type == MscclType::re || step.writes()) {
        for (int i = 0; i < step.count; ++i)
          access(cells.cell(gpu, step.target, step.target_at + i), event, true);
      }
      if (step.flagged || event.sent >= 0) of_events_[e] = clock;
    }
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const auto& [key, race] : races_) {
      if (texts.size() == most_msccl_findings) break;
      const auto& [first, second] = race;
      texts.push_back(fmt::format("gpu {}, {}: {}, {}, and nothing orders them",
                                  cells_.gpu(std::get<0>(key)), cells_.text(std::get<0>(key)),
                                  text(first), text(second)));
    }
    return texts;
  }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Access {
    std::uint32_t block, step;
    bool writes;
  };

  static void join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  void access(std::size_t cell, const MscclEvent& event, bool writes) {
    std::vector<Access>& all = accesses_[cell];
    const Clock& clock = clocks_[event.block];
    const Access own{event.block, event.step, writes};
    for (const Access& other : all) {
      if (other.block == event.block || !(other.writes || writes)) continue;
      if (clock[other.block] > other.step) continue;
      const bool is_first = other.block < own.block;
      const Access& first = is_first ? other : own;
      const Access& second = is_first ? own : other;
      constexpr std::size_t most_kept = 1000;
      races_.try_emplace({cell, first.block, first.step, second.block, second.step},
                         std::pair(first, second));
      if (races_.size() > most_kept) races_.erase(std::prev(races_.end()));
    }
    // A step that reads and writes a chunk writes it.
    if (!all.empty() && all.back().block == own.block && all.back().step == own.step) {
      all.back().writes = all.back().writes || writes;
    } else {
      all.push_back(own);
    }
  }

  std::string text(const Access& access) const {
    const MscclPlace& place = run_.blocks[access.block];
    return fmt::format("tb {} step {} ({}) {}", place.block, access.step,
                       to_string(place.content->steps[access.step].type),
                       access.writes ? "writes" : "reads");
  }

  const MscclRun& run_;
  const MscclCells& cells_;
  std::vector<std::vector<Access>> accesses_;
  std::vector<Clock> clocks_, of_events_;
  using Key = std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::pair<Access, Access>> races_;
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
    const auto stuck = stuck_with_fifos(algorithm, is_simple ? 2 : 8, carried);
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
  const MscclCells cells(algorithm, in_place);
  MscclData data(algorithm, run, cells);
  const auto add = [&](std::vector<std::string> texts) {
    for (std::string& text : texts) {
      if (verdict.findings.size() < most_msccl_findings) verdict.findings.push_back(mode + text);
    }
  };
  add(data.findings());
  const bool is_right = data.findings().empty();
  add(MscclRaces(run, cells).texts());
  if (!in_place) add(data.written_inputs());
  if (!verdict.schedule && is_right && verdict.findings.empty())
    verdict.schedule = lay_msccl(algorithm, run, &data);
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
  verdict.schedule = lay_msccl(algorithm, run, nullptr);
  if (!verdict.schedule) {
    verdict.no_schedule =
        "its thread blocks wait for each other in a ring that only FIFOs resolve: it cannot be "
        "laid into steps";
  }
  return verdict;
}

}  // namespace wormcube::apps
