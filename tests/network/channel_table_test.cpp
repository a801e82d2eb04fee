// Channels by number, in an array or made one by one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/channel_table.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

std::vector<Channel> marked(const ChannelTable& table, std::uint64_t mark) {
  std::vector<Channel> ids;
  table.each_marked(mark, [&](const VirtualChannel& channel) { ids.push_back(channel.id()); });
  return ids;
}

}  // namespace

TEST_CASE("a channel is found by its number, whether nodes have few links or many", "[network]") {
  constexpr Rank nodes = 300;
  const Channel channels = GENERATE(Channel{32} * nodes, Channel{32} * nodes + 1);
  ChannelTable table(channels, nodes);
  for (const Channel channel : {Channel{0}, Channel{1}, Channel{255}, Channel{256}, channels - 1}) {
    CHECK(table.get(channel).id() == channel);
    CHECK(&table.get(channel) == &table.get(channel));
  }
  CHECK(&table.get(255) != &table.get(256));
}

TEST_CASE("neighbours in an array of channels share no cache line", "[network]") {
  ChannelTable table(64, 16);
  CHECK(reinterpret_cast<std::uintptr_t>(&table.get(0)) % 64 == 0);
  CHECK(&table.get(1) == &table.get(0) + 1);
}

TEST_CASE("a walk over marked channels leaves out what lies far from any", "[network]") {
  constexpr Rank nodes = 1000;
  const bool few = GENERATE(true, false);
  const Channel channels = few ? 2 * nodes : 999 * nodes;
  ChannelTable table(channels, nodes);
  for (const Channel channel : {Channel{3}, Channel{300}, Channel{1999}}) {
    static_cast<void>(table.get(channel));
  }
  table.mark(300, 7);
  const std::vector<Channel> found = marked(table, 7);
  CHECK(std::ranges::count(found, Channel{300}) == 1);
  CHECK(std::ranges::count(found, Channel{3}) == 0);
  CHECK(std::ranges::count(found, Channel{1999}) == 0);
  CHECK(std::ranges::is_sorted(found));
  CHECK(marked(table, 6).empty());
  table.mark(1999, 8);
  CHECK(std::ranges::count(marked(table, 8), Channel{1999}) == 1);
  table.mark(300, 8);
  CHECK(marked(table, 7).empty());
}

TEST_CASE("of a network of many links only those that are used take memory", "[network]") {
  CHECK(ChannelTable::bytes_of(2'000'000, 1'000'000) == 128'000'000);
  CHECK(ChannelTable::bytes_of(9'999'900'000, 100'000) < 400'000'000);
}
