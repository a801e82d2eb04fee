// The fields of a status that its user does not read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstdint>
#include <cstring>

namespace wormcube::mpi {

/// The message's bytes: Get_count and Get_elements divide this number.
inline std::int64_t status_bytes(const MPI_Status& status) noexcept {
  std::int64_t bytes;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_status_bytes(MPI_Status& status, std::int64_t bytes) noexcept {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}

inline bool status_cancelled(const MPI_Status& status) noexcept {
  return status.MPI_internal[2] != 0;
}
inline void set_status_cancelled(MPI_Status& status, bool cancelled) noexcept {
  status.MPI_internal[2] = cancelled;
}

/// The status of a completed operation. MPI_ERROR keeps its value: only calls that report several
/// statuses write it. Does nothing for STATUS_IGNORE.
inline void write_status(MPI_Status* status, int source, int tag, std::int64_t bytes,
                         bool cancelled = false) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_status_bytes(*status, bytes);
  set_status_cancelled(*status, cancelled);
}

/// The status of a completed send.
inline void write_sent_status(MPI_Status* status) noexcept {
  write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

/// The status of an inactive or null request, which has no error either.
inline void write_empty_status(MPI_Status* status) noexcept {
  write_sent_status(status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace wormcube::mpi
