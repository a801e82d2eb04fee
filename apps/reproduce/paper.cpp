// Evaluates a paper's rows on a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/paper.hpp"

#include "wormcube/runtime/error.hpp"

#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

const Paper& find_paper(std::string_view name) {
  for (const Paper* paper : {&kim_paper(), &suh_paper()}) {
    if (paper->name == name) return *paper;
  }
  throw UsageError(
      fmt::format("reproduce: no paper '{}'; known are {}, {}, dimakopoulos and wang-tseng", name,
                  kim_paper().name, suh_paper().name));
}

namespace {

/// Why a row's algorithm does not run on a network, if so.
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
  std::string text = fmt::format("reproduce {}: no row of its tables is for ", paper.name);
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

double require_pieces(std::string_view what, std::span<const double> pieces,
                      const CheckOptions& options) {
  const double sum = std::accumulate(pieces.begin(), pieces.end(), 0.0);
  if (sum <= static_cast<double>(options.record_pieces)) return sum;
  throw UsageError(fmt::format(
      "{}: its {} dry runs would go through {:.0f} pieces of messages, about a million a "
      "second; up to "
      "{} are recorded; use smaller networks, or allow more and wait (--record-pieces)",
      what, pieces.size(), sum, options.record_pieces));
}

std::vector<double> pieces_to_reproduce(const Paper& paper, std::span<const Topology> topologies,
                                        const CheckOptions& options) {
  std::vector<double> pieces;
  for (const Topology& topology : topologies) {
    for (const PaperRow& row : paper.rows) {
      const Collective collective = collective_of(row);
      if (refusal_of_row(row, collective, topology)) continue;
      pieces.push_back(need_to_check(collective, topology, options).pieces);
    }
  }
  require_pieces(fmt::format("reproduce {}", paper.name), pieces, options);
  return pieces;
}

ReproducedTable reproduce(const Paper& paper, const Topology& topology, const CheckOptions& options,
                          const std::function<void(const ReproducedRow&)>& each) {
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
    result.check = check_collective(collective, topology, options);
    const CheckResult& check = result.check;
    const auto figure = [&](const PrintedFormula& printed, std::optional<double> corrected,
                            double counted) {
      return Figure{printed.text, printed.value(topology), corrected, counted};
    };
    result.startups =
        figure(row.startups, check.predicted.startups, static_cast<double>(check.report.startups));
    result.transmission =
        figure(row.transmission, check.predicted.transmission_blocks, check.transmission_blocks);
    result.rearrangement =
        figure(row.rearrangement, check.predicted.rearranged_blocks, check.rearranged_blocks);
    table.rows.push_back(std::move(result));
    if (each) each(table.rows.back());
  }
  return table;
}

}  // namespace wormcube::apps
