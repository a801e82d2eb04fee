// Converts displacements to slots; computes slot loads on rings, where all lines of a dimension are
// alike.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/torus_handover.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace wormcube {

namespace {

/// A copy in the form in which its nodes look it up.
class TorusTurns {
 public:
  TorusTurns(const Topology& topology, const TorusCopy& copy) : topology_(topology), copy_(copy) {
    slot_of_.resize(static_cast<std::size_t>(topology.dimensions()));
    for (int d = 0; d < topology.dimensions(); ++d) {
      slot_of_[static_cast<std::size_t>(d)].assign(static_cast<std::size_t>(rule(d).steps), -1);
    }
    for (std::size_t i = 0; i < copy.slots.size(); ++i) {
      const auto [d, step] = copy.slots[i];
      if (d < 0) continue;
      slot_of_[static_cast<std::size_t>(d)][static_cast<std::size_t>(step)] = static_cast<int>(i);
      auto& hops = hops_[{d, step}];
      for (const auto& turns : rule(d).turns) {
        for (std::size_t x = 1; x < turns.size(); ++x) {
          if (turns[x].step == step && std::ranges::find(hops, turns[x].hops) == hops.end()) {
            hops.push_back(turns[x].hops);
          }
        }
      }
      std::ranges::sort(hops);
    }
  }

  const RingRule& rule(int d) const { return copy_.rules[static_cast<std::size_t>(d)]; }
  /// The hops that nodes at even coordinates use in a slot.
  const std::vector<int>& hops(const TorusCopy::Slot& slot) const {
    static const std::vector<int> none;
    return slot.dimension < 0 ? none : hops_.at({slot.dimension, slot.step});
  }

  std::vector<Lane> lanes(Rank r, int step) const {
    const TorusCopy::Slot& slot = copy_.slots[static_cast<std::size_t>(step)];
    std::vector<Lane> lanes;
    for (const int even : hops(slot)) {
      const int d = slot.dimension;
      const bool alternating = rule(d).alternating;
      const int out = alternating && topology_.coordinate(r, d) % 2 == 1 ? -even : even;
      const auto peer = [&](int hops) {
        const Rank to =
            topology_.with(r, d, mod(topology_.coordinate(r, d) + hops, topology_.size(d)));
        // Complete graphs of 2 nodes have no moves.
        return topology_.factor(d).has_direction() ? Peer{to, {d, hops}} : Peer{to};
      };
      lanes.push_back({peer(out), peer(alternating ? out : -out)});
    }
    return lanes;
  }

  void turns(Rank r, std::span<Handovers::Turn> all) const {
    std::vector<std::vector<Handovers::Turn>> of_coordinates;
    for (int d = 0; d < topology_.dimensions(); ++d) {
      const Rank n = topology_.size(d), c = topology_.coordinate(r, d);
      const bool mirrored = rule(d).alternating && c % 2 == 1;
      auto& row = of_coordinates.emplace_back();
      for (Rank z = 0; z < n; ++z) {
        const auto x = static_cast<std::size_t>(mod(mirrored ? c - z : z - c, n));
        for (int share = 0; share < copy_.shares; ++share) {
          row.push_back(x == 0 ? Handovers::Turn{-1, 0}
                               : turn(d, rule(d).turns[static_cast<std::size_t>(share)][x]));
        }
      }
    }
    earliest_turns(of_coordinates, copy_.shares, all);
  }

 private:
  Handovers::Turn turn(int d, const RingRule::Turn& of) const {
    const auto& all = hops_.at({d, of.step});
    return {slot_of_[static_cast<std::size_t>(d)][static_cast<std::size_t>(of.step)],
            static_cast<int>(std::ranges::find(all, of.hops) - all.begin())};
  }

  Topology topology_;
  TorusCopy copy_;
  std::vector<std::vector<int>> slot_of_;  // by dimension and step of its rule
  std::map<std::pair<int, int>, std::vector<int>> hops_;
};

}  // namespace

std::vector<int> wide_dimensions(const Topology& topology) {
  std::vector<int> wide;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) > 1) wide.push_back(d);
  }
  return wide;
}

Handovers torus_handovers(const Topology& topology, const TorusCopy& copy) {
  const auto turns = std::make_shared<const TorusTurns>(topology, copy);
  return {static_cast<int>(copy.slots.size()), copy.shares,
          [turns](Rank r, int step) { return turns->lanes(r, step); },
          [turns](Rank r, std::span<Handovers::Turn> all) { turns->turns(r, all); }};
}

