// --permutation: a name, a list of images, or a file of images.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/permutation.hpp"

#include <string>

namespace wormcube::cli {

/// A file has the images of nodes 0, 1, .. in this order, apart by blanks, commas or line ends; '#'
/// starts a comment. Throws UsageError for unknown names, and with the line for a file that is
/// wrong.
Permutation permutation_of(const std::string& text);

}  // namespace wormcube::cli
