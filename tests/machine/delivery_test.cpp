// Delivery: every message arrives exactly once, unchanged, on every machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/temporary_file.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <array>
#include <numeric>
#include <utility>

using namespace machine_tests;

namespace {

constexpr const char* square_with_tail = "# a square with a tail\n0 1\n1 2\n2 3\n3 0\n3 4\n";

/// All kinds, degenerate sizes among them, a graph from a file.
std::vector<std::string> topologies(const test::TemporaryFile& file) {
  std::vector<std::string> all = samples::texts();
  all.insert(all.end(), {"torus:2x1x3", "mesh:1x1", "ghc:1x4", "ring:1*tree:3"});
  all.push_back("graph:" + file.path());
  all.push_back("ring:3*graph:" + file.path());
  return all;
}

}  // namespace

TEST_CASE("total exchange delivers on every topology, by every kind of machine", "[machine]") {
  const std::vector<MachineOptions> all = with_windows();
  std::size_t turn = 0;
  const test::TemporaryFile file(".edges", square_with_tail);
  for (const std::string& text : topologies(file)) {
    const Topology topology = Topology::parse(text);
    // Each topology on some kinds of machine, one machine for both programs.
    for (std::size_t i = 0; i < (sanitized ? 2 : 4); ++i) {
      const MachineOptions& options = all[turn++ % all.size()];
      CAPTURE(text, describe(options));
      Machine machine(topology, options);
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
      CHECK_NOTHROW(machine.run([](Node& node) { exchange_at_once(node, 2); }));
    }
    turn += 3;  // prime to the number of kinds
  }
}

TEST_CASE("total exchange delivers with every combination of options", "[machine]") {
  for (const std::string text : {"torus:3x4", "hypercube:3"}) {
    if (sanitized && text != "hypercube:3") continue;
    for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
      for (unsigned bits = 0; bits < 32; ++bits) {
        MachineOptions options = plain(executor);
        options.all_port = (bits & 1U) != 0;
        options.lock_step = (bits & 2U) != 0;
        options.eager_limit = std::array<Bytes, 8>{0, 64, 1024, 1 << 20, 1, 63, 65, 200}[bits >> 2];
        CAPTURE(text, describe(options));
        Machine machine(Topology::parse(text), options);
        CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 3); }));
        CHECK_NOTHROW(machine.run([](Node& node) { exchange_at_once(node, 4); }));
      }
    }
  }
}

TEST_CASE("a machine runs programs without messages, and without steps", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    for (const char* const text : {"line:1", "hypercube:0", "ring:5"}) {
      Machine machine(Topology::parse(text), options);
      std::atomic<int> ran{0};
      machine.run([&](Node&) { ++ran; });
      CHECK(ran == machine.topology().nodes());
      const Statistics statistics = machine.run([](Node& node) {
        node.step();
        node.step();
      });
      for (const NodeStatistics& node : statistics.nodes) CHECK(node.steps == 2);
      CHECK(statistics.links.empty());
    }
  }
}

TEST_CASE("pieces that are cut differently at both ends arrive as one message", "[machine]") {
  const auto cut = [](Span whole, std::uint64_t seed) {
    std::vector<Span> pieces;
    for (std::uint64_t i = 0; !whole.empty(); ++i) {
      const Bytes bytes = std::min<Bytes>(mix({seed, i}) % 100 / 3 * 3, whole.size());
      pieces.push_back(whole.first(bytes));
      whole = whole.subspan(bytes);
    }
    pieces.emplace_back();
    return pieces;
  };
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:4"), options);
    CHECK_NOTHROW(machine.run([&](Node& node) {
      const Rank p = node.size(), r = node.rank(), next = mod(r + 1, p), previous = mod(r - 1, p);
      for (const Bytes bytes : {0, 1, 64, 500, 2000}) {
        const Memory out = node.memory(bytes), in = node.memory(bytes);
        const std::vector<Span> from = cut(out, mix({7, static_cast<std::uint64_t>(r)}));
        const std::vector<Span> to = cut(in, mix({8, static_cast<std::uint64_t>(r)}));
        node.local([&] { fill(out, key(9, r, next, bytes)); });
        node.step({send_pieces(next, from), receive_pieces(previous, to)});
        node.local([&] { expect_payload(in.span(), key(9, previous, r, bytes), "the pieces"); });
      }
    }));
  }
}

