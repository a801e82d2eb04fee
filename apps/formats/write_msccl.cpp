// Writes a schedule with named values as MSCCL XML, out of place: each value has a cell of its own,
// so nothing is overwritten.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/collectives/harness/schedule_plan.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube::apps {

namespace {

struct WrittenCell {
  char buffer = 'i';
  int at = 0;
  int block = -1, step = -1;  // the thread block and the step that wrote it; -1: the caller
};

struct WrittenStep {
  std::string type;
  WrittenCell source = {}, target = {};
  int count = 1;
  int wait_block = -1, wait_step = -1;
  bool flagged = false;
};

struct WrittenBlock {
  Rank send = -1, receive = -1;
  int channel = 0;
  std::vector<WrittenStep> steps = {};
};

/// One GPU: a cell for each slot of its plan, and its thread blocks.
class MscclGpuWriter {
 public:
  /// A value that the node must end with lies in the output as soon as it comes.
  MscclGpuWriter(const SlotPlan& plan, Rank parts) : blocks_(1) {
    const auto inputs = static_cast<SlotId>(plan.inputs * parts);
    std::map<SlotId, int> outputs;
    for (const SlotPlan::Result& result : plan.results) {
      const int at = result.block * parts + result.part;
      if (result.from < inputs) {
        copies_.emplace_back(result.from, at);
      } else {
        outputs.emplace(result.from, at);
      }
    }
    for (SlotId slot = 0; slot < plan.slots.size(); ++slot) {
      const auto output = outputs.find(slot);
      cells_.push_back(slot < inputs             ? WrittenCell{'i', static_cast<int>(slot)}
                       : output != outputs.end() ? WrittenCell{'o', output->second}
                                                 : WrittenCell{'s', scratch_++});
    }
  }

  const WrittenCell& at(SlotId slot) const { return cells_[slot]; }
  void written(SlotId slot, int block, int step) {
    cells_[slot].block = block, cells_[slot].step = step;
  }
  void combine(const SlotPlan::Combination& what) {
    const WrittenCell a = at(what.left), b = at(what.right), to = at(what.result);
    step(0, {.type = "cpy", .source = a, .target = to}, {a});
    written(what.result, 0, step(0, {.type = "re", .source = b, .target = to}, {b}));
  }
  int thread_block(Rank send, Rank receive, int channel) {
    const auto [found, is_new] =
        numbers_.try_emplace({send, receive, channel}, static_cast<int>(blocks_.size()));
    if (is_new) blocks_.push_back({send, receive, channel});
    return found->second;
  }
  /// Adds a step after those that wrote its sources; returns its number.
  int step(int block, WrittenStep what, const std::vector<WrittenCell>& sources) {
    std::map<int, int> waits;  // thread block -> its last step
    for (const WrittenCell& source : sources) {
      if (source.block >= 0 && source.block != block)
        waits[source.block] = std::max(waits[source.block], source.step);
    }
    std::vector<WrittenStep>& steps = blocks_[static_cast<std::size_t>(block)].steps;
    for (auto wait = waits.begin(); wait != waits.end(); ++wait) {
      const auto& [other, number] = *wait;
      blocks_[static_cast<std::size_t>(other)].steps[static_cast<std::size_t>(number)].flagged =
          true;
      if (std::next(wait) == waits.end()) {
        what.wait_block = other, what.wait_step = number;
      } else {
        steps.push_back({.type = "nop", .wait_block = other, .wait_step = number});
      }
    }
    steps.push_back(std::move(what));
    return static_cast<int>(steps.size()) - 1;
  }
  void finish() {
    for (const auto& [from, at] : copies_)
      step(0, {.type = "cpy", .source = cells_[from], .target = {'o', at}}, {cells_[from]});
  }

  int scratch() const { return scratch_; }
  const std::vector<WrittenBlock>& blocks() const { return blocks_; }

 private:
  std::vector<WrittenCell> cells_;
  std::vector<std::pair<SlotId, int>> copies_;
  std::vector<WrittenBlock> blocks_;  // the first: local work
  std::map<std::tuple<Rank, Rank, int>, int> numbers_;
  int scratch_ = 0;
};

bool follows(const WrittenCell& before, const WrittenCell& after, int distance) {
  return before.buffer == after.buffer && before.at + distance == after.at;
}

/// One message: a step for each run of values that are neighbours at both ends.
void write_message(MscclGpuWriter& from, MscclGpuWriter& to, const SlotPlan::Message& send,
                   const SlotPlan::Message& receive, int channel) {
  constexpr std::size_t most_chunks = 71;
  const int send_block = from.thread_block(send.peer, -1, channel),
            receive_block = to.thread_block(-1, receive.peer, channel);
  const std::vector<SlotId>&sources = send.content, &places = receive.content;
  for (std::size_t first = 0; first < sources.size();) {
    std::size_t end = first + 1;
    while (end < sources.size() && end - first < most_chunks &&
           follows(from.at(sources[first]), from.at(sources[end]), static_cast<int>(end - first)) &&
           follows(to.at(places[first]), to.at(places[end]), static_cast<int>(end - first)))
      ++end;
    const auto count = static_cast<int>(end - first);
    std::vector<WrittenCell> read;
    for (std::size_t i = first; i < end; ++i) read.push_back(from.at(sources[i]));
    const WrittenCell source = read.front(), target = to.at(places[first]);
    from.step(send_block, {.type = "s", .source = source, .target = target, .count = count}, read);
    const int step = to.step(receive_block,
                             {.type = "r", .source = source, .target = target, .count = count}, {});
    for (; first < end; ++first) to.written(places[first], receive_block, step);
  }
}

void print_step(fmt::memory_buffer& text, std::size_t number, const WrittenStep& step) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" ",
                 number, step.type, step.source.buffer, step.source.at, step.target.buffer);
  fmt::format_to(out, "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                 step.target.at, step.count, step.wait_block, step.wait_step, step.flagged ? 1 : 0);
}

}  // namespace

