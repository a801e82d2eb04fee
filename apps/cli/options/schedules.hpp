// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/formats/read.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

/// Puts the schedule on another network of as many nodes; the router chooses its paths.
void lay_over(apps::ScheduleFile& file, const std::string& on);
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