// Long pieces go past the caches, where they are aligned as in front of what is not.
TEST_CASE("messages that are not to be read soon arrive like others", "[machine]") {
  for (const MachineOptions& options : with_windows()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:3x3"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      const Rank p = node.size(), r = node.rank();
      for (Rank t = 0; t < p; ++t) {
        const Rank to = mod(r + t, p), from = mod(r - t, p);
        const Bytes bytes = Bytes{3000} * static_cast<Bytes>(t) + 100;
        const Memory out = node.memory(bytes), in = node.memory(bytes + 16);
        const Span first = in.subspan(t, 100), rest = in.subspan(t + 100, bytes - 100);
        const std::array<Span, 2> pieces{first, rest};
        node.local([&] {
          fill(out, key(5, r, to, 0));
          std::ranges::fill(in.span(), std::byte{0x5a});
        });
        node.step({send(to, out.span()), receive_pieces(from, pieces).unread(Bytes{1} << 40)});
        node.local([&] {
          expect_payload(in.subspan(t, bytes), key(5, from, r, 0), "a long message");
          const auto is_untouched = [](std::byte b) { return b == std::byte{0x5a}; };
          expect(std::ranges::all_of(in.span().first(t), is_untouched) &&
                     std::ranges::all_of(in.span().subspan(t + bytes), is_untouched),
                 "a byte beside the message");
        });
      }
    }));
  }
}

// Every receiver checks a number that counts the messages of its source and tag.
TEST_CASE("messages of one source, destination and tag keep their order", "[machine]") {
  constexpr int in_a_step = 20, steps = sanitized ? 3 : 8;
  constexpr Tag tags = 3;
  for (const MachineOptions& options : variations()) {
    for (const bool receives_in_order : {false, true}) {
      CAPTURE(describe(options), receives_in_order);
      Machine machine(Topology::parse("mesh:2x3"), options);
      CHECK_NOTHROW(machine.run([&](Node& node) {
        const Rank p = node.size(), r = node.rank(), to = mod(r + 2, p), from = mod(r - 2, p);
        for (int step = 0; step < steps; ++step) {
          struct Slot {
            Bytes bytes;
            std::vector<std::byte> out, in;
          };
          std::vector<Slot> slots;
          for (int i = 0; i < in_a_step * tags; ++i) {
            const Bytes bytes = some_size(10, static_cast<Rank>(step), static_cast<Rank>(i));
            slots.push_back({bytes, std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)});
            fill(slots.back().out, key(11, r, to, step * 1000 + i));
          }
          std::vector<Op> ops;
          for (int i = 0; i < in_a_step * tags; ++i) {
            ops.push_back(send(to, ConstSpan(slots[i].out), i % tags));
          }
          // Of one tag in order; the tags one after the other, the last tag first.
          for (Tag t = tags - 1; t >= 0; --t) {
            for (int i = 0; i < in_a_step * tags; ++i) {
              if (i % tags != t) continue;
              const Op op = receive(from, Span(slots[i].in), t);
              receives_in_order ? ops.push_back(op)
                                : static_cast<void>(ops.insert(ops.begin(), op));
            }
          }
          if (!receives_in_order) {  // inserted in front, so back to front: turn each tag round
            const auto end = ops.begin() + in_a_step * tags;
            std::reverse(ops.begin(), end);
          }
          node.step(std::span<const Op>(ops));
          for (int i = 0; i < in_a_step * tags; ++i) {
            expect_payload(slots[i].in, key(11, from, r, step * 1000 + i),
                           "message " + std::to_string(i) + " of step " + std::to_string(step));
          }
        }
      }));
    }
  }
}

