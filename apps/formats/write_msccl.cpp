// Writes a schedule with named values as MSCCL XML, out of place: each value has a cell of its own,
// so nothing is overwritten.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/dataflow/held_values.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

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

/// One GPU: its cells, and its thread blocks.
class MscclGpuWriter {
 public:
  MscclGpuWriter(Rank rank, const ValueForm& form, Rank gives) : blocks_(1) {
    for (Rank block = 0; block < gives; ++block) {
      for (Rank part = 0; part < form.parts; ++part) {
        bool is_new = false;
        held_.insert({static_cast<WordId>(rank), block, part}, add({'i', inputs_++}), is_new);
      }
    }
  }
  /// A value that the node must end with lies in the output as soon as it comes.
  void wants(const NamedValue& value, int at) {
    if (const auto* own = held_.find(value)) {
      copies_.emplace_back(own->tree, at);
      return;
    }
    bool is_new = false;
    results_.insert(value, static_cast<TreeId>(at), is_new);
  }

  const WrittenCell& cell(const NamedValue& value) const { return cells_[held_.find(value)->tree]; }
  const WrittenCell& at(TreeId id) const { return cells_[id]; }
  /// A new cell for a value, by its number.
  TreeId place(const NamedValue& value) {
    const auto* const result = held_.find(value) == nullptr ? results_.find(value) : nullptr;
    const TreeId id =
        result != nullptr ? add({'o', static_cast<int>(result->tree)}) : add({'s', scratch_++});
    bool is_new = false;
    held_.insert(value, id, is_new);
    return id;
  }
  void written(TreeId id, int block, int step) { cells_[id].block = block, cells_[id].step = step; }

