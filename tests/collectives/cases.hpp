// Shared by the tests of collectives: the networks, calls and options that they cover, proofs, and
// a node that cheats.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::cases {

constexpr std::uint64_t seed = 20231;

/// The numbers of nodes at which every family of networks is walked.
constexpr std::array node_counts{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 64};

/// p as a product of this many sizes, ascending and as near to each other as p's divisors allow:
/// "3x4".
inline std::string shape(Rank p, int dimensions) {
  if (dimensions == 1) return std::to_string(p);
  Rank least = 1;
  for (Rank n = 2; std::pow(n, dimensions) <= p; ++n) {
    if (p % n == 0) least = n;
  }
  return std::to_string(least) + "x" + shape(p / least, dimensions - 1);
}

/// Every family at every number of nodes, meshes and tori of two dimensions and of three (where p
/// has the divisors); then sizes and products that some algorithms ask for, and arbitrary graphs.
inline std::vector<Topology> topologies() {
  std::vector<std::string> texts;
  for (const Rank p : node_counts) {
    for (const char* const family : {"line:", "ring:", "tree:", "complete:"}) {
      texts.push_back(family + shape(p, 1));
    }
    for (const char* const family : {"mesh:", "torus:"}) {
      texts.push_back(family + shape(p, 2));
      if (!shape(p, 3).starts_with("1x")) texts.push_back(family + shape(p, 3));
    }
    const auto bits = static_cast<unsigned>(p);
    if (std::has_single_bit(bits)) {
      texts.push_back("hypercube:" + std::to_string(std::countr_zero(bits)));
    }
  }
  for (const char* const text :
       {"mesh:1x4", "mesh:3x5", "mesh:6x5", "mesh:2x3x4", "torus:1x8", "torus:2x8", "torus:8x4",
        "torus:6x6", "torus:12x8", "torus:8x4x4", "hypercube:5", "complete:9", "ghc:4x3",
        "ring:4*line:3", "torus:3x4*line:2", "tree:4*ring:8", "tree:5*line:3",
        "ring:3*complete:4*tree:2"}) {
    texts.emplace_back(text);
  }
  std::vector<Topology> all;
  for (const std::string& text : texts) all.push_back(Topology::parse(text));
  all.emplace_back(std::vector{samples::petersen()});
  all.emplace_back(std::vector{Graph::ring(4), samples::scrambled(6)});
  return all;
}

/// The operator of calls that reduce: not commutative, unless the algorithm needs that.
inline Reduction operator_for(const Algorithm& algorithm) {
  return algorithm.needs_commutative ? find_reduction("sum", "int32")
                                     : find_reduction("compose", "affine");
}

/// The call's arguments where a test does not care: root 0, by 1, one source.
inline Arguments plain_arguments(const Algorithm& algorithm) {
  Arguments arguments;
  if (algorithm.operation->reduces) arguments.reduction = operator_for(algorithm);
  return arguments;
}

/// Walks go over all combinations on networks of at most this many nodes. On larger ones numbers
/// among the options stay at their defaults, and the roots are the first two, one half way and the
/// last; so they are with options that are not defaults. Hidden tests walk over everything.
constexpr Rank most_nodes_of_all = 16;
enum class Walk : std::uint8_t { usual, everything };

/// Every root, or some; shifts by none, by 1, back, round and far; one source, some, all.
inline std::vector<Arguments> every_argument(const Algorithm& algorithm, Rank nodes,
                                             bool all_roots = true) {
  const Operation operation = algorithm.operation;
  std::vector<Arguments> all{plain_arguments(algorithm)};
  const auto add = [&](auto change) { change(all.emplace_back(plain_arguments(algorithm))); };
  if (operation->rooted) {
    std::set<Rank> roots{1, nodes / 2, nodes - 1};
    const Rank stride = nodes > 32 ? 9 : 1;
    for (Rank root = 1; all_roots && root < nodes; root += stride) roots.insert(root);
    for (const Rank root : roots) {
      if (root > 0 && root < nodes) add([=](Arguments& a) { a.root = root; });
    }
  }
  if (operation->shifts) {
    for (const std::int64_t by : {0, -1, 2, 3, nodes / 2, nodes, nodes + 1, -3 * nodes - 2}) {
      add([=](Arguments& a) { a.by = by; });
    }
  }
  if (operation->permutes) {
    for (const Permutation::Name permutation : Permutation::names) {
      add([=](Arguments& a) { a.permutation = permutation; });
    }
    std::vector<Rank> next;
    for (Rank r = 1; r <= nodes; ++r) next.push_back(r % nodes);
    add([&](Arguments& a) { a.permutation = Permutation(next); });
  }
  if (operation->has_sources) {
    for (const int every : {1, 2, 3}) {
      add([=](Arguments& a) {
        for (Rank q = nodes - 1; q >= 0; q -= every) a.sources.insert(a.sources.begin(), q);
      });
    }
    add([=](Arguments& a) { a.sources = {nodes - 1}; });
  }
  return all;
}

