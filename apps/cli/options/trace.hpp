// The options of trace files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/trace.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --trace, --trace-nodes, --trace-steps.
struct TraceOptions {
  std::string file, nodes, steps;

  bool wanted() const { return !file.empty(); }
  /// Throws UsageError, before anything runs, for a file that cannot be written, and for
  /// --trace-nodes or --trace-steps without --trace.
  void validate() const;
  /// Throws UsageError for a text that is not a list of nodes or steps.
  TraceCut cut(Rank nodes) const;
};
/// \param what  the option's description: "Trace the run, by this computer's clock"
void add_trace_options(CLI::App& app, TraceOptions& options, const std::string& what);

/// Writes the file, which gets its name when it is complete. \param write  gets a sink for its lines
TraceCounts write_trace_file(
    const TraceOptions& options,
    const std::function<TraceCounts(const std::function<void(std::string_view)>&)>& write);
/// "trace t.json: 310 slices, 12 left out by --trace-nodes and --trace-steps"
std::string trace_text(const TraceOptions& options, const TraceCounts& counts);

}  // namespace wormcube::cli
