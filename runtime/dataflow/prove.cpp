// The laws of text 2, and the proof that a schedule does what its operation promises.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/dataflow/follow.hpp"
#include "wormcube/runtime/dataflow/held_values.hpp"
#include "wormcube/runtime/dataflow/known_nodes.hpp"
#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/unmatched.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {
namespace {

bool comes_before(const NamedValue& a, const NamedValue& b) {
  return std::tie(a.word, a.block, a.part) < std::tie(b.word, b.block, b.part);
}

class NamedProof : public FlowVisitor {
 public:
  NamedProof(const NamedSchedule& named, const Goal* goal)
      : named_(named),
        words_(named.words),
        goal_(goal),
        form_(named.form),
        nodes_(named.schedule.topology.nodes()),
        held_(static_cast<std::size_t>(nodes_)),
        trees_(static_cast<TreeId>(nodes_)),
        steps_(named.schedule.steps()),
        loop_("proving", steps_ + 1) {
    if (goal != nullptr) {
      form_.several_blocks = goal->several_blocks;
      if (goal->reduces) sets_.resize(held_.size());
      if (goal->barrier) known_.emplace(held_.size());
    }
    for (Rank node = 0; goal != nullptr && node < nodes_; ++node)
      given_.push_back(goal->gives(node));
  }

  NamedReport prove() {
    follow(named_, *this);
    finish();
    return std::move(report_);
  }

  void begin_step(std::size_t) {
    DryRunLimit::require();
    loop_.step();
  }
  void ended(std::size_t step, Rank node) {
    find([&] { return where(step, node) + ": it has ended"; });
  }
  void combined(std::size_t step, Rank node, const RankNames::Gap& gap,
                std::span<const RankNames::Pair> pairs) {
    Bytes bytes = 0;
    bool sized = true;
    const std::string here = where(step, node);
    for (const RankNames::Pair& pair : pairs) {
      const auto size = form_.bytes(words_, pair.left);
      sized = sized && size.has_value();
      bytes += size.value_or(0);
      combine(pair, node, here);
    }
    if (sized && bytes != gap.bytes)
      find([&] {
        return fmt::format("{}: combine {}, and what it names is {} bytes", here, gap.bytes, bytes);
      });
  }
  void begin_messages(std::size_t) {
    if (known_) known_->begin_step();
  }
  void message(std::size_t step, const FlowEnd& send, const FlowEnd* receive,
               std::span<const NamedValue> values) {
    const Bytes sent = send.record->bytes;
    if (receive == nullptr || receive->record->bytes != sent) {
      find([&] {
        return unmatched_send_text(
            step, send.from, send.to, send.tag, sent,
            receive != nullptr ? std::optional(receive->record->bytes) : std::nullopt);
      });
    }
    if (receive != nullptr && known_) known_->tell(send.from, send.to);
    const bool is_named = names(send.from, *send.record);
    ++(is_named ? messages_named_ : unnamed_);
    contents(step, send, receive != nullptr, is_named, values);
    if (receive != nullptr) compare_names(step, *receive, values);
  }
  void unmatched(std::size_t step, const FlowEnd& receive) {
    find([&] {
      return unmatched_receive_text(step, receive.from, receive.to, receive.tag,
                                    receive.record->bytes);
    });
  }
  void end_step(std::size_t) {
    for (const Arrival& arrival : arrivals_) receive(arrival.to, arrival.value, arrival.tree);
    arrivals_.clear();
  }

 private:
  using Entry = HeldValues::Entry;

  /// \param words  called only if the finding is kept
  template <class Words>
  void find(Words words) {
    constexpr std::size_t most = 10;
    if (report_.broken++ < most) report_.findings.push_back(words());
  }
  std::string text(const NamedValue& value) const { return name_text(words_, form_, value); }
  std::string where(std::size_t step, Rank node) const {
    return step == steps_ ? fmt::format("end, node {}", node)
                          : fmt::format("step {}, node {}", step, node);
  }
  bool names(Rank node, const OpRecord& op) const {
    return named_.names[static_cast<std::size_t>(node)].named[number_of(named_.schedule, node, op)];
  }

  // What nodes hold.