/// The options of an algorithm in every combination: each choice, and of numbers the least few and
/// the most. The defaults come first.
inline std::vector<Options> every_option(const Algorithm& algorithm, bool numbers = true) {
  std::vector<Options> all{Options(algorithm.options)};
  for (const Option& option : algorithm.options) {
    if (option.by_name) continue;  // other values are wrong on purpose
    std::vector<std::string> values;
    if (option.choices.empty()) {
      // A period of packets is the caller's claim that they may overlap: the checker judges it.
      if (option.name == "period" || !numbers) continue;
      for (std::int64_t value = option.least; value <= std::min(option.most, option.least + 3);
           ++value) {
        values.push_back(std::to_string(value));
      }
    } else {
      values.assign(option.choices.begin(), option.choices.end());
    }
    std::vector<Options> with = std::move(all);
    all.clear();
    for (const Options& others : with) {
      all.push_back(others);
      for (const std::string& value : values) {
        if (value == option.text(option.preset)) continue;
        Options changed = others;
        changed.set(option.name, value);
        all.push_back(std::move(changed));
      }
    }
  }
  return all;
}

/// WORMCUBE_TEST_ONLY in the environment, "scan alltoall/shift", leaves these operations and
/// algorithms alone to the tests of all: for one who changes them, and for ./run mutants.
inline const char* tested_only() {
  static const char* const only = std::getenv("WORMCUBE_TEST_ONLY");
  return only;
}
inline bool all_are_tested() { return tested_only() == nullptr; }
inline bool is_tested(const Algorithm& algorithm) {
  const char* const only = tested_only();
  if (only == nullptr) return true;
  std::istringstream words(only);
  const std::string operation(algorithm.operation->name);
  for (std::string word; words >> word;) {
    if (word == operation || word == operation + "/" + std::string(algorithm.name)) return true;
  }
  return false;
}

/// Calls f(collective, topology) for every registered algorithm on every network above that it
/// admits, of `most_nodes` at most, with every combination of its options.
/// \param only  this operation's alone
template <class F>
void for_each(F f, Rank most_nodes = 1 << 20, Walk walk = Walk::usual,
              std::optional<Operation> only = {}) {
  for (const Topology& topology : topologies()) {
    if (topology.nodes() > most_nodes) continue;
    for (const Algorithm* algorithm : built_in()) {
      if (!is_tested(*algorithm) || (only && algorithm->operation != *only)) continue;
      Collective collective(*algorithm, plain_arguments(*algorithm));
      const bool numbers = walk == Walk::everything || topology.nodes() <= most_nodes_of_all;
      for (const Options& options : every_option(*algorithm, numbers)) {
        collective.options = options;
        collective.arguments = plain_arguments(*algorithm);
        // Some keep the order of ranks on some networks only.
        if (algorithm->operation->reduces && refusal(collective, topology)) {
          collective.arguments.reduction = find_reduction("sum", "int32");
        }
        if (!refusal(collective, topology)) f(std::as_const(collective), topology);
      }
    }
  }
}

/// The same with every argument of the call: roots, shifts, sources.
template <class F>
void for_each_call(F f, Rank most_nodes, Walk walk = Walk::usual,
                   std::optional<Operation> only = {}) {
  for_each(
      [&](const Collective& collective, const Topology& topology) {
        Collective call = collective;
        const bool preset = call.options.text().empty();
        const bool all_roots =
            walk == Walk::everything || (preset && topology.nodes() <= most_nodes_of_all);
        for (const Arguments& arguments :
             every_argument(*call.algorithm, topology.nodes(), all_roots)) {
          call.arguments = arguments;
          if (!refusal(call, topology)) f(std::as_const(call), topology);
        }
      },
      most_nodes, walk, only);
}

inline std::string title(const Collective& collective, const Topology& topology) {
  std::string text = std::string(to_string(collective.operation())) + " " + collective.text() +
                     " on " + topology.name();
  const Arguments& arguments = collective.arguments;
  if (collective.operation()->rooted) text += ", root " + std::to_string(arguments.root);
  if (collective.operation()->shifts) text += ", by " + std::to_string(arguments.by);
  if (collective.operation()->permutes)
    text += ", " + std::string(to_string(arguments.permutation));
  for (const Rank source : arguments.sources) text += ", source " + std::to_string(source);
  return text;
}

inline Collective collective_of(Operation operation, std::string_view text,
                                Arguments arguments = {}) {
  return parse_collective(operation, text, std::move(arguments));
}
inline Collective alltoall(std::string_view text) {
  return collective_of(operations::alltoall, text);
}

/// The smallest block of elements that show their origin that the algorithm can cut into
/// its parts.
inline Bytes telling_bytes(const Collective& collective, const Topology& topology) {
  const Contract contract = contract_of(collective, topology.nodes(), 0, seed, Pattern::tags);
  return std::max<Bytes>(contract.element_bytes(), 8) *
         static_cast<Bytes>(collective.parts(topology));
}

/// What is called, with blocks of this size.
struct Call {
  Collective collective;
  Contract contract;