std::vector<HandoverPlan> torus_plans(const Topology& topology, std::span<const TorusCopy> copies,
                                      Rank r) {
  std::vector<HandoverPlan> plans;
  for (const TorusCopy& copy : copies) {
    plans.emplace_back(torus_handovers(topology, copy), topology.nodes(), r);
  }
  return plans;
}

namespace {

/// The load of one ring's links, '+' and '-', in messages and blocks.
class RingLoad {
 public:
  explicit RingLoad(Rank n) : n_(n), up_(static_cast<std::size_t>(n)), down_(up_) {}
  struct Link {
    int messages = 0;
    double blocks = 0;
  };
  /// Calls f(link) for each link that a message from c passes. Two nodes are one cable.
  template <class F>
  void walk(Rank c, int hops, F f) {
    for (int i = 0; i < std::abs(hops); ++i) {
      const bool up = hops > 0 || n_ == 2;
      f((up ? up_ : down_)[static_cast<std::size_t>(mod(hops > 0 ? c + i : c - i, n_))]);
    }
  }

 private:
  Rank n_;
  std::vector<Link> up_, down_;
};

}  // namespace

Prediction torus_cost(const Topology& topology, std::span<const std::vector<TorusMessage>> steps) {
  double startups = 0, transmission = 0, on_links = 0, hops = 0;
  int most_load = 0;
  for (const std::vector<TorusMessage>& messages : steps) {
    std::map<int, RingLoad> loads;
    const auto walk = [&](const TorusMessage& message, auto f) {
      const Rank n = topology.size(message.dimension);
      RingLoad& load = loads.try_emplace(message.dimension, n).first->second;
      for (Rank c = 0; c < n; ++c) {
        load.walk(c, message.alternating && c % 2 == 1 ? -message.hops : message.hops, f);
      }
    };
    double largest = 0, busiest = 0;
    int longest = 0;
    for (const TorusMessage& message : messages) {
      walk(message, [&](RingLoad::Link& link) {
        most_load = std::max(most_load, ++link.messages);
        busiest = std::max(busiest, link.blocks += message.blocks);
      });
      largest = std::max(largest, message.blocks);
      longest = std::max(longest, std::abs(message.hops));
    }
    startups += messages.empty() ? 0 : 1;
    transmission += largest, on_links += busiest, hops += longest;
  }
  return {.startups = startups,
          .transmission_blocks = transmission,
          .rearranged_blocks = 0,
          .link_load = most_load,
          .link_blocks = on_links,
          .hops = hops};
}

Prediction torus_handover_cost(const Topology& topology, std::span<const TorusCopy> copies) {
  std::size_t slots = 0;
  for (const TorusCopy& copy : copies) slots = std::max(slots, copy.slots.size());
  std::vector<std::vector<TorusMessage>> steps(slots);
  for (const TorusCopy& copy : copies) {
    const TorusTurns turns(topology, copy);
    const double share = 1.0 / static_cast<double>(copies.size()) / copy.shares;
    std::map<std::pair<int, int>, double> blocks;  // by slot and lane, for every node as for node 0
    std::vector<Handovers::Turn> all(static_cast<std::size_t>(topology.nodes()) *
                                     static_cast<std::size_t>(copy.shares));
    turns.turns(0, all);
    for (const auto& [slot, lane] : std::span(all).subspan(static_cast<std::size_t>(copy.shares))) {
      blocks[{slot, lane}] += share;
    }
    for (const auto& [place, sum] : blocks) {
      const auto& slot = copy.slots[static_cast<std::size_t>(place.first)];
      steps[static_cast<std::size_t>(place.first)].push_back(
          {slot.dimension, turns.hops(slot)[static_cast<std::size_t>(place.second)], sum,
           turns.rule(slot.dimension).alternating});
    }
  }
  Prediction prediction = torus_cost(topology, steps);
  prediction.combined_blocks = topology.nodes() - 1.0;
  return prediction;
}

Prediction allgather_cost(Prediction reduce_scatter) {
  reduce_scatter.combined_blocks = 0;
  return reduce_scatter;
}

Prediction allreduce_cost(Prediction reduce_scatter, Rank p) {
  *reduce_scatter.startups *= 2;
  *reduce_scatter.transmission_blocks *= 2.0 / p;
  if (reduce_scatter.link_blocks) *reduce_scatter.link_blocks *= 2.0 / p;
  *reduce_scatter.combined_blocks /= p;
  if (reduce_scatter.hops) *reduce_scatter.hops *= 2;
  return reduce_scatter;
}

}  // namespace wormcube
