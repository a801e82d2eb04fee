// Broadcast by recursive doubling: the hypercube's algorithm, on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/bit_handover.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Half way round a ring the message says which direction.
Op send_across(const Topology& topology, Rank from, Rank to, int bit, Span message, RingTies ties) {
  if (ties == RingTies::plus) return send(to, message);
  const int dimension = rank_bit(topology, bit).dimension;
  const Graph& graph = topology.factor(dimension);
  const Rank place = topology.coordinate(from, dimension);
  const int hops =
      graph.has_direction() ? graph.hops(place, topology.coordinate(to, dimension)) : 0;
  if (!graph.wraps() || 2 * std::abs(hops) != graph.nodes()) return send(to, message);
  return send(Move{dimension, place % 2 == 0 ? hops : -hops}, message);
}

/// Numbers of nodes other than 2^d: from node 0 only, and without balanced ties.
void require_doubling(const Topology& topology, Rank root, RingTies ties) {
  const Rank p = topology.nodes();
  if (is_power_of_two(p)) return;
  if (root != 0) {
    throw UsageError(fmt::format(
        "recursive-doubling: a root other than 0 needs a power-of-2 number of nodes; {} has "
        "{}, and the root is {}; use binomial or halving",
        topology.name(), p, root));
  }
  if (ties == RingTies::balanced) {
    throw UsageError(fmt::format(
        "recursive-doubling: ties=balanced needs a power-of-2 number of nodes; {} has {}; "
        "use ties=plus",
        topology.name(), p));
  }
}

/// One step. `done` are the bits crossed so far: a node that differs from the root in others has
/// nothing.
void cross(Node& node, Span message, Rank root, int bit, Rank done, RingTies ties) {
  const Rank r = node.rank(), partner = r ^ (1 << bit), missing = (r ^ root) & ~done;
  if (missing == 0 && partner < node.size()) {
    node.step({send_across(node.topology(), r, partner, bit, message, ties)});
  } else if (missing == 1 << bit) {
    node.step({receive(partner, message)});
  } else {
    node.step();
  }
}

/// Broadcast: the root's message ends on every node. In each step all nodes that have it send it to
/// the node whose rank differs in one bit.
///
/// Network  any, of 2^d nodes; of any number if the root is node 0, where partners that do not
///          exist are skipped. One-port.
/// Cost     ceil(log2 p) steps of the whole message. Descending: (ts + tw m) log2 p. Ascending on a
///          line, ring or tree: ts log2 p + tw m (p - 1), as step i puts 2^i messages on one link;
///          with balanced ties ts log2 p + tw m (3p/4 - 1) on a ring.
/// Links    hypercube, complete: free of contention in both orders; line, ring, tree, mesh: in the
///          descending one.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1.3 and 4.1.5, Algorithms 4.1 and 4.2; problems
///          4.2 and 4.24.
void broadcast_recursive_doubling(Node& node, const Call& call) {
  const bool ascending = call.options.is("order", "ascending");
  const auto ties = call.options.choice<RingTies>("ties");
  const int d = log2_ceiling(node.size());
  Rank done = 0;
  for (int t = 0; t < d; ++t) {
    const int bit = ascending ? t : d - 1 - t;
    cross(node, call.output.all(), call.arguments.root, bit, done, ties);
    done |= 1 << bit;
  }
}

/// The load of the step that crosses a bit, with all lower bits crossed before: all nodes of an
/// interval of 2^bit send. Nothing if there is no closed form.
std::optional<double> ascending_load(const Setting& setting, int bit) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  if (!is_power_of_two(p)) {  // from node 0, those that exist
    if (!intervals_are_apart(topology)) return std::nullopt;
    const bool complete = topology.factor(0).shape() == Shape::complete;
    return complete ? 1 : std::min(1 << bit, p - (1 << bit));
  }
  const Graph& graph = topology.factor(rank_bit(topology, bit).dimension);
  const bool half_round = graph.wraps() && 2 << rank_bit(topology, bit).local == graph.nodes();
  const auto load = load_across(topology, bit);
  return load && half_round && setting.options.is("ties", "balanced") ? *load / 2 : load;
}

Prediction predict_recursive_doubling(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  const int steps = log2_ceiling(p);
  Prediction prediction{
      .startups = steps, .transmission_blocks = steps, .rearranged_blocks = 0, .working_blocks = 0};
  double most = 0, sum = 0;
  for (int bit = 0; bit < steps; ++bit) {
    auto load = ascending_load(setting, bit);
    if (!load) return prediction;
    if (setting.options.is("order", "descending")) load = 1;
    most = std::max(most, *load);
    sum += *load;
  }
  prediction.link_load = most;
  prediction.link_blocks = sum;
  return prediction;
}

/// Broadcast: part j of d of the root's message goes along a binomial tree that crosses the
/// dimensions j, j+1, .., j-1 (mod d).
///
/// Network  hypercube of dimension d; all-port.
/// Cost     d steps of 1/d of the message: ts d + tw m.
/// Links    the trees cross different dimensions in each step.
void broadcast_hypercube_all_port(Node& node, const Call& call) {
  const int d = node.topology().dimensions();
  if (d == 0) return;
  together(node, d, [&](int j, Node& own) {
    Rank done = 0;
    for (int t = 0; t < d; ++t) {
      const int bit = (j + t) % d;
      cross(own, part(call.output.all(), j, d), call.arguments.root, bit, done, RingTies::plus);
      done |= 1 << bit;
    }
  });
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_recursive_doubling){
    .operation = operations::broadcast,
    .name = "recursive-doubling",
    .summary =
        "holders send across one bit of the ranks after another, and XOR moves the root; 2^d "
        "nodes, every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, 4.1.3, 4.1.5, problems 4.2, 4.24",
    .exactly_once = true,
    .remark =
        "free of contention on hypercubes, and in descending order elsewhere except on "
        "arbitrary graphs; other numbers of nodes: from node 0",
    .options = {{.name = "order",
                 .choices = {"descending", "ascending"},
                 .help = "order of the bits; descending: the farthest nodes first"},
                {.name = "ties",
                 .choices = {"plus", "balanced"},
                 .help =
                     "halfway round a ring: all '+', or even coordinates '+' and odd ones '-'"}},
    .require =
        [](const Setting& setting) {
          require_doubling(setting.topology, setting.arguments.root,
                           setting.options.choice<RingTies>("ties"));
        },
    .predict = predict_recursive_doubling,
    .program = broadcast_recursive_doubling,
};

WORMCUBE_ALGORITHM(broadcast_hypercube_all_port){
    .operation = operations::broadcast,
    .name = "hypercube-all-port",
    .summary = "d rotated binomial trees on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::hypercube()},
    .instead = {"recursive-doubling", "halving"},
    .predict = [](const Setting& setting) -> Prediction {
      const double once = setting.topology.nodes() > 1 ? 1 : 0;
      return {.startups = setting.topology.dimensions(),
              .transmission_blocks = once,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = once,
              .link_blocks = once};
    },
    .program = broadcast_hypercube_all_port,
    .parts = [](const Setting& setting) { return std::max(1, setting.topology.dimensions()); },
};

}  // namespace wormcube
