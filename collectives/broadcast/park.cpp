// Broadcast in the fewest steps possible, on tori that are powers of 2k+1, by free routes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

namespace wormcube {

namespace {

using Legs = std::vector<Move>;  // of axes, in the order travelled, in units of s

using Steps = std::vector<std::vector<Legs>>;  // the messages of every holder in each step

/// What the holders send at one level, and how each residue modulo `base` is reached.
class Level {
 public:
  struct Reached {
    int step = -1;
    const Legs* legs = nullptr;
  };

  Level(int axes, Rank base, Steps steps) : base_(base), steps_(std::move(steps)) {
    std::size_t residues = 1;
    for (int axis = 0; axis < axes; ++axis) residues *= static_cast<std::size_t>(base);
    reached_.resize(residues);
    std::vector<std::vector<Rank>> holders{std::vector<Rank>(axes, 0)};
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      const std::size_t before = holders.size();
      for (std::size_t h = 0; h < before; ++h) {
        for (const Legs& legs : steps_[step]) {
          std::vector<Rank> to = holders[h];
          for (const auto& [axis, hops] : legs) to[axis] = mod(to[axis] + hops, base);
          reached_[index(to)] = {static_cast<int>(step), &legs};
          holders.push_back(std::move(to));
        }
      }
    }
  }
  Level(const Level&) = delete;  // reached_ points into steps_
  Level& operator=(const Level&) = delete;

  Rank base() const { return base_; }
  const Steps& steps() const { return steps_; }
  const Reached& reached(std::span<const Rank> residue) const { return reached_[index(residue)]; }

