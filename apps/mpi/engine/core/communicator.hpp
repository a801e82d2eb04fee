// Communicators: what all of their ranks share, and each rank's own end.
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
  /// That all ranks have in common. Between groups: what this rank's gives, and what it gets.
  std::array<Elements, 2> common;
  struct Block {
    Rank from, to;
    bool is_sent;
    Elements elements;
    int number = 0;  ///< of those from one rank to another. Between groups: 1 of what this one gets
  };
  std::vector<Block> blocks;  ///< whose other end is another rank's
};

/// What a collective call must have in common with the others of its number.
struct CollectiveMatch {
  Function function;
  int root = 0;             ///< 0 where there is none
  std::int64_t bytes = -1;  ///< -1: they may differ
  std::uint64_t op = 0;     ///< 0: none
  std::string_view op_name = {};
  const CollectiveTypes* types =
      nullptr;  ///< null: they are not compared; as long as the call comes
};

/// Which algorithm runs, decided once.
struct Choice {
  const Algorithm* algorithm = nullptr;
  Options options;
  std::string operation;
  Bytes block_bytes = 0;  ///< of the first call
  bool asked_for = false;
  std::uint64_t calls = 0;
};

class SharedCommunicator;

/// What communicators need of their job.
///
/// Threads  any
class CommunicatorHost {
 public:
  virtual ~CommunicatorHost() = default;
  virtual Rank ranks() const = 0;
  /// By operation: the algorithm that was asked for.
  virtual const std::map<std::string, Collective>& algorithms() const = 0;
  /// Of the others the one that costs these cores least; else the cheapest by formula.
  virtual bool by_work() const = 0;
  /// A number for a communicator that no living one has. Throws Failure if there is none left.
  virtual std::uint32_t take_id() = 0;
  /// No rank has an end of it any more.
  virtual void give_back_id(std::uint32_t id) noexcept = 0;
  /// A communicator ends: what is reported of it is kept.
  virtual void remember(const SharedCommunicator& ended) = 0;
};

/// What the ranks of a communicator have in common.
///
/// Threads  members, rank_of, id: all, they do not change. The rest: under its lock.
class SharedCommunicator {
 public:
  SharedCommunicator(CommunicatorHost& host, std::uint32_t id, std::vector<Rank> members,
                     std::string name);
  ~SharedCommunicator();
  SharedCommunicator(const SharedCommunicator&) = delete;
  SharedCommunicator& operator=(const SharedCommunicator&) = delete;

  /// Ranks of the whole job.
  Rank ranks_of_world() const { return host_.ranks(); }
  std::uint32_t id() const { return id_; }
  const std::vector<Rank>& members() const { return members_; }
  Rank size() const { return static_cast<Rank>(members_.size()); }
  /// The world's rank `rank` here; -1: none of ours.
  Rank rank_of(Rank rank) const {
    return is_world_order_ ? (rank < size() ? rank : -1) : rank_of_[static_cast<std::size_t>(rank)];
  }
  /// Rank r of the world is rank r here.
  bool is_world_order() const { return is_world_order_; }

  /// The `number`-th collective call, by this member. Throws Failure if the first to come called
  /// something else.
  void come(std::uint64_t number, Rank member, const CollectiveMatch& call);
  /// Of an intercommunicator, by a rank's end of either group, on the group that both keep this at:
  /// the same function, and types.
  void come_between(std::uint64_t number, const CollectiveMatch& call, const Communicator& end);
  /// The call of that number that somebody has come to, if not all have.
  struct Types {
    std::array<CollectiveTypes::Elements, 2> common;
    std::map<std::tuple<Rank, Rank, int>, CollectiveTypes::Block>
        blocks;  // by both ranks and number, of which one end has come
  };
  struct Arrivals {
    CollectiveMatch call;
    Rank first = 0, count = 0;
    std::unique_ptr<Types> types = nullptr;  ///< null: they are not compared
  };
  const Arrivals* arrivals(std::uint64_t number) const;

  /// The communicator that the members of one colour make in their `number`-th call: who comes
  /// first makes it.
  std::shared_ptr<SharedCommunicator> child(std::uint64_t number, int colour,
                                            const std::vector<Rank>& members,
                                            const std::string& its_name) {
    return child_of({number, colour, {}}, members, its_name);
  }
  /// The same for members who call without the others, under a tag of theirs: groups that differ
  /// are distinguished by their members.
  std::shared_ptr<SharedCommunicator> child_of_group(int tag, const std::vector<Rank>& members,
                                                     const std::string& its_name) {
    return child_of({std::numeric_limits<std::uint64_t>::max(), tag, members}, members, its_name);
  }

