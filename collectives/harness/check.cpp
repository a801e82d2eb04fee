// Record, check, compare, prove.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include "wormcube/collectives/harness/brackets.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/judge.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/exceptions.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/units.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Most blocks that one node's result holds.
double result_blocks(const Contract& contract) {
  Rank most = 0;
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    most = std::max(most, contract.ends_with(rank));
  }
  return most;
}

void count(CheckResult& result, const Contract& contract) {
  const ScheduleReport& report = result.report;
  const auto blocks = [&](Bytes bytes) {
    return static_cast<double>(bytes) / static_cast<double>(std::max<Bytes>(1, result.block_bytes));
  };
  result.transmission_blocks = blocks(report.transmission);
  result.link_blocks = blocks(report.contended);
  result.injected_blocks = blocks(report.injected);
  result.rearranged_blocks = blocks(report.rearranged);
  result.combined_blocks = blocks(report.combined);
  result.total_blocks = blocks(report.total_bytes);
  result.block_hops = blocks(report.byte_hops);
  result.working_blocks = blocks(report.peak_block_bytes);
  result.peak_blocks = std::max(result_blocks(contract), result.working_blocks);
}

/// Why a proof by a run would take too long; empty if it would not.
std::string reason_not_to_prove(const CheckResult& result, const CheckOptions& options) {
  if (result.nodes > options.prove_up_to) {
    return fmt::format("{} nodes; the limit for proofs is {} (--prove-up-to)", result.nodes,
                       options.prove_up_to);
  }
  if (std::cmp_greater(result.report.messages, options.prove_messages)) {
    return fmt::format("the run would move {} messages; the limit is {} (--prove-messages)",
                       result.report.messages, options.prove_messages);
  }
  return {};
}

/// Whether memory, threads or stacks have run out: then nothing is known of the program.
bool lacks_room(const std::exception& error) {
  return holds<NoRoom, std::bad_alloc, std::system_error>(error);
}

void prove_by_run(CheckResult& result, const Topology& topology, const Contract& contract,
                  double elements) {
  try {
    Verification verification(contract);
    Arrivals arrivals(contract, elements);
    prove(
        topology, collective_program(result.collective, contract, &verification),
        [&](const Delivery& delivery) { arrivals.add(delivery.to, delivery.pieces); },
        verification.entered == nullptr ? ProofThreads::all : ProofThreads::calling);
    arrivals.finish();
    const bool passed = verification.passed();
    result.proof = passed ? "proved by a run with blocks that are labelled with their origin"
                          : verification.first();
    if (arrivals.counted()) {
      result.arrivals =
          arrivals.repeated() == 0
              ? contract.operation->reduces
                    ? "each node's arrivals were counted, combination by combination"
                    : "each node's arrivals were counted, block by block"
              : fmt::format("{} ({} times in all)", arrivals.first(), arrivals.repeated());
      result.exactly_once = arrivals.repeated() == 0;
    } else {
      result.arrivals = contract.operation->moves_data
                            ? "arrivals not counted: it would take more than 1.2 GB"
                            : fmt::format("a {} moves no data", contract.operation->name);
    }
    result.delivered = passed;  // last: if a text has no memory, nothing is known
  } catch (const std::exception& error) {
    if (holds<TimeLimit>(error)) throw;  // nothing is known
    if (lacks_room(error)) {
      result.proof = fmt::format("not proved: the run ran out of memory: {}", error.what());
    } else {
      result.delivered = false;
      result.proof = error.what();
    }
  }
}

/// A second proof of a reduction, with intervals of ranks, if it accepts such an operator.
void prove_order(CheckResult& result, const Collective& collective, const Topology& topology,
                 const CheckOptions& options) {
  Collective ordered = collective;
  ordered.arguments.reduction = interval_reduction();
  if (const auto reason = refusal(ordered, topology)) {
    result.order = *reason;
    return;
  }
  const Contract contract =
      contract_of(ordered, topology.nodes(), unit_block_bytes(ordered, topology), options.seed,
                  Pattern::tags, options.in_place);
  ordered = witnessed(ordered, contract);
  try {
    Verification verification(contract);
    prove(topology, collective_program(ordered, contract, &verification), {}, ProofThreads::all);
    const bool passed = verification.passed();
    result.order =
        passed ? "proved by a run with an operator that keeps the order" : verification.first();
    result.keeps_order = passed;
  } catch (const std::exception& error) {
    if (holds<TimeLimit>(error)) throw;
    result.order = error.what();
    if (!lacks_room(error)) result.keeps_order = false;
  }
}

