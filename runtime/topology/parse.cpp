// Text to topology: the grammar of shapes and products, and edge lists.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr std::int64_t max_nodes = 1 << 20;
constexpr std::int64_t max_hypercube_dimensions = 20;
constexpr Rank max_graph_vertex = 4095;

struct Form {
  std::string_view shape, example;
  Graph (*graph)(Rank);
  bool many_sizes;
  std::string_view several;  // what the caller may have meant by several sizes
};
// `hypercube` and `graph` are not sizes of one graph each and are parsed by hand.
constexpr std::array<Form, 9> forms{{
    {"ring", "ring:7", Graph::ring, false, "torus:8x8"},
    {"line", "line:5", Graph::line, false, "mesh:6x4"},
    {"torus", "torus:8x8", Graph::ring, true, {}},
    {"mesh", "mesh:6x4", Graph::line, true, {}},
    {"hypercube", "hypercube:6", nullptr, false, {}},
    {"complete", "complete:8", Graph::complete, false, "ghc:4x3"},
    {"tree", "tree:8", Graph::tree, false, "tree:4*tree:2"},
    {"ghc", "ghc:4x3", Graph::complete, true, {}},
    {"graph", "graph:FILE", nullptr, false, {}},
}};

/// A whole number of digits only; nothing if it is something else. Too large a number is the
/// largest one.
std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} ? number : std::numeric_limits<std::int64_t>::max();
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
    std::string list;
    for (const Form& form : forms) list.append(form.example).append(" ");
    return list + "and products of these, as in ring:4*line:3";
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
    throw UsageError(fmt::format("topology '{}': {}", text_, problem));
  }
  /// Where a view into the text starts, counted from 1.
  std::size_t position(std::string_view part) const { return part.data() - text_.data() + 1; }

  /// A number in a range, or an error that points at it.
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
      fail(fmt::format("'{}' at position {} makes it {} nodes; there may be up to {}", part,
                       position(part), nodes_, max_nodes));
    }
    factors_.push_back(std::move(graph));
  }

  void parse_factor(std::string_view factor) {
    if (factor.empty()) {
      fail(fmt::format("a shape is missing at position {}; known are: {}", position(factor),
                       known_shapes()));
    }
    const std::size_t colon = factor.find(':');
    const std::string_view shape = factor.substr(0, colon);
    const auto form = std::ranges::find(forms, shape, &Form::shape);
    if (form == forms.end()) {
      fail(fmt::format("unknown shape '{}' at position {}; known are: {}", shape, position(factor),
                       known_shapes()));
    }
    if (colon == factor.npos) {
      fail(fmt::format("'{}' at position {} lacks ':' and what follows it, as in {}", shape,
                       position(factor), form->example));
    }
    const std::string_view value = factor.substr(colon + 1);
    name_.append(shape).append(":");
    if (shape == "graph") {
      parse_graph(value);
    } else if (shape == "hypercube") {
      parse_hypercube(value);
    } else {
      parse_sizes(*form, value);
    }
  }

  void parse_graph(std::string_view file) {
    if (file.empty()) {
      fail(fmt::format("a file name is missing at position {}, as in graph:FILE", position(file)));
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

  void parse_sizes(const Form& form, std::string_view value) {
    const auto is_size_list = [](char c) { return c == 'x' || (c >= '0' && c <= '9'); };
    if (!form.many_sizes && value.find('x') != value.npos &&
        std::ranges::all_of(value, is_size_list)) {
      fail(fmt::format("'{}' at position {}: '{}' takes one size; for more dimensions write {}",
                       value, position(value), form.shape, form.several));
    }
    bool first = true;
    const auto add_size = [&](std::string_view part) {
      const auto size = number(part, "a size", 1, max_nodes, form.example);
      add(form.graph(static_cast<Rank>(size)), part);
      name_ += (first ? "" : "x") + std::to_string(size);
      first = false;
    };
    if (form.many_sizes) {
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

/// The words of a line, without its comment.
std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view blank = " \t\r\v\f";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(blank);
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

Topology Topology::parse(std::string_view text) { return Parser(text).parse(); }

Graph Graph::read(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("graph:{}: cannot open the file", file));
  std::vector<std::pair<Rank, Rank>> edges;
  std::map<std::pair<Rank, Rank>, int> line_of;
  Rank nodes = 0;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto fail = [&](const std::string& problem) {
      throw UsageError(fmt::format("graph:{} line {}: {}", file, number, problem));
    };
    const auto parts = words(line);
    if (parts.empty()) continue;
    if (parts.size() != 2) {
      fail(fmt::format("{} {}; expected two vertex numbers, as in '0 1'", parts.size(),
                       parts.size() == 1 ? "word" : "words"));
    }
    std::array<Rank, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto vertex = whole_number(parts[i]);
      if (!vertex) {
        fail(fmt::format("'{}' is not a vertex number; expected a whole number of 0 or more",
                         parts[i]));
      }
      if (*vertex > max_graph_vertex) {
        fail(fmt::format("vertex {} is too large; vertices may be 0 to {}", parts[i],
                         max_graph_vertex));
      }
      ends[i] = static_cast<Rank>(*vertex);
    }
    const auto [u, v] = ends;
    if (u == v) fail(fmt::format("edge {} {} is a loop", u, v));
    const auto [known, added] = line_of.emplace(std::minmax(u, v), number);
    if (!added) fail(fmt::format("edge {} {} is already on line {}", u, v, known->second));
    edges.emplace_back(u, v);
    nodes = std::max({nodes, u + 1, v + 1});
  }
  if (in.bad()) throw UsageError(fmt::format("graph:{}: cannot read the file", file));
  if (edges.empty()) {
    throw UsageError(fmt::format(
        "graph:{}: no edge in the file; expected two vertex numbers a line, as in '0 1'", file));
  }
  return arbitrary(nodes, edges, "graph:" + file);
}

}  // namespace wormcube