// Messages to one node that go both ways round, or by rank, could overtake each other.
TEST_CASE("order is kept between messages that travel different ways", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:6"), options);
    CHECK_NOTHROW(machine.run([&](Node& node) {
      constexpr int messages = 30, steps = 10;
      const Rank p = node.size(), r = node.rank(), to = mod(r + 2, p), from = mod(r - 2, p);
      for (int step = 0; step < steps; ++step) {
        std::vector<std::vector<std::byte>> out, in;
        std::vector<Op> ops;
        for (int i = 0; i < messages; ++i) {
          const Bytes bytes = some_size(12, static_cast<Rank>(step), static_cast<Rank>(i));
          in.emplace_back(bytes);
          fill(out.emplace_back(bytes), key(13, r, to, step * 1000 + i));
        }
        for (int i = 0; i < messages; ++i) {
          const ConstSpan data(out[i]);
          switch (key(14, 0, 0, i) % 3) {
            case 0:
              ops.push_back(send(Move{0, 2}, data));
              break;
            case 1:
              ops.push_back(send(Move{0, -4}, data));
              break;
            default:
              ops.push_back(send(to, data));
          }
          ops.push_back(receive(from, Span(in[i])));
        }
        node.step(std::span<const Op>(ops));
        for (int i = 0; i < messages; ++i) {
          expect_payload(in[i], key(13, from, r, step * 1000 + i),
                         "message " + std::to_string(i) + " of step " + std::to_string(step));
        }
      }
    }));
  }
}

namespace {

/// Holds node 3's message to 2 on link 3->2 until node 0 has launched its last message, the one to
/// node 1.
class Blocker final : public NetworkObserver {
 public:
  void reserved(Rank from, Rank to, Channel, int) override {
    if (from == 3) {
      blocking = true;
      blocking.notify_all();
      last.wait(false);
    } else if (from == 0 && to == 1) {
      last = true;
      last.notify_all();
    } else if (from == 0) {
      blocking.wait(false);
    }
  }
  std::atomic<bool> blocking{false}, last{false};
};

}  // namespace

TEST_CASE("a message by rank does not overtake an earlier one by moves that is held up",
          "[machine]") {
  Blocker blocker;
  MachineOptions options = plain(ExecutorKind::threads);
  options.all_port = true;
  options.observer = &blocker;
  Machine machine(Topology::parse("ring:4"), options);
  CHECK_NOTHROW(machine.run([](Node& node) {
    std::array<std::byte, 3> in{}, out{std::byte{1}, std::byte{2}, std::byte{3}};
    const Span to(in);
    const ConstSpan from(out);
    switch (node.rank()) {
      case 0:
        node.step({send(Move{0, -2}, from.subspan(0, 1)), send(2, from.subspan(1, 1)),
                   send(Move{0, 2}, from.subspan(2, 1)), send(1, from.subspan(0, 1))});
        break;
      case 1:
        node.step({receive(0, to.subspan(0, 1))});
        break;
      case 2:
        node.step({receive(0, to.subspan(0, 1)), receive(0, to.subspan(1, 1)),
                   receive(0, to.subspan(2, 1)), receive(3, {})});
        expect(in == out, "a later message came first");
        break;
      default:
        node.step({send(2, {})});
    }
  }));
}

TEST_CASE("all nodes may send to one at a time", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:4x4"), options);
    CHECK_NOTHROW(machine.run([](Node& node) {
      const Rank p = node.size(), r = node.rank();
      for (int step = 0; step < 10; ++step) {
        const Bytes bytes = some_size(15, static_cast<Rank>(step), 0);
        std::vector<std::byte> out(bytes), in(r == 0 ? p * bytes : 0);
        fill(out, key(16, r, 0, step));
        std::vector<Op> ops{send(Rank{0}, ConstSpan(out))};
        for (Rank q = 0; r == 0 && q < p; ++q) {
          ops.push_back(receive(q, Span(in).subspan(q * bytes, bytes)));
        }
        node.step(std::span<const Op>(ops));
        for (Rank q = 0; r == 0 && q < p; ++q) {
          expect_payload(Span(in).subspan(q * bytes, bytes), key(16, q, 0, step), "the hot spot");
        }
      }
    }));
  }
}

