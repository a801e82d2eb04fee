// Total exchange on a product of any graphs, one port: one dimension after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/product.hpp"

#include "wormcube/collectives/alltoall/product/factor.hpp"
#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

// Its exchange of one block at a time has sum of distances steps: 65536 for a ring of 64.
constexpr Rank most_nodes_serial = 64;
constexpr int most_steps_serial = 1 << 20;

using Template = std::shared_ptr<const ExchangeTemplate>;

/// Whether the copies of a dimension's graph exchange side by side, or those that the earlier
/// dimensions make of it one after another.
enum class CopiesRun : std::uint8_t { parallel, serial };

/// Algorithm A2 with these exchanges in the dimensions.
Rounds dimension_by_dimension(const Topology& topology,
                              Template (*exchange_of)(const Topology&, int dimension),
                              CopiesRun copies = CopiesRun::parallel) {
  Rounds rounds;
  for (int i = topology.dimensions() - 1; i >= 0; --i) {
    const Axis axis{topology.size(i), topology.stride(i)};
    if (axis.size == 1) continue;
    const Template exchange = exchange_of(topology, i);
    const Rank earlier = topology.nodes() / (axis.size * axis.stride), later = axis.stride;
    std::string name = fmt::format("along dimension {}", i);
    // Node (before, p_i, after) sends to (before, x, after) the block from (before, p_i, q) for
    // (r, x, after); all nodes at once, or those with one `before` after another.
    const Rank turns = copies == CopiesRun::serial ? earlier : 1;
    for (Rank turn = 0; turn < turns; ++turn) {
      for (Rank r = 0; r < earlier; ++r) {
        for (Rank q = 0; q < later; ++q) {
          const auto block = [=](Rank p, Rank x, Rank) -> std::optional<Block> {
            if (turns > 1 && p / (axis.size * later) != turn) return std::nullopt;
            return Block{p / later * later + q, (r * axis.size + x) * later + p % later};
          };
          rounds.push_back({{{axis, exchange, block}}, {}, std::exchange(name, {})});
        }
      }
    }
  }
  return rounds;
}

Template best(const Topology& topology, int dimension) {
  return best_exchange(topology.factor(dimension), Ports::one);
}

/// Dimensions of one node do not count.
bool is_first(const Topology& topology, int dimension) {
  return topology.nodes() == topology.size(dimension) * topology.stride(dimension);
}

Template naive(const Topology& topology, int dimension) {
  return is_first(topology, dimension) ? best(topology, dimension)
                                       : slowest_exchange(topology.factor(dimension));
}

/// (p/n_i) T_i, summed over the dimensions; with serial copies times their number.
Prediction predict(const Topology& topology, Template (*exchange_of)(const Topology&, int),
                   CopiesRun copies = CopiesRun::parallel) {
  double steps = 0;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Rank n = topology.size(i);
    if (n == 1) continue;
    const Rank others = topology.nodes() / n;
    const Rank turns = copies == CopiesRun::serial ? others / topology.stride(i) : 1;
    steps += static_cast<double>(turns) * static_cast<double>(others) *
             static_cast<double>(exchange_of(topology, i)->steps());
  }
  return {.startups = steps, .transmission_blocks = steps, .rearranged_blocks = 0};
}

}  // namespace

Rounds product_rounds(const Topology& topology) { return dimension_by_dimension(topology, best); }

namespace {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// From the last dimension to the first, all copies of its graph at once perform one total exchange
/// for each setting of the other digits: of the earlier ones by destination, of the later ones by
/// source. Each digit of a block becomes the destination's in this order.
///
/// Network   any product of graphs in which every vertex is a node; one-port, full duplex.
/// Cost      sum over i of (p/n_i) T_i start-ups of one block, T_i the steps of dimension i's own
///           exchange. Optimal if every T_i is the average status of its graph: rings, complete
///           graphs, other Cayley graphs and their products.
/// Links     neighbours only; one block per link and step.
/// Source    V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in Multidimensional
///           Interconnection Networks, IEEE Trans. Parallel and Distributed Systems 9(7), 1998,
///           Algorithm A2, Theorem 2, Corollary 2; all recursion steps written as one loop.
void alltoall_product(Node& node, const Call& call) {
  run_rounds(node, "product", product_rounds, call.input, call.output);
}

void require_alltoall_product(const Topology& topology) {
  require_factors("product", topology, Ports::one);
}

/// The copies of the last factor: nodes that agree in all dimensions but the last.
NodeSets copies(const Setting& setting) {
  const Topology& topology = setting.topology;
  NodeSets sets;
  sets.set_of.assign(static_cast<std::size_t>(topology.nodes()), -1);
  const Rank last = topology.size(topology.dimensions() - 1);
  for (Rank r = 0; r < topology.nodes(); ++r) sets.cell_of.push_back(r / last);
  return sets;
}

}  // namespace

