// All-reduce among k nodes at a time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The nodes that multiply: the largest power of k of p nodes. The others give their vectors to
/// these, a round of `nodes` ranks at a time.
struct Multiplying {
  Multiplying(Rank of, Rank base) : p(of), k(base) {
    for (; std::int64_t{nodes} * k <= p; nodes *= k) ++digits;
    rounds = (p - 1) / nodes;
  }
  Rank p, k, nodes = 1, rounds = 0;
  int digits = 0;

  /// The node whose digit at `power` is d higher.
  Rank partner(Rank r, Rank power, Rank d) const {
    const Rank digit = r / power % k;
    return r + (mod(digit + d, k) - digit) * power;
  }
};

Multiplying multiplying(Rank p, const Options& options) {
  return {p, static_cast<Rank>(options.number("radix"))};
}

/// All nodes' vectors combined, on every node, with the same bits on all: in the rounds of a digit
/// of its rank to the base k, a node swaps what it has with the k - 1 nodes that differ in that
/// digit only, and combines in the order of digits. If p is no power of k, the ranks from the
/// largest power q on give their vectors to rank mod q first, and get the result at the end.
///
/// Network  any, of any p; one-port. The operator must commute unless p is a power of k or below k.
/// Cost     (k - 1) h + 2 ceil((p - q)/q) steps of one vector, q = k^h <= p.
/// Links    free of contention on complete networks; elsewhere counted.
/// Source   MPICH, allreduce_intra_recursive_multiplying.c; J. Bruck et al., IEEE TPDS 8(11), 1997
///          (the pattern).
void allreduce_recursive_multiplying(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank r = node.rank();
  const Multiplying on = multiplying(node.size(), call.options);
  const Span result = call.output.all();
  const Memory memory = node.memory(result.size() * static_cast<Bytes>(on.k - 1));
  const Blocks arrivals(memory.span(), on.k - 1);
  ConstSpan mine = call.input.all();

  const Rank low = r % on.nodes;
  for (Rank round = 1; round <= on.rounds; ++round) {
    const Rank guest = low + round * on.nodes;
    if (r == guest) {
      node.step({send(low, mine)});
    } else if (r == low && guest < on.p) {
      node.step({receive(guest, arrivals[0])});
      combine(node, reduction, mine, arrivals[0], result);
      mine = result;
    } else {
      node.step();
    }
  }
  for (Rank power = 1; power < on.nodes; power *= on.k) {
    const Rank digit = r / power % on.k;
    for (Rank d = 1; d < on.k; ++d) {
      if (r >= on.nodes) {
        node.step();
        continue;
      }
      node.step({send(on.partner(r, power, d), mine),
                 receive(on.partner(r, power, -d), arrivals[d - 1])});
    }
    if (r >= on.nodes) continue;
    // In the order of digits; what comes before the own vector is combined aside.
    const auto from = [&](Rank other) {
      return other == digit ? mine : ConstSpan(arrivals[mod(digit - other, on.k) - 1]);
    };
    ConstSpan sum = from(0);
    for (Rank other = 1; other < on.k; ++other) {
      const Span target = other < digit ? arrivals[mod(digit, on.k) - 1] : result;
      combine(node, reduction, sum, from(other), target);
      sum = target;
    }
    mine = result;
  }
  if (r < on.nodes) node.local([&] { copy(mine, result); });
  for (Rank round = on.rounds; round > 0; --round) {
    const Rank guest = low + round * on.nodes;
    if (r == guest) {
      node.step({receive(low, result)});
    } else if (r == low && guest < on.p) {
      node.step({send(guest, ConstSpan(result))});
    } else {
      node.step();
    }
  }
}

Prediction predict_recursive_multiplying(const Setting& setting) {
  const Multiplying on = multiplying(setting.topology.nodes(), setting.options);
  PatternSteps loads(setting.topology);
  Messages messages;
  for (Rank round = 1; round <= on.rounds; ++round) {
    for (const bool back : {false, true}) {
      messages.clear();
      for (Rank guest = round * on.nodes; guest < std::min(on.p, (round + 1) * on.nodes); ++guest) {
        const Rank low = guest % on.nodes;
        messages.push_back(back ? Message{low, guest} : Message{guest, low});
      }
      loads.add(messages);
    }
  }
  for (Rank power = 1; power < on.nodes; power *= on.k) {
    for (Rank d = 1; d < on.k; ++d) {
      messages.clear();
      for (Rank r = 0; r < on.nodes; ++r) messages.push_back({r, on.partner(r, power, d)});
      loads.add(messages);
    }
  }
  const double multiplied = (on.k - 1.0) * on.digits, steps = multiplied + 2.0 * on.rounds;
  Prediction prediction{steps, steps, 0};
  prediction.combined_blocks = multiplied + on.rounds;
  return loads.with_loads(prediction);
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_recursive_multiplying){
    .operation = operations::allreduce,
    .name = "recursive-multiplying",
    .summary = "groups of k nodes swap their data, digit by digit; every network",
    .source = "MPICH; the pattern of Bruck et al. 1997",
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {{.name = "radix",
                 .preset = 2,
                 .least = 2,
                 .most = 4096,
                 .help = "nodes that swap: radix - 1 steps for each digit of a rank"}},
    .require =
        [](const Setting& setting) {
          const Multiplying on = multiplying(setting.topology.nodes(), setting.options);
          if (setting.arguments.reduction.commutative || on.nodes == on.p || on.nodes == 1) return;
          throw UsageError(
              fmt::format("recursive-multiplying: {} does not commute, and the order of ranks is "
                          "kept only if the number of nodes is a power of the radix, or less than "
                          "the radix; {} has {}; use recursive-doubling",
                          setting.arguments.reduction.name, setting.topology.name(), on.p));
        },
    .predict = predict_recursive_multiplying,
    .program = allreduce_recursive_multiplying,
};

}  // namespace wormcube
