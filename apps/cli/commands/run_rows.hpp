// The rows of run's table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

/// \param with_calls  the table has calls back to back
std::vector<Table::Column> run_columns(const RowNames& names, bool with_calls);
std::vector<std::string> run_cells(const RunResult& result, bool all_port, std::string workers);
/// The row of a failed run.
std::vector<std::string> run_cells_without_result(const Sweep::Row& row, bool all_port);

}  // namespace wormcube::cli
