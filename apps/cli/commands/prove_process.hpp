// The proof for one number of ranks, in a process of its own: it may hang or crash.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/runtime/topology/rank.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

/// What is proved.
struct ProofSettings {
  std::string operation;
  std::string function;  ///< that is called
  std::vector<std::size_t> counts;
  std::optional<Rank> root;
  bool only_commuting = false;
  std::string eager = "0";
  double stall = 10, time_limit = 0;
  bool keeps_schedule = false;
  bool takes_last = false;  ///< receives from any source take the last message to arrive
  bool on_parts = false;    ///< the calls are on communicators that are a part of MPI_COMM_WORLD
};

/// Runs the program's ranks in this process, which it ends: the result is in the file.
[[noreturn]] void prove_here(const std::string& program, const ProofSettings& settings, Rank ranks,
                             const std::string& result_file);

/// What is proved, and the program that it was compiled to; both are one for a program.
struct ProvedProgram {
  std::string file, program;
};

/// Starts this program anew for that. Returns the result: `ranks`, `cases`, .., and `finding` with
/// the words of what went wrong, or null. Throws UsageError if the program cannot be proved at all.
Json prove_in_process(const ProvedProgram& what, const ProofSettings& settings, Rank ranks,
                      const std::string& result_file);

}  // namespace wormcube::cli
