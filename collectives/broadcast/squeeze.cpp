// Broadcast by squeezing: Wang and Tseng's on a coarser torus, then inside its cells.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/broadcast/torus_trees.hpp"
#include "wormcube/collectives/broadcast/wang_tseng_tree.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// x / by, rounded down.
constexpr int divide(std::int64_t x, int by) {
  return static_cast<int>(x / by - (x % by < 0 ? 1 : 0));
}

/// One axis of n nodes in v cells whose sizes differ by at most one. The middle of a cell
/// represents it; cell 0's is the holder, at position 0.
class Cells {
 public:
  Cells(Rank n, Rank v) : n_(n), v_(v) {}

  /// How far the middle of cell y is from that of cell 0; y may be any number, modulo v.
  int middle(int y) const { return start(y) + behind(y) - behind(0); }
  Rank cell_of(Rank position) const {
    return divide((std::int64_t{mod(position + behind(0), n_)} + 1) * v_ - 1, n_);
  }
  Segment segment(int y) const { return {behind(y), length(y) / 2}; }
  int fill_steps() const { return rounds((n_ + v_ - 1) / v_, 3); }

 private:
  int start(int y) const {
    return divide(y, v_) * n_ + static_cast<int>(std::int64_t{mod(y, v_)} * n_ / v_);
  }
  int length(int y) const { return start(y + 1) - start(y); }
  int behind(int y) const { return (length(y) - 1) / 2; }
  Rank n_, v_;
};

}  // namespace

VirtualTorus best_virtual_torus(std::span<const Rank> sizes) {
  const auto k = static_cast<int>(sizes.size());
  VirtualTorus best{{}, std::numeric_limits<int>::max()};
  const auto consider = [&](const std::vector<Rank>& v) {
    int steps = WangTsengTree::steps(v);
    for (int axis = 0; axis < k; ++axis) steps += Cells(sizes[axis], v[axis]).fill_steps();
    if (steps < best.steps) best = {v, steps};
  };
  if (k == 1) {
    consider({sizes[0]});
    return best;
  }
  // Large ones first: of equal ones, the one with the smallest cells. Of all c that the first stage
  // serves in the same number of steps the largest is best.
  for (Rank side = *std::ranges::min_element(sizes); side >= 2; --side) {
    std::vector<Rank> v(sizes.size(), side);
    const Rank most = side < 3 ? 1 : sizes.back() / side;
    for (Rank c = most; c >= 1;) {
      v.back() = c * side;
      consider(v);
      Rank reach = 1;  // the largest power of 2k+1 below c side
      while (reach * (2 * k + 1) < c * side) reach *= 2 * k + 1;
      c = std::min(c - 1, reach / side);
    }
    if (side == 3 && most > 1) {  // 3 super-nodes: the first alignment is not needed
      v.back() = side;
      consider(v);
    }
  }
  return best;
}

/// The phases along the first axes, as many as the virtual torus has.
void squeeze(Itinerary& itinerary, const VirtualTorus& virtual_torus) {
  const int axes = static_cast<int>(virtual_torus.sizes.size());
  std::vector<Cells> cells;
  std::vector<Rank> cell(axes);
  std::vector<int> within(axes), by(itinerary.axes());
  int unfilled = 0;  // axes before this one, and all if it is 0, have yet to be filled to get here
  for (int axis = 0; axis < axes; ++axis) {
    cells.emplace_back(itinerary.size(axis), virtual_torus.sizes[axis]);
    cell[axis] = cells[axis].cell_of(itinerary.position[axis]);
    within[axis] =
        shortest(itinerary.position[axis] - cells[axis].middle(cell[axis]), itinerary.size(axis));
    if (within[axis] != 0) unfilled = axis + 1;
  }
  // The axis in which this node is reached is unfilled - 1; nodes in the middle of their cell in
  // all axes are nodes of the virtual torus.
  const WangTsengTree tree(virtual_torus.sizes, false);
  if (unfilled == 0) {
    // The source is the middle of cell 0 and sees virtual node y at middle(y).
    const auto real = [&](std::span<const int> hops, int sign) -> const std::vector<int>& {
      for (int axis = 0; axis < axes; ++axis) {
        const int here = cell[axis], there = here + sign * hops[axis];
        by[axis] = sign * (cells[axis].middle(there) - cells[axis].middle(here));
      }
      return by;
    };
    tree.visit_once(
        cell, [&](int step, auto hops) { itinerary.arrive(step, real(hops, -1)); },
        [&](int step, auto hops) { itinerary.depart(step, real(hops, +1)); });
  }
  itinerary.end_phase(tree.steps());

  std::ranges::fill(by, 0);
  for (int axis = 0; axis < axes; ++axis) {
    if (unfilled <= axis + 1) {
      const Distribution distribution(cells[axis].segment(cell[axis]), 1);
      const auto along = [&](int hops) -> const std::vector<int>& {
        by[axis] = hops;
        return by;
      };
      int last_step = -1, last_hops = 0;
      const auto served = distribution.follow(
          within[axis], [&](int step, int, int hops) { last_step = step, last_hops = hops; });
      if (last_step >= 0) itinerary.arrive(last_step, along(last_hops));
      distribution.serve(served,
                         [&](int step, int, int hops) { itinerary.depart(step, along(hops)); });
      by[axis] = 0;
    }
    itinerary.end_phase(cells[axis].fill_steps());
  }
}

namespace {

/// Broadcast: the root's message ends on every node.
///
/// A virtual torus v x .. x v x cv is laid evenly over the real one, its links runs of real links;
/// it is served by wang-tseng. Then every virtual node informs its cell, one dimension at a time.
/// The chosen v and c take the fewest steps.
///
/// Network  any torus; all ports; any root.
/// Cost     wang-tseng's steps for v, c, and sum_j ceil(log_3 ceil(n_j / v_j)), each of the whole
///          message. Every node receives once.
/// Links    free of contention, if routers honour the signs of the hops.
void broadcast_squeeze(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  Itinerary itinerary(node.topology(), root, node.rank());
  if (itinerary.axes() == 0) return;
  squeeze(itinerary, best_virtual_torus(itinerary.sizes()));
  travel(node, call, itinerary);
}

Prediction predict_broadcast_squeeze(const Setting& setting) {
  const std::vector<Rank> sizes = axis_sizes(setting.topology);
  return predict_tree(sizes.empty() ? 0 : best_virtual_torus(sizes).steps, setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_squeeze){
    .operation = operations::broadcast,
    .name = "squeeze",
    .summary = "wang-tseng on a coarser torus, then inside its cells; every torus",
    .source = "ours, after Wang and Tseng",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension",
    .options = {packets_option(), period_option()},
    .require = [](const Setting& setting) { require_torus_broadcast("squeeze", setting); },
    .predict = predict_broadcast_squeeze,
    .selection = Selection::by_name,  // plan uses it where it is best
    .program = broadcast_squeeze,
    .parts = packet_parts,
};

}  // namespace wormcube
