// Cursors: messages in pieces that are cut differently at both ends.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/network/unread.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

using Data = std::vector<std::byte>;

/// Random pieces, empty ones among them, that together are the whole.
std::vector<Span> cut(Span whole, std::mt19937& random) {
  std::vector<Span> pieces;
  while (!whole.empty() || random() % 3 == 0) {
    const Bytes bytes = std::min<Bytes>(random() % 5 * (random() % 40), whole.size());
    pieces.push_back(whole.first(bytes));
    whole = whole.subspan(bytes);
  }
  return pieces;
}

Data numbered_bytes(Bytes bytes) {
  Data data(bytes);
  for (Bytes i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 131 + i / 256);
  return data;
}

}  // namespace

TEST_CASE("a copy past the caches is a copy, wherever it begins and ends", "[network]") {
  std::vector<std::byte> from(9000), expected(9000), to(9000);
  for (Bytes i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
  for (const Bytes bytes : {0, 1, 63, 64, 2047, 2048, 2049, 2111, 4096, 8191}) {
    for (const Bytes at : {0, 1, 15, 16, 48, 63, 64, 65}) {
      for (const Bytes source : {0, 3, 64}) {
        CAPTURE(bytes, at, source);
        std::ranges::fill(expected, std::byte{0});
        std::ranges::fill(to, std::byte{0});
        std::memcpy(expected.data() + at, from.data() + source, bytes);
        copy_unread(Span(to).subspan(at, bytes), ConstSpan(from).subspan(source, bytes));
        settle_unread();
        REQUIRE(to == expected);
      }
    }
  }
}

TEST_CASE("bytes read from some pieces and written to others are the same bytes", "[network]") {
  const Bytes bytes = GENERATE(0, 1, 63, 64, 65, 1000);
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(bytes, seed);
  std::mt19937 random(seed);
  Data sent = numbered_bytes(bytes), received(bytes);
  const std::vector<Span> from_pieces = cut(sent, random), to_pieces = cut(received, random);
  Cursor from(from_pieces), to(to_pieces);
  Data carrier(70);
  for (Bytes left = bytes; left > 0;) {
    const Bytes count = std::min<Bytes>(1 + random() % carrier.size(), left);
    REQUIRE(from.read({carrier.data(), count}) == count);
    to.write({carrier.data(), count});
    left -= count;
  }
  CHECK(from.read(carrier) == 0);
  CHECK(from.rest().empty());
  CHECK(to.rest().empty());
  CHECK(received == sent);
}

TEST_CASE("a cursor over no pieces, or over empty ones, is at its end", "[network]") {
  const std::vector<Span> empty_ones(3);
  for (Cursor cursor : {Cursor({}), Cursor(empty_ones)}) {
    std::byte byte{};
    CHECK(cursor.rest().empty());
    CHECK(cursor.read({&byte, 1}) == 0);
    cursor.write({});
    CHECK(cursor.rest().empty());
  }
}

TEST_CASE("little data fits the caches, much does not", "[network]") {
  CHECK_FALSE(exceeds_caches(0));
  CHECK_FALSE(exceeds_caches((Bytes{8} << 20) - 1));
  CHECK(exceeds_caches(Bytes{64} << 20));
  const bool measured = exceeds_caches(Bytes{8} << 20);
  CHECK(exceeds_caches(Bytes{32} << 20) == measured);
}