  bool gives(Rank node, const NamedValue& value) const {
    return value.word == static_cast<WordId>(node) &&
           (given_.empty() || value.block < given_[static_cast<std::size_t>(node)]);
  }
  /// The tree of a value that the node holds.
  std::optional<TreeId> tree_of(Rank node, const NamedValue& value) const {
    if (gives(node, value)) return static_cast<TreeId>(node);
    const Entry* const entry = held_[static_cast<std::size_t>(node)].find(value);
    return entry != nullptr ? std::optional<TreeId>(entry->tree) : std::nullopt;
  }
  void receive(Rank node, const NamedValue& value, TreeId tree) {
    bool is_new = false;
    Entry* entry = &held_[static_cast<std::size_t>(node)].insert(value, tree, is_new);
    if (!sets_.empty()) {
      const NamedValue set{words_.sorted(value.word), value.block, value.part};
      entry = &sets_[static_cast<std::size_t>(node)].insert(set, 0, is_new);
    }
    if (entry->received != 0 && report_.arrivals.empty())
      report_.arrivals = fmt::format("node {} receives {} twice", node, text(value));
    twice_ = twice_ || entry->received != 0;
    entry->received = 1;
  }

  void combine(const RankNames::Pair& pair, Rank node, const std::string& here) {
    const auto &left = pair.left, &right = pair.right;
    if (left.block != right.block || left.part != right.part) {
      find([&] {
        return fmt::format("{}: combines {} with {}: not the same block and part", here, text(left),
                           text(right));
      });
      return;
    }
    if (const auto shared = words_.shared(left.word, right.word)) {
      find([&] {
        return fmt::format("{}: combines {} with {}: node {}'s twice", here, text(left),
                           text(right), *shared);
      });
      return;
    }
    const auto left_tree = tree_of(node, left), right_tree = tree_of(node, right);
    const auto require = [&](const auto& value, const auto& tree) {
      if (tree) return;
      find([&] {
        return fmt::format("{}: combines {}, which it does not hold", here, text(value));
      });
    };
    require(left, left_tree);
    require(right, right_tree);
    if (!left_tree || !right_tree) return;
    const NamedValue both{words_.join(left.word, right.word), left.block, left.part};
    bool is_new = false;
    held_[static_cast<std::size_t>(node)].insert(both, joined(*left_tree, *right_tree), is_new);
  }

  TreeId joined(TreeId left, TreeId right) {
    const auto [entry, is_new] = joined_.try_emplace(std::uint64_t{left} << 32 | right, trees_);
    if (is_new) ++trees_;
    return entry->second;
  }

  // Messages.

  void contents(std::size_t step, const FlowEnd& send, bool arrives, bool is_named,
                std::span<const NamedValue> values) {
    const auto here = [&] { return where(step, send.from); };
    if (std::ranges::adjacent_find(values, std::not_fn(comes_before)) != values.end()) {
      sorted_.assign(values.begin(), values.end());
      std::ranges::sort(sorted_, comes_before);
      for (auto at = sorted_.begin(); (at = std::adjacent_find(at, sorted_.end())) != sorted_.end();
           ++at) {
        find([&] {
          return fmt::format("{}: {} twice in one message to {}", here(), text(*at), send.to);
        });
      }
    }
    Bytes bytes = 0;
    bool sized = is_named && (form_.block || !form_.sizes.empty());
    for (const NamedValue& value : values) {
      const auto size = form_.bytes(words_, value);
      sized = sized && size.has_value();
      bytes += size.value_or(0);
      const auto tree = tree_of(send.from, value);
      if (!tree) {
        find([&] {
          return fmt::format("{}: sends {} to {}, which it does not hold", here(), text(value),
                             send.to);
        });
      } else if (arrives) {
        arrivals_.push_back({send.to, value, *tree});
      }
    }
    if (sized && bytes != send.record->bytes)
      find([&] {
        return fmt::format("{}: send {} to {}, and what it names is {} bytes", here(),
                           send.record->bytes, send.to, bytes);
      });
  }

  void compare_names(std::size_t step, const FlowEnd& receive, std::span<const NamedValue> sent) {
    if (!names(receive.to, *receive.record)) return;
    const std::span<const NamedValue> expected =
        named_.names[static_cast<std::size_t>(receive.to)].of(
            number_of(named_.schedule, receive.to, *receive.record));
    if (std::ranges::equal(expected, sent)) return;
    find([&] {
      return fmt::format("step {}: node {} receives [{}] from {}, which sends [{}]", step,
                         receive.to, names_text(words_, form_, expected), receive.from,
                         names_text(words_, form_, sent));
    });
  }

  // The end.

