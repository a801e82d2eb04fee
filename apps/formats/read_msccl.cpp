// Reads MSCCL XML, and refuses what an executor would not take.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/apps/formats/xml.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr std::array<std::string_view, 9> msccl_types{"s",   "r",   "cpy",  "re", "rcs",
                                                      "rrc", "rrs", "rrcs", "nop"};
constexpr std::array<std::string_view, 7> msccl_collectives{
    "allreduce", "allgather", "reduce", "broadcast", "alltoall", "reduce_scatter", "custom"};

class MscclReader {
 public:
  explicit MscclReader(std::string_view name) : name_(name) {}

  MscclAlgorithm read(const XmlElement& algo) {
    MscclAlgorithm result;
    where_ = fmt::format("line {}", algo.line);
    result.name = shown(text(algo, "name", ""));
    result.protocol = std::string(text(algo, "proto", "Simple"));
    constexpr std::array<std::string_view, 3> protocols{"Simple", "LL", "LL128"};
    if (std::ranges::find(protocols, result.protocol) == protocols.end())
      fail(fmt::format("proto '{}'; expected Simple, LL or LL128", shown(result.protocol)));
    result.channels = number(algo, "nchannels", 1, 1, 32);
    const int ranks = number(algo, "ngpus", {}, 1, 4096);
    result.chunks = number(algo, "nchunksperloop", {}, 1, 1 << 20);
    result.collective = collective(text(algo, "coll", ""));
    result.in_place = number(algo, "inplace", 0, 0, 1) == 1;
    result.out_of_place = number(algo, "outofplace", result.in_place ? 0 : 1, 0, 1) == 1;
    if (!result.in_place && !result.out_of_place)
      fail("inplace=\"0\" outofplace=\"0\": no call uses it");
    result.most_bytes = bytes(algo, "maxBytes");
    const bool cut = result.collective == MscclCollective::allgather ||
                     result.collective == MscclCollective::alltoall ||
                     result.collective == MscclCollective::reduce_scatter;
    if (cut && result.chunks % ranks != 0) {
      fail(fmt::format("nchunksperloop {} of {}: not a multiple of {} GPUs", result.chunks,
                       to_string(result.collective), ranks));
    }
    result.gpus.resize(static_cast<std::size_t>(ranks));
    std::vector<bool> seen(result.gpus.size());
    for (const XmlElement& element : algo.children) {
      if (element.name != "gpu") continue;
      where_ = fmt::format("line {}", element.line);
      gpu_ = number(element, "id", {}, 0, ranks - 1);
      const auto g = static_cast<std::size_t>(gpu_);
      if (seen[g]) fail(fmt::format("gpu {} twice", gpu_));
      seen[g] = true;
      read_gpu(result, element, result.gpus[g]);
    }
    for (std::size_t g = 0; g < seen.size(); ++g) {
      if (!seen[g]) fail(fmt::format("gpu {} of {} is missing", g, ranks));
    }
    result.notes = std::move(notes_);
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw UsageError(fmt::format("{}: {}: {}", name_, where_, what));
  }

