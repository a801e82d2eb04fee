// Reads execution plans of MSCCL++, and refuses what its executor would not take.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp.hpp"
#include "wormcube/apps/formats/mscclpp_json.hpp"
#include "wormcube/apps/formats/mscclpp_shapes.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace wormcube::apps {

namespace {

constexpr std::array<std::string_view, 29> plan_types{
    "nop",       "barrier",   "put",     "pws",         "pwsf",       "get",     "copy",  "signal",
    "wait",      "flush",     "re",      "res",         "rre",        "rres",    "ppkt",  "rppkt",
    "respkt",    "cpkt",      "upkt",    "repkt",       "recpkt",     "recspkt", "glres", "gstore",
    "gstorepkt", "rlxsignal", "rlxwait", "sem_acquire", "sem_release"};

class PlanReader : private PlanJson {
 public:
  using PlanJson::PlanJson;

  MscclppPlan read(const Json& root) {
    where_ = "outside its GPUs";
    if (!root.is_object()) fail("an object expected");
    plan_.name = shown(string(root, "name", ""));
    plan_.collective_name = shown(string(root, "collective", "custom"), 20);
    plan_.collective = collective(plan_.collective_name);
    plan_.in_place = boolean(root, "inplace");
    const Json& gpus = list(root, "gpus", true);
    constexpr std::size_t most_gpus = 4096;
    if (gpus.empty() || gpus.size() > most_gpus)
      fail(fmt::format("{} GPUs; expected 1 to {}", gpus.size(), most_gpus));
    plan_.gpus.resize(gpus.size());
    tables_.resize(gpus.size());
    for (gpu_ = 0; gpu_ < plan_.ranks(); ++gpu_) {
      where_ = fmt::format("gpu {}", gpu_);
      if (number(gpus[index(gpu_)], "id", {}, 0, any_number) != gpu_)
        fail("GPUs are numbered from 0 without gaps");
      read_tables(gpus[index(gpu_)]);
    }
    require_sizes();
    join_ends();
    for (gpu_ = 0; gpu_ < plan_.ranks(); ++gpu_) read_blocks(gpus[index(gpu_)]);
    if (boolean(root, "reuse_resources"))
      plan_.notes.emplace_back(
          "reuse_resources: scratch memory that a later iteration reuses is not checked");
    if (has_pipeline_) plan_.notes.emplace_back("of each pipeline, only one iteration is checked");
    require_memory();
    return std::move(plan_);
  }

 private:
  struct Group {
    MscclBuffer buffer;
    std::vector<int> ranks;
  };
  struct Remote {
    int gpu;
    MscclBuffer buffer;
    bool memory = false, port = false;
  };
  struct Tables {
    std::vector<int> memory_ends, port_ends;
    std::vector<Group> groups;
    std::vector<Remote> remote;
  };
  /// What a thread block may name, by its own numbers.
  struct Names {
    std::vector<int> memory_ends, port_ends, groups, memory_buffers, port_buffers;
  };

  static MscclCollective collective(std::string_view name) {
    if (name == "reducescatter") return MscclCollective::reduce_scatter;
    for (const auto each :
         {MscclCollective::allreduce, MscclCollective::allgather, MscclCollective::reduce,
          MscclCollective::broadcast, MscclCollective::alltoall, MscclCollective::reduce_scatter}) {
      if (to_string(each) == name) return each;
    }
    return MscclCollective::custom;
  }

  // Channels, remote buffers and semaphores of a GPU.

  void read_tables(const Json& gpu) {
    PlanGpu& own = plan_.gpus[index(gpu_)];
    constexpr int most_chunks = 1 << 20, most_value = 1 << 20;
    own.input = number(gpu, "input_chunks", {}, 0, most_chunks);
    own.output = number(gpu, "output_chunks", {}, 0, most_chunks);
    own.scratch = number(gpu, "scratch_chunks", 0, 0, most_chunks);
    for (const Json& semaphore : list(gpu, "semaphores", false))
      own.semaphores.push_back(number(semaphore, "init_value", 0, 0, most_value));
    for (const Json& channel : list(gpu, "channels", false)) read_channel(channel);
    for (const Json& remote : list(gpu, "remote_buffers", false)) {
      Remote read{number(remote, "rank", {}, 0, plan_.ranks() - 1),
                  buffer(string(remote, "type", ""), "type")};
      for (const Json& type : list(remote, "access_channel_types", true)) {
        if (!type.is_string()) fail("access_channel_types: a string expected");
        read.memory = read.memory || type == "memory";
        read.port = read.port || type == "port";
      }
      tables_[index(gpu_)].remote.push_back(read);
    }
  }