/// A proof that all nodes combine in the same order, or not, with an operator that shows it.
void prove_bits(CheckResult& result, const Collective& collective, const Topology& topology,
                const CheckOptions& options, bool commutes) {
  if (collective.arguments.reduction.exact) {
    result.same_bits = SameBits::exact;
    result.bits = "the operator gives the same bits in any order";
    return;
  }
  result.same_bits_claimed = same_bits(collective, topology) == SameBits::yes;
  Collective bracketed = collective;
  bracketed.arguments.reduction = bracketing_reduction(commutes);
  try {
    const auto alike =
        ends_alike(bracketed, topology,
                   contract_of(bracketed, topology.nodes(), unit_block_bytes(bracketed, topology),
                               options.seed, Pattern::words, options.in_place));
    if (alike) result.same_bits = *alike ? SameBits::yes : SameBits::no;
    result.bits = alike ? "compared after a run with an operator that distinguishes all orders"
                        : "no two nodes end with the same combination";
  } catch (const std::exception& error) {
    if (holds<TimeLimit>(error)) throw;
    result.bits = error.what();
  }
}

/// A broadcast's node in a dry run. It checks that all that it sends and receives is the message,
/// in its place, and that it does no work of its own on it. For such a program the schedule alone
/// shows which nodes hold the message.
class MessageOnly final : public ForwardingNode {
 public:
  explicit MessageOnly(Node& node) : ForwardingNode(node) {}
  void begin(ConstSpan message) { message_ = message; }
  bool holds() const { return holds_; }

  using Node::step;
  void step(std::span<const Op> ops) override {
    for (const Op& op : ops) {
      const auto pieces = op.pieces();
      const bool whole = pieces.size() == 1 && pieces.front().data() == message_.data() &&
                         pieces.front().size() == message_.size();
      holds_ = holds_ && whole;
    }
    ForwardingNode::step(ops);
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    holds_ = false;
    ForwardingNode::work(charge, bytes, work);
  }

  ConstSpan message_;
  bool holds_ = true;
};

/// The call alone, for dry runs. \param message_only  becomes false if a node touches anything but
/// the message
Program broadcast_of_message_only(const Collective& collective, const Contract& contract,
                                  std::atomic<bool>& message_only) {
  return [&](Node& node) {
    MessageOnly watched(node);
    CollectiveNode call(watched, collective, contract, nullptr);
    watched.begin(call.output());
    call();
    if (!watched.holds()) message_only.store(false, std::memory_order_relaxed);  // joined after
  };
}

void prove_by_schedule(CheckResult& result, const Schedule& schedule, Rank root,
                       bool message_only) {
  bool once = false;
  if (const auto reached = broadcast_reaches_all(schedule, root, result.block_bytes, once)) {
    if (message_only || !*reached) {
      result.delivered = reached;
      result.exactly_once = once;
      result.proof =
          *reached
              ? "proved from the schedule: every message is the whole message in its place, and "
                "no node sends it before receiving it"
              : "by the schedule: a node sends the message before receiving it, or "
                "a node never receives it";
    } else {
      result.proof =
          "not proved: the schedule delivers messages of the right size to all nodes, but the "
          "program also works on its data, or sends from other memory, which a schedule does not "
          "show";
    }
  } else {
    result.proof =
        "not proved: its messages are parts of the block, which a schedule alone cannot tell "
        "apart";
  }
}

}  // namespace

bool CheckResult::has_formulas() const {
  const Prediction& p = predicted;
  const bool combines = p.combined_blocks && collective.operation()->reduces;  // else 0 by itself
  return p.startups || p.transmission_blocks || p.rearranged_blocks || p.working_blocks ||
         p.link_load || p.link_blocks || p.hops || combines;
}

std::optional<bool> CheckResult::bound_met() const {
  if (!lower_bound.exact) return std::nullopt;
  return *lower_bound.exact == Rational(static_cast<std::int64_t>(report.startups));
}

std::optional<bool> CheckResult::optimal() const {
  if (!lower_bound.exact) return std::nullopt;
  return lower_bound.exact->ceil() == static_cast<std::int64_t>(report.startups);
}

double bytes_to_prove(const MemoryNeed& need, const Contract& contract, double elements) {
  constexpr double fiber_bytes = 5 * 1024;
  return need.nodes + need.plans + CollectiveNode::table_bytes(contract) +
         Arrivals::bytes(contract, elements) + fiber_bytes * contract.nodes;
}

Bytes unit_block_bytes(const Collective& collective, const Topology& topology) {
  const Bytes element = collective.operation()->reduces ? sizeof(Interval) : sizeof(std::uint64_t);
  const auto parts = static_cast<Bytes>(collective.parts(topology));
  if (const Bytes most = largest_tagged_block / element; parts > most) {
    throw UsageError(fmt::format(
        "{} {} on {} cuts a block into {} parts; a dry run distinguishes up to {}: {}",
        collective.operation()->name, collective.text(), topology.name(), parts, most,
        collective.options.declared().empty() ? "use fewer nodes or another algorithm"
                                              : "use smaller options, fewer nodes or another "
                                                "algorithm"));
  }
  return element * parts;
}