  Call(const Collective& called, const Topology& topology, Bytes block_bytes, Pattern pattern,
       bool in_place = false)
      : collective(called),
        contract(contract_of(called, topology.nodes(), block_bytes, seed, pattern, in_place)) {}
  /// Of the smallest telling blocks.
  Call(const Collective& called, const Topology& topology, bool in_place = false)
      : Call(called, topology, telling_bytes(called, topology), Pattern::tags, in_place) {}
  Program dry() const { return collective_program(collective, contract, nullptr); }
};

/// The calls to walk with blocks of this many elements, of 0, 1 and an odd number that hardly
/// any algorithm's parts divide (`v` operations: blocks of 0 to twice as many): first elements that
/// show their origin and in what order they were combined, then single bytes. Empty blocks
/// are the same of both.
inline std::vector<Call> calls(const Collective& collective, const Topology& topology,
                               Bytes elements) {
  const auto unit =
      contract_of(collective, topology.nodes(), 0, seed, Pattern::tags).element_bytes();
  std::vector<Call> all{Call(collective, topology, elements * unit, Pattern::tags)};
  if (elements == 0) return all;
  Collective of_bytes = collective;
  if (of_bytes.operation()->reduces) of_bytes.arguments.reduction = find_reduction("sum", "uint8");
  all.emplace_back(of_bytes, topology, elements, Pattern::words);
  return all;
}

/// What a proof found.
struct Outcome {
  bool delivered = false;
  std::uint64_t wrong_bytes = 0, wrong_elements = 0;
  std::uint64_t repeated = 0;  ///< tags that came to a node again
  bool counted = false;        ///< arrivals were counted
  std::string first;           ///< the first difference, in words

  bool exactly_once() const { return repeated == 0; }
};

/// \param change  the program that is proved, made of the right one
inline Outcome outcome(const Call& call, const Topology& topology,
                       const std::function<Program(const Program&)>& change = {}) {
  Verification verification(call.contract);
  Arrivals arrivals(call.contract);
  const Program program = collective_program(call.collective, call.contract, &verification);
  prove(topology, change ? change(program) : program,
        [&](const Delivery& delivery) { arrivals.add(delivery.to, delivery.pieces); });
  return {verification.passed(), verification.wrong_bytes(), verification.wrong_elements(),
          arrivals.repeated(),   arrivals.counted(),         verification.first()};
}
inline Outcome outcome(const Collective& collective, const Topology& topology) {
  return outcome(Call(collective, topology), topology);
}

struct Counts {
  ScheduleReport report;
  double startups, transmission_blocks, rearranged_blocks, combined_blocks, link_blocks,
      working_blocks;
};

inline Counts count(const Topology& topology, const Program& program, Bytes block_bytes,
                    Ports ports = Ports::one) {
  const auto report = check(record(topology, program), Routing(topology), ports == Ports::all);
  const auto blocks = [&](Bytes bytes) {
    return static_cast<double>(bytes) / static_cast<double>(block_bytes);
  };
  return {report,
          static_cast<double>(report.startups),
          blocks(report.transmission),
          blocks(report.rearranged),
          blocks(report.combined),
          blocks(report.contended),
          blocks(report.peak_block_bytes)};
}

inline Counts count(const Collective& collective, const Topology& topology) {
  const Call call(collective, topology);
  return count(topology, call.dry(), call.contract.block_bytes, collective.algorithm->ports);
}

/// A node that passes everything on, but lets a test change it on the way.
class Tampering final : public ForwardingNode {
 public:
  explicit Tampering(Node& node) : ForwardingNode(node) {}

  /// May change the ops of a step.
  std::function<void(int step, std::vector<Op>& ops)> change_step;
  /// Does the work of the i-th rearrangement instead.
  std::function<void(int i, FunctionRef work)> change_rearrangement;
  /// The memory that the program holds, in the order of allocation.
  Span held(std::size_t i) const { return memory_[i].span(); }

  using Node::step;
  void step(std::span<const Op> ops) override {
    std::vector<Op> changed(ops.begin(), ops.end());
    if (change_step) change_step(steps_, changed);
    ++steps_;
    ForwardingNode::step(changed);
  }
  int steps() const { return steps_; }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    if (charge == Charge::rearrange && bytes > 0 && change_rearrangement) {
      const int i = rearrangements_++;
      ForwardingNode::work(charge, bytes, [&] { change_rearrangement(i, work); });
    } else {
      ForwardingNode::work(charge, bytes, work);
    }
  }
  Span acquire(Bytes bytes, Purpose purpose) override {
    return memory_.emplace_back(node(), bytes, purpose).span();
  }
  void release(Span data, Purpose /*purpose*/) noexcept override {
    const auto it = std::ranges::find(memory_, data.data(), &Memory::data);
    // Memory cannot be assigned, so what is not last stays until the node ends.
    if (it + 1 == memory_.end()) memory_.pop_back();
  }

  std::vector<Memory> memory_;
  int steps_ = 0, rearrangements_ = 0;
};

/// The program on nodes that `tamper` has prepared.
inline Program tampered(const Program& program, std::function<void(Tampering&)> tamper) {
  return [=](Node& node) {
    Tampering cheat(node);
    tamper(cheat);
    program(cheat);
  };
}

}  // namespace wormcube::cases
