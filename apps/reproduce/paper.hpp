// A paper's tables beside the actual behaviour of its algorithms: printed, corrected, counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// One entry of a printed table: the formula as printed, and its value for a network; empty if the
/// paper gives none for that network.
struct PrintedFormula {
  std::string_view text;
  std::optional<double> (*value)(const Topology&);
};

/// One row of a printed table.
struct PaperRow {
  std::string_view label;         ///< as the paper names it: "A1", "[10]"
  std::string_view algorithm;     ///< of the registry
  std::string_view options = {};  ///< ":divisions=2", after the algorithm's name
  PrintedFormula startups, transmission, rearrangement;
  bool in_print = true;  ///< false: of the same family, but not in the paper's table
  PrintedFormula working_space = {"not printed",
                                  [](const Topology&) -> std::optional<double> { return {}; }};
};

/// An error in print, and the evidence.
struct Erratum {
  std::string_view name;     ///< "kim-1"
  std::string_view place;    ///< where in the paper
  std::string_view printed;  ///< the printed text
  std::string_view correct;  ///< the correct statement
};

struct Paper {
  std::string_view name;  ///< of the command line
  std::string_view citation;
  std::string_view shape;  ///< the shapes that it covers: "torus", "mesh"
  std::vector<std::string> default_networks;
  std::vector<PaperRow> rows;
  std::vector<Erratum> errata;
  /// Networks that represent the size N of the paper's tables; empty if it has none.
  std::string (*network_of_size)(int);
};

const Paper& kim_paper();
const Paper& suh_paper();
/// Throws UsageError that lists the papers.
const Paper& find_paper(std::string_view name);

/// One figure from three sources, in steps or blocks.
struct Figure {
  std::string_view formula;         ///< as printed
  std::optional<double> printed;    ///< its value
  std::optional<double> corrected;  ///< from the registry's prediction
  std::optional<double> counted;  ///< from the recorded program; nothing: the network is too large
  bool agrees() const { return corrected && corrected == counted; }
};

/// One row of a table for one network.
struct ReproducedRow {
  const PaperRow* row = nullptr;
  Collective collective;
  std::optional<CheckResult> check;  ///< nothing: the network is too large, no program was recorded
  Figure startups, transmission, rearrangement, working_space;
  bool passed() const {
    return !check || (check->passed() && startups.agrees() && transmission.agrees());
  }
  /// passed(); nothing if delivery was not proved, or no program was recorded.
  std::optional<bool> verdict() const {
    return !passed() ? false : check ? check->verdict() : std::nullopt;
  }
};

/// A network's rows, and those that its shape does not admit, with the reason.
struct ReproducedTable {
  std::string network;
  std::vector<ReproducedRow> rows;
  std::vector<std::string> refused;
};

/// Throws UsageError, with the reasons, if none of these networks admits any row.
void require_rows(const Paper& paper, std::span<const Topology> topologies);

/// One check of several.
struct CheckedRow {
  Collective collective;
  const Topology* topology;
};
/// The pieces of messages in each dry run, before any run. Throws UsageError, with the figures, if
/// one needs more memory than is available, or if all together visit more pieces, or steps of
/// nodes, than CheckOptions::record_pieces. \param what  "reproduce kim"
std::vector<double> require_to_check(std::string_view what, std::span<const CheckedRow> rows,
                                     const CheckOptions& options);
/// The same for each row of each network, in their order. \param count_up_to  nodes: no program is
/// recorded on larger networks
std::vector<double> pieces_to_reproduce(const Paper& paper, std::span<const Topology> topologies,
                                        const CheckOptions& options, Rank count_up_to);

/// More nodes than this are by default not recorded: only formulas are shown.
inline constexpr Rank most_counted_nodes = 40000;

/// \param each  called with every row when it is complete; may be empty
ReproducedTable reproduce(const Paper& paper, const Topology& topology, const CheckOptions& options,
                          const std::function<void(const ReproducedRow&)>& each = {},
                          Rank count_up_to = most_counted_nodes);

}  // namespace wormcube::apps
