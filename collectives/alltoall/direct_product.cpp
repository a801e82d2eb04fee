// Total exchange straight to every destination, in phases without contention.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/direct_factor.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The exchange as one node sees it: one choice of a permutation per dimension after another.
class DirectProduct {
 public:
  DirectProduct(const Topology& topology, Rank self) : topology_(topology), self_(self) {
    for (int d = 0; d < topology.dimensions(); ++d) factors_.emplace_back(topology.factor(d));
    for (const DirectFactor& factor : factors_) classes_ = std::max(classes_, factor.classes());
    choice_.resize(factors_.size());
    chosen_.resize(factors_.size() + 1, Chosen{{self, 0, 0}, {self, 0, 0}, {}, {}});
    const auto k = static_cast<std::size_t>(classes_);
    for (Chosen& chosen : chosen_) chosen.stay.resize(k), chosen.move.resize(k);
    chosen_[0].stay[0] = 1;
  }

  struct Message {
    Rank peer;  // the node itself: none
    int sub_phase;
    int hops;  // in the dimension that was chosen last
  };
  const Message& to() const { return chosen_.back().to; }
  const Message& from() const { return chosen_.back().from; }
  /// By sub-phase, whether anybody sends there.
  const std::vector<char>& used() const { return chosen_.back().move; }
  /// The path to `to()`: the last dimension first.
  std::span<const Move> way() {
    way_.clear();
    for (std::size_t d = factors_.size(); d > 0; --d) {
      const int hops = chosen_[d].to.hops;
      if (hops != 0) way_.push_back({static_cast<int>(d) - 1, hops});
    }
    return way_;
  }

  /// The next choice, the last dimension's permutation first: results of the dimensions before a
  /// change are kept. False: there is none. Starts before the first.
  bool next() {
    int d = topology_.dimensions() - 1;
    if (!began_) {
      began_ = true;
      d = 0;
    } else {
      while (d >= 0 && ++choice_[static_cast<std::size_t>(d)] == topology_.size(d)) {
        choice_[static_cast<std::size_t>(d--)] = 0;
      }
      if (d < 0) return false;
    }
    for (; d < topology_.dimensions(); ++d) extend(d, choice_[static_cast<std::size_t>(d)]);
    return true;
  }

 private:
  /// The combined moves of the first dimensions.
  struct Chosen {
    Message to, from;
    std::vector<char> stay, move;  // by sub-phase: of some that stay in all; of some that move
  };

  void extend(int d, Rank permutation) {
    const auto level = static_cast<std::size_t>(d);
    const DirectFactor& factor = factors_[level];
    const Chosen& before = chosen_[level];
    Chosen& after = chosen_[level + 1];
    const Rank c = topology_.coordinate(self_, d), n = topology_.size(d);
    const auto with = [&](const Message& message, DirectFactor::Hop hop, int sign) {
      const Rank peer = hop.hops == 0
                            ? message.peer
                            : topology_.with(message.peer, d, mod(c + sign * hop.hops, n));
      return Message{peer, (message.sub_phase + hop.move_class) % classes_, hop.hops};
    };
    after.to = with(before.to, factor.out(permutation, c), 1);
    after.from = with(before.from, factor.in(permutation, c), -1);
    std::fill(after.stay.begin(), after.stay.end(), 0);
    std::fill(after.move.begin(), after.move.end(), 0);
    // There are few sums while the dimensions are few: a single ring has one, with many classes.
    for (std::size_t sum = 0; sum < before.stay.size(); ++sum) {
      if (!before.stay[sum] && !before.move[sum]) continue;
      for (int of = 0; of < factor.classes(); ++of) {
        const auto [some_move, some_stay] = factor.used(permutation, of);
        if (!some_move && !some_stay) continue;
        const std::size_t next = (sum + static_cast<std::size_t>(of)) % before.stay.size();
        if (before.stay[sum] && some_stay) after.stay[next] = 1;
        if ((before.stay[sum] && some_move) || before.move[sum]) after.move[next] = 1;
      }
    }
  }

  const Topology& topology_;
  Rank self_;
  std::vector<DirectFactor> factors_;
  int classes_ = 1;
  std::vector<Rank> choice_;  // one per dimension; a single node has none, and one choice
  bool began_ = false;
  std::vector<Chosen> chosen_;  // by how many dimensions
  std::vector<Move> way_;
};

