// What the checks say of a send or a receive without its other end.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/unmatched.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

std::string tag_text(Tag tag) { return tag == 0 ? "" : fmt::format(" with tag {}", tag); }

}  // namespace

std::string unmatched_send_text(std::size_t step, Rank from, Rank to, Tag tag, Bytes bytes,
                                std::optional<Bytes> received) {
  return fmt::format("step {}: node {} sends {} bytes to {}{}, which receives {}", step, from,
                     bytes, to, tag_text(tag), received ? fmt::format("{}", *received) : "none");
}

std::string unmatched_receive_text(std::size_t step, Rank from, Rank to, Tag tag, Bytes bytes) {
  return fmt::format("step {}: node {} receives {} bytes from {}{}, which sends none", step, to,
                     bytes, from, tag_text(tag));
}

}  // namespace wormcube
