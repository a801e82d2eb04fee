// The network driven by hand, in one thread: an observer launches a worm while it delays another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/network.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/resident.hpp"
#include "wormcube/tests/sanitized.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

class Host final : public NetworkHost {
 public:
  void completed(Rank node) noexcept override { completions.push_back(node); }
  void noticed(Rank node) noexcept override { notices.push_back(node); }
  void failed(Rank node, std::uint64_t step, std::exception_ptr what) noexcept override {
    failed_node = node;
    failed_step = step;
    error = what;
  }
  bool give_back(Rank node, Waiter& waiter) noexcept override {
    return on_give_back && on_give_back(node, waiter);
  }
  std::chrono::nanoseconds own_time() noexcept override {
    return std::chrono::nanoseconds(++ticks);
  }
  void moved_data(Rank node, std::chrono::nanoseconds time) noexcept override {
    moved[node] += time.count();
  }
  std::function<bool(Rank, Waiter&)> on_give_back;
  std::map<Rank, std::int64_t> moved;
  std::int64_t ticks = 0;
  std::vector<Rank> completions, notices;
  Rank failed_node = -1;
  std::uint64_t failed_step = 0;
  std::exception_ptr error;
};

class Observer final : public NetworkObserver {
 public:
  void reserved(Rank from, Rank to, Channel channel, int hop) override {
    if (on_reserved) on_reserved(from, to, channel, hop);
  }
  std::function<void(Rank, Rank, Channel, int)> on_reserved;
};

/// A network, and the worms and receives of all its nodes.
struct Bench {
  explicit Bench(Topology topology, bool all_port = false, Bytes eager_limit = 1024,
                 int virtual_channels = 2)
      : network(Routing(std::move(topology), virtual_channels),
                {all_port, eager_limit, &observer, true}, host) {}

  struct Sent {
    std::vector<std::byte> data;
    Span piece;
    Worm worm;
  };
  struct Received {
    std::vector<std::byte> data;
    Span piece;
    Receive receive;
  };

  Worm& worm(Rank from, const Op& op, Bytes bytes = 100) {
    Sent& made = sent.emplace_back();
    made.data.resize(bytes);
    for (Bytes i = 0; i < bytes; ++i) made.data[i] = static_cast<std::byte>(i + 100 * sent.size());
    made.piece = made.data;
    network.address(made.worm, from, op);
    made.worm.tag = op.tag();
    made.worm.bytes = bytes;
    made.worm.data = std::span(&made.piece, 1);
    return made.worm;
  }
  void launch(Rank from, const Op& op, Bytes bytes = 100) { network.launch(worm(from, op, bytes)); }
  Receive& post(Rank to, Rank from, Bytes bytes = 100, Tag tag = 0) {
    Received& made = received.emplace_back();
    made.data.resize(bytes);
    made.piece = made.data;
    Receive& receive = made.receive;
    receive.from = from;
    receive.to = to;
    receive.tag = tag;
    receive.bytes = bytes;
    receive.data = std::span(&made.piece, 1);
    receive.done = false;
    network.post(receive);
    return receive;
  }

  Host host;
  Observer observer;
  Network network;
  std::deque<Sent> sent;
  std::deque<Received> received;
};

Op to(Rank rank, Tag tag = 0) { return send(rank, ConstSpan{}, tag); }
Op by(Move move, Tag tag = 0) { return send(move, ConstSpan{}, tag); }

}  // namespace

