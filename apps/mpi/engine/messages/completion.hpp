// What becomes of requests that are complete: for the functions that wait, ask, and free.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <string>

namespace wormcube::mpi {

/// Of an active request what its end leaves: the user's status, the data unpacked, the handle null.
/// Returns the error class of a message that was too long.
int settle(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
           MPI_Status* status, std::string* words = nullptr);
/// `found` has become complete of it; whether that is all of it. Else the send that goes with it is
/// what it waits for from now on. \param found  then the whole's
bool is_whole(RequestObject& object, Status& found);
bool is_ready(RankState& rank, const RequestObject& object);
Status wait_for_whole(RankState& rank, RequestObject& object);

/// Null for a request that is null; throws Failure for one that is none.
RequestObject* object_of(const Call& call, MPI_Request handle);
/// Throws Failure for one that only this rank can complete: a rank that waits does nothing else.
void need_others(const RequestObject& object);
/// For reports: what the call waits for.
void note_requests(Call& call, const MPI_Request* handles, int count, bool any);

inline MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}
inline void fail_if(int error, const std::string& words) {
  if (error != MPI_SUCCESS) throw Failure(error, words);
}

void add_waiting_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
