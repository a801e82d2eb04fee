// Where the ranks of a job are, what they wait for, and what is left over at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/job.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <span>
#include <string>
#include <vector>

namespace wormcube::mpi {

/// Where each rank is, and what it waits for as far as can be read while ranks run. At any time.
std::string table_of_ranks(const Job& job);
/// The report of a deadlock. Call it while all ranks wait.
std::string deadlock_text(const Job& job, std::span<const UnreceivedMessage> messages);
/// What was not received, completed or freed, in lines.
std::vector<std::string> leftovers(const Job& job, std::span<const UnreceivedMessage> messages);

}  // namespace wormcube::mpi
