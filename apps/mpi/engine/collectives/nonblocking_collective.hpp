// Collectives that run while a rank's program continues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"
#include "wormcube/apps/mpi/engine/core/communicator.hpp"
#include "wormcube/apps/mpi/engine/core/nonblocking_node.hpp"
#include "wormcube/runtime/base/fiber/strand.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace wormcube::mpi {

struct RankState;

/// A rank's nonblocking or persistent collective: a node program with a stack of its own.
///
/// Threads  its rank's
class NonblockingCollective final : public NonblockingContext {
 public:
  NonblockingCollective(RankState& rank, Communicator& on, Function function,
                        CollectiveProgram program)
      : rank_(rank), on_(on), function_(function), program_(std::move(program)) {}
  ~NonblockingCollective() override;
  NonblockingCollective(const NonblockingCollective&) = delete;
  NonblockingCollective& operator=(const NonblockingCollective&) = delete;

  /// Checks the arguments and matches the call with the other ranks'; moves nothing. Throws
  /// Failure.
  void check(Call& call);
  /// Runs as far as possible without waiting. When it has ended, the request is complete. Throws
  /// the Failure that the program throws before its first step.
  Request begin(Call& call);
  /// Continues a waiting program if its wait is over. True: it has ended.
  bool go_on();
  bool has_ended() const { return ended_; }
  std::uint64_t starts() const { return starts_; }
  /// After its end: the exception that it threw, if any.
  const std::optional<Failure>& failure() const { return failure_; }

  Function function() const { return function_; }
  /// The number among the communicator's collective calls.
  std::uint64_t number() const { return number_; }
  NonblockingPlace* place() const override { return place_.get(); }

  // Copies of the objects behind the call's handles: the user may free these while it runs.
  TypeView type(MPI_Datatype handle) override;
  Operator op(MPI_Op handle, const TypeView& on) override;
  void come(const CollectiveMatch& what) override;

 private:
  struct Checked {};  // thrown to end check()
  struct KeptType {
    DatatypePointer type;
    TypeView view;
  };
  void run() noexcept;
  void end();

  RankState& rank_;
  Communicator& on_;
  const Function function_;
  const CollectiveProgram program_;
  std::uint64_t number_ = 0, starts_ = 0;
  bool has_come_ = false, only_checks_ = false, ended_ = true;

  std::deque<KeptType> types_;
  std::vector<MPI_Op> operators_;

  std::unique_ptr<NonblockingPlace> place_;  // while it runs
  std::unique_ptr<Strand> strand_;           // the same
  const std::function<void()> body_ = [this] { run(); };
  std::optional<CollectiveCall> call_;
  std::optional<Failure> failure_;
  Request request_;
};

/// A rank's programs in progress.
class NonblockingCollectives final : public ProgressEngine {
 public:
  explicit NonblockingCollectives(RankState& rank) : rank_(rank) {}
  void progress() override;
  void enter(NonblockingCollective& program) { under_way_.push_back(&program); }

 private:
  RankState& rank_;
  std::vector<NonblockingCollective*> under_way_;
};

}  // namespace wormcube::mpi
