// Execution plans of MSCCL++: thread blocks that write into each other's memory, read and judged.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// What an operation of a thread block does, by its name in the file.
enum class PlanType : std::uint8_t {
  nop,
  barrier,
  put,
  pws,
  pwsf,
  get,
  copy,
  signal,
  wait,
  flush,
  re,
  res,
  rre,
  rres,
  ppkt,
  rppkt,
  respkt,
  cpkt,
  upkt,
  repkt,
  recpkt,
  recspkt,
  glres,
  gstore,
  gstorepkt,
  rlxsignal,
  rlxwait,
  sem_acquire,
  sem_release
};
std::string_view to_string(PlanType type);

/// Chunks of a buffer of one GPU, or of all GPUs of a switch channel.
struct PlanChunks {
  std::vector<int> gpus;
  MscclBuffer buffer = MscclBuffer::input;
  int at = 0, count = 1;
};

struct PlanOperation {
  PlanType type = PlanType::nop;
  int step = 0, inner = -1;  ///< its number in the thread block, and within a pipeline
  bool port = false;         ///< on port channels
  std::vector<PlanChunks> sources = {}, targets = {};
  std::vector<int> channels = {};  ///< numbers of ends (MscclppPlan::ends)
  std::vector<int> semaphores = {};
  int barrier = 0, barrier_blocks = 1;
  int part = 0, parts = 1;  ///< the thread block of a group, and how many they are
};

/// One end of a channel.
struct PlanEnd {
  int gpu = 0, peer = 0;
  bool port = false;
  int number = 0;    ///< among the GPU's channels of this type
  int partner = -1;  ///< the other end; -1: the plan has none
};

struct PlanGpu {
  int input = 0, output = 0, scratch = 0;  ///< chunks
  std::vector<int> semaphores = {};        ///< their initial values
  std::vector<std::vector<PlanOperation>> blocks = {};
};

struct MscclppPlan {
  std::string name, collective_name;
  MscclCollective collective = MscclCollective::custom;
  bool in_place = false;
  std::vector<PlanGpu> gpus = {};
  std::vector<PlanEnd> ends = {};
  int units = 1;  ///< cells of a chunk: thread block groups divide chunks
  std::vector<std::string> notes = {};

  int ranks() const { return static_cast<int>(gpus.size()); }
  int size(int gpu, MscclBuffer buffer) const;
};

/// Whether the text is JSON.
bool is_mscclpp(std::string_view text);

/// Throws UsageError, "NAME: gpu G, tb T, step S: what" or "NAME:LINE: what".
///
/// \param most_bytes  memory that reading and judging may take
MscclppPlan parse_mscclpp(std::string_view text, std::string_view name,
                          double most_bytes = 8.0 * 1024 * 1024 * 1024);

/// Hangs, data flow, races. What is right becomes text 2; a message's tag is 0, and its bytes are
/// chunks (cells, if thread block groups divide chunks).
MscclVerdict judge_mscclpp(const MscclppPlan& plan);

}  // namespace wormcube::apps
