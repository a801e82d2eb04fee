// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

/// A schedule from a file of any format.
struct ScheduleFile {
  std::string format;                  ///< "wormcube schedule 2", "MSCCL XML"
  std::optional<NamedSchedule> named;  ///< nothing if the file cannot be laid into steps
  std::string no_schedule = {};        ///< why there is none
  std::string no_contents = {};  ///< why contents cannot be proved; empty: messages may have names
  bool is_searched = false;      ///< of messages without names, contents may be searched for
  /// What the rules of the file's own format find: hangs, races, wrong results.
  std::vector<std::string> findings = {};
  std::vector<std::string> notes = {};
  /// What a search found: the same messages with contents that deliver.
  std::optional<NamedSchedule> witness = {};
  /// Of a file of GPUs' thread blocks.
  std::string operation = {};
  Rank nodes = 0;
  std::size_t messages = 0;
};

/// Reads a schedule from a file or a pipe; the content says which format it has. Of Chakra traces,
/// `file` is PREFIX or one rank's PREFIX.RANK.et. Throws UsageError with the file and the place of a
/// mistake.
ScheduleFile read_schedule_file(const std::string& file);
/// Puts the schedule on another network of as many nodes; the router chooses its paths.
void lay_over(ScheduleFile& file, const std::string& on);
/// The same as read_schedule_file(); throws UsageError if there are no steps.
ScheduleFile read_steps(const std::string& file);
/// Makes the file's schedule the algorithm `schedule` of its operation (harness/
/// schedule_algorithm.hpp), for commands that take algorithms. What the command line leaves open
/// comes from the file: operation, network, arguments. Throws UsageError if messages have no names,
/// or if the schedule does not perform the operation.
void use_schedule(const std::string& file, std::string& operation, std::vector<std::string>& on,
                  CallOptions& call);
/// The same for a command that takes one network.
void use_schedule(const std::string& file, std::string& operation, std::string& on,
                  CallOptions& call);
/// For a command whose other algorithms may stand beside the file: adds `schedule` to those that
/// were named, or takes it alone.
void add_schedule_name(std::vector<std::string>& names);
/// Throws UsageError if algorithms were named, for a command that takes the file's alone.
void require_no_algorithms(const std::vector<std::string>& names);
/// \param is_added  beside the command's algorithms, not instead of them
void add_schedule_option(CLI::App& app, std::string& file, bool is_added = false);

}  // namespace wormcube::cli
