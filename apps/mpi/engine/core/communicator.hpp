// Communicators: what all their ranks share, and each rank's own end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/base/cartesian.hpp"
#include "wormcube/apps/mpi/engine/base/graphs.hpp"
#include "wormcube/apps/mpi/engine/base/info.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube::mpi {

struct SharedWindow;
struct NonblockingPlace;
struct Communicator;
struct AttachedBuffer;
/// With JobOptions::strict: the types of a collective call.
struct CollectiveTypes {
  struct Elements {
    std::uint64_t signature = 0;  ///< 0: matches all
    std::string words;
  };
  /// Equal for all ranks. Between groups: what this rank's group sends, and what it receives.
  std::array<Elements, 2> common;
  struct Block {
    Rank from, to;
    bool is_sent;
    Elements elements;
    int number =
        0;  ///< among those between two ranks; between groups 1 for blocks that this one receives
  };
  std::vector<Block> blocks;  ///< whose other end is another rank's
};

/// What a collective call must have in common with the other ranks' calls of the same number.
struct CollectiveMatch {
  Function function;
  int root = 0;             ///< 0 if there is none
  std::int64_t bytes = -1;  ///< -1: they may differ
  std::uint64_t op = 0;     ///< 0: none
  std::string_view op_name = {};
  const CollectiveTypes* types = nullptr;  ///< null: they are not compared; valid during the call
};

/// The algorithm that runs, chosen once.
struct Choice {
  const Algorithm* algorithm = nullptr;
  Options options;
  std::string operation;
  Bytes block_bytes = 0;  ///< of the first call
  bool asked_for = false;
  std::uint64_t calls = 0;
};

class SharedCommunicator;

/// What communicators need from their job.
///
/// Threads  any
class CommunicatorHost {
 public:
  virtual ~CommunicatorHost() = default;
  virtual Rank ranks() const = 0;
  /// The algorithms that the user selected, by operation.
  virtual const std::map<std::string, Collective>& algorithms() const = 0;
  /// For other operations: whether to pick the algorithm with the least work on this computer, or
  /// else the one with the lowest modelled time.
  virtual bool by_work() const = 0;
  virtual const CostModel& costs() const = 0;
  /// A number that no living communicator has. Throws Failure if there is none left.
  virtual std::uint32_t take_id() = 0;
  /// No rank has an end of it any more.
  virtual void give_back_id(std::uint32_t id) noexcept = 0;
  /// Keeps the figures of a communicator that ends, for reports.
  virtual void remember(const SharedCommunicator& ended) = 0;
};

/// What the ranks of a communicator share.
///
/// Threads  members, rank_of, id: any, they never change. The rest: under its lock.
class SharedCommunicator {
 public:
  SharedCommunicator(CommunicatorHost& host, std::uint32_t id, std::vector<Rank> members,
                     std::string name);
  ~SharedCommunicator();
  SharedCommunicator(const SharedCommunicator&) = delete;
  SharedCommunicator& operator=(const SharedCommunicator&) = delete;

  /// The number of ranks in the job.
  Rank ranks_of_world() const { return host_.ranks(); }
  std::uint32_t id() const { return id_; }
  const std::vector<Rank>& members() const { return members_; }
  Rank size() const { return static_cast<Rank>(members_.size()); }
  /// The number here of rank `rank` of the world; -1: not a member.
  Rank rank_of(Rank rank) const {
    return is_world_order_ ? (rank < size() ? rank : -1) : rank_of_[static_cast<std::size_t>(rank)];
  }
  /// The number in the world of rank `member` of this communicator: reports name ranks so.
  Rank world_rank(Rank member) const { return members_[static_cast<std::size_t>(member)]; }
  /// Whether rank r of the world is rank r here.
  bool is_world_order() const { return is_world_order_; }

  /// Matches this member's `number`-th collective call. Throws Failure if the first caller called
  /// something else.
  void come(std::uint64_t number, Rank member, const CollectiveMatch& call);
  /// The same for an intercommunicator, from either group's end, on the group that both use for it:
  /// same function, same types.
  void come_between(std::uint64_t number, const CollectiveMatch& call, const Communicator& end);
  /// The call with this number that some ranks, but not all, have made.
  struct Types {
    std::array<CollectiveTypes::Elements, 2> common;
    std::map<std::tuple<Rank, Rank, int>, CollectiveTypes::Block>
        blocks;  // by both ranks and number, with only one end known
  };
  struct Arrivals {
    CollectiveMatch call;
    Rank first = 0, count = 0;
    std::unique_ptr<Types> types = nullptr;  ///< null: they are not compared
  };
  const Arrivals* arrivals(std::uint64_t number) const;

  /// The communicator that the members of one color make in their `number`-th call; the first
  /// caller makes it.
  std::shared_ptr<SharedCommunicator> child(std::uint64_t number, int colour,
                                            const std::vector<Rank>& members,
                                            const std::string& its_name) {
    return child_of({number, colour, {}}, members, its_name);
  }
  /// The same for members that call without the others, with their own tag; their members
  /// distinguish different groups.
  std::shared_ptr<SharedCommunicator> child_of_group(int tag, const std::vector<Rank>& members,
                                                     const std::string& its_name) {
    return child_of({std::numeric_limits<std::uint64_t>::max(), tag, members}, members, its_name);
  }

