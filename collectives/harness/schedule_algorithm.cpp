// Runs a schedule with named values: each value has a place of its own.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/schedule_algorithm.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/schedule_plan.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The schedule that this process runs.
struct LoadedSchedule {
  NamedSchedule named;
  ScheduledCall call;
  std::string origin;
  std::vector<SlotPlan> plans;
  Algorithm algorithm;
  std::map<std::string, Prediction, std::less<>> predictions;
  bool brackets_differ = false;
};
LoadedSchedule*& loaded() {
  static LoadedSchedule* schedule = nullptr;
  return schedule;
}

/// The bytes of a node's slots in one call, and where they lie.
class SlotMemory {
 public:
  SlotMemory(Node& node, const SlotPlan& plan, const Call& call, const LoadedSchedule& schedule)
      : plan_(plan),
        call_(call),
        parts_(schedule.named.form.parts),
        by_block_(schedule.call.operation->sizes == Sizes::by_block),
        element_(schedule.call.operation->reduces ? call.arguments.reduction.element_bytes : 1),
        inputs_(static_cast<std::size_t>(plan.inputs) * static_cast<std::size_t>(parts_)) {
    Bytes end = 0;
    for (std::size_t i = inputs_; i < plan.slots.size(); ++i) {
      starts_.push_back(end);
      end += size(plan.slots[i]);
    }
    // Messages without names have bytes of no meaning, each its own.
    unnamed_ = end;
    for (const auto& step : plan.steps) {
      Bytes bytes = 0;
      for (const SlotPlan::Message& message : step)
        bytes += message.content.empty() ? unnamed_bytes(message) : 0;
      most_unnamed_ = std::max(most_unnamed_, bytes);
    }
    const ValueForm& form = schedule.named.form;
    if (form.block) {
      file_bytes_ = *form.block, call_bytes_ = block_bytes({node.rank(), 0, 0});
    } else {
      for (const auto& [place, bytes] : form.sizes) {
        file_bytes_ += bytes, call_bytes_ += block_bytes({place.first, place.second, 0});
      }
    }
    memory_.emplace(node.memory(end + most_unnamed_));
  }

  Bytes size(const Slot& slot) const {
    const Bytes block = block_bytes(slot);
    return part_start(block, element_, parts_, slot.part + 1) -
           part_start(block, element_, parts_, slot.part);
  }
  Bytes part_at(const Slot& slot) const {
    return part_start(block_bytes(slot), element_, parts_, slot.part);
  }
  /// \pre the slot is not written if it is input
  Span span(SlotId id) {
    const Slot& slot = plan_.slots[id];
    if (id < inputs_) return only_read(call_.input[slot.block].subspan(part_at(slot), size(slot)));
    return memory_->span().subspan(starts_[id - inputs_], size(slot));
  }
  /// What the file permutes, which has its block size: in a call, as much of a block.
  Bytes rearranged(Bytes of_file) const {
    if (file_bytes_ == 0) return 0;
    return of_file / file_bytes_ * call_bytes_ +
           static_cast<Bytes>(static_cast<long double>(of_file % file_bytes_) *
                              static_cast<long double>(call_bytes_) /
                              static_cast<long double>(file_bytes_));
  }
  void begin_step() { next_unnamed_ = unnamed_; }
  Span unnamed(const SlotPlan::Message& message) {
    const Bytes bytes = unnamed_bytes(message),
                at = std::exchange(next_unnamed_, next_unnamed_ + bytes);
    return memory_->span().subspan(at, bytes);
  }

 private:
  /// Of a call that moves data each message is its values; a barrier's have the file's lengths.
  Bytes unnamed_bytes(const SlotPlan::Message& message) const {
    return call_.input.count() == 0 && call_.output.count() == 0 ? message.bytes : 0;
  }
  Bytes block_bytes(const Slot& slot) const {
    if (!call_.sizes.empty())
      return call_.sizes[static_cast<std::size_t>(by_block_ ? slot.block : slot.node)];
    return call_.input.count() > 0 ? call_.input.bytes() : call_.output.bytes();
  }

