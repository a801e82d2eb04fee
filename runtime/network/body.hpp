// How the body of a message goes from the sender's memory to the receiver's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"

namespace wormcube {

// For all functions: the worm holds its path, and one thread acts for it. `to` has room for what is
// copied.

/// In one copy.
void copy_body(const Worm& worm, Cursor to);
/// The same, with stores that bypass the caches: for a receiver that does not read it soon.
void copy_body_past_caches(const Worm& worm, Cursor to);
/// Copies only this many bytes from the front.
void copy_body_first(const Worm& worm, Bytes bytes, Cursor to);

}  // namespace wormcube