  void read_channel(const Json& channel) {
    Tables& tables = tables_[index(gpu_)];
    const std::string type = channel_type(channel, "channel_type");
    if (type == "switch") {
      if (member(channel, "buffer_type") == nullptr) {
        fail(
            "a switch channel without buffer_type: a plan of an older version, which the executor "
            "does not read");
      }
      const MscclBuffer of = buffer(string(channel, "buffer_type", ""), "buffer_type");
      for (const Json& group : list(channel, "rank_groups", true)) {
        Group read{of, {}};
        for (const Json& rank : list(group, "ranks", true))
          read.ranks.push_back(whole(rank, "ranks", 0, plan_.ranks() - 1));
        std::ranges::sort(read.ranks);
        if (std::ranges::adjacent_find(read.ranks) != read.ranks.end())
          fail("a switch channel has a GPU twice");
        tables.groups.push_back(std::move(read));
      }
      return;
    }
    const bool port = type == "port";
    std::vector<int>& ends = port ? tables.port_ends : tables.memory_ends;
    for (const Json& peer : list(channel, "connected_to", true)) {
      charge(sizeof(PlanEnd));
      const int to = whole(peer, "connected_to", 0, plan_.ranks() - 1);
      if (to == gpu_) fail(fmt::format("a channel to gpu {} itself", gpu_));
      plan_.ends.push_back({gpu_, to, port, static_cast<int>(ends.size())});
      ends.push_back(static_cast<int>(plan_.ends.size() - 1));
    }
  }

  /// The n-th channel of a type from one GPU to another belongs to the n-th of the way back.
  void join_ends() {
    std::map<std::tuple<int, int, bool>, std::vector<int>> of_pair;
    for (std::size_t e = 0; e < plan_.ends.size(); ++e) {
      const PlanEnd& end = plan_.ends[e];
      of_pair[{end.gpu, end.peer, end.port}].push_back(static_cast<int>(e));
    }
    for (const auto& [pair, ends] : of_pair) {
      const auto& [gpu, peer, port] = pair;
      const auto back = of_pair.find({peer, gpu, port});
      if (back == of_pair.end()) continue;
      for (std::size_t i = 0; i < std::min(ends.size(), back->second.size()); ++i)
        plan_.ends[index(ends[i])].partner = back->second[i];
    }
  }

  /// Every GPU has the same buffers, of the sizes that the collective needs.
  void require_sizes() {
    const int ranks = plan_.ranks();
    for (gpu_ = 0; gpu_ < ranks; ++gpu_) {
      where_ = fmt::format("gpu {}", gpu_);
      PlanGpu& gpu = plan_.gpus[index(gpu_)];
      if (plan_.collective == MscclCollective::custom) continue;
      const bool is_gather = plan_.collective == MscclCollective::allgather;
      const bool is_scatter = plan_.collective == MscclCollective::reduce_scatter;
      const std::int64_t wanted = is_gather    ? std::int64_t{gpu.input} * ranks
                                  : is_scatter ? gpu.input / ranks
                                               : gpu.input;
      if (gpu.output == 0 && plan_.in_place && !is_scatter && !is_gather) gpu.output = gpu.input;
      const bool cut = is_scatter || plan_.collective == MscclCollective::alltoall;
      if (gpu.input == 0 || gpu.output != wanted || (cut && gpu.input % ranks != 0)) {
        fail(fmt::format("input_chunks {}, output_chunks {}: not those of {} on {} GPUs", gpu.input,
                         gpu.output, plan_.collective_name, ranks));
      }
      if (gpu.input != plan_.gpus.front().input)
        fail(fmt::format("input_chunks {}, but gpu 0 has {}", gpu.input, plan_.gpus.front().input));
    }
  }

  // Thread blocks.

