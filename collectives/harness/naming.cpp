// Runs a call on elements that name themselves.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/naming.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/dataflow/builder.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// A part of a block that knows which: a word of 8 bytes, since some algorithms cut blocks there.
struct NamedElement {
  std::uint32_t number, mark;  // of a value of the run
};
constexpr std::uint32_t named_mark = 0xB10CDA7A;
static_assert(sizeof(NamedElement) == 8);

NamedElement element_at(const std::byte* place) {
  NamedElement element{};
  std::memcpy(&element, place, sizeof(element));
  return element;
}

/// The elements of a run, and who hears of them.
class NamedRun {
 public:
  NamedRun(const Schedule& schedule, const Contract& contract, Rank parts, Words& words,
           const NamedListener& listener)
      : schedule_(schedule), parts_(parts), words_(words), listener_(listener) {
    for (Rank node = 0; node < contract.nodes; ++node) {
      first_.push_back(values_.size());
      for (Rank block = 0; block < contract.gives(node); ++block) {
        for (Rank part = 0; part < parts; ++part)
          values_.push_back({static_cast<WordId>(node), block, part});
      }
    }
  }

  /// Parts that come again have the same name; of a whole block, only the first element has it.
  void fill(Rank node, Rank block, Span data) const {
    const auto parts = static_cast<std::size_t>(parts_);
    const std::size_t first =
        first_[static_cast<std::size_t>(node)] + static_cast<std::size_t>(block) * parts;
    for (std::size_t i = 0; i * sizeof(NamedElement) < data.size(); ++i) {
      NamedElement element{static_cast<std::uint32_t>(first + i % parts), named_mark};
      if (parts == 1 && i > 0) element = {};
      std::memcpy(&data[i * sizeof(element)], &element, sizeof(element));
    }
  }

  /// The operator that joins words, and notes what the node at work combines.
  Reduction reduction(bool commutative) {
    Reduction joins;
    joins.name = "words";
    joins.element_bytes = sizeof(NamedElement);
    joins.commutative = commutative;
    joins.exact = true;
    joins.apply = [this](const std::byte* left, const std::byte* right, std::byte* result,
                         std::size_t elements) {
      for (std::size_t i = 0; i < elements; ++i) {
        const Bytes at = i * sizeof(NamedElement);
        const NamedElement both = join(element_at(left + at), element_at(right + at));
        std::memcpy(result + at, &both, sizeof(both));
      }
    };
    return joins;
  }

  void begin_work(Rank node, std::size_t step) { at_work_ = node, work_step_ = step; }

  void add(const Delivery& delivery) {
    reach(delivery.step);
    std::vector<NamedValue>& values =
        carried_[{delivery.from, delivery.to, delivery.tag}].emplace_back();
    for (const Span piece : delivery.pieces) {
      for (Bytes at = 0; at + sizeof(NamedElement) <= piece.size(); at += sizeof(NamedElement)) {
        const NamedElement element = element_at(&piece[at]);
        if (is_named(element)) values.push_back(values_[element.number]);
        names_all_ = names_all_ && is_named(element);
      }
      names_all_ = names_all_ && piece.size() % sizeof(NamedElement) == 0;
    }
  }
  /// Reports the steps before this one.
  void reach(std::size_t step) {
    for (; step_ < step; ++step_) {
      for (Rank rank = 0; rank < schedule_.topology.nodes(); ++rank) {
        for (const OpRecord& op : schedule_.ops(rank, step_)) {
          std::vector<NamedValue> values;
          if (op.kind == Op::Kind::send) values = take({rank, op.peer, op.tag});
          listener_.posted(step_, rank, op, values);
        }
      }
      carried_.clear();
      listener_.end_step(step_);
    }
  }
  Bytes parts() const { return static_cast<Bytes>(parts_); }
  bool names_all() const { return names_all_; }

 private:
  bool is_named(const NamedElement& element) const {
    return element.mark == named_mark && element.number < values_.size();
  }

