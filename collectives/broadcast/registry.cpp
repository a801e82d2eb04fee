// The broadcast algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/broadcast/halving.hpp"
#include "wormcube/collectives/broadcast/park.hpp"
#include "wormcube/collectives/broadcast/peel.hpp"
#include "wormcube/collectives/broadcast/plan.hpp"
#include "wormcube/collectives/broadcast/quad.hpp"
#include "wormcube/collectives/broadcast/squeeze.hpp"
#include "wormcube/collectives/broadcast/umesh.hpp"
#include "wormcube/collectives/broadcast/wang_tseng.hpp"

#include <array>

namespace wormcube {

namespace {

Packets packets(const Parameters& parameters) { return {parameters.packets, parameters.period}; }
WangTseng wang_tseng(const Parameters& parameters) {
  return {parameters.once, parameters.mirror, packets(parameters)};
}

}  // namespace

std::span<const Algorithm> broadcast_algorithms() {
  static const std::array table{
      Algorithm{
          .operation = Operation::broadcast,
          .name = "halving",
          .summary = "recursive doubling by interval halving, farthest first; every network",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Eq. 4.1, problem 4.1",
          .contention_free = false,
          .remark = "free of contention in one dimension, and where all sizes are powers of two",
          .require = require_broadcast_halving,
          .predict = predict_broadcast_halving,
          .program =
              [](Node& node, const Call& call) {
                broadcast_halving(node, call.output.all(), call.parameters.root);
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "plan",
          .summary = "the best of peel, squeeze and quad together; every torus",
          .source = "ours",
          .ports = Ports::all,
          .remark = "our extension",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_plan(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_plan(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_plan(node, call.output.all(), call.parameters.root,
                               packets(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "wang-tseng",
          .summary =
              "stages of scaled routing matrices, then alignment; tori n x .. x n, cn x n x .. x n",
          .source = "Wang, Tseng, Algebraic Foundations and Broadcasting Algorithms for "
                    "Wormhole-Routed Tori",
          .ports = Ports::all,
          .receives_once = false,
          .remark = "any n, rows for k > 3, cn: our reconstruction",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_wang_tseng(topology, parameters.root, wang_tseng(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_wang_tseng(topology, wang_tseng(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_wang_tseng(node, call.output.all(), call.parameters.root,
                                     wang_tseng(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "peel",
          .summary = "dimension after dimension on all ports, no alignment; every torus",
          .source = "ours, after Wang and Tseng",
          .ports = Ports::all,
          .remark = "our extension",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_peel(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_peel(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_peel(node, call.output.all(), call.parameters.root,
                               packets(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "squeeze",
          .summary = "wang-tseng on a coarser torus, then inside its cells; every torus",
          .source = "ours, after Wang and Tseng",
          .ports = Ports::all,
          .remark = "our extension",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_squeeze(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_squeeze(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_squeeze(node, call.output.all(), call.parameters.root,
                                  packets(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "quad",
          .summary = "every square into four; tori 2^d x 2^d, z x 2^d x 2^d",
          .source = "counts: Tsai, McKinley, as quoted by Wang and Tseng, sec. 5",
          .ports = Ports::all,
          .remark = "stand-in for Tsai and McKinley: counts theirs or fewer, construction ours",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_quad(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_quad(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_quad(node, call.output.all(), call.parameters.root,
                               packets(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "park",
          .summary =
              "subgroups of index 2k+1, at the lower bound; tori of 5^p, 7^p, 9^p, 2 5^p, 2 7^p",
          .source = "counts: Park et al., as quoted by Wang and Tseng, sec. 5",
          .ports = Ports::all,
          .any_order = true,
          .remark = "not dimension ordered; displacements found by search, not the authors' own",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_park(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_park(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_park(node, call.output.all(), call.parameters.root,
                               packets(call.parameters));
              },
      },
      Algorithm{
          .operation = Operation::broadcast,
          .name = "umesh",
          .summary =
              "halves of the chain of nodes in dimension order; lines, rings and their products",
          .source = "McKinley, Xu, Esfahanian, Ni 1994 (U-mesh)",
          .require =
              [](const Topology& topology, const Parameters& parameters) {
                require_broadcast_umesh(topology, parameters.root, packets(parameters));
              },
          .predict =
              [](const Topology& topology, const Parameters& parameters) {
                return predict_broadcast_umesh(topology, packets(parameters));
              },
          .program =
              [](Node& node, const Call& call) {
                broadcast_umesh(node, call.output.all(), call.parameters.root,
                                packets(call.parameters));
              },
      },
  };
  return table;
}

}  // namespace wormcube
