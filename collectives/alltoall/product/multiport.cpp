// Total exchange on H x H, all ports: both dimensions at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/multiport.hpp"

#include "wormcube/collectives/alltoall/product/factor.hpp"
#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <bit>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The dimensions with more than one node.
std::vector<int> real_dimensions(const Topology& topology) {
  std::vector<int> dimensions;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) > 1) dimensions.push_back(d);
  }
  return dimensions;
}

}  // namespace

Rounds square_rounds(std::shared_ptr<const ExchangeTemplate> exchange) {
  const Rank n = exchange->nodes();
  const Axis rows{n, n}, columns{n, 1};  // node (i, j) is i n + j
  const auto block = [n](Rank i, Rank j, Rank to_i, Rank to_j) {
    return Block{mod(i, n) * n + mod(j, n), mod(to_i, n) * n + mod(to_j, n)};
  };
  Rounds rounds;
  for (Rank r = 1; r <= n; ++r) {
    // To (i, j+l): in round r < n the block for (i + alpha_r(l), j+l), where alpha_r rotates 1 ..
    // n-1 by r-1 places; in the last round the block for (i, j+l) itself.
    const auto along_row = [=](Rank node, Rank x, Rank) {
      const Rank i = node / n, j = node % n, l = mod(x - j, n);
      const Rank alpha = r == n ? 0 : 1 + mod(l + r - 2, n - 1);
      return block(i, j, i + alpha, j + l);
    };
    // To (i+a, j): first the node's own block for it; then what came along the row in the previous
    // round: from (i, j-l), where alpha_{r-1}(l) = a.
    const auto along_column = [=](Rank node, Rank x, Rank) {
      const Rank i = node / n, j = node % n, a = mod(x - i, n);
      const Rank l = r == 1 ? 0 : 1 + mod(a - (r - 1), n - 1);
      return block(i, j - l, i + a, j);
    };
    rounds.push_back({{{rows, exchange, along_column}, {columns, exchange, along_row}},
                      {},
                      r < n ? fmt::format("round {}", r) : "last round"});
  }
  return rounds;
}

Rounds product_multiport_rounds(const Topology& topology) {
  const std::vector<int> dimensions = real_dimensions(topology);
  if (dimensions.empty()) return {};
  auto exchange = best_exchange(topology.factor(dimensions.front()), Ports::all);
  if (dimensions.size() == 1) {
    const Axis all{topology.nodes(), 1};
    return {{{{all, exchange, [](Rank p, Rank x, Rank) { return Block{p, x}; }}}}};
  }
  for (std::size_t d = 2; d < dimensions.size(); d *= 2) {
    const Rank nodes = exchange->nodes() * exchange->nodes();
    exchange = std::make_shared<const ExchangeTemplate>(expand(nodes, square_rounds(exchange)));
  }
  return square_rounds(exchange);
}

namespace {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// G = H x H, |H| = n: in each of n rounds every row and every column performs a total exchange.
/// Along its row a node sends its own blocks, with another offset of column in each round; along
/// its column those that it received in the previous round. H^4 is (H^2) x (H^2), and so on.
///
/// Network   product of 1, 2, 4, 8, .. equal graphs in which every vertex is a node (dimensions of
///           one node do not count); all-port.
/// Cost      (p/n) T start-ups of one block, T the steps of H's own all-port exchange. Optimal if T
///           is the cut bound of H exactly: lines, complete graphs, rings of n != 2 modulo 4.
/// Links     neighbours only; one block per link and step.
/// Source    V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in Multidimensional
///           Interconnection Networks, IEEE Trans. Parallel and Distributed Systems 9(7), 1998,
///           Algorithm A3, Theorem 4, Corollary 3; offsets rotate by r - 1, modulo n - 1.
void alltoall_product_multiport(Node& node, const Call& call) {
  run_rounds(node, "product-multiport", product_multiport_rounds, call.input, call.output);
}

void require_alltoall_product_multiport(const Topology& topology) {
  require_factors("product-multiport", topology, Ports::all);
  const std::vector<int> dimensions = real_dimensions(topology);
  if (dimensions.empty()) return;
  if (!std::has_single_bit(dimensions.size())) {
    throw UsageError(
        fmt::format("product-multiport: needs 1, 2, 4, 8, .. dimensions; {} has {}; use "
                    "product-multiport-general",
                    topology.name(), dimensions.size()));
  }
  const Graph& first = topology.factor(dimensions.front());
  const Adjacency H = Adjacency::of(first);
  for (const int d : dimensions) {
    const Graph& other = topology.factor(d);
    if (other.nodes() == first.nodes() && Adjacency::of(other) == H) continue;
    throw UsageError(fmt::format(
        "product-multiport: all dimensions must be the same graph; {} has {} and {}; use "
        "product-multiport-general",
        topology.name(), first.name(), other.name()));
  }
}

}  // namespace

Prediction predict_alltoall_product_multiport(const Topology& topology) {
  double steps = 0;
  const std::vector<int> dimensions = real_dimensions(topology);
  if (!dimensions.empty()) {
    const Graph& graph = topology.factor(dimensions.front());
    const Rank others = topology.nodes() / graph.nodes();
    steps = static_cast<double>(others) * static_cast<double>(all_port_steps(graph, 1));
  }
  return {.startups = steps, .transmission_blocks = steps, .rearranged_blocks = 0};
}

WORMCUBE_ALGORITHM(alltoall_product_multiport){
    .operation = operations::alltoall,
    .name = "product-multiport",
    .summary = "single blocks move in all dimensions at once; 1, 2, 4, .. equal graphs",
    .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A3, Theorem 4, Corollary 3",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .require = [](const Setting& setting) { require_alltoall_product_multiport(setting.topology); },
    .predict =
        [](const Setting& setting) { return predict_alltoall_product_multiport(setting.topology); },
    .bound = product_bound,
    .selection = Selection::by_name,
    .program = alltoall_product_multiport,
};

}  // namespace wormcube
