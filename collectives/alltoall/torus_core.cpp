// The exchange among the cells of a divided torus: phases, layouts, steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/torus_core.hpp"

#include "wormcube/collectives/blocks.hpp"

#include <algorithm>
#include <numeric>

namespace wormcube {

namespace {

/// The dimensions by falling size, of equal ones the last first.
std::vector<int> largest_first(const std::vector<Rank>& sizes) {
  std::vector<int> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int d) { return sizes[d]; });
  return order;
}

std::vector<Rank> virtual_sizes(const Topology& topology, Rank spacing) {
  std::vector<Rank> sizes = topology.sizes();
  for (Rank& size : sizes) size /= spacing;
  return sizes;
}

/// Steps of the ring phases: phase j moves even nodes along dimension j and odd ones along j+1 of
/// the order.
std::vector<int> ring_steps(const std::vector<Rank>& sizes, const std::vector<int>& order) {
  std::vector<int> steps;
  for (std::size_t j = 0; j < order.size(); ++j) {
    steps.push_back(std::max(sizes[order[j]], sizes[order[(j + 1) % order.size()]]) / 4 - 1);
  }
  return steps;
}

/// The i-th of the groups of a phase, as a number with one digit (hops) per moving dimension, the
/// first most significant: neighbours in Gray order differ in one digit by one.
Rank group(std::size_t dimensions, Rank i) { return dimensions == 1 ? i : i ^ (i >> 1); }

}  // namespace

Rank TorusCore::Leg::hops(Rank a, Rank b) const {
  return mod(sign * (b / after - a / after), before / after);
}

TorusCore::TorusCore(const Topology& topology, Rank rank, int divisions)
    : sizes_(virtual_sizes(topology, 1 << divisions)),
      x_(topology.coordinates(rank)),
      spacing_(1 << divisions) {
  for (Rank& x : x_) x /= spacing_;
  for (const Rank size : sizes_) cells_ *= size;
  const int n = topology.dimensions();
  const int c = std::accumulate(x_.begin(), x_.end(), 0) % 4;
  const std::vector<int> order = largest_first(sizes_);
  std::vector<int> own = order;
  if (c % 2 == 1) std::rotate(own.begin(), own.begin() + 1, own.end());

  std::vector<Leg> legs;
  for (const Rank size : sizes_) legs.push_back({size, size});
  const auto add_phase = [&](const std::vector<int>& dimensions, int steps, Rank after, auto sign) {
    Rank groups = 1;
    for (Leg& leg : legs) leg = {leg.after, leg.after};
    for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
      Leg& leg = legs[*d];
      leg = {leg.before, after, sign(*d), groups};
      groups *= leg.most_hops() + 1;
    }
    phases_.push_back({legs, dimensions, steps, groups});
  };

  if (sizes_[order[0]] >= 4) {
    const std::vector<int> steps = ring_steps(sizes_, order);
    for (int j = 0; j < n; ++j) {
      if (steps[j] > 0) add_phase({own[j]}, steps[j], 4, [&](int) { return c < 2 ? 1 : -1; });
    }
    add_phase(own, n, 2, [&](int d) { return x_[d] % 4 < 2 ? 1 : -1; });
  }
  std::vector<int> last_first(n);
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  add_phase(last_first, n, 1, [&](int d) { return x_[d] % 2 == 0 ? 1 : -1; });
}

int TorusCore::steps() const {
  int steps = 0;
  for (const Phase& phase : phases_) steps += phase.steps;
  return steps;
}

std::vector<Rank> TorusCore::first_slots() const { return slots(phases_.front(), When::before); }
std::vector<Rank> TorusCore::last_slots() const { return slots(phases_.back(), When::after); }

