// Elements that remember their origin, encoded so that no constant looks like one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/hash.hpp"

#include <cstdint>

namespace wormcube::tags {

inline constexpr Bytes word_bytes = sizeof(std::uint64_t);

/// Where an element comes from: 24 bits of origin, 24 of block, 16 of index.
inline std::uint64_t tag(Rank origin, Rank block, std::uint64_t index) {
  return static_cast<std::uint64_t>(origin) << 40 | static_cast<std::uint64_t>(block) << 16 | index;
}
constexpr std::uint64_t origin_of(std::uint64_t tag) { return tag >> 40; }
constexpr std::uint64_t block_of(std::uint64_t tag) { return tag >> 16 & 0xffffff; }
constexpr std::uint64_t index_of(std::uint64_t tag) { return tag & 0xffff; }

/// The mask of tags (exclusive or): random bits, so that neither zeros nor any other constant of a
/// program is a block that some node gave. As its highest bit is set, zeros, sizes and numbers of
/// nodes decode to an origin that no network has.
inline std::uint64_t salt(const Contract& contract) {
  return mixed(contract.seed + 0x9e3779b97f4a7c15U) | std::uint64_t{1} << 63;
}
/// The same for the block number in the order-tracking operator's elements.
inline std::uint32_t block_salt(const Contract& contract) {
  return static_cast<std::uint32_t>(salt(contract));
}

}  // namespace wormcube::tags
