// Collectives of intercommunicators: each group's own part, and the messages between the groups.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"

#include <cstring>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Bytestring = std::vector<std::byte>;

bool is_leader(const CollectiveCall& all) { return all.comm.rank == 0; }

Op send_over(const CollectiveCall& all, int peer, ConstSpan data) {
  return wormcube::send(all.comm.world_rank(peer), data);
}
Op receive_over(const CollectiveCall& all, int peer, Span data) {
  return receive(all.comm.world_rank(peer), data);
}

// Within this group, from or to its rank 0.

void bcast_within(const CollectiveCall& all, Span data) {
  if (all.size() == 1 || data.empty()) return;
  all.run(all.algorithm(operations::broadcast, data.size()), {ConstSpan(), 0}, {data, 1});
}
/// Gathers all blocks at rank 0.
Bytestring gathered_within(const CollectiveCall& all, ConstSpan mine) {
  Bytestring whole(is_leader(all) ? mine.size() * static_cast<std::size_t>(all.size()) : 0);
  if (mine.empty()) return whole;
  all.run(all.algorithm(operations::gather, mine.size()), {mine, 1},
          is_leader(all) ? Blocks(whole, all.size()) : Blocks(Span(), 0));
  return whole;
}
/// Reduces over all ranks, to rank 0.
Bytestring reduced_within(const CollectiveCall& all, ConstSpan mine, const Operator& with) {
  Bytestring whole(is_leader(all) ? mine.size() : 0);
  if (mine.empty()) return whole;
  if (all.size() == 1) {
    std::memcpy(whole.data(), mine.data(), mine.size());
  } else {
    all.run(all.algorithm(operations::reduce, mine.size(), 0, &with), {mine, 1},
            is_leader(all) ? Blocks(whole, 1) : Blocks(Span(), 0));
  }
  return whole;
}

/// From each rank of this group to each rank of the other.
void exchange_with_all(CollectiveCall& all, const ConstBlocks& out, const Blocks& in,
                       bool one_block) {
  std::vector<Op> ops;
  for (Rank r = 0; r < in.count(); ++r) ops.push_back(receive_over(all, r, in[r]));
  for (Rank r = 0; r < in.count(); ++r) ops.push_back(send_over(all, r, out[one_block ? 0 : r]));
  all.world().step(ops);
}

std::size_t peers_of(const CollectiveCall& all) {
  return static_cast<std::size_t>(all.comm.peers().size());
}

/// What this group sends and what it receives.
ComparedTypes types_of(const CollectiveCall& all, const Buffer<const void*>& out) {
  ComparedTypes types(all);
  types.gives(all.type(out.type), out.count);
  return types;
}
ComparedTypes types_of(const CollectiveCall& all, const Buffer<void*>& in) {
  ComparedTypes types(all);
  types.gets(all.type(in.type), in.count);
  return types;
}
ComparedTypes types_of(const CollectiveCall& all, const Buffer<const void*>& out,
                       const Buffer<void*>& in) {
  ComparedTypes types(all);
  types.gives(all.type(out.type), out.count);
  types.gets(all.type(in.type), in.count);
  return types;
}

SendBuffer given_of(const CollectiveCall& all, const Buffer<const void*>& out,
                    std::size_t blocks = 1) {
  return {all.call, out.data, all.call.count(out.count) * blocks, all.type(out.type)};
}
ReceiveBuffer taken_of(const CollectiveCall& all, const Buffer<void*>& in, std::size_t blocks = 1) {
  return {all.call, in.data, all.call.count(in.count) * blocks, all.type(in.type)};
}

/// Whether this rank is the root that sends to, or receives from, a whole group. Otherwise it is in
/// that group, or in the root's group and takes no part.
enum class Part { root, outside_root, other };
Part part_of(const CollectiveCall& all, int root) {
  all.call.root(all.comm, root);
  return root == MPI_ROOT ? Part::root : root == MPI_PROC_NULL ? Part::outside_root : Part::other;
}
constexpr int no_root = -1;  // in the root's group

}  // namespace

