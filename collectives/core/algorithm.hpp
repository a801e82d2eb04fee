// One algorithm: its program, where it applies, what it costs and where it comes from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/core/needs.hpp"
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/core/options.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"  // IWYU pragma: export
#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wormcube {

/// One node's side of a collective call.
struct Call {
  ConstBlocks input;  ///< what this node gives: its operation's `gives`
  Blocks output;      ///< what it ends with: `ends_with`. For a broadcast the message, in place
  const Arguments& arguments;
  const Options& options;
  /// Uneven operations, known to all nodes. If sizes are by_origin or by_block: that of the block
  /// of (or for) each node. If by_both: entry r p + q is that of node r's block for node q; empty
  /// unless the algorithm needs them (Algorithm::needs_sizes). Empty for other operations.
  std::span<const Bytes> sizes = {};

  /// The same call with other blocks, for a part of the algorithm.
  Call with(ConstBlocks in, Blocks out) const { return {in, out, arguments, options}; }
};

/// What an algorithm knows before it runs: the same on every node.
struct Setting {
  const Topology& topology;
  const Arguments& arguments;
  const Options& options;
};

/// What may select an algorithm.
enum class Selection : std::uint8_t {
  automatic,  ///< `auto` predicts its cost, and may pick it
  by_name,    ///< selected by name only: a baseline, or slow to predict
  /// Selected by name only: its messages take dimensions in an order of their own. A machine runs
  /// it only after a check of its routes.
  any_order,
};

/// How an algorithm divides the network's nodes, for pictures: masters and slaves, diagonals, ..
struct NodeSets {
  std::vector<std::string> names;  ///< of the sets
  std::vector<int> set_of;         ///< by rank; -1: in none
  /// By rank: nodes with one number form a cell, which is framed. Empty: there are no cells.
  std::vector<Rank> cell_of = {};
};

struct Algorithm {
  Operation operation;
  std::string_view name;
  // add_algorithm() requires both; check_collective() does without.
  std::string_view summary = {};  ///< one line: what it does, and its networks
  std::string_view source = {};   ///< authors, year, section
  Ports ports = Ports::one;
  // Claims, which are checked; a property defaults to "not claimed".
  bool contention_free = false;  ///< no link carries two messages in a step, on any network
  bool exactly_once = false;     ///< no node receives the same data twice, forwarding included
  bool neighbours_only = false;  ///< messages go to neighbours only, on networks of nodes alone
  /// "reconstruction", "our extension", .. shown with all results; one that starts with "n > 2
  /// dimensions" is shown on such networks only.
  std::string_view remark = {};
  std::vector<Option> options = {};

  /// The networks, as conditions that several algorithms share; and the algorithms of the same
  /// operation to use if one fails: the error names those of them that the network admits.
  std::vector<Need> needs = {};
  std::vector<std::string_view> instead = {};
  bool needs_commutative = false;  ///< the reduction operator must commute
  /// The sizes of all pairs' blocks must be known to all nodes (Call::sizes): `auto` does not pick
  /// it, as few callers know them.
  bool needs_sizes = false;
  /// Whether nodes bracket the operands of one result differently: if the operator is not exact,
  /// last bits differ between nodes, and `auto` does not pick the algorithm. nullptr: never.
  bool (*brackets_differ)(const Setting&) = nullptr;
  /// Further conditions, on options or arguments; throws UsageError with both numbers and an
  /// alternative. nullptr: none.
  void (*require)(const Setting&) = nullptr;

  /// Sets good numbers for this block size and these costs if options leave them open (packets=0),
  /// by a formula; Collective::settle() tries one, half and twice as many. nullptr: nothing is left
  /// open.
  void (*settle)(const Setting&, const CostModel&, Bytes block_bytes, Options&) = nullptr;
  Prediction (*predict)(const Setting&) = [](const Setting&) { return Prediction{}; };
  /// Its own lower bound, if that differs from its operation's: its messages go to neighbours only.
  /// nullptr: the operation's.
  LowerBound (*bound)(const Setting&, Ports) = nullptr;
  Selection selection = Selection::automatic;
  /// The node program.
  void (*program)(Node&, const Call&) = nullptr;
  /// The number of parts that it cuts a block into: dry runs and proofs use blocks that it divides.
  Rank (*parts)(const Setting&) = [](const Setting&) { return Rank{1}; };
  /// The sets of nodes that its description names; nullptr: none.
  NodeSets (*node_sets)(const Setting&) = nullptr;
};

/// Throws UsageError, with both numbers and an alternative, unless the algorithm applies in this
/// setting.
void require(const Algorithm& algorithm, const Setting& setting);

