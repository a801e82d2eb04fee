// Communication patterns made at random from a seed: what each node sends, receives and expects, and
// collectives on parts of the network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace machine_tests::random_patterns {

/// Numbers that follow from a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Below `n`.
  std::uint64_t operator()(std::uint64_t n) { return (state_ = mix(state_)) % n; }
  bool one_in(std::uint64_t n) { return (*this)(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[(*this)(values.size())];
  }

 private:
  std::uint64_t state_;
};

/// A message of one round. Its ranks are those of the view that the round takes its steps in.
struct Message {
  std::size_t index = 0;  ///< in the whole pattern
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  std::vector<Move> moves = {};  ///< none: it goes by rank
  bool received_by_moves = false;
  int part = 0, step = 0;      ///< of a round of steps
  std::uint32_t context = 0;   ///< of a round of requests
  bool synchronous = false;    ///< "
  bool is_persistent = false;  ///< "
};

struct Round {
  enum class Kind { steps, together, group, along, requests, collectives };
  Kind kind = Kind::steps;
  std::vector<int> steps = {};     ///< of each part; most rounds have one part
  std::vector<Rank> members = {};  ///< of a group; none: it is not in one
  int dimension = -1;              ///< of a line or ring; -1: it is not along one
  bool on_stack = false;           ///< the data of short steps lie on the stack of who takes them
  bool verifies = false;  ///< looks at all that has come so far, so that no step stays open
  /// Some receives are into memory that is given back right after their step, unread: then a node
  /// leaves a step that is not complete without a call that could throw.
  bool frees = false;
  std::vector<Message> messages = {};
  /// Collectives, on all nodes of the view; several take their steps together.
  struct Call {
    Collective collective;
    Contract contract;
  };
  std::vector<Call> calls = {};

  /// The rank of a node in the round's view; -1: it takes no part.
  Rank rank_of(const Topology& topology, Rank node) const;
  /// The node of the machine that has this rank in the view of `node`.
  Rank node_of(const Topology& topology, Rank node, Rank rank) const;
};

/// What a seed stands for.
struct Pattern {
  enum class Ending { none, deadlock, failure };
  /// Where the node of a failure throws. In an operator: in its next one, if there is any.
  enum class Thrown { in_program, in_local, in_operator };
  std::uint64_t seed = 0;
  std::string network = {};
  MachineOptions options = {};
  std::vector<Round> rounds = {};
  std::size_t messages = 0;
  Ending ending = Ending::none;
  std::vector<Rank> involved = {};  ///< the deadlock's cycle; the node that throws
  bool by_requests = false;         ///< the deadlock is one of requests
  Thrown thrown = Thrown::in_program;

  std::string text() const;
};

/// The pattern of a seed. Throws UsageError if its machine is refused.
Pattern random_pattern(std::uint64_t seed);

/// The first wrong result of a run, of any node. A run that fails, too, must not let a node see data
/// that never arrived; but what the node then throws is not what the run throws.
class WrongResult {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (first_.empty()) first_ = text;
  }
  /// After the run; empty: none.
  const std::string& text() const { return first_; }

 private:
  std::mutex mutex_;
  std::string first_;
};

/// The program of a node. With `ends`, it comes to the pattern's ending.
void follow(Node& node, const Pattern& pattern, bool ends, WrongResult& wrong);

}  // namespace machine_tests::random_patterns
