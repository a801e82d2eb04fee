// Messages between two ranks: started, compared, sent from attached buffers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace wormcube::mpi {

/// Starts a receive or a send as an active request of the rank's.
RequestObject& start_send(Call& call, const void* data, std::int64_t count, MPI_Datatype type,
                          int to, int tag, MPI_Comm on, Requests::Mode mode,
                          bool persistent = false);
RequestObject& start_receive(Call& call, void* data, std::int64_t count, MPI_Datatype type,
                             int from, int tag, MPI_Comm on, bool persistent = false);
/// What travels with a message whose types are compared at its other end; else 0.
std::uint64_t strict_note_of(const Call& call, const TypeView& type, std::size_t count);
inline std::uint64_t note_of(const Call& call, const TypeView& type, std::size_t count) {
  return call.rank().job.options().strict ? strict_note_of(call, type, count) : 0;
}
/// With JobOptions::strict: why a message is not for a receive of elements of this type. \param on
/// to name the sender
std::optional<Failure> wrong_match(const Datatype* type, const Status& found,
                                   const Communicator& on);
/// Starts a send of which all partitions are ready.
void send_partitions(Call& call, RequestObject& object);
// Of a rank, a session or a communicator: room for buffered sends.
void attach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory,
                   std::int64_t bytes);
/// Waits until all that was sent from it has been received or is on its way for good. \param memory
/// where its address goes
std::int64_t detach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory);
void flush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place);
MPI_Request iflush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place);
/// Starts what Bsend_init made.
void send_copy_of(Call& call, const RequestObject& object);
/// Waits for an active one and ends it.
void finish_request(Call& call, RequestObject& request, MPI_Status* status);
/// Ends what has been freed and is complete.
void reap_detached(RankState& rank, bool wait);

void add_buffered_functions(WormcubeMpiFunctions& table);
void add_own_request_functions(WormcubeMpiFunctions& table);
void add_point_to_point_functions(WormcubeMpiFunctions& table);
void add_request_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
