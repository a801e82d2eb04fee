// wormcube check --schedule: the laws and counts of a schedule from a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/output/files.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace wormcube::cli {

/// What `check --schedule` checks.
struct ScheduleCheck {
  std::string file;
  std::string on;     ///< another network of as many nodes; empty: the file's
  std::string as;     ///< the operation; empty: the file's
  CallOptions call;   ///< its arguments
  std::string ports;  ///< "one", "all", or "auto": all if a node sends or receives several
  int virtual_channels = 2;
  std::int64_t prove_messages = 0;
  std::optional<Bytes> block_bytes = {};  ///< for the search; nothing: what divides all messages
};
ExitCode check_schedule(const Context& context, const ScheduleCheck& what,
                        const OutputOptions& output);

}  // namespace wormcube::cli
