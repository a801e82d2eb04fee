// Chakra execution traces (`.et`), the workloads of ASTRA-sim: read, laid into steps, and written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wormcube::apps {

/// Whether bytes begin as a trace: a length, then a message with the fields of GlobalMetadata.
bool is_chakra(std::string_view bytes);

/// The same of the first `chakra_start` bytes of a file, or fewer, which may be compressed: true
/// for every trace, and for some other files.
bool starts_as_chakra(std::string_view start);
inline constexpr std::size_t chakra_start = std::size_t{1} << 16;

/// Compressed bytes (gzip) without the compression, others as they are. Throws UsageError for
/// damaged bytes, for more than `most_bytes`, and for more than 256 MiB and 100 times their size.
std::string unpacked(std::string_view bytes, std::string_view name, double most_bytes);

/// Reads the traces of all ranks, in order, as a schedule on a complete network. COMM_SEND and
/// COMM_RECV nodes are messages, matched by (source, destination, tag) in the order of their ids;
/// COMP nodes take no step. A message's step is its depth among what its ends depend on.
///
/// \param most_bytes  memory that it may take
/// Throws UsageError, "NAME: rank R, node ID: what", for other bytes, for other types of nodes, for
/// ends without their other end, for sizes that differ, and for a cycle.
Schedule parse_chakra(std::span<const std::string> traces, std::string_view name,
                      double most_bytes = 8.0 * 1024 * 1024 * 1024);

/// One rank's trace: a node for each message, which depends on all of the rank's step before. The
/// tag is the step; local work takes no time.
std::string chakra_trace(const Schedule& schedule, Rank rank);

}  // namespace wormcube::apps
