// MSCCL XML: schedules of GPUs' thread blocks, read, judged and laid into steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// The three buffers of a GPU: the caller's input and output, and scratch.
enum class MscclBuffer : std::uint8_t { input, output, scratch };

/// What a step does, in the order of the format's documentation.
enum class MscclType : std::uint8_t { s, r, cpy, re, rcs, rrc, rrs, rrcs, nop };

struct MscclStep {
  MscclType type = MscclType::nop;
  MscclBuffer source = MscclBuffer::input, target = MscclBuffer::input;
  int source_at = 0, target_at = 0, count = 1;
  int wait_block = -1, wait_step = -1;  ///< the thread block and the step that must be done; -1
  bool flagged = false;                 ///< it signals that it is done (hasdep)

  bool sends() const {
    return type == MscclType::s || type == MscclType::rcs || type == MscclType::rrs ||
           type == MscclType::rrcs;
  }
  bool receives() const {
    return type == MscclType::r || type == MscclType::rcs || type == MscclType::rrc ||
           type == MscclType::rrs || type == MscclType::rrcs;
  }
  bool reads() const {
    return type != MscclType::r && type != MscclType::rcs && type != MscclType::nop;
  }
  bool writes() const {
    return type != MscclType::s && type != MscclType::rrs && type != MscclType::nop;
  }
  bool combines() const {
    return type == MscclType::re || type == MscclType::rrc || type == MscclType::rrs ||
           type == MscclType::rrcs;
  }
};
std::string_view to_string(MscclType type);

struct MscclThreadBlock {
  int send = -1, receive = -1, channel = 0;
  std::vector<MscclStep> steps = {};
};

struct MscclGpu {
  int scratch = 0;
  std::vector<MscclThreadBlock> blocks = {};
};

enum class MscclCollective : std::uint8_t {
  allreduce,
  allgather,
  reduce,
  broadcast,
  alltoall,
  reduce_scatter,
  custom
};
std::string_view to_string(MscclCollective collective);

struct MscclAlgorithm {
  std::string name, protocol;
  int channels = 1, chunks = 1;
  MscclCollective collective = MscclCollective::custom;
  bool in_place = false, out_of_place = true;
  std::uint64_t most_bytes = 0;  ///< 0: the format's default
  std::vector<MscclGpu> gpus = {};
  std::vector<std::string> notes = {};  ///< limits of one executor or another that it exceeds

  int ranks() const { return static_cast<int>(gpus.size()); }
  bool reduces() const {
    return collective == MscclCollective::allreduce || collective == MscclCollective::reduce ||
           collective == MscclCollective::reduce_scatter;
  }
  /// Chunks of one block of the operation.
  int parts() const;
  /// The size of a buffer.
  int size(const MscclGpu& gpu, MscclBuffer buffer) const;
};

bool is_msccl(std::string_view text);

/// Throws UsageError, "NAME: gpu G, tb T, step S: what" or "NAME:LINE: what".
///
/// \param most_bytes  memory that it may take
MscclAlgorithm parse_msccl(std::string_view text, std::string_view name,
                           double most_bytes = 8.0 * 1024 * 1024 * 1024);

/// What was found, and what the file says in text 2.
struct MscclVerdict {
  std::vector<std::string> findings;  ///< the first ten
  std::vector<std::string> notes;
  std::optional<std::uint64_t> hangs_from;  ///< the least bytes with which it gets stuck
  std::size_t messages = 0, chunks_sent = 0;
  bool in_place = false, out_of_place = false;  ///< the modes that were checked
  bool proved = false;  ///< no finding, and the data flow was followed to the end
  /// Laid into steps; nothing if it hangs, or if only the FIFOs order its thread blocks. Without
  /// names if it is not proved.
  std::optional<NamedSchedule> schedule;
  std::string no_schedule;  ///< why there is none, or none with names
};

MscclVerdict judge_msccl(const MscclAlgorithm& algorithm);

/// The schedule as MSCCL XML, out of place, with a cell for each value. Throws UsageError for
/// operations that the format does not have, and for a schedule that the proof refuses.
///
/// \param name  the algorithm's name in the file
std::string msccl_text(const NamedSchedule& schedule, std::string_view name);

}  // namespace wormcube::apps
