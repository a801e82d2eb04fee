// Collectives of intercommunicators: one group receives what the other one sends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace wormcube::mpi {

/// A buffer as a call names it.
template <class Data>
struct Buffer {
  Data data;
  std::int64_t count;  ///< of each block, if there are several
  MPI_Datatype type;
};
/// Blocks of a `v` or `w` call, one for each rank of the other group; read only if they matter.
template <class Data>
struct BlockBuffer {
  Data data;
  std::function<std::vector<Uneven::Block>()> blocks;
};

/// Waits until all ranks of the communicator, of either kind, have called this.
void wait_for_all(Call& call, Communicator& on);

void barrier_between(CollectiveCall& all);
/// The same without a call.
void wait_between(const CollectiveCall& all);
void bcast_between(CollectiveCall& all, const Buffer<void*>& data, int root);
void gather_between(CollectiveCall& all, const Buffer<const void*>& out, const Buffer<void*>& in,
                    int root);
void gatherv_between(CollectiveCall& all, const Buffer<const void*>& out,
                     const BlockBuffer<void*>& in, int root);
void scatter_between(CollectiveCall& all, const Buffer<const void*>& out, const Buffer<void*>& in,
                     int root);
void scatterv_between(CollectiveCall& all, const BlockBuffer<const void*>& out,
                      const Buffer<void*>& in, int root);
void allgather_between(CollectiveCall& all, const Buffer<const void*>& out,
                       const Buffer<void*>& in);
void allgatherv_between(CollectiveCall& all, const Buffer<const void*>& out,
                        const BlockBuffer<void*>& in);
void alltoall_between(CollectiveCall& all, const Buffer<const void*>& out, const Buffer<void*>& in);
void alltoallv_between(CollectiveCall& all, const BlockBuffer<const void*>& out,
                       const BlockBuffer<void*>& in);
void reduce_between(CollectiveCall& all, const void* out, const Buffer<void*>& in, MPI_Op op,
                    int root);
void allreduce_between(CollectiveCall& all, const void* out, const Buffer<void*>& in, MPI_Op op);
/// \param counts  of elements, for each rank of this group
void reduce_scatter_between(CollectiveCall& all, const void* out, void* in,
                            const std::vector<std::int64_t>& counts, MPI_Datatype type, MPI_Op op);

/// Sends the value of each group's rank 0 to all ranks of the other group.
void swap_between(Call& call, const Communicator& on, ConstSpan out, Span in);

}  // namespace wormcube::mpi
