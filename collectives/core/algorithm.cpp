// Checks whether an algorithm applies, and explains why not.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"

#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// "; use suh-mesh, mesh or shift": the alternatives that the algorithm names and this network
/// admits; if there are none, the first few of its operation that have no further conditions.
std::string way_out(const Algorithm& refused, const Topology& topology, bool commutes) {
  constexpr std::size_t most = 3;
  std::vector<std::string_view> named, others;
  for (const Algorithm* other : registry()) {
    if (other->operation != refused.operation || other == &refused) continue;
    if (other->needs_commutative && !commutes) continue;
    if (std::ranges::any_of(other->needs,
                            [&](const Need& need) { return need.complaint(topology).has_value(); }))
      continue;
    if (std::ranges::find(refused.instead, other->name) != refused.instead.end()) {
      named.push_back(other->name);
    } else if (other->require == nullptr && is_chosen_by_auto(*other) && others.size() < most) {
      others.push_back(other->name);
    }
  }
  // In the algorithm's own order: the most similar first.
  std::ranges::sort(named, {}, [&](std::string_view name) {
    return std::ranges::find(refused.instead, name) - refused.instead.begin();
  });
  const auto& names = named.empty() ? others : named;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "; use " : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

void require_network(const Algorithm& algorithm, const Topology& topology) {
  for (const Need& need : algorithm.needs) {
    if (const auto found = need.complaint(topology)) {
      throw UsageError(fmt::format("{}: {}; {}{}", algorithm.name, need.text, *found,
                                   way_out(algorithm, topology, true)));
    }
  }
}

}  // namespace

void require(const Algorithm& algorithm, const Setting& setting) {
  require_arguments(algorithm.operation, setting.topology.nodes(), setting.arguments);
  require_network(algorithm, setting.topology);
  if (algorithm.needs_commutative && !setting.arguments.reduction.commutative) {
    throw UsageError(fmt::format("{}: needs a commutative operator; {} is not{}", algorithm.name,
                                 setting.arguments.reduction.name,
                                 way_out(algorithm, setting.topology, false)));
  }
  if (algorithm.require != nullptr) algorithm.require(setting);
}

void Collective::require(const Topology& topology) const {
  wormcube::require(*algorithm, setting(topology));
}

void Collective::settle(const Topology& topology, const CostModel& model, Bytes block_bytes) {
  if (algorithm->settle == nullptr) return;
  require_arguments(operation(), topology.nodes(), arguments);
  const Options open = options;
  algorithm->settle({topology, arguments, open}, model, block_bytes, options);
  constexpr Rank most_nodes = 1024;  // on more, a prediction takes tens of milliseconds
  if (topology.nodes() > most_nodes) return;
  for (const Option& option : algorithm->options) {
    if (!option.choices.empty()) continue;
    const std::int64_t first = options.number(option.name);
    if (first == open.number(option.name)) continue;
    std::map<std::int64_t, Prediction> predictions;
    const auto with = [&](std::int64_t n) -> const Prediction& {
      const auto [entry, is_new] = predictions.try_emplace(n);
      if (is_new) {
        options.set(option.name, std::to_string(n));
        entry->second = predict(topology);
      }
      return entry->second;
    };
    std::int64_t best = first;
    const Prediction& known = with(first);
    double least_us = predicted_us(known, model, block_bytes);
    for (bool better = true; better;) {
      better = false;
      for (const std::int64_t n : {std::int64_t{1}, best / 2, 2 * best}) {
        if (n < 1 || n > std::min(most_settled, option.most)) continue;
        const Prediction& other = with(n);
        // A time without contention is no time to compare with.
        if (other.link_blocks.has_value() != known.link_blocks.has_value()) continue;
        const double other_us = predicted_us(other, model, block_bytes);
        if (other_us < least_us) {
          best = n;
          least_us = other_us;
          better = true;
        }
      }
    }
    options.set(option.name, std::to_string(best));
  }
}

std::string_view to_string(SameBits same) {
  switch (same) {
    case SameBits::yes:
      return "yes";
    case SameBits::no:
      return "no";
    case SameBits::exact:
      return "exact";
  }
  return "?";
}