void barrier_between(CollectiveCall& all) {
  all.come(0, 0);
  wait_between(all);
}

void wait_between(const CollectiveCall& all) {
  std::byte nothing{};
  static_cast<void>(gathered_within(all, {&nothing, 1}));
  if (is_leader(all)) all.world().step({send_over(all, 0, {}), receive_over(all, 0, {})});
  bcast_within(all, {&nothing, 1});
}

void bcast_between(CollectiveCall& all, const Buffer<void*>& data, int root) {
  switch (part_of(all, root)) {
    case Part::root: {
      const Buffer<const void*> sent{data.data, data.count, data.type};
      const SendBuffer message = given_of(all, sent);
      all.come(no_root, -1, nullptr, types_of(all, sent).get());
      return all.world().step({send_over(all, 0, message.data())});
    }
    case Part::outside_root:
      return all.come(no_root, -1);
    case Part::other: {
      const ReceiveBuffer message = taken_of(all, data);
      all.come(root, static_cast<std::int64_t>(message.data().size()), nullptr,
               types_of(all, data).get());
      if (is_leader(all)) all.world().step({receive_over(all, root, message.data())});
      bcast_within(all, message.data());
      message.deliver();
    }
  }
}

void gather_between(CollectiveCall& all, const Buffer<const void*>& out, const Buffer<void*>& in,
                    int root) {
  switch (part_of(all, root)) {
    case Part::root: {
      const ReceiveBuffer result = taken_of(all, in, peers_of(all));
      all.come(no_root, -1, nullptr, types_of(all, in).get());
      all.world().step({receive_over(all, 0, result.data())});
      return result.deliver();
    }
    case Part::outside_root:
      return all.come(no_root, -1);
    case Part::other: {
      const SendBuffer mine = given_of(all, out);
      all.come(root, static_cast<std::int64_t>(mine.data().size()), nullptr,
               types_of(all, out).get());
      const Bytestring whole = gathered_within(all, mine.data());
      if (is_leader(all)) all.world().step({send_over(all, root, whole)});
    }
  }
}

void gatherv_between(CollectiveCall& all, const Buffer<const void*>& out,
                     const BlockBuffer<void*>& in, int root) {
  switch (part_of(all, root)) {
    case Part::root: {
      const std::vector<Uneven::Block> received = in.blocks();
      const Uneven result(all.call, in.data, received, "the receive buffer");
      ComparedTypes types(all);
      types.add_received(received);
      all.come(no_root, -1, nullptr, types.get());
      std::vector<Op> ops;
      const Blocks blocks = result.blocks();
      for (Rank r = 0; r < blocks.count(); ++r) ops.push_back(receive_over(all, r, blocks[r]));
      all.world().step(ops);
      return result.deliver();
    }
    case Part::outside_root:
      return all.come(no_root, -1);
    case Part::other: {
      const SendBuffer mine = given_of(all, out);
      ComparedTypes types(all);
      types.add_sent(root, all.type(out.type), all.call.count(out.count));
      all.come(root, -1, nullptr, types.get());
      all.world().step({send_over(all, root, mine.data())});
    }
  }
}

void scatter_between(CollectiveCall& all, const Buffer<const void*>& out, const Buffer<void*>& in,
                     int root) {
  switch (part_of(all, root)) {
    case Part::root: {
      const SendBuffer whole = given_of(all, out, peers_of(all));
      all.come(no_root, -1, nullptr, types_of(all, out).get());
      return all.world().step({send_over(all, 0, whole.data())});
    }
    case Part::outside_root:
      return all.come(no_root, -1);
    case Part::other: {
      const ReceiveBuffer mine = taken_of(all, in);
      const Span block = mine.data();
      all.come(root, static_cast<std::int64_t>(block.size()), nullptr, types_of(all, in).get());
      Bytestring whole(is_leader(all) ? block.size() * static_cast<std::size_t>(all.size()) : 0);
      if (is_leader(all)) all.world().step({receive_over(all, root, whole)});
      if (!block.empty()) {
        all.run(all.algorithm(operations::scatter, block.size()),
                is_leader(all) ? ConstBlocks(whole, all.size()) : ConstBlocks(ConstSpan(), 0),
                {block, 1});
      }
      mine.deliver();
    }
  }
}

