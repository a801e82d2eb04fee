// The tree of Wang and Tseng in local form: what one node of an n x .. x n x cn torus does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/distribution.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <limits>
#include <span>
#include <vector>

namespace wormcube {

/// Node x holds the message in stage i iff x - v_d lies in U_{i-1}, where d = w_i(x) numbers the
/// super-node W_d of x, and v_d is the sum of the hops that lead from W_0 to W_d. Both follow from
/// x by O(k log n) work, so no node ever needs another's part.
///
/// Stage i distributes from W_0 to all W_d; then an alignment step moves v_d + U_{i-1} to where the
/// next stage needs it. U_i = span(e_{1,k}, .., e_{1,k-i+1}), e_{1,j} = e_1 + e_j.
///
/// Axes are numbered from 0 here, from 1 in the paper.
class WangTsengTree {
 public:
  /// \param sizes   n, .., n, c n; the source has position 0
  /// \param mirror  from stage 2 on a ring of even n leans to the other side, so that no hop of n/2
  ///                in the '-' direction remains
  WangTsengTree(std::span<const Rank> sizes, bool mirror)
      : sizes_(sizes.begin(), sizes.end()),
        k_(static_cast<int>(sizes.size())),
        n_(sizes.front()),
        mirror_(mirror),
        hops_(sizes.size()),
        holder_(sizes.size()) {}

  int steps() const { return first_step(k_); }
  /// Calls f(first step, stage, aligns) for each stage's distribution and each alignment.
  template <class F>
  void for_each_part(F f) const {
    for (int stage = 1; stage <= k_; ++stage) {
      f(first_step(stage - 1), stage, false);
      if (aligns(stage)) f(first_step(stage) - 1, stage, true);
    }
  }
  static int steps(std::span<const Rank> sizes) { return WangTsengTree(sizes, false).steps(); }

  /// What node x does: arrive(step, displacement) and depart(step, displacement).
  template <class Arrive, class Depart>
  void visit(std::span<const Rank> x, Arrive arrive, Depart depart) {
    for (int stage = 1; stage <= k_; ++stage) visit_stage(stage, x, arrive, depart);
  }

  /// The same without messages to nodes that have them already: every node receives once.
  template <class Arrive, class Depart>
  void visit_once(std::span<const Rank> x, Arrive arrive, Depart depart) const {
    WangTsengTree tree = *this, others = *this;  // one is being visited while the other is asked
    const int informed_here = others.informed(x);
    std::vector<Rank> to(x.size());
    tree.visit(
        x,
        [&](int step, std::span<const int> by) {
          if (step == informed_here) arrive(step, by);
        },
        [&](int step, std::span<const int> by) {
          for (int axis = 0; axis < k_; ++axis) to[axis] = mod(x[axis] + by[axis], sizes_[axis]);
          if (others.informed(to) == step) depart(step, by);
        });
  }

  /// The step in which node x first gets the message, -1 for the source.
  int informed(std::span<const Rank> x) {
    if (std::ranges::all_of(x, [](Rank c) { return c == 0; })) return -1;
    int first = std::numeric_limits<int>::max();
    for (int stage = 1; stage <= k_ && first == std::numeric_limits<int>::max(); ++stage) {
      visit_stage(
          stage, x, [&](int step, std::span<const int>) { first = std::min(first, step); },
          [](int, std::span<const int>) {});
    }
    return first;
  }

 private:
  Rank super_nodes(int stage) const { return stage == 1 ? sizes_.back() : n_; }
  Segment segment(int stage) const {
    const Segment ring = Segment::around(super_nodes(stage));
    return mirror_ && stage > 1 ? Segment{ring.ahead, ring.behind} : ring;
  }
  /// With 3 super-nodes or fewer only row 1 of the first stage is used, and all nodes are in place.
  bool aligns(int stage) const { return stage < k_ && (stage > 1 || super_nodes(1) > 3); }
  /// The step after this many stages.
  int first_step(int stages) const {
    int step = 0;
    for (int stage = 1; stage <= stages; ++stage) {
      step += rounds(super_nodes(stage), 2 * k_ + 1) + (aligns(stage) ? 1 : 0);
    }
    return step;
  }

