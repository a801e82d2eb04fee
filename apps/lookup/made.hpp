// Generated tables and keys to look up, of which no process need hold more than its part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/lookup/run.hpp"

#include <cstddef>
#include <cstdint>

namespace wormcube::apps {

/// A table of random distinct keys whose values are their rows, and keys to look up, of which a
/// share `absent` (0 to 1) is certainly not in the table.
LookupJob generate_lookup(std::size_t entries, std::size_t lookups, double absent,
                          std::uint64_t seed);

/// 0, 1, ..: the values for a table without any.
Source row_numbers(std::size_t count);

}  // namespace wormcube::apps
