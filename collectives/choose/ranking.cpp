// Ranks algorithms by modelled time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/ranking.hpp"

#include "wormcube/collectives/core/aliases.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Every combination of the algorithm's choices, defaults first; its numbers keep their defaults,
/// but for those that it has tried, and a few values of `radix` where it settles no others.
std::vector<Options> combinations(const Algorithm& algorithm, Rank nodes) {
  std::vector<Options> all{Options(algorithm.options)};
  for (const Option& option : algorithm.options) {
    if (option.by_name) continue;
    const std::string preset = option.text(option.preset);
    const std::vector<Options> of_the_others = all;
    std::vector<std::string> values(option.choices.begin(), option.choices.end());
    if (option.name == "radix" && algorithm.settle == nullptr) {
      for (const Rank radix : {3, 4, 8, 16}) {
        if (radix < nodes) values.push_back(std::to_string(radix));
      }
    }
    for (const std::int64_t tried : option.tried) values.push_back(std::to_string(tried));
    for (const std::string& value : values) {
      if (value == preset) continue;
      for (const Options& others : of_the_others) {
        all.push_back(others);
        all.back().set(option.name, value);
      }
    }
  }
  return all;
}

/// Whether a number that is tried cuts a reduction's block more finely than elements, or than a dry
/// run can tell apart.
bool cuts_too_finely(const Collective& collective, const Topology& topology, Bytes block_bytes) {
  const auto parts = static_cast<Bytes>(collective.parts(topology));
  return std::ranges::any_of(collective.options.declared(),
                             [&](const Option& option) {
                               return !option.tried.empty() &&
                                      collective.options.number(option.name) != option.preset;
                             }) &&
         (parts * collective.arguments.reduction.element_bytes > block_bytes ||
          parts * sizeof(Interval) > largest_tagged_block);
}

std::string_view without_options(std::string_view name) { return name.substr(0, name.find(':')); }

/// "ring:order=rank" for "openmpi.ring:segments=2"; a name of our own as it is.
std::string_view resolved(Operation operation, std::string_view name) {
  const Alias* const alias = find_alias(operation->name, without_options(name));
  return alias != nullptr ? alias->algorithm : name;
}

}  // namespace

Standing standing(const std::optional<double>& us, Contention contention) {
  return {!us, contention == Contention::unknown, us.value_or(0)};
}

bool is_named(const Algorithm& algorithm, std::string_view name) {
  return algorithm.name == without_options(resolved(algorithm.operation, name));
}

std::optional<Priced> cheapest_form(const Algorithm& algorithm, const Choice& choice,
                                    Weights& weights) {
  const Topology& topology = choice.topology;
  std::optional<std::pair<Standing, Priced>> least;
  for (Options& options : combinations(algorithm, topology.nodes())) {
    Collective collective(algorithm, choice.arguments);
    collective.options = std::move(options);
    if (refusal(collective, topology)) continue;
    if (cuts_too_finely(collective, topology, choice.block_bytes)) continue;
    if (choice.bits == Bits::same && same_bits(collective, topology) == SameBits::no) continue;
    collective.settle(topology, choice.model, choice.block_bytes);
    const Weighed weighed =
        is_chosen_by_auto(algorithm) ? weights(collective, choice.block_bytes) : Weighed{};
    std::optional<double> us, ranked_us;
    if (weighed.prediction.complete()) {
      us = weighed.us(choice.model, choice.block_bytes);
      ranked_us = weighed.ranked_us(choice.model, choice.block_bytes);
    }
    const Standing cost = standing(ranked_us, weighed.contention);
    if (!least || cost < least->first) least = {cost, {std::move(collective), weighed, us}};
  }
  if (!least) return std::nullopt;
  return std::move(least->second);
}

Priced form_of(std::string_view name, Collective collective, const Choice& choice,
               Weights& weights) {
  const Algorithm& algorithm = *collective.algorithm;
  const auto is_open = [](std::string_view text) { return without_options(text) == text; };
  if (is_open(name) && is_open(resolved(algorithm.operation, name)) &&
      is_chosen_by_auto(algorithm)) {
    if (auto form = cheapest_form(algorithm, choice, weights)) return *std::move(form);
  }
  collective.settle(choice.topology, choice.model, choice.block_bytes);
  const Weighed& weighed = weights(collective, choice.block_bytes);
  return {collective, weighed, weighed.us(choice.model, choice.block_bytes)};
}

std::vector<Priced> ranking(const Choice& choice) {
  Weights weights = choice.weights();
  return ranking(choice, weights);
}

std::vector<Priced> ranking(const Choice& choice, Weights& weights) {
  std::vector<Priced> all;
  const std::vector<Collective> candidates =
      admitted(choice.operation, choice.topology, choice.arguments);
  LongLoop loop("predictions", candidates.size());
  for (const Collective& collective : candidates) {
    loop.step();
    const Algorithm& algorithm = *collective.algorithm;
    if (algorithm.selection == Selection::any_order ||
        (choice.ports == Ports::one && algorithm.ports == Ports::all))
      continue;
    if (auto priced = cheapest_form(algorithm, choice, weights)) {
      all.push_back(*std::move(priced));
    }
  }
  std::ranges::stable_sort(all, {}, [&](const Priced& each) {
    std::optional<double> ranked_us;
    if (each.us) ranked_us = each.weighed.ranked_us(choice.model, choice.block_bytes);
    return std::pair(standing(ranked_us, each.weighed.contention),
                     each.collective.algorithm->ports != choice.ports);
  });
  return all;
}

std::vector<Priced> ranking(std::span<const std::string> names, const Choice& choice,
                            Weights& weights) {
  std::vector<Priced> named;
  for (const std::string& name : names) {
    if (std::ranges::none_of(registry(), [&](const Algorithm* algorithm) {
          return algorithm->operation == choice.operation && is_named(*algorithm, name);
        }))
      continue;
    const Collective collective = parse_collective(choice.operation, name, choice.arguments);
    if (refusal(collective, choice.topology)) continue;
    if (choice.ports == Ports::one && collective.algorithm->ports == Ports::all) continue;
    named.push_back(form_of(name, collective, choice, weights));
  }
  std::ranges::stable_sort(named, {}, [&](const Priced& each) {
    return standing(each.weighed.ranked_us(choice.model, choice.block_bytes),
                    each.weighed.contention);
  });
  return named;
}

Collective cheapest(const Choice& choice) {
  const auto ranked = ranking(choice);
  if (ranked.empty()) {
    throw UsageError(
        fmt::format("{} has no {}-port algorithm for {}; `wormcube list` shows what each needs",
                    choice.operation->name, to_string(choice.ports), choice.topology.name()));
  }
  return ranked.front().collective;
}

}  // namespace wormcube
