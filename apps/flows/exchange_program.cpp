// One row per node and kind of links for what a source's blocks leave there; one column per flow.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/flows/exchange_program.hpp"

#include "wormcube/runtime/topology/cayley.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <glpk.h>

namespace wormcube::apps {

namespace {

struct DeleteProgram {
  void operator()(glp_prob* program) const { glp_delete_prob(program); }
};

/// The links of one kind carry the same in total; `kinds` of them.
struct Kinds {
  std::vector<int> of_link;
  int kinds = 0;
  Rank sources = 0;

  explicit Kinds(const Graph& graph) : of_link(graph.links()) {
    const auto group = graph.cayley();
    if (group == nullptr) {
      std::iota(of_link.begin(), of_link.end(), 0);
      kinds = static_cast<int>(graph.links());
      sources = graph.nodes();
      return;
    }
    for (std::int64_t link = 0; link < graph.links(); ++link) {
      const auto [from, to] = graph.ends(link);
      const Rank generator = group->product(group->inverse(from), to);
      const auto found = std::ranges::find(group->generators, generator);
      of_link[link] = static_cast<int>(found - group->generators.begin());
    }
    kinds = static_cast<int>(group->generators.size());
    sources = 1;
  }
};

/// The sum of the distances from all sources over the sum of the lengths of all kinds.
double of_prices(const Graph& graph, const Kinds& links, const std::vector<double>& price) {
  using Lengths = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, double>;
  std::vector<std::pair<Rank, Rank>> ends;
  std::vector<double> length;
  for (std::int64_t link = 0; link < graph.links(); ++link) {
    ends.emplace_back(graph.ends(link).from, graph.ends(link).to);
    length.push_back(price[links.of_link[link]]);
  }
  const Lengths lengths(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(),
                        length.begin(), static_cast<std::size_t>(graph.nodes()));
  double sum = 0;
  std::vector<double> distance(graph.nodes());
  for (Rank source = 0; source < links.sources; ++source) {
    boost::dijkstra_shortest_paths(
        lengths, static_cast<std::size_t>(source),
        boost::weight_map(boost::get(boost::edge_bundle, lengths))
            .distance_map(boost::make_iterator_property_map(
                distance.begin(), boost::get(boost::vertex_index, lengths))));
    sum += std::accumulate(distance.begin(), distance.end(), 0.0);
  }
  return sum / std::accumulate(price.begin(), price.end(), 0.0);
}

}  // namespace

std::string glpk_version() { return std::string("GLPK ") + glp_version(); }

std::optional<theory::LinkBound> solve_exchange(const Graph& graph) {
  const Kinds links(graph);
  const Rank n = graph.nodes();
  if (links.sources * graph.links() > largest_program) return std::nullopt;
  glp_term_out(GLP_OFF);
  const std::unique_ptr<glp_prob, DeleteProgram> program(glp_create_prob());
  glp_prob* const lp = program.get();
  glp_set_obj_dir(lp, GLP_MIN);
  const int rows = links.sources * n + links.kinds,
            flows = static_cast<int>(links.sources * graph.links());
  glp_add_rows(lp, rows);
  glp_add_cols(lp, flows + 1);
  const auto left_at = [&](Rank source, Rank node) { return 1 + source * n + node; };
  const auto row_of_kind = [&](int kind) { return 1 + links.sources * n + kind; };
  for (Rank source = 0; source < links.sources; ++source) {
    for (Rank node = 0; node < n; ++node) {
      const double left = node == source ? 1 - n : 1;
      glp_set_row_bnds(lp, left_at(source, node), GLP_FX, left, left);
    }
  }
  for (int kind = 0; kind < links.kinds; ++kind) {
    glp_set_row_bnds(lp, row_of_kind(kind), GLP_UP, 0, 0);
  }
  int column = 0;
  for (Rank source = 0; source < links.sources; ++source) {
    for (std::int64_t link = 0; link < graph.links(); ++link) {
      const auto [from, to] = graph.ends(link);
      const int index[] = {0, left_at(source, from), left_at(source, to),
                           row_of_kind(links.of_link[link])};
      const double value[] = {0, -1, 1, 1};
      glp_set_col_bnds(lp, ++column, GLP_LO, 0, 0);
      glp_set_mat_col(lp, column, 3, index, value);
    }
  }
  std::vector<int> index{0};
  std::vector<double> value{0};
  for (int kind = 0; kind < links.kinds; ++kind) {
    index.push_back(row_of_kind(kind));
    value.push_back(-1);
  }
  const int time = flows + 1;
  glp_set_obj_coef(lp, time, 1);
  glp_set_col_bnds(lp, time, GLP_LO, 0, 0);
  glp_set_mat_col(lp, time, links.kinds, index.data(), value.data());

  glp_iptcp settings;
  glp_init_iptcp(&settings);
  settings.msg_lev = GLP_MSG_OFF;
  if (glp_interior(lp, &settings) != 0 || glp_ipt_status(lp) != GLP_OPT) return std::nullopt;
  std::vector<double> price;
  for (int kind = 0; kind < links.kinds; ++kind) {
    price.push_back(std::max(0.0, -glp_ipt_row_dual(lp, row_of_kind(kind))));
  }
  theory::LinkBound bound{of_prices(graph, links, price), false, "concurrent flow"};
  constexpr double rounding = 1e-6;
  bound.tight = glp_ipt_obj_val(lp) <= bound.blocks * (1 + rounding);
  return bound;
}

}  // namespace wormcube::apps