  NamedElement join(const NamedElement& left, const NamedElement& right) {
    if (!is_named(left) || !is_named(right)) return {};
    const NamedValue a = values_[left.number], b = values_[right.number];
    if (a.block != b.block || a.part != b.part) return {};
    if (listener_.combined) listener_.combined(at_work_, work_step_, {a, b});
    values_.push_back({words_.join(a.word, b.word), a.block, a.part});
    return {static_cast<std::uint32_t>(values_.size() - 1), named_mark};
  }

  using Key = std::tuple<Rank, Rank, Tag>;  // from, to, tag
  std::vector<NamedValue> take(const Key& key) {
    std::deque<std::vector<NamedValue>>& left = carried_[key];
    if (left.empty()) return {};
    std::vector<NamedValue> values = std::move(left.front());
    left.pop_front();
    return values;
  }

  const Schedule& schedule_;
  const Rank parts_;
  Words& words_;
  const NamedListener& listener_;
  std::vector<NamedValue> values_;  // by the numbers of elements: first those that nodes give
  std::vector<std::size_t> first_;  // of each node
  std::size_t step_ = 0;            // that is delivered
  std::map<Key, std::deque<std::vector<NamedValue>>> carried_;  // in it, in the order posted
  bool names_all_ = true;
  Rank at_work_ = 0;
  std::size_t work_step_ = 0;
};

/// A node that says whose work is done.
class NamingNode final : public ForwardingNode {
 public:
  NamingNode(Node& node, NamedRun& run) : ForwardingNode(node), run_(run) {}
  using Node::step;
  void step(std::span<const Op> ops) override {
    ForwardingNode::step(ops);
    ++steps_;
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    const auto begun = [&] {
      run_.begin_work(rank(), steps_);
      work();
    };
    ForwardingNode::work(charge, bytes, begun);
  }
  NamedRun& run_;
  std::size_t steps_ = 0;
};

/// One node's call on blocks that name themselves.
void call_with_names(Node& node, const Collective& collective, const Contract& contract,
                     const NamedRun& naming, const Contract* unit) {
  const Rank r = node.rank();
  const auto bytes = [&](Rank of, Rank block) {
    const Bytes elements =
        unit == nullptr ? naming.parts() : unit->block_size(of, block) / unit->element_bytes();
    return elements * sizeof(NamedElement);
  };
  const Rank gives = contract.gives(r), ends_with = contract.ends_with(r);
  std::vector<Bytes> inputs{0}, outputs{0}, sizes;
  for (Rank b = 0; b < gives; ++b) inputs.push_back(inputs.back() + bytes(r, b));
  for (Rank b = 0; b < ends_with; ++b) {
    const Content content = contract.result(r, b);
    outputs.push_back(outputs.back() + bytes(content.first, content.block));
  }
  const Rank place = contract.place_of_input(r);
  const Memory output = node.memory(outputs.back()),
               own = node.memory(place >= 0 ? 0 : inputs.back());
  const Span input =
      place >= 0 ? output.span().subspan(outputs[static_cast<std::size_t>(place)], inputs.back())
                 : own.span();
  node.local([&] {
    for (Rank b = 0; b < gives; ++b)
      naming.fill(r, b, input.subspan(inputs[static_cast<std::size_t>(b)], bytes(r, b)));
  });
  const bool by_origin = contract.operation->sizes == Sizes::by_origin;
  for (Rank q = 0; !contract.known_sizes().empty() && q < contract.nodes; ++q)
    sizes.push_back(by_origin ? bytes(q, 0) : bytes(0, q));
  for (Rank q = 0; contract.pair_sizes && q < contract.nodes; ++q) {
    for (Rank b = 0; b < contract.nodes; ++b) sizes.push_back(bytes(q, b));
  }
  const bool uneven = contract.uneven();
  const auto cut = [&](auto data, Rank blocks, const std::vector<Bytes>& at) {
    using Cut = BasicBlocks<typename decltype(data)::element_type>;
    return uneven ? Cut(data, at) : Cut(data, blocks);
  };
  collective.algorithm->program(
      node, {cut(ConstSpan(input), gives, inputs), cut(output.span(), ends_with, outputs),
             collective.arguments, collective.options, sizes});
}

}  // namespace

