// Collective calls, by the registry's algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// Of a `v` or `w` call on an intercommunicator.
template <class Count, class Place, class Type>
std::function<std::vector<Uneven::Block>()> blocks_of_peers(const CollectiveCall& all,
                                                            const Count* counts,
                                                            const Place* places, Type type) {
  return [&all, counts, places, type] {
    return blocks_of(all, all.comm.peers().size(), counts, places, type);
  };
}

void refuse_between(const CollectiveCall& all) {
  if (all.comm.remote)
    throw Failure(MPI_ERR_COMM, "scans are for one group, not for an intercommunicator");
}

// Texts of the calls' three forms, with counts of either type.

void barrier(CollectiveCall& all) {
  if (all.comm.remote) return barrier_between(all);
  all.come(0, 0);
  if (all.size() == 1) return;
  all.run(all.algorithm(operations::barrier, 0), {ConstSpan(), 0}, {Span(), 0});
}

template <class Count>
void bcast(CollectiveCall& all, void* data, Count count, MPI_Datatype type, int root) {
  if (all.comm.remote) return bcast_between(all, {data, count, type}, root);
  const TypeView view = all.type(type);
  const std::size_t many = all.call.count(count);
  all.call.root(all.comm, root);
  const ReceiveBuffer message(all.call, data, many, view);
  const ComparedTypes types(all, view, count);
  all.come(root, static_cast<std::int64_t>(message.data().size()), nullptr, types.get());
  if (all.size() == 1 || message.data().empty()) return;
  all.run(all.algorithm(operations::broadcast, message.data().size(), root), {ConstSpan(), 0},
          {message.data(), 1});
  if (!all.is_root(root)) message.deliver();
}

template <class Count>
void gather(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type, void* in,
            Count in_count, MPI_Datatype in_type, int root) {
  if (all.comm.remote)
    return gather_between(all, {out, out_count, out_type}, {in, in_count, in_type}, root);
  const Call& call = all.call;
  call.root(all.comm, root);
  const Rank p = all.size();
  if (!all.is_root(root)) {
    const SendBuffer mine(call, out, call.count(out_count), all.type(out_type));
    const ComparedTypes types(all, all.type(out_type), out_count);
    all.come(root, static_cast<std::int64_t>(mine.data().size()), nullptr, types.get());
    if (mine.data().empty()) return;
    return all.run(all.algorithm(operations::gather, mine.data().size(), root), {mine.data(), 1},
                   {Span(), 0});
  }
  const TypeView type = all.type(in_type);
  const std::size_t many = call.count(in_count);
  const ReceiveBuffer result(call, in, many * static_cast<std::size_t>(p), type);
  const Blocks blocks(result.data(), p);
  std::vector<std::byte> own;  // in place
  ConstSpan given;
  std::optional<SendBuffer> mine;
  if (out == MPI_IN_PLACE) {
    const Span place = blocks[root];
    own.assign(place.begin(), place.end());
    given = own;
  } else {
    mine.emplace(call, out, call.count(out_count), all.type(out_type));
    given = mine->data();
    require_separate(given, result.data());
  }
  const ComparedTypes types(all, out, out_type, out_count, in, in_type, in_count);
  all.come(root, static_cast<std::int64_t>(blocks.bytes()), nullptr, types.get());
  if (given.size() != blocks.bytes()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("the root sends {} bytes and receives {} of each rank",
                                             given.size(), blocks.bytes()));
  }
  if (blocks.bytes() == 0) return;
  all.run(all.algorithm(operations::gather, blocks.bytes(), root), {given, 1}, blocks);
  result.deliver();
}

