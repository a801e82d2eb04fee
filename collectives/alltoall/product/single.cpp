// Total exchanges of graphs with a structure: Cayley, line, ring, complete.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/single.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <array>
#include <cstdlib>
#include <queue>
#include <tuple>
#include <utility>

namespace wormcube {

namespace {

/// A block that waits to continue along a line or ring.
struct Waiting {
  Rank remaining;  // hops
  Rank copy, source, destination;
  /// The farthest comes first; of these the lowest copy, then source.
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return std::tuple(a.remaining, b.copy, b.source) < std::tuple(b.remaining, a.copy, a.source);
  }
};

/// Blocks on a line or ring, each with its direction. In each step, over each active link and in
/// each direction, the block with the farthest to go moves.
class FarthestFirst {
 public:
  FarthestFirst(Rank nodes, Rank copies)
      : nodes_(nodes), copies_(copies), waiting_(static_cast<std::size_t>(nodes)) {}

  void add(Rank copy, Rank source, Rank destination, int hops) {
    push(source, hops > 0, {std::abs(hops), copy, source, destination});
  }
  /// \param active  (i, t): whether the link between i and i+1 is used in step t
  template <class Active>
  ExchangeTemplate run(Active active) {
    std::vector<std::vector<BlockMove>> steps;
    for (Rank t = 0; undelivered_ > 0; ++t) {
      std::vector<BlockMove>& step = steps.emplace_back();
      std::vector<std::tuple<Rank, bool, Waiting>> arrived;
      for (Rank v = 0; v < nodes_; ++v) {
        for (const bool plus : {true, false}) {
          const Rank to = mod(plus ? v + 1 : v - 1, nodes_);
          auto& queue = waiting_[v][plus];
          if (queue.empty() || !active(plus ? v : to, t)) continue;
          Waiting block = queue.top();
          queue.pop();
          step.push_back({v, to, block.source, block.destination, block.copy});
          --undelivered_;
          if (--block.remaining > 0) arrived.emplace_back(to, plus, block);
        }
      }
      for (const auto& [node, plus, block] : arrived) push(node, plus, block);
    }
    return {nodes_, copies_, steps};
  }

 private:
  void push(Rank node, bool plus, const Waiting& block) {
    waiting_[node][plus].push(block);
    ++undelivered_;
  }
  Rank nodes_, copies_;
  std::vector<std::array<std::priority_queue<Waiting>, 2>> waiting_;  // [node][plus]
  std::int64_t undelivered_ = 0;
};

FarthestFirst blocks_of_line(Rank nodes, Rank copies) {
  FarthestFirst blocks(nodes, copies);
  for (Rank copy = 0; copy < copies; ++copy) {
    for (Rank s = 0; s < nodes; ++s) {
      for (Rank d = 0; d < nodes; ++d) {
        if (s != d) blocks.add(copy, s, d, d - s);
      }
    }
  }
  return blocks;
}

}  // namespace

ExchangeTemplate cayley_exchange(const CayleyStructure& group) {
  const auto n = static_cast<std::size_t>(group.order), generators = group.generators.size();
  // By generator: g*s, and back from g*s to g.
  std::vector<std::vector<Rank>> times(generators), over(generators);
  for (std::size_t s = 0; s < generators; ++s) {
    times[s].resize(n);
    over[s].resize(n);
    for (Rank g = 0; g < group.order; ++g) over[s][times[s][g] = group.step(g, s)] = g;
  }
  // Breadth first from the identity: a shortest word of each element.
  std::vector<std::vector<std::size_t>> word(n);
  std::vector<Rank> order{0};
  std::vector<bool> found(n, false);
  found[0] = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Rank g = order[i];
    for (std::size_t s = 0; s < generators; ++s) {
      const Rank next = times[s][g];
      if (found[next]) continue;
      found[next] = true;
      word[next] = word[g];
      word[next].push_back(s);
      order.push_back(next);
    }
  }

  std::vector<std::vector<BlockMove>> steps;
  for (const Rank d : order) {
    for (std::size_t i = 0; i < word[d].size(); ++i) {
      std::vector<BlockMove>& step = steps.emplace_back();
      step.reserve(n);
      for (Rank g = 0; g < group.order; ++g) {
        Rank source = g, destination = g;
        for (std::size_t j = i; j-- > 0;) source = over[word[d][j]][source];
        for (std::size_t j = i; j < word[d].size(); ++j) {
          destination = times[word[d][j]][destination];
        }
        step.push_back({g, times[word[d][i]][g], source, destination});
      }
    }
  }
  return {group.order, 1, steps};
}

ExchangeTemplate line_one_port(Rank nodes) {
  // The link in the middle starts: it has the most to carry and is never idle in its turns.
  const Rank middle = nodes / 2 - 1;
  return blocks_of_line(nodes, 1).run(
      [&](Rank link, Rank t) { return mod(link - middle - t, 2) == 0; });
}

ExchangeTemplate line_all_port(Rank nodes, Rank copies) {
  return blocks_of_line(nodes, copies).run([](Rank, Rank) { return true; });
}

ExchangeTemplate ring_all_port(Rank nodes, Rank copies) {
  FarthestFirst blocks(nodes, copies);
  for (Rank copy = 0; copy < copies; ++copy) {
    for (Rank s = 0; s < nodes; ++s) {
      for (Rank o = 1; o < nodes; ++o) {
        const bool plus = 2 * o < nodes || (2 * o == nodes && (s + copy) % 2 == 0);
        blocks.add(copy, s, mod(s + o, nodes), plus ? o : o - nodes);
      }
    }
  }
  return blocks.run([](Rank, Rank) { return true; });
}

ExchangeTemplate complete_all_port(Rank nodes, Rank copies) {
  std::vector<std::vector<BlockMove>> steps(static_cast<std::size_t>(copies));
  for (Rank copy = 0; copy < copies; ++copy) {
    for (Rank s = 0; s < nodes; ++s) {
      for (Rank d = 0; d < nodes; ++d) {
        if (s != d) steps[copy].push_back({s, d, s, d, copy});
      }
    }
  }
  return {nodes, copies, steps};
}

}  // namespace wormcube
