// Fourier transforms of an array that is distributed over the nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/runtime/node/node.hpp"

namespace wormcube::apps {

/// X[k] = sum over n of x[n] exp(-+ 2 pi i n k / N), in one or two dimensions; the inverse is
/// divided by the number of elements. Natural order in and out; plan.input() and plan.output() say
/// which elements belong to this node.
///
/// \param node      this node; every node of the machine makes the same call
/// \param exchange  resolved; used for every transposition
/// \param plan      for this number of nodes
/// \param data      the node's elements, before and after; at least plan.buffer_bytes(), 8-byte
///                  aligned
///
/// Cost      six-step 3 exchanges, 2-D 2, bluestein 6; local transforms 2 (six-step, 2-D) or 6
///           (bluestein) per element.
/// Source    six-step: D. H. Bailey, FFTs in External or Hierarchical Memory, J. Supercomputing 4,
///           1990.
///           bluestein: L. I. Bluestein, A Linear Filtering Approach to the Computation of Discrete
///           Fourier Transform, IEEE Trans. Audio and Electroacoustics 18(4), 1970.
/// Throws    UsageError, before any message, if the buffer is too short.
void fft(Node& node, const Exchange& exchange, const FftPlan& plan, Direction direction, Span data);

}  // namespace wormcube::apps
