// The all-port exchange of any product, by colouring offsets with rounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/multiport_general.hpp"

#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"
#include "wormcube/collectives/alltoall/product/factor.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace wormcube {

namespace {

// More copies can only even out how dimensions of different sizes fill the rounds.
constexpr Rank most_copies = 16;

/// When each offset is served in each dimension. An offset is a node number: the node that node 0
/// sends it to.
class Service {
 public:
  Service(const Topology& topology, const Copies& copies)
      : topology_(topology), copies_(copies.copies) {
    first_.push_back(0);
    for (int i = 0; i < topology.dimensions(); ++i) {
      first_.push_back(first_.back() + topology.size(i) * copies_[i]);
    }
    std::vector<Rank> dealt(static_cast<std::size_t>(first_.back()), 0);
    std::vector<std::pair<Rank, Rank>> edges;
    std::vector<std::size_t> edge_of;  // by offset and dimension
    for (Rank a = 0; a < topology.nodes(); ++a) {
      for (int i = 0; i < topology.dimensions(); ++i) {
        edge_of.push_back(edges.size());
        const Rank x = topology.coordinate(a, i);
        if (x == 0) continue;
        const Rank copy = dealt[machine(i, x, 0)]++ % copies_[i];
        edges.emplace_back(a, machine(i, x, copy));
      }
    }
    const EdgeColouring colouring = colour_edges(topology.nodes(), first_.back(), edges);
    rounds_ = colouring.colours;
    offset_.assign(static_cast<std::size_t>(rounds_) * first_.back(), 0);
    round_.assign(edge_of.size(), never);
    for (std::size_t at = 0; at < edge_of.size(); ++at) {
      const auto a = static_cast<Rank>(at / topology.dimensions());
      const auto i = static_cast<int>(at % topology.dimensions());
      if (topology.coordinate(a, i) == 0) continue;
      const std::size_t edge = edge_of[at];
      round_[at] = colouring.colour[edge];
      offset_[static_cast<std::size_t>(round_[at]) * first_.back() + edges[edge].second] = a;
    }
  }

  int rounds() const { return rounds_; }
  /// The offset with a_i = x that this copy of dimension i's exchange serves in a round; 0: none.
  Rank offset(int round, int i, Rank x, Rank copy) const {
    return offset_[static_cast<std::size_t>(round) * first_.back() + machine(i, x, copy)];
  }
  /// The block at this offset that node p moves in a round: where it comes from and goes to.
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
             std::ranges::any_of(in[i]->step(t), [&](const Transfer& transfer) {
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

  Copies best;
  for (const int reference : dimensions) {
    for (Rank m = 1; m <= most(reference); ++m) {
      // As many copies everywhere as fit into the steps of m copies in the reference dimension.
      Copies copies{std::vector<Rank>(static_cast<std::size_t>(topology.dimensions()), 1),
                    static_cast<std::int64_t>(dimensions.size()), steps(reference, m)};
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
      if (best.copies.empty() || copies.rounds * copies.steps < best.rounds * best.steps) {
        best = std::move(copies);
      }
    }
  }
  return best;
}

Rounds product_multiport_general_rounds(const Topology& topology) {
  if (topology.nodes() == 1) return {};
  const Copies copies = choose_copies(topology);
  const auto service = std::make_shared<const Service>(topology, copies);
  std::vector<std::shared_ptr<const ExchangeTemplate>> exchange;
  std::size_t most = 0;
  for (int i = 0; i < topology.dimensions(); ++i) {
    exchange.push_back(nullptr);
    if (topology.size(i) == 1) continue;
    exchange.back() = best_exchange(topology.factor(i), Ports::all, copies.copies[i]);
    most = std::max(most, exchange.back()->steps());
  }

  Rounds rounds;
  for (int g = 0; g < service->rounds(); ++g) {
    Round& round = rounds.emplace_back();
    round.name = fmt::format("round {}", g + 1);
    for (int i = 0; i < topology.dimensions(); ++i) {
      if (exchange[i] == nullptr) continue;
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

void alltoall_product_multiport_general(Node& node, ConstBlocks out, Blocks in) {
  require_alltoall_product_multiport_general(node.topology());
  require_exchange("product-multiport-general", node.size(), out, in);
  run_rounds(node, "product-multiport-general", product_multiport_general_rounds, out, in);
}

void require_alltoall_product_multiport_general(const Topology& topology) {
  require_factors("product-multiport-general", topology, Ports::all);
}

Prediction predict_alltoall_product_multiport_general(const Topology& topology) {
  const auto rounds = kept_rounds(product_multiport_general_rounds, topology);
  const auto steps = static_cast<double>(total_steps(*rounds));
  return {.startups = steps, .transmission_blocks = steps, .rearranged_blocks = 0};
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_product_multiport_general){
    .operation = operations::alltoall,
    .name = "product-multiport-general",
    .summary = "single blocks, all dimensions at once; any product of graphs",
    .source = "ours, after Algorithm A3 of Dimakopoulos, Dimopoulos 1998",
    .ports = Ports::all,
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
    .chosen_by_auto = false,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_product_multiport_general(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