template <class Count>
void scatter(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type, void* in,
             Count in_count, MPI_Datatype in_type, int root) {
  if (all.comm.remote)
    return scatter_between(all, {out, out_count, out_type}, {in, in_count, in_type}, root);
  const Call& call = all.call;
  call.root(all.comm, root);
  const Rank p = all.size();
  if (!all.is_root(root)) {
    const ReceiveBuffer mine(call, in, call.count(in_count), all.type(in_type));
    const ComparedTypes types(all, all.type(in_type), in_count);
    all.come(root, static_cast<std::int64_t>(mine.data().size()), nullptr, types.get());
    if (mine.data().empty()) return;
    all.run(all.algorithm(operations::scatter, mine.data().size(), root), {ConstSpan(), 0},
            {mine.data(), 1});
    return mine.deliver();
  }
  const SendBuffer given(call, out, call.count(out_count) * static_cast<std::size_t>(p),
                         all.type(out_type));
  const ConstBlocks blocks(given.data(), p);
  std::vector<std::byte> unused;  // in place: the root's block stays where it is
  std::optional<ReceiveBuffer> mine;
  Span result;
  if (in == MPI_IN_PLACE) {
    unused.resize(blocks.bytes());
    result = unused;
  } else {
    mine.emplace(call, in, call.count(in_count), all.type(in_type));
    result = mine->data();
    require_separate(given.data(), result);
  }
  const ComparedTypes types(all, out, out_type, out_count, in, in_type, in_count);
  all.come(root, static_cast<std::int64_t>(blocks.bytes()), nullptr, types.get());
  if (result.size() != blocks.bytes()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("the root receives {} bytes and sends {} to each rank",
                                             result.size(), blocks.bytes()));
  }
  if (blocks.bytes() == 0) return;
  all.run(all.algorithm(operations::scatter, blocks.bytes(), root), blocks, {result, 1});
  if (mine) mine->deliver();
}

template <class Count>
void allgather(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type,
               void* in, Count in_count, MPI_Datatype in_type) {
  if (all.comm.remote)
    return allgather_between(all, {out, out_count, out_type}, {in, in_count, in_type});
  const Call& call = all.call;
  const Rank p = all.size();
  const ReceiveBuffer result(call, in, call.count(in_count) * static_cast<std::size_t>(p),
                             all.type(in_type));
  const Blocks blocks(result.data(), p);
  std::optional<SendBuffer> mine;
  ConstSpan given = blocks[all.comm.rank];
  if (out != MPI_IN_PLACE) {
    mine.emplace(call, out, call.count(out_count), all.type(out_type));
    given = mine->data();
    require_separate(given, result.data());
  }
  const ComparedTypes types(all, out, out_type, out_count, in, in_type, in_count);
  all.come(0, static_cast<std::int64_t>(blocks.bytes()), nullptr, types.get());
  if (given.size() != blocks.bytes()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of each rank",
                                             given.size(), blocks.bytes()));
  }
  if (blocks.bytes() == 0) return;
  all.run(all.algorithm(operations::allgather, blocks.bytes()), {given, 1}, blocks);
  result.deliver();
}

template <class Count>
void alltoall(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type,
              void* in, Count in_count, MPI_Datatype in_type) {
  if (all.comm.remote)
    return alltoall_between(all, {out, out_count, out_type}, {in, in_count, in_type});
  const Call& call = all.call;
  const auto p = static_cast<std::size_t>(all.size());
  const ReceiveBuffer result(call, in, call.count(in_count) * p, all.type(in_type));
  const Blocks blocks(result.data(), all.size());
  std::vector<std::byte> kept;
  std::optional<SendBuffer> mine;
  ConstSpan given;
  if (out == MPI_IN_PLACE) {
    kept.assign(result.data().begin(), result.data().end());
    given = kept;
  } else {
    mine.emplace(call, out, call.count(out_count) * p, all.type(out_type));
    given = mine->data();
    require_separate(given, result.data());
  }
  const ComparedTypes types(all, out, out_type, out_count, in, in_type, in_count);
  all.come(0, static_cast<std::int64_t>(blocks.bytes()), nullptr, types.get());
  if (given.size() != result.data().size()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of each rank",
                                             given.size() / p, blocks.bytes()));
  }
  if (blocks.bytes() == 0) return;
  all.run(all.algorithm(operations::alltoall, blocks.bytes()), {given, all.size()}, blocks);
  result.deliver();
}