  void read_blocks(const Json& gpu) {
    PlanGpu& own = plan_.gpus[index(gpu_)];
    for (const Json& block : list(gpu, "threadblocks", true)) {
      charge(sizeof(std::vector<PlanOperation>));
      block_ = static_cast<int>(own.blocks.size());
      where_ = fmt::format("gpu {}, tb {}", gpu_, block_);
      if (number(block, "id", {}, 0, any_number) != block_)
        fail("thread blocks are numbered from 0 without gaps");
      own.blocks.emplace_back();
      read_names(block);
      step_ = 0;
      for (const Json& operation : list(block, "ops", true)) {
        read_operation(operation, -1);
        ++step_;
      }
      constexpr std::size_t most_operations = 64;
      const std::size_t operations = own.blocks.back().size();
      if (operations > most_operations && !is_long_) {
        is_long_ = true;
        plan_.notes.push_back(fmt::format("gpu {}, tb {} has {} operations; executors take {}",
                                          gpu_, block_, operations, most_operations));
      }
    }
  }

  void read_names(const Json& block) {
    names_ = {};
    const Tables& tables = tables_[index(gpu_)];
    for (const Json& channel : list(block, "channels", false)) {
      const std::string type = channel_type(channel, "channel_type");
      const std::vector<int>& of_gpu = type == "port" ? tables.port_ends : tables.memory_ends;
      const int size = static_cast<int>(type == "switch" ? tables.groups.size() : of_gpu.size());
      for (const Json& id : list(channel, "channel_ids", true)) {
        const int number = channel_number(id, "channel_ids", type, size);
        if (type == "switch") {
          names_.groups.push_back(number);
        } else {
          (type == "port" ? names_.port_ends : names_.memory_ends).push_back(of_gpu[index(number)]);
        }
      }
    }
    for (const Json& refs : list(block, "remote_buffer_refs", false)) {
      const std::string type = channel_type(refs, "access_channel_type");
      for (const Json& id : list(refs, "remote_buffer_ids", true)) {
        const int number =
            channel_number(id, "remote_buffer_ids", type, static_cast<int>(tables.remote.size()));
        const Remote& remote = tables.remote[index(number)];
        if (!(type == "port" ? remote.port : remote.memory))
          fail(fmt::format("remote buffer {} is not accessed through {} channels", number, type));
        (type == "port" ? names_.port_buffers : names_.memory_buffers).push_back(number);
      }
    }
  }
  int channel_number(const Json& id, const char* key, const std::string& type, int size) const {
    const int number = whole(id, key, 0, any_number);
    if (number >= size) fail(fmt::format("{}: {} of {} ({})", key, number, size, type));
    return number;
  }

  void read_operation(const Json& json, int inner) {
    where_ = inner < 0 ? fmt::format("gpu {}, tb {}, step {}", gpu_, block_, step_)
                       : fmt::format("gpu {}, tb {}, step {}.{}", gpu_, block_, step_, inner);
    const std::string name = string(json, "name", "");
    if (name == "pipeline") {
      if (inner >= 0) fail("a pipeline in a pipeline");
      has_pipeline_ = true;
      int number = 0;
      for (const Json& each : list(json, "ops", true)) read_operation(each, number++);
      return;
    }
    const auto found = std::ranges::find(plan_types, name);
    if (found == plan_types.end()) fail(fmt::format("operation '{}' is unknown", shown(name, 20)));
    PlanOperation operation{
        .type = static_cast<PlanType>(found - plan_types.begin()), .step = step_, .inner = inner};
    charge(2 * sizeof(PlanOperation));
    read_channels(json, operation);
    for (const Json& semaphore : list(json, "semaphore_ids", false)) {
      const int number = whole(semaphore, "semaphore_ids", 0, any_number);
      const std::size_t size = plan_.gpus[index(gpu_)].semaphores.size();
      if (index(number) >= size) fail(fmt::format("semaphore {} of {}", number, size));
      operation.semaphores.push_back(number);
    }
    if (operation.type == PlanType::barrier) {
      operation.barrier = number(json, "barrier_id", {}, 0, any_number);
      operation.barrier_blocks = number(json, "num_threadblocks", {}, 1, any_number);
    }
    if (const Json* const group = member(json, "tbg_info")) {
      constexpr int most_blocks = 64;
      operation.parts = number(*group, "tbg_size", {}, 1, most_blocks);
      operation.part = number(*group, "tb_id", {}, 0, operation.parts - 1);
      const int units = std::lcm(plan_.units, operation.parts);
      constexpr int most_units = 1 << 16;
      if (units > most_units) fail("thread block groups of too many different sizes");
      plan_.units = units;
    }
    if (const auto shape = plan_shape(operation.type, operation.port))
      read_operands(json, *shape, operation);
    add(std::move(operation));
  }

