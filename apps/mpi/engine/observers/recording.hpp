// What the ranks of a job called and sent, and when, as Chrome's trace events or as a schedule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/event_spool.hpp"
#include "wormcube/apps/common/trace.hpp"
#include "wormcube/apps/mpi/engine/observers/observer.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::mpi {

/// While it records, and while it writes a trace, events beyond so many are in a temporary file;
/// but write_trace() keeps the messages of which it has met one end only, and messages() all.
///
/// A receive takes the message that was sent first of those of its source, context and tag that no
/// earlier receive has taken: so the k-th send and the k-th receive of one kind, in the order in
/// which they were started, are one message.
///
/// Threads  the ranks', each for itself, until close(); what comes later is not kept. Then who
/// writes.
class Recording final : public Observer {
 public:
  explicit Recording(Rank ranks, std::size_t in_memory = std::size_t{1} << 18U);
  ~Recording() override;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void enter(Rank rank, Function function) override;
  void leave(Rank rank) override;
  void sent(const SentMessage& message, std::uint64_t started, bool waits) override;
  void send_ended(const SentMessage& message, std::uint64_t started, std::uint64_t ended) override;
  void received(const SentMessage& message, std::uint64_t started, std::uint64_t ended) override;
  void accessed(const Access& access) override;
  /// MPI_Pcontrol: off or on, from here on; a mark.
  void set_on(Rank rank, bool on);
  void mark(Rank rank);

  void close();

  /// A track a rank, a slice a call; in that slice one for each message that the call received, and
  /// an arrow to it from the call that sent it; one for each access to another rank's memory, and
  /// an arrow to a short one on that rank's track. \param other  further members of otherData:
  /// "\"a\":1"
  TraceCounts write_trace(const std::function<void(std::string_view)>& write,
                          std::string_view other);

  /// The messages that were received, and accesses, in steps: a message is in a later step than
  /// those that its sender, when it sent it, and its receiver, when it asked for it, had received,
  /// or had waited for others to receive. What was sent or asked for meanwhile is in the same step.
  struct Messages {
    Schedule schedule;
    std::uint64_t kept = 0,
                  left_out = 0;  ///< left out: never received, or while MPI_Pcontrol had it off
  };
  Messages messages(const Topology& topology);

  struct Event;

 private:
  struct ByTime;
  struct ByStart;
  struct Seen {
    Function function{};
    std::int64_t begin = 0;
    bool inside = false, on = true;
  };

  std::int64_t time_of(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }
  std::int64_t now() const { return time_of(std::chrono::steady_clock::now()); }
  void slice(Event event);
  void message(Event event);

  const std::size_t in_memory_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards the rest
  bool closed_ = false, sorted_ = false;
  std::vector<Seen> seen_;  // by rank
  std::uint64_t slices_ = 0, left_out_ = 0, order_ = 0, arrows_ = 0;
  std::unique_ptr<EventSpool<ByTime>> calls_;
  std::unique_ptr<EventSpool<ByStart>> messages_;
};

}  // namespace wormcube::mpi