/// The most packets or segments that settle() sets.
constexpr std::int64_t most_settled = 4096;

/// A collective without its data: an algorithm, its options, the call's arguments.
struct Collective {
  const Algorithm* algorithm = nullptr;
  Options options = {};
  Arguments arguments = {};

  Collective() = default;
  /// With the defaults of its options.
  explicit Collective(const Algorithm& chosen, Arguments with = {})
      : algorithm(&chosen), options(chosen.options), arguments(std::move(with)) {}
  explicit Collective(const Algorithm&&, Arguments = {}) = delete;  // it is kept by address

  Operation operation() const { return algorithm->operation; }
  std::string_view name() const { return algorithm->name; }
  Setting setting(const Topology& topology) const { return {topology, arguments, options}; }
  /// Throws UsageError unless it applies here.
  void require(const Topology& topology) const;
  /// Sets the options that depend on the block size; predictions need them. On up to 1024 nodes no
  /// number is slower by the model than one, half or twice as many. This and predict() throw
  /// UsageError for an invalid root, source or operator.
  void settle(const Topology& topology, const CostModel& model, Bytes block_bytes);
  Prediction predict(const Topology& topology) const;
  /// The algorithm's own bound, or its operation's.
  LowerBound lower_bound(const Topology& topology, Ports ports) const;
  Rank parts(const Topology& topology) const { return algorithm->parts(setting(topology)); }

  /// The call: every node of a machine makes it, with what it gives and what it ends with, cut into
  /// the operation's blocks. The algorithm is chosen once on the host (parse_collective, cheapest).
  /// Throws UsageError, before any message, if it does not apply to this network, or if the blocks
  /// do not match the operation: their number, their sizes, whole elements.
  void operator()(Node& node, ConstSpan input, Span output) const;
  /// The same in place: for a broadcast the message, for an allgather the result with the own block
  /// in its place, for a reduction the operand.
  void operator()(Node& node, Span data) const;
  /// The same for blocks whose sizes differ. \param sizes  see Call::sizes
  void operator()(Node& node, ConstBlocks input, Blocks output,
                  std::span<const Bytes> sizes = {}) const;
  /// Vectors, arrays, spans of any elements that are copied as bytes.
  template <std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
  void operator()(Node& node, const In& input, Out&& output) const {
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<In>>);
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Out>>);
    const std::span data(output);
    (*this)(node, ConstSpan(std::as_bytes(std::span(input))), Span(std::as_writable_bytes(data)));
  }
  template <std::ranges::contiguous_range Data>
  void operator()(Node& node, Data&& data) const {
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Data>>);
    const std::span all(data);
    (*this)(node, Span(std::as_writable_bytes(all)));
  }

  /// "suh-mesh:order=parity:ring=plus"
  std::string text() const;
};
/// Whether all nodes end with the same bits of one result, for this operator or for any.
enum class SameBits : std::uint8_t { yes, no, exact };
std::string_view to_string(SameBits same);
SameBits same_bits(const Collective& collective, const Topology& topology);
/// Why it does not apply here; nothing if it does.
std::optional<std::string> refusal(const Collective& collective, const Topology& topology);

/// The algorithms that one file registers: one, or the variants of one program.
struct Registration {
  std::vector<Algorithm> all;
  Registration(Algorithm one) : all{std::move(one)} {}  // NOLINT(google-explicit-constructor)
  Registration(std::initializer_list<Algorithm> variants) : all(variants) {}
};

/// Registers a built-in algorithm, or several variants, in the file that defines the program:
///
///   WORMCUBE_ALGORITHM(alltoall_ring){.operation = operations::alltoall, ..};
///   WORMCUBE_ALGORITHMS(allgather_ring) = with_variant({..}, [](Algorithm& uneven) {..});
///
/// collectives/core/algorithms.inc lists the names.
#define WORMCUBE_ALGORITHM(name) WORMCUBE_ALGORITHMS(name) = Algorithm
#define WORMCUBE_ALGORITHMS(name)              \
  extern const Registration registered_##name; \
  const Registration registered_##name

/// An algorithm and a variant of it, the same except for what `change` sets.
Registration with_variant(const Algorithm& algorithm, void (*change)(Algorithm& variant));
/// Only the start-ups of a prediction, for blocks of different sizes: a step lasts as long as its
/// largest message, which depends on all sizes.
template <Prediction (*predict)(const Setting&)>
Prediction startups_of(const Setting& setting) {
  return {.startups = predict(setting).startups};
}

}  // namespace wormcube
