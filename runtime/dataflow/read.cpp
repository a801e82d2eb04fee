// Reads text 2; every error names its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/dataflow/builder.hpp"
#include "wormcube/runtime/dataflow/named_header_reader.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

class NamedReader : private NamedHeaderReader {
 public:
  using NamedHeaderReader::NamedHeaderReader;

  NamedSchedule read(const AskOperation& ask) {
    next_line();
    require_content();
    if (line_ != named_schedule_first_line) {
      fail(
          fmt::format("the first line is neither '{}' nor '{}': not a schedule, or another version",
                      schedule_first_line, named_schedule_first_line));
    }
    const Header header = find_header();
    on(header.topology);
    NamedSchedule result{{header.topology, {}}, Words(header.topology.nodes())};
    const auto nodes = static_cast<std::size_t>(header.topology.nodes());
    read_header(result, ask);
    charge(static_cast<double>(nodes) *
           (sizeof(RankLog) + sizeof(RankNames) +
            static_cast<double>(header.steps + 1) *
                (sizeof(std::uint32_t) + gap_figures.size() * sizeof(Bytes))));
    taken_.assign(nodes, 0);
    NamedBuilder builder(std::move(result));
    for (std::size_t step = 0; step < header.steps; ++step) read_step(builder, step);
    read_end(builder, header.steps);
    return builder.finish();
  }

 private:
  // The steps.

  struct Nodes {
    Rank first, last;
  };
  /// "node 3:", "nodes 4..7:".
  Nodes nodes() {
    Nodes nodes{};
    if (accept("node")) {
      nodes.first = nodes.last = rank();
    } else {
      expect("nodes");
      nodes.first = rank();
      if (!accept('.') || !accept('.')) fail("'..' expected, as in nodes 0..3:");
      nodes.last = rank();
      if (nodes.last < nodes.first)
        fail(fmt::format("nodes {}..{}: the first number is the larger", nodes.first, nodes.last));
    }
    if (!accept(':')) fail("':' expected after the node's number");
    return nodes;
  }
  /// A node has one line a section at most.
  void take(Rank node, std::size_t section) {
    std::size_t& last = taken_[static_cast<std::size_t>(node)];
    if (last == section + 1) fail(fmt::format("node {} twice in one step", node));
    last = section + 1;
  }

  void read_step(NamedBuilder& builder, std::size_t step) {
    if (peek() != "step") fail(fmt::format("'{}': 'step {}' expected", shown(line_), step));
    const std::string_view whole = line_;
    expect("step");
    if (number_of<std::size_t>("a number of a step") != step)
      fail(fmt::format("'{}': 'step {}' expected", shown(whole), step));
    expect_end();
    builder.begin_step();
    NamedSchedule& result = builder.made();
    for (next_line(); !at_step(); next_line()) {
      const Nodes these = nodes();
      const std::string_view content = line_;
      for (Rank node = these.first; node <= these.last; ++node) {
        line_ = content;
        take(node, step);
        const auto r = static_cast<std::size_t>(node);
        if (result.schedule.ranks[r].step_ends.size() != step + 1) {
          charge(sizeof(result.after_end[0]));
          result.after_end.emplace_back(step, node);  // a law is broken: the file is still read
          continue;
        }
        read_line(builder, node, step);
      }
    }
  }

  void read_line(NamedBuilder& builder, Rank node, std::size_t step) {
    see_as(node);
    if (accept("end")) {
      skip_blanks();
      if (!line_.empty()) fail("'end' stands alone on its line");
      builder.end(node);
      return;
    }
    do {
      if (!read_gap(builder, node, step)) read_op(builder, node);
    } while (accept(','));
    expect_end();
  }

  /// `rearrange` and `combine`; false for another clause.
  bool read_gap(NamedBuilder& builder, Rank node, std::size_t step) {
    const auto r = static_cast<std::size_t>(node);
    for (const GapFigure& figure : gap_figures) {
      if (!accept(figure.word)) continue;
      const Bytes bytes = byte_count();
      RankLog& log = builder.made().schedule.ranks[r];
      const std::size_t gap = std::min(step, log.step_ends.size());
      if ((log.*figure.of)[gap] > 0) fail(fmt::format("{} twice for one node", figure.word));
      (log.*figure.of).add(gap, bytes);
      skip_blanks();
      if (figure.of == &RankLog::combined && accept('[')) read_pairs(builder, node, step, bytes);
      return true;
    }
    return false;
  }