void scatterv_between(CollectiveCall& all, const BlockBuffer<const void*>& out,
                      const Buffer<void*>& in, int root) {
  switch (part_of(all, root)) {
    case Part::root: {
      const std::vector<Uneven::Block> sent = out.blocks();
      const Uneven whole(all.call, out.data, sent, "the send buffer");
      ComparedTypes types(all);
      types.add_sent(sent);
      all.come(no_root, -1, nullptr, types.get());
      std::vector<Op> ops;
      const Blocks blocks = whole.blocks();
      for (Rank r = 0; r < blocks.count(); ++r) ops.push_back(send_over(all, r, blocks[r]));
      return all.world().step(ops);
    }
    case Part::outside_root:
      return all.come(no_root, -1);
    case Part::other: {
      const ReceiveBuffer mine = taken_of(all, in);
      ComparedTypes types(all);
      types.add_received(root, all.type(in.type), all.call.count(in.count));
      all.come(root, -1, nullptr, types.get());
      all.world().step({receive_over(all, root, mine.data())});
      mine.deliver();
    }
  }
}

void allgather_between(CollectiveCall& all, const Buffer<const void*>& out,
                       const Buffer<void*>& in) {
  const SendBuffer mine = given_of(all, out);
  const ReceiveBuffer result = taken_of(all, in, peers_of(all));
  all.come(0, static_cast<std::int64_t>(mine.data().size()), nullptr, types_of(all, out, in).get());
  const Bytestring whole = gathered_within(all, mine.data());
  if (is_leader(all))
    all.world().step({send_over(all, 0, whole), receive_over(all, 0, result.data())});
  bcast_within(all, result.data());
  result.deliver();
}

void allgatherv_between(CollectiveCall& all, const Buffer<const void*>& out,
                        const BlockBuffer<void*>& in) {
  const SendBuffer mine = given_of(all, out);
  const std::vector<Uneven::Block> received = in.blocks();
  const Uneven result(all.call, in.data, received, "the receive buffer");
  ComparedTypes types(all);
  types.add_alike(received);
  types.add_sent(0, all.type(out.type), all.call.count(out.count));  // all ranks receive the same
  if (is_leader(all)) types.add_received(received);
  all.come(0, -1, nullptr, types.get());
  exchange_with_all(all, {mine.data(), 1}, result.blocks(), true);
  result.deliver();
}

void alltoall_between(CollectiveCall& all, const Buffer<const void*>& out,
                      const Buffer<void*>& in) {
  const SendBuffer given = given_of(all, out, peers_of(all));
  const ReceiveBuffer result = taken_of(all, in, peers_of(all));
  const auto peers = static_cast<Rank>(peers_of(all));
  all.come(0, -1, nullptr, types_of(all, out, in).get());
  exchange_with_all(all, {given.data(), peers}, {result.data(), peers}, false);
  result.deliver();
}

void alltoallv_between(CollectiveCall& all, const BlockBuffer<const void*>& out,
                       const BlockBuffer<void*>& in) {
  const std::vector<Uneven::Block> sent = out.blocks(), received = in.blocks();
  const Uneven given(all.call, out.data, sent, "the send buffer");
  const Uneven result(all.call, in.data, received, "the receive buffer");
  ComparedTypes types(all);
  types.add_sent(sent);
  types.add_received(received);
  all.come(0, -1, nullptr, types.get());
  exchange_with_all(all, given.blocks(), result.blocks(), false);
  result.deliver();
}

