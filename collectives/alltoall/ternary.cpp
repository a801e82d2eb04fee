// Total exchange in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ternary.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/cell_exchange.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Digits of displacements on a ring of n.
int ternary_digits(Rank n) {
  int digits = 0;
  for (Rank reach = 0; reach < n / 2; reach = 3 * reach + 1) ++digits;
  return digits;
}

/// Digit k, -1, 0 or 1, of x reduced to (-n/2, n/2].
int ternary_digit(Rank x, Rank n, int k) {
  if (2 * x > n) x -= n;
  int digit = 0;
  for (int i = 0; i <= k; ++i) {
    digit = mod(x + 1, 3) - 1;
    x = (x - digit) / 3;
  }
  return digit;
}

/// 3^k hops, in the other direction if that is shorter.
int ternary_hops(Rank n, int k) {
  int hops = 1;
  for (int i = 0; i < k; ++i) hops *= 3;
  return 2 * hops > n ? hops - n : hops;
}

/// The steps of copy `first`, as (dimension, digit), all copies of one number.
struct TernaryStep {
  int dimension, digit;  // none: -1
};

std::vector<TernaryStep> ternary_steps(const Topology& topology, int first) {
  const std::vector<int> wide = wide_dimensions(topology);
  int most = 0;
  for (const int d : wide) most = std::max(most, ternary_digits(topology.size(d)));
  std::vector<TernaryStep> steps;
  for (std::size_t t = 0; t < wide.size(); ++t) {
    const int d = wide[(static_cast<std::size_t>(first) + t) % wide.size()];
    for (int k = 0; k < most; ++k) {
      steps.push_back(k < ternary_digits(topology.size(d)) ? TernaryStep{d, k}
                                                           : TernaryStep{-1, 0});
    }
  }
  return steps;
}

/// A cell's number is the displacement of its block, stored as the node there from node 0. The
/// number does not change: in each dimension a block has come as far as others with that number
/// have to go.
CellExchange plan_ternary(const Topology& topology, Rank r, int first, Ports ports) {
  CellExchange exchange;
  for (Rank cell = 0; cell < topology.nodes(); ++cell) {
    Rank to = r, from = r;
    for (int d = 0; d < topology.dimensions(); ++d) {
      const Rank n = topology.size(d), c = topology.coordinate(r, d);
      const Rank x = topology.coordinate(cell, d);
      to = topology.with(to, d, mod(c + x, n)), from = topology.with(from, d, mod(c - x, n));
    }
    exchange.destination.push_back(to), exchange.source.push_back(from);
  }
  for (const auto& [d, k] : ternary_steps(topology, first)) {
    auto* messages = &exchange.steps.emplace_back();
    if (d < 0) continue;
    const Rank n = topology.size(d);
    const int hops = ternary_hops(n, k);
    for (const int sign : {+1, -1}) {
      CellExchange::Message message{{d, sign * hops}, {d, -sign * hops}, {}};
      for (Rank cell = 0; cell < topology.nodes(); ++cell) {
        if (ternary_digit(topology.coordinate(cell, d), n, k) == sign)
          message.cells.push_back(cell);
      }
      if (message.cells.empty()) continue;
      if (ports == Ports::one && !messages->empty()) messages = &exchange.steps.emplace_back();
      messages->push_back(std::move(message));
    }
  }
  return exchange;
}

Rank ternary_copies_of(const Topology& topology, Ports ports) {
  return ternary_parts(topology, ports);
}

/// Total exchange: node r's block q ends as node q's block r. In each dimension a displacement x
/// of -n/2 < x <= n/2 is written as a sum of t_k 3^k with t_k = -1, 0, 1; in step k the blocks
/// with t_k = 1 go 3^k hops up and those with t_k = -1 as many down, at once. One dimension after
/// another.
///
/// With all ports D copies of a D-th part of each block begin with different dimensions; with one
/// port each step is two.
///
/// Network  ring or torus of any sides; all- or one-port.
/// Cost     K least with (3^K - 1)/2 >= floor(n/2), the largest of the dimensions: D K steps (one
///          port 2 D K at most). Rings of 3^K and all ports: transmission K p/3, with shared links
///          p (n - 1)/6 blocks. Nothing is rearranged; a node holds p blocks at the most.
/// Links    3^k messages share a link in step k, or fewer.
/// Source   J. Juerss, S. Schmid, ReTri, arXiv 2605.26930 (abstract); rings of any n, tori: ours.
template <Ports ports>
void alltoall_ternary(Node& node, const Call& call) {
  const int copies = ternary_copies_of(node.topology(), ports);
  const auto& plans = node.plan<std::vector<CellExchange>>(
      "alltoall ternary", {static_cast<std::int64_t>(ports)}, [&] {
        std::vector<CellExchange> all;
        for (int j = 0; j < copies; ++j) {
          all.push_back(plan_ternary(node.topology(), node.rank(), j, ports));
        }
        return all;
      });
  if (copies == 1) return plans[0].run(node, call.input, call.output);
  together(node, copies, [&](int j, Node& own) {
    plans[static_cast<std::size_t>(j)].run(own, call.input, call.output, j, copies);
  });
}

template <Ports ports>
Prediction predict_alltoall_ternary(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes(), copies = ternary_copies_of(topology, ports);
  std::vector<std::vector<TorusMessage>> steps;
  for (int j = 0; j < copies; ++j) {
    std::size_t step = 0;
    for (const auto& [d, k] : ternary_steps(topology, j)) {
      const std::size_t first = step++;
      if (steps.size() < step) steps.resize(step);
      if (d < 0) continue;
      const Rank n = topology.size(d);
      bool sent = false;
      for (const int sign : {+1, -1}) {
        Rank count = 0;
        for (Rank x = 0; x < n; ++x) count += ternary_digit(x, n, k) == sign ? 1 : 0;
        if (count == 0) continue;
        std::size_t at = first;
        if (ports == Ports::one && sent) {
          at = step++;
          steps.resize(step);
        }
        sent = true;
        steps[at].push_back({d, sign * ternary_hops(n, k),
                             static_cast<double>(count) * (p / n) / copies});  // NOLINT: divides
      }
    }
  }
  return torus_cost(topology, steps);
}

}  // namespace

WORMCUBE_ALGORITHMS(alltoall_ternary) = with_variant(
    {
        .operation = operations::alltoall,
        .name = "ternary",
        .summary = "hops of 1, 3, 9, .. in both directions at once, with the fewest start-ups for "
                   "two ports; rings and tori",
        .source = "Juerss, Schmid, ReTri, arXiv 2605.26930 (abstract; other sides and tori: our "
                  "extension)",
        .ports = Ports::all,
        .exactly_once = true,
        .needs = {needs::rings()},
        .instead = {"product-multiport-general", "bruck"},
        .predict = predict_alltoall_ternary<Ports::all>,
        .program = alltoall_ternary<Ports::all>,
        .parts = [](const Setting& setting) { return ternary_parts(setting.topology, Ports::all); },
    },
    [](Algorithm& one_port) {
      one_port.name = "ternary-one-port";
      one_port.summary = "the steps of ternary, one direction after the other; rings and tori";
      one_port.ports = Ports::one;
      one_port.instead = {"bruck", "mesh"};
      one_port.predict = predict_alltoall_ternary<Ports::one>;
      one_port.program = alltoall_ternary<Ports::one>;
      one_port.parts = [](const Setting& /*setting*/) { return Rank{1}; };
    });

}  // namespace wormcube
