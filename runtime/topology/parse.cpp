// Text to topology: the grammar of shapes and products.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/text.hpp"
#include "wormcube/runtime/topology/families.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr std::int64_t max_hypercube_dimensions = 20;

/// A whole number of digits only; nothing for other text. A number that is too large becomes the
/// largest one.
std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return number_of<std::int64_t>(text).value_or(std::numeric_limits<std::int64_t>::max());
}

/// Parses one text; views into it carry their own position.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Topology parse() {
    if (text_.empty()) {
      throw UsageError("topology '' is empty; expected a shape: " + known_shapes());
    }
    for_each_part(text_, '*', [&](std::string_view part) {
      if (!name_.empty()) name_ += '*';
      parse_factor(part);
    });
    return Topology(std::move(factors_), std::move(name_));
  }

 private:
  static std::string known_shapes() {
    return network_examples() + " and products of these, as in ring:4*line:3";
  }

  template <class F>
  static void for_each_part(std::string_view text, char separator, F&& f) {
    for (;;) {
      const std::size_t end = text.find(separator);
      f(text.substr(0, end));
      if (end == text.npos) return;
      text.remove_prefix(end + 1);
    }
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw UsageError(fmt::format("topology '{}': {}", printable(text_), problem));
  }
  /// Where a view into the text starts, counted from 1.
  std::size_t position(std::string_view part) const { return part.data() - text_.data() + 1; }

  /// A number in a range, or an error that points to it.
  std::int64_t number(std::string_view part, std::string_view what, std::int64_t least,
                      std::int64_t most, std::string_view example) const {
    if (part.empty()) {
      fail(fmt::format(
          "{} is missing at position {}; expected a whole number of {} or more, as in {}", what,
          position(part), least, example));
    }
    const auto value = whole_number(part);
    if (!value || *value < least) {
      fail(fmt::format(
          "'{}' at position {} is not {}; expected a whole number of {} or more, as in {}", part,
          position(part), what, least, example));
    }
    if (*value > most) {
      fail(fmt::format("'{}' at position {} is too large; {} may be up to {}", part, position(part),
                       what, most));
    }
    return *value;
  }

  void add(Graph graph, std::string_view part) {
    nodes_ *= graph.nodes();
    if (nodes_ > max_nodes) {
      fail(fmt::format("'{}' at position {} makes it {} nodes; the limit is {}", part,
                       position(part), nodes_, max_nodes));
    }
    factors_.push_back(std::move(graph));
  }

  void parse_factor(std::string_view factor) {
    if (factor.empty()) {
      fail(fmt::format("a shape is missing at position {}; available: {}", position(factor),
                       known_shapes()));
    }
    const std::size_t colon = factor.find(':');
    const std::string_view shape = factor.substr(0, colon);
    const auto table = network_kinds();
    const auto kind = std::ranges::find(table, shape, &NetworkKind::name);
    if (kind == table.end()) {
      std::vector<std::string_view> shapes;
      for (const NetworkKind& known : table) shapes.push_back(known.name);
      const bool is_size = whole_number(shape).has_value() && factor.data() != text_.data();
      fail(fmt::format(
          "unknown shape '{}' at position {}{}; available: {}", shape, position(factor),
          is_size ? " (sizes are separated by x, as in torus:8x8)" : did_you_mean(shape, shapes),
          known_shapes()));
    }
    if (shape == "petersen") {
      if (colon != factor.npos) {
        fail(fmt::format("':' at position {}: 'petersen' is one graph and takes no size",
                         position(factor.substr(colon))));
      }
      name_ += shape;
      return add(petersen(), factor);
    }
    if (colon == factor.npos) {
      fail(fmt::format("'{}' at position {} needs ':' and a value, as in {}", shape,
                       position(factor), kind->example));
    }
    const std::string_view value = factor.substr(colon + 1);
    name_.append(shape).append(":");
    if (shape == "graph") {
      parse_graph(value);
    } else if (shape == "hypercube") {
      parse_hypercube(value);
    } else if (shape == "circulant") {
      parse_circulant(value);
    } else if (shape == "twisted") {
      parse_two(value, "rows and columns", kind->example, twisted_torus);
    } else if (shape == "de-bruijn") {
      parse_two(value, "a number of letters and a length", kind->example, de_bruijn);
    } else if (shape == "cayley") {
      parse_cayley(value);
    } else {
      parse_sizes(*kind, value);
    }
  }

  void parse_graph(std::string_view file) {
    if (file.empty()) {
      fail(fmt::format("a file name is missing at position {}, as in graph:FILE", position(file)));
    }
    if (const std::string shown = printable(file); shown != file) {
      fail(fmt::format(
          "the file name '{}' has a control character, or a byte that is not UTF-8, which "
          "files of results cannot hold; rename the file, or make a link to it",
          shown));
    }
    name_ += file;
    add(Graph::read(std::string(file)), file);
  }

  void parse_hypercube(std::string_view value) {
    const auto dimensions =
        number(value, "a number of dimensions", 0, max_hypercube_dimensions, "hypercube:6");
    for (std::int64_t d = 0; d < dimensions; ++d) add(Graph::line(2), value);
    name_ += std::to_string(dimensions);
  }

  void parse_circulant(std::string_view value) {
    constexpr std::string_view example = "circulant:12+1+3";
    std::vector<Rank> numbers;  // the nodes, then the offsets
    for_each_part(value, '+', [&](std::string_view part) {
      const std::string_view what = numbers.empty() ? "a size" : "an offset";
      numbers.push_back(static_cast<Rank>(number(part, what, 1, max_nodes, example)));
      name_ += (numbers.size() == 1 ? "" : "+") + std::to_string(numbers.back());
    });
    if (numbers.size() < 2) {
      fail(fmt::format("an offset is missing at position {}, as in {}",
                       position(value) + value.size(), example));
    }
    const std::vector<Rank> offsets(numbers.begin() + 1, numbers.end());
    add(in_place(value, [&] { return circulant(numbers[0], offsets); }), value);
  }

  /// Two numbers: the sizes of a torus that is twisted, ..
  void parse_two(std::string_view value, std::string_view what, std::string_view example,
                 Graph (*graph)(Rank, Rank)) {
    std::vector<Rank> sizes;
    for_each_part(value, 'x', [&](std::string_view part) {
      sizes.push_back(static_cast<Rank>(number(part, "a size", 1, max_nodes, example)));
      name_ += (sizes.size() == 1 ? "" : "x") + std::to_string(sizes.back());
    });
    if (sizes.size() != 2 || std::int64_t{sizes[0]} * sizes[1] > max_nodes) {
      fail(fmt::format("'{}' at position {}: expected {}, of up to {} nodes, as in {}", value,
                       position(value), what, max_nodes, example));
    }
    add(in_place(value, [&] { return graph(sizes[0], sizes[1]); }), value);
  }

  void parse_cayley(std::string_view value) {
    std::vector<std::string> words;
    for_each_part(value, '+', [&](std::string_view part) {
      if (part.empty()) {
        fail(fmt::format("a permutation is missing at position {}, as in cayley:2134+2341",
                         position(part)));
      }
      words.emplace_back(part);
    });
    add(in_place(value, [&] { return permutation_graph(words); }), value);
    name_ += value;
  }

  /// The graph, or its error with the position in the text.
  template <class F>
  Graph in_place(std::string_view part, F&& graph) const {
    try {
      return graph();
    } catch (const UsageError& error) {
      fail(fmt::format("'{}' at position {}: {}", part, position(part), error.what()));
    }
  }

  void parse_sizes(const NetworkKind& kind, std::string_view value) {
    const auto is_size_list = [](char c) { return c == 'x' || (c >= '0' && c <= '9'); };
    if (!kind.many_sizes && value.find('x') != value.npos &&
        std::ranges::all_of(value, is_size_list)) {
      fail(fmt::format("'{}' at position {}: '{}' takes one size; for more dimensions write {}",
                       value, position(value), kind.name, kind.several));
    }
    bool first = true;
    const auto add_size = [&](std::string_view part) {
      const auto size = number(part, kind.what, 1, kind.most, kind.example);
      add(kind.graph(static_cast<Rank>(size)), part);
      name_ += (first ? "" : "x") + std::to_string(size);
      first = false;
    };
    if (kind.many_sizes) {
      for_each_part(value, 'x', add_size);
    } else {
      add_size(value);
    }
  }

  std::string_view text_;
  std::vector<Graph> factors_;
  std::string name_;
  std::int64_t nodes_ = 1;
};

}  // namespace

