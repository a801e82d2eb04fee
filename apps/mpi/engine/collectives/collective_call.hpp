// A collective call in progress: what it shares with the other ranks' calls, its data, its node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/collectives/buffers.hpp"
#include "wormcube/apps/mpi/engine/collectives/reductions.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// What a nonblocking call owns: where it runs its steps, and copies of the objects behind its
/// handles.
class NonblockingContext {
 public:
  virtual ~NonblockingContext() = default;
  /// Null: it only checks its arguments.
  virtual NonblockingPlace* place() const = 0;
  virtual TypeView type(MPI_Datatype handle) = 0;
  virtual Operator op(MPI_Op handle, const TypeView& on) = 0;
  /// CollectiveCall::come()
  virtual void come(const CollectiveMatch& what) = 0;
};

/// A call, on its rank's stack, or, if nonblocking, on the stack of its operation. A nonblocking
/// call has its Call only until the first step: it checks all arguments before that.
class CollectiveCall {
 public:
  CollectiveCall(Call& its_call, Communicator& on, Function function,
                 NonblockingContext* program = nullptr);

  Call& call;
  Communicator& comm;

  Rank size() const { return comm.size(); }
  bool is_root(int root) const { return comm.rank == root; }
  /// Where the ranks of this communicator run their steps; for an intercommunicator, the ranks of
  /// this rank's group.
  Node& node() const { return *node_; }
  /// The same with ranks numbered as in the world; the steps still belong to this communicator.
  Node& world() const { return *world_; }

  TypeView type(MPI_Datatype handle) const;
  Operator op(MPI_Op handle, const TypeView& on) const;

  /// Call this before moving anything, with what must agree between all ranks. \param bytes  -1:
  /// may differ \param types  null: not compared
  void come(int root, std::int64_t bytes, const Operator* reduces = nullptr,
            const CollectiveTypes* types = nullptr);

  const Collective& algorithm(wormcube::Operation operation, Bytes block, int root = 0,
                              const Operator* reduces = nullptr) const;
  void run(const Collective& collective, ConstBlocks in, Blocks out,
           std::span<const Bytes> sizes = {}) const;

 private:
  Function function_;
  NonblockingContext* program_;  ///< null: a blocking call
  Node* node_;
  Node* world_;
};

/// The types of a collective call to compare with JobOptions::strict; without it nothing is
/// compared.
class ComparedTypes {
 public:
  explicit ComparedTypes(const CollectiveCall& all);
  /// Elements that must match those of every other rank.
  ComparedTypes(const CollectiveCall& all, const TypeView& type, std::int64_t count);
  /// The same, twice: what the rank sends, unless in place, and what it receives. Throws Failure if
  /// the two differ.
  ComparedTypes(const CollectiveCall& all, const void* out, MPI_Datatype out_type,
                std::int64_t out_count, const void* in, MPI_Datatype in_type,
                std::int64_t in_count);
  /// Between groups: elements that must match those of the whole other group.
  void gives(const TypeView& type, std::int64_t count);
  void gets(const TypeView& type, std::int64_t count);
  /// A block from or to this rank. \param number  counts those from one rank to another
  void add_sent(Rank to, const TypeView& type, std::size_t count, int number = 0);
  void add_received(Rank from, const TypeView& type, std::size_t count, int number = 0);
  void add_sent(std::span<const Uneven::Block> blocks);
  void add_received(std::span<const Uneven::Block> blocks);
  /// Blocks that are the same for all ranks, or between groups for all ranks of this group.
  void add_alike(std::span<const Uneven::Block> blocks);

  /// Null: nothing is compared.
  const CollectiveTypes* get() const { return strict_ ? &types_ : nullptr; }

 private:
  void set_common(std::size_t which, const TypeView& type, std::int64_t count);

  const bool strict_, between_;
  const Rank own_;
  const Call& call_;
  CollectiveTypes types_;
};

/// The blocks of a `v` call: displacements in elements. \param blocks  how many
template <class Count, class Place>
std::vector<Uneven::Block> blocks_of(const CollectiveCall& all, int blocks, const Count* counts,
                                     const Place* places, MPI_Datatype handle) {
  const TypeView type = all.type(handle);
  std::vector<Uneven::Block> result;
  result.reserve(static_cast<std::size_t>(blocks));
  for (int i = 0; i < blocks; ++i) {
    const std::size_t count = all.call.count(counts[i]);
    result.push_back({count, count == 0 ? 0 : places[i] * type.extent, type});
  }
  return result;
}
/// The blocks of a `w` call: displacements in bytes.
template <class Count, class Place>
std::vector<Uneven::Block> blocks_of(const CollectiveCall& all, int blocks, const Count* counts,
                                     const Place* places, const MPI_Datatype* handles) {
  std::vector<Uneven::Block> result;
  result.reserve(static_cast<std::size_t>(blocks));
  for (int i = 0; i < blocks; ++i) {
    const std::size_t count = all.call.count(counts[i]);
    result.push_back({count, count == 0 ? 0 : places[i], all.type(handles[i])});
  }
  return result;
}

/// The body of a nonblocking or persistent collective; runs once for each start.
using CollectiveProgram = std::function<void(CollectiveCall&)>;
void start_collective(Call& call, MPI_Comm on, Function function, CollectiveProgram program,
                      MPI_Request* request);
void prepare_collective(Call& call, MPI_Comm on, Function function, CollectiveProgram program,
                        MPI_Request* request);
/// Starts a prepared collective.
void restart_collective(Call& call, RequestObject& object);

void add_collective_functions(WormcubeMpiFunctions& table);
void add_neighbour_functions(WormcubeMpiFunctions& table);
void add_reducing_collectives(WormcubeMpiFunctions& table);

/// The three forms of a collective from one body. All ranks must call the same function, whatever
/// the type of its counts.
template <Function named, auto body>
struct Forms;
template <Function named, class... Arguments, void (*body)(CollectiveCall&, Arguments...)>
struct Forms<named, body> {
  static int blocking(Arguments... arguments, MPI_Comm on) {
    Call call(named, __builtin_return_address(0));
    return call([&] {
      CollectiveCall all(call, call.communicator(on), named);
      body(all, arguments...);
    });
  }
  static int nonblocking(Arguments... arguments, MPI_Comm on, MPI_Request* request) {
    Call call(named, __builtin_return_address(0));
    return call([&] {
      start_collective(
          call, on, named, [=](CollectiveCall& all) { body(all, arguments...); }, request);
    });
  }
  static int persistent(Arguments... arguments, MPI_Comm on, MPI_Info, MPI_Request* request) {
    Call call(named, __builtin_return_address(0));
    return call([&] {
      prepare_collective(
          call, on, named, [=](CollectiveCall& all) { body(all, arguments...); }, request);
    });
  }
};

/// Enters a collective's three forms, with counts of int and of MPI_Count, into the table. `body`
/// and `large` are the functions for the two.
#define WORMCUBE_MPI_COLLECTIVE(table, Name, name, body, large)                   \
  table.MPI_##Name = Forms<Function::MPI_##Name, body>::blocking;                 \
  table.MPI_##Name##_c = Forms<Function::MPI_##Name, large>::blocking;            \
  table.MPI_I##name = Forms<Function::MPI_I##name, body>::nonblocking;            \
  table.MPI_I##name##_c = Forms<Function::MPI_I##name, large>::nonblocking;       \
  table.MPI_##Name##_init = Forms<Function::MPI_##Name##_init, body>::persistent; \
  table.MPI_##Name##_init_c = Forms<Function::MPI_##Name##_init, large>::persistent

}  // namespace wormcube::mpi