MemoryNeed need_to_check(const Collective& collective, const Topology& topology,
                         const CheckOptions& options) {
  const Contract contract =
      contract_of(collective, topology.nodes(), unit_block_bytes(collective, topology),
                  options.seed, Pattern::tags, options.in_place);
  const Collective witness = witnessed(collective, contract);
  return need_to_record(fmt::format("check {} {} on {}", collective.operation()->name,
                                    collective.name(), topology.name()),
                        topology, collective_program(witness, contract, nullptr),
                        collective.arguments.root, options.record_pieces,
                        ", or raise the limit (--record-pieces)");
}

CheckResult check_collective(const Collective& collective, const Topology& topology,
                             const CheckOptions& options) {
  const Activity activity(fmt::format("{} {}", collective.operation()->name, collective.text()));
  CheckResult result;
  const Operation operation = collective.operation();
  const Contract contract =
      contract_of(collective, topology.nodes(), unit_block_bytes(collective, topology),
                  options.seed, Pattern::tags, options.in_place);
  result.collective = witnessed(collective, contract);
  topology.require_routable();
  (collective.arguments.reduction.apply ? collective : result.collective).require(topology);
  // Before the predictions, which count the links of large networks.
  const MemoryNeed need = need_to_check(collective, topology, options);
  const Program program = collective_program(result.collective, contract, nullptr);
  result.topology = topology.name(), result.nodes = topology.nodes();
  result.all_port = options.all_port, result.block_bytes = contract.block_bytes;
  // Of the operator that tracks ranks: it commutes if the call's does.
  result.predicted = result.collective.predict(topology);
  const Ports ports = options.all_port ? Ports::all : Ports::one;
  result.lower_bound = result.collective.lower_bound(topology, ports);

  {
    std::atomic<bool> message_only = true;
    const Schedule schedule =
        record(topology, operation == operations::broadcast
                             ? broadcast_of_message_only(result.collective, contract, message_only)
                             : program);
    result.report = check(schedule, Routing(topology, options.virtual_channels), options.all_port);
    if (operation == operations::broadcast && !reason_not_to_prove(result, options).empty()) {
      prove_by_schedule(result, schedule, collective.arguments.root, message_only);
    }
  }

  give_back_memory();  // the schedule's
  const Bytes elements = result.report.total_bytes / contract.element_bytes();
  const double proof_bytes = bytes_to_prove(need, contract, static_cast<double>(elements));
  if (const std::string reason = reason_not_to_prove(result, options); reason.empty()) {
    const AvailableMemory available = available_memory();
    if (proof_bytes <= available.bytes) {
      require_memory("the proof", proof_bytes, "", available);  // noted as expected
      prove_by_run(result, topology, contract, static_cast<double>(elements));
      if (operation->reduces && !contract.commutes) {
        result.keeps_order = result.delivered, result.order = result.proof;
      } else if (operation->reduces) {
        prove_order(result, collective, topology, options);
      }
      if (operation->reduces) {
        prove_bits(result, collective, topology, options, contract.commutes);
      }
    } else {
      result.proof =
          fmt::format("not proved: the run would need {} of memory, {} is available ({})",
                      memory_text(proof_bytes), memory_text(available.bytes), available.limit);
    }
  } else if (result.proof.empty()) {
    result.proof = "not proved: " + reason;
  }
  if (result.arrivals.empty()) result.arrivals = result.proof;
  if (result.order.empty()) {
    result.order = operation->reduces ? result.proof : "no operator: it combines nothing";
  }
  if (result.bits.empty()) result.bits = result.order;
  if (contract.uneven() && options.block_bytes &&
      (!operation->reduces || collective.arguments.reduction.apply)) {
    result.block_bytes = *options.block_bytes;
    result.report = check_steps(collective, topology, result.block_bytes, options);
  }
  count(result, contract);
  judge(result);
  return result;
}

ScheduleReport check_steps(const Collective& collective, const Topology& topology,
                           Bytes block_bytes, const CheckOptions& options) {
  const Contract contract = contract_of(collective, topology.nodes(), block_bytes, options.seed,
                                        Pattern::words, options.in_place);
  const Schedule schedule = record(topology, collective_program(collective, contract, nullptr));
  return check(schedule, Routing(topology, options.virtual_channels), options.all_port);
}

CallCounts counts_of(const ScheduleReport& report) {
  const auto number = [](auto count) { return static_cast<double>(count); };
  return {number(report.startups),  number(report.sum_max_hops), number(report.transmission),
          number(report.contended), number(report.rearranged),   number(report.combined),
          number(report.injected)};
}

ModelTime lock_step_time(const ScheduleReport& report, const CostModel& model) {
  return model_time(counts_of(report), model);
}

}  // namespace wormcube
