// Total exchange on a product of any graphs, all ports: all dimensions at once. Our extension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/multiport_general.hpp"

#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"
#include "wormcube/collectives/alltoall/product/factor.hpp"
#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

// More copies could only balance how dimensions of different sizes fill the rounds.
constexpr Rank most_copies = 16;

/// When each offset is served in each dimension. An offset is a node number: the destination of
/// node 0's block. A (dimension, value, copy) is a machine: it serves one offset in a round.
class Service {
 public:
  Service(const Topology& topology, const Copies& copies)
      : topology_(topology), copies_(copies.copies) {
    first_.push_back(0);
    for (int i = 0; i < topology.dimensions(); ++i) {
      copies_[i] = std::max(copies_[i], copies.last[i]);
      first_.push_back(first_.back() + topology.size(i) * copies_[i]);
    }
    round_.assign(static_cast<std::size_t>(topology.nodes()) * topology.dimensions(), never);
    const int full_rounds = static_cast<int>(copies.rounds) - (copies.last_steps > 0 ? 1 : 0);
    std::vector<std::pair<Rank, Rank>> served;  // (place in round_, machine)
    for (const auto& [at, machine] : shorter_round(copies.last)) {
      round_[at] = full_rounds;
      served.emplace_back(at, machine);
    }
    std::vector<Rank> dealt(static_cast<std::size_t>(first_.back()), 0);
    std::vector<std::pair<Rank, Rank>> edges;
    std::vector<Rank> place_of;  // in round_, by edge
    for (Rank a = 0; a < topology.nodes(); ++a) {
      for (int i = 0; i < topology.dimensions(); ++i) {
        const Rank x = topology.coordinate(a, i);
        if (x == 0 || round_[place(a, i)] != never) continue;
        const Rank copy = dealt[machine(i, x, 0)]++ % copies.copies[i];
        edges.emplace_back(a, machine(i, x, copy));
        place_of.push_back(place(a, i));
      }
    }
    const EdgeColouring colouring = colour_edges(topology.nodes(), first_.back(), edges);
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      round_[place_of[edge]] = colouring.colour[edge];
      served.emplace_back(place_of[edge], edges[edge].second);
    }
    rounds_ = copies.last_steps > 0 ? full_rounds + 1 : colouring.colours;
    offset_.assign(static_cast<std::size_t>(rounds_) * first_.back(), 0);
    for (const auto& [at, machine] : served) {
      offset_[static_cast<std::size_t>(round_[at]) * first_.back() + machine] =
          at / topology.dimensions();
    }
  }

  int rounds() const { return rounds_; }
  /// The offset with a_i = x that this copy of dimension i's exchange serves in a round; 0: none.
  Rank offset(int round, int i, Rank x, Rank copy) const {
    return offset_[static_cast<std::size_t>(round) * first_.back() + machine(i, x, copy)];
  }
  /// The block at this offset that node p moves in a round: its source and destination.
  Block block(int round, Rank p, Rank a) const {
    Block block{p, p};
    for (int j = 0; j < topology_.dimensions(); ++j) {
      const Rank n = topology_.size(j), x = topology_.coordinate(a, j);
      const Rank here = topology_.coordinate(p, j);
      const bool moved = x != 0 && round_[a * topology_.dimensions() + j] < round;
      const Rank source = moved ? mod(here - x, n) : here;
      block.source = topology_.with(block.source, j, source);
      block.destination = topology_.with(block.destination, j, mod(source + x, n));
    }
    return block;
  }

 private:
  static constexpr int never = -1;
  Rank machine(int i, Rank x, Rank copy) const { return first_[i] + x * copies_[i] + copy; }
  Rank place(Rank a, int i) const { return a * topology_.dimensions() + i; }

  /// Offsets for each machine of the shorter round, all different: an offset is served once in a
  /// round. A matching by augmenting paths; choose_copies() has ensured that there is one.
  std::vector<std::pair<Rank, Rank>> shorter_round(const std::vector<Rank>& last) const {
    struct Slot {
      int i;
      Rank x, copy;
    };
    std::vector<Slot> slots;
    for (int i = 0; i < topology_.dimensions(); ++i) {
      for (Rank x = 1; x < topology_.size(i); ++x) {
        for (Rank copy = 0; copy < last[i]; ++copy) slots.push_back({i, x, copy});
      }
    }
    constexpr std::size_t nobody = ~std::size_t{0};
    std::vector<std::size_t> holder(static_cast<std::size_t>(topology_.nodes()), nobody);
    std::vector<bool> asked;
    const auto find = [&](auto& self, std::size_t slot) -> bool {
      for (Rank a = 1; a < topology_.nodes(); ++a) {
        if (asked[a] || topology_.coordinate(a, slots[slot].i) != slots[slot].x) continue;
        asked[a] = true;
        if (holder[a] == nobody || self(self, holder[a])) {
          holder[a] = slot;
          return true;
        }
      }
      return false;
    };
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      asked.assign(holder.size(), false);
      [[maybe_unused]] const bool found = find(find, slot);
      WORMCUBE_ASSERT(found);
    }
    std::vector<std::pair<Rank, Rank>> served;
    for (Rank a = 1; a < topology_.nodes(); ++a) {
      if (holder[a] == nobody) continue;
      const auto& [i, x, copy] = slots[holder[a]];
      served.emplace_back(place(a, i), machine(i, x, copy));
    }
    return served;
  }

  Topology topology_;
  std::vector<Rank> copies_, first_;
  int rounds_ = 0;
  std::vector<Rank> offset_;  // by round and machine
  std::vector<int> round_;    // by offset and dimension
};

