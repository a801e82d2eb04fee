// Reads the header of text 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/name_reader.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube {

class NamedHeaderReader : protected NameReader {
 public:
  using NameReader::NameReader;

 protected:
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
        form.block = byte_count();
        block_line = number_;
        expect_end();
      } else if (accept("element")) {
        form.element = byte_count();
        if (form.element == 0) fail("element 0: an element has 1 byte or more");
        expect_end();
      } else if (accept("parts")) {
        form.parts = number_of<Rank>("a number of parts");
        if (form.parts == 0) fail("parts 0: a block has 1 part or more");
        if (form.parts > max_nodes)
          fail(fmt::format("parts {}: a block has up to {}", form.parts, max_nodes));
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
    blocks_ = facts.blocks;
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
    std::vector<NamedValue> values;
    for (const SizeLine& size : lines) {
      line_ = size.line, number_ = size.number;
      values.clear();
      ValueForm whole = form;
      whole.parts = 1;
      if (at('{')) fail("size: name the block of one node, not a combination of blocks");
      constexpr double bytes_of_entry = 64;
      name(result.words, whole, values, [&](double count) { charge(count * bytes_of_entry); });
      const Bytes bytes = byte_count();
      expect_end();
      if (bytes % form.element != 0) fail(not_whole("size", bytes, form.element));
      for (const NamedValue& value : values) {
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
        while (accept(',')) {  // images; a single one is followed by a comma
          charge(2 * sizeof(Rank));
          operation.permutation += ',';
          skip_blanks();
          if (!line_.empty()) operation.permutation += std::to_string(number<Rank>("a node"));
        }
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
    if (last < first)
      fail(fmt::format("phase {}..{}: the first number is the larger", first, last));
    if (last >= steps_) fail(fmt::format("phase {}..{}: there are {} steps", first, last, steps_));
    if (!phases.empty() && first < phases.back().first)
      fail("phases come in the order of their first steps");
    skip_blanks();
    charge(sizeof(Phase) + static_cast<double>(line_.size()));
    phases.push_back({std::string(line_), first, last});
  }

  std::size_t steps_ = 0;
};

}  // namespace wormcube
