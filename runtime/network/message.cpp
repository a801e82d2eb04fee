// Walking over the pieces of a message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/message.hpp"

namespace wormcube {

Bytes Cursor::read(Span to) {
  Bytes done = 0;
  while (done < to.size()) {
    const Span from = rest();
    if (from.empty()) break;
    const Bytes count = std::min(from.size(), to.size() - done);
    std::memcpy(to.data() + done, from.data(), count);
    advance(count);
    done += count;
  }
  return done;
}

}  // namespace wormcube
