// Total exchange with skewed block sizes: every block is spread over all nodes, then gathered.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/shift.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

namespace {

/// The sizes of all pairs' blocks, and the parts into which blocks are cut.
class PairSizes {
 public:
  PairSizes(Rank nodes, std::span<const Bytes> sizes) : p_(nodes), sizes_(sizes) {}

  Rank nodes() const { return p_; }
  Bytes size(Rank r, Rank q) const {
    return sizes_[static_cast<std::size_t>(r) * static_cast<std::size_t>(p_) +
                  static_cast<std::size_t>(q)];
  }

  struct Range {
    Bytes first, bytes;
  };
  /// What travels by node j: one of p nearly equal parts of r's block for q, of whole words of 8
  /// bytes if the block has such. Which one depends on r and q, so that no node gets all the
  /// larger ones.
  Range part(Rank j, Rank r, Rank q) const {
    const Bytes block = size(r, q), word = block % 8 == 0 ? 8 : 1, words = block / word;
    const auto p = static_cast<Bytes>(p_), i = static_cast<Bytes>((std::int64_t{j} + r + q) % p_);
    const Bytes first = words * i / p;
    return {first * word, (words * (i + 1) / p - first) * word};
  }

  /// Whether two-phase's bound on bytes is below the sum of shift's largest messages.
  bool pays() const {
    const auto p = static_cast<Bytes>(p_);
    std::vector<Bytes> row(p), column(p), step(p);
    for (Rank r = 0; r < p_; ++r) {
      for (Rank t = 1; t < p_; ++t) {
        const Rank q = mod(r + t, p_);
        const Bytes bytes = size(r, q);
        row[r] += bytes, column[q] += bytes;
        step[t] = std::max(step[t], bytes);
      }
    }
    Bytes shift = 0;
    for (const Bytes bytes : step) shift += bytes;
    const Bytes most = std::ranges::max(row) + std::ranges::max(column);
    return most / p * (p - 1) + 2 * (p - 1) * (p - 1) * 8 < shift;
  }

 private:
  Rank p_;
  std::span<const Bytes> sizes_;
};

/// The exchange as one node sees it. A step's message has many pieces, and is left out if it is
/// empty: both its ends know that.
class TwoPhase {
 public:
  TwoPhase(Node& node, const Call& call)
      : node_(node),
        call_(call),
        p_(node.size()),
        own_(node.rank()),
        sizes_(node.size(), call.sizes),
        starts_(starts(sizes_, own_)),
        filled_(starts_),
        store_(node.memory(starts_.back(), Purpose::blocks)) {}

  void run() {
    node_.local([&] { copy(call_.input[own_], call_.output[own_]); });
    node_.phase("spread");
    for (Rank t = 1; t < p_; ++t) {
      const Rank to = mod(own_ + t, p_), from = mod(own_ - t, p_);
      step(to, parts_of_mine(to), from, parts_coming(from));
    }
    node_.phase("gather");
    for (Rank t = 1; t < p_; ++t) {
      const Rank to = mod(own_ + t, p_), from = mod(own_ - t, p_);
      step(to, held_for(to), from, results_by(from));
    }
  }

 private:
  using Pieces = std::vector<Span>;

  /// Where the parts for each destination begin in the store, and the end.
  static std::vector<Bytes> starts(const PairSizes& sizes, Rank own) {
    std::vector<Bytes> all{0};
    for (Rank q = 0; q < sizes.nodes(); ++q) {
      Bytes bytes = 0;
      for (Rank r = 0; r < sizes.nodes(); ++r) {
        if (q != own && r != own && r != q) bytes += sizes.part(own, r, q).bytes;
      }
      all.push_back(all.back() + bytes);
    }
    return all;
  }
  static Bytes bytes_of(const Pieces& pieces) {
    Bytes bytes = 0;
    for (const Span piece : pieces) bytes += piece.size();
    return bytes;
  }
  void step(Rank to, const Pieces& going, Rank from, const Pieces& coming) {
    std::vector<Op> ops;
    if (bytes_of(going) > 0) ops.push_back(send_pieces(to, going));
    if (bytes_of(coming) > 0) ops.push_back(receive_pieces(from, coming));
    node_.step(ops);
  }

