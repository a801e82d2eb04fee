// Blocks in an array: places by digits, two arrays without copies back, plans that run again.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/block_array.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// A node of its own: what it sends comes back as what it receives, in the order sent, changed by
/// `reply`. Counts its charges and keeps its messages' sizes.
class Echo final : public Node {
 public:
  explicit Echo(const Topology& topology, Rank rank = 0) : topology_(topology), rank_(rank) {}
  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return topology_; }

  using Node::step;
  void step(std::span<const Op> ops) override {
    ++steps;
    if (meanwhile) std::exchange(meanwhile, {})();
    for (const Op& op : ops) {
      if (!op.is_send()) continue;
      pieces.push_back(op.pieces().size());
      for (const Span piece : op.pieces()) wire_.insert(wire_.end(), piece.begin(), piece.end());
    }
    for (const Op& op : ops) {
      if (op.is_send()) continue;
      for (const Span piece : op.pieces()) {
        for (std::byte& byte : piece) {
          REQUIRE_FALSE(wire_.empty());
          byte = std::byte{static_cast<std::uint8_t>(std::to_integer<int>(wire_.front()) + reply)};
          wire_.pop_front();
        }
      }
    }
  }

  int steps = 0, reply = 0;
  bool dry = false;
  std::function<void()> meanwhile;                           // called once, within the next step
  std::byte *blocks_lie = nullptr, *staging_lies = nullptr;  // if the test says where
  Bytes rearranged = 0, blocks = 0, staging = 0;
  std::vector<std::size_t> pieces;

 protected:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    if (charge == Charge::rearrange) rearranged += bytes;
    if (!dry) work();
  }
  Span acquire(Bytes bytes, Purpose purpose) override {
    (purpose == Purpose::blocks ? blocks : staging) += bytes;
    if (std::byte* const lies = preset_memory(purpose)) return {lies, bytes};
    return {new std::byte[bytes], bytes};  // NOLINT: a test's
  }
  void release(Span data, Purpose purpose) noexcept override {
    if (preset_memory(purpose) == nullptr) delete[] data.data();
  }
  PlanCache& plans() override { return plans_; }

 private:
  std::byte* preset_memory(Purpose purpose) const {
    return purpose == Purpose::blocks ? blocks_lie : staging_lies;
  }

  const Topology& topology_;
  Rank rank_;
  std::deque<std::byte> wire_;
  PlanCache plans_;
};

std::vector<std::byte> counted(Bytes bytes) {
  std::vector<std::byte> data(bytes);
  for (Bytes i = 0; i < bytes; ++i) data[i] = std::byte{static_cast<std::uint8_t>(i)};
  return data;
}

std::vector<int> values(const std::vector<std::byte>& data) {
  std::vector<int> result;
  for (const std::byte byte : data) result.push_back(std::to_integer<int>(byte));
  return result;
}

/// One byte per block: block q is q.
std::vector<int> run(const BlockArray& array, Node& node) {
  const auto p = static_cast<Bytes>(node.size());
  const std::vector<std::byte> out = counted(p);
  std::vector<std::byte> in(p, std::byte{255});
  array.run(node, ConstBlocks(out, node.size()), Blocks(in, node.size()));
  return values(in);
}

/// Any order as a layout: place i holds block order[i].
Layout destinations(const std::vector<Rank>& order, Rank first = 0) {
  Digit digit;
  for (const Rank rank : order) digit.push_back({0, rank});
  return Places{{}, {digit}, first};
}
/// The same for delivery.
Layout sources(const std::vector<Rank>& order, Rank first = 0) {
  Digit digit;
  for (const Rank rank : order) digit.push_back({rank, 0});
  return Places{{}, {digit}, first};
}

const Topology& nodes(int count) {
  static std::deque<Topology> kept;
  return kept.emplace_back(std::vector{Graph::ring(count)});
}

}  // namespace

