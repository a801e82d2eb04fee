// Circular shift by powers of two along a line that a Gray code maps onto a hypercube.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/collectives/shift/leaps.hpp"
#include "wormcube/collectives/shift/traveller.hpp"

#include <algorithm>
#include <vector>

namespace wormcube {

std::vector<Rank> shift_leaps(Rank q, int bits, ShiftPowers powers) {
  std::vector<Rank> leaps;
  // The non-adjacent form: the fewest signed digits. A digit for 2^bits is a full circle, and is
  // dropped.
  for (int b = 0; b < bits && q != 0; ++b, q /= 2) {
    if (q % 2 == 0) continue;
    const Rank digit = powers == ShiftPowers::both && q % 4 == 3 ? -1 : 1;
    leaps.push_back(digit * (1 << b));
    q -= digit;
  }
  std::ranges::reverse(leaps);
  return leaps;
}

namespace {

/// One step of a leap: where a node sends its block, and from where the next arrives.
struct Hop {
  enum class Kind : std::uint8_t { exchange, forward } kind;
  Rank mask, leap;

  // gray(i) and gray(i + 2^b) differ in bit b - 1 and in one above. All nodes cross bit b - 1
  // first: to the node whose number differs in all bits below b.
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

ShiftPowers powers_of(const Options& options) { return options.choice<ShiftPowers>("powers"); }

/// Circular shift: node r's block ends at node r + by (modulo p), by leaps of powers of two.
/// Designed for nodes that are numbered along a line, node i at the hypercube's label gray(i) = i
/// xor i/2: a leap of 2^b > 1 then crosses two links, in two steps between neighbours, a leap of 1
/// crosses one.
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     (ts + tw m) times the steps: for `forward` one for bit 0 of q = by mod p and two for
///          each other bit set, at most 2 log p - 1; for `both` at most log p.
/// Links    neighbours only, each link one message in a step, if node i is at label gray(i): on
///          gray-hypercube:D, or in a group of a hypercube's nodes in that order. A network
///          numbered otherwise routes the same messages over longer, shared paths: use shift_direct
///          there.
void shift_gray_code(Node& node, const Call& call) {
  const std::int64_t by = call.arguments.by;
  const ShiftPowers powers = powers_of(call.options);
  const Rank p = node.size(), r = node.rank();
  const std::vector<Hop> all = hops(shift_distance(by, p), log2_ceiling(p), powers);
  Traveller block(node, call.input, call.output, static_cast<Rank>(all.size()));
  for (const Hop& hop : all) {
    const auto [leaving, arriving] = block.next();
    node.step({send(hop.to(r, p), leaving), receive(hop.from(r, p), arriving)});
  }
}

}  // namespace

WORMCUBE_ALGORITHM(shift_gray_code){
    .operation = operations::shift,
    .name = "gray-code",
    .summary = "leaps of powers of two, each over two links if node i has label gray(i); 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.2, Fig. 4.23, Eq. 4.11",
    .exactly_once = false,  // a block may pass through a node twice on its leaps forth and back
    .remark = "free of contention if node i has label gray(i), as on gray-hypercube:D",
    .options = {{.name = "powers",
                 .choices = {"forward", "both"},
                 .help = "forward: the bits of q; both: signed digits, at most log p steps"}},
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
    .program = shift_gray_code,
};

}  // namespace wormcube
