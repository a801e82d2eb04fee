// The tag table: which receive takes which message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/tag_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

Receive& receive_of(std::deque<Receive>& receives, Rank from, Tag tag, Bytes bytes = 0) {
  Receive& made = receives.emplace_back();
  made.from = from;
  made.tag = tag;
  made.bytes = bytes;
  return made;
}

Worm& worm_of(std::deque<Worm>& worms, Rank from, Tag tag, Bytes bytes = 0) {
  Worm& made = worms.emplace_back();
  made.from = from;
  made.tag = tag;
  made.bytes = bytes;
  return made;
}

}  // namespace

TEST_CASE("a message takes the first receive that was posted for its source and tag", "[network]") {
  TagTable table;
  std::deque<Receive> receives;
  // All but d share a bucket; tags may be negative.
  Receive& a = receive_of(receives, 1, 0);
  Receive& b = receive_of(receives, 17, 0);
  Receive& c = receive_of(receives, 1, 0);
  Receive& d = receive_of(receives, 1, -5);
  Receive& e = receive_of(receives, 1, 0);
  Receive& f = receive_of(receives, 1, 16);
  for (Receive& receive : receives) table.post(receive);
  CHECK(table.take_receive(2, 0) == nullptr);
  CHECK(table.take_receive(1, 1) == nullptr);
  CHECK(table.take_receive(1, 16) == &f);
  CHECK(table.take_receive(1, 16) == nullptr);
  CHECK(table.take_receive(1, 0) == &a);
  CHECK(table.take_receive(1, -5) == &d);
  CHECK(table.take_receive(1, 0) == &c);
  CHECK(table.take_receive(17, 0) == &b);
  CHECK(table.take_receive(17, 0) == nullptr);
  CHECK(table.take_receive(1, 0) == &e);
  CHECK(table.take_receive(1, 0) == nullptr);
  table.post(a);  // an emptied list takes receives again
  CHECK(table.take_receive(1, 0) == &a);
}

TEST_CASE("a receive takes the first early message of its source and tag, kept or absorbed",
          "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  TagTable::Early* const first = table.keep_short(worm_of(worms, 3, 4, 10));
  REQUIRE(first != nullptr);
  CHECK(first->data().size() == 10);
  table.keep_absorbed(worm_of(worms, 3, 4, 1'000'000));
  table.keep_absorbed(worm_of(worms, 3, 5, 7));
  REQUIRE(table.keep_short(worm_of(worms, 3, 4, 0)) != nullptr);

  CHECK(table.take_early(3, 4) == first);
  CHECK(first->worm == nullptr);
  table.recycle(first);
  TagTable::Early* const second = table.take_early(3, 4);
  REQUIRE(second != nullptr);
  CHECK(second->worm == &worms[1]);
  CHECK(second->bytes == 1'000'000);
  table.recycle(second);
  TagTable::Early* const third = table.take_early(3, 4);
  REQUIRE(third != nullptr);
  CHECK((third->worm == nullptr && third->bytes == 0));
  CHECK(table.take_early(3, 4) == nullptr);
  REQUIRE(table.leftover() != nullptr);
  CHECK(table.leftover()->tag == 5);
}

TEST_CASE("short messages find no early buffer when all are full, and again when one is empty",
          "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < TagTable::early_slots; ++i) {
      REQUIRE(table.keep_short(worm_of(worms, 0, 0, 1 + i % 100)) != nullptr);
    }
    CHECK(table.keep_short(worm_of(worms, 0, 0, 1)) == nullptr);
    table.keep_absorbed(worm_of(worms, 0, 0, 1));  // this always finds room, and takes no buffer
    TagTable::Early* const oldest = table.take_early(0, 0);
    REQUIRE(oldest != nullptr);
    table.recycle(oldest);
    TagTable::Early* const late = table.keep_short(worm_of(worms, 0, 0, 200));
    REQUIRE(late != nullptr);
    CHECK(late->data().size() == 200);
    CHECK(table.keep_short(worm_of(worms, 0, 0, 1)) == nullptr);
    table.reset();
    CHECK(table.leftover() == nullptr);
    CHECK(table.take_early(0, 0) == nullptr);
  }
}

// The oracle is a queue per source and tag.
TEST_CASE("matching keeps the order of each source and tag among all others", "[network]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  TagTable table;
  std::deque<Worm> worms;
  std::deque<Receive> receives;
  std::map<std::pair<Rank, Tag>, std::deque<Worm*>> early;
  std::map<std::pair<Rank, Tag>, std::deque<Receive*>> posted;
  bool as_expected = true;
  for (int i = 0; i < 5000; ++i) {
    const auto from = static_cast<Rank>(random() % 40);
    const Tag tag = std::array<Tag, 4>{0, 1, 16, -16}[random() % 4];
    auto& messages = early[{from, tag}];
    auto& waiting = posted[{from, tag}];
    if (random() % 2 == 0) {  // a message arrives
      Worm& worm = worm_of(worms, from, tag);
      Receive* const receive = table.take_receive(from, tag);
      as_expected &= receive == (waiting.empty() ? nullptr : waiting.front());
      if (receive != nullptr) {
        waiting.pop_front();
      } else {
        table.keep_absorbed(worm);
        messages.push_back(&worm);
      }
    } else {  // a receive is posted
      TagTable::Early* const message = table.take_early(from, tag);
      as_expected &= (message == nullptr) == messages.empty();
      if (message != nullptr) {
        as_expected &= message->worm == messages.front();
        messages.pop_front();
        table.recycle(message);
      } else {
        Receive& receive = receive_of(receives, from, tag);
        table.post(receive);
        waiting.push_back(&receive);
      }
    }
  }
  CHECK(as_expected);
}
