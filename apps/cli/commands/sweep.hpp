// Networks x sizes x algorithms: the rows of run, check and replay, and the calls of show and draw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::cli {

/// The options that these commands share.
struct SweepOptions {
  std::string operation;
  std::vector<std::string> on;
  AlgorithmOptions algorithm;
  CallOptions call;
  const CLI::Option* bytes_option = nullptr;
};

/// Finds the caller's mistakes before the first row. Then it makes each row in turn, and a failed
/// row does not stop the others.
class Sweep {
 public:
  /// One algorithm with its options, on one network, with blocks of one size.
  struct Row {
    const Topology& topology;
    const Collective& collective;
    Bytes block_bytes;
    std::string title;  ///< "alltoall ring on torus:4x4, blocks of 8 bytes"
  };

  /// Throws UsageError for unknown names, and for networks without routes.
  /// \param names_sizes  titles include the size
  Sweep(const SweepOptions& options, std::vector<Topology> topologies, std::vector<Bytes> sizes,
        bool names_sizes = false);
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  /// Finds the rows. Throws UsageError if no algorithm runs.
  /// \param choose  for `auto`
  /// \param limit   for each choice; 0: none
  void select(Context& context, const CostModel& model, const AutoChooser& choose,
              std::chrono::milliseconds limit = {});

  Operation operation() const { return operation_; }
  const Arguments& arguments() const { return arguments_; }
  const std::vector<Topology>& topologies() const { return topologies_; }
  const std::vector<Bytes>& sizes() const { return sizes_; }
  const std::vector<Row>& rows() const { return rows_; }
  RowNames names() const;
  /// Whether one algorithm was requested on one network with one size: JSON is one object.
  bool is_single() const;

  /// The '#' lines of arguments and networks. \param more  text after the arguments: ", in place"
  void print_settings(const OutputOptions& output, std::string_view more = {}) const;

  using Make = std::function<ExitCode(const Row&)>;
  using After = std::function<void(const Topology&, Bytes)>;
  /// Makes each row, and notes refused algorithms.
  ///
  /// \param after  called for each network and size, after its rows
  /// \return       the highest exit code
  ExitCode each(Context& context, const OutputOptions& output, Results& results, Progress& progress,
                const Make& make, const After& after = {}) const;

  /// The cells of a row without a result, with the verdict "FAILED" or "?" at the end; empty: not
  /// printed.
  using CellsOf = std::function<std::vector<std::string>(const std::string& verdict)>;
  /// Makes one row that may fail, exceed its time limit or deadlock. Then it has a note, an error
  /// on standard error, and in JSON its settings with the reason. Throws errors that end the
  /// program, and the refusal of the only row.
  ///
  /// \param settings  what JSON has for the row, whatever its result
  ExitCode attempt(Context& context, Results& results, const Row& row, Json settings,
                   const CellsOf& cells_of, const std::function<ExitCode()>& make) const;

 private:
  const SweepOptions& options_;
  Operation operation_;
  std::vector<Topology> topologies_;
  Arguments arguments_;
  std::vector<Bytes> sizes_;
  bool names_sizes_;
  std::vector<Selection> selections_;  // for each network and size, because `auto` depends on both
  std::vector<Row> rows_;
};

}  // namespace wormcube::cli
