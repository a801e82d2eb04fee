// The tag table: which receive matches which message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/tag_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
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

TEST_CASE("a message matches the first receive posted for its source and tag", "[network]") {
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

TEST_CASE("a receive matches the first unexpected message of its source and tag, kept or absorbed",
          "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  EarlyMessage* const first = table.keep_short(worm_of(worms, 3, 4, 10));
  REQUIRE(first != nullptr);
  CHECK(first->data().size() == 10);
  table.keep_absorbed(worm_of(worms, 3, 4, 1'000'000));
  table.keep_absorbed(worm_of(worms, 3, 5, 7));
  REQUIRE(table.keep_short(worm_of(worms, 3, 4, 0)) != nullptr);

  CHECK(table.take_early(3, 4) == first);
  CHECK(first->worm == nullptr);
  table.recycle(first);
  EarlyMessage* const second = table.take_early(3, 4);
  REQUIRE(second != nullptr);
  CHECK(second->worm == &worms[1]);
  CHECK(second->bytes == 1'000'000);
  table.recycle(second);
  EarlyMessage* const third = table.take_early(3, 4);
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
    EarlyMessage* const oldest = table.take_early(0, 0);
    REQUIRE(oldest != nullptr);
    table.recycle(oldest);
    EarlyMessage* const late = table.keep_short(worm_of(worms, 0, 0, 200));
    REQUIRE(late != nullptr);
    CHECK(late->data().size() == 200);
    CHECK(table.keep_short(worm_of(worms, 0, 0, 1)) == nullptr);
    table.reset();
    CHECK(table.leftover() == nullptr);
    CHECK(table.take_early(0, 0) == nullptr);
  }
}

TEST_CASE("a table that has grown and is emptied matches as before, and grows again", "[network]") {
  TagTable table;
  for (const int count : {3, 5, 40, 4, 200, 6, 1, 300, 5}) {
    CAPTURE(count);
    std::deque<Receive> receives;
    std::deque<Worm> worms;
    const auto from = [](int i) { return Rank{i % 7}; };
    const auto tag = [](int i) { return Tag{i / 14}; };  // two of each
    for (int i = 0; i < count; ++i) table.post(receive_of(receives, from(i), tag(i)));
    for (int i = count; i-- > 0;) {
      const bool is_second = i % 14 >= 7;
      // All but the last by a message; that is withdrawn.
      const int other = is_second ? i - 7 : i + 7;
      Receive& wanted = receives[static_cast<std::size_t>(other < count ? other : i)];
      if (i > 0) {
        REQUIRE(table.take_receive(from(i), tag(i)) == &wanted);
      } else {
        REQUIRE(table.withdraw(wanted));
        REQUIRE_FALSE(table.withdraw(wanted));
      }
    }
    for (int i = 0; i < count; ++i) REQUIRE(table.take_receive(from(i), tag(i)) == nullptr);

    for (int i = 0; i < count; ++i) table.keep_absorbed(worm_of(worms, from(i), tag(i)));
    for (int i = 0; i < count; ++i) {
      EarlyMessage* const early = table.take_early(from(i), tag(i));
      REQUIRE(early != nullptr);
      REQUIRE(early->worm == &worms[static_cast<std::size_t>(i)]);
      table.recycle(early);
    }
    CHECK(table.leftover() == nullptr);
  }
}

TEST_CASE("an early message has the table's own place, if that is free", "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  std::vector<EarlyMessage*> all;
  const auto keep = [&] {
    all.push_back(table.keep_short(worm_of(worms, 0, 0, 8)));
    REQUIRE(all.back() != nullptr);
  };
  for (int i = 0; i < 6; ++i) keep();
  EarlyMessage* const own = all.front();
  CHECK((std::less{}(static_cast<void*>(&table), static_cast<void*>(own)) &&
         std::less{}(static_cast<void*>(own), static_cast<void*>(&table + 1))));
  for (EarlyMessage* const each : all) {  // its own is given back first
    REQUIRE(table.take_early(0, 0) == each);
    table.recycle(each);
  }
  keep();
  CHECK(all.back() == own);
  keep();
  CHECK(all.back() != own);
  table.reset();
  keep();
  CHECK(all.back() == own);
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
      EarlyMessage* const message = table.take_early(from, tag);
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

TEST_CASE("early buffers hold a bounded number of bytes", "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  const Bytes half = TagTable::unexpected_bytes / 2;
  EarlyMessage* const first = table.keep_short(worm_of(worms, 0, 0, half));
  REQUIRE(first != nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, half + 1)) == nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, ~Bytes{0})) == nullptr);
  REQUIRE(table.keep_short(worm_of(worms, 0, 0, half)) != nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 1)) == nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 0)) != nullptr);
  CHECK(table.take_early(0, 0) == first);
  table.recycle(first);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 1)) != nullptr);
}

