// What a status holds beside what its user reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstdint>
#include <cstring>

namespace wormcube::mpi {

/// Bytes of the message: what Get_count and Get_elements divide.
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

/// A completed operation's. MPI_ERROR stays what it was: only calls that report several statuses
/// write it. STATUS_IGNORE is passed over.
inline void write_status(MPI_Status* status, int source, int tag, std::int64_t bytes,
                         bool cancelled = false) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_status_bytes(*status, bytes);
  set_status_cancelled(*status, cancelled);
}

/// A completed send's.
inline void write_sent_status(MPI_Status* status) noexcept {
  write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

/// Of an inactive or null request: that has no error either.
inline void write_empty_status(MPI_Status* status) noexcept {
  write_sent_status(status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace wormcube::mpi