void reduce_between(CollectiveCall& all, const void* out, const Buffer<void*>& in, MPI_Op op,
                    int root) {
  const Part part = part_of(all, root);
  if (part == Part::outside_root) return all.come(no_root, -1);
  const Operator with = all.op(op, all.type(in.type));
  const std::size_t count = all.call.count(in.count);
  if (part == Part::root) {
    const ReceiveBuffer result(all.call, in.data, count, with.operand());
    all.come(no_root, -1, nullptr, types_of(all, in).get());
    all.world().step({receive_over(all, 0, result.data())});
    return result.deliver();
  }
  const SendBuffer mine(all.call, out, count, with.operand());
  all.come(root, static_cast<std::int64_t>(mine.data().size()), &with,
           types_of(all, Buffer<const void*>{out, in.count, in.type}).get());
  const Bytestring whole = reduced_within(all, mine.data(), with);
  if (is_leader(all)) all.world().step({send_over(all, root, whole)});
}

void allreduce_between(CollectiveCall& all, const void* out, const Buffer<void*>& in, MPI_Op op) {
  const Operator with = all.op(op, all.type(in.type));
  const std::size_t count = all.call.count(in.count);
  const SendBuffer mine(all.call, out, count, with.operand());
  const ReceiveBuffer result(all.call, in.data, count, with.operand());
  all.come(0, static_cast<std::int64_t>(mine.data().size()), &with,
           types_of(all, {out, in.count, in.type}, in).get());
  const Bytestring whole = reduced_within(all, mine.data(), with);
  if (is_leader(all))
    all.world().step({send_over(all, 0, whole), receive_over(all, 0, result.data())});
  bcast_within(all, result.data());
  result.deliver();
}

void reduce_scatter_between(CollectiveCall& all, const void* out, void* in,
                            const std::vector<std::int64_t>& counts, MPI_Datatype type, MPI_Op op) {
  const Operator with = all.op(op, all.type(type));
  std::vector<Bytes> offsets{0};
  std::size_t elements = 0;
  for (const std::int64_t count : counts) {
    elements += all.call.count(count);
    offsets.push_back(elements * with.operand().size);
  }
  const SendBuffer mine(all.call, out, elements, with.operand());
  const ReceiveBuffer result(
      all.call, in, static_cast<std::size_t>(counts[static_cast<std::size_t>(all.comm.rank)]),
      with.operand());
  const auto total = static_cast<std::int64_t>(elements);  // the same in both groups
  all.come(0, static_cast<std::int64_t>(mine.data().size()), &with,
           types_of(all, {out, total, type}, {in, total, type}).get());
  const Bytestring whole = reduced_within(all, mine.data(), with);
  if (!is_leader(all)) {
    all.node().step({receive(0, result.data())});
    return result.deliver();
  }
  Bytestring theirs(mine.data().size());
  all.world().step({send_over(all, 0, whole), receive_over(all, 0, theirs)});
  const ConstBlocks blocks(theirs, std::span<const Bytes>(offsets));
  std::vector<Op> ops;
  for (Rank r = 1; r < all.size(); ++r) ops.push_back(wormcube::send(r, blocks[r]));
  if (!ops.empty()) all.node().step(ops);
  copy(blocks[0], result.data());
  result.deliver();
}

void swap_between(Call& call, const Communicator& on, ConstSpan out, Span in) {
  call.rank().call.waits = CurrentCall::Waits::collective;
  if (on.rank == 0) {
    on.world->step({wormcube::send(on.world_rank(0), out), receive(on.world_rank(0), in)});
  }
  if (on.size() == 1 || in.empty()) return;
  const Collective& broadcast = on.shared->collective(
      {.operation = operations::broadcast, .block_bytes = in.size()}, on.node->topology(), {});
  broadcast(*on.node, in);
}

void wait_for_all(Call& call, Communicator& on) {
  if (on.remote) {
    CollectiveCall all(call, on, call.function());
    return wait_between(all);
  }
  if (on.size() == 1) return;
  call.rank().call.communicator = &on;
  call.rank().call.waits = CurrentCall::Waits::collective;
  const Collective& barrier = on.shared->collective(
      {.operation = operations::barrier, .block_bytes = 0}, on.node->topology(), {});
  barrier(*on.node, ConstBlocks(ConstSpan(), 0), Blocks(Span(), 0));
}

}  // namespace wormcube::mpi