TEST_CASE("messages without data use up early memory where headers count", "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  const TagTable::Limits limits{~std::size_t{0}, 1000, 100};
  for (int i = 0; i < 9; ++i) REQUIRE(table.keep_short(worm_of(worms, 0, 0, 0), limits) != nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 1), limits) == nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, ~Bytes{0}), limits) == nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 0), limits) != nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 0), limits) == nullptr);
  CHECK(table.take_peak() == 1000);
  table.recycle(table.take_early(0, 0), limits);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 1), limits) == nullptr);
  CHECK(table.keep_short(worm_of(worms, 0, 0, 0), limits) != nullptr);
}

TEST_CASE("queries wait for a message, probes before claims", "[network]") {
  TagTable table;
  std::deque<Worm> worms;
  std::deque<TagQuery> queries;
  const auto query = [&](TagQuery::Action action, Rank from) {
    TagQuery& made = queries.emplace_back();
    made.action = action;
    made.from = from;
    made.tag = any_tag;
    table.wait_for_message(made);
    return &made;
  };
  TagQuery* const other = query(TagQuery::Action::probe, 4);
  TagQuery* const claims = query(TagQuery::Action::claim, any_source);
  TagQuery* const late = query(TagQuery::Action::claim, 3);
  TagQuery* const probes = query(TagQuery::Action::probe, 3);
  EarlyMessage& early = table.keep_absorbed(worm_of(worms, 3, 9));
  CHECK(table.take_query(early) == probes);
  CHECK(table.take_query(early) == claims);
  CHECK(table.take_query(early) == late);
  CHECK(table.take_query(early) == nullptr);
  table.claim(early);
  CHECK(table.leftover() == nullptr);
  CHECK(table.take_query(table.keep_absorbed(worm_of(worms, 4, 1))) == other);
}

// The oracle is two lists in order: of two that fit the older one is taken.
TEST_CASE("matching with wildcards and contexts picks the oldest that fits", "[network]") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  TagTable table;
  std::deque<Worm> worms;
  std::deque<Receive> receives;
  std::vector<Worm*> early;
  std::vector<Receive*> posted;
  bool as_expected = true;
  const Rank sources = seed % 2 == 0 ? 3 : 500;  // few, or enough to make the table grow
  for (int i = 0; i < 4000; ++i) {
    const auto from = static_cast<Rank>(random() % static_cast<unsigned>(sources));
    const auto tag = static_cast<Tag>(random() % 3);
    const std::uint32_t context = random() % 2;
    const unsigned dice = random() % 16;
    if (dice < 7) {
      Worm& worm = worm_of(worms, from, tag);
      worm.context = context;
      const auto fit = std::ranges::find_if(
          posted, [&](const Receive* receive) { return receive->fits(from, tag, context); });
      Receive* const taken = table.take_receive(from, tag, context);
      as_expected &= taken == (fit == posted.end() ? nullptr : *fit);
      if (fit != posted.end()) {
        posted.erase(fit);
      } else {
        table.keep_absorbed(worm);
        early.push_back(&worm);
      }
    } else if (dice < 15) {
      Receive& receive =
          receive_of(receives, dice % 3 == 0 ? any_source : from, dice % 4 == 0 ? any_tag : tag);
      receive.context = context;
      const auto fit = std::ranges::find_if(early, [&](const Worm* worm) {
        return receive.fits(worm->from, worm->tag, worm->context);
      });
      const EarlyMessage* const seen = table.look(receive);
      EarlyMessage* const taken = table.take_early(receive);
      as_expected &= seen == taken;
      as_expected &=
          (taken == nullptr ? nullptr : taken->worm) == (fit == early.end() ? nullptr : *fit);
      if (fit != early.end()) {
        early.erase(fit);
        table.recycle(taken);
      } else {
        table.post(receive);
        posted.push_back(&receive);
      }
    } else if (!posted.empty()) {
      const std::size_t which = random() % posted.size();
      as_expected &= table.withdraw(*posted[which]);
      as_expected &= !table.withdraw(*posted[which]);
      posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  CHECK(as_expected);
  CHECK((table.leftover() == nullptr) == early.empty());
  if (!early.empty()) CHECK(table.leftover()->worm == early.front());
}

TEST_CASE("a transfer shows its completer what its node is doing", "[network]") {
  using Progress = Transfer::Progress;
  Receive receive;
  receive.begin(Progress::pending);
  CHECK_FALSE(receive.is_complete());
  CHECK(receive.settle() == Progress::pending);
  CHECK(receive.is_complete());
  CHECK_FALSE(receive.await());
  CHECK_FALSE(receive.watch());
  receive.begin(Progress::pending);
  CHECK(receive.await());
  CHECK(receive.settle() == Progress::awaited);
  CHECK(receive.is_complete());
  receive.begin(Progress::pending);
  CHECK(receive.watch());
  receive.unwatch();
  CHECK(receive.watch());
  CHECK(receive.settle() == Progress::watched);
  receive.unwatch();
  CHECK(receive.is_complete());
}
