// Writes the text form of a schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube {
namespace {

using Text = fmt::memory_buffer;

template <class... Arguments>
void print(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// Puts ", " before every part but the first.
class Parts {
 public:
  explicit Parts(Text& text) : text_(text) {}
  Text& next() {
    if (!std::exchange(first_, false)) print(text_, ", ");
    return text_;
  }

 private:
  Text& text_;
  bool first_ = true;
};

void write_gap(Parts& parts, const RankLog& log, std::size_t step) {
  for (const GapFigure& figure : gap_figures) {
    const std::vector<Bytes>& bytes = log.*figure.of;
    if (step < bytes.size() && bytes[step] > 0)
      print(parts.next(), "{} {}", figure.word, bytes[step]);
  }
}

void write_ops(Parts& parts, const Schedule& schedule, Rank rank, std::size_t step) {
  for (const OpRecord& op : schedule.ops(rank, step)) {
    const bool is_send = op.kind == Op::Kind::send;
    Text& text = parts.next();
    print(text, "{} {} {} {}", is_send ? "send" : "receive", op.bytes, is_send ? "to" : "from",
          op.peer);
    if (op.moves > 0) print(text, " by");
    for (const Move move : schedule.moves(rank, op)) {
      print(text, " {}{:+}", move.dimension, move.hops);
    }
    if (op.tag != 0) print(text, " tag {}", op.tag);
  }
}

/// One node's line of a step, without its name; empty if it takes the step idle.
void write_step(Text& text, const Schedule& schedule, Rank rank, std::size_t step) {
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  Parts parts(text);
  if (step < log.step_ends.size()) {
    write_gap(parts, log, step);
    write_ops(parts, schedule, rank, step);
  } else if (step == log.step_ends.size()) {
    print(parts.next(), "end");
  }
}

/// A node's entries in the last section.
void write_end(Text& text, const RankLog& log) {
  Parts parts(text);
  write_gap(parts, log, log.step_ends.size());
  if (log.peak_bytes > 0) print(parts.next(), "peak {}", log.peak_bytes);
  if (log.peak_block_bytes > 0) print(parts.next(), "peak_blocks {}", log.peak_block_bytes);
}

/// Writes line(text, rank) for all ranks; equal lines that follow each other become one.
template <class Line>
void write_nodes(Text& out, Rank nodes, Line line) {
  Rank first = 0;  // of those that share `common`
  Text common, own;
  const auto flush = [&](Rank end) {
    if (common.size() == 0) return;
    if (end - first == 1) {
      print(out, "node {}: ", first);
    } else {
      print(out, "nodes {}..{}: ", first, end - 1);
    }
    out.append(common);
    out.push_back('\n');
  };
  for (Rank rank = 0; rank < nodes; ++rank) {
    own.clear();
    const bool joins = line(own, rank);
    const std::string_view a(common.data(), common.size()), b(own.data(), own.size());
    if (rank > 0 && joins && a == b) continue;
    flush(rank);
    first = rank;
    std::swap(common, own);
  }
  flush(nodes);
}

}  // namespace

std::string schedule_text(const Schedule& schedule) {
  const std::size_t steps = schedule.steps();
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  Text text;
  print(text, "{}\ntopology {}\nsteps {}\n", schedule_first_line, schedule.topology.name(), steps);
  for (std::size_t step = 0; step < steps; ++step) {
    print(text, "\nstep {}\n", step);
    write_nodes(text, nodes, [&](Text& line, Rank rank) {
      write_step(line, schedule, rank, step);
      return schedule.ops(rank, step).empty();
    });
  }
  print(text, "\nend\n");
  write_nodes(text, nodes, [&](Text& line, Rank rank) {
    write_end(line, schedule.ranks[static_cast<std::size_t>(rank)]);
    return true;
  });
  return fmt::to_string(text);
}

}  // namespace wormcube