  /// The number of the super-node of x: w_i(x).
  Rank super_node(int stage, std::span<const Rank> x) const {
    if (stage == 1) return x[k_ - 1];
    int w = x[0];
    for (int axis = k_ - stage + 1; axis < k_; ++axis) w -= x[axis];
    return mod(w, n_);
  }
  /// Whether x - v (- by) lies in U_{stage-1}.
  bool holds(int stage, std::span<const Rank> x, std::span<const int> v,
             std::span<const int> by = {}) const {
    const auto u = [&](int axis) { return x[axis] - v[axis] - (by.empty() ? 0 : by[axis]); };
    int first = u(0);
    for (int axis = 1; axis < k_; ++axis) {
      if (axis >= k_ - stage + 1) {
        first -= u(axis);
      } else if (u(axis) % sizes_[axis] != 0) {
        return false;
      }
    }
    return first % n_ == 0;
  }

  /// alpha times a row of the routing matrix R_i.
  std::span<const int> hops(int stage, int row, int alpha) {
    std::ranges::fill(hops_, 0);
    if (stage == 1) {
      // With c > 1 alpha may be a multiple of n: the hops aside must not come back.
      const int aside = (std::abs(alpha) - 1) % std::max(1, n_ - 1) + 1;
      hops_[row] = alpha < 0 ? -aside : aside;
      hops_[k_ - 1] = alpha;
    } else if (row == 0) {
      hops_[0] = alpha;
    } else if (row <= k_ - stage) {
      hops_[row] = alpha;
      hops_[k_ - 1] = -alpha;
    } else {
      hops_[row] = -alpha;
    }
    return hops_;
  }
  /// From v_d + U_{i-1} to its place in U_i.
  std::span<const int> alignment(int stage, Rank d, std::span<const int> v) {
    std::ranges::fill(hops_, 0);
    const int aligned = stage == 1 ? 0 : k_ - stage;
    const int last = stage == 1 ? k_ - 2 : k_ - stage - 1;
    for (int axis = 1; axis <= last; ++axis) hops_[axis] = shortest(-v[axis], sizes_[axis]);
    hops_[aligned] = shortest(d - v[aligned], sizes_[aligned]);
    return hops_;
  }

  template <class Arrive, class Depart>
  void visit_stage(int stage, std::span<const Rank> x, Arrive arrive, Depart depart) {
    const int first = first_step(stage - 1);
    const Segment ring = segment(stage);
    const Distribution distribution(ring, k_);
    const Rank d = super_node(stage, x);
    std::ranges::fill(holder_, 0);  // v_d
    int last_step = -1, last_row = 0, last_alpha = 0;
    const auto holder = distribution.follow(offset_in(ring, d, super_nodes(stage)),
                                            [&](int step, int row, int alpha) {
                                              const auto by = hops(stage, row, alpha);
                                              for (int a = 0; a < k_; ++a) holder_[a] += by[a];
                                              last_step = step, last_row = row, last_alpha = alpha;
                                            });
    const bool is_holder = holds(stage, x, holder_);
    if (is_holder) {
      if (last_step >= 0) arrive(first + last_step, hops(stage, last_row, last_alpha));
      distribution.serve(holder, [&](int step, int row, int alpha) {
        depart(first + step, hops(stage, row, alpha));
      });
    }
    if (!aligns(stage)) return;
    const int step = first + distribution.steps();
    const auto by = alignment(stage, d, holder_);
    if (std::ranges::all_of(by, [](int hops) { return hops == 0; })) return;
    if (holds(stage, x, holder_, by)) arrive(step, by);
    if (is_holder) depart(step, by);
  }

  std::vector<Rank> sizes_;
  int k_;
  Rank n_;
  bool mirror_;
  std::vector<int> hops_, holder_;  // kept, so that a visit does not allocate
};

}  // namespace wormcube
