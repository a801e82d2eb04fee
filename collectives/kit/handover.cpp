// Partial results passed on by a rule: planned once, run forwards and backwards.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/handover.hpp"

#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <utility>

namespace wormcube {

namespace {

Op addressed(Op op, const Peer& peer) {
  return peer.move.hops == 0 ? op.with(peer.rank) : op.with(peer.move);
}

/// The shares of a portion of blocks. Neighbouring blocks mostly have the same size: where a share
/// begins and ends is computed once for all of them.
class Shares {
 public:
  Shares(int shares, const Portion& portion)
      : portion_(portion), bounds_(static_cast<std::size_t>(shares)) {}

  template <class Block>
  Block of(Block block, int share) {
    if (block.size() != size_ || !measured_) measure(block.size());
    const auto [first, bytes] = bounds_[static_cast<std::size_t>(share)];
    return block.subspan(first, bytes);
  }

 private:
  void measure(Bytes size) {
    const auto shares = static_cast<int>(bounds_.size());
    for (int share = 0; share < shares; ++share) {
      const Portion portion{portion_.part * shares + share, portion_.parts * shares,
                            portion_.element_bytes};
      bounds_[static_cast<std::size_t>(share)] = part_of(size, portion);
    }
    size_ = size, measured_ = true;
  }

