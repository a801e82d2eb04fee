// What the ranks of a job wait for, as a table, and how to resolve a deadlock. Pure data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wormcube::mpi {

struct Communicator;

/// One thing that a rank waits for.
struct Need {
  enum class Kind : std::uint8_t {
    message,     ///< for a receive or a probe
    receive,     ///< for a send: the other rank's receive
    collective,  ///< the other ranks' call
    other        ///< the text says what
  };
  Kind kind = Kind::other;
  std::string text = {};         ///< for collective and other
  std::vector<Rank> ranks = {};  ///< ranks of the world that it waits for
  bool any = false;              ///< one of the ranks is enough
  int peer = 0, tag = 0;         ///< for message and receive, as the call names them
  int self = -1, size = 0;       ///< the rank and the size where `peer` is a rank; -1: unknown
  std::int64_t bytes = 0;
  const Communicator* on = nullptr;
  std::string communicator = {};  ///< its name
  std::string collective = {};    ///< its function
  /// For a message from one rank that a receive from any source has taken: "rank 1's message with
  /// tag 0 was received earlier, by MPI_Recv from any source at racy.c:5".
  std::string taken = {};
};

/// What one rank waits for. In a list of all ranks, element r is rank r.
struct WaitingRank {
  Rank rank = 0;
  std::string call = {}, at = {};  ///< "MPI_Send", "ring.c:10"
  bool ended = false;
  std::vector<Need> needs = {};
  std::size_t more_needs = 0;  ///< left out of `needs`
};

/// "tag 7", "any tag"
std::string tag_text(int tag);
/// "0-3,7"; a long list ends with the number of ranks.
std::string rank_list(std::span<const Rank> ranks);

/// One row for each rank and need. With more than 8 ranks, those at one call site share a row if
/// they wait for the same: a rank, or a rank at one distance ("rank + 1", "rank xor 4").
std::string wait_table(std::span<const WaitingRank> ranks);

/// Ranks that wait for each other, each for the next; empty if there are none.
/// \param waits_for  by rank, the ranks without which it cannot continue
std::vector<Rank> cycle_of(const std::vector<std::vector<Rank>>& waits_for);

/// One sentence on how to resolve a deadlock whose pattern is known; else empty.
/// \param is_near_miss  whether an unreceived message almost matches a receive
std::string advice(std::span<const WaitingRank> ranks, std::span<const Rank> cycle,
                   bool is_near_miss);

}  // namespace wormcube::mpi