  /// The collective for this call; lives as long as the communicator. \param key  the operator and
  /// type of a reduction, which is made if the key is new
  struct Wanted {
    Operation operation;
    Bytes block_bytes;
    Rank root = 0;
    std::uint64_t op = 0, type = 0;
  };
  const Collective& collective(const Wanted& wanted, const Topology& network,
                               const std::function<Reduction()>& reduction);
  /// Calls f(choice) for each choice.
  template <class F>
  void each_choice(F&& f) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, choice] : choices_) f(choice);
  }
  std::string name;  ///< from the first rank that names it; for reports
  /// The grid, on which all its ranks agree; null if it is not a grid.
  void set_grid(const std::shared_ptr<const CartGrid>& grid) {
    const std::lock_guard lock(mutex_);
    if (grid_ == nullptr) grid_ = grid;
  }
  std::shared_ptr<const CartGrid> grid() const {
    const std::lock_guard lock(mutex_);
    return grid_;
  }
  /// What its ranks exchange while they make it, if it is a distributed graph.
  DistributedEdges edges;
  std::shared_ptr<SharedWindow> window;  ///< the same, if it is a window's own

 private:
  struct Instance {
    Collective collective;
    Choice* choice;
  };
  using ChoiceKey =
      std::tuple<std::string_view, int, bool, bool>;  // of the operator: commutes, is exact
  using InstanceKey = std::tuple<std::string_view, int, Rank, std::uint64_t, std::uint64_t>;
  struct Child {
    std::shared_ptr<SharedCommunicator> made;
    std::size_t to_come;
  };
  using ChildKey = std::tuple<std::uint64_t, int, std::vector<Rank>>;
  std::shared_ptr<SharedCommunicator> child_of(ChildKey key, const std::vector<Rank>& members,
                                               const std::string& its_name);
  Collective automatic(const Wanted& wanted, const Topology& network,
                       const Arguments& arguments) const;
  Choice& choose(const ChoiceKey& key, const Wanted& wanted, const Topology& network,
                 const Arguments& arguments);

  std::string compared(const CollectiveTypes& types, Types& before, int side,
                       const char* whose) const;

  CommunicatorHost& host_;
  const std::uint32_t id_;
  const std::vector<Rank> members_;
  std::vector<Rank> rank_of_;
  bool is_world_order_ = false;

  mutable std::mutex mutex_;
  std::deque<Arrivals> arrivals_;  // of calls first_arrival_, ..
  std::uint64_t first_arrival_ = 0;
  struct Between {
    Function function;
    Rank count = 0;
    Types types = {};
  };
  std::map<std::uint64_t, Between> between_;  // by number of the call
  std::shared_ptr<const CartGrid> grid_;
  std::map<ChildKey, Child> children_;
  std::map<ChoiceKey, Choice> choices_;
  std::map<InstanceKey, std::unique_ptr<Instance>> instances_;
};

/// A node that tags its steps, so that no other communicator receives its messages.
class TaggedNode final : public ForwardingNode {
 public:
  TaggedNode(Node& node, std::uint32_t id)
      : ForwardingNode(node), first_(static_cast<Tag>(id << 16U)) {}
  using Node::step;
  void step(std::span<const Op> ops) override;

 private:
  Tag first_;
  std::vector<Op> ops_;
};

/// What a session and its communicators share, for one rank.
struct SessionState {
  std::shared_ptr<AttachedBuffer> attached_buffer;  ///< MPI_Session_attach_buffer
};

/// One rank's end of a communicator: the object behind an MPI_Comm.
struct Communicator {
  static constexpr std::uint32_t alive = 0x434f4d31, dead = 0x434f4d30;
  Communicator();
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  std::uint32_t magic = dead;
  std::shared_ptr<SharedCommunicator> shared;
  std::shared_ptr<SharedCommunicator> remote;  ///< for an intercommunicator: the other group's
  Rank rank = 0;
  Node* node = nullptr;   ///< where its collectives run
  Node* world = nullptr;  ///< the same, with the world's ranks
  std::unique_ptr<TaggedNode> tagged;
  std::unique_ptr<View> view;  ///< a part of the network or, for other members, a complete network
  std::vector<std::unique_ptr<NonblockingPlace>> idle_places;
  MPI_Errhandler errors = MPI_ERRORS_ARE_FATAL;
  std::uint64_t collectives = 0;  ///< calls so far
  std::uint64_t made = 0;         ///< children made without waiting for other ranks
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;
  std::shared_ptr<const CartGrid> grid;          ///< null: not a grid
  std::shared_ptr<const RankGraph> graph;        ///< null: not a graph
  std::shared_ptr<const Neighbours> neighbours;  ///< null: not a distributed graph; this rank's
  AttributeSet<MPI_Comm> attributes;
  std::shared_ptr<const InfoKeys> info;             ///< null: none were given
  std::shared_ptr<AttachedBuffer> attached_buffer;  ///< MPI_Comm_attach_buffer
  std::shared_ptr<SessionState> of_session;         ///< null: not from a session

  /// Set by attach(), for both groups.
  std::uint32_t number = 0;
  const SharedCommunicator* others = nullptr;

  std::uint32_t context() const { return number; }
  Rank size() const { return shared->size(); }
  /// The ranks that messages go to and come from.
  const SharedCommunicator& peers() const { return *others; }
  Rank world_rank(int peer) const { return peers().members()[static_cast<std::size_t>(peer)]; }
};
/// Matches this rank's next collective call on it with the other ranks' calls; returns its number.
/// Throws Failure.
std::uint64_t come_to(Communicator& on, const CollectiveMatch& call);
/// The communicator's part of a node's network; null: all of it.
std::unique_ptr<View> view_of(Node& node, const SharedCommunicator& shared);

/// Makes a rank's end of it. \param node  the rank's \param remote  for an intercommunicator
void attach(Communicator& communicator, Node& node, std::shared_ptr<SharedCommunicator> shared,
            std::shared_ptr<SharedCommunicator> remote = nullptr);

}  // namespace wormcube::mpi