Prediction predict_alltoall_product(const Topology& topology) { return predict(topology, best); }

Rounds product_naive_rounds(const Topology& topology) {
  return dimension_by_dimension(topology, naive);
}

Rounds product_serial_rounds(const Topology& topology) {
  return dimension_by_dimension(topology, naive, CopiesRun::serial);
}

namespace {

bool is_serial(const Options& options) { return options.is("copies", "serial"); }

/// The same with the blocks of all dimensions but the first moved one at a time: the starting point
/// of the theory.
///
/// Network   as above, dimensions after the first of at most 64 nodes each.
/// Cost      sum over i > 1 of p AS_i start-ups (AS_i the average status of dimension i), and
///           (p/n_1) T_1. copies=serial: n_1 .. n_(i-1) times p AS_i.
/// Source    the same, Algorithm A1, its first phase one block at a time in each copy;
///           copies=serial as first printed, one copy after another.
void alltoall_product_naive(Node& node, const Call& call) {
  if (is_serial(call.options)) {
    run_rounds(node, "product-naive:copies=serial", product_serial_rounds, call.input, call.output);
  } else {
    run_rounds(node, "product-naive", product_naive_rounds, call.input, call.output);
  }
}

void require_alltoall_product_naive(const Setting& setting) {
  const Topology& topology = setting.topology;
  require_factors("product-naive", topology, Ports::one);
  for (int i = 0; i < topology.dimensions(); ++i) {
    if (!is_first(topology, i) && topology.size(i) > most_nodes_serial) {
      throw UsageError(
          fmt::format("product-naive: dimensions after the first may have at most {} nodes, "
                      "because their blocks move one at a time; {} has {}; use product",
                      most_nodes_serial, topology.name(), topology.size(i)));
    }
  }
  if (!is_serial(setting.options)) return;
  const double steps = *predict_alltoall_product_serial(topology).startups;
  if (steps > most_steps_serial) {
    throw UsageError(fmt::format(
        "product-naive: with copies=serial {} takes {:.0f} steps, and the limit is {}; use "
        "copies=parallel",
        topology.name(), steps, most_steps_serial));
  }
}

}  // namespace

Prediction predict_alltoall_product_naive(const Topology& topology) {
  return predict(topology, naive);
}

Prediction predict_alltoall_product_serial(const Topology& topology) {
  return predict(topology, naive, CopiesRun::serial);
}

WORMCUBE_ALGORITHM(alltoall_product){
    .operation = operations::alltoall,
    .name = "product",
    .summary = "single blocks move in one dimension after another; any product of graphs",
    .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A2, Theorem 2, Corollary 2",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .require = [](const Setting& setting) { require_alltoall_product(setting.topology); },
    .predict = [](const Setting& setting) { return predict_alltoall_product(setting.topology); },
    .bound = product_bound,
    .selection = Selection::by_name,
    .program = alltoall_product,
    .node_sets = copies,
};

WORMCUBE_ALGORITHM(alltoall_product_naive){
    .operation = operations::alltoall,
    .name = "product-naive",
    .summary = "like product, but one block at a time in all dimensions except the first",
    .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A1",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "not meant to be fast: the starting point of the theory",
    .options = {{.name = "copies",
                 .choices = {"parallel", "serial"},
                 .help = "copies of a graph exchange side by side; or one after another, as A1 is "
                         "printed first",
                 .by_name = true}},
    .require = require_alltoall_product_naive,
    .predict =
        [](const Setting& setting) {
          return is_serial(setting.options) ? predict_alltoall_product_serial(setting.topology)
                                            : predict_alltoall_product_naive(setting.topology);
        },
    .bound = product_bound,
    .selection = Selection::by_name,
    .program = alltoall_product_naive,
    .node_sets = copies,
};

}  // namespace wormcube
