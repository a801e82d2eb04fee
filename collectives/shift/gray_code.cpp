// Circular shift by powers of two.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/shift/gray_code.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/pattern_load.hpp"
#include "wormcube/collectives/shift/direct.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm shift_gray_code;
}

namespace {

/// One step of a leap: where a node sends what it has, and from where the next comes.
struct Hop {
  enum class Kind : std::uint8_t { exchange, forward } kind;
  Rank mask, leap;

  // gray(i) and gray(i + 2^b) differ in bit b - 1 and in one above. All nodes cross bit b - 1 first:
  // to the node whose number differs in all bits below b.
  Rank to(Rank r, Rank p) const {
    return kind == Kind::exchange ? r ^ mask : mod((r ^ mask) + leap, p);
  }
  Rank from(Rank r, Rank p) const {
    return kind == Kind::exchange ? r ^ mask : mod(r - leap, p) ^ mask;
  }
};

std::vector<Hop> hops(Rank q, int bits, ShiftPowers powers) {
  std::vector<Hop> all;
  for (const Rank leap : shift_leaps(q, bits, powers)) {
    const Rank mask = std::abs(leap) - 1;
    if (mask > 0) all.push_back({Hop::Kind::exchange, mask, leap});
    all.push_back({Hop::Kind::forward, mask, leap});
  }
  return all;
}

}  // namespace

std::vector<Rank> shift_leaps(Rank q, int bits, ShiftPowers powers) {
  std::vector<Rank> leaps;
  // The non-adjacent form: the fewest signed digits. One of 2^bits is a way round, and left out.
  for (int b = 0; b < bits && q != 0; ++b, q /= 2) {
    if (q % 2 == 0) continue;
    const Rank digit = powers == ShiftPowers::both && q % 4 == 3 ? -1 : 1;
    leaps.push_back(digit * (1 << b));
    q -= digit;
  }
  std::ranges::reverse(leaps);
  return leaps;
}

void shift_gray_code(Node& node, std::int64_t by, ConstBlocks mine, Blocks result,
                     ShiftPowers powers) {
  require_network(algorithms::shift_gray_code, node.topology());
  require_shift("shift_gray_code", mine, result);
  const Rank p = node.size(), r = node.rank();
  const std::vector<Hop> all = hops(shift_distance(by, p), log2_ceiling(p), powers);
  Traveller block(node, mine, result, static_cast<Rank>(all.size()));
  for (const Hop& hop : all) {
    const auto [leaving, arriving] = block.next();
    node.step({send(hop.to(r, p), leaving), receive(hop.from(r, p), arriving)});
  }
}

namespace {

ShiftPowers powers_of(const Options& options) { return options.choice<ShiftPowers>("powers"); }

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(shift_gray_code){
    .operation = operations::shift,
    .name = "gray-code",
    .summary = "leaps of powers of two, two links each where node i is at label gray(i); 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.2, Fig. 4.23, Eq. 4.11",
    .exactly_once = false,  // a block may come through a node twice on its leaps there and back
    .remark = "free of contention where node i is at the hypercube's label gray(i)",
    .options = {{.name = "powers",
                 .choices = {"forward", "both"},
                 .help = "forward: the bits of q; both: signed digits, at most log p steps"}},
    .rows = {{"7.5", "powers=forward", "hypercube:4"}, {"7.6", "powers=both", "hypercube:4"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"direct"},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const std::vector<Hop> all = hops(shift_distance(setting.arguments.by, p), log2_ceiling(p),
                                        powers_of(setting.options));
      PatternSteps steps(setting.topology);
      for (const Hop& hop : all) steps.add_permutation(1, [&](Rank r) { return hop.to(r, p); });
      const auto count = static_cast<double>(all.size());
      return steps.with_loads({count, count, 0, 0});
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::shift_gray_code(node, call.arguments.by, call.input, call.output,
                                    powers_of(call.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