  const SlotPlan& plan_;
  const Call& call_;
  Rank parts_;
  bool by_block_;
  Bytes element_;
  std::size_t inputs_;
  std::vector<Bytes> starts_;
  Bytes unnamed_ = 0, most_unnamed_ = 0, next_unnamed_ = 0;
  Bytes file_bytes_ = 0, call_bytes_ = 0;  // of a block, or of all blocks
  std::optional<Memory> memory_;
};

void run_schedule(Node& node, const Call& call) {
  const LoadedSchedule& schedule = *loaded();
  const SlotPlan& plan = schedule.plans[static_cast<std::size_t>(node.rank())];
  const RankLog& log = schedule.named.schedule.ranks[static_cast<std::size_t>(node.rank())];
  const bool own_routes = node.topology() == schedule.named.schedule.topology;
  SlotMemory slots(node, plan, call, schedule);
  std::vector<std::vector<Span>> pieces;
  std::vector<Op> ops;
  for (std::size_t step = 0; step < plan.gaps.size(); ++step) {
    Bytes combined = 0;
    for (const auto& each : plan.gaps[step]) combined += slots.size(plan.slots[each.result]);
    if (const Bytes permuted = slots.rearranged(log.rearranged[step]); permuted > 0)
      node.rearrange(permuted, [] {});
    if (combined > 0) {
      node.combine(combined, [&] {
        const Reduction& reduction = call.arguments.reduction;
        for (const auto& each : plan.gaps[step]) {
          const Span result = slots.span(each.result);
          reduction.apply(slots.span(each.left).data(), slots.span(each.right).data(),
                          result.data(), result.size() / reduction.element_bytes);
        }
      });
    }
    if (step + 1 == plan.gaps.size()) break;
    const auto& messages = plan.steps[step];
    ops.clear(), pieces.clear();
    pieces.resize(messages.size());
    slots.begin_step();
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const SlotPlan::Message& message = messages[m];
      for (const SlotId slot : message.content) pieces[m].push_back(slots.span(slot));
      if (message.content.empty()) pieces[m].push_back(slots.unnamed(message));
      const std::span<const Move> moves =
          std::span(plan.moves).subspan(message.first_move, message.moves);
      Op op = message.is_send
                  ? send_pieces(message.peer, std::span<const Span>(pieces[m]), message.tag)
                  : receive_pieces(message.peer, std::span<const Span>(pieces[m]), message.tag);
      if (message.is_send && own_routes && !moves.empty()) op = op.with(moves);
      ops.push_back(op);
    }
    node.step(std::span<const Op>(ops));
  }
  node.local([&] {
    for (const SlotPlan::Result& result : plan.results) {
      const Span from = slots.span(result.from);
      copy(from, call.output[result.block].subspan(slots.part_at({0, result.block, result.part}),
                                                   from.size()));
    }
  });
}

Prediction predict_schedule(const Setting& setting) {
  LoadedSchedule& schedule = *loaded();
  const std::string_view name = setting.topology.name();
  if (const auto found = schedule.predictions.find(name); found != schedule.predictions.end())
    return found->second;
  Prediction prediction;
  const Schedule& own = schedule.named.schedule;
  if (setting.topology == own.topology) {
    const ScheduleReport report = check(own, Routing(own.topology, 2), true);
    prediction.startups = static_cast<double>(report.startups);
    // Parts of several sizes are counted as equal ones, in a dry run.
    const ValueForm& form = schedule.named.form;
    const Bytes unit = form.element * static_cast<Bytes>(form.parts);
    if (const auto block = form.block; block && *block > 0 && *block % unit == 0) {
      const auto blocks = [&](Bytes bytes) {
        return static_cast<double>(bytes) / static_cast<double>(*block);
      };
      prediction.transmission_blocks = blocks(report.transmission);
      prediction.rearranged_blocks = blocks(report.rearranged);
      prediction.combined_blocks = blocks(report.combined);
      prediction.link_load = report.link_load_max;
      prediction.link_blocks = blocks(report.contended);
    }
  }
  return schedule.predictions.emplace(name, prediction).first->second;
}