TEST_CASE("a place is a number whose digits add up to the name of the block", "[block_array]") {
  const Places places{{40, 2}, {multiples(2, {10, 0}), multiples(3, {0, 1})}, 5};
  std::vector<std::pair<Rank, BlockName>> seen;
  places.for_each([&](Rank place, BlockName name) { seen.emplace_back(place, name); });
  CHECK(places.count() == 6);
  REQUIRE(seen.size() == 6);
  CHECK(seen[0] == std::pair(Rank{5}, BlockName{40, 2}));
  CHECK(seen[2] == std::pair(Rank{7}, BlockName{40, 4}));
  CHECK(seen[3] == std::pair(Rank{8}, BlockName{50, 2}));
  CHECK(seen[5] == std::pair(Rank{10}, BlockName{50, 4}));

  int empty = 0;
  Places{{}, {Digit{}, multiples(3, {1, 0})}}.for_each([&](Rank, BlockName) { ++empty; });
  CHECK(empty == 0);
  CHECK(Places{}.count() == 1);
}

TEST_CASE("neighbours in Gray order differ in one bit, the first most significant",
          "[block_array]") {
  const std::vector<Digit> bits{{{0, 0}, {4, 0}}, {{0, 0}, {2, 0}}, {{0, 0}, {1, 0}}};
  std::vector<Rank> codes;
  for (const BlockName name : in_gray_order(bits)) codes.push_back(name.source);
  CHECK(codes == std::vector<Rank>{0, 1, 3, 2, 6, 7, 5, 4});
}

TEST_CASE("what arrives stays in the second array until it is sent on, rearranged or delivered",
          "[block_array]") {
  const Topology& topology = nodes(6);
  const std::vector<Rank> order{0, 1, 2, 3, 4, 5}, turned{5, 3, 1, 0, 2, 4};
  BlockArray array(6);
  array.lay_out(destinations(order));
  array.exchange(Move{0, 1}, Move{0, -1}, {{2, 4}});
  array.exchange(Move{0, 1}, Move{0, -1}, {{3, 2}});
  array.exchange(Move{0, 1}, Move{0, -1}, {{1, 5}});  // from both arrays
  array.rearrange(destinations(order), destinations(turned));
  array.exchange(Move{0, 1}, Move{0, -1}, {{0, 1}, {4, 2}});
  array.deliver(sources(turned));

  Echo node(topology);
  node.reply = 10;  // each passage adds 10
  // Blocks by number: 1 passes in step 3; 2 and 5 in 1, 3; 3, 4 in 1, 2, 3. In the last step those
  // at places 0, 4, 5: 5, 2, 4.
  const std::vector<int> expected{0, 11, 32, 33, 44, 35};
  CHECK(run(array, node) == expected);
  CHECK(node.pieces == std::vector<std::size_t>{1, 1, 4, 2});
  CHECK(node.rearranged == 6);
  CHECK(node.blocks == 6);
  CHECK(node.staging == 6);
  SECTION("and the plan runs again, with blocks of another size") {
    CHECK(run(array, node) == expected);
    const std::vector<std::byte> out = counted(12);
    std::vector<std::byte> in(12);
    array.run(node, ConstBlocks(out, 6), Blocks(in, 6));
    CHECK(values(in) == std::vector<int>{0, 1, 12, 13, 34, 35, 36, 37, 48, 49, 40, 41});
  }
}

TEST_CASE("any permutation of any places is rearranged in two arrays", "[block_array]") {
  std::mt19937 random(1);  // NOLINT: the same each time
  for (int round = 0; round < 300; ++round) {
    const int p = 1 + static_cast<int>(random() % 12);
    const Topology& topology = nodes(std::max(p, 2));
    const int count = topology.nodes();
    const int places = count + static_cast<int>(random() % 4);
    std::vector<Rank> first(count);
    std::iota(first.begin(), first.end(), 0);
    std::vector<Rank> second = first;
    std::shuffle(first.begin(), first.end(), random);
    std::shuffle(second.begin(), second.end(), random);
    const Rank gap = static_cast<Rank>(random() % (places - count + 1));
    BlockArray array(places);
    array.lay_out(destinations(first));
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    for (int steps = 0; steps < 3; ++steps) {
      const Rank begin = static_cast<Rank>(random() % count);
      const Rank length = static_cast<Rank>(random() % (count - begin + 1));
      array.exchange(Rank{0}, {{begin, length}});
      for (Rank i = begin; i < begin + length; ++i) expected[first[i]] += 20;
    }
    array.rearrange(destinations(first), destinations(second, gap));
    array.deliver(sources(second, gap));
    Echo node(topology);
    node.reply = 20;
    INFO("round " << round << ", " << count << " blocks in " << places << " places");
    CHECK(run(array, node) == expected);
  }
}

