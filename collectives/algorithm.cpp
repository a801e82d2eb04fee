// Whether an algorithm runs somewhere, and why not.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/algorithm.hpp"

#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

void require_network(const Algorithm& algorithm, const Topology& topology) {
  for (const Need& need : algorithm.needs) {
    if (const auto found = need.complaint(topology)) {
      throw UsageError(fmt::format("{}: {}; {}{}{}", algorithm.name, need.text, *found,
                                   algorithm.instead.empty() ? "" : "; ", algorithm.instead));
    }
  }
}

void require(const Algorithm& algorithm, const Setting& setting) {
  require_arguments(algorithm.operation, setting.topology.nodes(), setting.arguments);
  require_network(algorithm, setting.topology);
  if (algorithm.needs_commutative && !setting.arguments.reduction.commutative) {
    throw UsageError(fmt::format("{}: needs a commutative operator; {} is not; {}", algorithm.name,
                                 setting.arguments.reduction.name, algorithm.instead));
  }
  if (algorithm.require != nullptr) algorithm.require(setting);
}

void Collective::require(const Topology& topology) const {
  wormcube::require(*algorithm, setting(topology));
}

void Collective::settle(const Topology& topology, const CostModel& model, Bytes block_bytes) {
  if (algorithm->settle == nullptr) return;
  const Options open = options;
  algorithm->settle({topology, arguments, open}, model, block_bytes, options);
}

Prediction Collective::predict(const Topology& topology) const {
  Prediction prediction = algorithm->predict(setting(topology));
  if (!operation()->reduces) prediction.combined_blocks = 0;
  return prediction;
}

void Collective::operator()(Node& node, ConstSpan input, Span output) const {
  const Operation on = operation();
  if (on->always_in_place) {
    throw UsageError(fmt::format("{}: is in place; call it with one buffer", on->name));
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
        fmt::format("{}: is not in place; call it with an input and an output", on->name));
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

void Collective::operator()(Node& node, ConstBlocks input, Blocks output,
                            std::span<const Bytes> sizes) const {
  require(node.topology());  // a third of a microsecond at most, but for product-multiport
  const Operation on = operation();
  const Instance instance{node.size(), arguments};
  const Rank gives = on->gives(instance, node.rank()),
             ends_with = on->ends_with(instance, node.rank());
  if (input.count() != gives || output.count() != ends_with) {
    throw UsageError(
        fmt::format("{}: {} blocks in and {} out; node {} of {} gives {}, ends with {}", on->name,
                    input.count(), output.count(), node.rank(), node.size(), gives, ends_with));
  }
  if (on->sizes == Sizes::equal && gives > 0 && ends_with > 0 && input.bytes() != output.bytes()) {
    throw UsageError(fmt::format("{}: blocks of {} bytes in and {} out; need one size", on->name,
                                 input.bytes(), output.bytes()));
  }
  if (on->reduces) require_elements(on->name, arguments.reduction, input.all().size());
  algorithm->program(node, {input, output, arguments, options, sizes});
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
