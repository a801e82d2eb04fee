// Releases what a request owns.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/request_object.hpp"

namespace wormcube::mpi {

void RequestPool::let_go(RequestObject& object) {
  object.program.reset();
  object.packed.reset();
  object.packed_send.reset();
  object.type.reset();
  object.checked.reset();
  if (object.buffer) object.buffer->used -= AttachedBuffer::taken_by(object.bytes);
  object.buffer.reset();
  for (RequestObject* const each : object.flushed) give_back(*each);
  object.flushed.clear();
}

}  // namespace wormcube::mpi