// Only the root knows all sizes: each rank's message goes straight to it, in one step.
template <class Count, class Place>
void gatherv(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type, void* in,
             const Count in_counts[], const Place places[], MPI_Datatype in_type, int root) {
  if (all.comm.remote) {
    return gatherv_between(all, {out, out_count, out_type},
                           {in, blocks_of_peers(all, in_counts, places, in_type)}, root);
  }
  const Call& call = all.call;
  call.root(all.comm, root);
  if (!all.is_root(root)) {
    const SendBuffer mine(call, out, call.count(out_count), all.type(out_type));
    ComparedTypes types(all);
    types.add_sent(root, all.type(out_type), call.count(out_count));
    all.come(root, -1, nullptr, types.get());
    all.node().step({wormcube::send(root, mine.data())});
    return;
  }
  const auto received = blocks_of(all, all.size(), in_counts, places, in_type);
  const Uneven result(call, in, received, "the receive buffer");
  std::optional<SendBuffer> mine;
  if (out != MPI_IN_PLACE) mine.emplace(call, out, call.count(out_count), all.type(out_type));
  ComparedTypes types(all);
  types.add_received(received);
  if (mine) {
    types.add_sent(root, all.type(out_type), call.count(out_count));
  }
  all.come(root, -1, nullptr, types.get());
  const Blocks blocks = result.blocks();
  if (mine && mine->data().size() != blocks[root].size()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("the root sends {} bytes and receives {} of itself",
                                             mine->data().size(), blocks[root].size()));
  }
  std::vector<Op> ops;
  for (Rank r = 0; r < all.size(); ++r) {
    if (r != root) ops.push_back(receive(r, blocks[r]));
  }
  if (!ops.empty()) all.node().step(ops);
  if (mine) all.node().local([&] { copy(mine->data(), blocks[root]); });
  result.deliver();
}

template <class Count, class Place>
void scatterv(CollectiveCall& all, const void* out, const Count out_counts[], const Place places[],
              MPI_Datatype out_type, void* in, Count in_count, MPI_Datatype in_type, int root) {
  if (all.comm.remote) {
    return scatterv_between(all, {out, blocks_of_peers(all, out_counts, places, out_type)},
                            {in, in_count, in_type}, root);
  }
  const Call& call = all.call;
  call.root(all.comm, root);
  if (!all.is_root(root)) {
    const ReceiveBuffer mine(call, in, call.count(in_count), all.type(in_type));
    ComparedTypes types(all);
    types.add_received(root, all.type(in_type), call.count(in_count));
    all.come(root, -1, nullptr, types.get());
    all.node().step({receive(root, mine.data())});
    return mine.deliver();
  }
  const auto sent = blocks_of(all, all.size(), out_counts, places, out_type);
  const Uneven given(call, out, sent, "the send buffer");
  std::optional<ReceiveBuffer> mine;
  if (in != MPI_IN_PLACE) mine.emplace(call, in, call.count(in_count), all.type(in_type));
  ComparedTypes types(all);
  types.add_sent(sent);
  if (mine) types.add_received(root, all.type(in_type), call.count(in_count));
  all.come(root, -1, nullptr, types.get());
  const Blocks blocks = given.blocks();
  if (mine && mine->data().size() < blocks[root].size()) {
    throw Failure(MPI_ERR_TRUNCATE,
                  fmt::format("the root sends {} bytes to itself, which has room for {}",
                              blocks[root].size(), mine->data().size()));
  }
  std::vector<Op> ops;
  for (Rank r = 0; r < all.size(); ++r) {
    if (r != root) ops.push_back(wormcube::send(r, blocks[r]));
  }
  if (!ops.empty()) all.node().step(ops);
  if (!mine) return;
  all.node().local([&] { copy(blocks[root], mine->data().first(blocks[root].size())); });
  mine->deliver();
}

