// What the ranks do during a proved call: messages with the marks that they carry, combinations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/observers/observer.hpp"
#include "wormcube/apps/mpi/prove/marks.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wormcube::mpi {

/// The MPI call that began a send or a receive.
struct CallSite {
  Function function = Function::count;
  const void* at = nullptr;  ///< its return address
};

struct CallLog {
  /// One end of a message.
  struct End {
    SentMessage message;
    std::uint64_t started = 0, ended = 0;
    bool waits = false;  // of a send
    CallSite site;
    std::vector<std::uint32_t> marks;
    bool is_whole = false;  // its bytes are marks, and nothing else
  };
  struct Combination {
    Rank rank = 0;
    std::uint64_t stamp = 0;
    std::vector<std::uint32_t> results;
  };

  std::vector<End> sends, receives;
  std::unordered_map<std::uint64_t, std::size_t> send_by_start;
  std::unordered_map<std::uint64_t, CallSite> posted;
  std::vector<Combination> combinations;
  bool any_source = false;           // some receive or probe was from any source
  std::set<Function> collectives;    // that were called meanwhile
  std::optional<CallSite> on_world;  // the first message on MPI_COMM_WORLD itself

  void clear() { *this = {}; }
};

/// A message with both ends, and its step.
struct MatchedMessage {
  const CallLog::End* sent;
  const CallLog::End* received;
  std::size_t step = 0;
};
struct MatchedLog {
  std::vector<MatchedMessage> messages;        ///< by step, then in the order sent
  std::vector<std::size_t> gaps;               ///< for each combination: the step after it
  std::vector<const CallLog::End*> unmatched;  ///< sends that were not received
};
/// Receives match sends of one kind in the order in which they started. A rank's messages to itself
/// are copies, and left out.
MatchedLog matched(const CallLog& log, Rank ranks);

}  // namespace wormcube::mpi
