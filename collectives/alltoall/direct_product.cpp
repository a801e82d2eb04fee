// Total exchange by products of permutations.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/direct_product.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/direct_factor.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_direct_product;
}

namespace {

/// The exchange as one node sees it.
class DirectProduct {
 public:
  explicit DirectProduct(const Topology& topology) : topology_(topology) {
    for (int d = 0; d < topology.dimensions(); ++d) {
      factors_.emplace_back(topology.factor(d));
      classes_ = std::max(classes_, factors_.back().classes());
    }
  }

  struct Message {
    Rank peer;  // the node itself: none
    int sub_phase;
    std::vector<Move> moves;  // the last dimension first
  };
  /// In a choice of permutations, written in the sizes of the dimensions: what node r sends, or gets.
  Message message(Rank choice, Rank r, bool incoming) const {
    Message message{r, 0, {}};
    for (int d = topology_.dimensions() - 1; d >= 0; --d) {
      const Rank c = topology_.coordinate(r, d), permutation = topology_.coordinate(choice, d);
      const DirectFactor& factor = factors_[static_cast<std::size_t>(d)];
      const auto [hops, of] = incoming ? factor.in(permutation, c) : factor.out(permutation, c);
      message.sub_phase = (message.sub_phase + of) % classes_;
      if (hops == 0) continue;
      message.moves.push_back({d, hops});
      message.peer =
          topology_.with(message.peer, d, mod(incoming ? c - hops : c + hops, topology_.size(d)));
    }
    return message;
  }
  /// By sub-phase, whether anybody sends there.
  std::vector<bool> used(Rank choice) const {
    const auto k = static_cast<std::size_t>(classes_);
    // Sums of classes over the dimensions so far: of some who stay in all, of some who move.
    std::vector<bool> stay(k, false), move(k, false);
    stay[0] = true;
    for (int d = 0; d < topology_.dimensions(); ++d) {
      const DirectFactor& factor = factors_[static_cast<std::size_t>(d)];
      const Rank permutation = topology_.coordinate(choice, d);
      std::vector<bool> stays(k, false), moves(k, false);
      for (int of = 0; of < factor.classes(); ++of) {
        const auto [some_move, some_stay] = factor.used(permutation, of);
        if (!some_move && !some_stay) continue;
        for (std::size_t sum = 0; sum < k; ++sum) {
          const std::size_t next = (sum + static_cast<std::size_t>(of)) % k;
          if (stay[sum] && some_stay) stays[next] = true;
          if ((stay[sum] && some_move) || move[sum]) moves[next] = true;
        }
      }
      stay = std::move(stays), move = std::move(moves);
    }
    return move;
  }

 private:
  const Topology& topology_;
  std::vector<DirectFactor> factors_;
  int classes_ = 1;
};

Need direct_factors() {
  return {
      "every dimension must be a ring of an even number of nodes or of 25 at most, a line of 4 at "
      "most, or complete",
      [](const Topology& topology) -> std::optional<std::string> {
        for (int d = 0; d < topology.dimensions(); ++d) {
          const Graph& graph = topology.factor(d);
          if (DirectFactor::admits(graph)) continue;
          return fmt::format("{} has {}", topology.name(), graph.name());
        }
        return std::nullopt;
      }};
}

}  // namespace

void alltoall_direct_product(Node& node, ConstBlocks out, Blocks in) {
  const Topology& topology = node.topology();
  require_network(algorithms::alltoall_direct_product, topology);
  require_direct_exchange("alltoall_direct_product", node, out, in);
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(out[r], in[r]); });
  const DirectProduct exchange(topology);
  std::vector<Op> ops;
  for (Rank choice = 0; choice < p; ++choice) {
    const auto to = exchange.message(choice, r, false), from = exchange.message(choice, r, true);
    const std::vector<bool> used = exchange.used(choice);
    for (std::size_t t = 0; t < used.size(); ++t) {
      if (!used[t]) continue;
      ops.clear();
      if (to.peer != r && to.sub_phase == static_cast<int>(t)) {
        ops.push_back(send(to.peer, out[to.peer]).with(std::span<const Move>(to.moves)));
      }
      if (from.peer != r && from.sub_phase == static_cast<int>(t)) {
        ops.push_back(receive(from.peer, in[from.peer]));
      }
      node.step(ops);
    }
  }
}

namespace {

/// p k steps, but for those in which all would stay.
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
          .contended_blocks = steps};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_direct_product){
    .operation = operations::alltoall,
    .name = "direct-product",
    .summary = "single blocks straight to their destinations, no link shared; tori and products",
    .source =
        "ours (docs/direct-product.md), after Hinrichs, Kosak, O'Hallaron, Stricker, Take 1994; "
        "Horie, Hayashi 1991",
    .ports = Ports::one,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our construction",
    .needs = {direct_factors()},
    .instead = {"shift", "suh-torus", "mesh"},
    .predict = predict_direct_product,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_direct_product(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
