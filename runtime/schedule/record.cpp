// The dry run: a node that only records what its program requests.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

namespace wormcube {
namespace {

/// Addresses that cannot be read or written, reserved once and kept: they cost no memory. If
/// addresses are limited (ulimit -v), a quarter of them: the real run needs the rest. All recording
/// nodes use the same ones, since each node's memory is its own.
Span unreadable_memory() {
  static const Span memory = [] {
    constexpr Bytes least = Bytes{1} << 26;
    const Bytes limit = MemorySources::of_this_process().address_space.value_or(Bytes{1} << 38);
    for (Bytes bytes = std::min(Bytes{1} << 36, std::bit_floor(limit / 4)); bytes >= least;
         bytes /= 2) {
      void* map =
          mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map != MAP_FAILED) return Span(static_cast<std::byte*>(map), bytes);
    }
    throw UsageError(
        fmt::format("dry run: the process cannot reserve {} MiB of address space, a quarter of its "
                    "limit; raise the limit (ulimit -v)",
                    least >> 20));
  }();
  return memory;
}

/// An exception that already names its node and step.
struct StepError final : ProgramError {
  using ProgramError::ProgramError;
};

class RecordingNode final : public Node {
 public:
  RecordingNode(const Topology& topology, Rank rank, RankLog& log)
      : topology_(topology), rank_(rank), log_(log) {
    logger::start(log_);
  }

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return topology_; }

  using Node::step;
  void step(std::span<const Op> ops) override {
    try {
      rules_.require(topology_, rank_, steps(), ops);
    } catch (const UsageError& error) {
      throw StepError(error.what());
    }
    logger::step(log_, topology_, rank_, ops);
    for (const Op& op : ops) pieces_ += op.pieces().size();
    DryRunLimit::require();
    const std::size_t most =
        (std::size_t{1} << 24) + 64 * static_cast<std::size_t>(topology_.nodes());
    if (steps() <= most) return;
    throw StepError(
        fmt::format("node {} on {}: more than {} steps in a dry run; does the program terminate?",
                    rank_, topology_.name(), most));
  }
  std::size_t steps() const { return log_.step_ends.size(); }
  void phase(std::string_view name) override { phases_.push_back({std::string(name), steps(), 0}); }
  void computes(double operations, double bytes) override {
    if (computed_.empty() || computed_.back().step != steps()) computed_.push_back({steps(), 0, 0});
    computed_.back().operations += operations;
    computed_.back().bytes += bytes;
  }
  std::uint64_t pieces() const { return pieces_; }
  std::vector<Computed> take_computed() { return std::move(computed_); }
  /// The named phases, each until the next one; phases without a step are left out.
  std::vector<Phase> take_phases() {
    std::size_t end = steps();
    for (auto phase = phases_.rbegin(); phase != phases_.rend(); ++phase) {
      phase->last = std::exchange(end, phase->first);
    }
    std::erase_if(phases_, [](Phase& phase) { return phase.first == phase.last--; });
    return std::move(phases_);
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef /*work*/) override {
    logger::charged(log_, charge, bytes);
  }
  PlanCache& plans() override { return plans_; }

  Span acquire(Bytes bytes, Purpose purpose) override {
    if (bytes == 0) return {};
    constexpr Bytes alignment = 64;
    const auto end = [](const Piece& piece) {
      return (piece.end + alignment - 1) / alignment * alignment;
    };
    const auto fits = [&](Bytes begin, Bytes limit) {
      return begin <= limit && bytes <= limit - begin;
    };
    auto place = live_.end();
    Bytes begin = live_.empty() ? 0 : end(live_.back());
    if (!fits(begin, memory_.size())) {  // the top is used up: search below
      std::erase_if(live_, [](const Piece& piece) { return !piece.held; });
      begin = 0;
      for (place = live_.begin(); place != live_.end() && !fits(begin, place->begin); ++place) {
        begin = end(*place);
      }
    }
    if (!fits(begin, place == live_.end() ? memory_.size() : place->begin)) {
      throw UsageError(fmt::format(
          "dry run: node {} asks for {} bytes while it holds {}; a node has {} bytes, {}", rank_,
          bytes, held_, memory_.size(),
          memory_.size() < Bytes{1} << 36
              ? "because of the process's address-space limit (ulimit -v)"
              : "the limit of dry runs; use smaller blocks or fewer nodes"));
    }
    live_.insert(place, {begin, begin + bytes, true});
    logger::acquired(log_, bytes, purpose, held_, held_blocks_);
    return memory_.subspan(begin, bytes);
  }

  void release(Span data, Purpose purpose) noexcept override {
    logger::released(data.size(), purpose, held_, held_blocks_);
    // Last in, first out, nearly always; a piece that is freed early waits for those above it.
    const auto begin = static_cast<Bytes>(data.data() - memory_.data());
    const auto piece = std::find_if(live_.rbegin(), live_.rend(),
                                    [&](const Piece& p) { return p.begin == begin; });
    WORMCUBE_ASSERT(piece != live_.rend());
    piece->held = false;
    while (!live_.empty() && !live_.back().held) live_.pop_back();
  }

