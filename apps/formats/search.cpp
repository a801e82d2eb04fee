// Searches for the blocks that messages could carry.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/search.hpp"

#include "wormcube/runtime/dataflow/builder.hpp"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr Rank most_searched_nodes = 12;
constexpr std::size_t most_searched_messages = 64;

/// Blocks by number: origin x blocks of an origin + block.
using BlockSet = std::bitset<std::size_t{most_searched_nodes} * most_searched_nodes>;

struct SizedMessage {
  std::size_t from, to, step, capacity;
  std::size_t op;       // of the sender's log
  BlockSet could = {};  // carry
  std::vector<std::uint8_t> earlier =
      {};  // for each block: messages of earlier steps that could bring it
};

class ContentSearch {
 public:
  ContentSearch(const Schedule& schedule, const Goal& goal, Bytes block_bytes)
      : nodes_(schedule.ranks.size()), own_(nodes_), wanted_(nodes_), block_bytes_(block_bytes) {
    for (std::size_t r = 0; r < nodes_; ++r) {
      const auto rank = static_cast<Rank>(r);
      for (Rank b = 0; b < goal.gives(rank); ++b)
        own_[r].set(number(r, static_cast<std::size_t>(b)));
      for (Rank b = 0; b < goal.ends_with(rank); ++b) {
        const Goal::Wanted want = goal.result(rank, b);
        if (want.first == want.last) continue;
        wanted_[r].set(
            number(static_cast<std::size_t>(want.first), static_cast<std::size_t>(want.block)));
      }
      const RankLog& log = schedule.ranks[r];
      std::size_t op = 0;
      for (std::size_t step = 0; step < log.step_ends.size(); ++step) {
        for (; op < log.step_ends[step]; ++op) {
          const OpRecord& each = log.ops[op];
          if (each.kind != Op::Kind::send) continue;
          const auto capacity = static_cast<std::size_t>(
              std::min<Bytes>(each.bytes / block_bytes, BlockSet{}.size()));
          messages_.push_back({r, static_cast<std::size_t>(each.peer), step, capacity, op});
        }
      }
    }
    std::ranges::stable_sort(messages_, {}, &SizedMessage::step);
    find_reach();
  }

  /// What counting alone shows: some node cannot get all that it needs.
  std::optional<std::string> impossible() const {
    for (std::size_t r = 0; r < nodes_; ++r) {
      const BlockSet needed = wanted_[r] & ~own_[r];
      std::size_t room = 0;
      BlockSet reached;
      for (const SizedMessage& message : messages_) {
        if (message.to != r) continue;
        room += std::min(message.capacity, (message.could & needed).count());
        if (message.capacity > 0) reached |= message.could & needed;
      }
      const std::size_t gets = std::min(room, reached.count());
      if (gets < needed.count()) {
        return fmt::format("cannot: node {} gets {} bytes and needs {}", r, gets * block_bytes_,
                           needed.count() * block_bytes_);
      }
    }
    return std::nullopt;
  }

  /// What each message carries; nothing if it was not found.
  std::optional<std::vector<BlockSet>> find() const {
    constexpr int most_tries = 1000;
    std::mt19937 random(1);  // NOLINT: the same answer in every run
    for (int tried = 0; tried < most_tries; ++tried) {
      // The choice gets more random from one to the next.
      if (auto found = attempt(random, 3.0 * tried / most_tries)) return found;
    }
    return std::nullopt;
  }
  const std::vector<SizedMessage>& messages() const { return messages_; }
  static std::size_t number(std::size_t origin, std::size_t block) {
    return origin * most_searched_nodes + block;
  }

