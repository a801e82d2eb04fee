// Evaluates a paper's rows on a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/paper.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

const Paper& find_paper(std::string_view name) {
  for (const Paper* paper : {&kim_paper(), &suh_paper()}) {
    if (paper->name == name) return *paper;
  }
  throw UsageError(
      fmt::format("reproduce: unknown paper '{}'; available: {}, {}, dimakopoulos, wang-tseng",
                  name, kim_paper().name, suh_paper().name));
}

namespace {

/// Why a row's algorithm does not apply to a network, if so.
std::optional<std::string> refusal_of_row(const PaperRow& row, const Collective& collective,
                                          const Topology& topology) {
  const auto reason = refusal(collective, topology);
  if (!reason) return std::nullopt;
  return fmt::format("{} ({}): {}", row.label, row.algorithm, *reason);
}

Collective collective_of(const PaperRow& row) {
  return parse_collective(operations::alltoall, fmt::format("{}{}", row.algorithm, row.options));
}

}  // namespace

void require_rows(const Paper& paper, std::span<const Topology> topologies) {
  std::string text = fmt::format("reproduce {}: no row of its tables applies to ", paper.name);
  for (const Topology& topology : topologies) {
    text += fmt::format("{}{}", &topology == topologies.data() ? "" : ", ", topology.name());
  }
  for (const Topology& topology : topologies) {
    for (const PaperRow& row : paper.rows) {
      const auto reason = refusal_of_row(row, collective_of(row), topology);
      if (!reason) return;
      text += "\n  " + *reason;
    }
  }
  throw UsageError(text);
}

std::vector<double> require_to_check(std::string_view what, std::span<const CheckedRow> rows,
                                     const CheckOptions& options) {
  const auto require = [&](std::string_view unit, std::span<const double> each) {
    const double sum = std::accumulate(each.begin(), each.end(), 0.0);
    if (sum <= static_cast<double>(options.record_pieces)) return;
    throw UsageError(fmt::format(
        "{}: its {} dry runs would visit {:.0f} {}, about a million a second; the limit is {}; "
        "use smaller networks, or raise the limit (--record-pieces)",
        what, rows.size(), sum, unit, options.record_pieces));
  };
  std::vector<double> steps, pieces;  // the former cost nothing to count
  for (const auto& [collective, topology] : rows) {
    steps.push_back(collective.predict(*topology).startups.value_or(0) * topology->nodes());
  }
  require("steps", steps);
  for (const auto& [collective, topology] : rows) {
    pieces.push_back(need_to_check(collective, *topology, options).pieces);
  }
  require("pieces of messages", pieces);
  return pieces;
}

std::vector<double> pieces_to_reproduce(const Paper& paper, std::span<const Topology> topologies,
                                        const CheckOptions& options, Rank count_up_to) {
  std::vector<CheckedRow> rows;
  for (const Topology& topology : topologies) {
    if (topology.nodes() > count_up_to) continue;
    for (const PaperRow& row : paper.rows) {
      const Collective collective = collective_of(row);
      if (!refusal_of_row(row, collective, topology)) rows.push_back({collective, &topology});
    }
  }
  return require_to_check(fmt::format("reproduce {}", paper.name), rows, options);
}

ReproducedTable reproduce(const Paper& paper, const Topology& topology, const CheckOptions& options,
                          const std::function<void(const ReproducedRow&)>& each, Rank count_up_to) {
  ReproducedTable table;
  table.network = topology.name();
  for (const PaperRow& row : paper.rows) {
    const Collective collective = collective_of(row);
    if (auto reason = refusal_of_row(row, collective, topology)) {
      table.refused.push_back(*std::move(reason));
      continue;
    }
    ReproducedRow result;
    result.row = &row;
    result.collective = collective;
    Prediction predicted;
    if (topology.nodes() <= count_up_to) {
      result.check = check_collective(collective, topology, options);
      predicted = result.check->predicted;
    } else {
      predicted = collective.predict(topology);
    }
    const auto figure = [&](const PrintedFormula& printed, std::optional<double> corrected,
                            auto counted) {
      Figure found{printed.text, printed.value(topology), corrected, {}};
      if (result.check) found.counted = counted(*result.check);
      return found;
    };
    result.startups = figure(row.startups, predicted.startups, [](const CheckResult& check) {
      return static_cast<double>(check.report.startups);
    });
    result.transmission =
        figure(row.transmission, predicted.transmission_blocks,
               [](const CheckResult& check) { return check.transmission_blocks; });
    result.rearrangement = figure(row.rearrangement, predicted.rearranged_blocks,
                                  [](const CheckResult& check) { return check.rearranged_blocks; });
    result.working_space = figure(row.working_space, predicted.working_blocks,
                                  [](const CheckResult& check) { return check.working_blocks; });
    table.rows.push_back(std::move(result));
    if (each) each(table.rows.back());
  }
  return table;
}

}  // namespace wormcube::apps