 private:
  std::size_t index(std::span<const Rank> residue) const {
    std::size_t index = 0;
    for (const Rank r : residue) index = index * base_ + mod(r, base_);
    return index;
  }
  Rank base_;
  Steps steps_;
  std::vector<Reached> reached_;
};

/// Each message together with its mirror image.
Steps mirrored(Steps steps) {
  for (auto& messages : steps) {
    for (std::size_t i = 0, count = messages.size(); i < count; ++i) {
      Legs image = messages[i];
      for (Move& leg : image) leg.hops = -leg.hops;
      messages.push_back(std::move(image));
    }
  }
  return steps;
}

const Level& level(int axes) {
  static const Level two(2, 5,
                         mirrored({{{{0, 1}, {1, 2}}, {{1, -1}, {0, 2}}},  //
                                   {{{0, 1}}, {{1, 1}}}}));
  static const Level three(
      3, 7,
      mirrored({{{{0, 1}, {1, 1}, {2, -1}}, {{1, 2}, {0, 2}, {2, -2}}, {{2, -3}, {0, 3}, {1, 3}}},
                {{{1, 1}, {2, -3}}, {{2, 1}, {1, 2}}, {{0, 1}, {1, -3}, {2, -3}}},
                {{{0, 1}}, {{1, 1}}, {{2, 1}}}}));
  static const Level four(
      4, 9,
      mirrored({{{{0, 1}, {1, -3}, {2, 2}, {3, 2}},
                 {{1, 3}, {0, 2}, {2, 4}, {3, 4}},
                 {{2, -1}, {0, 4}, {1, -3}, {3, -1}},
                 {{3, -3}, {0, 3}, {2, -3}}},
                {{{0, -2}, {1, 1}, {2, -3}},
                 {{1, 3}, {0, 3}},
                 {{2, -1}, {0, 2}, {1, 1}, {3, 2}},
                 {{3, 1}, {1, 1}, {2, -2}}},
                {{{0, 1}, {1, -2}, {2, 1}}, {{1, -3}, {2, -1}}, {{2, 3}}, {{3, -1}, {1, 2}}},
                {{{0, 1}}, {{1, 1}}, {{2, 1}}, {{3, 1}}}}));
  return axes == 2 ? two : axes == 3 ? three : four;
}

/// The steps of n/2 that sides of 2 q^p start with.
const Level& halves(int axes) {
  static const Level two(2, 2, {{{{0, 1}}, {{1, 1}}, {{0, -1}, {1, 1}}}});
  static const Level three(3, 2, {{{{0, 1}}, {{1, 1}}, {{0, -1}, {1, 1}}}, {{{2, 1}}}});
  return axes == 2 ? two : three;
}

/// p of a side q^p or 2 q^p.
struct Side {
  bool is_double;
  int power;
};

std::optional<Side> side_of(std::span<const Rank> sizes) {
  const auto axes = static_cast<int>(sizes.size());
  if (axes < 2 || axes > 4 || std::ranges::adjacent_find(sizes, std::not_equal_to()) != sizes.end())
    return {};
  Side side{sizes[0] % 2 == 0 && axes < 4, 0};
  Rank rest = side.is_double ? sizes[0] / 2 : sizes[0];
  for (const Rank q = 2 * axes + 1; rest % q == 0; rest /= q) ++side.power;
  return rest == 1 && side.power > 0 ? std::optional(side) : std::nullopt;
}

/// Broadcast: the root's message ends on every node.
///
/// With s = n/q, n/q^2, .., 1, q = 2k+1, and k steps each, all holders send 2k messages along
/// displacements that are multiples of s and, together, name every node of a q x .. x q torus once.
/// Sides of 2 q^p start with steps of n/2.
///
/// Network  tori 5^p or 2 5^p squared, 7^p or 2 7^p cubed, (9^p)^4, p >= 1; all ports; any root.
/// Cost     ceil(log_{2k+1} N) steps of the whole message: the lower bound. Every node receives
///          once.
/// Links    free of contention. NOT dimension ordered: each message has its own order of legs,
///          which only a checked schedule shows to be free of deadlock.
/// Source   counts: Park et al. as quoted by Wang and Tseng, sec. 5; the displacements were found
///          by search and are not the authors'.
void broadcast_park(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  Itinerary itinerary(node.topology(), root, node.rank());
  const int axes = itinerary.axes();
  const std::vector<Rank>& x = itinerary.position;
  bool is_holder = std::ranges::all_of(x, [](Rank c) { return c == 0; });
  const auto serve = [&](const Level& with, Rank s) {
    std::vector<Rank> residue(axes);
    std::vector<int> by(axes, 0);
    Level::Reached here;  // a holder before the first step
    if (!is_holder && std::ranges::all_of(x, [s](Rank c) { return c % s == 0; })) {
      std::ranges::transform(x, residue.begin(), [s](Rank c) { return c / s; });
      here = with.reached(residue);
      for (const auto& [axis, hops] : *here.legs) by[axis] = hops * s;
      itinerary.arrive(here.step, by);
      is_holder = true;
    }
    const int count = static_cast<int>(with.steps().size());
    for (int step = here.step + 1; is_holder && step < count; ++step) {
      for (Legs legs : with.steps()[step]) {
        for (Move& leg : legs) leg.hops *= s;
        itinerary.depart_along(step, legs);
      }
    }
    itinerary.end_phase(count);
  };
  // Invariant: before each level the nodes at multiples of base s are the holders.
  const Side side = *side_of(itinerary.sizes());
  const Rank n = itinerary.size(0), q = 2 * axes + 1;
  if (side.is_double) serve(halves(axes), n / 2);
  Rank s = side.is_double ? n / 2 : n;
  while (s > 1) serve(level(axes), s /= q);
  travel(node, call, itinerary);
}

void require_broadcast_park(const Setting& setting) {
  require_torus_broadcast("park", setting);
  if (!side_of(axis_sizes(setting.topology))) {
    throw UsageError(
        fmt::format("park: needs a torus 5^p x 5^p or 2 5^p x 2 5^p, three sides of 7^p or 2 7^p, "
                    "or four of 9^p; {} is not one; use plan or wang-tseng",
                    setting.topology.name()));
  }
}

Prediction predict_broadcast_park(const Setting& setting) {
  const std::vector<Rank> sizes = axis_sizes(setting.topology);
  const auto axes = static_cast<int>(sizes.size());
  const Side side = *side_of(sizes);
  const int first = side.is_double ? rounds(1 << axes, 2 * axes + 1) : 0;
  return predict_tree(axes * side.power + first, setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_park){
    .operation = operations::broadcast,
    .name = "park",
    .summary = "subgroups of index 2k+1, at the lower bound; tori of 5^p, 7^p, 9^p, 2 5^p, 2 7^p",
    .source = "counts: Park et al., as quoted by Wang and Tseng, sec. 5",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark =
        "routes are not dimension-ordered; displacements are found by search and are not the "
        "authors'",
    .options = {packets_option(), period_option()},
    .require = require_broadcast_park,
    .predict = predict_broadcast_park,
    .selection = Selection::any_order,
    .program = broadcast_park,
    .parts = packet_parts,
};

}  // namespace wormcube