TEST_CASE("a message whose receive waits arrives unchanged", "[network]") {
  const Bytes bytes = GENERATE(0, 1, 64, 65, 1000, 1025, 100'000);
  const Rank receiver = GENERATE(0, 1, 5);  // of node 0: no link, one, four
  CAPTURE(bytes, receiver);
  Bench bench(Topology::parse("torus:3x3x3"), false, 1024);
  const Rank destination = receiver == 5 ? 17 : receiver;
  const Receive& receive = bench.post(destination, 0, bytes);
  bench.launch(0, to(destination), bytes);
  CHECK(receive.done);
  CHECK(bench.sent[0].worm.state == Worm::State::done);
  CHECK(bench.host.completions == std::vector<Rank>{destination, 0});
  CHECK(bench.received[0].data == bench.sent[0].data);
  CHECK_FALSE(bench.network.leftover());
}

TEST_CASE("a short message that comes early is done, a long one waits and holds no link",
          "[network]") {
  Bench bench(Topology::parse("line:3"));
  bench.launch(0, to(2, 7), 1024);
  CHECK(bench.host.completions == std::vector<Rank>{0});
  bench.launch(0, to(2, 7), 1025);
  CHECK(bench.sent[1].worm.state == Worm::State::absorbed);
  CHECK(bench.network.held_links(bench.sent[1].worm).empty());
  REQUIRE(bench.network.leftover());
  CHECK(*bench.network.leftover() ==
        "node 2 never received a message of 1024 bytes from node 0 with tag 7");

  bench.post(2, 1);  // the path is free for others
  bench.launch(1, to(2));
  CHECK(bench.received[0].receive.done);

  bench.post(2, 0, 1024, 7);
  bench.post(2, 0, 1025, 7);
  CHECK(bench.sent[1].worm.state == Worm::State::done);
  CHECK(bench.received[1].data == bench.sent[0].data);
  CHECK(bench.received[2].data == bench.sent[1].data);
  CHECK_FALSE(bench.network.leftover());
  CHECK_FALSE(bench.host.error);
}

TEST_CASE("a short message without an early buffer stays with its sender, in order", "[network]") {
  Bench bench(Topology::parse("line:2"));
  const std::size_t messages = TagTable::early_slots + 5;
  for (std::size_t i = 0; i < messages; ++i) bench.launch(0, to(1), 3);
  for (std::size_t i = 0; i < messages; ++i) {
    CHECK(bench.sent[i].worm.state ==
          (i < TagTable::early_slots ? Worm::State::done : Worm::State::absorbed));
  }
  for (std::size_t i = 0; i < messages; ++i) bench.post(1, 0, 3);
  for (std::size_t i = 0; i < messages; ++i) CHECK(bench.received[i].data == bench.sent[i].data);
  CHECK(bench.sent.back().worm.state == Worm::State::done);
}

TEST_CASE("a worm waits for a channel that another holds and continues when it gets it",
          "[network]") {
  Bench bench(Topology::parse("line:4"), true);
  bench.post(3, 0);
  bench.post(3, 1);
  bool blocked = false;
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int hop) {
    if (from != 0 || hop != 1) return;  // 0 -> 3 holds 0->1 and 1->2
    bench.launch(1, to(3));
    const Worm& second = bench.sent[1].worm;
    blocked = second.state == Worm::State::travelling && !bench.received[1].receive.done;
    CHECK(second.reserved == 1);  // its injection port: no link
    CHECK(bench.network.held_links(second).empty());
    CHECK(bench.network.describe(second, second.reserved) == "link 1->2");
    CHECK(bench.network.held_links(bench.sent[0].worm) == "0->1, 1->2");
  };
  bench.launch(0, to(3));
  CHECK(blocked);
  CHECK(bench.host.completions == std::vector<Rank>{3, 0, 3, 1});
  CHECK(bench.received[0].data == bench.sent[0].data);
  CHECK(bench.received[1].data == bench.sent[1].data);
  bench.network.each_channel([&](const VirtualChannel& channel) {
    const std::string name = bench.network.routing().channel_name(channel.id());
    CAPTURE(name);
    CHECK(channel.messages() == (name == "0->1" ? 1 : 2));
    CHECK(channel.bytes() == 100 * channel.messages());
    CHECK(channel.blocked() == (name == "1->2" ? 1 : 0));
  });
}

// Node 0's long message holds its path while many others queue up behind it, one by one; the
// visit that releases the path is handed them all.
TEST_CASE("a visit gives back what it need not carry, and the owners carry it on", "[network]") {
  const bool owners_wait = GENERATE(true, false);
  CAPTURE(owners_wait);
  constexpr Rank nodes = 60;
  Bench bench(Topology::parse("line:60"), true, 0);
  for (Rank from = 0; from < nodes - 1; ++from) bench.post(nodes - 1, from);
  std::vector<Waiter*> given;
  bench.host.on_give_back = [&](Rank node, Waiter& waiter) {
    CHECK(static_cast<Worm&>(waiter).from == node);
    if (owners_wait) given.push_back(&waiter);
    return owners_wait;
  };
  // While the first one holds the last link, all others start and wait for it or for each other.
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int hop) {
    if (from != 0 || hop != nodes - 2) return;
    for (Rank other = nodes - 2; other > 0; --other) bench.launch(other, to(nodes - 1));
  };
  bench.launch(0, to(nodes - 1));
  const auto done = [&] {
    return std::ranges::count_if(bench.received, [](const auto& one) { return one.receive.done; });
  };
  if (!owners_wait) {
    CHECK(done() == nodes - 1);
    return;
  }
  CHECK(done() <= 1 + Network::most_carried);
  CHECK_FALSE(given.empty());
  std::size_t visits = 0;
  for (; visits < given.size(); ++visits) {
    Waiter* const waiter = given[visits];
    waiter->next = nullptr;
    const auto before = done();
    bench.network.carry_on(waiter);
    CHECK(done() - before <= 1 + Network::most_carried);
  }
  CHECK(done() == nodes - 1);
  for (std::size_t i = 0; i < bench.received.size(); ++i) {
    CHECK(bench.received[i].data == bench.sent[i == 0 ? 0 : nodes - 1 - i].data);
  }
  CHECK_FALSE(bench.network.leftover());
}

