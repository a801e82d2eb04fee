// Writes the text forms of a schedule, with and without the names of values.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/units.hpp"
#include "wormcube/runtime/schedule/named.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
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
    if (const Bytes bytes = (log.*figure.of)[step]; bytes > 0)
      print(parts.next(), "{} {}", figure.word, bytes);
  }
}

void write_op(Text& text, const Schedule& schedule, Rank rank, const OpRecord& op) {
  const bool is_send = op.kind == Op::Kind::send;
  print(text, "{} {} {} {}", is_send ? "send" : "receive", op.bytes, is_send ? "to" : "from",
        op.peer);
  if (op.moves > 0) print(text, " by");
  for (const Move move : schedule.moves(rank, op)) {
    print(text, " {}{:+}", move.dimension, move.hops);
  }
  if (op.tag != 0) print(text, " tag {}", op.tag);
}

void write_ops(Parts& parts, const Schedule& schedule, Rank rank, std::size_t step) {
  for (const OpRecord& op : schedule.ops(rank, step)) write_op(parts.next(), schedule, rank, op);
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

// With names.

/// A gap's `rearrange` and `combine`, with the pairs that it combines.
void write_named_gap(Parts& parts, const NamedSchedule& named, Rank rank, std::size_t step,
                     std::size_t entry) {
  const auto r = static_cast<std::size_t>(rank);
  const RankLog& log = named.schedule.ranks[r];
  const std::vector<RankNames::Gap>& gaps = named.names[r].gaps;
  const auto gap = std::ranges::lower_bound(gaps, step, {}, &RankNames::Gap::step);
  const bool has_pairs = gap != gaps.end() && gap->step == step;
  for (const GapFigure& figure : gap_figures) {
    const Bytes bytes = (log.*figure.of)[entry];
    const bool combines = figure.of == &RankLog::combined && has_pairs;
    if (entry > log.step_ends.size() || (bytes == 0 && !combines)) continue;
    Text& text = parts.next();
    print(text, "{} {}", figure.word, bytes);
    if (!combines) continue;
    const std::size_t begin = gap == gaps.begin() ? 0 : std::prev(gap)->end;
    print(text, " [");
    for (std::size_t i = begin; i < gap->end; ++i) {
      const RankNames::Pair& pair = named.names[r].pairs[i];
      print(text, "{}{}+{}", i == begin ? "" : " ", name_text(named.words, named.form, pair.left),
            name_text(named.words, named.form, pair.right));
    }
    print(text, "]");
  }
}

void write_named_ops(Parts& parts, const NamedSchedule& named, Rank rank, std::size_t step) {
  const Schedule& schedule = named.schedule;
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  const RankNames& names = named.names[static_cast<std::size_t>(rank)];
  for (const OpRecord& op : schedule.ops(rank, step)) {
    Text& text = parts.next();
    write_op(text, schedule, rank, op);
    const auto number = static_cast<std::size_t>(&op - log.ops.data());
    if (op.kind == Op::Kind::send && names.named[number])
      print(text, " [{}]", names_text(named.words, named.form, names.of(number)));
  }
}

/// `size` lines: one for each run of blocks that are neighbours and have one size.
void write_sizes(Text& text, const NamedSchedule& named) {
  ValueForm whole = named.form;
  whole.parts = 1;
  std::vector<NamedValue> run;
  Bytes bytes = 0;
  const auto flush = [&] {
    std::string_view rest = {};
    const std::string names = names_text(named.words, whole, run);
    rest = names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      print(text, "size {} {}\n", rest.substr(0, end), bytes);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    run.clear();
  };
  for (const auto& [key, size] : named.form.sizes) {
    if (!run.empty() && size != bytes) flush();
    bytes = size;
    run.push_back({static_cast<WordId>(key.first), key.second, 0});
  }
  flush();
}

void write_header(Text& text, const NamedSchedule& named) {
  print(text, "{}\ntopology {}\n", named_schedule_first_line, named.schedule.topology.name());
  if (named.operation) {
    const NamedOperation& operation = *named.operation;
    print(text, "operation {}", operation.name);
    if (operation.root) print(text, " root {}", *operation.root);
    if (operation.by) print(text, " by {}", *operation.by);
    for (std::size_t i = 0; i < operation.sources.size(); ++i)
      print(text, "{}{}", i == 0 ? " sources " : ",", operation.sources[i]);
    if (!operation.permutation.empty()) print(text, " permutation {}", operation.permutation);
    print(text, "\n");
  }
  const ValueForm& form = named.form;
  if (form.block) print(text, "block {}\n", *form.block);
  if (form.element != 1) print(text, "element {}\n", form.element);
  if (form.parts != 1) print(text, "parts {}\n", form.parts);
  write_sizes(text, named);
  if (named.commutative) print(text, "commutative\n");
  for (const std::string& about : named.about) print(text, "about {}\n", about);
  print(text, "steps {}\n", named.schedule.steps());
  for (const Phase& phase : named.schedule.phases)
    print(text, "phase {}..{} {}\n", phase.first, phase.last, phase.name);
}

/// A text whose bytes are counted beyond the limit, and kept up to it.
class LimitedText {
 public:
  explicit LimitedText(Bytes most) : most_(most) {}
  Text& next() {
    if (counted_ + text_.size() > most_) {
      counted_ += text_.size();
      text_.clear();
    }
    return text_;
  }
  std::string take() {
    if (counted_ + text_.size() > most_) {
      throw UsageError(fmt::format(
          "the text would have {}, more than {}: raise the limit (--text-limit), or write sizes "
          "without names (--without-names)",
          bytes_text(static_cast<double>(counted_ + text_.size())),
          bytes_text(static_cast<double>(most_))));
    }
    return fmt::to_string(text_);
  }

 private:
  Bytes most_, counted_ = 0;
  Text text_;
};

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

std::string named_schedule_text(const NamedSchedule& named, Bytes most) {
  const Schedule& schedule = named.schedule;
  const std::size_t steps = schedule.steps();
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  LimitedText all(most);
  write_header(all.next(), named);
  Text line;
  const auto add = [&](Rank rank) {
    if (line.size() == 0) return;
    Text& text = all.next();
    print(text, "node {}: ", rank);
    text.append(line);
    text.push_back('\n');
  };
  for (std::size_t step = 0; step < steps; ++step) {
    print(all.next(), "\nstep {}\n", step);
    for (Rank rank = 0; rank < nodes; ++rank) {
      const std::size_t taken = schedule.ranks[static_cast<std::size_t>(rank)].step_ends.size();
      line.clear();
      Parts parts(line);
      if (step < taken) {
        write_named_gap(parts, named, rank, step, step);
        write_named_ops(parts, named, rank, step);
      } else if (step == taken) {
        print(parts.next(), "end");
      }
      add(rank);
    }
  }
  print(all.next(), "\nend\n");
  for (Rank rank = 0; rank < nodes; ++rank) {
    const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
    line.clear();
    Parts parts(line);
    write_named_gap(parts, named, rank, steps, log.step_ends.size());
    if (log.peak_bytes > 0) print(parts.next(), "peak {}", log.peak_bytes);
    if (log.peak_block_bytes > 0) print(parts.next(), "peak_blocks {}", log.peak_block_bytes);
    add(rank);
  }
  return all.take();
}

}  // namespace wormcube
