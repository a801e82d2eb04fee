// Crashes of MPI programs, with their lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/mpi_crash.hpp"

#include "wormcube/apps/cli/core/signal_exit.hpp"
#include "wormcube/apps/mpi/engine/core/job.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {
namespace {

std::string crash_text(const CrashInProgram& crash) {
  // "rank 2, after MPI_Barrier: "
  std::string_view rank = crash.where, state;
  if (rank.ends_with(": ")) rank.remove_suffix(2);
  if (const auto comma = rank.find(", "); comma != std::string_view::npos) {
    state = rank.substr(comma);
    rank = rank.substr(0, comma);
  }
  std::string text = fmt::format("{}{}{}", rank, rank.empty() ? "" : ": ", crash.what);
  // Job::place() expects a return address, and looks up the byte before it.
  if (const mpi::Job* const job = mpi::running_job(); job != nullptr && crash.code != nullptr)
    text += job->place(static_cast<const std::byte*>(crash.code) + 1);
  if (crash.address)
    text += fmt::format(" (address {:#x})", reinterpret_cast<std::uintptr_t>(*crash.address));
  return text.append(state);
}

}  // namespace

void name_lines_of_crashes() { describe_crashes_with(crash_text); }

}  // namespace wormcube::cli