/// The slots of the bundles held before or after a phase, which in each dimension are from cells a
/// = x modulo q, for cells b with floor(b/q) = floor(x/q): row-major in (a, b) of each dimension,
/// V_d such pairs.
///
/// A slot is (group, rest). The rest tells apart the bundles of one group by floor(a/before), b mod
/// after: these and the hops stay the same on the bundle's way, so the slot does.
std::vector<Rank> TorusCore::slots(const Phase& phase, When when) const {
  const Rank group_slots = cells_ / phase.groups;
  std::vector<Rank> slots{0};  // group * group_slots + rest: a sum over the dimensions
  std::vector<Rank> inner;
  Rank rest = group_slots;  // so many values are left for this dimension and those after it
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    const Leg& leg = phase.legs[d];
    const Rank q = when == When::before ? leg.before : leg.after;
    rest /= sizes_[d] * leg.after / leg.before;
    inner.clear();
    for (const Rank outer : slots) {
      for (Rank pair = 0; pair < sizes_[d]; ++pair) {
        const Rank a = x_[d] % q + pair / q * q, b = x_[d] / q * q + pair % q;
        inner.push_back(outer + leg.hops(a, b) * leg.weight * group_slots +
                        (a / leg.before * leg.after + b % leg.after) * rest);
      }
    }
    slots.swap(inner);
  }

  std::vector<Rank> position(phase.groups);
  for (Rank i = 0; i < phase.groups; ++i) position[group(phase.dimensions.size(), i)] = i;
  for (Rank& slot : slots) slot = position[slot / group_slots] * group_slots + slot % group_slots;
  return slots;
}

/// The slices of the array that leave, or arrive, at a leg's hop: the groups with at least so many
/// hops there.
void TorusCore::pieces(const Phase& phase, const Leg& leg, Rank hop, Span array,
                       std::vector<Span>& pieces) const {
  const Blocks groups(array, phase.groups);
  const auto goes = [&](Rank i) {
    return group(phase.dimensions.size(), i) / leg.weight % (leg.most_hops() + 1) >= hop;
  };
  pieces.clear();
  for (Rank i = 0, first = 0; i <= phase.groups; ++i) {
    if (i < phase.groups && goes(i)) continue;
    if (i > first) pieces.push_back(groups.range(first, i - first));
    first = i + 1;
  }
}

void TorusCore::rearrange(Node& node, const Phase& from, const Phase& to, Span& held,
                          Span& spare) const {
  node.rearrange(held.size(), [&] {
    const std::vector<Rank> old_slots = slots(from, When::after);
    const std::vector<Rank> new_slots = slots(to, When::before);
    const Blocks source(held, cells_), target(spare, cells_);
    for (Rank i = 0; i < cells_; ++i) copy(source[old_slots[i]], target[new_slots[i]]);
  });
  std::swap(held, spare);
}

void TorusCore::run(Node& node, const Phase& phase, Span held, Span spare) const {
  std::vector<Span> going, coming;
  int taken = 0;
  for (const int d : phase.dimensions) {
    const Leg& leg = phase.legs[d];
    const int hops = leg.sign * leg.after * spacing_;
    // With more hops than one a ring turns; with one, two nodes exchange.
    const int from_hops = leg.most_hops() == 1 ? hops : -hops;
    for (Rank hop = 1; hop <= leg.most_hops(); ++hop, ++taken) {
      pieces(phase, leg, hop, held, going);
      pieces(phase, leg, hop, spare, coming);
      const Rank from = node.topology().neighbour(node.rank(), d, from_hops);
      node.step({send_pieces(Move{d, hops}, going), receive_pieces(from, coming)});
      node.local([&] {
        for (std::size_t slice = 0; slice < going.size(); ++slice)
          copy(coming[slice], going[slice]);
      });
    }
  }
  for (; taken < phase.steps; ++taken) node.step();
}

void TorusCore::exchange(Node& node, Span& held, Span& spare) const {
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (i > 0) rearrange(node, phases_[i - 1], phases_[i], held, spare);
    run(node, phases_[i], held, spare);
  }
}

void TorusCore::idle(Node& node) const {
  for (int step = 0; step < steps(); ++step) node.step();
}

Prediction TorusCore::predict(const Topology& topology, int divisions) {
  const std::vector<Rank> sizes = virtual_sizes(topology, 1 << divisions);
  const double n = topology.dimensions();
  double cells = 1;
  for (const Rank size : sizes) cells *= size;
  if (std::ranges::max(sizes) < 4) return {n, cells / 2 * n, 0};
  double steps = 2 * n, rearrangements = 1;
  for (const int ring : ring_steps(sizes, largest_first(sizes))) {
    steps += ring;
    rearrangements += ring > 0 ? 1 : 0;
  }
  return {steps, cells / 2 * steps, cells * rearrangements};
}

}  // namespace wormcube
