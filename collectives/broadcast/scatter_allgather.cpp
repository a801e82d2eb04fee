// Broadcast of long messages: a scatter of parts, then an all-gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// How the parts are gathered.
enum class PartsAllgather : std::uint8_t {
  neighbours,  ///< round each line and ring, the last dimension first; a hypercube's is doubling
  doubling,    ///< across one bit of ranks after another, the lowest first; 2^d nodes
};

/// The root's message, cut into one part for each node.
class Parts {
 public:
  Parts(Span message, Rank nodes) : message_(message), nodes_(nodes) {}
  /// The parts of nodes first .. last-1.
  Span range(Rank first, Rank last) const {
    const Bytes begin = offset(first);
    return message_.subspan(begin, offset(last) - begin);
  }

 private:
  Bytes offset(Rank node) const {
    return message_.size() * static_cast<Bytes>(node) / static_cast<Bytes>(nodes_);
  }
  Span message_;
  Rank nodes_;
};

void scatter(Node& node, const Parts& parts, Rank root) {
  using Kind = Handover::Kind;
  const auto steps = handovers(HalvingTree::dimensions, node.topology(), node.rank(), root);
  for (const auto& [kind, peer, first, last] : steps) {
    if (kind == Kind::gives) {
      node.step({send(peer, parts.range(first, last))});
    } else if (kind == Kind::takes) {
      node.step({receive(peer, parts.range(first, last))});
    } else {
      node.step();
    }
  }
}

/// Round the line of dimension d: places have the parts of all nodes that differ from theirs in
/// later dimensions only.
void gather_round(Node& node, const Parts& parts, int d) {
  const Topology& topology = node.topology();
  const Rank n = topology.size(d), stride = topology.stride(d), c = node.coordinate(d);
  const Rank base = node.rank() / (n * stride) * (n * stride);
  const auto of = [&](Rank place) {
    const Rank first = base + mod(place, n) * stride;
    return parts.range(first, first + stride);
  };
  const Rank next = topology.with(node.rank(), d, mod(c + 1, n));
  const Rank previous = topology.with(node.rank(), d, mod(c - 1, n));
  for (Rank t = 1; t < n; ++t) {
    node.step({send(next, of(c - t + 1)), receive(previous, of(c - t))});
  }
}

void gather_doubling(Node& node, const Parts& parts) {
  for (Rank width = 1; width < node.size(); width *= 2) {
    const Rank partner = node.rank() ^ width;
    const Rank mine = node.rank() / width * width, other = partner / width * width;
    node.step(
        exchange(partner, parts.range(mine, mine + width), parts.range(other, other + width)));
  }
}

void require_doubling(const Topology& topology) {
  if (is_power_of_two(topology.nodes())) return;
  throw UsageError(fmt::format(
      "scatter-allgather: allgather=doubling needs a power-of-2 number of nodes; {} has {}; use "
      "allgather=neighbours",
      topology.name(), topology.nodes()));
}

/// Broadcast: the root's message, cut into p nearly equal parts, is scattered by halving, dimension
/// by dimension; then all nodes gather all parts.
///
/// Network  any; `doubling`: 2^d nodes; one-port.
/// Cost     2 m (p - 1) / p in sum of ceil(log2 n_d) steps and those of the all-gather, sum of
///          (n_d - 1) or log2 p: hypercube 2 (ts log2 p + tw m (p - 1) / p), ring
///          ts (log2 p + p - 1) + 2 tw m (p - 1) / p. Less than log2 p times the message when m is
///          above (ts / tw) log2 p / (log2 p - 2 (p - 1) / p) on a hypercube of p > 2.
/// Links    neighbours: free of contention on lines, rings, complete networks and 2^d-trees, and
///          their products; doubling: on hypercubes and complete networks.
void broadcast_scatter_allgather(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const PartsAllgather allgather = call.options.choice<PartsAllgather>("allgather");
  const Parts parts(call.output.all(), node.size());
  scatter(node, parts, root);
  if (allgather == PartsAllgather::doubling) {
    gather_doubling(node, parts);
  } else {
    for (int d = node.topology().dimensions(); d-- > 0;) gather_round(node, parts, d);
  }
}

bool doubles(const Setting& setting) { return setting.options.is("allgather", "doubling"); }

/// The maximum link load, and the sum over steps of blocks times load, of the doubling.
void predict_doubling_links(const Topology& topology, double scatter, Prediction& prediction) {
  const double p = topology.nodes();
  double most = p > 1 ? 1 : 0, sum = scatter;
  for (int bit = 0; bit < log2_ceiling(topology.nodes()); ++bit) {
    const auto load = load_across(topology, bit);
    if (!load) return;
    most = std::max(most, *load);
    sum += *load * std::ldexp(1 / p, bit);
  }
  prediction.link_load = most;
  prediction.link_blocks = sum;
}

Prediction predict_scatter_allgather(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes(), once = (p - 1) / p;
  double gather_steps = 0;
  for (const Rank size : topology.sizes()) gather_steps += size - 1;
  if (doubles(setting)) gather_steps = log2_ceiling(topology.nodes());
  Prediction prediction{.startups = halvings(topology) + gather_steps,
                        .transmission_blocks = 2 * once,
                        .rearranged_blocks = 0,
                        .working_blocks = 0};
  if (!intervals_are_apart_by_dimension(topology)) return prediction;
  if (doubles(setting)) {
    predict_doubling_links(topology, once, prediction);
  } else {
    prediction.link_load = p > 1 ? 1 : 0;
    prediction.link_blocks = 2 * once;
  }
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_scatter_allgather){
    .operation = operations::broadcast,
    .name = "scatter-allgather",
    .summary =
        "p parts are scattered, then gathered by all nodes, for long messages; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.13",
    .exactly_once = false,  // all gather what the root, and the nodes that passed parts on, had
    .remark =
        "neighbours: free of contention except on arbitrary graphs, and trees without 2^d leaves",
    .options = {{.name = "allgather",
                 .choices = {"neighbours", "doubling"},
                 .help = "round each dimension (a hypercube: doubling), or across bits of ranks"}},
    .require =
        [](const Setting& setting) {
          if (doubles(setting)) require_doubling(setting.topology);
        },
    .predict = predict_scatter_allgather,
    .program = broadcast_scatter_allgather,
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace wormcube
