// The calls of a proof: which function, with which arguments and buffers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/collectives/core/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::mpi {

/// An operation's function in MPI.
struct ProvedFunction {
  /// The kind of its prototype.
  enum class Form {
    broadcast,  ///< buffer, count, type, root
    reduce,     ///< send, receive, count, type, operator, root
    combine,    ///< send, receive, count, type, operator
    rooted,     ///< send, count, type, receive, count, type, root
    exchange,   ///< send, count, type, receive, count, type
    barrier
  };
  const char* name;
  Operation operation;
  Form form;
};
std::span<const ProvedFunction> proved_functions();
/// Throws UsageError for an operation that has none.
const ProvedFunction& proved_function(std::string_view operation);

/// The arguments of one call.
struct ProofCase {
  /// Which datatypes have gaps. Those of one side only: there a block is one element of such a
  /// datatype, of the same signature as the other side's elements. In a broadcast the root is the
  /// side that sends.
  enum class Gaps : std::uint8_t { none, all, send, receive };
  /// Which ranks of MPI_COMM_WORLD are the communicator's. Of the last two, one rank more is in the
  /// world.
  enum class Members : std::uint8_t {
    all,       ///< the same in the same order
    reversed,  ///< all but the first, the last one first
    odd_first  ///< all but the last: 1, 3, .., 0, 2, ..
  };
  std::size_t count = 0;  ///< elements in a block
  Rank root = 0;
  bool in_place = false;
  Gaps gaps = Gaps::none;
  bool commutes = false;  ///< the operator
  Members members = Members::all;
  /// Whether gaps concern the buffer that a side sends from, or receives in.
  bool has_gaps(bool sends) const {
    return gaps == Gaps::all || gaps == (sends ? Gaps::send : Gaps::receive);
  }
  bool has_mixed_types() const { return gaps == Gaps::send || gaps == Gaps::receive; }
  /// "11 elements, in place, root 3, gaps in the datatype, an operator that does not commute"
  std::string text(const ProvedFunction& function, Rank ranks) const;
};
/// The ranks of MPI_COMM_WORLD: a communicator's by rank, then those that are not in it.
std::vector<Rank> world_ranks(ProofCase::Members members, Rank ranks);

struct CaseOptions {
  std::vector<std::size_t> counts = {};  ///< empty: default_counts()
  std::optional<Rank> root = {};         ///< empty: all
  bool only_commuting = false;
  bool on_parts = false;  ///< calls on communicators that are a part of MPI_COMM_WORLD
};
/// "0, 1, p - 1, p, 2 p + 1 and 1009"; smaller ones where ranks have a block for each other rank.
const char* default_counts_text(const ProvedFunction& function);
std::vector<std::size_t> default_counts(const ProvedFunction& function, Rank ranks);
/// Every count with every other argument for the first and the last root; for the other roots one
/// count. The last one is the case whose schedule is kept. On parts: two counts for the first and
/// the last root, without a schedule.
std::vector<ProofCase> proof_cases(const ProvedFunction& function, const CaseOptions& options,
                                   Rank ranks);

/// A measure of the work of those cases, for an estimate of the time.
double work_of_cases(const ProvedFunction& function, const CaseOptions& options, Rank ranks);

/// What a call gets.
struct CallArguments {
  const void* send;  ///< MPI_IN_PLACE: in place
  int send_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL;
  void* receive;
  int receive_count = 0;
  MPI_Datatype receive_type = MPI_DATATYPE_NULL;
  MPI_Op op;
  int root;
  MPI_Comm on;
};
/// Calls a function with the prototype of `function`. Returns its result.
int call_function(const ProvedFunction& function, void* address, const CallArguments& with);

}  // namespace wormcube::mpi
