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
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// A part of a block that knows which.
struct NamedElement {
  WordId word;
  std::uint32_t block, part, mark;
};
constexpr std::uint32_t named_mark = 0xB10CDA7A;
static_assert(sizeof(NamedElement) == 16);

NamedElement element_at(const std::byte* place) {
  NamedElement element{};
  std::memcpy(&element, place, sizeof(element));
  return element;
}

/// What the run finds: for each node the pairs that it combines, gap by gap, and what it sends.
class Naming {
 public:
  Naming(const Collective& collective, const Topology& topology)
      : words_(topology.nodes()),
        parts_(collective.parts(topology)),
        gaps_(static_cast<std::size_t>(topology.nodes())) {}

  Bytes block_bytes() const { return sizeof(NamedElement) * static_cast<Bytes>(parts_); }

  void fill(Rank node, Rank block, Span data) const {
    for (Rank part = 0; part < parts_; ++part) {
      const NamedElement element{static_cast<WordId>(node), static_cast<std::uint32_t>(block),
                                 static_cast<std::uint32_t>(part), named_mark};
      std::memcpy(&data[static_cast<Bytes>(part) * sizeof(element)], &element, sizeof(element));
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

  void begin_work(Rank node, std::size_t step) { at_work_ = node, step_ = step; }

  void add(const Delivery& delivery) {
    std::vector<NamedValue>& values =
        sent_[{delivery.from, delivery.step, delivery.to, delivery.tag}].emplace_back();
    for (const Span piece : delivery.pieces) {
      for (Bytes at = 0; at + sizeof(NamedElement) <= piece.size(); at += sizeof(NamedElement)) {
        const NamedElement element = element_at(&piece[at]);
        if (element.mark == named_mark) values.push_back(value(element));
        names_all_ = names_all_ && element.mark == named_mark;
      }
      names_all_ = names_all_ && piece.size() % sizeof(NamedElement) == 0;
    }
  }
  /// Whether all data that was sent is values.
  bool names_all() const { return names_all_; }

  /// Adds the names to a schedule of the same call.
  NamedSchedule name(NamedSchedule named) {
    named.words = std::move(words_);
    const std::size_t steps = named.schedule.steps();
    NamedBuilder builder(std::move(named));
    const Schedule& schedule = builder.made().schedule;
    for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
      const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
      for (const auto& [step, pairs] : gaps_[static_cast<std::size_t>(rank)]) {
        const bool is_last = step == log.step_ends.size();
        builder.combine(rank, is_last ? steps : step, pairs, log.combined[step]);
      }
      for (std::size_t step = 0; step < log.step_ends.size(); ++step) {
        for (const OpRecord& op : schedule.ops(rank, step)) {
          const bool is_send = op.kind == Op::Kind::send;
          builder.name(rank,
                       is_send ? NamedBuilder::Values(values_of(rank, step, op)) : std::nullopt);
        }
      }
    }
    return builder.finish();
  }

 private:
  static NamedValue value(const NamedElement& element) {
    return {element.word, static_cast<Rank>(element.block), static_cast<Rank>(element.part)};
  }

  NamedElement join(const NamedElement& left, const NamedElement& right) {
    const bool fit = left.mark == named_mark && right.mark == named_mark &&
                     left.block == right.block && left.part == right.part;
    if (!fit) return {};
    gaps_[static_cast<std::size_t>(at_work_)][step_].push_back({value(left), value(right)});
    return {words_.join(left.word, right.word), left.block, left.part, named_mark};
  }

  std::span<const NamedValue> values_of(Rank rank, std::size_t step, const OpRecord& op) {
    const auto found = sent_.find({rank, step, op.peer, op.tag});
    if (found == sent_.end()) return {};
    std::size_t& next = next_[{rank, step, op.peer, op.tag}];
    if (next == found->second.size()) return {};
    return found->second[next++];
  }

  Words words_;
  Rank parts_;
  bool names_all_ = true;
  Rank at_work_ = 0;
  std::size_t step_ = 0;
  std::vector<std::map<std::size_t, std::vector<RankNames::Pair>>> gaps_;
  using Key = std::tuple<Rank, std::size_t, Rank, Tag>;  // from, step, to, tag
  std::map<Key, std::vector<std::vector<NamedValue>>> sent_;
  std::map<Key, std::size_t> next_;
};

/// A node that says whose work is done.
class NamingNode final : public ForwardingNode {
 public:
  NamingNode(Node& node, Naming& naming) : ForwardingNode(node), naming_(naming) {}
  using Node::step;
  void step(std::span<const Op> ops) override {
    ForwardingNode::step(ops);
    ++steps_;
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    const auto begun = [&] {
      naming_.begin_work(rank(), steps_);
      work();
    };
    ForwardingNode::work(charge, bytes, begun);
  }
  Naming& naming_;
  std::size_t steps_ = 0;
};

/// One node's call on blocks of one size that name themselves.
void call_with_names(Node& plain, const Collective& collective, const Contract& contract,
                     Naming& naming) {
  NamingNode node(plain, naming);
  const Rank r = node.rank();
  const auto offsets = [&](Rank blocks) {
    std::vector<Bytes> all{0};
    for (Rank b = 0; b < blocks; ++b) all.push_back(all.back() + naming.block_bytes());
    return all;
  };
  const Rank gives = contract.gives(r), ends_with = contract.ends_with(r);
  const std::vector<Bytes> inputs = offsets(gives), outputs = offsets(ends_with);
  const Rank place = contract.place_of_input(r);
  const Memory output = node.memory(outputs.back()),
               own = node.memory(place >= 0 ? 0 : inputs.back());
  const Span input =
      place >= 0 ? output.span().subspan(outputs[static_cast<std::size_t>(place)], inputs.back())
                 : own.span();
  node.local([&] {
    for (Rank block = 0; block < gives; ++block) {
      naming.fill(r, block,
                  input.subspan(inputs[static_cast<std::size_t>(block)], naming.block_bytes()));
    }
  });
  std::vector<Bytes> sizes;
  if (!contract.known_sizes().empty())
    sizes.assign(static_cast<std::size_t>(contract.nodes), naming.block_bytes());
  if (contract.pair_sizes) sizes.assign(contract.pair_sizes->size(), naming.block_bytes());
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

  Naming naming(collective, topology);
  Collective with_names = collective;
  if (operation->reduces) with_names.arguments.reduction = naming.reduction(named.commutative);
  prove(
      topology, [&](Node& node) { call_with_names(node, with_names, contract, naming); },
      [&](const Delivery& delivery) { naming.add(delivery); });
  named = naming.name(std::move(named));
  NamedReport report = prove_named(named, &goal);
  if (!report.findings.empty() && naming.names_all()) {
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
