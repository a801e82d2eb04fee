// Links and routes: in closed form, and by the tables of trees and arbitrary graphs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/shapes.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/arbitrary_table.hpp"
#include "wormcube/runtime/topology/cayley.hpp"

#include <bit>
#include <mutex>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::shapes {

LinkEnds Line::ends(std::int64_t link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  const auto number = static_cast<Rank>(link % (nodes - 1));
  return link < nodes - 1 ? LinkEnds{number, number + 1} : LinkEnds{number + 1, number};
}

LinkEnds Ring::ends(std::int64_t link) const {
  if (!wraps()) return Line{nodes}.ends(link);
  WORMCUBE_ASSERT(link >= 0 && link < links());
  const auto from = static_cast<Rank>(link % nodes);
  return link < nodes ? LinkEnds{from, from + 1 == nodes ? 0 : from + 1}
                      : LinkEnds{from, from == 0 ? nodes - 1 : from - 1};
}

LinkEnds Complete::ends(std::int64_t link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  const auto from = static_cast<Rank>(link / (nodes - 1));
  const auto other = static_cast<Rank>(link % (nodes - 1));
  return {from, other < from ? other : other + 1};
}

namespace {

std::shared_ptr<const CayleyStructure> cyclic_group(Rank nodes,
                                                    const std::vector<Rank>& generators) {
  return std::make_shared<const CayleyStructure>(CayleyStructure::cyclic(nodes, generators));
}

}  // namespace

std::shared_ptr<const CayleyStructure> Line::cayley() const {
  return nodes > 2 ? nullptr : Ring{nodes}.cayley();
}

std::shared_ptr<const CayleyStructure> Ring::cayley() const {
  return cyclic_group(nodes, nodes > 1 ? std::vector<Rank>{1} : std::vector<Rank>{});
}

std::shared_ptr<const CayleyStructure> Complete::cayley() const {
  std::vector<Rank> generators(nodes - 1);
  std::iota(generators.begin(), generators.end(), 1);
  return cyclic_group(nodes, generators);
}

/// By vertex: the leaves below it are low .. high-1. Leaves have no children, the root no parent:
/// -1.
struct Tree::Table {
  std::vector<Rank> parent, low, high, left, right;

  /// Adds the subtree over these leaves, children first, and returns its root.
  Rank grow(Rank lo, Rank hi, Rank& unused_switch) {
    if (hi - lo == 1) {
      low[lo] = lo;
      high[lo] = hi;
      return lo;
    }
    const Rank middle = lo + (hi - lo + 1) / 2;
    const Rank l = grow(lo, middle, unused_switch);
    const Rank r = grow(middle, hi, unused_switch);
    const Rank root = unused_switch++;
    parent[l] = parent[r] = root;
    left[root] = l;
    right[root] = r;
    low[root] = lo;
    high[root] = hi;
    return root;
  }
};

Tree::Tree(Rank leaves) : leaves_(leaves) {
  const auto table = std::make_shared<Table>();
  for (auto* column : {&table->parent, &table->low, &table->high, &table->left, &table->right}) {
    column->assign(vertices(), -1);
  }
  Rank unused_switch = leaves;
  table->grow(0, leaves, unused_switch);
  table_ = table;
}

LinkEnds Tree::ends(std::int64_t link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  const auto child = static_cast<Rank>(link % cables());
  const Rank parent = table_->parent[child];
  return goes_up(link) ? LinkEnds{child, parent} : LinkEnds{parent, child};
}

int Tree::ports(Rank vertex) const {
  return (table_->parent[vertex] >= 0 ? 1 : 0) + (table_->left[vertex] >= 0 ? 2 : 0);
}

std::int64_t Tree::link(Rank vertex, int port) const {
  if (table_->parent[vertex] < 0) ++port;  // no link leads up from the root
  if (port == 0) return vertex;
  return cables() + (port == 1 ? table_->left[vertex] : table_->right[vertex]);
}

