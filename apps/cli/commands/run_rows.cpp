// The rows of run's table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/run_rows.hpp"

#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/cost.hpp"

#include <cmath>
#include <optional>

namespace wormcube::cli {

namespace {

/// A bandwidth in the table's unit; JSON has GB/s.
std::string megabytes(std::optional<double> gb_per_s) {
  if (gb_per_s) *gb_per_s *= 1000;
  return cell_rate(gb_per_s);
}

}  // namespace

std::vector<Table::Column> run_columns(const RowNames& names, bool with_calls) {
  return {{.head = "topology", .text = true, .cut = 12, .is_name = true, .names = names.topologies},
          {.head = "algorithm", .text = true, .names = names.algorithms},
          {.head = "ports", .text = true, .wide = true},
          {.head = "workers", .wide = true},
          {.head = "block", .unit = "B", .width = 7},
          {.head = "median", .unit = "us", .width = 7},
          {.head = "min", .unit = "us", .width = 7, .drop = 2},
          {.head = "quartile 1", .unit = "us", .wide = true},
          {.head = "quartile 3", .unit = "us", .wide = true},
          {.head = "max", .unit = "us", .width = 7, .drop = 3},
          {.head = "back to back", .unit = "us", .width = 7, .wide = !with_calls},
          {.head = "algbw", .unit = "MB/s", .wide = true},
          {.head = "busbw", .unit = "MB/s", .width = 8, .drop = 1},
          {.head = "model", .unit = "us", .width = 7},
          {.head = "busiest link", .unit = "B", .wide = true},
          {.head = "blocked headers", .wide = true},
          {.head = "parked", .width = 8, .wide = true},
          {.head = "peak", .unit = "B", .width = 9, .wide = true},
          {.head = "wrong", .unit = "B", .width = 6, .verdict = true}};
}

std::vector<std::string> run_cells(const RunResult& result, bool all_port, std::string workers) {
  const auto number = [](auto value) { return cell(static_cast<double>(value)); };
  return {result.topology,
          result.collective.text(),
          std::string(ports_text(all_port)),
          std::move(workers),
          number(result.block_bytes),
          cell_rate(result.median_us),
          cell_rate(result.min_us),
          cell_rate(result.quartile1_us),
          cell_rate(result.quartile3_us),
          cell_rate(result.max_us),
          cell_rate(result.back_to_back_us),
          megabytes(result.algbw_gb_per_s),
          megabytes(result.busbw_gb_per_s),
          model_cell(result.model_us, result.weighed.at_least()),
          result.has_links ? number(std::round(result.link_bytes_max)) : "-",
          result.has_links ? number(result.blocked) : "-",
          number(result.parked),
          number(result.peak_bytes),
          result.wrong ? std::to_string(*result.wrong) : "?"};
}

std::vector<std::string> run_cells_without_result(const Sweep::Row& row, bool all_port) {
  std::vector<std::string> cells(run_columns({}, false).size(), "-");
  cells[0] = row.topology.name();
  cells[1] = row.collective.text();
  cells[2] = ports_text(all_port);
  cells[4] = std::to_string(row.block_bytes);
  cells.back() = "FAILED";
  return cells;
}

}  // namespace wormcube::cli