SameBits same_bits(const Collective& collective, const Topology& topology) {
  if (!collective.operation()->reduces || collective.arguments.reduction.exact) {
    return SameBits::exact;
  }
  const auto differ = collective.algorithm->brackets_differ;
  return differ != nullptr && differ(collective.setting(topology)) ? SameBits::no : SameBits::yes;
}

LowerBound Collective::lower_bound(const Topology& topology, Ports ports) const {
  require_arguments(operation(), topology.nodes(), arguments);
  return algorithm->bound != nullptr
             ? algorithm->bound(setting(topology), ports)
             : wormcube::lower_bound(operation(), topology, ports, arguments);
}

Prediction Collective::predict(const Topology& topology) const {
  require_arguments(operation(), topology.nodes(), arguments);
  Prediction prediction;
  const auto fail = [&](std::string_view text) {
    std::throw_with_nested(
        std::runtime_error(fmt::format("{} {} on {}: its formula threw: {}", operation()->name,
                                       this->text(), topology.name(), text)));
  };
  try {
    prediction = algorithm->predict(setting(topology));
  } catch (const UsageError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("unknown exception type");
  }
  if (!operation()->reduces) prediction.combined_blocks = 0;
  bool has_switches = false;
  for (int d = 0; d < topology.dimensions(); ++d) {
    has_switches = has_switches || topology.factor(d).vertices() > topology.size(d);
  }
  if (algorithm->neighbours_only && !has_switches) prediction.hops = prediction.startups;
  return prediction;
}

void Collective::operator()(Node& node, ConstSpan input, Span output) const {
  const Operation on = operation();
  if (on->always_in_place) {
    throw UsageError(fmt::format("{}: works in place; call it with one buffer", on->name));
  }
  if (on->sizes != Sizes::equal) {
    throw UsageError(
        fmt::format("{}: has blocks of different sizes; call it with Blocks", on->name));
  }
  const Instance instance{node.size(), arguments};
  (*this)(node, ConstBlocks(input, on->gives(instance, node.rank())),
          Blocks(output, on->ends_with(instance, node.rank())));
}

void Collective::operator()(Node& node, Span data) const {
  const Operation on = operation();
  if (on->place_of_input == nullptr) {
    throw UsageError(
        fmt::format("{}: does not work in place; call it with an input and an output", on->name));
  }
  const Instance instance{node.size(), arguments};
  const Rank gives = on->gives(instance, node.rank()),
             ends_with = on->ends_with(instance, node.rank()),
             place = on->place_of_input(instance, node.rank());
  if (ends_with == 0) {
    (*this)(node, ConstBlocks(data, gives), Blocks(Span(), 0));
    return;
  }
  const Blocks output(data, ends_with);
  (*this)(node, ConstBlocks(place < 0 ? Span() : output.range(place, gives), gives), output);
}

