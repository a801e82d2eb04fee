// Finding a node's requests.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/requests.hpp"

#include "wormcube/runtime/base/error.hpp"

namespace wormcube {

Requests& requests_of(Node& node) {
  if (auto* const own = dynamic_cast<RequestNode*>(&node)) return own->requests();
  throw UsageError(
      "requests: only a machine's own nodes have them. A program with requests is not oblivious, "
      "so it has no dry run and no proof; in a view or a part, use the underlying node");
}

}  // namespace wormcube
