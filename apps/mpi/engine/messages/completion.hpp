// What happens to complete requests, for the functions that wait, test and free.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <string>

namespace wormcube::mpi {

/// For a deadlock's report: what a receive from any source took.
inline void note_taken(RankState& rank, const RequestObject& object, const Status& found) {
  if (object.peer == MPI_ANY_SOURCE)
    rank.taken.add(
        {object.communicator->context(), found.source, found.tag, object.started_by, object.at});
}
/// settle() for any request.
int settle_any(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
               MPI_Status* status, std::string* words);
/// Finishes an active request: sets the user's status, unpacks the data, nulls the handle. Returns
/// the error class if the message was too long.
inline int settle(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
                  MPI_Status* status, std::string* words = nullptr) {
  if (!object.is_plain || found.cancelled || found.truncated)
    return settle_any(rank, handle, object, found, status, words);
  if (object.kind == RequestObject::Kind::send) {
    write_sent_status(status);
  } else {
    note_taken(rank, object, found);
    if (status != MPI_STATUS_IGNORE)
      write_status(status, object.communicator->peers().rank_of(found.source), found.tag,
                   static_cast<std::int64_t>(found.bytes));
  }
  rank.pool.give_back_plain(object);
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
/// `found` of the request has completed; returns whether that is all of it. Otherwise the request
/// now waits for the send that goes with it. \param found  becomes the status of the whole
bool is_whole(RequestObject& object, Status& found);
bool is_ready(RankState& rank, const RequestObject& object);
Status wait_for_whole(RankState& rank, RequestObject& object);

/// Null for a null request; throws Failure for an invalid one.
inline RequestObject* object_of(const Call& call, MPI_Request handle) {
  return handle == MPI_REQUEST_NULL ? nullptr : &call.request(handle);
}
/// Throws Failure for one that only this rank can complete, because a waiting rank does nothing
/// else.
void need_others(const RequestObject& object);
/// For reports: notes what the call waits for.
void note_requests(Call& call, const MPI_Request* handles, int count, bool any);

inline MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}
inline void fail_if(int error, const std::string& words) {
  if (error != MPI_SUCCESS) throw Failure(error, words);
}

void add_waiting_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