  static std::string_view text(const XmlElement& element, const char* key,
                               std::string_view otherwise) {
    return element.attribute(key).value_or(otherwise);
  }
  template <class T>
  T parsed(std::string_view value, const char* key) const {
    T result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc{} || end != value.data() + value.size())
      fail(fmt::format("{}=\"{}\": a whole number expected", key, shown(value, 20)));
    return result;
  }
  /// \param otherwise  if it is left out; nothing: it must be there
  int number(const XmlElement& element, const char* key, std::optional<int> otherwise, int least,
             int most) const {
    const auto value = element.attribute(key);
    if (!value) {
      if (!otherwise) fail(fmt::format("attribute {} is missing", key));
      return *otherwise;
    }
    const int result = parsed<int>(*value, key);
    if (result < least || result > most)
      fail(fmt::format("{} {}; expected {} to {}", key, result, least, most));
    return result;
  }
  std::uint64_t bytes(const XmlElement& element, const char* key) const {
    const auto value = element.attribute(key);
    return value ? parsed<std::uint64_t>(*value, key) : 0;
  }
  MscclCollective collective(std::string_view name) const {
    const auto found = std::ranges::find(msccl_collectives, name);
    if (found == msccl_collectives.end()) {
      fail(
          fmt::format("coll '{}'; expected allreduce, allgather, reduce, broadcast, alltoall, "
                      "reduce_scatter or custom",
                      shown(name, 20)));
    }
    return static_cast<MscclCollective>(found - msccl_collectives.begin());
  }

  void read_gpu(const MscclAlgorithm& algorithm, const XmlElement& element, MscclGpu& gpu) {
    constexpr int most_blocks = 1 << 16;
    gpu.scratch = number(element, "s_chunks", 0, 0, 1 << 24);
    std::map<std::tuple<int, int, bool>, int> ends;  // (peer, channel, sends) -> thread block
    for (const XmlElement& tb : element.children) {
      if (tb.name != "tb") continue;
      const int block = static_cast<int>(gpu.blocks.size());
      where_ = fmt::format("gpu {}, tb {}", gpu_, block);
      if (number(tb, "id", {}, 0, most_blocks) != block)
        fail("thread blocks are numbered from 0 without gaps");
      MscclThreadBlock read;
      const int ranks = algorithm.ranks();
      read.send = number(tb, "send", -1, -1, ranks - 1);
      read.receive = number(tb, "recv", -1, -1, ranks - 1);
      read.channel = number(tb, "chan", 0, 0, 1 << 16);
      if (read.channel >= algorithm.channels)
        fail(fmt::format("channel {} of {}", read.channel, algorithm.channels));
      for (const bool sends : {true, false}) {
        const int peer = sends ? read.send : read.receive;
        if (peer < 0) continue;
        if (peer == gpu_) fail(fmt::format("its peer is gpu {} itself", gpu_));
        const auto [other, is_new] = ends.try_emplace({peer, read.channel, sends}, block);
        if (!is_new) {
          fail(fmt::format("it {} gpu {} on channel {}, as tb {} does",
                           sends ? "sends to" : "receives from", peer, read.channel,
                           other->second));
        }
      }
      gpu.blocks.push_back(std::move(read));
      read_steps(algorithm, gpu, tb, block);
    }
    constexpr std::size_t msccl_blocks = 64, rccl_blocks = 216;
    note(gpu.blocks.size() > msccl_blocks,
         fmt::format("gpu {} has {} thread blocks; executors take {} or {}", gpu_,
                     gpu.blocks.size(), msccl_blocks, rccl_blocks));
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      for (std::size_t s = 0; s < gpu.blocks[b].steps.size(); ++s) {
        const MscclStep& step = gpu.blocks[b].steps[s];
        if (step.wait_block < 0) continue;
        where_ = fmt::format("gpu {}, tb {}, step {}", gpu_, b, s);
        if (static_cast<std::size_t>(step.wait_block) >= gpu.blocks.size())
          fail(fmt::format("depends on tb {} of {}", step.wait_block, gpu.blocks.size()));
        const std::size_t steps =
            gpu.blocks[static_cast<std::size_t>(step.wait_block)].steps.size();
        if (step.wait_step < 0 || static_cast<std::size_t>(step.wait_step) >= steps)
          fail(fmt::format("depends on step {} of tb {}, which has {}", step.wait_step,
                           step.wait_block, steps));
        if (static_cast<std::size_t>(step.wait_block) == b) fail("depends on its own thread block");
      }
    }
  }

  void read_steps(const MscclAlgorithm& algorithm, MscclGpu& gpu, const XmlElement& tb, int block) {
    MscclThreadBlock& read = gpu.blocks.back();
    for (const XmlElement& element : tb.children) {
      if (element.name != "step") continue;
      const int number_of_step = static_cast<int>(read.steps.size());
      where_ = fmt::format("gpu {}, tb {}, step {}", gpu_, block, number_of_step);
      if (parsed<int>(text(element, "s", ""), "s") != number_of_step)
        fail("steps are numbered 0, 1, .. in order");
      const std::string_view name = text(element, "type", "");
      const auto type = std::ranges::find(msccl_types, name);
      if (type == msccl_types.end())
        fail(fmt::format("type '{}'; expected s, r, cpy, re, rcs, rrc, rrs, rrcs or nop",
                         shown(name, 20)));
      MscclStep step;
      step.type = static_cast<MscclType>(type - msccl_types.begin());
      step.flagged = number(element, "hasdep", 0, 0, 1) == 1;
      constexpr int any = 1 << 24;
      step.wait_block = number(element, "depid", -1, -1, any);
      step.wait_step = number(element, "deps", -1, -1, any);
      if (step.type != MscclType::nop) {
        constexpr int most_chunks = 71;
        step.count = number(element, "cnt", {}, 1, most_chunks);
        if (step.reads())
          place(algorithm, gpu, element, "src", step.source, step.source_at, step.count);
        if (step.writes())
          place(algorithm, gpu, element, "dst", step.target, step.target_at, step.count);
      }
      if (step.sends() && read.send < 0) fail("sends, but its thread block has no `send` peer");
      if (step.receives() && read.receive < 0)
        fail("receives, but its thread block has no `recv` peer");
      read.steps.push_back(step);
    }
    constexpr std::size_t rccl_steps = 64, msccl_steps = 256;
    note(read.steps.size() > rccl_steps,
         fmt::format("gpu {}, tb {} has {} steps; executors take {} or {}", gpu_, block,
                     read.steps.size(), rccl_steps, msccl_steps));
  }

  void place(const MscclAlgorithm& algorithm, const MscclGpu& gpu, const XmlElement& element,
             const std::string& which, MscclBuffer& buffer, int& at, int count) const {
    const std::string_view name = text(element, (which + "buf").c_str(), "");
    if (name != "i" && name != "o" && name != "s")
      fail(fmt::format("{}buf '{}'; expected i, o or s", which, shown(name, 20)));
    buffer = name == "i"   ? MscclBuffer::input
             : name == "o" ? MscclBuffer::output
                           : MscclBuffer::scratch;
    at = number(element, (which + "off").c_str(), {}, -1, 1 << 24);
    const int size = algorithm.size(gpu, buffer);
    if (at < 0 || at + count > size)
      fail(fmt::format("{}[{}..{}] of {} chunks", name, at, at + count - 1, size));
  }

  void note(bool exceeds, std::string text) {
    constexpr std::size_t most = 2;
    if (exceeds && notes_.size() < most) notes_.push_back(std::move(text));
  }

  std::string_view name_;
  std::string where_;
  int gpu_ = 0;
  std::vector<std::string> notes_;
};

