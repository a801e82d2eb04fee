// A job: the ranks of one program, and how it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/communicator.hpp"
#include "wormcube/apps/mpi/engine/core/rank.hpp"
#include "wormcube/apps/mpi/engine/observers/model_clock.hpp"
#include "wormcube/apps/mpi/image/images.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <unistd.h>

namespace wormcube::mpi {

/// How a job ended.
struct JobEnd {
  int code = 0;           ///< of the process
  std::string text = {};  ///< why it ended before its ranks did; empty: they all ended
};

/// The reported figures of a communicator, or of several with one name and size.
struct CommunicatorFigures {
  std::string name;
  Rank ranks = 0;
  bool is_network = false;      ///< the whole network; otherwise a complete network of its members
  std::uint64_t made = 0;       ///< how many there were
  std::vector<Choice> choices;  ///< those that were used
  struct Grid {
    std::string sides;  ///< "8x8"
    GridHops hops;      ///< of the first of these communicators
  };
  std::optional<Grid> grid;
};

struct JobOptions {
  Rank ranks = 1;
  /// Standard sends of up to MessagingOptions::unexpected_limit need no receive.
  bool eager = true;
  /// The algorithms that the user selected, by operation.
  std::map<std::string, Collective> algorithms = {};
  bool by_work =
      false;  ///< for others: pick the least work on this computer, else the lowest modelled time
  CostModel costs = {};  ///< of that time
  bool matrix = false;   ///< count what each rank sends to each other rank
  bool timing = false;   ///< how long ranks spend in MPI functions
  bool record = false;   ///< what they call and send: recording()
  /// Modelled time in place of this computer's: clock().
  struct Clock {
    ModelClock::Kind kind = ModelClock::Kind::model;
    MachineModel model = {};
    double own_work = 1;
  };
  std::optional<Clock> clock = {};
  Bytes most_unexpected = 0;  ///< MessagingOptions::unexpected_limit
  /// Sees the run beside the recording and the clock; null: none.
  Observer* observer = nullptr;
  /// What each rank runs instead of its main().
  std::function<int(RankState& rank)> program = {};
  bool strict =
      false;  ///< compare the types at both ends of a message; Rsend needs a posted receive
};

/// Threads  end: any, only the first counts. wait_for_end: the one that runs the job. The rest: the
/// ranks, each for itself, and shared communicators under their locks.
/// Invariants  whoever ends the job from within a rank never returns: the frames below are the
///             user's, and nothing of ours is thrown through them. The process ends with the job,
///             so nothing has to be unwound.
class Job final : public CommunicatorHost {
 public:
  Job(const Topology& topology, const Images& images, const JobOptions& options,
      std::vector<std::string> arguments);
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// A node's program: runs the rank with its number, if there is one.
  void run_rank(Node& node);

  /// Ends the job: no rank continues after its next call.
  void end(int code, std::string text) noexcept;
  /// The same from within a rank, which then never returns.
  [[noreturn]] void end_here(int code, std::string text) noexcept;
  /// Whether this is a process that a rank has forked: it has only that rank's memory and thread.
  bool is_forked() const noexcept;
  /// Ends such a process. \param with_handlers  runs the program's exit handlers first
  [[noreturn]] void end_forked(RankState& rank, int code, bool with_handlers) noexcept;
  /// Waits until it has ended or this time has passed (0: no limit); false in the latter case.
  bool wait_for_end(std::chrono::milliseconds limit);
  /// All ranks have ended by themselves.
  void all_ended();
  JobEnd ended() const;

  /// MessagingOptions::on_wrong_message; ends the job.
  void wrong_message(const WrongMessage& message) noexcept;
  /// MessagingOptions::on_failure; ends the job.
  void failed(const std::exception_ptr& error) noexcept;