  void finish() {
    if (goal_ == nullptr) {
      report_.reason = "no operation is named";
    } else if (known_) {
      report_.delivered = all_have_entered();
      report_.arrivals = "a barrier moves no data";
      return;
    } else if (messages_named_ == 0 && unnamed_ > 0) {
      report_.reason = "messages have no names";
    } else {
      report_.delivered = all_have_ended_right();
    }
    if (messages_named_ == 0 && unnamed_ > 0) {
      report_.arrivals = "messages have no names";
    } else {
      report_.exactly_once = !twice_;
      if (!twice_) report_.arrivals = "each node's arrivals were counted, value by value";
    }
  }

  bool all_have_entered() {
    for (std::size_t node = 0; node < held_.size(); ++node) {
      for (std::size_t other = 0; other < held_.size(); ++other) {
        if (known_->knows(node, other)) continue;
        find([&] { return fmt::format("node {} leaves before node {} has come", node, other); });
        return false;
      }
    }
    return true;
  }

  bool all_have_ended_right() {
    bool right = true, alike = true, changed = false;
    std::map<std::tuple<WordId, Rank, Rank>, TreeId> trees;
    for (Rank node = 0; node < nodes_ && right; ++node) {
      std::map<std::tuple<WordId, Rank, Rank>, NamedValue> by_set;  // made when it is needed
      for (Rank block = 0; block < goal_->ends_with(node) && right; ++block) {
        const Goal::Wanted wanted = goal_->result(node, block);
        if (wanted.first == wanted.last) continue;
        const WordId word = words_.interval(wanted.first, wanted.last);
        for (Rank part = 0; part < form_.parts && right; ++part) {
          const NamedValue value{word, wanted.block, part};
          auto tree = tree_of(node, value);
          if (!tree && goal_->reduces) {
            if (by_set.empty())
              by_set = words_by_set(held_[static_cast<std::size_t>(node)], words_);
            const auto other = by_set.find({word, value.block, part});
            if (other != by_set.end() && !named_.commutative) {
              right = false;
              find([&] {
                return fmt::format(
                    "node {} ends with {}, not {}: the order of a reduction that need not commute",
                    node, text(other->second), text(value));
              });
              continue;
            }
            if (other != by_set.end()) {
              tree = tree_of(node, other->second);
              changed = true;
            }
          }
          if (!tree) {
            right = false;
            find([&] { return missing(node, block, value); });
            continue;
          }
          if (!goal_->reduces) continue;
          const auto [entry, is_new] = trees.try_emplace({word, value.block, part}, *tree);
          alike = alike && entry->second == *tree;
        }
      }
    }
    if (goal_->reduces && right) {
      report_.order_changed = changed;
      report_.brackets_alike = alike;
    }
    return right;
  }

  std::string missing(Rank node, Rank block, const NamedValue& value) const {
    std::string words =
        fmt::format("node {} ends without {}, its block {}", node, text(value), block);
    if (!goal_->reduces) return words;
    std::optional<NamedValue> most;
    const auto consider = [&](const NamedValue& held) {
      if (held.block != value.block || held.part != value.part ||
          !words_.contains(value.word, held.word))
        return;
      const auto size = words_.size(held.word);
      const auto best = most ? words_.size(most->word) : 0;
      if (size > best || (size == best && is_greater(words_, held.word, most->word))) most = held;
    };
    held_[static_cast<std::size_t>(node)].each([&](const Entry& entry) { consider(entry.value); });
    const NamedValue own{static_cast<WordId>(node), value.block, value.part};
    if (gives(node, own)) consider(own);
    return most ? words + "; the most it has is " + text(*most) : words;
  }

  struct Arrival {
    Rank to;
    NamedValue value;
    TreeId tree;
  };

  const NamedSchedule& named_;
  Words words_;  // with those of what is combined
  const Goal* goal_;
  ValueForm form_;
  Rank nodes_;
  std::vector<Rank> given_;          // blocks of each node; empty: any
  std::vector<HeldValues> held_;     // what a node gives is not in it, unless it came back
  std::vector<HeldValues> sets_;     // for reductions: the sets of nodes that it received
  std::optional<KnownNodes> known_;  // for a barrier
  TreeId trees_;                     // their number
  std::size_t steps_;
  LongLoop loop_;
  std::unordered_map<std::uint64_t, TreeId> joined_;
  std::vector<Arrival> arrivals_;
  std::vector<NamedValue> sorted_;
  std::size_t messages_named_ = 0, unnamed_ = 0;
  bool twice_ = false;
  NamedReport report_;
};

}  // namespace

NamedReport prove_named(const NamedSchedule& schedule, const Goal* goal) {
  return NamedProof(schedule, goal).prove();
}

}  // namespace wormcube
