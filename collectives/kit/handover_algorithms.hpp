// The algorithms of one rule: its all-gather, its reduce-scatter, its all-reduce.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/collectives/kit/whole_vectors.hpp"

#include <utility>

namespace wormcube {

// `Rule` has plans(node, options) for a node, and for a setting cost(setting) of the reduce-scatter
// and parts(setting) of a block. `algorithm` holds what the three operations have in common.

template <class Rule>
Algorithm allgather_by(Algorithm algorithm) {
  algorithm.operation = operations::allgather;
  algorithm.predict = [](const Setting& setting) { return allgather_cost(Rule::cost(setting)); };
  algorithm.program = [](Node& node, const Call& call) {
    keep_own(node, call);
    allgather_copies(node, Rule::plans(node, call.options), call.output);
  };
  algorithm.parts = Rule::parts;
  return algorithm;
}

template <class Rule>
Algorithm reduce_scatter_by(Algorithm algorithm) {
  algorithm.operation = operations::reduce_scatter;
  algorithm.needs_commutative = true;
  algorithm.predict = Rule::cost;
  algorithm.program = [](Node& node, const Call& call) {
    reduce_scatter_copies(node, Rule::plans(node, call.options), call.arguments.reduction,
                          call.input, call.output.all());
  };
  algorithm.parts = Rule::parts;
  return algorithm;
}

template <class Rule>
void allreduce_in_parts(Node& node, const Call& call) {
  allreduce_copies(node, Rule::plans(node, call.options), call.arguments.reduction,
                   call.input.all(), call.output.all());
}

/// For the parts of a vector, one for each node.
template <class Rule>
Algorithm allreduce_by(Algorithm algorithm) {
  algorithm.operation = operations::allreduce;
  algorithm.needs_commutative = true;
  algorithm.predict = [](const Setting& setting) {
    return allreduce_cost(Rule::cost(setting), setting.topology.nodes());
  };
  algorithm.program = allreduce_in_parts<Rule>;
  algorithm.parts = [](const Setting& setting) {
    return setting.topology.nodes() * Rule::parts(setting);
  };
  return algorithm;
}

/// With the option `form`, for parts or for whole vectors: whole(topology) are the latter's steps;
/// require_whole(topology) throws if there are none;
/// brackets_differ(topology): whether nodes then bracket differently.
template <class Rule>
Algorithm allreduce_in_both_forms(Algorithm algorithm) {
  algorithm = allreduce_by<Rule>(std::move(algorithm));
  algorithm.options = {vector_form()};
  algorithm.brackets_differ = [](const Setting& setting) {
    return sends_whole(setting.options) && Rule::brackets_differ(setting.topology);
  };
  algorithm.require = [](const Setting& setting) {
    if (sends_whole(setting.options)) Rule::require_whole(setting.topology);
  };
  algorithm.predict = [](const Setting& setting) {
    const Topology& topology = setting.topology;
    return sends_whole(setting.options) ? whole_vectors_cost(topology, Rule::whole(topology))
                                        : allreduce_cost(Rule::cost(setting), topology.nodes());
  };
  algorithm.program = [](Node& node, const Call& call) {
    if (!sends_whole(call.options)) return allreduce_in_parts<Rule>(node, call);
    const auto& plan =
        node.plan<WholeVectors>(Rule::whole_name, {}, [&] { return Rule::whole(node.topology()); });
    allreduce_whole_vectors(node, plan, call.arguments.reduction, call.input.all(),
                            call.output.all());
  };
  algorithm.parts = [](const Setting& setting) {
    return (sends_whole(setting.options) ? 1 : setting.topology.nodes()) * Rule::parts(setting);
  };
  return algorithm;
}

}  // namespace wormcube
