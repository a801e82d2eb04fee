// Cursors: messages in pieces that are cut differently at both ends.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/message.hpp"

#include <algorithm>
#include <cstddef>
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
