// What the ranks of a job called and sent, and when, as Chrome trace events or as a schedule.
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

/// While recording and while writing a trace, events beyond a limit are in a temporary file. But
/// write_trace() keeps every message with only one known end in memory, and messages() keeps all of
/// them.
///
/// A receive matches the first sent message with its source, context and tag that no earlier
/// receive has matched. So the k-th send and the k-th receive of one kind, in the order in which
/// they started, are one message.
///
/// Threads  the ranks', each for itself, until close(), which discards later events. After that:
/// the writer.
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
  /// MPI_Pcontrol: switches recording off or on from here on, or adds a mark.
  void set_on(Rank rank, bool on);
  void mark(Rank rank);

  void close();

  /// A track for each rank and a slice for each call. Inside a call's slice there is one slice for
  /// each message that it received, with an arrow from the call that sent it, and one for each
  /// access to another rank's memory, with an arrow to a short slice on that rank's track. \param
  /// other  further members of otherData: "\"a\":1"
  TraceCounts write_trace(const std::function<void(std::string_view)>& write,
                          std::string_view other);

  /// The received messages, and accesses, in steps. A message is in a later step than every message
  /// that its sender had received before the send, or its receiver before the receive was posted,
  /// or whose receive either had waited for. Messages sent or posted in between are in the same
  /// step.
  struct Messages {
    Schedule schedule;
    std::uint64_t kept = 0,
                  left_out = 0;  ///< never received, or while recording was off
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
