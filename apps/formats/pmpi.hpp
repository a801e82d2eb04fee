// Schedules as C that takes the place of an MPI function, by MPI's profiling interface.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <string>
#include <string_view>

namespace wormcube::apps {

/// One C file without a library: the messages of each rank as tables, and a program that performs
/// them. It defines MPI_Allreduce, say, and passes calls that the schedule does not fit on to
/// PMPI_Allreduce: of other numbers of ranks, another root, operators that do not commute if the
/// schedule needs that.
///
/// \param schedule  is proved first
/// \param name      for the comment: the algorithm, or the file
/// Throws UsageError if the schedule has no names, does not perform its operation, or the operation
/// has no function in MPI (barriers move no data).
std::string pmpi_text(const NamedSchedule& schedule, std::string_view name);

}  // namespace wormcube::apps