TEST_CASE("a large copy is the last that a visit makes for others", "[network]") {
  Bench bench(Topology::parse("line:4"), true, 0);
  const Bytes large = Network::most_moved;
  bench.post(3, 0, large);
  bench.post(3, 1);
  bench.post(3, 2);
  std::vector<Rank> given;
  bench.host.on_give_back = [&](Rank node, Waiter&) {
    given.push_back(node);
    return false;
  };
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int hop) {
    if (from == 0 && hop == 2) bench.launch(1, to(3));
  };
  bench.launch(0, to(3), large);
  CHECK(given == std::vector<Rank>{1});
  CHECK(bench.received[1].receive.done);
}

TEST_CASE("the time of moving data is attributed to the node that moves them", "[network]") {
  Bench bench(Topology::parse("line:3"));
  bench.launch(0, to(2));  // into an early buffer, by the sender
  CHECK(bench.host.moved[0] == 1);
  bench.post(2, 0);
  CHECK(bench.host.moved[2] == 1);
  bench.launch(0, to(2), 5000);
  CHECK(bench.host.moved[0] == 1);  // absorbed: nothing has moved
  bench.post(2, 0, 5000);
  CHECK(bench.host.moved[2] == 2);
}

TEST_CASE("worms that wait for one channel get it in the order in which they came", "[network]") {
  const bool swapped = GENERATE(false, true);
  // X first: 1 -> 4 and 2 -> 4 pass node 0 and go on over its link to 4.
  Bench bench(Topology::parse("hypercube:3"), true);
  for (const Rank from : {0, 1, 2}) bench.post(4, from);
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int) {
    if (from != 0) return;
    for (const Rank next : swapped ? std::vector<Rank>{2, 1} : std::vector<Rank>{1, 2}) {
      bench.launch(next, to(4));
      CHECK(bench.network.describe(bench.sent.back().worm, 2) == "link 0->4");
      CHECK(bench.sent.back().worm.reserved == 2);
    }
  };
  bench.launch(0, to(4));
  CHECK(bench.host.completions ==
        (swapped ? std::vector<Rank>{4, 0, 4, 2, 4, 1} : std::vector<Rank>{4, 0, 4, 1, 4, 2}));
}

TEST_CASE("a one-port node injects one message at a time, an all-port node one per link",
          "[network]") {
  const bool all_port = GENERATE(false, true);
  CAPTURE(all_port);
  Bench bench(Topology::parse("ring:5"), all_port);
  bench.post(1, 0);
  bench.post(4, 0);
  bench.observer.on_reserved = [&](Rank, Rank receiver, Channel, int) {
    if (receiver != 1) return;
    bench.launch(0, to(4));
    CHECK(bench.received[1].receive.done == all_port);
    const Worm& second = bench.sent[1].worm;
    if (!all_port)
      CHECK(bench.network.describe(second, second.reserved) == "injection port of node 0");
  };
  bench.launch(0, to(1));
  CHECK((bench.received[0].receive.done && bench.received[1].receive.done));
}

TEST_CASE("an all-port node that sends twice over one link sends one after the other",
          "[network]") {
  Bench bench(Topology::parse("ring:5"), true);
  bench.post(1, 0);
  bench.post(2, 0);
  bench.observer.on_reserved = [&](Rank, Rank receiver, Channel, int) {
    if (receiver != 1) return;
    bench.launch(0, to(2));
    CHECK(bench.sent[1].worm.reserved == 0);
  };
  bench.launch(0, to(1));
  CHECK((bench.received[0].receive.done && bench.received[1].receive.done));
}