std::string msccl_text(const NamedSchedule& named, std::string_view name) {
  const Rank nodes = named.schedule.topology.nodes();
  const std::string operation = named.operation ? named.operation->name : "none";
  const bool known = operation == "allreduce" || operation == "allgather" ||
                     operation == "alltoall" || operation == "reduce_scatter";
  if (!known) {
    throw UsageError(fmt::format(
        "MSCCL XML has allreduce, allgather, alltoall and reduce_scatter; this is {}", operation));
  }
  const ScheduledCall call = scheduled_call(*named.operation, nodes);
  const Goal goal = goal_of(call.operation, call.arguments, nodes);
  const NamedReport report = prove_named(named, &goal);
  if (report.delivered != true || !report.findings.empty()) {
    throw UsageError(
        fmt::format("MSCCL XML: the schedule is not proved: {}",
                    report.findings.empty() ? report.reason : report.findings.front()));
  }
  const std::vector<SlotPlan> plans = node_plans(named, goal);
  std::vector<MscclGpuWriter> gpus;
  for (const SlotPlan& plan : plans) gpus.emplace_back(plan, named.form.parts);
  int channels = 1;
  for (std::size_t step = 0; step <= named.schedule.steps(); ++step) {
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      for (const SlotPlan::Combination& each : plans[gpu].gaps[step]) gpus[gpu].combine(each);
    }
    std::map<std::pair<Rank, std::size_t>, int> in_step;  // messages of a pair
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      std::vector<const SlotPlan::Message*> receives;
      for (const SlotPlan::Message& message : plans[gpu].steps[step]) {
        if (!message.is_send) receives.push_back(&message);
      }
      std::ranges::stable_sort(receives, {},
                               [](const auto* each) { return std::pair(each->peer, each->tag); });
      for (const SlotPlan::Message* const receive : receives) {
        const auto sender = static_cast<std::size_t>(receive->peer);
        const int channel = in_step[{receive->peer, gpu}]++;
        channels = std::max(channels, channel + 1);
        write_message(gpus[sender], gpus[gpu], plans[sender].steps[step][receive->partner],
                      *receive, channel);
      }
    }
  }
  constexpr int most_channels = 32;
  if (channels > most_channels) {
    throw UsageError(
        fmt::format("MSCCL XML has {} channels; {} messages go from one node to another "
                    "in one step",
                    most_channels, channels));
  }
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const bool one_each = operation == "allreduce" || operation == "allgather";
  const int chunks = named.form.parts * (operation == "allreduce" ? 1 : nodes);
  std::string shown;
  for (const char c : name.substr(0, 63))
    shown += c == '"' || c == '<' || c == '&' || static_cast<unsigned char>(c) < 0x20 ? '_' : c;
  fmt::format_to(out,
                 "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" "
                 "ngpus=\"{}\" coll=\"{}\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" "
                 "maxBytes=\"0\">\n",
                 shown, channels, chunks, nodes, operation);
  for (Rank node = 0; node < nodes; ++node) {
    MscclGpuWriter& gpu = gpus[static_cast<std::size_t>(node)];
    gpu.finish();
    const int inputs = named.form.parts * (one_each ? 1 : nodes),
              outputs = named.form.parts * goal.ends_with(node);
    fmt::format_to(out, "<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", node,
                   inputs, outputs, gpu.scratch());
    for (std::size_t b = 0; b < gpu.blocks().size(); ++b) {
      const WrittenBlock& block = gpu.blocks()[b];
      fmt::format_to(out, "<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", b, block.send,
                     block.receive, block.channel);
      for (std::size_t s = 0; s < block.steps.size(); ++s) print_step(text, s, block.steps[s]);
      fmt::format_to(out, "</tb>\n");
    }
    fmt::format_to(out, "</gpu>\n");
  }
  fmt::format_to(out, "</algo>\n");
  return fmt::to_string(text);
}

}  // namespace wormcube::apps
