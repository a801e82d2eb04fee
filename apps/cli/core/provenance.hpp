// The provenance of results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"

namespace wormcube::cli {

/// Schema and program version, command line and settings, host, cores and date of this process.
Json provenance_json(const Context& context);

}  // namespace wormcube::cli
