// The dry run: a node that only writes down what its program asks for.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wormcube {
namespace {

/// Addresses that nobody can read or write, reserved once and kept: they cost nothing but numbers.
/// All recording nodes use the same ones, since each node's memory is its own.
Span unreadable_memory() {
  static const Span memory = [] {
    for (Bytes bytes = Bytes{1} << 36; bytes >= Bytes{1} << 30; bytes /= 2) {
      void* map =
          mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map != MAP_FAILED) return Span(static_cast<std::byte*>(map), bytes);
    }
    throw UsageError(
        "dry run: the process may not reserve 1 GiB of addresses; raise its limit (ulimit -v)");
  }();
  return memory;
}

/// Says already which node and step it is about.
struct StepError final : UsageError {
  using UsageError::UsageError;
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
  }
  std::size_t steps() const { return log_.step_ends.size(); }

 private:
  void work(Charge charge, Bytes bytes, Work /*work*/) override {
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
    if (!fits(begin, memory_.size())) {  // the top is used up: somewhere below
      std::erase_if(live_, [](const Piece& piece) { return !piece.held; });
      begin = 0;
      for (place = live_.begin(); place != live_.end() && !fits(begin, place->begin); ++place) {
        begin = end(*place);
      }
    }
    if (!fits(begin, place == live_.end() ? memory_.size() : place->begin)) {
      throw UsageError(
          fmt::format("dry run: node {} asks for {} bytes while it holds {}; a node has {} bytes",
                      rank_, bytes, held_, memory_.size()));
    }
    live_.insert(place, {begin, begin + bytes, true});
    logger::acquired(log_, bytes, purpose, held_, held_blocks_);
    return memory_.subspan(begin, bytes);
  }

  void release(Span data, Purpose purpose) noexcept override {
    logger::released(data.size(), purpose, held_, held_blocks_);
    // Last in, first out, nearly always; a piece that goes early waits for those above it.
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
};

/// What the calling thread records now, for the report of a fault.
struct Recording {
  const RecordingNode* node;
  std::string_view what;
};
thread_local const Recording* current_recording = nullptr;

/// While one of these lives, a fault in the unreadable memory ends the process with a report.
/// Faults elsewhere go where they went before.
///
/// The handler runs on the stack of the program that faults, unless the thread has one set apart:
/// that stack is not what has run out.
class FaultReports {
 public:
  FaultReports() {
    const std::lock_guard lock(mutex_);
    static_cast<void>(unreadable_memory());  // made here, not in the handler
    if (users_++ > 0) return;
    struct sigaction ours {};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &ours, &previous_);
  }
  ~FaultReports() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) sigaction(SIGSEGV, &previous_, nullptr);
  }
  FaultReports(const FaultReports&) = delete;
  FaultReports& operator=(const FaultReports&) = delete;

 private:
  static void handle(int signal, siginfo_t* info, void* context) {
    const Span memory = unreadable_memory();
    const auto* const address = static_cast<const std::byte*>(info->si_addr);
    const std::less<const std::byte*> before;
    const bool is_ours = info->si_code > 0 && !before(address, memory.data()) &&
                         before(address, memory.data() + memory.size());
    if (is_ours && current_recording != nullptr) report(*current_recording);
    if ((previous_.sa_flags & SA_SIGINFO) != 0) {
      previous_.sa_sigaction(signal, info, context);
    } else if (previous_.sa_handler != SIG_DFL && previous_.sa_handler != SIG_IGN) {
      previous_.sa_handler(signal);
    } else {
      sigaction(SIGSEGV, &previous_, nullptr);  // the same instruction faults again
    }
  }

  [[noreturn]] static void report(const Recording& recording) {
    char text[1000];
    const RecordingNode& node = *recording.node;
    const auto end = fmt::format_to_n(
        text, sizeof text,
        "{}{}node {}, step {} on {}: a node program touches its data outside local() in a dry run "
        "(record, check)\n",
        recording.what, recording.what.empty() ? "" : ": ", node.rank(), node.steps(),
        node.topology().name());
    const std::size_t bytes = std::min<std::size_t>(end.size, sizeof text);
    constexpr int usage_error = 2;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, bytes);
    _exit(usage_error);
  }

  static inline std::mutex mutex_;  // guards users_; the handler is ours only while it is above 0
  static inline int users_ = 0;
  static inline struct sigaction previous_ {};
};

/// Runs the program; what it throws after its first step, and what is not a UsageError, is told with
/// the node and the step.
void run(const Program& program, RecordingNode& node) {
  const auto where = [&](const char* text) {
    return fmt::format("node {}, step {} on {}: {}", node.rank(), node.steps(),
                       node.topology().name(), text);
  };
  try {
    program(node);
  } catch (const StepError&) {
    throw;
  } catch (const UsageError& error) {
    if (node.steps() == 0) throw;
    throw UsageError(where(error.what()));
  } catch (const std::exception& error) {
    std::throw_with_nested(NodeFailure(where(error.what())));
  } catch (...) {
    std::throw_with_nested(NodeFailure(where("unknown exception")));
  }
}

}  // namespace

Schedule record(const Topology& topology, const Program& program, std::string_view what) {
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  Schedule schedule{topology, std::vector<RankLog>(nodes)};
  const FaultReports faults;
  parallel_for_each_index(nodes, [&](std::size_t rank) {
    RankLog& log = schedule.ranks[rank];
    RecordingNode node(schedule.topology, static_cast<Rank>(rank), log);
    const Recording recording{&node, what};
    // A program may record another.
    const Recording* const outer = std::exchange(current_recording, &recording);
    try {
      run(program, node);
    } catch (...) {
      current_recording = outer;
      throw;
    }
    current_recording = outer;
    log.ops.shrink_to_fit();
    log.moves.shrink_to_fit();
  });
  return schedule;
}

}  // namespace wormcube
