// Reads text 2; every error names its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/name_reader.hpp"
#include "wormcube/runtime/schedule/named.hpp"
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

class NamedReader : private NameReader {
 public:
  using NameReader::NameReader;

  NamedSchedule read(const AskOperation& ask) {
    next_line();
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
    result.schedule.ranks.resize(nodes);
    result.names.resize(nodes);
    taken_.assign(nodes, 0);
    for (std::size_t step = 0; step < header.steps; ++step) read_step(result, step);
    read_end(result, header.steps);
    return result;
  }

 private:
  // The header. It is read twice, because its lines come in any order.

  struct Header {
    Topology topology;
    std::size_t steps;
  };

  /// The two lines that must be there; then back to the first line.
  Header find_header() {
    const std::string_view rest = rest_;
    const std::size_t number = number_;
    std::optional<Topology> topology;
    std::optional<std::size_t> steps;
    for (next_line(); !at_step(); next_line()) {
      if (accept("topology")) {
        if (topology) fail("topology twice");
        skip_blanks();
        try {
          topology = Topology::parse(line_);
        } catch (const UsageError& error) {
          fail(shown(error.what(), 400));
        }
      } else if (accept("steps")) {
        if (steps) fail("steps twice");
        steps = number_of<std::uint32_t>("a number of steps");
        expect_end();
        steps_ = *steps;
      }
    }
    if (!topology) fail("a line 'topology NETWORK' is missing in the header");
    if (!steps) fail("a line 'steps N' is missing in the header");
    rest_ = rest, number_ = number;
    return {std::move(*topology), *steps};
  }

  bool at_step() { return line_.empty() || peek() == "step" || peek() == "end"; }

  template <std::integral T>
  T number_of(std::string_view what) {
    skip_blanks();
    if (at('-')) fail(fmt::format("{} expected before '{}'", what, shown(line_)));
    return number<T>(what);
  }

  struct SizeLine {
    std::string_view line;
    std::size_t number;
  };

  void read_header(NamedSchedule& result, const AskOperation& ask) {
    ValueForm& form = result.form;
    std::set<std::string_view> seen;
    std::vector<SizeLine> sizes;
    std::size_t operation_line = 0, block_line = 0;
    static constexpr std::string_view once[] = {"operation", "block", "element", "parts",
                                                "commutative"};
    for (next_line(); !at_step(); next_line()) {
      for (const std::string_view word : once) {
        if (peek() == word && !seen.insert(word).second) fail(fmt::format("{} twice", word));
      }
      if (accept("topology") || accept("steps")) continue;
      if (accept("size")) {
        skip_blanks();
        sizes.push_back({line_, number_});
        charge(sizeof(SizeLine));
      } else if (accept("operation")) {
        result.operation = read_operation();
        operation_line = number_;
      } else if (accept("block")) {
        form.block = number_of<Bytes>("a number of bytes");
        block_line = number_;
        expect_end();
      } else if (accept("element")) {
        form.element = number_of<Bytes>("a number of bytes");
        if (form.element == 0) fail("element 0: an element has 1 byte or more");
        expect_end();
      } else if (accept("parts")) {
        form.parts = number_of<Rank>("a number of parts");
        if (form.parts == 0) fail("parts 0: a block has 1 part or more");
        expect_end();
      } else if (accept("commutative")) {
        result.commutative = true;
        expect_end();
      } else if (accept("about")) {
        skip_blanks();
        charge(static_cast<double>(line_.size()));
        result.about.emplace_back(line_);
      } else if (accept("phase")) {
        read_phase(result.schedule.phases);
      } else {
        fail(
            fmt::format("topology, steps, block, element, parts, size, commutative, operation, "
                        "phase, about or step expected before '{}'",
                        shown(line_)));
      }
    }
    OperationFacts facts;
    if (result.operation) {
      try {
        facts = ask(*result.operation, result.schedule.topology.nodes());
      } catch (const UsageError& error) {
        fail_at(operation_line, error.what());
      }
      form.several_blocks = facts.several_blocks;
    }
    if (form.block && *form.block % form.element != 0)
      fail_at(block_line, not_whole("block", *form.block, form.element));
    read_sizes(result, sizes, facts.reduces);
  }

  static std::string not_whole(std::string_view what, Bytes bytes, Bytes element) {
    return fmt::format("{} {} is not whole elements of {} bytes", what, bytes, element);
  }

