// Walking over the pieces of a message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/message.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <cstring>

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

void Cursor::write(ConstSpan from) {
  while (!from.empty()) {
    const Span to = rest();
    WORMCUBE_ASSERT(!to.empty());
    const Bytes count = std::min(from.size(), to.size());
    std::memcpy(to.data(), from.data(), count);
    advance(count);
    from = from.subspan(count);
  }
}

}  // namespace wormcube
