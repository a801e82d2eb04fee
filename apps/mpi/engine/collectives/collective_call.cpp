// A collective call: its match, its algorithm, its data.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"

#include "wormcube/apps/mpi/engine/core/nonblocking_node.hpp"

namespace wormcube::mpi {

CollectiveCall::CollectiveCall(Call& its_call, Communicator& on, Function function,
                               NonblockingContext* program)
    : call(its_call), comm(on), function_(function), program_(program) {
  NonblockingPlace* const place = program == nullptr ? nullptr : program->place();
  node_ = place == nullptr ? comm.node : &place->node();
  world_ = place == nullptr ? comm.world : &place->world;
}

TypeView CollectiveCall::type(MPI_Datatype handle) const {
  return program_ == nullptr ? type_view(handle) : program_->type(handle);
}
Operator CollectiveCall::op(MPI_Op handle, const TypeView& on) const {
  return program_ == nullptr ? operator_on(handle, on) : program_->op(handle, on);
}

void CollectiveCall::come(int root, std::int64_t bytes, const Operator* reduces,
                          const CollectiveTypes* types) {
  const CollectiveMatch what{.function = function_,
                             .root = root,
                             .bytes = bytes,
                             .op = reduces == nullptr ? 0 : reduces->key,
                             .op_name = reduces == nullptr ? "" : reduces->name(),
                             .types = types};
  if (program_ != nullptr) return program_->come(what);
  CurrentCall& now = call.rank().call;
  now.waits = CurrentCall::Waits::collective;
  now.peer = root;
  now.bytes = bytes;
  come_to(comm, what);
}

const Collective& CollectiveCall::algorithm(wormcube::Operation operation, Bytes block, int root,
                                            const Operator* reduces) const {
  const SharedCommunicator::Wanted wanted{operation, block, root,
                                          reduces == nullptr ? 0 : reduces->key,
                                          reduces == nullptr ? 0 : reduces->type.serial};
  if (reduces == nullptr) return comm.shared->collective(wanted, node_->topology(), {});
  return comm.shared->collective(wanted, node_->topology(), [&] { return reduction_of(*reduces); });
}

void CollectiveCall::run(const Collective& collective, ConstBlocks in, Blocks out,
                         std::span<const Bytes> sizes) const {
  if (collective.operation()->always_in_place) return collective(*node_, out.all());
  collective(*node_, in, out, sizes);
}

}  // namespace wormcube::mpi
