// Words of nodes, and the names of values.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/dataflow/values.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

namespace {

std::uint64_t hash_of(std::span<const Words::Run> runs) {
  std::uint64_t hash = runs.size();
  for (const Words::Run run : runs) {
    hash = (hash ^ static_cast<std::uint64_t>(run.first)) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 32) ^ static_cast<std::uint64_t>(run.last)) * 0xD6E8FEB86659FD93U;
  }
  return hash;
}

/// Adds nodes first .. last-1 to the end.
void append(std::vector<Words::Run>& runs, Words::Run run) {
  if (!runs.empty() && runs.back().last == run.first) {
    runs.back().last = run.last;
  } else {
    runs.push_back(run);
  }
}

std::string range_text(Rank first, Rank last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
}

/// Consecutive values with one name: words, blocks and parts that go up by one.
struct NameRun {
  WordId word, last_word;
  Rank block, last_block, part, last_part;
  bool same_parts(const NameRun& other) const {
    return part == other.part && last_part == other.last_part;
  }
  bool same_blocks(const NameRun& other) const {
    return block == other.block && last_block == other.last_block;
  }
};

/// Joins neighbours: join(earlier, later) extends the earlier one and returns true, or false.
template <class Join>
void join_neighbours(std::vector<NameRun>& all, Join join) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (!join(all[kept], all[i])) all[++kept] = all[i];
  }
  if (!all.empty()) all.resize(kept + 1);
}

}  // namespace

std::span<const Words::Run> Words::runs_of(WordId word, Run& single) const {
  if (is_single(word)) {
    single = {static_cast<Rank>(word), static_cast<Rank>(word) + 1};
    return {&single, 1};
  }
  const std::size_t number = word - static_cast<WordId>(nodes_);
  const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : runs_.size();
  return std::span(runs_).subspan(starts_[number], end - starts_[number]);
}

WordId Words::keep(std::span<const Run> runs) {
  if (runs.size() == 1 && runs[0].last == runs[0].first + 1)
    return static_cast<WordId>(runs[0].first);
  const std::uint64_t hash = hash_of(runs);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    Run single{};
    if (std::ranges::equal(runs_of(found->second, single), runs)) return found->second;
  }
  const auto word = static_cast<WordId>(nodes_) + static_cast<WordId>(starts_.size());
  starts_.push_back(runs_.size());
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  by_hash_.emplace(hash, word);
  return word;
}

WordId Words::of(std::span<const Rank> nodes) {
  std::vector<Run> runs;
  for (const Rank node : nodes) append(runs, {node, node + 1});
  return keep(runs);
}

WordId Words::interval(Rank first, Rank last) {
  const Run run{first, last};
  return keep({&run, 1});
}

WordId Words::join(WordId left, WordId right) {
  const std::uint64_t key = std::uint64_t{left} << 32 | right;
  if (const auto found = joined_.find(key); found != joined_.end()) return found->second;
  std::vector<Run> runs;
  for (const WordId word : {left, right}) {
    Run single{};
    for (const Run run : runs_of(word, single)) append(runs, run);
  }
  const WordId word = keep(runs);
  joined_.emplace(key, word);
  return word;
}

WordId Words::sorted(WordId word) {
  if (is_single(word)) return word;
  if (const auto found = sorted_.find(word); found != sorted_.end()) return found->second;
  Run single{};
  const auto own = runs_of(word, single);
  std::vector<Run> ordered(own.begin(), own.end());
  std::ranges::sort(ordered, {}, &Run::first);
  std::vector<Run> runs;
  for (const Run run : ordered) append(runs, run);
  const WordId set = keep(runs);
  sorted_.emplace(word, set);
  return set;
}

std::optional<Rank> Words::shared(WordId left, WordId right) const {
  if (is_single(left) && is_single(right))
    return left == right ? std::optional(static_cast<Rank>(left)) : std::nullopt;
  Run one{}, other{};
  const auto left_runs = runs_of(left, one), right_runs = runs_of(right, other);
  std::optional<Rank> least;
  const auto meet = [&](Run a, Run b) {
    const Rank first = std::max(a.first, b.first);
    if (first < std::min(a.last, b.last) && (!least || first < *least)) least = first;
  };
  if (left_runs.size() * right_runs.size() <= 64) {
    for (const Run a : left_runs) {
      for (const Run b : right_runs) meet(a, b);
    }
    return least;
  }
  std::vector<Run> sorted(left_runs.begin(), left_runs.end());
  std::ranges::sort(sorted, {}, &Run::first);
  for (const Run b : right_runs) {
    auto a = std::ranges::upper_bound(sorted, b.first, {}, &Run::first);
    if (a != sorted.begin()) --a;
    for (; a != sorted.end() && a->first < b.last; ++a) meet(*a, b);
  }
  return least;
}