/// Whether it permutes blocks whose size it does not say, so that a call cannot scale them.
bool permutes_without_sizes(const NamedSchedule& named) {
  return !named.form.block && named.form.sizes.empty() &&
         std::ranges::any_of(named.schedule.ranks,
                             [](const RankLog& log) { return !log.rearranged.filled().empty(); });
}

/// It applies to as many nodes, and to the arguments that the file names.
void require_schedule(const Setting& setting) {
  const LoadedSchedule& schedule = *loaded();
  const Topology& own = schedule.named.schedule.topology;
  if (setting.topology.nodes() != own.nodes()) {
    throw UsageError(fmt::format("schedule: {} is for {} nodes; {} has {}", schedule.origin,
                                 own.nodes(), setting.topology.name(), setting.topology.nodes()));
  }
  const Arguments &given = setting.arguments, &of_file = schedule.call.arguments;
  const Operation operation = schedule.call.operation;
  const bool same = (!operation->rooted || given.root == of_file.root) &&
                    (!operation->shifts || shift_distance(given.by, own.nodes()) ==
                                               shift_distance(of_file.by, own.nodes())) &&
                    (!operation->has_sources || given.sources == of_file.sources) &&
                    (!operation->permutes || given.permutation == of_file.permutation);
  if (!same)
    throw UsageError(fmt::format(
        "schedule: {} is for another root, distance, sources or permutation", schedule.origin));
}

}  // namespace

const Algorithm& add_schedule_algorithm(NamedSchedule named, const ScheduledCall& call,
                                        const std::string& origin) {
  const Operation operation = call.operation;
  if (loaded() != nullptr)
    throw UsageError(fmt::format("{}: a second schedule; a command accepts only one", origin));
  if (operation->sizes == Sizes::by_both) {
    throw UsageError(
        fmt::format("{}: {} has block sizes that only the two nodes concerned know; a schedule "
                    "cannot run it",
                    origin, operation->name));
  }
  const Goal goal = goal_of(operation, call.arguments, named.schedule.topology.nodes());
  const NamedReport report = prove_named(named, &goal);
  if (!report.findings.empty() || report.delivered != true) {
    throw UsageError(
        fmt::format("{}: the schedule does not perform {}: {}; see `wormcube check --schedule {}`",
                    origin, operation->name,
                    report.findings.empty() ? report.reason : report.findings.front(), origin));
  }
  // It lives as long as the process, as the registry does.
  static std::unique_ptr<LoadedSchedule> kept;
  kept =
      std::make_unique<LoadedSchedule>(LoadedSchedule{std::move(named),
                                                      call,
                                                      origin,
                                                      {},
                                                      {.operation = operation,
                                                       .name = schedule_algorithm_name,
                                                       .summary = "the messages of a schedule file",
                                                       .source = "a schedule file"},
                                                      {},
                                                      report.brackets_alike == false});
  kept->plans = node_plans(kept->named, goal);
  Algorithm& algorithm = kept->algorithm;
  algorithm.source = kept->origin;
  if (permutes_without_sizes(kept->named))
    algorithm.remark = "its rearrangements are left out, because the file has no block size";
  algorithm.ports = kept->named.schedule.needs_all_ports() ? Ports::all : Ports::one;
  algorithm.exactly_once = report.exactly_once == true;
  algorithm.needs_commutative = operation->reduces && kept->named.commutative;
  algorithm.brackets_differ = [](const Setting&) { return loaded()->brackets_differ; };
  algorithm.require = require_schedule;
  algorithm.predict = predict_schedule;
  algorithm.program = run_schedule;
  algorithm.parts = [](const Setting&) { return loaded()->named.form.parts; };
  loaded() = kept.get();
  add_algorithm(algorithm, origin);
  return algorithm;
}

}  // namespace wormcube