  void read_sizes(NamedSchedule& result, const std::vector<SizeLine>& lines, bool reduces) {
    const std::string_view line = std::exchange(line_, {});
    const std::size_t number = number_;
    ValueForm& form = result.form;
    std::map<Rank, Bytes> of_block;
    std::vector<Value> values;
    for (const SizeLine& size : lines) {
      line_ = size.line, number_ = size.number;
      values.clear();
      ValueForm whole = form;
      whole.parts = 1;
      if (at('{')) fail("size: of the block of one node, not of a word");
      constexpr double bytes_of_entry = 64;
      name(result.words, whole, values, [&](double count) { charge(count * bytes_of_entry); });
      const auto bytes = number_of<Bytes>("a number of bytes");
      expect_end();
      if (bytes % form.element != 0) fail(not_whole("size", bytes, form.element));
      for (const Value& value : values) {
        if (!form.sizes.insert({{static_cast<Rank>(value.word), value.block}, bytes}).second)
          fail(fmt::format("size of {} twice", name_text(result.words, whole, value)));
        const auto [entry, is_new] = of_block.try_emplace(value.block, bytes);
        if (reduces && !is_new && entry->second != bytes)
          fail(
              fmt::format("size: block {} has {} bytes on one node and {} on another; a reduction "
                          "combines blocks of one size",
                          value.block, entry->second, bytes));
      }
    }
    line_ = line, number_ = number;
  }

  NamedOperation read_operation() {
    NamedOperation operation{.name = std::string(shown(word()))};
    while (skip_blanks(), !line_.empty()) {
      if (accept("root")) {
        operation.root = number<Rank>("a node");
      } else if (accept("by")) {
        skip_blanks();
        if (at('+')) line_.remove_prefix(1);
        operation.by = number<std::int64_t>("a signed number");
      } else if (accept("sources")) {
        do {
          charge(sizeof(Rank));
          operation.sources.push_back(number<Rank>("a node"));
        } while (accept(','));
      } else if (accept("permutation")) {
        operation.permutation = std::string(shown(word()));
      } else {
        fail(fmt::format("root, by, sources or permutation expected before '{}'", shown(line_)));
      }
    }
    return operation;
  }
  std::string_view word() {
    const std::string_view word = peek();
    if (word.empty()) fail(fmt::format("a name expected before '{}'", shown(line_)));
    line_.remove_prefix(word.size());
    return word;
  }

  void read_phase(std::vector<Phase>& phases) {
    const auto first = number_of<std::size_t>("a step");
    if (!line_.starts_with("..")) fail("'..' expected, as in phase 0..3 NAME");
    line_.remove_prefix(2);
    const auto last = number_of<std::size_t>("a step");
    if (last < first) fail(fmt::format("phase {}..{}: the first is the larger", first, last));
    if (last >= steps_) fail(fmt::format("phase {}..{}: there are {} steps", first, last, steps_));
    if (!phases.empty() && first < phases.back().first)
      fail("phases come in the order of their first steps");
    skip_blanks();
    charge(sizeof(Phase) + static_cast<double>(line_.size()));
    phases.push_back({std::string(line_), first, last});
  }

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
        fail(fmt::format("nodes {}..{}: the first is the larger", nodes.first, nodes.last));
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

