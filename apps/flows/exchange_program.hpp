// The linear program of the maximum concurrent flow, by GLPK.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/flows.hpp"

#include <optional>
#include <string>

namespace wormcube::apps {

/// GLPK is under the GNU GPL: a program that links this may be distributed under the GPL only.
std::string glpk_version();

/// theory::ExchangeProgram: the least T such that one block from each node to each other fits into
/// links of T blocks. A graph that looks the same from each node has one source and a sum over each
/// generator's links; in others all nodes are sources, and the blocks of one source are one
/// commodity. The bound uses the dual prices as lengths of the links (the sum of all distances over
/// the sum of all lengths), so it holds however the program was rounded. Nothing above
/// `largest_program` variables.
std::optional<theory::LinkBound> solve_exchange(const Graph& graph);

/// Sources times links.
inline constexpr std::int64_t largest_program = 20'000;

}  // namespace wormcube::apps
