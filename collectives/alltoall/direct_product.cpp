// Total exchange straight to every destination, in phases without contention.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/direct_factor.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/recently_made.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

std::vector<DirectFactor> factors_of(const Topology& topology) {
  std::vector<DirectFactor> factors;
  for (int d = 0; d < topology.dimensions(); ++d) factors.emplace_back(topology.factor(d));
  return factors;
}

int classes_of(std::span<const DirectFactor> factors) {
  int classes = 1;
  for (const DirectFactor& factor : factors) classes = std::max(classes, factor.classes());
  return classes;
}

/// For each choice of a permutation for every dimension, the last dimension's first: the sub-phases
/// in which some node sends, which are the same for all nodes.
class SubPhases {
 public:
  explicit SubPhases(const Topology& topology) : factors_(factors_of(topology)) {
    const auto classes = static_cast<std::size_t>(classes_of(factors_));
    Sums none{std::vector<char>(classes), std::vector<char>(classes)};
    none.stay[0] = 1;
    add(0, none);
  }
  std::span<const int> of(std::size_t choice) const {
    const std::size_t first = choice == 0 ? 0 : ends_[choice - 1];
    return std::span(used_).subspan(first, ends_[choice] - first);
  }

 private:
  /// By the sum of classes so far: some node stays in all dimensions; some node moves.
  struct Sums {
    std::vector<char> stay, move;
  };

  void add(std::size_t level, const Sums& before) {
    const std::size_t classes = before.stay.size();
    if (level == factors_.size()) {
      for (std::size_t sum = 0; sum < classes; ++sum) {
        if (before.move[sum]) used_.push_back(static_cast<int>(sum));
      }
      ends_.push_back(used_.size());
      return;
    }
    const DirectFactor& factor = factors_[level];
    for (Rank permutation = 0; permutation < factor.nodes(); ++permutation) {
      Sums after{std::vector<char>(classes), std::vector<char>(classes)};
      for (int of = 0; of < factor.classes(); ++of) {
        const auto [some_move, some_stay] = factor.used(permutation, of);
        for (std::size_t sum = 0; sum < classes; ++sum) {
          const std::size_t next = (sum + static_cast<std::size_t>(of)) % classes;
          if (before.stay[sum] && some_stay) after.stay[next] = 1;
          if ((before.stay[sum] && some_move) || (before.move[sum] && (some_move || some_stay))) {
            after.move[next] = 1;
          }
        }
      }
      add(level + 1, after);
    }
  }

  std::vector<DirectFactor> factors_;
  std::vector<int> used_;          // choice by choice
  std::vector<std::size_t> ends_;  // of each choice
};

/// The exchange as one node sees it.
class DirectProduct {
 public:
  DirectProduct(const Topology& topology, Rank self) : self_(self) {
    const std::vector<DirectFactor> factors = factors_of(topology);
    classes_ = classes_of(factors);
    for (int d = 0; d < topology.dimensions(); ++d) {
      const DirectFactor& factor = factors[static_cast<std::size_t>(d)];
      const Rank c = topology.coordinate(self, d), n = factor.nodes();
      const auto move = [&](DirectFactor::Hop hop, int sign) {
        const Rank to = mod(c + sign * hop.hops, n);
        return Part{(to - c) * topology.stride(d), hop.move_class, hop.hops};
      };
      Parts& parts = parts_.emplace_back();
      for (Rank permutation = 0; permutation < n; ++permutation) {
        parts.out.push_back(move(factor.out(permutation, c), +1));
        parts.in.push_back(move(factor.in(permutation, c), -1));
      }
    }
    hops_.resize(parts_.size());
  }

  struct Message {
    Rank peer;  // the node itself: none
    int sub_phase;
  };
  /// visit(to, from) for each choice, in the order of SubPhases.
  template <class Visit>
  void each_choice(Visit visit) {
    each_choice_from(0, {self_, 0}, {self_, 0}, visit);
  }
  /// The path of the message of the choice that is visited: the last dimension first.
  std::span<const Move> way() {
    way_.clear();
    for (std::size_t d = hops_.size(); d-- > 0;) {
      if (hops_[d] != 0) way_.push_back({static_cast<int>(d), hops_[d]});
    }
    return way_;
  }

 private:
  /// What a permutation of one dimension adds to a message.
  struct Part {
    Rank offset;
    int move_class, hops;
  };
  struct Parts {
    std::vector<Part> out, in;  // by permutation
  };

  template <class Visit>
  void each_choice_from(std::size_t d, Message to, Message from, Visit& visit) {
    if (d == parts_.size()) return visit(to, from);
    const auto with = [&](const Message& message, const Part& part) {
      const int sum = message.sub_phase + part.move_class;
      return Message{message.peer + part.offset, sum < classes_ ? sum : sum - classes_};
    };
    for (std::size_t i = 0; i < parts_[d].out.size(); ++i) {
      hops_[d] = parts_[d].out[i].hops;
      each_choice_from(d + 1, with(to, parts_[d].out[i]), with(from, parts_[d].in[i]), visit);
    }
  }

  Rank self_;
  int classes_ = 1;
  std::vector<Parts> parts_;  // by dimension
  std::vector<int> hops_;     // of the choice that is visited, by dimension
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
  static RecentlyMade<Topology, SubPhases> made;
  const auto sub_phases = made(topology, [&] { return SubPhases(topology); });
  DirectProduct exchange(topology, r);
  std::vector<Op> ops;
  exchange.each_choice([&, choice = std::size_t{0}](const auto& to, const auto& from) mutable {
    for (const int t : sub_phases->of(choice++)) {
      ops.clear();
      if (to.peer != r && to.sub_phase == t) {
        ops.push_back(send(to.peer, call.input[to.peer]).with(exchange.way()));
      }
      if (from.peer != r && from.sub_phase == t) {
        ops.push_back(receive(from.peer, call.output[from.peer]));
      }
      node.step(ops);
    }
  });
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