/// What judging takes: a list of accesses for each chunk, and a clock of all thread blocks for each
/// message and each step that others wait for.
void require_msccl_memory(const MscclAlgorithm& algorithm, std::string_view name,
                          double most_bytes) {
  double cells = 0, blocks = 0, clocks = 0, chunks = 0;
  for (const MscclGpu& gpu : algorithm.gpus) {
    cells += 2.0 * algorithm.chunks + gpu.scratch;
    blocks += static_cast<double>(gpu.blocks.size());
    for (const MscclThreadBlock& block : gpu.blocks) {
      for (const MscclStep& step : block.steps) {
        clocks += step.sends() || step.flagged ? 1 : 0;
        chunks += step.count;
      }
    }
  }
  constexpr double bytes_of_cell = 96, bytes_of_chunk = 96, bytes_of_clock = 4;
  const double bytes =
      cells * bytes_of_cell + chunks * bytes_of_chunk + (clocks + blocks) * blocks * bytes_of_clock;
  if (bytes > most_bytes) {
    throw UsageError(fmt::format("{}: checking it would take more than {:.0f} MiB of memory", name,
                                 most_bytes / (1024 * 1024)));
  }
}

}  // namespace

std::string_view to_string(MscclType type) { return msccl_types[static_cast<std::size_t>(type)]; }
std::string_view to_string(MscclCollective collective) {
  return msccl_collectives[static_cast<std::size_t>(collective)];
}

int MscclAlgorithm::parts() const {
  switch (collective) {
    case MscclCollective::allgather:
    case MscclCollective::alltoall:
    case MscclCollective::reduce_scatter:
      return chunks / ranks();
    default:
      return chunks;
  }
}

int MscclAlgorithm::size(const MscclGpu& gpu, MscclBuffer buffer) const {
  if (buffer == MscclBuffer::scratch) return gpu.scratch;
  const bool is_input = buffer == MscclBuffer::input;
  if (collective == MscclCollective::allgather && is_input) return parts();
  if (collective == MscclCollective::reduce_scatter && !is_input) return parts();
  return chunks;
}

bool is_msccl(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != text.npos && text[first] == '<';
}

MscclAlgorithm parse_msccl(std::string_view text, std::string_view name, double most_bytes) {
  const XmlElement root = parse_xml(text, name, most_bytes);
  if (root.name != "algo") {
    throw UsageError(fmt::format(
        "{}:{}: not a schedule: the XML's outermost element is '{}', not 'algo' (MSCCL)", name,
        root.line, shown(root.name, 20)));
  }
  MscclAlgorithm algorithm = MscclReader(name).read(root);
  require_msccl_memory(algorithm, name, most_bytes);
  return algorithm;
}

}  // namespace wormcube::apps