std::int64_t Tree::next(Rank at, Rank to, bool& /*up*/) const {
  if (to < table_->low[at] || to >= table_->high[at]) return at;
  const Rank left = table_->left[at];
  return cables() + (to < table_->high[left] ? left : table_->right[at]);
}

std::optional<int> Tree::diameter() const {
  // The levels between a balanced tree's root and its deepest leaf.
  const auto depth = [](Rank leaves) { return std::bit_width(static_cast<unsigned>(leaves - 1)); };
  return leaves_ == 1 ? 0 : static_cast<int>(depth((leaves_ + 1) / 2) + depth(leaves_ / 2) + 2);
}

namespace {

// A graph's next-hop table has two entries for each pair of nodes: 256 MB at this many.
constexpr Rank max_routed_nodes = 8192;
// The limit on vertices times links that the table's construction may visit: some seconds.
constexpr std::int64_t max_routing_work = std::int64_t{1} << 30;

}  // namespace

Arbitrary::Arbitrary(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges, std::string name,
                     std::string note, std::shared_ptr<const CayleyStructure> group)
    : nodes_(nodes) {
  const auto table = std::make_shared<Table>();
  table->name = std::move(name);
  table->note = std::move(note);
  table->group = std::move(group);
  table->connect(nodes, edges);
  table->orient(nodes);
  table_ = table;
}

const std::string& Arbitrary::name() const { return table_->name; }
const std::string& Arbitrary::note() const { return table_->note; }
std::int64_t Arbitrary::links() const { return static_cast<std::int64_t>(table_->to.size()); }
LinkEnds Arbitrary::ends(std::int64_t link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  return {table_->from[link], table_->to[link]};
}
int Arbitrary::ports(Rank vertex) const {
  return static_cast<int>(table_->first[vertex + 1] - table_->first[vertex]);
}
std::int64_t Arbitrary::link(Rank vertex, int port) const { return table_->first[vertex] + port; }
bool Arbitrary::goes_up(std::int64_t link) const { return table_->is_up(link); }

std::int64_t Arbitrary::next(Rank at, Rank to, bool& up) const {
  std::call_once(table_->routed, [this] {
    require_routable();
    table_->find_routes(nodes_);
  });
  const std::size_t entry = 2 * (static_cast<std::size_t>(to) * nodes_ + at) + (up ? 0 : 1);
  WORMCUBE_ASSERT(table_->next[entry] != Table::nowhere);
  const std::int64_t link = table_->first[at] + table_->next[entry];
  up = up && goes_up(link);
  return link;
}

bool Arbitrary::routable() const {
  return nodes_ <= max_routed_nodes && nodes_ * links() <= max_routing_work;
}

void Arbitrary::require_routable() const {
  if (routable()) return;
  throw UsageError(fmt::format(
      "{}: {} nodes and {} links; messages are routed in graphs of up to {} nodes, with "
      "nodes x links up to {} (`wormcube topology` accepts larger ones)",
      name(), nodes_, links(), max_routed_nodes, max_routing_work));
}

std::int64_t Arbitrary::routing_table_bytes() const {
  return 2 * std::int64_t{nodes_} * nodes_ * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

const GraphDistances* Arbitrary::distances() const {
  std::call_once(table_->measured, [this] { table_->distances = table_->all_distances(); });
  return table_->distances ? &*table_->distances : nullptr;
}

std::optional<int> Arbitrary::diameter() const {
  const GraphDistances* all = distances();
  return all != nullptr ? std::optional(all->diameter) : std::nullopt;
}

std::shared_ptr<const CayleyStructure> Arbitrary::cayley() const { return table_->group; }

bool operator==(const Arbitrary& a, const Arbitrary& b) {
  return a.table_ == b.table_ ||
         (a.table_->first == b.table_->first && a.table_->to == b.table_->to);
}

}  // namespace wormcube::shapes