TEST_CASE("four worms on a ring with one virtual channel wait for each other in a cycle",
          "[network]") {
  const int virtual_channels = GENERATE(1, 2);
  CAPTURE(virtual_channels);
  Bench bench(Topology::parse("ring:4"), false, 1024, virtual_channels);
  for (Rank r = 0; r < 4; ++r) bench.post((r + 2) % 4, r);
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int hop) {
    if (hop == 0 && from < 3) bench.launch(from + 1, by({0, 2}));
  };
  bench.launch(0, by({0, 2}));
  if (virtual_channels == 2) {
    CHECK(bench.host.completions.size() == 8);
    for (Rank r = 0; r < 4; ++r) CHECK(bench.received[r].data == bench.sent[r].data);
    return;
  }
  CHECK(bench.host.completions.empty());
  const std::vector<std::string> links{"0->1", "1->2", "2->3", "3->0"};
  for (Rank r = 0; r < 4; ++r) {
    const Worm& worm = bench.sent[r].worm;
    CHECK(bench.network.held_links(worm) == links[r]);
    CHECK(bench.network.describe(worm, worm.reserved) == "link " + links[(r + 1) % 4]);
  }
  // The network can be used again after that.
  bench.network.reset();
  bench.observer.on_reserved = nullptr;
  bench.post(2, 0);
  bench.launch(0, by({0, 2}));
  CHECK(bench.received.back().data == bench.sent.back().data);
}

TEST_CASE("an observer sees every channel of a route, in order", "[network]") {
  for (const std::string& text : samples::texts()) {
    CAPTURE(text);
    Bench bench(Topology::parse(text));
    const Routing& routing = bench.network.routing();
    using Event = std::tuple<Rank, Rank, Channel, int>;
    std::vector<Event> heard, expected;
    bench.observer.on_reserved = [&](Rank from, Rank to_node, Channel channel, int hop) {
      heard.emplace_back(from, to_node, channel, hop);
    };
    for (Rank from = 0; from < routing.topology().nodes(); ++from) {
      for (Rank to_node = 0; to_node < routing.topology().nodes(); ++to_node) {
        bench.post(to_node, from, 8);
        bench.launch(from, to(to_node), 8);
        CHECK(bench.received.back().data == bench.sent.back().data);
        std::vector<Channel> route;
        routing.route(from, to_node, route);
        for (std::size_t hop = 0; hop < route.size(); ++hop) {
          expected.emplace_back(from, to_node, route[hop], static_cast<int>(hop));
        }
      }
    }
    CHECK(heard == expected);
  }
}

// Paths are kept where there are few nodes; what is kept in one place takes turns.
TEST_CASE("a worm's path is its route, however often and in whatever order it is asked for",
          "[network]") {
  const bool all_port = GENERATE(false, true);
  const std::string text = GENERATE("torus:8x8", "hypercube:6", "torus:4x4x4", "ring:64", "ring:8",
                                    "torus:4x2x2x4", "torus:8x9");
  CAPTURE(text, all_port);
  Bench bench(Topology::parse(text), all_port);
  const Routing& routing = bench.network.routing();
  const Topology& topology = routing.topology();
  std::mt19937 random(7);
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  std::array<Worm, 2> worms;
  std::map<Rank, const Reservation*> tables, injections;
  const auto same = [](auto& known, Rank node, const Reservation* now) {
    return known.try_emplace(node, now).first->second == now;
  };
  std::vector<Channel> route;
  std::vector<Move> moves;
  for (int i = 0; i < 6000; ++i) {
    const Rank from = below(std::min<Rank>(topology.nodes(), 4));
    moves.clear();
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      const Rank n = topology.factor(d).nodes();
      if (below(2) == 0) moves.push_back({d, below(2 * n - 1) - (n - 1)});
    }
    route.clear();
    Worm& worm = worms[static_cast<std::size_t>(below(2))];
    Rank to = below(topology.nodes());
    if (moves.empty() || below(2) == 0) {
      routing.route(from, to, route);
      bench.network.address(worm, from, send(to, ConstSpan{}));
    } else {
      to = routing.route(from, moves, route);
      bench.network.address(worm, from, moves.size() == 1 ? by(moves[0]) : by(Move{}).with(moves));
    }
    REQUIRE(worm.from == from);
    REQUIRE(worm.to == to);
    REQUIRE(worm.path.size() == route.size() + 3);
    for (std::size_t hop = 0; hop < route.size(); ++hop) {
      REQUIRE(static_cast<const VirtualChannel*>(worm.path[hop + 1])->id() == route[hop]);
    }
    REQUIRE(same(tables, to, worm.path.back()));
    if (!all_port) {
      REQUIRE(same(injections, from, worm.path.front()));
      // An ejection port is beside its node's injection port.
      REQUIRE(same(injections, to, worm.path[worm.path.size() - 2] - 1));
    }
  }
}

