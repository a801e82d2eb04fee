// Collective calls that reduce.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

void refuse_between(const CollectiveCall& all) {
  if (all.comm.remote) throw Failure(MPI_ERR_COMM, "an intercommunicator has no scans");
}

/// A group with a single rank.
void copy_operand(ConstSpan from, Span to) {
  if (from.data() != to.data() && !from.empty()) std::memmove(to.data(), from.data(), from.size());
}

/// A rank's operand of a reduction; in place, a copy of its receive buffer, because that is
/// overwritten.
class GivenOperands {
 public:
  /// \param whole  the receive buffer holds as many elements as the operand
  GivenOperands(const Call& call, const void* out, std::size_t count, const Operator& with,
                Span whole) {
    if (out == MPI_IN_PLACE) {
      keep(whole);
    } else {
      given_.emplace(call, out, count, with.operand());
      require_separate(given_->data(), whole);
    }
  }
  /// \param part  the receive buffer holds only a part
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

void add_reducing_collectives(WormcubeMpiFunctions& table) {
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