namespace {

/// Blocks of one size; for others the error names the operation that accepts them, if there is one.
void require_even(Operation on, ConstBlocks input, ConstBlocks output) {
  if (input.uneven() || output.uneven()) {
    const std::string other = std::string(on->name) + "v";
    const bool has_other = std::ranges::any_of(
        registered_operations(), [&](Operation known) { return known->name == other; });
    throw UsageError(fmt::format("{}: blocks must all have the same size; {}", on->name,
                                 has_other ? fmt::format("use {} for others", other)
                                           : "divide the data by the number of blocks, without "
                                             "offsets"));
  }
  if (input.count() > 0 && output.count() > 0 && input.bytes() != output.bytes()) {
    throw UsageError(fmt::format("{}: blocks of {} bytes in and {} out; need the same size",
                                 on->name, input.bytes(), output.bytes()));
  }
}

/// The sizes of all pairs match the blocks that this node gives and gets.
void require_pair_sizes(Operation on, Rank nodes, Rank rank, ConstBlocks input, ConstBlocks output,
                        std::span<const Bytes> sizes) {
  const auto p = static_cast<std::size_t>(nodes), own = static_cast<std::size_t>(rank);
  if (sizes.size() != p * p) {
    throw UsageError(fmt::format("{}: {} sizes for {} nodes; need one for each of the {} pairs",
                                 on->name, sizes.size(), nodes, p * p));
  }
  for (std::size_t q = 0; q < p; ++q) {
    const auto other = static_cast<Rank>(q);
    for (const auto& [bytes, said, from, to] :
         {std::tuple(input[other].size(), sizes[own * p + q], rank, other),
          std::tuple(output[other].size(), sizes[q * p + own], other, rank)}) {
      if (bytes == said) continue;
      throw UsageError(
          fmt::format("{}: node {} has a block of {} bytes from node {} to node {}, but the sizes "
                      "say {}",
                      on->name, rank, bytes, from, to, said));
    }
  }
}

/// Blocks of different sizes: the block that a node keeps for itself has one size on both sides,
/// and the sizes that all know match its blocks.
void require_sizes(const Instance& instance, Operation on, Rank rank, ConstBlocks input,
                   ConstBlocks output, std::span<const Bytes> sizes) {
  for (Rank b = 0; b < output.count(); ++b) {
    const Content content = on->result(instance, rank, b);
    if (rank < content.first || rank >= content.last || content.block >= input.count()) continue;
    const Bytes gives = input[content.block].size(), ends_with = output[b].size();
    if (gives != ends_with) {
      throw UsageError(
          fmt::format("{}: node {} gives itself a block of {} bytes but has room for {}", on->name,
                      rank, gives, ends_with));
    }
  }
  if (sizes.empty()) return;
  if (on->sizes == Sizes::by_both) {
    return require_pair_sizes(on, instance.nodes, rank, input, output, sizes);
  }
  if (sizes.size() != static_cast<std::size_t>(instance.nodes)) {
    throw UsageError(
        fmt::format("{}: {} sizes for {} nodes", on->name, sizes.size(), instance.nodes));
  }
  const ConstBlocks own = on->sizes == Sizes::by_origin ? input : output;
  if (own.count() == 1 && own[0].size() != sizes[static_cast<std::size_t>(rank)]) {
    throw UsageError(fmt::format("{}: node {} has a block of {} bytes, but the sizes say {}",
                                 on->name, rank, own[0].size(),
                                 sizes[static_cast<std::size_t>(rank)]));
  }
}

/// Whole elements in each block, so that no block ends within one.
void require_elements(Operation on, const Reduction& reduction, ConstBlocks blocks) {
  const Rank sizes = blocks.uneven() ? blocks.count() : std::min(blocks.count(), 1);
  for (Rank b = 0; b < sizes; ++b) {
    const Bytes bytes = blocks[b].size();
    if (bytes % reduction.element_bytes == 0) continue;
    throw UsageError(fmt::format("{}: {} bytes; {} has elements of {}", on->name, bytes,
                                 reduction.name, reduction.element_bytes));
  }
}

}  // namespace

void Collective::operator()(Node& node, ConstBlocks input, Blocks output,
                            std::span<const Bytes> sizes) const {
  require(node.topology());  // a third of a microsecond at most, except for product-multiport
  const Operation on = operation();
  const Instance instance{node.size(), arguments};
  const Rank gives = on->gives(instance, node.rank()),
             ends_with = on->ends_with(instance, node.rank());
  if (input.count() != gives || output.count() != ends_with) {
    throw UsageError(
        fmt::format("{}: {} blocks in and {} out; node {} of {} gives {}, ends with {}", on->name,
                    input.count(), output.count(), node.rank(), node.size(), gives, ends_with));
  }
  if (on->sizes == Sizes::equal) {
    require_even(on, input, output);
  } else {
    require_sizes(instance, on, node.rank(), input, output, sizes);
    if (algorithm->needs_sizes && sizes.empty()) {
      throw UsageError(
          fmt::format("{} {}: needs the sizes of all pairs' blocks; pass them, or use shift",
                      on->name, algorithm->name));
    }
  }
  if (on->reduces) require_elements(on, arguments.reduction, input);
  algorithm->program(node, {input, output, arguments, options, sizes});
}

Registration with_variant(const Algorithm& algorithm, void (*change)(Algorithm& variant)) {
  Registration both{algorithm, algorithm};
  change(both.all[1]);
  return both;
}

std::string Collective::text() const {
  const std::string chosen = options.text();
  return fmt::format("{}{}{}", algorithm->name, chosen.empty() ? "" : ":", chosen);
}

std::optional<std::string> refusal(const Collective& collective, const Topology& topology) {
  try {
    collective.require(topology);
  } catch (const UsageError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace wormcube