  void read_pairs(NamedBuilder& builder, Rank node, std::size_t step, Bytes bytes) {
    see_as(node);
    NamedSchedule& result = builder.made();
    std::vector<RankNames::Pair> pairs;
    charge(sizeof(RankNames::Gap));
    while (!accept(']')) {
      left_.clear(), right_.clear();
      const auto count = [this](double values) { charge(values * sizeof(NamedValue)); };
      name(result.words, result.form, left_, count);
      if (!at('+')) fail(fmt::format("'+' expected before '{}', as in [0+1]", shown(line_)));
      line_.remove_prefix(1);
      name(result.words, result.form, right_, count);
      if (left_.size() != right_.size())
        fail(fmt::format("combine LEFT+RIGHT: {} values on the left, {} on the right", left_.size(),
                         right_.size()));
      for (std::size_t i = 0; i < left_.size(); ++i) pairs.push_back({left_[i], right_[i]});
    }
    builder.combine(node, step, pairs, bytes);
  }

  void read_op(NamedBuilder& builder, Rank node) {
    NamedSchedule& result = builder.made();
    const bool is_send = accept("send");
    if (!is_send && !accept("receive")) {
      fail(fmt::format("send, receive, rearrange, combine or end expected before '{}'",
                       shown(line_)));
    }
    const Bytes bytes = byte_count();
    expect(is_send ? "to" : "from");
    OpRecord op{.kind = is_send ? Op::Kind::send : Op::Kind::receive,
                .moves = 0,
                .peer = peer(),
                .tag = 0,
                .first_move = 0,
                .bytes = bytes};
    moves_.clear(), values_.clear();
    if (accept("by")) {
      if (!is_send) fail("a receive has no moves");
      read_moves(result.schedule.topology, node, op.peer);
    }
    if (accept("tag")) op.tag = number<Tag>("a tag");
    charge(sizeof(OpRecord) + sizeof(std::uint32_t) + 1);
    skip_blanks();
    const bool named = accept('[');
    if (named) {
      while (!accept(']')) {
        name(result.words, result.form, values_,
             [this](double values) { charge(values * sizeof(NamedValue)); });
        const std::size_t before = result.names[static_cast<std::size_t>(node)].values.size();
        if (before + values_.size() > std::numeric_limits<std::uint32_t>::max())
          fail("more than 4294967295 values for one node");
        skip_blanks();
        if (line_.empty()) fail("']' expected at the end of the names");
      }
    }
    builder.add(node, op, named ? NamedBuilder::Values(values_) : std::nullopt, moves_);
  }

  void read_moves(const Topology& topology, Rank from, Rank to) {
    Rank here = from;
    do {
      Move move;
      move.dimension = number<int>("a dimension");
      const bool plus = accept('+');  // from_chars takes '-' alone
      if (!plus && !at('-')) fail("signed hops expected, as in 0+1 or 1-2");
      if (plus && at('-')) fail("two signs");
      move.hops = number<int>("a number of hops");
      try {
        here = topology.neighbour(here, move.dimension, move.hops);
      } catch (const UsageError& error) {
        fail(shown(error.what(), 400));
      }
      if (moves_.size() == OpRecord::most_moves) {
        fail(fmt::format("more than {} moves for one message", OpRecord::most_moves));
      }
      charge(sizeof(Move));
      moves_.push_back(move);
      skip_blanks();
    } while (at_digit());
    if (here != to) fail(fmt::format("the moves lead to node {}, not {}", here, to));
  }

  // The last section.

  void read_end(NamedBuilder& builder, std::size_t steps) {
    if (peek() != "end") fail(fmt::format("'{}': 'end' expected", shown(line_)));
    expect("end");
    expect_end();
    for (next_line(); !line_.empty(); next_line()) {
      const Nodes these = nodes();
      const std::string_view content = line_;
      for (Rank node = these.first; node <= these.last; ++node) {
        line_ = content;
        take(node, steps);
        see_as(node);
        RankLog& log = builder.made().schedule.ranks[static_cast<std::size_t>(node)];
        do {
          if (read_gap(builder, node, steps)) continue;
          const bool blocks = accept("peak_blocks");
          if (!blocks && !accept("peak")) {
            fail(fmt::format("rearrange, combine, peak or peak_blocks expected before '{}'",
                             shown(line_)));
          }
          (blocks ? log.peak_block_bytes : log.peak_bytes) = byte_count();
        } while (accept(','));
        expect_end();
      }
    }
  }

  std::vector<std::size_t> taken_;  // for each node: 1 + the last section with its line
  std::vector<NamedValue> left_, right_, values_;
  std::vector<Move> moves_;
};

}  // namespace

bool is_named_schedule(std::string_view text) {
  struct First : LineReader {
    using LineReader::LineReader;
    std::string_view read() {
      next_line();
      return line_;
    }
  };
  return First(text, {}, 0).read() == named_schedule_first_line;
}

NamedSchedule parse_named_schedule(std::string_view text, std::string_view name,
                                   const AskOperation& ask, double most_bytes) {
  return NamedReader(text, name, most_bytes).read(ask);
}

}  // namespace wormcube
