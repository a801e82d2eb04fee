// Proves another's collective: every rank calls it on marked elements, case by case.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/job.hpp"
#include "wormcube/apps/mpi/engine/observers/observer.hpp"
#include "wormcube/apps/mpi/prove/call_log.hpp"
#include "wormcube/apps/mpi/prove/elements.hpp"
#include "wormcube/apps/mpi/prove/marks.hpp"
#include "wormcube/apps/mpi/prove/proved_call.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::mpi {

/// What is wrong first: by rank, then by block and element.
struct ProofFinding {
  std::string text;   ///< "rank 2 ends with {0 2 1}, not {0..2}, in element 7"
  std::string cause;  ///< "combined by rank 1 ..", "brought by MPI_Recv ..": empty: unknown
  std::optional<Rank> rank = {};
  std::optional<std::size_t> block = {}, element = {};
  /// The call that brought it.
  struct Bringer {
    Rank rank;         ///< that received it
    std::string call;  ///< "MPI_Recv"
    std::string at;    ///< "ring.c:41"
    Rank source;
    Tag tag;
    std::size_t step;
  };
  std::optional<Bringer> bringer = {};
};

struct ProofOutcome {
  std::size_t cases = 0;      ///< that are proved
  std::size_t passed_on = 0;  ///< of these: calls of the operation's own MPI function
  std::optional<ProofFinding> finding = {};
  std::string finding_case = {};
  std::optional<NamedSchedule> schedule = {};  ///< of the last case
  std::string no_schedule = {};                ///< why there is none
  std::string refusal = {};                    ///< why nothing can be proved; empty: it can
  bool any_source = false;
  std::vector<std::string> collectives = {};  ///< other collectives that were called
};

/// Threads      the ranks', each for itself, or under the lock; `outcome` when all have ended, or
///              wait.
/// Invariants   between the two barriers after a case all ranks wait, and rank 0 judges.
class Prover final : public Observer {
 public:
  /// \param name  of the function that is called: the operation's own, or one with its prototype
  Prover(const ProvedFunction& function, std::string name, const CaseOptions& options, Rank ranks);

  /// A rank's program; returns its exit code.
  int run_rank(RankState& state);

  /// The number of ranks that run it: with CaseOptions::on_parts more than `ranks`.
  Rank world_size() const { return static_cast<Rank>(ranks_.size()); }
  const ProofOutcome& outcome() const { return outcome_; }
  /// The case in progress, and the ranks that have returned from it.
  std::string current_case() const { return cases_[case_].text(function_, size_); }
  /// As numbered in MPI_COMM_WORLD.
  std::vector<Rank> returned() const;
  /// Of a call that is wrong on a part of MPI_COMM_WORLD: what that suggests. Empty: nothing.
  std::string hint() const;
  /// Receives from any source take the last of the messages that arrive while nobody else can go
  /// on. Otherwise they take the first.
  bool takes_last = false;
  /// Called before each case, by its first rank.
  std::function<void(const std::string& text)> on_case = [](const std::string&) {};

  void enter(Rank rank, Function function) override;
  void leave(Rank) override {}
  void posted(Rank rank, const MessagePattern& from, std::uint64_t started) override;
  MessagePattern narrowed(Rank rank, const MessagePattern& from, MessageQueries& messages) override;
  void sent(const SentMessage& message, std::uint64_t started, bool waits) override;
  void send_ended(const SentMessage& message, std::uint64_t started, std::uint64_t ended) override;
  void received(const SentMessage& message, std::uint64_t started, std::uint64_t ended) override;
  void accessed(const Access&) override {}

  /// MPI_Op's function.
  void combine(RankState& state, const void* in, void* inout, int count, MPI_Datatype type);

 private:
  /// A request that is not complete when the function returns.
  struct OpenRequest {
    CallSite site;
    bool is_freed = false;
  };
  struct RankData {
    RankState* state = nullptr;
    void* address = nullptr;          // of the function
    std::array<MPI_Comm, 3> comms{};  // by ProofCase::Members
    MPI_Datatype plain{}, gapped{};
    std::map<std::size_t, MPI_Datatype> gapped_blocks;  // by the number of elements
    MPI_Op in_order{}, commuting{};
    Elements send, receive;
    std::vector<Handle> given, held;  // what send and receive hold before the call
    bool is_send_given = false;       // send is not MPI_IN_PLACE
    bool keeps_receive = false;       // the receive buffer is not significant
    int result = 0;
    bool inside = false, returned = false;
    std::optional<OpenRequest> open;
    // The caller's own messages on MPI_COMM_WORLD during the call.
    std::array<MPI_Request, 4> beside{};
    std::array<Handle, 4> beside_data{};
  };
  /// Of a rank of the world.
  RankData& data(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  /// Of a rank of the case's communicator.
  RankData& member(Rank rank) {
    return data(orders_[static_cast<std::size_t>(now().members)][static_cast<std::size_t>(rank)]);
  }
  /// The rank in the case's communicator of a rank of the world; beyond its ranks: not in it.
  Rank place_of(Rank rank) const {
    return places_[static_cast<std::size_t>(now().members)][static_cast<std::size_t>(rank)];
  }
  /// The message with both ranks' places.
  SentMessage placed(SentMessage message) {
    message.from = place_of(message.from);
    message.to = place_of(message.to);
    return message;
  }
  const ProofCase& now() const { return cases_[case_]; }
  Arguments arguments() const;

  [[noreturn]] void refuse(RankState& state, const std::string& why);
  void make_objects(RankData& own);
  void fill(RankData& own);
  void call(RankData& own);
  static std::optional<OpenRequest> open_request(const RankData& own);
  // Messages that the function must not touch, or a receive that must not get its messages.
  bool has_message_beside() const { return case_ % 4 < 2; }
  void begin_beside(RankData& own, bool has_message);
  void end_beside(RankData& own, bool has_message);
  /// Of one side only: as many elements as a block has, as one element.
  MPI_Datatype gapped_block(RankData& own) const;
  void note_world(const RankData& own, std::uint32_t context);
  /// In rank 0, while the others wait. Returns whether there is another case.
  bool judge();

  // verdict.cpp
  std::optional<ProofFinding> incomplete(Rank rank);
  std::optional<ProofFinding> wrong_result(Rank rank);
  std::optional<ProofFinding> wrong_memory(Rank rank);
  std::optional<ProofFinding> left_over();
  std::string mark_text(Handle handle, std::size_t element);
  void explain(ProofFinding& finding, Rank rank, Handle handle);
  const CallLog::End* bringer(Rank rank, std::uint32_t mark) const;
  std::optional<std::uint32_t> first_trouble(std::uint32_t mark);
  ProofFinding::Bringer described(const CallLog::End& end) const;
  std::string place(const CallSite& site) const;

  // schedule_of_call.cpp
  void keep_schedule();
  /// A barrier's proof: messages bring what their senders know.
  std::optional<ProofFinding> not_all_entered();

  const ProvedFunction function_;
  const std::string name_;
  const Rank size_;  // of the communicators
  const bool on_parts_;
  const std::vector<ProofCase> cases_;
  std::array<std::vector<Rank>, 3> orders_, places_;  // world_ranks() and its inverse, by Members
  std::vector<RankData> ranks_;
  std::size_t case_ = 0;
  bool goes_on_ = true;  // written while all wait
  ProofOutcome outcome_;

  std::mutex mutex_;  // guards the rest
  std::optional<std::size_t> shown_case_ = {};
  Marks marks_;
  CallLog log_;
};

}  // namespace wormcube::mpi