  /// The collective of this call; lives as long as the communicator. \param key  of the operator
  /// and type of a reduction, which is made where it is new
  struct Wanted {
    Operation operation;
    Bytes block_bytes;
    Rank root = 0;
    std::uint64_t op = 0, type = 0;
  };
  const Collective& collective(const Wanted& wanted, const Topology& network,
                               const std::function<Reduction()>& reduction);
  /// Calls f(choice) for each.
  template <class F>
  void each_choice(F&& f) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, choice] : choices_) f(choice);
  }
  std::string name;  ///< of the first rank to name it; for reports
  /// What each of its ranks says alike, if it is a grid; else null.
  void set_grid(const std::shared_ptr<const CartGrid>& grid) {
    const std::lock_guard lock(mutex_);
    if (grid_ == nullptr) grid_ = grid;
  }
  std::shared_ptr<const CartGrid> grid() const {
    const std::lock_guard lock(mutex_);
    return grid_;
  }
  /// What its ranks share while it is made, if it is a distributed graph.
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

  static std::string compared(const CollectiveTypes& types, Types& before, int side,
                              const char* whose);

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

/// A node whose steps have tags of their own, so that no other communicator takes its messages.
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

/// What a session and the communicators that come from it have in common, of one rank.
struct SessionState {
  std::shared_ptr<AttachedBuffer> attached_buffer;  ///< MPI_Session_attach_buffer
};

/// One rank's end of a communicator: what an MPI_Comm points to.
struct Communicator {
  static constexpr std::uint32_t alive = 0x434f4d31, dead = 0x434f4d30;
  Communicator();
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  std::uint32_t magic = dead;
  std::shared_ptr<SharedCommunicator> shared;
  std::shared_ptr<SharedCommunicator> remote;  ///< of an intercommunicator: the other group's
  Rank rank = 0;
  Node* node = nullptr;   ///< where its collectives run
  Node* world = nullptr;  ///< the same, and ranks are the world's
  std::unique_ptr<TaggedNode> tagged;
  std::unique_ptr<View> view;  ///< a part of the network, or, of other members, a complete one
  std::vector<std::unique_ptr<NonblockingPlace>> idle_places;
  MPI_Errhandler errors = MPI_ERRORS_ARE_FATAL;
  std::uint64_t collectives = 0;  ///< calls so far
  std::uint64_t made = 0;         ///< communicators that were made of it without waiting
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;
  std::shared_ptr<const CartGrid> grid;          ///< null: it has none
  std::shared_ptr<const RankGraph> graph;        ///< the same
  std::shared_ptr<const Neighbours> neighbours;  ///< the same: of a distributed graph, this rank's
  AttributeSet<MPI_Comm> attributes;
  std::shared_ptr<const InfoKeys> info;             ///< null: none were given
  std::shared_ptr<AttachedBuffer> attached_buffer;  ///< MPI_Comm_attach_buffer
  std::shared_ptr<SessionState> of_session;         ///< null: it comes from none

  /// By attach(), of both groups.
  std::uint32_t number = 0;
  const SharedCommunicator* others = nullptr;

  std::uint32_t context() const { return number; }
  Rank size() const { return shared->size(); }
  /// Those whom messages go to and come from.
  const SharedCommunicator& peers() const { return *others; }
  Rank world_rank(int peer) const { return peers().members()[static_cast<std::size_t>(peer)]; }
};
/// The next collective call of this rank on it, compared with the others'; returns its number.
/// Throws Failure.
std::uint64_t come_to(Communicator& on, const CollectiveMatch& call);
/// The part of a node's network that is a communicator's; null: all of it.
std::unique_ptr<View> view_of(Node& node, const SharedCommunicator& shared);

/// Makes a rank's end of it. \param node  the rank's  \param remote  of an intercommunicator
void attach(Communicator& communicator, Node& node, std::shared_ptr<SharedCommunicator> shared,
            std::shared_ptr<SharedCommunicator> remote = nullptr);

}  // namespace wormcube::mpi
