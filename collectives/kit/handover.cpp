// Partial results passed on by a rule: planned once, run forwards and backwards.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/handover.hpp"

#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <map>

namespace wormcube {

namespace {

Op addressed(Op op, const Peer& peer) {
  return peer.move.hops == 0 ? op.with(peer.rank) : op.with(peer.move);
}

}  // namespace

HandoverPlan::HandoverPlan(const Handovers& handovers, Rank nodes, Rank r)
    : nodes_(nodes), r_(r), shares_(handovers.shares) {
  constexpr std::size_t most_messages_kept = 64;  // other nodes' messages: p shares each
  const auto most_lanes = static_cast<std::size_t>(handovers.most_lanes);
  using Given = std::vector<std::vector<Share>>;  // by step and lane
  const auto place = [&](int step, int lane) {
    const auto at = static_cast<std::size_t>(lane);
    WORMCUBE_ASSERT(at < most_lanes);
    return static_cast<std::size_t>(step) * most_lanes + at;
  };
  const auto given = [&](Rank from) {
    Given shares(place(handovers.steps, 0));
    for (Rank block = 0; block < nodes; ++block) {
      for (int share = 0; block != from && share < shares_; ++share) {
        const auto [step, lane] = handovers.turn(from, block, share);
        shares[place(step, lane)].push_back({block, share});
      }
    }
    return shares;
  };
  Given own = given(r);
  std::map<Rank, Given> others;
  for (int step = 0; step < handovers.steps; ++step) {
    std::vector<Message>& messages = steps_.emplace_back();
    int lane = 0;
    for (const Lane& at : handovers.lanes(r, step)) {
      auto& message = messages.emplace_back(Message{at, std::move(own[place(step, lane)]), {}});
      const std::size_t here = place(step, lane++);
      if (at.from.rank < 0) continue;
      if (others.size() > most_messages_kept) others.clear();
      auto other = others.find(at.from.rank);
      if (other == others.end()) {
        other = others.emplace(at.from.rank, given(at.from.rank)).first;
      }
      message.taken = other->second[here];
    }
  }
}

template <class Block>
Block HandoverPlan::cut(Block block, int share, const Portion& portion) const {
  return wormcube::cut(
      block, {portion.part * shares_ + share, portion.parts * shares_, portion.element_bytes});
}

void HandoverPlan::reduce_scatter(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                                  const Portion& portion) const {
  const auto index = [&](const Share& of) {
    return static_cast<std::size_t>(of.block) * static_cast<std::size_t>(shares_) +
           static_cast<std::size_t>(of.share);
  };
  const auto bytes = [&](const Share& of) { return cut(in[of.block], of.share, portion).size(); };

  // What this node has of each share: its own, and, after an arrival, the sum in `sums`.
  std::vector<ConstSpan> value;
  value.reserve(static_cast<std::size_t>(nodes_) * static_cast<std::size_t>(shares_));
  for (Rank block = 0; block < nodes_; ++block) {
    for (int share = 0; share < shares_; ++share) value.push_back(cut(in[block], share, portion));
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

  std::vector<std::vector<Span>> pieces;
  std::vector<Op> ops;
  for (const auto& messages : steps_) {
    ops.clear(), pieces.clear(), pieces.reserve(2 * messages.size());
    Bytes came = 0;
    for (const Message& message : messages) {
      if (!message.given.empty()) {
        auto& going = pieces.emplace_back();
        going.reserve(message.given.size());
        for (const Share& of : message.given) going.push_back(only_read(value[index(of)]));
        ops.push_back(addressed(send_pieces(Rank{0}, going), message.lane.to));
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
        Span sum = cut(out, of.share, portion);
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
    if (!summed[i]) node.local([&] { copy(value[i], cut(out, share, portion)); });
  }
}

void HandoverPlan::allgather(Node& node, Blocks all, const Portion& portion) const {
  std::vector<std::vector<Span>> pieces;
  std::vector<Op> ops;
  for (auto messages = steps_.rbegin(); messages != steps_.rend(); ++messages) {
    ops.clear(), pieces.clear(), pieces.reserve(2 * messages->size());
    for (const Message& message : *messages) {
      const auto spans = [&](const std::vector<Share>& shares) -> std::span<const Span> {
        auto& all_of = pieces.emplace_back();
        all_of.reserve(shares.size());
        for (const auto& [block, share] : shares) all_of.push_back(cut(all[block], share, portion));
        return all_of;
      };
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