namespace {

/// A failed node, or the failed cable between two.
struct Failure {
  Rank one, other;  // other: -1 of a node
  std::string text;
};

/// Removes "~17" or "~3-4" from the end of the text; nothing if it ends otherwise.
std::optional<Failure> take_failure(std::string_view& text) {
  const std::size_t at = text.rfind('~');
  if (at == text.npos || at == 0) return std::nullopt;
  const std::string_view last = text.substr(at + 1);
  const std::size_t dash = last.find('-');
  const auto one = whole_number(last.substr(0, dash));
  const auto other =
      dash == last.npos ? std::optional<std::int64_t>(-1) : whole_number(last.substr(dash + 1));
  if (!one || !other) return std::nullopt;
  text.remove_suffix(last.size() + 1);
  const auto rank = [](std::int64_t value) {
    return static_cast<Rank>(std::min<std::int64_t>(value, max_nodes));
  };
  return Failure{rank(*one), rank(*other), std::string(last)};
}

/// A network without its failed parts, as one graph: its nodes keep their order, and get new
/// numbers.
Topology without(const Topology& whole, const std::vector<Failure>& failures, std::string name) {
  const auto fail = [&](const std::string& why) {
    throw UsageError(fmt::format("topology '{}': {}", printable(name), why));
  };
  const Rank nodes = whole.nodes();
  std::set<std::pair<Rank, Rank>> cables;
  for (Link link = 0; link < whole.links(); ++link) {
    const auto ends = whole.link_ends(link);
    if (ends.from < 0 || ends.to < 0) {
      fail("failures cannot be given for networks with trees: a tree's switches have no numbers");
    }
    cables.emplace(std::min(ends.from, ends.to), std::max(ends.from, ends.to));
  }
  std::vector<bool> failed(static_cast<std::size_t>(nodes), false);
  for (const Failure& failure : failures) {
    if (failure.one >= nodes || failure.other >= nodes) {
      fail(fmt::format("failed {} '{}' is out of range; the nodes of {} are 0 to {}",
                       failure.other < 0 ? "node" : "cable", failure.text, whole.name(),
                       nodes - 1));
    }
    if (failure.other < 0) {
      failed[static_cast<std::size_t>(failure.one)] = true;
    } else if (cables.erase({std::min(failure.one, failure.other),
                             std::max(failure.one, failure.other)}) == 0) {
      fail(fmt::format("failed cable '{}': {} has no cable there, or it is named twice",
                       failure.text, whole.name()));
    }
  }
  std::vector<Rank> number(static_cast<std::size_t>(nodes), -1);
  Rank left = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (!failed[v]) number[v] = left++;
  }
  if (left == 0) fail("all its nodes have failed");
  std::vector<std::pair<Rank, Rank>> edges;
  for (const auto& [a, b] : cables) {
    const Rank from = number[static_cast<std::size_t>(a)], to = number[static_cast<std::size_t>(b)];
    if (from >= 0 && to >= 0) edges.emplace_back(from, to);
  }
  // All remaining nodes must be reachable from the first.
  std::vector<std::vector<Rank>> beside(static_cast<std::size_t>(left));
  for (const auto& [a, b] : edges) {
    beside[static_cast<std::size_t>(a)].push_back(b);
    beside[static_cast<std::size_t>(b)].push_back(a);
  }
  std::vector<bool> seen(beside.size(), false);
  std::vector<Rank> reached{0};
  seen[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Rank next : beside[static_cast<std::size_t>(reached[i])]) {
      if (seen[static_cast<std::size_t>(next)]) continue;
      seen[static_cast<std::size_t>(next)] = true;
      reached.push_back(next);
    }
  }
  if (std::cmp_less(reached.size(), left)) {
    const auto cut_off = std::ranges::find(seen, false) - seen.begin();
    fail(fmt::format("what is left is not connected: no path leads from node {} of {} to node {}",
                     std::ranges::find(number, 0) - number.begin(), whole.name(),
                     std::ranges::find(number, static_cast<Rank>(cut_off)) - number.begin()));
  }
  return Topology({left == 1 ? Graph::line(1) : Graph::arbitrary(left, edges, name)}, name);
}

}  // namespace

Topology Topology::parse(std::string_view text) {
  // "torus:8×8", as titles write it, is torus:8x8. A graph's file may have that sign in its name.
  constexpr std::string_view times = "\xC3\x97";
  const auto sign = text.find("graph:") == text.npos ? text.find(times) : text.npos;
  if (sign != text.npos) {
    return parse(fmt::format("{}x{}", text.substr(0, sign), text.substr(sign + times.size())));
  }
  std::string_view whole = text;
  std::vector<Failure> failures;
  while (auto failure = take_failure(whole)) failures.push_back(*std::move(failure));
  if (failures.empty()) return Parser(text).parse();
  const Topology topology = Parser(whole).parse();
  std::string name = topology.name();
  for (auto failure = failures.rbegin(); failure != failures.rend(); ++failure) {
    name += "~" + failure->text;
  }
  return without(topology, failures, std::move(name));
}

}  // namespace wormcube
