// The checks of a transform whose signal and spectrum are distributed over several processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/fft/local.hpp"
#include "wormcube/apps/io/complex.hpp"

#include <cstddef>
#include <span>

namespace wormcube::apps {

// All processes call these together, with their parts of the whole, and get the same result.

/// relative_error of the whole.
double relative_error(const Runner& runner, std::span<const Complex> got,
                      std::span<const Complex> wanted);
/// parseval_error of the whole. \param elements  of the whole
double parseval_error(const Runner& runner, std::size_t elements, std::span<const Complex> signal,
                      std::span<const Complex> spectrum);

/// Some bins, chosen at random, compared with the definition's sum in extended precision: the root
/// mean square of the errors, relative to that of all bins (from Parseval's sum).
/// \param in, out  which elements of the whole `signal` and `spectrum` are
double bins_error(const Runner& runner, std::span<const std::size_t> shape, Direction direction,
                  Part in, std::span<const Complex> signal, Part out,
                  std::span<const Complex> spectrum);

}  // namespace wormcube::apps