template <class Count, class Place>
void allgatherv(CollectiveCall& all, const void* out, Count out_count, MPI_Datatype out_type,
                void* in, const Count in_counts[], const Place places[], MPI_Datatype in_type) {
  if (all.comm.remote) {
    return allgatherv_between(all, {out, out_count, out_type},
                              {in, blocks_of_peers(all, in_counts, places, in_type)});
  }
  const Call& call = all.call;
  const auto received = blocks_of(all, all.size(), in_counts, places, in_type);
  const Uneven result(call, in, received, "the receive buffer");
  const Blocks blocks = result.blocks();
  const Span own = blocks[all.comm.rank];
  std::vector<std::byte> kept;
  std::optional<SendBuffer> mine;
  ConstSpan given;
  if (out == MPI_IN_PLACE) {
    kept.assign(own.begin(), own.end());
    given = kept;
  } else {
    mine.emplace(call, out, call.count(out_count), all.type(out_type));
    given = mine->data();
  }
  if (given.size() != own.size()) {
    throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of this rank",
                                             given.size(), own.size()));
  }
  ComparedTypes types(all);
  types.add_alike(received);
  if (mine) {
    types.add_sent(all.comm.rank, all.type(out_type), call.count(out_count));
    const Uneven::Block& own_block = received[static_cast<std::size_t>(all.comm.rank)];
    types.add_received(all.comm.rank, own_block.type, own_block.count);
  }
  all.come(0, static_cast<std::int64_t>(result.bytes()), nullptr, types.get());
  if (result.bytes() == 0) return;
  const std::vector<Bytes> sizes = result.sizes();
  const std::array<Bytes, 2> whole{0, given.size()};
  if (all.size() == 1) {
    copy(given, own);
  } else {
    all.run(all.algorithm(operations::allgatherv, result.bytes() / sizes.size()),
            {given, std::span<const Bytes>(whole)}, blocks, sizes);
  }
  result.deliver();
}

/// Alltoallv and Alltoallw: one type, or one for each block.
template <class Count, class Place, class Type>
void alltoallv(CollectiveCall& all, const void* out, const Count out_counts[],
               const Place out_places[], Type out_type, void* in, const Count in_counts[],
               const Place in_places[], Type in_type) {
  if (all.comm.remote) {
    return alltoallv_between(all, {out, blocks_of_peers(all, out_counts, out_places, out_type)},
                             {in, blocks_of_peers(all, in_counts, in_places, in_type)});
  }
  const Call& call = all.call;
  const auto received = blocks_of(all, all.size(), in_counts, in_places, in_type);
  const Uneven result(call, in, received, "the receive buffer");
  ComparedTypes types(all);
  types.add_received(received);
  std::vector<std::byte> kept;
  std::optional<Uneven> mine;
  std::optional<ConstBlocks> given;
  if (out == MPI_IN_PLACE) {
    const Blocks blocks = result.blocks();
    kept.assign(blocks.all().begin(), blocks.all().end());
    types.add_sent(received);
    given.emplace(ConstSpan(kept), blocks.offsets());
  } else {
    const auto sent = blocks_of(all, all.size(), out_counts, out_places, out_type);
    mine.emplace(call, out, sent, "the send buffer");
    types.add_sent(sent);
    given.emplace(mine->blocks());
  }
  all.come(0, -1, nullptr, types.get());
  // All ranks must choose alike, and know no common size.
  all.run(all.algorithm(operations::alltoallv, 1024), *given, result.blocks());
  result.deliver();
}

// ---- Reductions ----

/// One rank alone.
void copy_operand(ConstSpan from, Span to) {
  if (from.data() != to.data() && !from.empty()) std::memmove(to.data(), from.data(), from.size());
}

/// What a rank gives to a reduction; in place what lies in its receive buffer, kept while that is written.
class GivenOperands {
 public:
  /// \param whole  the receive buffer's operands, as many as are given
  GivenOperands(const Call& call, const void* out, std::size_t count, const Operator& with,
                Span whole) {
    if (out == MPI_IN_PLACE) {
      keep(whole);
    } else {
      given_.emplace(call, out, count, with.operand());
      require_separate(given_->data(), whole);
    }
  }
  /// \param part  the receive buffer, for a part of them
  GivenOperands(const Call& call, const void* out, void* in, std::size_t count,
                const Operator& with, Span part) {
    if (out == MPI_IN_PLACE) {
      keep(ReceiveBuffer(call, in, count, with.operand()).data());
    } else {
      given_.emplace(call, out, count, with.operand());
      require_separate(given_->data(), part);
    }
  }
  ConstSpan data() const { return given_ ? given_->data() : ConstSpan(kept_); }