TEST_CASE("random permutations deliver step after step", "[machine]") {
  constexpr Rank p = 27;
  constexpr int steps = 60;
  std::vector<std::vector<Rank>> to(steps, std::vector<Rank>(p)), from = to;
  for (int step = 0; step < steps; ++step) {
    std::iota(to[step].begin(), to[step].end(), 0);
    for (Rank i = p; i > 1; --i) {
      std::swap(to[step][i - 1], to[step][key(17, i, 0, step) % static_cast<std::uint64_t>(i)]);
    }
    for (Rank r = 0; r < p; ++r) from[step][to[step][r]] = r;
  }
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("torus:3x3x3"), options);
    CHECK_NOTHROW(machine.run([&](Node& node) {
      const Rank r = node.rank();
      for (int step = 0; step < steps; ++step) {
        const Rank next = to[step][r], previous = from[step][r];
        std::vector<std::byte> out(some_size(18 + step, r, next));
        std::vector<std::byte> in(some_size(18 + step, previous, r));
        fill(out, key(19, r, next, step));
        node.step({send(next, ConstSpan(out)), receive(previous, Span(in))});
        expect_payload(in, key(19, previous, r, step), "a permutation");
      }
    }));
  }
}

TEST_CASE("views along dimensions and of groups exchange as networks of their own", "[machine]") {
  for (const MachineOptions& options : variations()) {
    for (const char* const text : {"torus:3x4", "torus:2x1x3", "ring:4*complete:3"}) {
      CAPTURE(text, describe(options));
      Machine machine(Topology::parse(text), options);
      CHECK_NOTHROW(machine.run([](Node& node) {
        for (int d = 0; d < node.topology().dimensions(); ++d) {
          auto line = node.along(d);
          expect(line.rank() == node.topology().coordinate(node.rank(), d), "rank on a line");
          // Messages of different lines must not mix: each has a seed of its own.
          const auto seed = static_cast<std::uint64_t>(node.topology().with(node.rank(), d, 0));
          exchange(line, 100 * d + seed);
          exchange_at_once(line, 100 * d + seed);
          if (!node.topology().factor(d).wraps()) continue;
          std::byte out{static_cast<unsigned char>(node.rank())}, in{};
          const Rank p = line.size();
          line.step({send(Move{0, 1 - p}, {&out, 1}), receive(mod(line.rank() - 1, p), {&in, 1})});
          const Rank sender = node.topology().neighbour(node.rank(), d, -1);
          expect(in == std::byte{static_cast<unsigned char>(sender)}, "the long way round");
        }
        std::vector<Rank> members;
        for (Rank q = node.size(); q-- > 0;) {
          if (q % 3 == node.rank() % 3) members.push_back(q);
        }
        auto group = node.group(members);
        exchange(group, 200 + static_cast<std::uint64_t>(node.rank() % 3));
        auto inner = group.along(0);
        exchange(inner, 300 + static_cast<std::uint64_t>(node.rank() % 3));
      }));
    }
  }
}

TEST_CASE("a machine far oversubscribed takes thousands of steps of tiny messages",
          "[machine][stress]") {
  const ExecutorKind executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  const bool lock_step = GENERATE(false, true);
  const int steps =
      (executor == ExecutorKind::fibers ? 2000 : 250) / patience / (lock_step ? 4 : 1);
  CAPTURE(executor, lock_step);
  MachineOptions options = plain(executor);
  options.lock_step = lock_step;
  Machine machine(Topology::parse("torus:16x16"), options);
  const Statistics statistics = machine.run([&](Node& node) {
    const Rank p = node.size(), r = node.rank();
    for (int step = 0; step < steps; ++step) {
      const auto t = static_cast<Rank>(mix(step) % static_cast<std::uint64_t>(p));
      const Rank to = mod(r + t, p), from = mod(r - t, p);
      std::int64_t out = 1000 * step + r, in = 0;
      node.step({send(to, std::as_bytes(std::span(&out, 1))),
                 receive(from, std::as_writable_bytes(std::span(&in, 1)))});
      expect(in == 1000 * step + from, "a tiny message");
    }
  });
  std::uint64_t messages = 0;
  for (const NodeStatistics& node : statistics.nodes) messages += node.messages;
  CHECK(messages == 256U * static_cast<unsigned>(steps));
}