  /// On port channels, each target is a request of its own to a proxy of its own.
  void add(PlanOperation operation) {
    std::vector<PlanOperation>& block = plan_.gpus[index(gpu_)].blocks.back();
    if (!operation.port || operation.targets.size() < 2) {
      block.push_back(std::move(operation));
      return;
    }
    for (std::size_t i = 0; i < operation.targets.size(); ++i) {
      PlanOperation each = operation;
      each.sources = {operation.sources[std::min(i, operation.sources.size() - 1)]};
      each.targets = {operation.targets[i]};
      each.channels = {operation.channels[i]};
      block.push_back(std::move(each));
    }
  }

  void read_channels(const Json& json, PlanOperation& operation) {
    const std::string type = channel_type(json, "channel_type");
    operation.port = type == "port";
    if (needs_port(operation.type) && !operation.port)
      fail(fmt::format("{} on {} channels; expected port", to_string(operation.type), type));
    if (operation.port && !may_use_port(operation.type))
      fail(fmt::format("{} on port channels; expected memory", to_string(operation.type)));
    const std::vector<int>& known = operation.port ? names_.port_ends : names_.memory_ends;
    if (type == "switch") return;
    for (const Json& id : list(json, "channel_ids", false)) {
      operation.channels.push_back(
          known[index(channel_number(id, "channel_ids", type, static_cast<int>(known.size())))]);
      charge(sizeof(int));
    }
  }

  void read_operands(const Json& json, const PlanShape& shape, PlanOperation& operation) {
    operation.sources = operands(json, "src_buff", shape.sources, operation);
    operation.targets = operands(json, "dst_buff", shape.targets, operation);
    const std::size_t sources = operation.sources.size(), targets = operation.targets.size();
    if (shape.pairs && sources != targets)
      fail(fmt::format("{} src_buff and {} dst_buff; expected the same number of both", sources,
                       targets));
    if (operation.port && operation.channels.size() < targets)
      fail(fmt::format("{} dst_buff, but {} channel_ids", targets, operation.channels.size()));
    for (std::size_t i = 0; i < std::max(sources, targets); ++i) {
      const int count = operation.sources[shape.pairs ? i : 0].count;
      for (const auto* const all : {&operation.sources, &operation.targets}) {
        if (i < all->size() && (*all)[i].count != count)
          fail(fmt::format("src_buff of {} chunks, but a buffer of {}", count, (*all)[i].count));
      }
    }
  }

  std::vector<PlanChunks> operands(const Json& json, const char* key, const PlanOperands& wanted,
                                   const PlanOperation& operation) {
    const Json& all = list(json, key, true);
    const auto size = static_cast<int>(std::min<std::size_t>(all.size(), any_number));
    if (size < wanted.least || size > wanted.most)
      fail(fmt::format("{} {}; {} takes {}{}", size, key, to_string(operation.type), wanted.least,
                       wanted.most > wanted.least ? " or more" : ""));
    std::vector<PlanChunks> result;
    for (const Json& each : all) {
      // Of the targets of `recpkt` and `recspkt`, the second is local.
      const bool is_first = result.size() < static_cast<std::size_t>(std::min(wanted.least, 2));
      result.push_back(operand(each, key, is_first ? wanted.first : wanted.others, operation.port));
    }
    return result;
  }

