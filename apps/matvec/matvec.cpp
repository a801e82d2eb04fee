// Matrix-vector product on a grid of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/matvec/matvec.hpp"

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

std::vector<int> dimensions(int first, int last) {
  std::vector<int> all(static_cast<std::size_t>(last - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

Topology part_of(const Topology& topology, const std::vector<int>& dimensions) {
  std::vector<Graph> factors;
  for (const int d : dimensions) factors.push_back(topology.factor(d));
  if (factors.empty()) factors.push_back(Graph::line(1));
  return Topology(std::move(factors));
}

// The first dimension that belongs to the rows of the grid.
int best_cut(const Topology& topology) {
  int best = topology.dimensions();
  Rank columns = 1, least = topology.nodes();  // the longer side
  for (int d = topology.dimensions() - 1; d > 0; --d) {
    columns *= topology.size(d);
    const Rank longer = std::max(columns, topology.nodes() / columns);
    if (longer >= least) continue;
    least = longer;
    best = d;
  }
  return best;
}

// y := A x for one block; y is padded with zeros.
void multiply(std::span<const double> matrix, std::span<const double> x, std::span<double> y) {
  std::ranges::fill(y, 0.0);
  if (x.empty()) return;
  for (std::size_t row = 0; row * x.size() < matrix.size(); ++row) {
    const auto first = matrix.begin() + static_cast<std::ptrdiff_t>(row * x.size());
    y[row] = std::transform_reduce(x.begin(), x.end(), first, 0.0);
  }
}

Collective at_root(Collective collective, Rank root) {
  collective.arguments.root = root;
  return collective;
}

}  // namespace

NodeGrid::NodeGrid(const Topology& topology)
    : column_dimensions_(dimensions(0, best_cut(topology))),
      row_dimensions_(dimensions(best_cut(topology), topology.dimensions())),
      column_network_(part_of(topology, column_dimensions_)),
      row_network_(part_of(topology, row_dimensions_)),
      rows_(column_network_.nodes()),
      columns_(row_network_.nodes()) {}

VectorsOn parse_vectors_on(std::string_view text) {
  if (text == "edge") return VectorsOn::edge;
  if (text == "diagonal") return VectorsOn::diagonal;
  throw UsageError(fmt::format("unknown place '{}' for vectors; available: edge, diagonal", text));
}

void matvec(Node& node, const MatvecPlan& plan, ConstSpan matrix, Span x, Span y) {
  const Rank i = node.rank() / plan.grid.columns(), j = node.rank() % plan.grid.columns();
  if (plan.grid.rows() > 1) {
    node.phase("vector along columns");
    GridView column = node.along(plan.grid.column_dimensions());
    at_root(plan.broadcast, plan.source(j))(column, x);
  }
  const bool sums = plan.grid.columns() > 1;
  const Memory part = node.memory(sums ? plan.y_block_bytes() : 0, Purpose::blocks);
  const Span product = sums ? part.span() : y;
  node.phase("products");
  constexpr double of_element = 2;  // a product and a sum
  node.computes(of_element * static_cast<double>(matrix.size() / sizeof(double)),
                static_cast<double>(matrix.size()));
  node.local([&] {
    const std::span<const double> elements(reinterpret_cast<const double*>(matrix.data()),
                                           matrix.size() / sizeof(double));
    multiply(elements, as<double>(x).first(plan.columns.count(j)), as<double>(product));
  });
  if (!sums) return;
  node.phase("sums along rows");
  GridView row = node.along(plan.grid.row_dimensions());
  const Rank sink = plan.sink(i);
  at_root(plan.reduce, sink)(row, product, row.rank() == sink ? y : Span());
}

}  // namespace wormcube::apps