  const Topology& topology() const { return topology_; }
  const JobOptions& options() const { return options_; }
  const Images& images() const { return images_; }
  Rank ranks() const override { return options_.ranks; }
  const std::map<std::string, Collective>& algorithms() const override {
    return options_.algorithms;
  }
  bool by_work() const override { return options_.by_work; }
  const CostModel& costs() const override { return options_.costs; }
  RankState& rank(Rank rank) { return *states_[static_cast<std::size_t>(rank)]; }
  const RankState& rank(Rank rank) const { return *states_[static_cast<std::size_t>(rank)]; }
  /// "ring.c:41", "ring+0x11d9", or nothing.
  std::string place(const void* address) const;

  std::uint32_t take_id() override;
  void give_back_id(std::uint32_t id) noexcept override;
  /// Both groups of an intercommunicator; the first rank that calls makes them, and all ranks call.
  /// \param key  unique among those in progress
  struct Pair {
    std::shared_ptr<SharedCommunicator> lower,
        upper;  ///< lower: the group whose rank 0 has the lower rank in the world
  };
  using PairKey = std::tuple<std::uint32_t, std::uint64_t, int>;
  Pair pair(const PairKey& key, const std::vector<Rank>& one, const std::vector<Rank>& other,
            const std::string& name);
  /// The number for a tag in words.
  int number_of_tag(const std::string& tag);
  /// Where the two requests of a partitioned message meet: context, source and destination in the
  /// world, tag, and its number among these.
  using MeetingKey = std::tuple<std::uint32_t, Rank, Rank, int, std::uint64_t>;
  /// The tag of their messages; negative, so that no call uses it. Each of the two asks once.
  int meet(const MeetingKey& key);
  /// A new number.
  int next_number() { return numbers_.fetch_add(1, std::memory_order_relaxed); }
  const std::shared_ptr<SharedCommunicator>& world() const { return world_; }
  /// Null if nothing is recorded.
  Recording* recording() const { return recording_.get(); }
  /// Null: this computer's clock.
  ModelClock* clock() const { return clock_.get(); }
  std::chrono::steady_clock::time_point start() const { return start_; }

  std::size_t explain_fault(std::span<char> text) const;

  void remember(const SharedCommunicator& ended) override;
  /// Of ended and living communicators, without MPI_COMM_SELF. Call it when all ranks have ended.
  std::vector<CommunicatorFigures> communicators() const;

 private:
  int enter(RankState& rank) noexcept;

  const pid_t process_ = getpid();
  Topology topology_;
  const Images& images_;
  JobOptions options_;
  std::vector<std::string> arguments_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::shared_ptr<SharedCommunicator> world_;
  std::vector<std::unique_ptr<RankState>> states_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<ModelClock> clock_;
  Observers observers_;

  mutable std::mutex
      mutex_;  // guards what follows, to remembered_; before shared communicators' locks
  std::condition_variable done_;
  bool is_over_ = false;
  JobEnd end_;
  std::vector<CommunicatorFigures> remembered_;
  struct ComingPair {
    Pair pair;
    std::size_t to_come;
  };
  std::atomic<int> numbers_{0};
  std::mutex pairs_mutex_;  // guards pairs_, tags_
  std::map<std::string, int> tags_;
  std::map<PairKey, ComingPair> pairs_;
  std::mutex meetings_mutex_;           // guards what follows, to last_meeting_; taken last
  std::map<MeetingKey, int> meetings_;  // requested by one of the two
  int last_meeting_ = 0;
  std::mutex ids_mutex_;       // guards what follows, to unused_ids_; taken last
  std::uint32_t next_id_ = 2;  // 0: MPI_COMM_WORLD, 1: MPI_COMM_SELF
  std::vector<std::uint32_t> unused_ids_;
  mutable std::mutex places_mutex_;  // guards the rest; taken last
  mutable std::map<std::size_t, std::string>
      places_;  // by offset in the program: finding one starts a process
};

/// Where a rank stays when the job no longer needs it: this never returns.
[[noreturn]] void never_return() noexcept;

/// The running job; a process has one.
Job* running_job() noexcept;

}  // namespace wormcube::mpi
