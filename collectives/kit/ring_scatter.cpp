// Bundles that leave the root, farthest first.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring_scatter.hpp"

#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace {

constexpr int ring_shares(HalfWay half) { return half == HalfWay::split ? 2 : 1; }

/// How far bundles go in this direction round n nodes.
Rank ring_reach(Rank n, int sign, HalfWay half) {
  if (sign > 0) return n / 2;
  return half == HalfWay::split && n > 2 ? n / 2 : (n - 1) / 2;
}

/// The shares for distance x that go in this direction: first and past the last.
std::pair<int, int> ring_ways(Rank n, Rank x, int sign, HalfWay half) {
  const auto shares = static_cast<Bytes>(ring_shares(half));
  if (shares == 1 || 2 * x != n || n == 2) return {0, shares};
  return sign > 0 ? std::pair{0, 1} : std::pair{1, 2};
}

Rank longest_half(const Topology& topology) {
  Rank longest = 0;
  for (const Rank n : topology.sizes()) longest = std::max(longest, n / 2);
  return longest;
}

}  // namespace

RingScatterPlan::RingScatterPlan(const Topology& topology, Rank r, Rank root, int first,
                                 HalfWay half) {
  const std::vector<int> wide = wide_dimensions(topology);
  const auto dimension = [&](std::size_t t) {
    return wide[(static_cast<std::size_t>(first) + t) % wide.size()];
  };
  const auto agree = [&](Rank a, Rank b, std::size_t from, std::size_t to) {
    for (std::size_t t = from; t < to; ++t) {
      const int d = dimension(t);
      if (topology.coordinate(a, d) != topology.coordinate(b, d)) return false;
    }
    return true;
  };
  const Rank steps = longest_half(topology);
  for (std::size_t t = 0; t < wide.size(); ++t) {
    const int d = dimension(t);
    const Rank n = topology.size(d), base = topology.coordinate(root, d);
    // By coordinate, what this node may have when the phase begins, if it has anything.
    std::vector<std::vector<Rank>> bundles(static_cast<std::size_t>(n));
    const bool takes_part = agree(r, root, t + 1, wide.size());
    for (Rank b = 0; takes_part && b < topology.nodes(); ++b) {
      if (agree(b, r, 0, t))
        bundles[static_cast<std::size_t>(topology.coordinate(b, d))].push_back(b);
    }
    for (Rank s = 1; s <= steps; ++s) {
      auto& messages = steps_.emplace_back();
      if (!takes_part) continue;
      for (const int sign : {+1, -1}) {
        const Rank reach = ring_reach(n, sign, half);
        const Rank y = mod(sign * (topology.coordinate(r, d) - base), n);
        if (s > reach || y > s) continue;
        const auto bundle = [&](Rank x) {
          std::vector<Share> shares;
          const auto [begin, end] = ring_ways(n, x, sign, half);
          for (const Rank b : bundles[static_cast<std::size_t>(mod(base + sign * x, n))]) {
            for (int share = begin; share < end; ++share) shares.push_back({b, share});
          }
          return shares;
        };
        if (y < s) messages.push_back({{d, sign}, true, bundle(reach - s + 1 + y)});
        if (y > 0) messages.push_back({{d, -sign}, false, bundle(reach - s + y)});
      }
    }
  }
}

void RingScatterPlan::run(Node& node, Way way, const Place& place) const {
  std::vector<std::vector<Span>> pieces;
  std::vector<Op> ops;
  for (std::size_t t = 0; t < steps_.size(); ++t) {
    const auto& messages = steps_[way == Way::scatter ? t : steps_.size() - 1 - t];
    ops.clear(), pieces.clear(), pieces.reserve(messages.size());
    for (const Message& message : messages) {
      auto& spans = pieces.emplace_back();
      for (const Share& share : message.shares) spans.push_back(place(share));
      ops.push_back(message.outgoing == (way == Way::scatter)
                        ? send_pieces(message.move, spans)
                        : receive_pieces(message.move, spans));
    }
    node.step(ops);
  }
}

