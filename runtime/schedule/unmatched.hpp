// What the checks report of a send or a receive without its other end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/rank.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace wormcube {

/// "step 0: node 0 sends 8 bytes to 1, which receives none": an end without its other end.
/// \param received  what the receiver expects, if it expects another size
std::string unmatched_send_text(std::size_t step, Rank from, Rank to, Tag tag, Bytes bytes,
                                std::optional<Bytes> received);
std::string unmatched_receive_text(std::size_t step, Rank from, Rank to, Tag tag, Bytes bytes);

}  // namespace wormcube
