// Writes the text form of a schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_writer.hpp"

#include <string_view>
#include <utility>

namespace wormcube {
namespace {

void write_gap(TextParts& parts, const RankLog& log, std::size_t step) {
  for (const GapFigure& figure : gap_figures) {
    if (const Bytes bytes = (log.*figure.of)[step]; bytes > 0)
      print_to(parts.next(), "{} {}", figure.word, bytes);
  }
}

void write_ops(TextParts& parts, const Schedule& schedule, Rank rank, std::size_t step) {
  for (const OpRecord& op : schedule.ops(rank, step)) write_op(parts.next(), schedule, rank, op);
}

/// One node's line of a step, without its name; empty if it takes the step idle.
void write_step(TextBuffer& text, const Schedule& schedule, Rank rank, std::size_t step) {
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  TextParts parts(text);
  if (step < log.step_ends.size()) {
    write_gap(parts, log, step);
    write_ops(parts, schedule, rank, step);
  } else if (step == log.step_ends.size()) {
    print_to(parts.next(), "end");
  }
}

/// A node's entries in the last section.
void write_end(TextBuffer& text, const RankLog& log) {
  TextParts parts(text);
  write_gap(parts, log, log.step_ends.size());
  if (log.peak_bytes > 0) print_to(parts.next(), "peak {}", log.peak_bytes);
  if (log.peak_block_bytes > 0) print_to(parts.next(), "peak_blocks {}", log.peak_block_bytes);
}

/// Writes line(text, rank) for all ranks; equal lines that follow each other become one.
template <class Line>
void write_nodes(TextBuffer& out, Rank nodes, Line line) {
  Rank first = 0;  // of those that share `common`
  TextBuffer common, own;
  const auto flush = [&](Rank end) {
    if (common.size() == 0) return;
    if (end - first == 1) {
      print_to(out, "node {}: ", first);
    } else {
      print_to(out, "nodes {}..{}: ", first, end - 1);
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
  TextBuffer text;
  print_to(text, "{}\ntopology {}\nsteps {}\n", schedule_first_line, schedule.topology.name(),
           steps);
  for (std::size_t step = 0; step < steps; ++step) {
    print_to(text, "\nstep {}\n", step);
    write_nodes(text, nodes, [&](TextBuffer& line, Rank rank) {
      write_step(line, schedule, rank, step);
      return schedule.ops(rank, step).empty();
    });
  }
  print_to(text, "\nend\n");
  write_nodes(text, nodes, [&](TextBuffer& line, Rank rank) {
    write_end(line, schedule.ranks[static_cast<std::size_t>(rank)]);
    return true;
  });
  return fmt::to_string(text);
}

}  // namespace wormcube
