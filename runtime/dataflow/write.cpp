// Writes text 2.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/units.hpp"
#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/text_writer.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wormcube {
namespace {

/// A gap's `rearrange` and `combine`, with the pairs that it combines.
void write_named_gap(TextParts& parts, const NamedSchedule& named, Rank rank, std::size_t step,
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
    TextBuffer& text = parts.next();
    print_to(text, "{} {}", figure.word, bytes);
    if (!combines) continue;
    const std::size_t begin = gap == gaps.begin() ? 0 : std::prev(gap)->end;
    print_to(text, " [");
    for (std::size_t i = begin; i < gap->end; ++i) {
      const RankNames::Pair& pair = named.names[r].pairs[i];
      print_to(text, "{}{}+{}", i == begin ? "" : " ",
               name_text(named.words, named.form, pair.left),
               name_text(named.words, named.form, pair.right));
    }
    print_to(text, "]");
  }
}

void write_named_ops(TextParts& parts, const NamedSchedule& named, Rank rank, std::size_t step) {
  const Schedule& schedule = named.schedule;
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  const RankNames& names = named.names[static_cast<std::size_t>(rank)];
  for (const OpRecord& op : schedule.ops(rank, step)) {
    TextBuffer& text = parts.next();
    write_op(text, schedule, rank, op);
    const auto number = static_cast<std::size_t>(&op - log.ops.data());
    if (op.kind == Op::Kind::send && names.named[number])
      print_to(text, " [{}]", names_text(named.words, named.form, names.of(number)));
  }
}

/// `size` lines: one for each run of blocks that are neighbours and have one size.
void write_sizes(TextBuffer& text, const NamedSchedule& named) {
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
      print_to(text, "size {} {}\n", rest.substr(0, end), bytes);
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

void write_header(TextBuffer& text, const NamedSchedule& named) {
  print_to(text, "{}\ntopology {}\n", named_schedule_first_line, named.schedule.topology.name());
  if (named.operation) {
    const NamedOperation& operation = *named.operation;
    print_to(text, "operation {}", operation.name);
    if (operation.root) print_to(text, " root {}", *operation.root);
    if (operation.by) print_to(text, " by {}", *operation.by);
    for (std::size_t i = 0; i < operation.sources.size(); ++i)
      print_to(text, "{}{}", i == 0 ? " sources " : ",", operation.sources[i]);
    if (!operation.permutation.empty()) print_to(text, " permutation {}", operation.permutation);
    print_to(text, "\n");
  }
  const ValueForm& form = named.form;
  if (form.block) print_to(text, "block {}\n", *form.block);
  if (form.element != 1) print_to(text, "element {}\n", form.element);
  if (form.parts != 1) print_to(text, "parts {}\n", form.parts);
  write_sizes(text, named);
  if (named.commutative) print_to(text, "commutative\n");
  for (const std::string& about : named.about) print_to(text, "about {}\n", about);
  print_to(text, "steps {}\n", named.schedule.steps());
  for (const Phase& phase : named.schedule.phases)
    print_to(text, "phase {}..{} {}\n", phase.first, phase.last, phase.name);
}

/// A text whose bytes are counted beyond the limit, and kept up to it.
class LimitedText {
 public:
  explicit LimitedText(Bytes most) : most_(most) {}
  TextBuffer& next() {
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
  TextBuffer text_;
};

}  // namespace

std::string named_schedule_text(const NamedSchedule& named, Bytes most) {
  const Schedule& schedule = named.schedule;
  const std::size_t steps = schedule.steps();
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  LimitedText all(most);
  write_header(all.next(), named);
  TextBuffer line;
  const auto add = [&](Rank rank) {
    if (line.size() == 0) return;
    TextBuffer& text = all.next();
    print_to(text, "node {}: ", rank);
    text.append(line);
    text.push_back('\n');
  };
  for (std::size_t step = 0; step < steps; ++step) {
    print_to(all.next(), "\nstep {}\n", step);
    for (Rank rank = 0; rank < nodes; ++rank) {
      const std::size_t taken = schedule.ranks[static_cast<std::size_t>(rank)].step_ends.size();
      line.clear();
      TextParts parts(line);
      if (step < taken) {
        write_named_gap(parts, named, rank, step, step);
        write_named_ops(parts, named, rank, step);
      } else if (step == taken) {
        print_to(parts.next(), "end");
      }
      add(rank);
    }
  }
  print_to(all.next(), "\nend\n");
  for (Rank rank = 0; rank < nodes; ++rank) {
    const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
    line.clear();
    TextParts parts(line);
    write_named_gap(parts, named, rank, steps, log.step_ends.size());
    if (log.peak_bytes > 0) print_to(parts.next(), "peak {}", log.peak_bytes);
    if (log.peak_block_bytes > 0) print_to(parts.next(), "peak_blocks {}", log.peak_block_bytes);
    add(rank);
  }
  return all.take();
}

}  // namespace wormcube
