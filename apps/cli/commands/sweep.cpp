// Networks x sizes x algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/sweep.hpp"

#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/aliases.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

Sweep::Sweep(const SweepOptions& options, std::vector<Topology> topologies,
             std::vector<Bytes> sizes, bool names_sizes)
    : options_(options),
      operation_(parse_operation(options.operation)),
      topologies_(std::move(topologies)),
      arguments_(options.call.resolve(operation_)),
      sizes_(std::move(sizes)),
      names_sizes_(names_sizes) {
  for (const Topology& topology : topologies_) topology.require_routable();
  require_data(options.bytes_option, operation_);
}

void Sweep::select(Context& context, const CostModel& model, const AutoChooser& choose,
                   std::chrono::milliseconds limit) {
  selections_.reserve(topologies_.size() * sizes_.size());  // rows point into it
  for (const Topology& topology : topologies_) {
    for (const Bytes bytes : sizes_) {
      const TimeLimited choosing(context, limit);
      selections_.push_back(cli::select(options_.algorithm, operation_, topology, arguments_, model,
                                        bytes, topologies_.size() > 1, choose));
      for (const Collective& collective : selections_.back().collectives) {
        std::string title =
            fmt::format("{} {} on {}", operation_->name, collective.text(), topology.name());
        if (names_sizes_) title += fmt::format(", blocks of {} bytes", bytes);
        rows_.push_back({topology, collective, bytes, std::move(title)});
      }
    }
  }
  require_some(operation_, selections_);
}

RowNames Sweep::names() const {
  RowNames names;
  for (std::size_t i = 0; i < selections_.size(); ++i) {
    names.add(topologies_[i / sizes_.size()], selections_[i]);
  }
  return names;
}

bool Sweep::is_single() const {
  return options_.algorithm.single() && topologies_.size() == 1 && sizes_.size() == 1;
}

void Sweep::print_settings(const OutputOptions& output, std::string_view more) const {
  if (const std::string text = arguments_text(operation_, arguments_); !text.empty()) {
    print_setting(output, "arguments", text + std::string(more));
  }
  for (const Topology& topology : topologies_) {
    print_setting(output, "topology", topology_text(topology));
  }
}

ExitCode Sweep::each(Context& context, const OutputOptions& output, Results& results,
                     Progress& progress, const Make& make, const After& after) const {
  ExitCode worst = passed;
  long done = 0;
  auto row = rows_.begin();
  for (const std::string& note : alias_notes(operation_, options_.algorithm.names))
    results.note(note);
  for (std::size_t i = 0; i < selections_.size(); ++i) {
    for (std::size_t left = selections_[i].collectives.size(); left > 0; --left, ++row) {
      progress.doing(row->title);
      progress(done++, std::ssize(rows_));
      context.set_doing(row->title);
      worst = std::max(worst, make(*row));
    }
    if ((i + 1) % sizes_.size() == 0)  // the same for all sizes
      note_refused(results, options_.algorithm, output, selections_[i].refused);
    if (after) after(topologies_[i / sizes_.size()], sizes_[i % sizes_.size()]);
  }
  return worst;
}

ExitCode Sweep::attempt(Context& context, Results& results, const Row& row, Json settings,
                        const CellsOf& cells_of, const std::function<ExitCode()>& make) const {
  results.begin(std::move(settings));
  try {
    return make();
  } catch (...) {
    const auto failure = failure_of(std::current_exception());
    // One of several processes may refuse alone; they must end together.
    const bool ends_all = rows_.size() == 1 || context.cluster() != nullptr;
    if (!failure || (failure->code == usage && ends_all)) throw;
    if (context.is_first_process()) complain(fmt::format("{}: {}", row.title, failure->text));
    const std::string reason = failure->first_line();
    const bool failed_here = failure->code == failed;
    if (const auto cells = cells_of(failed_here ? "FAILED" : "?"); cells.empty()) {
      results.no_result(failure->status, reason);
    } else {
      results.add_without_result(cells, failure->status, reason);
    }
    results.note(
        fmt::format("{}: {}: {}", failed_here ? "FAILED" : "no result", row.title, reason));
    return failure->code;
  }
}

}  // namespace wormcube::cli
