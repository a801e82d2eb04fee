// Reads the numbers and names of text 2 as a node sees them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/dataflow/values.hpp"
#include "wormcube/runtime/schedule/line_reader.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace wormcube {

class NameReader : protected LineReader {
 public:
  using LineReader::LineReader;

 protected:
  static constexpr Rank nobody = -1;

  enum class Kind : std::uint8_t { absolute, shifted, flipped };
  /// Numbers that go up or down by a step.
  struct Range {
    Kind kind = Kind::absolute;
    std::int64_t first = 0, step = 1, count = 1;
  };

  /// Of the node whose line is read; nobody: relative numbers are refused.
  void see_as(Rank node) { node_ = node; }
  void on(const Topology& topology) { topology_ = &topology; }

  bool at(char c) const { return !line_.empty() && line_.front() == c; }
  bool at_digit() const { return !line_.empty() && line_.front() >= '0' && line_.front() <= '9'; }

  /// The number of a node, without a sign.
  Rank rank() {
    skip_blanks();
    if (!at_digit()) fail(fmt::format("a node expected before '{}'", shown(line_)));
    return in_network(number<std::int64_t>("a node"));
  }
  /// A peer: as the node sees it.
  Rank peer() {
    skip_blanks();
    return node_of(one(), 0);
  }

  /// Adds the values of one name. \param charge_values  called with their number before they are
  /// made
  template <class Charge>
  void name(Words& words, const ValueForm& form, std::vector<NamedValue>& values,
            Charge charge_values) {
    skip_blanks();
    Range origins;
    const bool is_word = accept('{');
    WordId word = 0;
    if (is_word) {
      word_.clear();
      do {
        skip_blanks();
        const Range range = this->range();
        charge(static_cast<double>(range.count) * sizeof(Rank));
        for (std::int64_t i = 0; i < range.count; ++i) word_.push_back(node_of(range, i));
        skip_blanks();
        if (line_.empty()) fail("'}' expected");
      } while (!accept('}'));
      const double before = words.bytes();
      word = words.of(word_);
      charge(words.bytes() - before);
    } else {
      origins = range();
    }
    Range blocks, parts{.count = form.parts};
    if (at('.')) {
      line_.remove_prefix(1);
      blocks = range();
      require_blocks(blocks);
    } else if (form.several_blocks) {
      fail(fmt::format("a name: which block? a node gives several; expected .BLOCK before '{}'",
                       shown(line_)));
    }
    if (at('/')) {
      line_.remove_prefix(1);
      parts = range();
    }
    const double count = static_cast<double>(origins.count) * static_cast<double>(blocks.count) *
                         static_cast<double>(parts.count);
    charge_values(count);
    for (std::int64_t o = 0; o < origins.count; ++o) {
      if (!is_word) word = static_cast<WordId>(node_of(origins, o));
      for (std::int64_t b = 0; b < blocks.count; ++b) {
        const Rank block = counted(blocks, b);
        for (std::int64_t k = 0; k < parts.count; ++k) {
          const Rank part = counted(parts, k);
          if (part >= form.parts) {
            fail(fmt::format("part {} of {} part{}, counted from 0", part, form.parts,
                             form.parts == 1 ? "" : "s"));
          }
          values.push_back({word, block, part});
        }
      }
    }
  }

  Rank blocks_ = max_nodes;  // the most that a node gives

 private:
  /// Before any value is made: a range of a few characters can have 2^31 of them. Fewer that are
  /// out of range are read, and nobody holds them.
  void require_blocks(const Range& range) const {
    if (range.kind != Kind::absolute || range.count <= blocks_) return;
    std::int64_t block = range.first;
    if (block < blocks_) block += (blocks_ - block + range.step - 1) / range.step * range.step;
    fail(fmt::format(
        "block {} is out of range; {}", block,
        blocks_ == 1 ? "there is only block 0" : fmt::format("there are 0 to {}", blocks_ - 1)));
  }

  Rank in_network(std::int64_t node) const {
    if (node < 0 || node >= topology_->nodes()) {
      fail(fmt::format("node {}; {} has nodes 0 to {}", node, shown(topology_->name()),
                       topology_->nodes() - 1));
    }
    return static_cast<Rank>(node);
  }

