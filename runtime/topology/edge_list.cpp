// Graph files: edge lists, and the errors for files that are not edge lists.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/text.hpp"
#include "wormcube/runtime/topology/graph.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr Rank max_vertex = (1 << 20) - 1;
constexpr std::size_t max_line = 4096;
constexpr std::size_t max_edges = 16'000'000;  // some 1.5 GB while they are sorted

/// The words of a line, without its comment.
std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view blank = " \t\r\v\f,";
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

constexpr std::size_t most_shown = 24;  // bytes of a word, in errors

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_) {
      throw UsageError(fmt::format("graph:{}: cannot open the file: {}", file,
                                   std::generic_category().message(errno)));
    }
  }

  Graph read() {
    for (; in_.getline(buffer_.data(), buffer_.size()); first_line_ = false) {
      ++number_;
      add(line());
    }
    if (in_.bad()) {
      throw UsageError(fmt::format("graph:{}: cannot read the file: {}", file_,
                                   std::generic_category().message(errno)));
    }
    if (!in_.eof()) {
      ++number_;
      fail(fmt::format("the line has {} bytes; lines may have up to {}; is this an edge list?",
                       long_line(), max_line));
    }
    if (edges_.empty()) {
      throw UsageError(fmt::format(
          "graph:{}: no edge in the file; expected two vertex numbers a line, as in '0 1'", file_));
    }
    refuse_duplicates();
    std::vector<std::pair<Rank, Rank>> edges;
    edges.reserve(edges_.size());
    for (const Edge& edge : edges_) edges.emplace_back(edge.low, edge.high);
    edges_ = {};
    return Graph::arbitrary(nodes_, edges, "graph:" + file_);
  }

 private:
  struct Edge {
    Rank low, high;
    int line;
    bool turned;  // written with the higher number first
  };

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(fmt::format("graph:{} line {}: {}", file_, number_, problem));
  }

  /// The length of a line of which the buffer has only the beginning, read up to a limit.
  std::string long_line() {
    constexpr std::streamsize most = std::streamsize{1} << 26;
    in_.clear();
    in_.ignore(most, '\n');
    const std::streamsize rest = in_.gcount();
    const auto length = static_cast<std::streamsize>(max_line) + rest - (in_.eof() ? 0 : 1);
    return rest == most ? fmt::format("more than {}", length) : fmt::format("{}", length);
  }

  /// The line just read, without the byte-order mark that some editors write at the start of a
  /// file.
  std::string_view line() const {
    std::string_view line(buffer_.data(), std::strlen(buffer_.data()));
    if (first_line_) {
      if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
        fail("the text is UTF-16; save it as UTF-8 or plain ASCII");
      }
      if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    }
    const auto read = static_cast<std::size_t>(in_.gcount()) - (in_.eof() ? 0 : 1);
    if (std::strlen(buffer_.data()) != read) fail("a byte of value 0; is this an edge list?");
    return line;
  }

  Rank vertex(std::string_view word) const {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!std::ranges::all_of(word, is_digit)) {
      fail(
          fmt::format("'{}' is not a vertex number; expected a whole number of 0 or more{}",
                      shown(word, most_shown),
                      word.find(';') != word.npos ? " (separate numbers with spaces or ',')" : ""));
    }
    const auto value = number_of<std::int64_t>(word);
    if (!value || *value > max_vertex) {
      fail(fmt::format("vertex {} is too large; vertices may be 0 to {}", shown(word, most_shown),
                       max_vertex));
    }
    return static_cast<Rank>(*value);
  }

  void add(std::string_view line) {
    const auto parts = words(line);
    if (parts.empty()) return;
    if (parts.size() != 2) {
      fail(fmt::format("{} {}; expected two vertex numbers, as in '0 1'{}", parts.size(),
                       parts.size() == 1 ? "word" : "words",
                       parts.size() == 3 ? " (an edge has no weight)" : ""));
    }
    const Rank u = vertex(parts[0]), v = vertex(parts[1]);
    if (u == v) fail(fmt::format("edge {} {} is a loop", u, v));
    if (edges_.size() == max_edges) {
      fail(fmt::format("more than {} edges; a graph may have up to {}", max_edges, max_edges));
    }
    edges_.push_back({std::min(u, v), std::max(u, v), number_, u > v});
    nodes_ = std::max(nodes_, std::max(u, v) + 1);
  }

  /// Sorts the edges. The error names the first line that repeats an edge.
  void refuse_duplicates() {
    const auto key = [](const Edge& e) { return std::tuple(e.low, e.high, e.line); };
    std::ranges::sort(edges_, {}, key);
    const Edge *known = nullptr, *again = nullptr;
    for (std::size_t i = 1; i < edges_.size(); ++i) {
      const Edge &a = edges_[i - 1], &b = edges_[i];
      if (a.low != b.low || a.high != b.high || (again != nullptr && again->line < b.line))
        continue;
      known = &a;
      again = &b;
    }
    if (again == nullptr) return;
    number_ = again->line;
    fail(fmt::format("edge {} {} is already on line {} (an edge stands for both directions)",
                     again->turned ? again->high : again->low,
                     again->turned ? again->low : again->high, known->line));
  }

  std::string file_;
  std::ifstream in_;
  std::array<char, max_line + 1> buffer_{};
  bool first_line_ = true;
  int number_ = 0;
  std::vector<Edge> edges_;
  Rank nodes_ = 0;
};

}  // namespace

Graph Graph::read(const std::string& file) { return Reader(file).read(); }

}  // namespace wormcube