  Span part(Span block, Rank j, Rank r, Rank q) const {
    const auto [first, bytes] = sizes_.part(j, r, q);
    return block.subspan(first, bytes);
  }

  /// What travels by node j of each of this node's blocks.
  Pieces parts_of_mine(Rank j) const {
    Pieces pieces;
    for (Rank q = 0; q < p_; ++q) {
      if (q != own_) pieces.push_back(part(only_read(call_.input[q]), j, own_, q));
    }
    return pieces;
  }
  /// Where they go on node j: what is for j itself to its place, the others behind those that
  /// came before for the same destination.
  Pieces parts_coming(Rank r) {
    Pieces pieces;
    for (Rank q = 0; q < p_; ++q) {
      if (q == r) continue;
      if (q == own_) {
        pieces.push_back(part(call_.output[r], own_, r, q));
        continue;
      }
      const Bytes bytes = sizes_.part(own_, r, q).bytes;
      pieces.push_back(store_.subspan(filled_[q], bytes));
      filled_[q] += bytes;
    }
    return pieces;
  }
  /// All that this node has for node q: its own part, then the others as they came.
  Pieces held_for(Rank q) const {
    return {part(only_read(call_.input[q]), own_, own_, q),
            store_.subspan(starts_[q], filled_[q] - starts_[q])};
  }
  /// Their places on node q: parts came to node j from j - 1, j - 2, ..
  Pieces results_by(Rank j) const {
    Pieces pieces;
    for (Rank t = 0; t < p_; ++t) {
      const Rank r = mod(j - t, p_);
      if (r != own_) pieces.push_back(part(call_.output[r], j, r, own_));
    }
    return pieces;
  }

  Node& node_;
  const Call& call_;
  Rank p_, own_;
  PairSizes sizes_;
  std::vector<Bytes> starts_, filled_;  // in the store, by destination: the first, the next free
  Memory store_;
};

/// Total exchange, node r's block q, of b(r, q) bytes, ends as node q's block r. No message is much
/// larger than the others of its step, whatever the sizes.
///
///   spread, t = 1 .. p-1   to j = r + t one p-th of each block
///   gather, t = 1 .. p-1   to q = r + t all that came for q, and the own part
///
/// Network  any, of any p; one-port. All nodes know all sizes.
/// Cost     at most 2(p - 1) steps: one in which all messages are empty costs nothing. With R and Q
///          the largest sums of what a node sends and receives, (R + Q)(p - 1)/p and at most
///          2(p - 1)^2 words for rounding. The bound is max(R, Q); shift may need p - 1 times as
///          much, but half of this for equal blocks.
/// Space    about (total)/p bytes.
/// Links    every step is a shift: see alltoall_shift.
/// Source   D. Bader, D. Helman, J. JaJa, Practical Parallel Algorithms for Personalized
///          Communication and Integer Sorting, 1996; the choice of parts is ours.
void alltoallv_two_phase(Node& node, const Call& call) {
  const PairSizes sizes(node.size(), call.sizes);
  if (call.options.is("when", "pays") && !sizes.pays()) {
    return alltoall_shift(node, call);
  }
  TwoPhase(node, call).run();
}

}  // namespace

WORMCUBE_ALGORITHM(alltoallv_two_phase){
    .operation = operations::alltoallv,
    .name = "two-phase",
    .summary =
        "every block is spread over all nodes and then gathered, for skewed sizes; every network",
    .source = "Bader, Helman, JaJa, 1996",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .options = {{.name = "when",
                 .choices = {"always", "pays"},
                 .help = "pays: use it only if its bound on bytes is below the sum of shift's "
                         "largest messages, or else use shift"}},
    .needs_sizes = true,
    .program = alltoallv_two_phase,
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace wormcube
