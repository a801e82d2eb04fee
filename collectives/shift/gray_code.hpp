// Circular shift by powers of two along a line that a Gray code lays into a hypercube.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <vector>

namespace wormcube {

/// Into which powers of two a shift is taken apart: forward ones alone, or both directions.
enum class ShiftPowers : std::uint8_t { forward, both };

/// Circular shift: node r's block ends at node r + by (modulo p), by leaps of powers of two. Made for
/// nodes that are numbered along a line, node i at the hypercube's label gray(i) = i xor i/2: a leap
/// of 2^b > 1 then crosses two links, in two steps between neighbours, a leap of 1 crosses one.
///
/// \param mine    1 block; it may lie in \p result
/// \param result  1 block of that size
/// \param by      any number, also negative
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     (ts + tw m) times the steps: of `forward` one for bit 0 of q = by mod p and two for each
///          other bit set, at most 2 log p - 1; of `both` at most log p.
/// Links    neighbours only, each link one message in a step, if node i is at label gray(i) (a group
///          of a hypercube's nodes in that order). A network numbered otherwise routes the same
///          messages over longer, shared ways: use shift_direct there.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.6.2, Fig. 4.23,
///          Eq. 4.11.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void shift_gray_code(Node& node, std::int64_t by, ConstBlocks mine, Blocks result,
                     ShiftPowers powers);

/// The leaps +-2^b whose sum is q modulo 2^bits, the largest first.
std::vector<Rank> shift_leaps(Rank q, int bits, ShiftPowers powers);

constexpr Rank gray(Rank i) { return i ^ i >> 1; }

}  // namespace wormcube