 private:
  void keep(Span whole) { kept_.assign(whole.begin(), whole.end()); }
  std::vector<std::byte> kept_;
  std::optional<SendBuffer> given_;
};

void all_to_all_reduction(CollectiveCall& all, wormcube::Operation operation, const void* out,
                          void* in, std::int64_t count, MPI_Datatype type, MPI_Op op) {
  const TypeView view = all.type(type);
  const Operator with = all.op(op, view);
  const std::size_t many = all.call.count(count);
  const ReceiveBuffer taken(all.call, in, many, with.operand());
  const Span result = taken.data();
  const GivenOperands given(all.call, out, many, with, result);
  const ComparedTypes types(all, view, count);
  all.come(0, static_cast<std::int64_t>(result.size()), &with, types.get());
  if (result.empty()) return;
  if (all.size() > 1) {
    all.run(all.algorithm(operation, result.size(), 0, &with), {given.data(), 1}, {result, 1});
  } else if (!(operation == wormcube::Operation(operations::exscan))) {
    copy_operand(given.data(), result);
  }
  taken.deliver();
}

template <class Count>
void allreduce(CollectiveCall& all, const void* out, void* in, Count count, MPI_Datatype type,
               MPI_Op op) {
  if (all.comm.remote) return allreduce_between(all, out, {in, count, type}, op);
  all_to_all_reduction(all, operations::allreduce, out, in, count, type, op);
}
template <class Count>
void scan(CollectiveCall& all, const void* out, void* in, Count count, MPI_Datatype type,
          MPI_Op op) {
  refuse_between(all);
  all_to_all_reduction(all, operations::scan, out, in, count, type, op);
}
template <class Count>
void exscan(CollectiveCall& all, const void* out, void* in, Count count, MPI_Datatype type,
            MPI_Op op) {
  refuse_between(all);
  all_to_all_reduction(all, operations::exscan, out, in, count, type, op);
}

template <class Count>
void reduce(CollectiveCall& all, const void* out, void* in, Count count, MPI_Datatype type,
            MPI_Op op, int root) {
  if (all.comm.remote) return reduce_between(all, out, {in, count, type}, op, root);
  const Call& call = all.call;
  call.root(all.comm, root);
  const TypeView view = all.type(type);
  const Operator with = all.op(op, view);
  const std::size_t many = call.count(count);
  const bool is_root = all.is_root(root);
  std::optional<ReceiveBuffer> taken;
  if (is_root) taken.emplace(call, in, many, with.operand());
  const Span result = taken ? taken->data() : Span();
  if (!is_root && out == MPI_IN_PLACE) call.pointer(out, 1, "the send buffer");
  const GivenOperands given(call, out, many, with, result);
  const ComparedTypes types(all, view, count);
  all.come(root, static_cast<std::int64_t>(given.data().size()), &with, types.get());
  if (given.data().empty()) return;
  if (all.size() == 1) {
    copy_operand(given.data(), result);
  } else {
    all.run(all.algorithm(operations::reduce, given.data().size(), root, &with), {given.data(), 1},
            is_root ? Blocks(result, 1) : Blocks(Span(), 0));
  }
  if (taken) taken->deliver();
}

template <class Count>
void reduce_scatter_block(CollectiveCall& all, const void* out, void* in, Count count,
                          MPI_Datatype type, MPI_Op op) {
  if (all.comm.remote) {
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(all.size()), count);
    return reduce_scatter_between(all, out, in, counts, type, op);
  }
  const TypeView view = all.type(type);
  const Operator with = all.op(op, view);
  const std::size_t many = all.call.count(count);
  const auto p = static_cast<std::size_t>(all.size());
  const ReceiveBuffer taken(all.call, in, many, with.operand());
  const Span result = taken.data();
  const GivenOperands given(all.call, out, in, many * p, with, result);
  const ComparedTypes types(all, view, count);
  all.come(0, static_cast<std::int64_t>(result.size()), &with, types.get());
  if (result.empty()) return;
  if (p == 1) {
    copy_operand(given.data(), result);
  } else {
    all.run(all.algorithm(operations::reduce_scatter, result.size(), 0, &with),
            {given.data(), all.size()}, {result, 1});
  }
  taken.deliver();
}