/// The steps of a round in which anything moves.
std::vector<std::size_t> busy_steps(const Service& service, int round,
                                    const std::vector<std::shared_ptr<const ExchangeTemplate>>& in,
                                    std::size_t most) {
  std::vector<std::size_t> busy;
  for (std::size_t t = 0; t < most; ++t) {
    const auto moves = [&](int i) {
      return in[i] != nullptr && t < in[i]->steps() &&
             std::ranges::any_of(in[i]->step(t), [&](const BlockMove& transfer) {
               const Rank x = mod(transfer.destination - transfer.source, in[i]->nodes());
               return service.offset(round, i, x, transfer.copy) != 0;
             });
    };
    for (int i = 0; i < static_cast<int>(in.size()); ++i) {
      if (!moves(i)) continue;
      busy.push_back(t);
      break;
    }
  }
  return busy;
}

}  // namespace

Copies choose_copies(const Topology& topology) {
  std::vector<int> dimensions;
  for (int i = 0; i < topology.dimensions(); ++i) {
    if (topology.size(i) > 1) dimensions.push_back(i);
  }
  const auto steps = [&](int i, Rank m) {
    return static_cast<std::int64_t>(all_port_steps(topology.factor(i), m));
  };
  const auto offsets = [&](int i) { return topology.nodes() / topology.size(i); };  // for each x
  const auto most = [&](int i) { return std::min(most_copies, offsets(i)); };

  const auto k = static_cast<std::int64_t>(dimensions.size());
  const std::vector<Rank> none(static_cast<std::size_t>(topology.dimensions()), 0);
  Copies best;
  const auto consider = [&](Copies copies) {
    if (best.copies.empty() || copies.total() < best.total()) best = std::move(copies);
  };
  for (const int reference : dimensions) {
    for (Rank m = 1; m <= most(reference); ++m) {
      // As many copies everywhere as fit into the steps of m copies in the reference dimension.
      Copies copies{std::vector<Rank>(none.size(), 1), k, steps(reference, m), none, 0};
      bool fits = true;
      for (const int i : dimensions) {
        Rank fit = 0;
        while (fit < most(i) && steps(i, fit + 1) <= copies.steps) ++fit;
        if (fit == 0) {
          fits = false;
          break;
        }
        copies.copies[i] = fit;
        copies.rounds = std::max<std::int64_t>(copies.rounds, (offsets(i) + fit - 1) / fit);
      }
      if (!fits) continue;
      consider(copies);
      // The last round with the remaining offsets, if that takes fewer steps. Each dimension serves
      // the same share of every value's offsets there: if the shares add up to at most 1, no offset
      // need be served twice in it.
      if (copies.rounds <= k) continue;
      double share = 0;
      for (const int i : dimensions) {
        const auto served = (copies.rounds - 1) * copies.copies[i];
        copies.last[i] = static_cast<Rank>(std::max<std::int64_t>(0, offsets(i) - served));
        share += static_cast<double>(copies.last[i]) / offsets(i);
        if (copies.last[i] == 0) continue;
        copies.last_steps = std::max(copies.last_steps, steps(i, copies.last[i]));
      }
      if (share <= 1 && copies.last_steps < copies.steps) consider(std::move(copies));
    }
  }
  return best;
}