bool run_with_names(const Collective& collective, const Schedule& schedule, bool in_place,
                    Words& words, const NamedListener& listener, const Contract* sizes) {
  const Topology& topology = schedule.topology;
  const Rank parts = collective.parts(topology);
  const Contract contract =
      contract_of(collective, topology.nodes(), sizeof(NamedElement) * static_cast<Bytes>(parts), 1,
                  Pattern::words, in_place);
  NamedRun run(schedule, contract, parts, words, listener);
  const bool reduces = collective.operation()->reduces;
  Collective with_names = collective;
  if (reduces)
    with_names.arguments.reduction = run.reduction(collective.arguments.reduction.commutative);
  const auto program = [&](Node& node) {
    if (reduces) {
      NamingNode naming(node, run);
      call_with_names(naming, with_names, contract, run, sizes);
    } else {
      call_with_names(node, with_names, contract, run, sizes);
    }
  };
  // Combinations make words, which all nodes share.
  prove(
      topology, program, [&](const Delivery& delivery) { run.add(delivery); },
      reduces ? ProofThreads::calling : ProofThreads::all);
  run.reach(schedule.steps());
  return run.names_all();
}

NamedSchedule named_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                         bool in_place) {
  const Contract contract =
      contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::words, in_place);
  const Rank nodes = topology.nodes();
  NamedSchedule named{record(topology, collective_program(collective, contract, nullptr)),
                      Words(nodes)};
  const Operation operation = collective.operation();
  named.operation = named_operation(operation, collective.arguments);
  const Goal goal = goal_of(operation, collective.arguments, nodes);
  named.form.several_blocks = goal.several_blocks;
  if (operation->moves_data) {
    named.form.parts = collective.parts(topology);
    if (operation->reduces) named.form.element = collective.arguments.reduction.element_bytes;
  }
  if (contract.uneven()) {
    for (Rank r = 0; r < nodes; ++r) {
      for (Rank b = 0; b < contract.gives(r); ++b)
        named.form.sizes[{r, b}] = contract.block_size(r, b);
    }
  } else if (operation->moves_data) {
    named.form.block = block_bytes;
  }
  named.commutative = operation->reduces && collective.arguments.reduction.commutative;
  named.about.push_back(fmt::format("{} {}", operation->name, collective.text()));

  const std::size_t steps = named.schedule.steps();
  NamedBuilder builder(std::move(named));
  const std::vector<RankLog>& logs = builder.made().schedule.ranks;
  std::vector<std::map<std::size_t, std::vector<RankNames::Pair>>> gaps(logs.size());
  const NamedListener listener{
      .posted =
          [&](std::size_t, Rank node, const OpRecord& op, std::span<const NamedValue> values) {
            const bool is_send = op.kind == Op::Kind::send;
            builder.name(node, is_send ? NamedBuilder::Values(values) : std::nullopt);
          },
      .combined =
          [&](Rank node, std::size_t step, const RankNames::Pair& pair) {
            gaps[static_cast<std::size_t>(node)][step].push_back(pair);
          }};
  const bool names_all =
      run_with_names(collective, builder.made().schedule, in_place, builder.made().words, listener);
  for (std::size_t r = 0; r < logs.size(); ++r) {
    for (const auto& [step, pairs] : gaps[r]) {
      const bool is_last = step == logs[r].step_ends.size();
      builder.combine(static_cast<Rank>(r), is_last ? steps : step, pairs, logs[r].combined[step]);
    }
  }
  named = builder.finish();
  NamedReport report = prove_named(named, &goal);
  if (!report.findings.empty() && names_all) {
    const Bytes most = size_by_names(named);
    named.about.push_back(
        fmt::format("the algorithm cuts blocks elsewhere than this file, so its messages have up "
                    "to {} bytes more or fewer",
                    most));
    report = prove_named(named, &goal);
  }
  if (report.order_changed == false) named.commutative = false;
  if (!report.findings.empty()) {
    throw UsageError(fmt::format(
        "{} {} on {}: a schedule file cannot name the values of its messages, which depend on the "
        "sizes of the blocks ({}); write the sizes alone (--without-names)",
        operation->name, collective.text(), topology.name(), report.findings.front()));
  }
  return named;
}

}  // namespace wormcube