  void combine(const NamedValue& left, const NamedValue& right, const NamedValue& both) {
    const WrittenCell a = cell(left), b = cell(right);
    const TreeId id = place(both);
    const WrittenCell to = cells_[id];
    step(0, {.type = "cpy", .source = a, .target = to}, {a});
    const int last = step(0, {.type = "re", .source = b, .target = to}, {b});
    written(id, 0, last);
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
  TreeId add(WrittenCell cell) {
    cells_.push_back(cell);
    return static_cast<TreeId>(cells_.size() - 1);
  }
  std::vector<WrittenCell> cells_;
  HeldValues held_, results_;
  std::vector<std::pair<TreeId, int>> copies_;
  std::vector<WrittenBlock> blocks_;  // the first: local work
  std::map<std::tuple<Rank, Rank, int>, int> numbers_;
  int inputs_ = 0, scratch_ = 0;
};

bool follows(const WrittenCell& before, const WrittenCell& after, int distance) {
  return before.buffer == after.buffer && before.at + distance == after.at;
}

/// One message: a step for each run of values that are neighbours at both ends.
void write_message(MscclGpuWriter& from, MscclGpuWriter& to, Rank sender, Rank receiver,
                   int channel, std::span<const NamedValue> values) {
  constexpr std::size_t most_chunks = 71;
  const int send_block = from.thread_block(receiver, -1, channel),
            receive_block = to.thread_block(-1, sender, channel);
  std::vector<WrittenCell> sources;
  std::vector<TreeId> places;
  for (const NamedValue& value : values) {
    sources.push_back(from.cell(value));
    places.push_back(to.place(value));
  }
  for (std::size_t first = 0; first < values.size();) {
    std::size_t end = first + 1;
    while (end < values.size() && end - first < most_chunks &&
           follows(sources[first], sources[end], static_cast<int>(end - first)) &&
           follows(to.at(places[first]), to.at(places[end]), static_cast<int>(end - first)))
      ++end;
    const auto count = static_cast<int>(end - first);
    const std::vector<WrittenCell> read(sources.begin() + static_cast<std::ptrdiff_t>(first),
                                        sources.begin() + static_cast<std::ptrdiff_t>(end));
    const WrittenCell source = sources[first], target = to.at(places[first]);
    from.step(send_block, {.type = "s", .source = source, .target = target, .count = count}, read);
    const int step = to.step(receive_block,
                             {.type = "r", .source = source, .target = target, .count = count}, {});
    for (; first < end; ++first) to.written(places[first], receive_block, step);
  }
}

/// What each node ends with: the values of its results, by their place in the output.
std::vector<std::pair<NamedValue, int>> wanted_values(NamedSchedule& named, const Goal& goal,
                                                      Rank node, const HeldValues& held) {
  std::vector<std::pair<NamedValue, int>> wanted;
  std::map<std::tuple<WordId, Rank, Rank>, NamedValue> by_set;
  for (Rank block = 0; block < goal.ends_with(node); ++block) {
    const Goal::Wanted want = goal.result(node, block);
    const WordId word = named.words.interval(want.first, want.last);
    for (Rank part = 0; part < named.form.parts; ++part) {
      NamedValue value{word, want.block, part};
      if (held.find(value) == nullptr) {
        if (by_set.empty()) by_set = words_by_set(held, named.words);
        if (const auto other = by_set.find({word, value.block, part}); other != by_set.end())
          value = other->second;
      }
      wanted.emplace_back(value, block * named.form.parts + part);
    }
  }
  return wanted;
}

/// Calls combine(node, left, right, both) and message(send, receive, values) in the order of the
/// schedule. \pre it is proved
template <class Combine, class Message>
void follow_schedule(NamedSchedule& named, Combine combine, Message message) {
  const Schedule& all = named.schedule;
  const auto nodes = static_cast<Rank>(all.ranks.size());
  std::vector<std::size_t> next_gap(all.ranks.size());
  StepMatcher<OpRecord> matcher(nodes);
  for (std::size_t step = 0; step <= all.steps(); ++step) {
    for (Rank node = 0; node < nodes; ++node) {
      const auto r = static_cast<std::size_t>(node);
      const RankNames& names = named.names[r];
      std::size_t& next = next_gap[r];
      if (next < names.gaps.size() && names.gaps[next].step == step) {
        for (std::size_t i = next == 0 ? 0 : names.gaps[next - 1].end; i < names.gaps[next].end;
             ++i) {
          const auto& [left, right] = names.pairs[i];
          combine(node, left, right,
                  NamedValue{named.words.join(left.word, right.word), left.block, left.part});
        }
        ++next;
      }
      if (step == all.steps()) continue;
      for (const OpRecord& op : all.ops(node, step)) {
        if (op.kind == Op::Kind::send) {
          matcher.add_send(node, op.peer, op);
        } else {
          matcher.add_receive(op.peer, node, op);
        }
      }
    }
    using End = StepMatcher<OpRecord>::End;
    matcher.match(
        [&](const End& send, const End& receive) {
          const auto r = static_cast<std::size_t>(send.from);
          message(
              step, send, receive,
              named.names[r].of(static_cast<std::size_t>(send.record - all.ranks[r].ops.data())));
        },
        [](const End&, bool) {});
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

std::string msccl_text(NamedSchedule& named, std::string_view name) {
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
  std::vector<HeldValues> held(static_cast<std::size_t>(nodes));
  std::vector<MscclGpuWriter> gpus;
  bool is_new = false;
  for (Rank node = 0; node < nodes; ++node) {
    gpus.emplace_back(node, named.form, goal.gives(node));
    for (Rank b = 0; b < goal.gives(node); ++b) {
      for (Rank part = 0; part < named.form.parts; ++part)
        held[static_cast<std::size_t>(node)].insert({static_cast<WordId>(node), b, part}, 0,
                                                    is_new);
    }
  }
  using End = StepMatcher<OpRecord>::End;
  follow_schedule(
      named,
      [&](Rank node, const NamedValue&, const NamedValue&, const NamedValue& both) {
        held[static_cast<std::size_t>(node)].insert(both, 0, is_new);
      },
      [&](std::size_t, const End&, const End& receive, std::span<const NamedValue> values) {
        for (const NamedValue& value : values)
          held[static_cast<std::size_t>(receive.to)].insert(value, 0, is_new);
      });
  for (Rank node = 0; node < nodes; ++node) {
    const auto r = static_cast<std::size_t>(node);
    for (const auto& [value, at] : wanted_values(named, goal, node, held[r]))
      gpus[r].wants(value, at);
  }
  int channels = 1;
  std::map<std::tuple<std::size_t, Rank, Rank>, int> in_step;  // messages of a pair in one step
  struct Waiting {
    const End send;
    std::span<const NamedValue> values;
    int channel;
  };
  std::vector<Waiting> waiting;
  std::size_t of_step = 0;
  const auto deliver = [&] {
    // What arrives in a step is not sent in it; the thread blocks' own order does the rest.
    for (const Waiting& each : waiting) {
      write_message(gpus[static_cast<std::size_t>(each.send.from)],
                    gpus[static_cast<std::size_t>(each.send.to)], each.send.from, each.send.to,
                    each.channel, each.values);
    }
    waiting.clear(), in_step.clear();
  };
  follow_schedule(
      named,
      [&](Rank node, const NamedValue& left, const NamedValue& right, const NamedValue& both) {
        deliver();
        gpus[static_cast<std::size_t>(node)].combine(left, right, both);
      },
      [&](std::size_t step, const End& send, const End&, std::span<const NamedValue> values) {
        if (step != of_step) deliver();
        of_step = step;
        const int channel = in_step[{step, send.from, send.to}]++;
        channels = std::max(channels, channel + 1);
        waiting.push_back({send, values, channel});
      });
  deliver();
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