  struct Piece {
    Bytes begin, end;
    bool held;
  };

  const Topology& topology_;
  Rank rank_;
  RankLog& log_;
  StepRules rules_;
  PlanCache plans_;
  Span memory_ = unreadable_memory();
  std::vector<Piece> live_;  // ascending; the last one is held
  Bytes held_ = 0, held_blocks_ = 0;
  std::vector<Phase> phases_;
  std::vector<Computed> computed_;
  std::uint64_t pieces_ = 0;
};

/// The phases of all ranks as one list: the n-th use of a name is one phase for all ranks, from the
/// first step that any of them gives it to the last.
class NamedSteps {
 public:
  void add(const std::vector<Phase>& phases) {
    if (phases.empty()) return;
    const std::lock_guard lock(mutex_);
    std::map<std::string_view, int> seen;
    for (const Phase& phase : phases) {
      const auto [entry, is_new] =
          all_.try_emplace(std::pair(phase.name, seen[phase.name]++), phase.first, phase.last);
      auto& [first, last] = entry->second;
      first = std::min(first, phase.first), last = std::max(last, phase.last);
    }
  }
  std::vector<Phase> take() {
    std::vector<Phase> phases;
    for (const auto& [key, steps] : all_) phases.push_back({key.first, steps.first, steps.second});
    std::ranges::stable_sort(phases, {},
                             [](const Phase& phase) { return std::pair(phase.first, phase.last); });
    return phases;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::pair<std::size_t, std::size_t>> all_;
};

/// What the calling thread records now, for the report of a fault.
struct Recording {
  const RecordingNode* node;
  std::string_view what;
};
thread_local const Recording* current_recording = nullptr;

/// The report of a fault in the program that the calling thread records, if it is one of these:
/// data touched outside local(), a stack overflow.
std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) {
  if (current_recording == nullptr) return 0;
  const auto& [node, what] = *current_recording;
  const Span memory = unreadable_memory();
  const std::less<const std::byte*> before;
  const bool data = address && !before(*address, memory.data()) &&
                    before(*address, memory.data() + memory.size());
  if (address && !data && !Fiber::is_below_stack(*address)) return 0;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "{}{}node {}, step {} on {}: {}",
      what.empty() ? Activity::prefix() : what, what.empty() ? "" : ": ", node->rank(),
      node->steps(), node->topology().name(),
      data      ? "a node program touches its data outside local() in a dry run (record, check)"
      : address ? "a node program has used up its stack in a dry run (too deep a recursion, or too "
                  "large a local array?)"
                : "");
  return std::min<std::size_t>(end.size, text.size());
}

/// Runs the program. An exception after its first step, or one that is not a UsageError, gets the
/// node and the step in front.
void run(const Program& program, RecordingNode& node) {
  const auto where = [&](const char* text) {
    return fmt::format("node {}, step {} on {}: {}", node.rank(), node.steps(),
                       node.topology().name(), text);
  };
  try {
    program(node);
  } catch (const StepError&) {
    throw;
  } catch (const TimeLimit&) {
    throw;
  } catch (const UsageError& error) {
    if (node.steps() == 0) throw;
    throw ProgramError(where(error.what()));
  } catch (const std::exception& error) {
    std::throw_with_nested(NodeFailure(where(error.what())));
  } catch (...) {
    std::throw_with_nested(NodeFailure(where("unknown exception type")));
  }
}

}  // namespace

Schedule record(const Topology& topology, const Program& program, std::string_view what) {
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  Schedule schedule{topology, std::vector<RankLog>(nodes)};
  static_cast<void>(unreadable_memory());  // created here, not in a signal handler
  const FaultReports faults(explain);
  NamedSteps named;
  schedule.computed.resize(nodes);
  schedule.pieces.resize(nodes);
  // A log grows in memory that the thread has from its last one, then is copied. A nested dry run,
  // or one that a waiting thread takes over, finds none.
  EachThread<RankLog> spare;
  LongLoop loop("dry run", nodes);
  parallel_for_each_index(nodes, [&](std::size_t rank) {
    keep_signal_stack();
    RankLog& kept = spare.local();
    RankLog log = std::exchange(kept, {});
    RecordingNode node(schedule.topology, static_cast<Rank>(rank), log);
    const Recording recording{&node, what};
    // A program may record another one.
    const Recording* const outer = std::exchange(current_recording, &recording);
    try {
      run(program, node);
    } catch (...) {
      current_recording = outer;
      throw;
    }
    current_recording = outer;
    named.add(node.take_phases());
    schedule.computed[rank] = node.take_computed();
    schedule.pieces[rank] = node.pieces();
    schedule.ranks[rank] = log;  // copied: of the size that it has
    kept = std::move(log);       // the node has nothing to say any more
    loop.step();
  });
  schedule.phases = named.take();
  if (std::ranges::all_of(schedule.computed, &std::vector<Computed>::empty)) {
    schedule.computed.clear();
  }
  return schedule;
}

}  // namespace wormcube