  void read_step(NamedSchedule& result, std::size_t step) {
    if (peek() != "step") fail(fmt::format("'{}': 'step {}' expected", shown(line_), step));
    const std::string_view whole = line_;
    expect("step");
    if (number_of<std::size_t>("a number of a step") != step)
      fail(fmt::format("'{}': 'step {}' expected", shown(whole), step));
    expect_end();
    for (RankLog& log : result.schedule.ranks) {
      if (log.step_ends.size() != step) continue;
      for (const GapFigure& figure : gap_figures) (log.*figure.of).push_back(0);
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
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
        read_line(result, node, step);
      }
    }
  }

  void read_line(NamedSchedule& result, Rank node, std::size_t step) {
    see_as(node);
    RankLog& log = result.schedule.ranks[static_cast<std::size_t>(node)];
    if (accept("end")) {
      skip_blanks();
      if (!line_.empty()) fail("'end' stands alone on its line");
      log.step_ends.pop_back();
      for (const GapFigure& figure : gap_figures) (log.*figure.of).pop_back();
      return;
    }
    do {
      if (!read_gap(result, node, step)) read_op(result, node, step);
    } while (accept(','));
    expect_end();
  }

  /// `rearrange` and `combine`; false for another clause.
  bool read_gap(NamedSchedule& result, Rank node, std::size_t step) {
    const auto r = static_cast<std::size_t>(node);
    for (const GapFigure& figure : gap_figures) {
      if (!accept(figure.word)) continue;
      const auto bytes = number_of<Bytes>("a number of bytes");
      Bytes& entry = (result.schedule.ranks[r].*figure.of).back();
      if (entry > 0) fail(fmt::format("{} twice for one node", figure.word));
      entry = bytes;
      skip_blanks();
      if (figure.of == &RankLog::combined && accept('[')) read_pairs(result, node, step, bytes);
      return true;
    }
    return false;
  }

  void read_pairs(NamedSchedule& result, Rank node, std::size_t step, Bytes bytes) {
    see_as(node);
    RankNames& names = result.names[static_cast<std::size_t>(node)];
    charge(sizeof(RankNames::Gap));
    while (!accept(']')) {
      left_.clear(), right_.clear();
      const auto count = [this](double values) { charge(values * sizeof(Value)); };
      name(result.words, result.form, left_, count);
      if (!at('+')) fail(fmt::format("'+' expected before '{}', as in [0+1]", shown(line_)));
      line_.remove_prefix(1);
      name(result.words, result.form, right_, count);
      if (left_.size() != right_.size())
        fail(fmt::format("combine LEFT+RIGHT: {} values on the left, {} on the right", left_.size(),
                         right_.size()));
      for (std::size_t i = 0; i < left_.size(); ++i) names.pairs.push_back({left_[i], right_[i]});
    }
    names.gaps.push_back({step, names.pairs.size(), bytes});
  }

  void read_op(NamedSchedule& result, Rank node, std::size_t step) {
    const auto r = static_cast<std::size_t>(node);
    RankLog& log = result.schedule.ranks[r];
    RankNames& names = result.names[r];
    const bool is_send = accept("send");
    if (!is_send && !accept("receive")) {
      fail(fmt::format("send, receive, rearrange, combine or end expected before '{}'",
                       shown(line_)));
    }
    const auto bytes = number_of<Bytes>("a number of bytes");
    expect(is_send ? "to" : "from");
    OpRecord op{.kind = is_send ? Op::Kind::send : Op::Kind::receive,
                .peer = peer(),
                .tag = 0,
                .first_move = static_cast<std::uint32_t>(log.moves.size()),
                .moves = 0,
                .bytes = bytes};
    if (accept("by")) {
      if (!is_send) fail("a receive has no moves");
      read_moves(result.schedule.topology, log, node, op);
    }
    if (accept("tag")) op.tag = number<Tag>("a tag");
    charge(sizeof(OpRecord) + sizeof(std::uint32_t) + 1);
    skip_blanks();
    const bool named = accept('[');
    if (named) {
      while (!accept(']')) {
        name(result.words, result.form, names.values,
             [this](double values) { charge(values * sizeof(Value)); });
        if (names.values.size() > std::numeric_limits<std::uint32_t>::max())
          fail("more than 4294967295 values for one node");
        skip_blanks();
        if (line_.empty()) fail("']' expected at the end of the names");
      }
    }
    log.ops.push_back(op);
    log.step_ends[step] = static_cast<std::uint32_t>(log.ops.size());
    names.ends.push_back(static_cast<std::uint32_t>(names.values.size()));
    names.named.push_back(named);
  }

  void read_moves(const Topology& topology, RankLog& log, Rank from, OpRecord& op) {
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
      charge(sizeof(Move));
      log.moves.push_back(move);
      ++op.moves;
      skip_blanks();
    } while (at_digit());
    if (here != op.peer) fail(fmt::format("the moves lead to node {}, not {}", here, op.peer));
  }

  // The last section.

  void read_end(NamedSchedule& result, std::size_t steps) {
    if (peek() != "end") fail(fmt::format("'{}': 'end' expected", shown(line_)));
    expect("end");
    expect_end();
    for (RankLog& log : result.schedule.ranks) {
      for (const GapFigure& figure : gap_figures) (log.*figure.of).push_back(0);
    }
    for (next_line(); !line_.empty(); next_line()) {
      const Nodes these = nodes();
      const std::string_view content = line_;
      for (Rank node = these.first; node <= these.last; ++node) {
        line_ = content;
        take(node, steps);
        see_as(node);
        RankLog& log = result.schedule.ranks[static_cast<std::size_t>(node)];
        do {
          if (read_gap(result, node, steps)) continue;
          const bool blocks = accept("peak_blocks");
          if (!blocks && !accept("peak")) {
            fail(fmt::format("rearrange, combine, peak or peak_blocks expected before '{}'",
                             shown(line_)));
          }
          (blocks ? log.peak_block_bytes : log.peak_bytes) = number_of<Bytes>("a number of bytes");
        } while (accept(','));
        expect_end();
      }
    }
  }

  std::size_t steps_ = 0;
  std::vector<std::size_t> taken_;  // for each node: 1 + the last section with its line
  std::vector<Value> left_, right_;
};

}  // namespace

NamedSchedule without_names(Schedule schedule) {
  const Rank nodes = schedule.topology.nodes();
  NamedSchedule named{std::move(schedule), Words(nodes)};
  for (const RankLog& log : named.schedule.ranks) {
    named.names.push_back({.ends = std::vector<std::uint32_t>(log.ops.size(), 0),
                           .named = std::vector<bool>(log.ops.size(), false)});
  }
  return named;
}

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