TEST_CASE("thousands of blocks, whose copies are not kept, call after call", "[block_array]") {
  constexpr Rank p = 3000;
  const Topology& topology = nodes(p);
  std::mt19937 random(2);  // NOLINT: the same each time
  std::vector<Rank> first(p), numbers(p);
  std::iota(first.begin(), first.end(), 0);
  std::vector<Rank> second = first;
  std::shuffle(first.begin(), first.end(), random);
  std::shuffle(second.begin(), second.end(), random);
  // Names without any order, so that some are looked for in the same place.
  Digit names(p);
  for (Rank i = 0; i < p; ++i) names[i] = {static_cast<Rank>(random() % max_nodes), i};
  const auto named = [&](const std::vector<Rank>& order) {
    Digit digit;
    for (const Rank i : order) digit.push_back(names[i]);
    return Places{{}, {digit}};
  };
  BlockArray array(p);
  array.lay_out(destinations(first));
  array.exchange(Rank{0}, {{p / 3, p / 2}});
  array.rearrange(named(first), named(second));
  array.exchange(Rank{0}, {{p / 4, p / 4}});
  array.deliver(sources(second));
  Echo node(topology);
  for (int call = 0; call < 2; ++call) {
    for (Rank i = 0; i < p; ++i) numbers[i] = i + call * p;
    std::vector<Rank> got(p, -1);
    array.run(node, ConstBlocks(std::as_bytes(std::span(numbers)), p),
              Blocks(std::as_writable_bytes(std::span(got)), p));
    CHECK(got == numbers);
  }
}

