// Made tables and keys to look up, of which no process need hold more than its part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/lookup/run.hpp"

#include <cstddef>
#include <cstdint>

namespace wormcube::apps {

/// A table of random distinct keys whose values are their rows, and keys to look up, so many of
/// which (a share from 0 to 1) are surely not in the table.
LookupJob generate_lookup(std::size_t entries, std::size_t lookups, double absent,
                          std::uint64_t seed);

/// 0, 1, ..: the values of a table that has none.
Source row_numbers(std::size_t count);

}  // namespace wormcube::apps
