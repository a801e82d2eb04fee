// Once round a ring through all nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring.hpp"

#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

void allgather_on_ring(Node& node, const Positions& ring, Blocks all) {
  const Rank p = ring.count(), x = ring.position(node.rank());
  const Rank next = ring.node(x + 1), before = ring.node(x - 1);
  // Invariant: before step t this node holds the blocks of positions x, x-1, .., x-t+1.
  for (Rank t = 1; t < p; ++t) {
    node.step({send(next, all[ring.node(x - t + 1)]), receive(before, all[ring.node(x - t)])});
  }
}

void reduce_scatter_on_ring(Node& node, const Positions& ring, const Reduction& reduction,
                            ConstBlocks in, Span out, const Portion& portion) {
  const Rank p = ring.count(), r = node.rank(), x = ring.position(r);
  const auto own = [&](Rank q) { return cut(in[q], portion); };
  const Span result = cut(out, portion);
  if (p == 1) {
    node.local([&] { copy(own(0), result); });
    return;
  }

  // The data for node q, between nodes: the ranks above q, then those below; one may have no ranks.
  Bytes slot = 0;
  for (Rank q = 0; q < p; ++q) slot = std::max(slot, own(q).size());
  const Memory first = node.memory(2 * slot), second = node.memory(2 * slot);
  Span going = first, coming = second;
  const auto above = [&](Span message, Rank q) { return message.subspan(0, own(q).size()); };
  const auto below = [&](Span message, Rank q) { return message.subspan(slot, own(q).size()); };
  // The pieces of a message for q that leaves node s. If the operator commutes there is one.
  const auto pieces = [&](Span message, Rank q, Rank s) {
    const bool has_above = q < p - 1 || reduction.commutative;
    const bool has_below = s < q && !reduction.commutative;
    return std::array{has_above ? above(message, q) : Span(),
                      has_below ? below(message, q) : Span()};
  };

  const Rank next = ring.node(x + 1), before = ring.node(x - 1);
  for (Rank t = 1; t < p; ++t) {
    const Rank gone = ring.node(x - t), q = ring.node(x - t - 1);
    const auto sent = pieces(going, gone, r), received = pieces(coming, q, before);
    node.step({t == 1 ? send(next, own(gone)) : send_pieces(next, sent),
               receive_pieces(before, received)});
    if (q == r) break;
    if (r > q || reduction.commutative) {
      combine(node, reduction, above(coming, q), own(q), above(coming, q));
    } else if (r > 0) {
      combine(node, reduction, below(coming, q), own(q), below(coming, q));
    } else {
      node.local([&] { copy(own(q), below(coming, q)); });
    }
    std::swap(going, coming);
  }
  ConstSpan sum = own(r);
  if (r > 0 && !reduction.commutative) {
    combine(node, reduction, below(coming, r), sum, result);
    sum = result;
  }
  if (r < p - 1 || reduction.commutative) {
    combine(node, reduction, sum, above(coming, r), result);
  }
}

void allreduce_on_ring(Node& node, const Positions& ring, const Reduction& reduction,
                       ConstSpan mine, Span result, Rank segments) {
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, ring.count());
  const Blocks parts(result, offsets);
  for (Rank i = 0; i < segments; ++i) {
    reduce_scatter_on_ring(node, ring, reduction, ConstBlocks(mine, offsets), parts[node.rank()],
                           {i, segments, reduction.element_bytes});
  }
  allgather_on_ring(node, ring, parts);
}

void gather_on_ring(Node& node, const Positions& ring, Blocks parts, Rank root) {
  const Rank x = ring.position(node.rank());
  const std::vector<Halving> levels = halvings(ring.count(), ring.position(root), x);
  std::vector<Span> half;
  // Invariant: the holder of each interval done has the parts of its positions.
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (level->alone() || (x != level->holder && x != level->heir)) {
      node.step();
      continue;
    }
    half.clear();
    for (Rank y = level->lower; y < level->upper; ++y) half.push_back(parts[ring.node(y)]);
    if (x == level->holder) {
      node.step({receive_pieces(ring.node(level->heir), half)});
    } else {
      node.step({send_pieces(ring.node(level->holder), half)});
    }
  }
}

std::vector<std::vector<PatternMessage>> gather_on_ring_messages(const Positions& ring, Rank root,
                                                                 double part) {
  auto steps = halving_messages(ring.count(), ring.position(root), true, part);
  for (auto& step : steps) {
    for (PatternMessage& message : step) {
      message.from = ring.node(message.from), message.to = ring.node(message.to);
    }
  }
  return steps;
}

Prediction reduce_scatter_ring_cost(Rank n, bool commutative) {
  const double steps = n - 1.0;
  Prediction prediction{steps, commutative || n < 3 ? steps : 2 * steps - 1, 0};
  prediction.combined_blocks = commutative || n < 3 ? steps : n;
  return prediction;
}

Prediction allreduce_ring_cost(Rank n, bool commutative, Rank segments) {
  Prediction prediction = reduce_scatter_ring_cost(n, commutative);
  prediction.startups = (segments + 1) * (n - 1.0);
  prediction.transmission_blocks = (*prediction.transmission_blocks + n - 1) / n;
  *prediction.combined_blocks /= n;
  return prediction;
}

Prediction with_ring_load(Prediction prediction, const Topology& topology, bool by_ring,
                          bool alike) {
  const Positions ring(topology, by_ring);
  std::vector<PatternMessage> messages;
  for (Rank x = 0; x < ring.count() && ring.count() > 1; ++x) {
    messages.push_back({ring.node(x), ring.node(x + 1)});
  }
  if (const auto load = pattern_load(topology, messages)) {
    prediction.link_load = load->link_load;
    if (alike || load->link_load == 1) {
      prediction.link_blocks = load->link_load * *prediction.transmission_blocks;
    }
    int longest = 0;
    for (const PatternMessage& message : messages) {
      longest = std::max(longest, route_hops(topology, message.from, message.to));
    }
    prediction.hops = *prediction.startups * longest;
  }
  return prediction;
}

Option ring_order_option() {
  return {.name = "order",
          .choices = {"ring", "rank"},
          .help = "the network's ring (neighbours next to each other), or the order of ranks"};
}

bool is_by_ring(const Options& options) { return options.is("order", "ring"); }

void require_ring_order(const Setting& setting) {
  const Reduction& reduction = setting.arguments.reduction;
  if (reduction.commutative || !is_by_ring(setting.options)) return;
  if (std::ranges::is_sorted(shared_ring_order(setting.topology)->nodes)) return;
  throw UsageError(fmt::format(
      "ring: {} does not commute, and the ring of {} is not in the order of ranks; use order=rank",
      reduction.name, setting.topology.name()));
}

}  // namespace wormcube