 private:
  /// What could have reached each node in time, if messages had room for everything.
  void find_reach() {
    std::vector<BlockSet> reach = own_, after = own_;
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      SizedMessage& message = messages_[m];
      message.could = reach[message.from];
      if (message.capacity > 0) after[message.to] |= message.could;
      message.earlier.assign(message.could.size(), 0);
      for (std::size_t e = 0; e < m && messages_[e].step < message.step; ++e) {
        if (messages_[e].to != message.to || messages_[e].capacity == 0) continue;
        for (std::size_t b = 0; b < message.could.size(); ++b) {
          if (messages_[e].could[b]) ++message.earlier[b];
        }
      }
      if (m + 1 == messages_.size() || messages_[m + 1].step != message.step) reach = after;
    }
  }

  /// Backwards in time: a node that needs a block at the end of a step has it from a message of the
  /// step, or needs it before. A choice at random, with blocks that cannot come earlier first.
  std::optional<std::vector<BlockSet>> attempt(std::mt19937& random, double noise) const {
    std::vector<BlockSet> carried(messages_.size()), needed = wanted_;
    for (std::size_t r = 0; r < nodes_; ++r) needed[r] &= ~own_[r];
    std::size_t end = messages_.size();
    while (end > 0) {
      std::size_t begin = end;
      while (begin > 0 && messages_[begin - 1].step == messages_[end - 1].step) --begin;
      std::vector<std::size_t> order(end - begin);
      std::iota(order.begin(), order.end(), begin);
      std::ranges::shuffle(order, random);
      std::vector<BlockSet> asked(nodes_);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const SizedMessage& message = messages_[order[i]];
        BlockSet& open = needed[message.to];
        std::vector<std::pair<double, std::size_t>> choices;
        for (std::size_t b = 0; b < open.size(); ++b) {
          if (!open[b] || !message.could[b]) continue;
          choices.emplace_back(cost(message, b, needed, asked, order, i) +
                                   noise * static_cast<double>(random() % 1000) * 1e-3,
                               b);
        }
        std::ranges::sort(choices);
        if (choices.size() > message.capacity) choices.resize(message.capacity);
        for (const auto& [urgency, b] : choices) {
          open.reset(b);
          carried[order[i]].set(b);
          if (!own_[message.from][b]) asked[message.from].set(b);
        }
      }
      for (std::size_t r = 0; r < nodes_; ++r) needed[r] |= asked[r];
      end = begin;
    }
    const bool is_done =
        std::ranges::all_of(needed, [](const BlockSet& set) { return set.none(); });
    return is_done ? std::optional(std::move(carried)) : std::nullopt;
  }

  /// Few other messages that could bring the block: low. A sender that needs the block anyway: low.
  double cost(const SizedMessage& message, std::size_t block, const std::vector<BlockSet>& needed,
              const std::vector<BlockSet>& asked, const std::vector<std::size_t>& order,
              std::size_t at) const {
    double others = message.earlier[block];
    for (std::size_t i = at + 1; i < order.size(); ++i) {
      const SizedMessage& other = messages_[order[i]];
      if (other.to == message.to && other.could[block] && other.capacity > 0) others += 1;
    }
    const bool is_held =
        own_[message.from][block] || needed[message.from][block] || asked[message.from][block];
    constexpr double cost_of_asking = 1.5;
    return others + (is_held ? 0 : cost_of_asking);
  }

  std::size_t nodes_;
  std::vector<BlockSet> own_, wanted_;
  Bytes block_bytes_;
  std::vector<SizedMessage> messages_;
};

/// The same messages with the blocks that they carry.
NamedSchedule named_by(const Schedule& schedule, const ContentSearch& search,
                       const std::vector<BlockSet>& carried, const Goal& goal,
                       const NamedOperation& operation, Bytes block_bytes) {
  NamedSchedule header{schedule, Words(schedule.topology.nodes())};
  header.operation = operation;
  header.form.several_blocks = goal.several_blocks;
  header.form.block = block_bytes;
  std::map<std::pair<std::size_t, std::size_t>, const BlockSet*> of_send;  // by rank and number
  for (std::size_t m = 0; m < carried.size(); ++m)
    of_send[{search.messages()[m].from, search.messages()[m].op}] = &carried[m];
  NamedBuilder builder(std::move(header));
  for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
    for (std::size_t op = 0; op < schedule.ranks[r].ops.size(); ++op) {
      const auto found = of_send.find({r, op});
      std::vector<NamedValue> values;
      for (std::size_t b = 0; found != of_send.end() && b < found->second->size(); ++b) {
        if (!(*found->second)[b]) continue;
        values.push_back({static_cast<WordId>(b / most_searched_nodes),
                          static_cast<Rank>(b % most_searched_nodes), 0});
      }
      builder.name(static_cast<Rank>(r),
                   found == of_send.end() ? std::nullopt : NamedBuilder::Values(values));
    }
  }
  NamedSchedule named = builder.finish();
  size_by_names(named);
  return named;
}

}  // namespace

Bytes common_block_bytes(const Schedule& schedule) {
  Bytes common = 0;
  for (const RankLog& log : schedule.ranks) {
    for (const OpRecord& op : log.ops) common = std::gcd(common, op.bytes);
  }
  return std::max<Bytes>(common, 1);
}

Searched search_contents(const Schedule& schedule, const Goal& goal,
                         const NamedOperation& operation, Bytes block_bytes) {
  using Answer = Searched::Answer;
  if (goal.reduces || goal.barrier) {
    return {Answer::open, fmt::format("not decided: {} does not only move blocks", operation.name)};
  }
  std::size_t messages = 0;
  for (const RankLog& log : schedule.ranks) messages += log.ops.size();
  messages /= 2;
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  if (nodes > most_searched_nodes || messages > most_searched_messages) {
    return {Answer::open,
            fmt::format("not decided: {} nodes and {} messages; searched up to {} and {}", nodes,
                        messages, most_searched_nodes, most_searched_messages)};
  }
  const ContentSearch search(schedule, goal, block_bytes);
  if (auto text = search.impossible()) return {Answer::cannot, *text};
  const auto found = search.find();
  if (!found)
    return {Answer::open,
            "not decided: the search found no way to deliver, and counting does not exclude one"};
  NamedSchedule witness = named_by(schedule, search, *found, goal, operation, block_bytes);
  if (prove_named(witness, &goal).delivered != true)
    return {Answer::open, "not decided: the search found a way, but its proof fails"};
  return {Answer::can, "can deliver", std::move(witness)};
}

}  // namespace wormcube::apps
