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

/// What is reported of a communicator, or of several of one name and size.
struct CommunicatorFigures {
  std::string name;
  Rank ranks = 0;
  bool is_network = false;      ///< the whole network; else a complete one of its members
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
  bool eager =
      true;  ///< standard sends of up to MessagingOptions::unexpected_limit need no receive
  /// By operation: the algorithm that was asked for.
  std::map<std::string, Collective> algorithms = {};
  bool by_work =
      false;  ///< of the others that which costs these cores least; else the cheapest by formula
  bool matrix = false;  ///< count what each rank sends to each
  bool timing = false;  ///< how long ranks are in MPI's functions
  bool record = false;  ///< what they call and send: recording()
  /// Modelled time in place of this computer's: clock().
  struct Clock {
    ModelClock::Kind kind = ModelClock::Kind::model;
    MachineModel model = {};
    double own_work = 1;
  };
  std::optional<Clock> clock = {};
  Bytes most_unexpected = 0;  ///< MessagingOptions::unexpected_limit
  bool strict = false;  ///< types of both ends of a message are compared, Rsend needs a receive
};

/// Threads     end: any, the first counts. wait_for_end: who runs the job. The rest: the ranks,
///             each for itself, and shared communicators by their locks.
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

  /// A node's program: the rank of that number, if there is one.
  void run_rank(Node& node);

  /// Ends the job: no rank goes on after its next call.
  void end(int code, std::string text) noexcept;
  /// The same from a rank, which is not heard of again.
  [[noreturn]] void end_here(int code, std::string text) noexcept;
  /// Whether this is a process that a rank has forked: it has that rank's memory and thread, and no
  /// others.
  bool is_forked() const noexcept;
  /// Ends such a process. \param with_handlers  what the program has registered for its end runs
  /// first
  [[noreturn]] void end_forked(RankState& rank, int code, bool with_handlers) noexcept;
  /// Waits until it has ended, or this time has passed (0: for ever); false then.
  bool wait_for_end(std::chrono::milliseconds limit);
  /// All ranks have ended, by themselves.
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
  RankState& rank(Rank rank) { return *states_[static_cast<std::size_t>(rank)]; }
  const RankState& rank(Rank rank) const { return *states_[static_cast<std::size_t>(rank)]; }
  /// "ring.c:41", "ring+0x11d9", or nothing.
  std::string place(const void* address) const;

  std::uint32_t take_id() override;
  void give_back_id(std::uint32_t id) noexcept override;
  /// The two groups of an intercommunicator, by whoever comes first; all of their ranks come.
  /// \param key  of no two at once
  struct Pair {
    std::shared_ptr<SharedCommunicator> lower,
        upper;  ///< lower: whose rank 0 has the lower rank in the world
  };
  using PairKey = std::tuple<std::uint32_t, std::uint64_t, int>;
  Pair pair(const PairKey& key, const std::vector<Rank>& one, const std::vector<Rank>& other,
            const std::string& name);
  /// A tag in words as a number.
  int number_of_tag(const std::string& tag);
  /// Where the two requests of a message in partitions meet: context, ranks of the world from and
  /// to, tag, and the how many-th of these.
  using MeetingKey = std::tuple<std::uint32_t, Rank, Rank, int, std::uint64_t>;
  /// The tag of their messages, below 0, so that it is no call's. Each of the two asks once.
  int meet(const MeetingKey& key);
  /// A number that was not given before.
  int next_number() { return numbers_.fetch_add(1, std::memory_order_relaxed); }
  const std::shared_ptr<SharedCommunicator>& world() const { return world_; }
  /// Null: nothing is recorded.
  Recording* recording() const { return recording_.get(); }
  /// Null: this computer's.
  ModelClock* clock() const { return clock_.get(); }
  std::chrono::steady_clock::time_point start() const { return start_; }

  std::size_t explain_fault(std::span<char> text) const;

  void remember(const SharedCommunicator& ended) override;
  /// Of those that have ended and those that live, MPI_COMM_SELF left out. When all ranks have
  /// ended.
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
  std::map<MeetingKey, int> meetings_;  // that one of the two has asked for
  int last_meeting_ = 0;
  std::mutex ids_mutex_;       // guards what follows, to unused_ids_; taken last
  std::uint32_t next_id_ = 2;  // 0: MPI_COMM_WORLD, 1: MPI_COMM_SELF
  std::vector<std::uint32_t> unused_ids_;
  mutable std::mutex places_mutex_;  // guards the rest; taken last
  mutable std::map<std::size_t, std::string>
      places_;  // by offset in the program: asking takes a process
};

/// Where a rank stays that the job has done with: it is not heard of again.
[[noreturn]] void never_return() noexcept;

/// The job that runs; there is one in a process.
Job* running_job() noexcept;

}  // namespace wormcube::mpi
