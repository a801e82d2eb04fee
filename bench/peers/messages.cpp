// Messages between nodes, measured like those of an MPI library in peer.c; and copies by two cores.
//   wormcube_messages SECONDS OPERATION threads|fibers torus:8x8 BYTES..
//   wormcube_messages SECONDS copying receivers|senders|shift|pairs torus:8x8 BYTES..
// A line for each size, as peer.c's: operation, bytes, us per call between barriers (median), us per call back to back, least
// us between barriers, calls of each kind, wrong bytes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

namespace {

using namespace wormcube;
using Clock = std::chrono::steady_clock;

constexpr int most_calls = 101, least_calls = 3, burst = 64;

double us(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
double now_us() { return us(Clock::now().time_since_epoch()); }

/// The number of calls of each kind, estimated from a warm-up call.
int calls_of(double seconds, double warm_us) {
  return static_cast<int>(
      std::clamp<double>(seconds * 1e6 / 2 / (warm_us + 1), least_calls, most_calls));
}

struct Times {
  double median_us = 0, back_to_back_us = 0, least_us = 0;
  int calls = 0;
};
Times summary(std::vector<double> between_us, double back_to_back_us) {
  std::ranges::sort(between_us);
  return {between_us[between_us.size() / 2], back_to_back_us, between_us.front(),
          static_cast<int>(between_us.size())};
}
void print(const std::string& operation, Bytes bytes, const Times& times, std::uint64_t wrong) {
  fmt::print("{} {} {:.3f} {:.3f} {:.3f} {} {}\n", operation, bytes, times.median_us,
             times.back_to_back_us, times.least_us, times.calls, wrong);
  std::fflush(stdout);
}

std::byte byte_of(Rank rank) { return static_cast<std::byte>(rank % 250 + 1); }

/// A node's part in a call, and the data that it must have received.
struct Part {
  std::function<void()> call;
  struct Block {
    ConstSpan data;
    Rank from;
  };
  std::vector<Block> received;
};
using Exchange = Part (*)(Node& node, Span out, Span in, Bytes bytes);

// There and back, between the first two nodes.
Part ping_pong(Node& node, Span out, Span in, Bytes bytes) {
  if (node.rank() > 1) return {[] {}, {}};
  const Rank peer = 1 - node.rank();
  const Span block = in.first(bytes);
  return {[=, &node] {
            if (peer == 1) node.step({send(peer, out)});
            node.step({receive(peer, block)});
            if (peer == 0) node.step({send(peer, out)});
          },
          {{block, peer}}};
}

// Each node of the lower half sends 64 messages in one step to its partner in the upper half, which answers by an empty one.
Part messages(Node& node, Span out, Span in, Bytes bytes) {
  const Rank half = node.size() / 2, rank = node.rank();
  if (rank >= 2 * half) return {[] {}, {}};
  const bool sends = rank < half;
  const Rank partner = sends ? rank + half : rank - half;
  Part part;
  std::vector<Op> ops;
  for (int i = 0; i < burst; ++i) {
    const Span block = in.subspan(bytes * static_cast<Bytes>(i), bytes);
    ops.push_back(sends ? send(partner, out) : receive(partner, block));
    if (!sends) part.received.push_back({block, partner});
  }
  part.call = [=, &node] {
    node.step(ops);
    if (sends) {
      node.step({receive(partner, Span())});
    } else {
      node.step({send(partner, Span())});
    }
  };
  return part;
}

// Each node exchanges blocks with its four neighbours on a torus of two dimensions.
Part halo(Node& node, Span out, Span in, Bytes bytes) {
  const Topology& topology = node.topology();
  const Rank columns = topology.size(1), rows = topology.size(0);
  const Rank row = node.rank() / columns, column = node.rank() % columns;
  const std::array<Rank, 4> four{
      row * columns + mod(column + 1, columns), row * columns + mod(column - 1, columns),
      mod(row + 1, rows) * columns + column, mod(row - 1, rows) * columns + column};
  Part part;
  std::vector<Op> ops;
  for (std::size_t i = 0; i < 4; ++i) {
    const Span block = in.subspan(bytes * i, bytes);
    ops.push_back(send(four[i], out, static_cast<Tag>(i)));
    ops.push_back(receive(four[i ^ 1], block, static_cast<Tag>(i)));
    part.received.push_back({block, four[i ^ 1]});
  }
  part.call = [=, &node] { node.step(ops); };
  return part;
}

void measure(const std::string& operation, Exchange exchange, Machine& machine, Bytes bytes,
             double seconds) {
  const auto nodes = static_cast<std::size_t>(machine.topology().nodes());
  const Collective barrier = cheapest({operations::barrier, machine.topology(), 0});
  std::vector<double> begins(nodes * most_calls), ends(begins.size());
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<double> between;
  // The time from the first node's start to the last node's end.
  const auto span = [&](int call) {
    const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(call) * nodes);
    const auto count = static_cast<std::ptrdiff_t>(nodes);
    return *std::max_element(ends.begin() + first, ends.begin() + first + count) -
           *std::min_element(begins.begin() + first, begins.begin() + first + count);
  };
  // \param at_once  calls between two barriers
  const auto run = [&](int rounds, int at_once) {
    machine.run([&](Node& node) {
      const Memory out = node.memory(bytes), in = node.memory(bytes * burst);
      const Part part = exchange(node, out, in, bytes);
      node.local([&] {
        std::ranges::fill(Span(out), byte_of(node.rank()));
        std::ranges::fill(Span(in), std::byte{0});
      });
      for (int round = 0; round < rounds; ++round) {
        const auto at =
            static_cast<std::size_t>(round) * nodes + static_cast<std::size_t>(node.rank());
        barrier.algorithm->program(
            node, {{ConstSpan(), 0}, {Span(), 0}, barrier.arguments, barrier.options});
        node.local([&] { begins[at] = now_us(); });
        for (int call = 0; call < at_once; ++call) part.call();
        node.local([&] { ends[at] = now_us(); });
      }
      node.local([&] {
        for (const Part::Block& block : part.received) {
          wrong += static_cast<std::uint64_t>(std::ranges::count_if(
              block.data, [&](std::byte found) { return found != byte_of(block.from); }));
        }
      });
    });
  };
  run(2, 1);
  const int calls = calls_of(seconds, span(1));
  run(calls, 1);
  for (int call = 0; call < calls; ++call) between.push_back(span(call));
  run(1, calls);
  print(operation, bytes, summary(between, span(0) / calls), wrong);
}

/// The order of the copies. Each copier has half of the nodes. Its nodes each receive from all, or each send to all; or in step t
/// all of them send to the node t ranks further on (`shift`), or to node r xor t (`pairs`).
struct Copy {
  std::size_t sender, receiver;
};
std::vector<Copy> order_of_copies(const std::string& order, std::size_t count, std::size_t first,
                                  std::size_t last) {
  std::vector<Copy> copies;
  if (order == "receivers" || order == "senders") {
    for (std::size_t node = first; node < last; ++node) {
      for (std::size_t other = 0; other < count; ++other)
        copies.push_back(order == "senders" ? Copy{node, other} : Copy{other, node});
    }
    return copies;
  }
  if (order == "pairs" && !std::has_single_bit(count))
    throw UsageError(fmt::format("copying: pairs: {} nodes, need a power of two", count));
  if (order != "shift" && order != "pairs")
    throw UsageError("copying: receivers, senders, shift or pairs, not '" + order + "'");
  for (std::size_t step = 0; step < count; ++step) {
    for (std::size_t node = first; node < last; ++node)
      copies.push_back({node, order == "shift" ? (node + step) % count : node ^ step});
  }
  return copies;
}

/// Two threads only copy the blocks of an all-to-all exchange between this many nodes, in that order.
void measure_copying(const std::string& order, Rank nodes, Bytes bytes, double seconds) {
  constexpr std::size_t copiers = 2;
  const auto count = static_cast<std::size_t>(nodes);
  const std::size_t blocks = count * count;
  std::vector<std::byte> from(blocks * bytes), to(blocks * bytes, std::byte{0});
  for (std::size_t i = 0; i < blocks; ++i) {
    std::fill_n(from.begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                byte_of(static_cast<Rank>(i / count)));
  }
  std::vector<std::vector<Copy>> copies;
  for (std::size_t copier = 0; copier < copiers; ++copier)
    copies.push_back(
        order_of_copies(order, count, count * copier / copiers, count * (copier + 1) / copiers));
  const auto copy = [&](std::size_t copier) {
    for (const Copy& each : copies[copier]) {
      std::memcpy(&to[(each.receiver * count + each.sender) * bytes],
                  &from[(each.sender * count + each.receiver) * bytes], bytes);
    }
  };
  std::barrier barrier(copiers);
  std::vector<double> begins(copiers * most_calls), ends(begins.size()), between;
  double all = 0;
  int calls = 0;
  const auto span = [&](int call) {
    const auto at = static_cast<std::size_t>(call) * copiers;
    return std::max(ends[at], ends[at + 1]) - std::min(begins[at], begins[at + 1]);
  };
  const auto work = [&](std::size_t copier) {
    const auto timed = [&](int call, int at_once) {
      const std::size_t at = static_cast<std::size_t>(call) * copiers + copier;
      barrier.arrive_and_wait();
      begins[at] = now_us();
      for (int i = 0; i < at_once; ++i) copy(copier);
      ends[at] = now_us();
    };
    timed(0, 1);
    timed(0, 1);
    barrier.arrive_and_wait();
    if (copier == 0) calls = calls_of(seconds, span(0));
    barrier.arrive_and_wait();
    for (int call = 0; call < calls; ++call) timed(call, 1);
    barrier.arrive_and_wait();
    if (copier == 0) {
      for (int call = 0; call < calls; ++call) between.push_back(span(call));
    }
    barrier.arrive_and_wait();
    timed(0, calls);
    barrier.arrive_and_wait();
    if (copier == 0) all = span(0) / calls;
  };
  {
    std::jthread other([&] { work(1); });
    work(0);
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < to.size(); ++i)
    wrong += to[i] != byte_of(static_cast<Rank>(i / bytes % count)) ? 1 : 0;
  print("copying", bytes, summary(between, all), wrong);
}

int measure_all(const std::vector<std::string>& arguments) {
  if (arguments.size() < 5) {
    throw UsageError(
        "usage: wormcube_messages SECONDS ping-pong|messages|halo threads|fibers TOPOLOGY BYTES..; "
        "or SECONDS copying receivers|senders|shift|pairs TOPOLOGY BYTES..");
  }
  const double seconds = std::stod(arguments[0]);
  const std::string& operation = arguments[1];
  const Topology topology = Topology::parse(arguments[3]);
  std::vector<Bytes> sizes;
  for (std::size_t i = 4; i < arguments.size(); ++i) sizes.push_back(std::stoull(arguments[i]));
  if (operation == "copying") {
    for (const Bytes bytes : sizes) measure_copying(arguments[2], topology.nodes(), bytes, seconds);
    return 0;
  }
  const Exchange exchange = operation == "ping-pong"  ? ping_pong
                            : operation == "messages" ? messages
                            : operation == "halo"     ? halo
                                                      : nullptr;
  if (exchange == nullptr) throw UsageError(fmt::format("no exchange '{}'", operation));
  if (exchange == halo && topology.dimensions() != 2) {
    throw UsageError(fmt::format("halo: {} has {} dimensions, take one of two", topology.name(),
                                 topology.dimensions()));
  }
  Machine machine(topology, {.executor = arguments[2] == "fibers" ? ExecutorKind::fibers
                                                                  : ExecutorKind::threads});
  for (const Bytes bytes : sizes) measure(operation, exchange, machine, bytes, seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure_all({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "wormcube_messages: {}\n", error.what());
    return 2;
  }
}
