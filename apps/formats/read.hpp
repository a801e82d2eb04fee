// Reads a schedule from a file of any format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

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
/// `file` is PREFIX or one rank's PREFIX.RANK.et. Throws UsageError with the file and the place of
/// a mistake.
ScheduleFile read_schedule_file(const std::string& file);
/// The same as read_schedule_file(); throws UsageError if there are no steps.
ScheduleFile read_steps(const std::string& file);

}  // namespace wormcube::apps