std::span<const RingScatterPlan> ring_scatter_plans(Node& node, Rank root, HalfWay half) {
  return node.plan<std::vector<RingScatterPlan>>(
      "ring-all-port", {root, static_cast<std::int64_t>(half)}, [&] {
        const Topology& topology = node.topology();
        std::vector<RingScatterPlan> plans;
        for (int j = 0; j < static_cast<int>(wide_dimensions(topology).size()); ++j) {
          plans.emplace_back(topology, node.rank(), root, j, half);
        }
        return plans;
      });
}

Span ring_share(Span block, const RingScatterPlan::Share& of, int j, int copies, HalfWay half,
                Bytes element_bytes) {
  const int shares = ring_shares(half);
  const Bytes elements = block.size() / element_bytes;
  const Bytes part = static_cast<Bytes>(j) * shares + static_cast<Bytes>(of.share);
  const Bytes parts = static_cast<Bytes>(copies) * shares;
  const Bytes first = elements * part / parts, last = elements * (part + 1) / parts;
  return block.subspan(first * element_bytes, (last - first) * element_bytes);
}

void run_rings(Node& node, Way way, Blocks all, Rank root, HalfWay half, Bytes element_bytes) {
  const auto plans = ring_scatter_plans(node, root, half);
  const auto copies = static_cast<int>(plans.size());
  together(node, copies, [&](int j, Node& own) {
    plans[static_cast<std::size_t>(j)].run(own, way, [&, j](const RingScatterPlan::Share& of) {
      return ring_share(all[of.block], of, j, copies, half, element_bytes);
    });
  });
}

Prediction ring_scatter_cost(const Topology& topology, HalfWay half) {
  const std::vector<int> wide = wide_dimensions(topology);
  const std::size_t copies = wide.size();
  const Rank steps = longest_half(topology);
  double transmission = 0;
  std::vector<double> left(copies,
                           topology.nodes());  // by copy, blocks of what a bundle is cut from
  for (std::size_t t = 0; t < copies; ++t) {
    for (std::size_t j = 0; j < copies; ++j) left[j] /= topology.size(wide[(j + t) % copies]);
    for (Rank s = 1; s <= steps; ++s) {
      double largest = 0;
      for (std::size_t j = 0; j < copies; ++j) {
        const Rank n = topology.size(wide[(j + t) % copies]);
        for (const int sign : {+1, -1}) {
          const Rank reach = ring_reach(n, sign, half);
          if (s > reach) continue;
          const auto [begin, end] = ring_ways(n, reach - s + 1, sign, half);
          largest = std::max(largest, left[j] * (end - begin) / ring_shares(half));
        }
      }
      transmission += largest / static_cast<double>(copies);
    }
  }
  return {.startups = static_cast<double>(copies) * steps,
          .transmission_blocks = transmission,
          .rearranged_blocks = 0,
          .link_load = copies > 0 ? 1 : 0,
          .link_blocks = transmission};
}

Prediction ring_scatter_and_all_cost(const Topology& topology, HalfWay half) {
  const double p = topology.nodes();
  Prediction prediction = ring_scatter_cost(topology, half);
  const Prediction second = all_port_cost(topology, half);
  *prediction.startups += *second.startups;
  prediction.transmission_blocks =
      (*prediction.transmission_blocks + *second.transmission_blocks) / p;
  prediction.link_blocks = prediction.transmission_blocks;
  return prediction;
}

Algorithm ring_scatters(Operation operation, void (*program)(Node&, const Call&)) {
  return {
      .operation = operation,
      .name = "ring-all-port",
      .summary = operation == operations::gather
                     ? "rotated copies gather in both directions of every ring, on all links; "
                       "rings and tori"
                     : "rotated copies scatter in both directions of every ring, farthest first, "
                       "on all links; rings and tori",
      .source = "Jain, Sabharwal, ICS 2010 (abstract only; our details)",
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .neighbours_only = true,
      .options = {half_way_option()},
      .needs = {needs::rings()},
      .instead = {"halving", "mesh"},
      .predict =
          [](const Setting& setting) {
            return ring_scatter_cost(setting.topology, half_of(setting.options));
          },
      .program = program,
      .parts =
          [](const Setting& setting) {
            return all_port_parts(setting.topology, half_of(setting.options));
          },
  };
}

}  // namespace wormcube