Need direct_factors() {
  return {
      "every dimension must be a ring of an even number of nodes or of at most 25, a line of at "
      "most 4, or complete",
      [](const Topology& topology) -> std::optional<std::string> {
        for (int d = 0; d < topology.dimensions(); ++d) {
          const Graph& graph = topology.factor(d);
          if (DirectFactor::admits(graph)) continue;
          return fmt::format("{} has {}", topology.name(), graph.name());
        }
        return std::nullopt;
      }};
}

/// Total exchange: node r's block q ends as node q's block r. Single blocks go straight from their
/// source to their destination: nothing is combined, forwarded or rearranged.
///
/// Each dimension has as many permutations as nodes, which together contain every pair (source,
/// destination) once. Moves of a permutation have classes, and those of one class share no link.
/// For every choice of one permutation for each dimension, and for t = 0 .. k-1, the nodes send
/// whose moves' classes add up to t modulo k, where k is the largest number of classes of a
/// dimension.
///
/// Network  every dimension a ring of n <= 25 or even n, a line of n <= 4, or complete. One-port.
/// Cost     p k steps of one block, less those in which all would stay: tori of n x n with n a
///          multiple of 8 n^3/8, the bisection bound; sides of 7 and less p - 1. No memory.
/// Links    each link carries one message in a step: on a line of a dimension the classes of the
///          others are fixed, so the sum leaves one class.
/// Source   idea: S. Hinrichs, C. Kosak, D. O'Hallaron, T. Stricker, R. Take, An Architecture for
///          Optimal All-to-All Personalized Communication, SPAA 1994 (n x n, n a multiple of 8);
///          rings: T. Horie, K. Hayashi 1991. The construction is ours:
///          docs/explanation/direct-product.md.
void alltoall_direct_product(Node& node, const Call& call) {
  const Topology& topology = node.topology();
  const Rank r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  DirectProduct exchange(topology, r);
  std::vector<Op> ops;
  while (exchange.next()) {
    const auto &to = exchange.to(), &from = exchange.from();
    for (std::size_t t = 0; t < exchange.used().size(); ++t) {
      if (!exchange.used()[t]) continue;
      ops.clear();
      if (to.peer != r && to.sub_phase == static_cast<int>(t)) {
        ops.push_back(send(to.peer, call.input[to.peer]).with(exchange.way()));
      }
      if (from.peer != r && from.sub_phase == static_cast<int>(t)) {
        ops.push_back(receive(from.peer, call.output[from.peer]));
      }
      node.step(ops);
    }
  }
}

/// p k steps, without those in which all would stay.
double direct_product_steps(const Topology& topology) {
  const double p = topology.nodes();
  int classes = 1, others = 0;
  Rank late = 0;  // a ring whose last class only stays in half of its permutations
  for (int d = 0; d < topology.dimensions(); ++d) {
    const DirectFactor factor(topology.factor(d));
    const Rank n = factor.nodes();
    classes = std::max(classes, factor.classes());
    if (factor.has_identity()) continue;
    ++others;
    if (topology.factor(d).is(Shape::ring) && n > 8 && n % 8 == 2) late = n;
  }
  double steps = p * classes;
  if (others == 0) steps -= 1;
  if (others == 1 && late > 0) steps -= late / 2;  // NOLINT(bugprone-integer-division): even
  return steps;
}

Prediction predict_direct_product(const Setting& setting) {
  const double steps = direct_product_steps(setting.topology);
  return {.startups = steps,
          .transmission_blocks = steps,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = setting.topology.nodes() > 1 ? 1 : 0,
          .link_blocks = steps};
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_direct_product){
    .operation = operations::alltoall,
    .name = "direct-product",
    .summary =
        "single blocks go straight to their destinations and share no link; tori and products",
    .source =
        "ours (docs/explanation/direct-product.md), after Hinrichs, Kosak, O'Hallaron, Stricker, "
        "Take 1994; "
        "Horie, Hayashi 1991",
    .contention_free = true,
    .exactly_once = true,
    .remark = "our construction",
    .needs = {direct_factors()},
    .instead = {"shift", "suh-torus", "mesh"},
    .predict = predict_direct_product,
    .program = alltoall_direct_product,
};

}  // namespace wormcube
