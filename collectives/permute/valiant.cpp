// A permutation of nodes in two phases, through random intermediate nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/collectives/shift/traveller.hpp"
#include "wormcube/runtime/base/hash.hpp"

#include <array>
#include <limits>

namespace wormcube {

namespace {

/// A random permutation of 0 .. p-1 without a table: a Feistel network on the fewest pairs of bits
/// that hold p numbers. A result above p-1 goes through it again.
class RandomPermutation {
 public:
  RandomPermutation(std::int64_t seed, Rank p) : seed_(static_cast<std::uint64_t>(seed)), p_(p) {
    while (std::int64_t{1} << 2 * bits_ < p) ++bits_;
  }

  Rank image(Rank rank) const {
    do {
      auto [left, right] = halves(rank);
      for (int round = 0; round < rounds; ++round) {
        left ^= noise(round, right);
        std::swap(left, right);
      }
      rank = joined(left, right);
    } while (rank >= p_);
    return rank;
  }

  Rank origin(Rank rank) const {
    do {
      auto [left, right] = halves(rank);
      for (int round = rounds; round-- > 0;) {
        std::swap(left, right);
        left ^= noise(round, right);
      }
      rank = joined(left, right);
    } while (rank >= p_);
    return rank;
  }

 private:
  static constexpr int rounds = 6;
  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
  std::array<std::uint64_t, 2> halves(Rank rank) const {
    const auto word = static_cast<std::uint64_t>(rank);
    return {word >> bits_, word & mask()};
  }
  Rank joined(std::uint64_t left, std::uint64_t right) const {
    return static_cast<Rank>(left << bits_ | right);
  }
  std::uint64_t noise(int round, std::uint64_t half) const {
    return mixed(mixed(seed_ * rounds + static_cast<std::uint64_t>(round)) + half) & mask();
  }

  std::uint64_t seed_;
  Rank p_;
  int bits_ = 1;
};

/// Where a node's block leaves for, and which node's arrives.
struct ValiantStep {
  Rank to, from;
};

/// The two phases at node r: to the intermediate node of its own block; then the block that is here
/// to its destination.
std::array<ValiantStep, 2> valiant_steps(const Arguments& arguments, const Options& options, Rank r,
                                         Rank p) {
  const Permutation& permutation = arguments.permutation;
  const RandomPermutation middle(options.number("seed"), p);
  const Rank arrived = middle.origin(r), expected = permutation.origin(r, p);
  return {
      {{middle.image(r), arrived}, {permutation.destination(arrived, p), middle.image(expected)}}};
}

/// Permutation: node r's block goes to a random intermediate node, and from there to the node that
/// the permutation names. No permutation is much worse than another.
///
/// Network  any, with as many nodes as the permutation requires; one-port.
/// Cost     2 steps of 1 block, none if every block stays: twice ts + tw m, times the load of
///          random permutations.
/// Links    shared, by as many messages as in two random permutations: O(log p) on a
///          hypercube, with high probability, where bit reversal alone has sqrt(p) / 2.
/// Source   L. G. Valiant, A Scheme for Fast Parallel Communication, SIAM J. Computing 11(2), 1982;
///          Valiant, Brebner, Universal Schemes for Parallel Communication, STOC 1981. There each
///          block draws its node by itself. Here all draw different ones, so that one port is
///          enough.
void permute_valiant(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  if (call.arguments.permutation.is_identity(p)) {
    Traveller(node, call.input, call.output, 0);
    return;
  }
  const auto both = valiant_steps(call.arguments, call.options, r, p);
  Rank moves = 0;
  for (const ValiantStep& phase : both) moves += phase.to == r ? 0 : 1;
  Traveller block(node, call.input, call.output, moves);
  for (const ValiantStep& phase : both) {
    if (phase.to == r) {
      node.step();
      continue;
    }
    const auto [leaving, arriving] = block.next();
    node.step({send(phase.to, leaving), receive(phase.from, arriving)});
  }
}

Prediction predict_valiant(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  PatternSteps steps(setting.topology);
  if (setting.arguments.permutation.is_identity(p)) return steps.with_loads({0, 0, 0, 0});
  double moving = 0;
  for (const int phase : {0, 1}) {
    std::vector<PatternMessage> messages;
    for (Rank r = 0; r < p; ++r) {
      const Rank to = valiant_steps(setting.arguments, setting.options, r, p)[phase].to;
      if (to != r) messages.push_back({r, to});
    }
    if (!messages.empty()) ++moving;
    steps.add(messages);
  }
  return steps.with_loads({moving, moving, 0, 0});
}

}  // namespace

WORMCUBE_ALGORITHM(permute_valiant){
    .operation = operations::permute,
    .name = "valiant",
    .summary = "two phases through random intermediate nodes; every network",
    .source = "Valiant 1982; Grama, Gupta, Karypis, Kumar, sec. 4.9",
    .remark =
        "the intermediate nodes are a random permutation, so that one port is enough: our "
        "variant",
    .options = {{.name = "seed",
                 .preset = 1,
                 .least = 0,
                 .most = std::numeric_limits<std::int32_t>::max(),
                 .help = "seed for the random intermediate nodes"}},
    .predict = predict_valiant,
    .program = permute_valiant,
};

}  // namespace wormcube
