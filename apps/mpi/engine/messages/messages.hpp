// Messages between two ranks: starts them, compares their types, buffers their sends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace wormcube::mpi {

/// Which messages a receive or a probe with these arguments matches.
inline MessagePattern pattern_of(const Communicator& on, int from, int tag) {
  return {.source = from == MPI_ANY_SOURCE ? any_source : on.world_rank(from),
          .tag = tag == MPI_ANY_TAG ? any_tag : tag,
          .context = on.context()};
}

/// Starts a receive or a send as an active request of the rank.
RequestObject& start_send(Call& call, const void* data, std::int64_t count, MPI_Datatype type,
                          int to, int tag, MPI_Comm on, Requests::Mode mode,
                          bool persistent = false);
RequestObject& start_receive(Call& call, void* data, std::int64_t count, MPI_Datatype type,
                             int from, int tag, MPI_Comm on, bool persistent = false);
/// The note that travels with a message whose types the receiver compares; otherwise 0.
std::uint64_t strict_note_of(const Call& call, const TypeView& type, std::size_t count);
inline std::uint64_t note_of(const Call& call, const TypeView& type, std::size_t count) {
  return call.rank().job.options().strict ? strict_note_of(call, type, count) : 0;
}
/// With JobOptions::strict: why a message does not match a receive with elements of this type.
/// \param on  to name the sender
std::optional<Failure> wrong_match(const Datatype* type, const Status& found,
                                   const Communicator& on);
/// Starts a send whose partitions are all ready.
void send_partitions(Call& call, RequestObject& object);
// The buffer of a rank, a session or a communicator for buffered sends.
void attach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory,
                   std::int64_t bytes);
/// Waits until every message sent from it has been received or can no longer be lost. \param memory
/// where to store its address
std::int64_t detach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory);
void flush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place);
MPI_Request iflush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place);
/// Starts a request made by Bsend_init.
void send_copy_of(Call& call, const RequestObject& object);
/// Waits for an active request and finishes it.
void finish_request(Call& call, RequestObject& request, MPI_Status* status);
/// Finishes freed requests that are complete.
void reap_detached(RankState& rank, bool wait);

void add_buffered_functions(WormcubeMpiFunctions& table);
void add_own_request_functions(WormcubeMpiFunctions& table);
void add_point_to_point_functions(WormcubeMpiFunctions& table);
void add_probe_functions(WormcubeMpiFunctions& table);
void add_request_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
