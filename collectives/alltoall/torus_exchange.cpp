// The exchange among the cells of a divided torus: phases, layouts, steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/torus_exchange.hpp"

#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace wormcube {

namespace {

/// The dimensions in order of decreasing size; of equal ones the last first.
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
std::vector<Rank> ring_steps(const std::vector<Rank>& sizes, const std::vector<int>& order) {
  std::vector<Rank> steps;
  for (std::size_t j = 0; j < order.size(); ++j) {
    steps.push_back(std::max(sizes[order[j]], sizes[order[(j + 1) % order.size()]]) / 4 - 1);
  }
  return steps;
}

}  // namespace

TorusExchange::TorusExchange(const Topology& topology, Rank rank, int divisions, Places bundle,
                             Signs signs)
    : sizes_(virtual_sizes(topology, 1 << divisions)),
      x_(topology.coordinates(rank)),
      spacing_(1 << divisions),
      bundle_(std::move(bundle)),
      blocks_(bundle_.count()),
      signs_(signs) {
  const int n = topology.dimensions();
  for (int d = 0; d < n; ++d) {
    x_[d] /= spacing_;
    strides_.push_back(topology.stride(d) * spacing_);
    blocks_ *= sizes_[d];
  }
  const int c = std::accumulate(x_.begin(), x_.end(), 0) % 4;
  const std::vector<int> order = largest_first(sizes_);
  std::vector<int> own = order;
  if (c % 2 == 1) std::rotate(own.begin(), own.begin() + 1, own.end());

  if (sizes_[order[0]] >= 4) {
    const std::vector<Rank> steps = ring_steps(sizes_, order);
    for (int j = 0; j < n; ++j) {
      if (steps[j] > 0) phases_.push_back(ring_phase(own[j], steps[j], c < 2 ? 1 : -1, j + 1));
    }
    phases_.push_back(two_hop_phase(own));
  }
  phases_.push_back(one_hop_phase());
}

/// The next phase: along these dimensions blocks move closer, to the same `after` coordinates.
TorusExchange::Phase TorusExchange::closer(std::vector<int> dimensions, Rank steps, Rank after,
                                           int number) const {
  Phase phase{{}, std::move(dimensions), steps, number};
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    const Rank before = phases_.empty() ? sizes_[d] : phases_.back().legs[d].after;
    phase.legs.push_back({before, before});
  }
  for (const int d : phase.dimensions) {
    phase.legs[d].after = after;
    phase.legs[d].pairs = phase.legs[d].hops() == 1;  // with more hops than one a ring turns
  }
  return phase;
}

/// Afterwards floor(x/4) = floor(b/4) along this dimension.
TorusExchange::Phase TorusExchange::ring_phase(int dimension, Rank steps, int sign,
                                               int number) const {
  Phase phase = closer({dimension}, steps, 4, number);
  phase.legs[dimension].sign = sign;
  return phase;
}

/// Afterwards floor(x/2) = floor(b/2) along all.
TorusExchange::Phase TorusExchange::two_hop_phase(const std::vector<int>& order) const {
  Phase phase = closer(order, static_cast<Rank>(order.size()), 2, dimensions() + 1);
  const bool printed = signs_ == Signs::printed;
  for (const int d : order) {
    phase.legs[d].sign = (printed ? x_[1] : x_[d]) % 4 < 2 ? 1 : -1;
    // All nodes of a column have one q, and so one sign.
    if (printed && d == 0) phase.legs[d].pairs = false;
  }
  return phase;
}

/// Afterwards x = b.
TorusExchange::Phase TorusExchange::one_hop_phase() const {
  std::vector<int> last_first(sizes_.size());
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  Phase phase = closer(last_first, static_cast<Rank>(last_first.size()), 1, dimensions() + 2);
  for (const int d : last_first) {
    const Rank tested = signs_ == Signs::printed ? x_[0] + x_[1] : x_[d];
    phase.legs[d].sign = tested % 2 == 0 ? 1 : -1;
  }
  return phase;
}

Rank TorusExchange::steps() const {
  Rank steps = 0;
  for (const Phase& phase : phases_) steps += phase.steps;
  return steps;
}

