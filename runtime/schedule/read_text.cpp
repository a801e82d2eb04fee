// Reads the text form of a schedule; every error names its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/line_reader.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

class Reader : private LineReader {
 public:
  using LineReader::LineReader;

  Schedule read() {
    next_line();
    require_content();
    if (line_ != schedule_first_line) {
      fail(
          fmt::format("the first line is neither '{}' nor '{}': not a schedule, or another version",
                      named_schedule_first_line, schedule_first_line));
    }
    Schedule schedule{topology(), {}};
    topology_ = &schedule.topology;
    const auto nodes = static_cast<std::size_t>(schedule.topology.nodes());
    const std::size_t steps = step_count();
    // Every node has an entry per step, whether it has a line there or not.
    charge(static_cast<double>(nodes) *
           (sizeof(RankLog) + static_cast<double>(steps + 1) *
                                  (sizeof(std::uint32_t) + gap_figures.size() * sizeof(Bytes))));
    schedule.ranks.resize(nodes);
    taken_.assign(nodes, 0);
    next_line();
    for (std::size_t step = 0; step < steps; ++step) read_step(schedule.ranks, step);
    read_end(schedule.ranks, steps);
    return schedule;
  }

 private:
  Rank rank() {
    const Rank value = number<Rank>("a node");
    if (value < 0 || value >= topology_->nodes()) {
      fail(fmt::format("node {}; {} has nodes 0 to {}", value, shown(topology_->name()),
                       topology_->nodes() - 1));
    }
    return value;
  }

  // The head.

  Topology topology() {
    next_line();
    expect("topology");
    skip_blanks();
    const std::string_view text = line_;
    try {
      return Topology::parse(text);
    } catch (const UsageError& error) {
      fail(shown(error.what(), 400));
    }
  }

  std::size_t step_count() {
    next_line();
    expect("steps");
    const auto steps = number<std::uint32_t>("a number of steps");
    expect_end();
    return steps;
  }

  // The steps.

  struct Nodes {
    std::size_t first, last;
    bool several() const { return last > first; }
  };
  /// "node 3:", "nodes 4..7:", each node once in a section.
  Nodes nodes(std::size_t section) {
    Nodes nodes{};
    if (accept("node")) {
      nodes.first = nodes.last = static_cast<std::size_t>(rank());
    } else {
      expect("nodes");
      nodes.first = static_cast<std::size_t>(rank());
      if (!accept('.') || !accept('.')) fail("'..' expected, as in nodes 0..3:");
      nodes.last = static_cast<std::size_t>(rank());
      if (nodes.last < nodes.first)
        fail(fmt::format("nodes {}..{}: the first number is the larger", nodes.first, nodes.last));
    }
    if (!accept(':')) fail("':' expected after the node's number");
    for (std::size_t node = nodes.first; node <= nodes.last; ++node) {
      if (taken_[node] == section + 1) fail(fmt::format("node {} twice in one step", node));
      taken_[node] = section + 1;
    }
    return nodes;
  }

  bool at_section() { return line_.empty() || peek() == "step" || peek() == "end"; }