Rounds product_multiport_general_rounds(const Topology& topology) {
  if (topology.nodes() == 1) return {};
  const Copies copies = choose_copies(topology);
  const auto service = std::make_shared<const Service>(topology, copies);
  Rounds rounds;
  for (int g = 0; g < service->rounds(); ++g) {
    const bool last = copies.last_steps > 0 && g + 1 == service->rounds();
    const std::vector<Rank>& at_once = last ? copies.last : copies.copies;
    std::vector<std::shared_ptr<const ExchangeTemplate>> exchange;
    std::size_t most = 0;
    Round& round = rounds.emplace_back();
    round.name = fmt::format("round {}", g + 1);
    for (int i = 0; i < topology.dimensions(); ++i) {
      exchange.push_back(nullptr);
      if (topology.size(i) == 1 || at_once[i] == 0) continue;
      exchange.back() = best_exchange(topology.factor(i), Ports::all, at_once[i]);
      most = std::max(most, exchange.back()->steps());
      const Axis axis{topology.size(i), topology.stride(i)};
      const auto block = [=](Rank p, Rank x, Rank copy) -> std::optional<Block> {
        const Rank a = service->offset(g, i, mod(x - axis.digit(p), axis.size), copy);
        return a == 0 ? std::nullopt : std::optional(service->block(g, p, a));
      };
      round.exchanges.push_back({axis, exchange[i], block});
    }
    round.taken = busy_steps(*service, g, exchange, most);
  }
  return rounds;
}

namespace {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// All nodes treat their block at offset a (digit by digit, a != 0) in the same way. It needs one
/// exchange in each dimension i with a_i != 0, in different rounds and any order. In a round the
/// exchange of dimension i, m_i copies of it at once, serves m_i offsets for each value of a_i. The
/// assignment of offsets to rounds is an edge colouring: offsets on one side, (dimension, value,
/// copy) on the other.
///
/// Network   any product of graphs in which every vertex is a node; all-port.
/// Cost      at most R L start-ups of one block: R = max(dimensions, max_i ceil((p/n_i) / m_i))
///           rounds, L the longest of the T_i(m_i) steps of m_i exchanges at once in dimension i;
///           or (R - 1) L + L', if the remainder for the last round needs fewer exchanges at
///           once. The m_i are chosen for the least. p/n T on d equal graphs (for m_i = 1), any d.
///           No optimality is claimed.
/// Links     neighbours only; one block per link and step.
/// Source    ours, after A3 of V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in
///           Multidimensional Interconnection Networks, 1998.
void alltoall_product_multiport_general(Node& node, const Call& call) {
  run_rounds(node, "product-multiport-general", product_multiport_general_rounds, call.input,
             call.output);
}

void require_alltoall_product_multiport_general(const Topology& topology) {
  require_factors("product-multiport-general", topology, Ports::all);
  constexpr Rank most_nodes = 8192;  // more take seconds to plan, and half a GB
  if (topology.nodes() <= most_nodes) return;
  throw UsageError(fmt::format(
      "product-multiport-general: {} has {} nodes; the limit is {}, because a plan grows "
      "with their square; use fewer nodes or shift",
      topology.name(), topology.nodes(), most_nodes));
}

}  // namespace

Prediction predict_alltoall_product_multiport_general(const Topology& topology) {
  const auto rounds = kept_rounds(product_multiport_general_rounds, topology);
  const auto steps = static_cast<double>(total_steps(*rounds));
  return {.startups = steps, .transmission_blocks = steps, .rearranged_blocks = 0};
}

WORMCUBE_ALGORITHM(alltoall_product_multiport_general){
    .operation = operations::alltoall,
    .name = "product-multiport-general",
    .summary = "single blocks move in all dimensions at once; any product of graphs",
    .source = "ours, after Algorithm A3 of Dimakopoulos, Dimopoulos 1998",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "our extension; no optimality claimed",
    .require =
        [](const Setting& setting) {
          require_alltoall_product_multiport_general(setting.topology);
        },
    .predict =
        [](const Setting& setting) {
          return predict_alltoall_product_multiport_general(setting.topology);
        },
    .bound = product_bound,
    .selection = Selection::by_name,
    .program = alltoall_product_multiport_general,
};

}  // namespace wormcube