/// The digits: the hops in this phase; floor(a/before) and b mod after of each dimension; the
/// bundle's own. None of them changes on the way. With the hops, x determines the rest of b before
/// the phase and the rest of a after it.
Layout TorusExchange::layout(const Phase& phase, When when) const {
  Places places{bundle_.base, {}};
  std::vector<Digit> hops(sizes_.size()), rest;
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    const Leg& leg = phase.legs[d];
    const Rank before = leg.before, after = leg.after, sign = leg.sign;
    const Rank x = x_[d], most = before / after, here = x % before / after;
    const BlockName source{strides_[d], 0}, destination{0, strides_[d]};
    const bool yet_to_go = when == When::before;
    const Rank q = yet_to_go ? before : after;
    places.base = places.base + x % q * source + x / q * q * destination;
    for (Rank h = 0; h < most; ++h) {
      hops[d].push_back(yet_to_go ? mod(here + sign * h, most) * after * destination
                                  : mod(here - sign * h, most) * after * source);
    }
    rest.push_back(multiples(sizes_[d] / before, before * source));
    rest.push_back(multiples(after, destination));
  }
  std::vector<Digit> moving;
  for (const int d : phase.dimensions) moving.push_back(std::move(hops[d]));
  places.digits.push_back(moving.size() == 1 ? moving[0] : in_gray_order(moving));
  std::ranges::move(rest, std::back_inserter(places.digits));
  std::ranges::copy(bundle_.digits, std::back_inserter(places.digits));
  return places;
}

/// The bundles that leave, and arrive, at a hop along the moving-th dimension: all with this many
/// hops or more.
Slices TorusExchange::leaving(const Phase& phase, std::size_t moving, Rank hop) const {
  const std::size_t dimensions = phase.dimensions.size();
  if (dimensions == 1) {
    const Rank same_hops = blocks_ / (phase.legs[phase.dimensions[0]].hops() + 1);
    return {{hop * same_hops, blocks_ - hop * same_hops}};
  }
  Slices slices;
  const Rank groups = 1 << dimensions, same_hops = blocks_ / groups;
  for (Rank i = 0; i < groups; ++i) {
    if (gray_code(i) >> (dimensions - 1 - moving) & 1) slices.push_back({i * same_hops, same_hops});
  }
  return slices;
}

void TorusExchange::sit_out(BlockArray& array, const ExchangePhases& names) const {
  for (const Phase& phase : phases_) {
    array.phase(phase.name(names));
    array.idle(phase.steps);
  }
}

void TorusExchange::plan(BlockArray& array, const ExchangePhases& names) const {
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const Phase& phase = phases_[i];
    if (i > 0) array.rearrange(layout(phases_[i - 1], When::after), layout(phase, When::before));
    array.phase(phase.name(names));
    Rank taken = 0;
    for (std::size_t moving = 0; moving < phase.dimensions.size(); ++moving) {
      const int d = phase.dimensions[moving];
      const Leg& leg = phase.legs[d];
      const Move on{d, leg.sign * leg.after * spacing_};
      const Move from{d, leg.pairs ? on.hops : -on.hops};
      // Invariant: before hop h the blocks that make h hops or more still have them to go.
      for (Rank hop = 1; hop <= leg.hops(); ++hop, ++taken) {
        array.exchange(on, from, leaving(phase, moving, hop));
      }
    }
    array.idle(phase.steps - taken);  // the other class has a longer ring
  }
}

Prediction TorusExchange::predict(const Topology& topology, int divisions) {
  const std::vector<Rank> sizes = virtual_sizes(topology, 1 << divisions);
  const double n = topology.dimensions();
  double cells = 1;
  for (const Rank size : sizes) cells *= size;
  const double apart = 1 << divisions;  // neighbours
  if (std::ranges::max(sizes) < 4) {
    return {.startups = n,
            .transmission_blocks = cells / 2 * n,
            .rearranged_blocks = 0,
            .hops = apart * n};
  }
  double steps = 2 * n, rearrangements = 1, hops = 3 * n;  // two hops, then one
  for (const int ring : ring_steps(sizes, largest_first(sizes))) {
    steps += ring;
    hops += 4 * ring;
    rearrangements += ring > 0 ? 1 : 0;
  }
  return {.startups = steps,
          .transmission_blocks = cells / 2 * steps,
          .rearranged_blocks = cells * rearrangements,
          .hops = apart * hops};
}

}  // namespace wormcube