namespace {

/// An exchange of 12 nodes that sends, rearranges by single blocks and by four, and delivers.
BlockArray twelve_blocks() {
  const std::vector<Rank> mixed{7, 2, 9, 4, 11, 0, 5, 10, 3, 8, 1, 6};
  const std::vector<Rank> fours{8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<Rank> plain(12);
  std::iota(plain.begin(), plain.end(), 0);
  BlockArray array(12);
  array.lay_out(destinations(mixed));
  array.exchange(Rank{0}, {{1, 3}, {6, 4}});
  array.rearrange(destinations(mixed), destinations(plain));
  array.rearrange(destinations(plain), destinations(fours));
  array.exchange(Rank{0}, {{2, 5}});
  array.deliver(sources(fours));
  return array;
}

/// A call of it with blocks of this many bytes; whether all came back.
bool all_come_back(const BlockArray& array, Node& node, Bytes bytes, int seed) {
  std::vector<std::byte> out = counted(12 * bytes), in(12 * bytes, std::byte{99});
  for (std::byte& byte : out) byte ^= std::byte{static_cast<std::uint8_t>(seed)};
  array.run(node, ConstBlocks(out, 12), Blocks(in, 12));
  return in == out;
}

}  // namespace

TEST_CASE("one plan takes blocks of any length in turn", "[block_array]") {
  Echo node(nodes(12));
  const BlockArray array = twelve_blocks();
  int seed = 0;
  for (const Bytes bytes :
       {0, 1, 2, 8, 8, 13, 16, 4, 32, 31, 64, 64, 65, 128, 200, 512, 3, 8, 0, 16}) {
    INFO("blocks of " << bytes << " bytes");
    CHECK(all_come_back(array, node, bytes, ++seed));
  }
}

TEST_CASE("a plan's arrays may lie elsewhere in each call, both or one of them", "[block_array]") {
  constexpr Bytes bytes = 8;
  Echo node(nodes(12));
  const BlockArray array = twelve_blocks();
  std::vector<std::byte> here(4 * 12 * bytes);
  int seed = 0;
  // Quarters of it: both stay, the first moves, the second does, both do.
  for (const auto& [first, second] : {std::pair(0, 2), {0, 2}, {1, 2}, {1, 3}, {0, 2}}) {
    std::ranges::fill(here, std::byte{77});  // what an earlier call left is gone
    node.blocks_lie = here.data() + first * 12 * bytes;
    node.staging_lies = here.data() + second * 12 * bytes;
    CHECK(all_come_back(array, node, bytes, ++seed));
  }
}

TEST_CASE("a plan that is under way runs for another part of the node", "[block_array]") {
  Echo node(nodes(12)), other(nodes(12));
  const BlockArray array = twelve_blocks();
  REQUIRE(all_come_back(array, node, 8, 1));  // its ops are kept
  bool inner = false;
  node.meanwhile = [&] { inner = all_come_back(array, other, 24, 2); };
  CHECK(all_come_back(array, node, 8, 3));
  CHECK(inner);
  CHECK(all_come_back(array, node, 8, 4));
}

TEST_CASE("the parts of a layout may stand in any order", "[block_array]") {
  const Topology& topology = nodes(4);
  const auto part = [](Rank name, Rank first, BlockName step) {
    return Places{name * step, {multiples(2, step)}, first};
  };
  const auto swapped = [&](BlockName step) {
    return Layout({part(0, 2, step), part(2, 0, step)});  // blocks 0, 1 at 2, 3; 2, 3 at 0, 1
  };
  BlockArray array(4);
  array.lay_out(swapped({0, 1}));
  array.exchange(Rank{0}, {{2, 2}});
  SECTION("delivered") { array.deliver(swapped({1, 0})); }
  SECTION("rearranged") {
    array.rearrange(swapped({0, 1}), destinations({3, 2, 1, 0}));
    array.deliver(sources({3, 2, 1, 0}));
  }
  Echo node(topology);
  node.reply = 10;
  CHECK(run(array, node) == std::vector<int>{10, 11, 2, 3});
}

TEST_CASE("messages may grow and shrink, and leave gaps", "[block_array]") {
  const Topology& topology = nodes(4);
  Echo node(topology);
  BlockArray array(5);
  array.lay_out(destinations({0, 1, 2, 3}));
  array.send(Move{0, 1}, {{1, 1}, {3, 1}});      // blocks 1 and 3
  array.receive(Move{0, -1}, {{4, 1}, {3, 1}});  // 1 to place 4, 3 to place 3
  array.idle(3);
  array.deliver(Layout({Places{{}, {{{0, 0}}}}, Places{{}, {{{2, 0}, {3, 0}, {1, 0}}}, 2}}));
  CHECK(run(array, node) == std::vector<int>{0, 1, 2, 3});
  CHECK(node.steps == 5);
}

TEST_CASE("a dry run takes all steps and charges, and touches nothing", "[block_array]") {
  const Topology& topology = nodes(4);
  Echo node(topology);
  node.dry = true;
  BlockArray array(4);
  array.lay_out(destinations({3, 2, 1, 0}), Charge::rearrange);
  array.exchange(Rank{0}, {{2, 2}});
  array.rearrange(destinations({3, 2, 1, 0}), destinations({0, 1, 2, 3}), Charge::none);
  array.rearrange(destinations({0, 1, 2, 3}), destinations({3, 2, 1, 0}));
  array.deliver(sources({3, 2, 1, 0}));
  CHECK(run(array, node) == std::vector<int>{255, 255, 255, 255});
  CHECK(node.steps == 1);
  CHECK(node.rearranged == 8);
}

TEST_CASE("of each block only a part", "[block_array]") {
  const Topology& topology = nodes(3);
  BlockArray array(3);
  array.lay_out(destinations({2, 0, 1}));
  array.deliver(sources({2, 0, 1}));
  Echo node(topology);
  const std::vector<std::byte> out = counted(15);  // blocks of 5 bytes, parts of 2 and 3
  std::vector<std::byte> in(15, std::byte{99});
  array.run(node, ConstBlocks(out, 3), Blocks(in, 3), 1, 2);
  CHECK(values(in) == std::vector<int>{99, 99, 2, 3, 4, 99, 99, 7, 8, 9, 99, 99, 12, 13, 14});
  CHECK(node.blocks == 9);
}