  std::int64_t digits() {
    if (!at_digit()) fail(fmt::format("a number expected before '{}'", shown(line_)));
    const auto value = number<std::int64_t>("a number");
    if (value > std::numeric_limits<Rank>::max()) fail(fmt::format("{} is too large", value));
    return value;
  }

  /// One number, as a range of one.
  Range one() {
    Range range;
    if (at('+') || at('-')) {
      const bool minus = at('-');
      line_.remove_prefix(1);
      if (!minus && at('(')) return {.first = displaced()};
      range.kind = Kind::shifted;
      range.first = minus ? -digits() : digits();
    } else if (at('^')) {
      line_.remove_prefix(1);
      range.kind = Kind::flipped;
      range.first = digits();
    } else {
      range.first = digits();
    }
    if (range.kind != Kind::absolute && node_ == nobody)
      fail("a relative number; there is no node here");
    return range;
  }

  Range range() {
    was_tuple_ = false;
    Range range = one();
    const bool is_tuple = was_tuple_;
    was_tuple_ = false;
    if (!line_.starts_with("..")) return range;
    line_.remove_prefix(2);
    const Range last = one();
    if (last.kind != range.kind || is_tuple || was_tuple_)
      fail("a range that mixes kinds: both ends are 3, +3 or ^3");
    std::int64_t step = 1;
    if (at(':')) {
      line_.remove_prefix(1);
      step = digits();
      if (step == 0) fail("a range by steps of 0");
    }
    const std::int64_t distance = last.first - range.first;
    if (distance < 0 && range.kind == Kind::absolute)
      fail(fmt::format("{}..{}: the first number is the larger", range.first, last.first));
    range.step = distance < 0 ? -step : step;
    range.count = distance / range.step + 1;
    if (range.kind != Kind::absolute && range.count > topology_->nodes())
      fail(fmt::format("a range of {} relative numbers; {} has {} nodes", range.count,
                       shown(topology_->name()), topology_->nodes()));
    return range;
  }

  /// +(1,0): the node that differs by this in each coordinate.
  Rank displaced() {
    line_.remove_prefix(1);
    if (node_ == nobody) fail("a relative number; there is no node here");
    was_tuple_ = true;
    std::vector<Rank> place = topology_->coordinates(node_);
    for (std::size_t d = 0; d < place.size(); ++d) {
      skip_blanks();
      const bool plus = accept('+');  // from_chars takes '-' alone
      if (plus && at('-')) fail("two signs");
      const auto by = number<std::int64_t>("a signed number");
      const Rank size = topology_->size(static_cast<int>(d));
      place[d] = static_cast<Rank>(((place[d] + by % size) % size + size) % size);
      const bool last = d + 1 == place.size();
      if (!accept(last ? ')' : ','))
        fail(fmt::format("{} has {} coordinate{}: '{}' expected before '{}'",
                         shown(topology_->name()), place.size(), place.size() == 1 ? "" : "s",
                         last ? ')' : ',', shown(line_)));
    }
    return topology_->rank(place);
  }

  Rank node_of(const Range& range, std::int64_t i) const {
    const std::int64_t value = range.first + i * range.step;
    if (range.kind == Kind::absolute) return in_network(value);
    if (range.kind == Kind::flipped) return in_network(node_ ^ value);
    const std::int64_t p = topology_->nodes();
    return static_cast<Rank>(((node_ + value) % p + p) % p);
  }
  /// A block or a part: relative ones modulo the number of nodes.
  Rank counted(const Range& range, std::int64_t i) const {
    const std::int64_t value = range.first + i * range.step;
    if (range.kind == Kind::absolute) return static_cast<Rank>(value);
    const std::int64_t p = topology_->nodes();
    const std::int64_t seen = range.kind == Kind::flipped ? (node_ ^ value) : node_ + value;
    return static_cast<Rank>((seen % p + p) % p);
  }

  const Topology* topology_ = nullptr;
  Rank node_ = nobody;
  bool was_tuple_ = false;
  std::vector<Rank> word_;
};

}  // namespace wormcube
