// Collective calls, which run the registry's algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// A `v` or `w` call on an intercommunicator.
template <class Count, class Place, class Type>
std::function<std::vector<Uneven::Block>()> blocks_of_peers(const CollectiveCall& all,
                                                            const Count* counts,
                                                            const Place* places, Type type) {
  return [&all, counts, places, type] {
    return blocks_of(all, all.comm.peers().size(), counts, places, type);
  };
}

// Bodies of the calls' three forms, with counts of either type.

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
    throw Failure(MPI_ERR_COUNT,
                  fmt::format("the root sends {} bytes but receives {} from each rank",
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
    throw Failure(MPI_ERR_COUNT, fmt::format("the root receives {} bytes but sends {} to each rank",
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
    throw Failure(MPI_ERR_COUNT,
                  fmt::format("this rank sends {} bytes to each rank but receives {} from each",
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
    throw Failure(MPI_ERR_COUNT,
                  fmt::format("this rank sends {} bytes to each rank but receives {} from each",
                              given.size() / p, blocks.bytes()));
  }
  if (blocks.bytes() == 0) return;
  all.run(all.algorithm(operations::alltoall, blocks.bytes()), {given, all.size()}, blocks);
  result.deliver();
}

// Only the root knows all sizes, so each rank's message goes directly to it, in one step.
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
    throw Failure(MPI_ERR_COUNT, fmt::format("the root sends {} bytes to itself but receives {}",
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
                  fmt::format("the root sends {} bytes to itself but has room for {}",
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
    throw Failure(MPI_ERR_COUNT, fmt::format("this rank sends {} bytes to itself but receives {}",
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

/// The sizes of all pairs' blocks, for algorithms that need them: an all-gather of what each rank
/// sends.
std::vector<Bytes> pair_sizes(const CollectiveCall& all, const ConstBlocks& given) {
  const Rank p = all.size();
  std::vector<Bytes> own, gathered(static_cast<std::size_t>(p) * static_cast<std::size_t>(p));
  for (Rank q = 0; q < p; ++q) own.push_back(given[q].size());
  const auto row = std::as_bytes(std::span(own));
  const Blocks rows(std::as_writable_bytes(std::span(gathered)), p);
  if (p == 1) return own;
  all.run(all.algorithm(operations::allgather, row.size()), {row, 1}, rows);
  std::vector<Bytes> sizes;
  all.node().local([&] { sizes = gathered; });  // when it has arrived
  return sizes;
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
  // All ranks must choose the same algorithm, but they share no common size.
  const Collective& chosen = all.algorithm(operations::alltoallv, 1024);
  std::vector<Bytes> sizes;
  if (chosen.algorithm->needs_sizes) sizes = pair_sizes(all, *given);
  all.run(chosen, *given, result.blocks(), sizes);
  result.deliver();
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
}

}  // namespace wormcube::mpi