template <class Count>
void reduce_scatter(CollectiveCall& all, const void* out, void* in, const Count counts[],
                    MPI_Datatype type, MPI_Op op) {
  if (all.comm.remote)
    return reduce_scatter_between(all, out, in, {counts, counts + all.size()}, type, op);
  const TypeView view = all.type(type);
  const Operator with = all.op(op, view);
  std::vector<Bytes> sizes, offsets{0};
  std::size_t elements = 0;
  for (Rank r = 0; r < all.size(); ++r) {
    const std::size_t count = all.call.count(counts[r]);
    elements += count;
    sizes.push_back(count * with.operand().size);
    offsets.push_back(offsets.back() + sizes.back());
  }
  const auto mine = static_cast<std::size_t>(all.comm.rank);
  const ReceiveBuffer taken(all.call, in, static_cast<std::size_t>(counts[mine]), with.operand());
  const Span result = taken.data();
  const GivenOperands given(all.call, out, in, elements, with, result);
  const ComparedTypes types(all, view, static_cast<std::int64_t>(elements));
  all.come(0, static_cast<std::int64_t>(offsets.back()), &with, types.get());
  if (offsets.back() == 0) return;
  if (all.size() == 1) {
    copy_operand(given.data(), result);
  } else {
    const std::array<Bytes, 2> whole{0, result.size()};
    all.run(all.algorithm(operations::reduce_scatterv, offsets.back() / sizes.size(), 0, &with),
            {given.data(), std::span<const Bytes>(offsets)},
            {result, std::span<const Bytes>(whole)}, sizes);
  }
  taken.deliver();
}

}  // namespace

void add_collective_functions(WormcubeMpiFunctions& table) {
  table.MPI_Barrier = Forms<Function::MPI_Barrier, barrier>::blocking;
  table.MPI_Ibarrier = Forms<Function::MPI_Ibarrier, barrier>::nonblocking;
  table.MPI_Barrier_init = Forms<Function::MPI_Barrier_init, barrier>::persistent;
  WORMCUBE_MPI_COLLECTIVE(table, Bcast, bcast, bcast<int>, bcast<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Gather, gather, gather<int>, gather<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Scatter, scatter, scatter<int>, scatter<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Allgather, allgather, allgather<int>, allgather<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Alltoall, alltoall, alltoall<int>, alltoall<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Gatherv, gatherv, (gatherv<int, int>),
                          (gatherv<MPI_Count, MPI_Aint>));
  WORMCUBE_MPI_COLLECTIVE(table, Scatterv, scatterv, (scatterv<int, int>),
                          (scatterv<MPI_Count, MPI_Aint>));
  WORMCUBE_MPI_COLLECTIVE(table, Allgatherv, allgatherv, (allgatherv<int, int>),
                          (allgatherv<MPI_Count, MPI_Aint>));
  WORMCUBE_MPI_COLLECTIVE(table, Alltoallv, alltoallv, (alltoallv<int, int, MPI_Datatype>),
                          (alltoallv<MPI_Count, MPI_Aint, MPI_Datatype>));
  WORMCUBE_MPI_COLLECTIVE(table, Alltoallw, alltoallw, (alltoallv<int, int, const MPI_Datatype*>),
                          (alltoallv<MPI_Count, MPI_Aint, const MPI_Datatype*>));
  WORMCUBE_MPI_COLLECTIVE(table, Reduce, reduce, reduce<int>, reduce<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Allreduce, allreduce, allreduce<int>, allreduce<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Scan, scan, scan<int>, scan<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Exscan, exscan, exscan<int>, exscan<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Reduce_scatter, reduce_scatter, reduce_scatter<int>,
                          reduce_scatter<MPI_Count>);
  WORMCUBE_MPI_COLLECTIVE(table, Reduce_scatter_block, reduce_scatter_block,
                          reduce_scatter_block<int>, reduce_scatter_block<MPI_Count>);
}

}  // namespace wormcube::mpi