TEST_CASE("a message that does not fit its receive is reported to the host with both sizes",
          "[network]") {
  const Bytes bytes = GENERATE(10, 5000);
  const bool early = GENERATE(false, true);
  CAPTURE(bytes, early);
  Bench bench(Topology::parse("line:2"));
  if (early) bench.launch(0, to(1, 3), bytes);
  const auto before = bench.host.completions;
  bench.post(1, 0, 9, 3);
  if (!early) bench.launch(0, to(1, 3), bytes);
  REQUIRE(bench.host.error);
  CHECK(bench.host.completions == before);
  try {
    std::rethrow_exception(bench.host.error);
  } catch (const UsageError& error) {
    CHECK(bench.host.failed_node == 1);
    CHECK(std::string(error.what()) ==
          "receives 9 bytes from node 0 with tag 3, but the message has " + std::to_string(bytes));
  }
}

TEST_CASE("worms that follow each other arrive in order, however many", "[network]") {
  constexpr int messages = 20'000;  // a call deeper for each of them would overflow the stack
  Bench bench(Topology::parse("ring:3"), true);
  for (int i = 0; i < messages; ++i) {
    Worm& worm = bench.worm(0, by({0, i % 2 == 0 ? 2 : -1}), 1);
    if (i == 0) continue;
    bench.sent[i - 1].worm.successor = &worm;
    worm.follows = true;
  }
  for (int i = 0; i < messages; ++i) bench.post(2, 0, 1);
  bench.network.launch(bench.sent[0].worm);
  CHECK(bench.host.completions.size() == 2 * messages);
  bool in_order = true;
  for (int i = 0; i < messages; ++i) in_order &= bench.received[i].data == bench.sent[i].data;
  CHECK(in_order);
}

TEST_CASE("an error on a carried worm's path is its sender's failure", "[network]") {
  Bench bench(Topology::parse("line:3"));
  bench.observer.on_reserved = [&](Rank from, Rank, Channel, int hop) {
    if (from == 1) throw std::runtime_error("enough");
    if (hop == 1) bench.launch(1, to(2));  // waits for the link that node 0's message holds
  };
  bench.launch(0, to(2));  // and carries the other on when it is done
  REQUIRE(bench.host.error);
  CHECK(bench.host.failed_node == 1);
  CHECK(bench.host.completions == std::vector<Rank>{0});
}

// A worm that queues repeatedly for one busy port must not hold up the rest.
TEST_CASE("waiters that one thread is handed are served in the order in which it is handed them",
          "[network]") {
  Bench bench(Topology::parse("line:4"));
  std::vector<Rank> order;
  bench.observer.on_reserved = [&](Rank from, Rank receiver, Channel, int hop) {
    if (hop == 0) order.push_back(10 * from + receiver);
    if (from != 0 || hop != 1) return;                   // node 0's message holds both of its links
    for (int i = 0; i < 3; ++i) bench.launch(1, to(2));  // one waits for a link, two for the first
    bench.launch(0, to(1));                              // waits for the injection port
  };
  bench.launch(0, to(2));
  CHECK(order == std::vector<Rank>{2, 1, 12, 12, 12});
}

TEST_CASE("a network of 400 million links takes memory for those that are used", "[network]") {
  const bool all_port = GENERATE(false, true);
  const double before = resident_bytes();
  Bench bench(Topology::parse("complete:20000"), all_port);
  for (Rank node = 0; node < 100; ++node) {
    bench.launch(node, to(19'999 - node));
    bench.post(19'999 - node, node);
  }
  CHECK(bench.host.completions.size() == 200);
  int channels = 0;
  bench.network.each_channel([&](const VirtualChannel& channel) {
    ++channels;
    CHECK(channel.messages() == 1);
  });
  CHECK(channels == 100);
  bench.network.begin_run();
  int used = 0;
  bench.network.each_channel([&](const VirtualChannel&) { ++used; });
  CHECK(used == 0);
  bench.launch(7, to(8));
  bench.network.each_channel([&](const VirtualChannel& channel) {
    ++used;
    CHECK(channel.messages() == 1);
  });
  CHECK(used == 1);
  constexpr double mebibyte = 1 << 20;
  // A slot for each link would be 3 GiB; shadow memory is large.
  if (!sanitized) CHECK(resident_bytes() - before < 500 * mebibyte);
  const double reported =
      Network::bytes_of_tables(bench.network.routing(), {all_port, 0, nullptr, false});
  CHECK(reported > 12 * mebibyte);
  CHECK(reported < 50 * mebibyte);
}