  Portion portion_;
  std::vector<PartBounds> bounds_;  // by share, of a block of size_ bytes
  Bytes size_ = 0;
  bool measured_ = false;
};

}  // namespace

void earliest_turns(std::span<const std::vector<Handovers::Turn>> of_coordinates, int shares,
                    std::span<Handovers::Turn> turns) {
  const auto earlier = [](const Handovers::Turn& a, const Handovers::Turn& b) {
    return static_cast<unsigned>(a.step) < static_cast<unsigned>(b.step) ? a : b;  // -1 is latest
  };
  const auto share_count = static_cast<std::size_t>(shares);
  std::fill_n(turns.begin(), shares, Handovers::Turn{-1, 0});
  std::size_t prefixes = 1;  // choices of the coordinates so far: their turns come first
  for (const std::vector<Handovers::Turn>& row : of_coordinates) {
    // In place: from the last prefix to the first, each is read before it is overwritten.
    for (std::size_t prefix = prefixes; prefix-- > 0;) {
      for (std::size_t share = 0; share < share_count; ++share) {
        const Handovers::Turn before = turns[prefix * share_count + share];
        for (std::size_t at = row.size() - share_count + share;; at -= share_count) {
          turns[prefix * row.size() + at] = earlier(before, row[at]);
          if (at < share_count) break;
        }
      }
    }
    prefixes *= row.size() / share_count;
  }
}

HandoverPlan::HandoverPlan(const Handovers& handovers, Rank nodes, Rank r)
    : nodes_(nodes), r_(r), shares_(handovers.shares) {
  const auto most_lanes = static_cast<std::size_t>(handovers.most_lanes);
  const auto place = [&](int step, int lane) {
    const auto at = static_cast<std::size_t>(lane);
    WORMCUBE_ASSERT(at < most_lanes);
    return static_cast<std::size_t>(step) * most_lanes + at;
  };
  // By place, the message in which this node passes shares on.
  std::vector<Message*> given(place(handovers.steps, 0), nullptr);
  struct Arrival {
    Rank from;
    std::size_t place;
    Message* message;
  };
  std::vector<Arrival> arrivals;
  for (int step = 0; step < handovers.steps; ++step) {
    std::vector<Message>& messages = steps_.emplace_back();
    for (const Lane& lane : handovers.lanes(r, step)) messages.push_back({lane, {}, {}});
    for (int lane = 0; Message & message : messages) {
      const std::size_t here = place(step, lane++);
      given[here] = &message;
      const auto [from, from_lane] = std::pair(message.lane.from.rank, message.lane.from_lane);
      if (from >= 0)
        arrivals.push_back({from, from_lane < 0 ? here : place(step, from_lane), &message});
    }
  }

  std::vector<Handovers::Turn> turns(static_cast<std::size_t>(nodes) *
                                     static_cast<std::size_t>(shares_));
  // The shares of a node that are passed on in messages of this list, if there is one at the place.
  const auto add_shares = [&](Rank from, std::span<Message* const> at,
                              std::vector<Share> Message::*to) {
    handovers.turns(from, turns);
    auto turn = turns.begin();
    for (Rank block = 0; block < nodes; ++block) {
      for (int share = 0; share < shares_; ++share, ++turn) {
        if (block == from) continue;
        if (Message* const message = at[place(turn->step, turn->lane)]) {
          (message->*to).push_back({block, share});
        }
      }
    }
  };
  add_shares(r, given, &Message::given);
  // Neighbour by neighbour, since the turns of all p shares are computed at once.
  std::ranges::stable_sort(arrivals, {}, &Arrival::from);
  std::vector<Message*> taken(given.size(), nullptr);
  for (auto first = arrivals.begin(); first != arrivals.end();) {
    const Rank from = first->from;
    const auto end = std::find_if(first, arrivals.end(),
                                  [&](const Arrival& arrival) { return arrival.from != from; });
    for (auto at = first; at != end; ++at) taken[at->place] = at->message;
    add_shares(from, taken, &Message::taken);
    for (; first != end; ++first) taken[first->place] = nullptr;
  }
  for (const auto& messages : steps_) {
    std::size_t shares_of_step = 0;
    for (const Message& message : messages) {
      shares_of_step += message.given.size() + message.taken.size();
    }
    most_shares_ = std::max(most_shares_, shares_of_step);
  }
}

void HandoverPlan::reduce_scatter(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                                  const Portion& portion) const {
  const auto index = [&](const Share& of) {
    return static_cast<std::size_t>(of.block) * static_cast<std::size_t>(shares_) +
           static_cast<std::size_t>(of.share);
  };
  Shares cut(shares_, portion);
  const auto bytes = [&](const Share& of) { return cut.of(in[of.block], of.share).size(); };

  // What this node has of each share: its own, and, after an arrival, the sum in `sums`.
  std::vector<ConstSpan> value;
  value.reserve(static_cast<std::size_t>(nodes_) * static_cast<std::size_t>(shares_));
  for (Rank block = 0; block < nodes_; ++block) {
    for (int share = 0; share < shares_; ++share) value.push_back(cut.of(in[block], share));
  }
  std::vector<bool> summed(value.size(), false);
  Bytes sums_bytes = 0, most_coming = 0;
  for (const auto& messages : steps_) {
    Bytes coming = 0;
    for (const Message& message : messages) {
      for (const Share& of : message.taken) {
        coming += bytes(of);
        if (of.block != r_ && !summed[index(of)]) sums_bytes += bytes(of);
        summed[index(of)] = true;
      }
    }
    most_coming = std::max(most_coming, coming);
  }
  const Memory sums = node.memory(sums_bytes), arriving = node.memory(most_coming);
  Bytes used = 0;
  summed.assign(value.size(), false);

  std::vector<Span> pieces;  // of all messages of a step
  pieces.reserve(most_shares_);
  std::vector<Op> ops;
  for (const auto& messages : steps_) {
    ops.clear(), pieces.clear();
    Bytes came = 0;
    for (const Message& message : messages) {
      if (!message.given.empty()) {
        for (const Share& of : message.given) pieces.push_back(only_read(value[index(of)]));
        ops.push_back(addressed(send_pieces(Rank{0}, std::span(pieces).last(message.given.size())),
                                message.lane.to));
      }
      if (!message.taken.empty()) {
        const Bytes first = came;
        for (const Share& of : message.taken) came += bytes(of);
        ops.push_back(
            addressed(receive(Rank{0}, arriving.subspan(first, came - first)), message.lane.from));
      }
    }
    node.step(ops);
    came = 0;
    for (const Message& message : messages) {
      for (const Share& of : message.taken) {
        const std::size_t i = index(of);
        const ConstSpan other = arriving.subspan(came, bytes(of));
        came += other.size();
        Span sum = cut.of(out, of.share);
        if (of.block != r_) {
          sum = summed[i] ? Span(sums.span().subspan(
                                static_cast<Bytes>(value[i].data() - sums.data()), other.size()))
                          : sums.subspan(used, other.size());
          if (!summed[i]) used += other.size();
        }
        const bool lower = message.lane.from.rank < r_;
        combine(node, reduction, lower ? other : value[i], lower ? value[i] : other, sum);
        value[i] = sum, summed[i] = true;
      }
    }
  }
  for (int share = 0; share < shares_; ++share) {
    const std::size_t i = index({r_, share});
    if (!summed[i]) node.local([&] { copy(value[i], cut.of(out, share)); });
  }
}

void HandoverPlan::allgather(Node& node, Blocks all, const Portion& portion) const {
  Shares cut(shares_, portion);
  std::vector<Span> pieces;  // of all messages of a step
  pieces.reserve(most_shares_);
  const auto spans = [&](const std::vector<Share>& shares) {
    for (const auto& [block, share] : shares) pieces.push_back(cut.of(all[block], share));
    return std::span<const Span>(pieces).last(shares.size());
  };
  std::vector<Op> ops;
  for (auto messages = steps_.rbegin(); messages != steps_.rend(); ++messages) {
    ops.clear(), pieces.clear();
    for (const Message& message : *messages) {
      if (!message.taken.empty()) {
        ops.push_back(addressed(send_pieces(Rank{0}, spans(message.taken)), message.lane.from));
      }
      if (!message.given.empty()) {
        ops.push_back(addressed(receive_pieces(Rank{0}, spans(message.given)), message.lane.to));
      }
    }
    node.step(ops);
  }
}

namespace {

/// f(copy, node, portion) for all copies together.
template <class F>
void handover_copies(Node& node, std::span<const HandoverPlan> copies, Bytes element_bytes, F f) {
  const auto count = static_cast<int>(copies.size());
  if (count == 1) return f(copies[0], node, Portion{0, 1, element_bytes});
  together(node, count, [&](int j, Node& own) {
    f(copies[static_cast<std::size_t>(j)], own, Portion{j, count, element_bytes});
  });
}

}  // namespace

void reduce_scatter_copies(Node& node, std::span<const HandoverPlan> copies,
                           const Reduction& reduction, ConstBlocks in, Span out) {
  handover_copies(node, copies, reduction.element_bytes,
                  [&](const HandoverPlan& copy, Node& own, const Portion& portion) {
                    copy.reduce_scatter(own, reduction, in, out, portion);
                  });
}

void allgather_copies(Node& node, std::span<const HandoverPlan> copies, Blocks all,
                      Bytes element_bytes) {
  handover_copies(node, copies, element_bytes,
                  [&](const HandoverPlan& copy, Node& own, const Portion& portion) {
                    copy.allgather(own, all, portion);
                  });
}

void allreduce_copies(Node& node, std::span<const HandoverPlan> copies, const Reduction& reduction,
                      ConstSpan mine, Span result) {
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, node.size());
  const Blocks parts(result, offsets);
  reduce_scatter_copies(node, copies, reduction, ConstBlocks(mine, offsets), parts[node.rank()]);
  allgather_copies(node, copies, parts, reduction.element_bytes);
}

}  // namespace wormcube
