// How much one rank sends to each other rank.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube::mpi {

/// By rank of the world; empty if nothing is counted.
struct SentMatrix {
  std::vector<Bytes> bytes;
  std::vector<std::uint64_t> messages;

  void count(Rank to, Bytes sent) {
    if (bytes.empty()) return;
    bytes[static_cast<std::size_t>(to)] += sent;
    ++messages[static_cast<std::size_t>(to)];
  }
};

}  // namespace wormcube::mpi