  void read_step(std::vector<RankLog>& logs, std::size_t step) {
    expect("step");
    if (number<std::size_t>("a number of a step") != step)
      fail(fmt::format("step {} expected", step));
    expect_end();
    // A node that has not ended takes the step; `end` reverts that.
    for (RankLog& log : logs) {
      if (log.step_ends.size() != step) continue;
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
    next_line();
    for (; !at_section(); next_line()) {
      const Nodes these = nodes(step);
      for (std::size_t node = these.first; node <= these.last; ++node) {
        if (!takes(logs[node], step)) fail(fmt::format("node {} has ended", node));
      }
      do {
        read_part(logs, these, step);
      } while (accept(','));
      expect_end();
    }
  }

  void read_part(std::vector<RankLog>& logs, Nodes nodes, std::size_t step) {
    if (accept("end")) {
      for (std::size_t node = nodes.first; node <= nodes.last; ++node) {
        RankLog& log = logs[node];
        if (!takes(log, step) || has_content(log, step)) fail("'end' stands alone on its line");
        log.step_ends.pop_back();
      }
    } else if (!takes(logs[nodes.first], step)) {
      fail("'end' stands alone on its line");
    } else if (const GapFigure* figure = accept_gap_figure()) {
      const Bytes bytes = byte_count();
      for (std::size_t node = nodes.first; node <= nodes.last; ++node)
        (logs[node].*figure->of).set(step, bytes);
    } else {
      read_op(logs[nodes.first], nodes, step);
    }
  }

  /// While a step is read: whether this node takes it, or has ended.
  static bool takes(const RankLog& log, std::size_t step) {
    return log.step_ends.size() == step + 1;
  }
  static bool has_content(const RankLog& log, std::size_t step) {
    const std::size_t begin = step == 0 ? 0 : log.step_ends[step - 1];
    return log.ops.size() > begin || std::ranges::any_of(gap_figures, [&](const GapFigure& figure) {
             return (log.*figure.of)[step] > 0;
           });
  }

  const GapFigure* accept_gap_figure() {
    for (const GapFigure& figure : gap_figures) {
      if (accept(figure.word)) return &figure;
    }
    return nullptr;
  }

  void read_op(RankLog& log, Nodes nodes, std::size_t step) {
    const bool is_send = accept("send");
    if (!is_send && !accept("receive")) {
      fail(fmt::format("send, receive, rearrange, combine or end expected before '{}'",
                       shown(line_)));
    }
    if (nodes.several()) fail("a message belongs to one node, so nodes A..B cannot have one");
    const Bytes bytes = byte_count();
    expect(is_send ? "to" : "from");
    OpRecord op{.kind = is_send ? Op::Kind::send : Op::Kind::receive,
                .moves = 0,
                .peer = rank(),
                .tag = 0,
                .first_move = static_cast<std::uint32_t>(log.moves.size()),
                .bytes = bytes};
    if (accept("by")) {
      if (!is_send) fail("a receive has no moves");
      read_moves(log, static_cast<Rank>(nodes.first), op);
    }
    if (accept("tag")) op.tag = number<Tag>("a tag");
    charge(sizeof(OpRecord));
    log.ops.push_back(op);
    log.step_ends[step] = static_cast<std::uint32_t>(log.ops.size());
  }

  void read_moves(RankLog& log, Rank from, OpRecord& op) {
    Rank at = from;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    do {
      Move move;
      move.dimension = number<int>("a dimension");
      const bool plus = accept('+');  // from_chars takes '-' alone
      if (!plus && !line_.starts_with('-')) fail("signed hops expected, as in 0+1 or 1-2");
      if (plus && line_.starts_with('-')) fail("two signs");
      move.hops = number<int>("a number of hops");
      try {
        at = topology_->neighbour(at, move.dimension, move.hops);
      } catch (const UsageError& error) {
        fail(shown(error.what(), 400));
      }
      if (op.moves == OpRecord::most_moves) {
        fail(fmt::format("more than {} moves for one message", OpRecord::most_moves));
      }
      charge(sizeof(Move));
      log.moves.push_back(move);
      ++op.moves;
      skip_blanks();
    } while (!line_.empty() && is_digit(line_.front()));
    if (at != op.peer) fail(fmt::format("the moves lead to node {}, not {}", at, op.peer));
  }

  // The last section.

  void read_end(std::vector<RankLog>& logs, std::size_t steps) {
    expect("end");
    expect_end();
    next_line();
    for (; !line_.empty(); next_line()) {
      const Nodes these = nodes(steps);
      do {
        const GapFigure* const figure = accept_gap_figure();
        const bool blocks = figure == nullptr && accept("peak_blocks");
        if (figure == nullptr && !blocks && !accept("peak")) {
          fail(fmt::format("rearrange, combine, peak or peak_blocks expected before '{}'",
                           shown(line_)));
        }
        const Bytes bytes = byte_count();
        for (std::size_t node = these.first; node <= these.last; ++node) {
          RankLog& log = logs[node];
          if (figure != nullptr) {
            (log.*figure->of).set(log.step_ends.size(), bytes);
          } else {
            (blocks ? log.peak_block_bytes : log.peak_bytes) = bytes;
          }
        }
      } while (accept(','));
      expect_end();
    }
  }

  const Topology* topology_ = nullptr;
  std::vector<std::size_t> taken_;  // for each node: 1 + the last section with its line
};

}  // namespace

Schedule parse_schedule(std::string_view text, std::string_view name, double most_bytes) {
  return Reader(text, name, most_bytes).read();
}

}  // namespace wormcube