  PlanChunks operand(const Json& json, const char* key, OperandPlace place, bool port) {
    PlanChunks chunks;
    constexpr int most = 1 << 20;
    chunks.at = number(json, "index", {}, 0, most);
    chunks.count = number(json, "size", {}, 1, most);
    if (place == OperandPlace::group) {
      const int id = number(json, "switch_channel_id", {}, 0, any_number);
      if (index(id) >= names_.groups.size())
        fail(fmt::format("switch_channel_id {} of {}", id, names_.groups.size()));
      const Group& group = tables_[index(gpu_)].groups[index(names_.groups[index(id)])];
      chunks.gpus = group.ranks, chunks.buffer = group.buffer;
      if (std::ranges::find(group.ranks, gpu_) == group.ranks.end())
        fail(fmt::format("a switch channel without gpu {}", gpu_));
    } else if (place == OperandPlace::remote) {
      const std::vector<int>& known = port ? names_.port_buffers : names_.memory_buffers;
      const int id = number(json, "buffer_id", {}, 0, any_number);
      if (index(id) >= known.size()) fail(fmt::format("buffer_id {} of {}", id, known.size()));
      const Remote& remote = tables_[index(gpu_)].remote[index(known[index(id)])];
      chunks.gpus = {remote.gpu}, chunks.buffer = remote.buffer;
    } else {
      chunks.gpus = {gpu_}, chunks.buffer = buffer(string(json, "type", ""), "type");
      if (place == OperandPlace::packets && chunks.buffer != MscclBuffer::scratch)
        fail(fmt::format("{}: packets are read from scratch", key));
    }
    for (const int gpu : chunks.gpus) {
      const int size = plan_.size(gpu, chunks.buffer);
      if (chunks.at + chunks.count > size) {
        fail(fmt::format("{}: gpu {}, {}[{}..{}] of {} chunks", key, gpu,
                         chunks.buffer == MscclBuffer::input    ? 'i'
                         : chunks.buffer == MscclBuffer::output ? 'o'
                                                                : 's',
                         chunks.at, chunks.at + chunks.count - 1, size));
      }
    }
    charge(sizeof(PlanChunks) + sizeof(PlanOperation) +
           4.0 * static_cast<double>(chunks.gpus.size()));
    return chunks;
  }

  /// What judging takes: accesses of each cell, and a clock of all lanes for each operation that
  /// others may wait for.
  void require_memory() {
    where_ = "outside its GPUs";
    double cells = 0, touched = 0, operations = 0, lanes = static_cast<double>(plan_.ends.size());
    for (const PlanGpu& gpu : plan_.gpus) {
      cells += gpu.input + gpu.output + gpu.scratch;
      lanes += 2.0 * static_cast<double>(gpu.blocks.size());
      for (const auto& block : gpu.blocks) {
        for (const PlanOperation& operation : block) {
          operations +=
              1 + static_cast<double>(operation.channels.size() + operation.semaphores.size());
          for (const auto* const all : {&operation.sources, &operation.targets}) {
            for (const PlanChunks& chunks : *all)
              touched +=
                  static_cast<double>(chunks.count) * static_cast<double>(chunks.gpus.size());
          }
        }
      }
    }
    constexpr double bytes_of_cell = 96, bytes_of_touch = 128, bytes_of_time = 4;
    charge(plan_.units * (cells * bytes_of_cell + touched * bytes_of_touch) +
           (operations + lanes) * lanes * bytes_of_time);
  }

  MscclppPlan plan_;
  std::vector<Tables> tables_;
  Names names_;
  int gpu_ = 0, block_ = 0, step_ = 0;
  bool has_pipeline_ = false, is_long_ = false;
};

}  // namespace

std::string_view to_string(PlanType type) { return plan_types[static_cast<std::size_t>(type)]; }

int MscclppPlan::size(int gpu, MscclBuffer buffer) const {
  const PlanGpu& of = gpus[static_cast<std::size_t>(gpu)];
  return buffer == MscclBuffer::input    ? of.input
         : buffer == MscclBuffer::output ? of.output
                                         : of.scratch;
}

bool is_mscclpp(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != text.npos && text[first] == '{';
}

MscclppPlan parse_mscclpp(std::string_view text, std::string_view name, double most_bytes) {
  constexpr double bytes_of_byte = 40;  // of a document's nodes, for each byte of its text
  const double bytes = static_cast<double>(text.size()) * bytes_of_byte;
  if (bytes > most_bytes) {
    throw UsageError(fmt::format("{}: reading it would take {:.0f} MiB of memory; there are {:.0f}",
                                 name, bytes / (1024 * 1024), most_bytes / (1024 * 1024)));
  }
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    throw UsageError(fmt::format("{}:{}: not JSON", name, std::ranges::count(before, '\n') + 1));
  }
  if (!root.contains("gpus")) {
    throw UsageError(
        fmt::format("{}: not a schedule: JSON without `gpus` (expected a plan of MSCCL++)", name));
  }
  return PlanReader(name, most_bytes - bytes).read(root);
}

}  // namespace wormcube::apps