bool Words::contains(WordId whole, WordId part) const {
  std::vector<Rank> all = nodes_of(whole);
  std::ranges::sort(all);
  return std::ranges::all_of(nodes_of(part),
                             [&](Rank node) { return std::ranges::binary_search(all, node); });
}

std::size_t Words::size(WordId word) const {
  Run single{};
  std::size_t size = 0;
  for (const Run run : runs_of(word, single))
    size += static_cast<std::size_t>(run.last - run.first);
  return size;
}

Rank Words::front(WordId word) const {
  Run single{};
  return runs_of(word, single).front().first;
}

std::vector<Rank> Words::nodes_of(WordId word) const {
  Run single{};
  std::vector<Rank> nodes;
  for (const Run run : runs_of(word, single)) {
    for (Rank node = run.first; node < run.last; ++node) nodes.push_back(node);
  }
  return nodes;
}

std::string Words::text(WordId word) const {
  if (is_single(word)) return fmt::format("{}", word);
  Run single{};
  std::string text = "{";
  for (const Run run : runs_of(word, single)) {
    text += (text.size() == 1 ? "" : " ") + range_text(run.first, run.last - 1);
  }
  return text + "}";
}

double Words::bytes() const {
  constexpr double bytes_of_word = 64, bytes_of_pair = 48;
  return static_cast<double>(runs_.size()) * sizeof(Run) +
         static_cast<double>(starts_.size()) * bytes_of_word +
         static_cast<double>(joined_.size() + sorted_.size()) * bytes_of_pair;
}

std::optional<Bytes> ValueForm::block_bytes(Rank node, Rank number) const {
  if (!sizes.empty()) {
    if (const auto found = sizes.find({node, number}); found != sizes.end()) return found->second;
  }
  return block;
}

std::optional<Bytes> ValueForm::bytes(const Words& words, const NamedValue& value) const {
  const auto whole = block_bytes(words.front(value.word), value.block);
  if (!whole || parts == 1) return whole;
  return part_start(*whole, element, parts, value.part + 1) -
         part_start(*whole, element, parts, value.part);
}

std::string names_text(const Words& words, const ValueForm& form,
                       std::span<const NamedValue> values) {
  std::vector<NameRun> names;
  names.reserve(values.size());
  for (const NamedValue& v : values) {
    names.push_back({v.word, v.word, v.block, v.block, v.part, v.part});
  }
  join_neighbours(names, [](NameRun& a, const NameRun& b) {
    if (a.word != b.word || a.block != b.block || a.last_part + 1 != b.part) return false;
    a.last_part = b.part;
    return true;
  });
  join_neighbours(names, [](NameRun& a, const NameRun& b) {
    if (a.word != b.word || !a.same_parts(b) || a.last_block + 1 != b.block) return false;
    a.last_block = b.block;
    return true;
  });
  join_neighbours(names, [&](NameRun& a, const NameRun& b) {
    if (!words.is_single(a.word) || !words.is_single(b.word) || !a.same_parts(b) ||
        !a.same_blocks(b) || a.last_word + 1 != b.word)
      return false;
    a.last_word = b.word;
    return true;
  });
  std::string text;
  for (const NameRun& name : names) {
    if (!text.empty()) text += ' ';
    text += words.is_single(name.word)
                ? range_text(static_cast<Rank>(name.word), static_cast<Rank>(name.last_word))
                : words.text(name.word);
    if (form.several_blocks || name.block != 0 || name.last_block != 0)
      text += "." + range_text(name.block, name.last_block);
    if (name.part != 0 || name.last_part != form.parts - 1)
      text += "/" + range_text(name.part, name.last_part);
  }
  return text;
}

std::string name_text(const Words& words, const ValueForm& form, const NamedValue& value) {
  return names_text(words, form, {&value, 1});
}

}  // namespace wormcube
