// Refuses sizes that are none.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/memory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <fmt/core.h>

namespace wormcube {

void refuse_memory(Bytes bytes) {
  throw UsageError(
      fmt::format("memory of {} bytes: a node can have up to {} at once (is the size negative?)",
                  bytes, most_memory));
}

}  // namespace wormcube
