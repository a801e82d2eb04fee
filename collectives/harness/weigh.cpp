// Weighs algorithms: contention by dry runs where no closed form gives it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/weigh.hpp"

#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

std::string_view to_string(Contention contention) {
  switch (contention) {
    case Contention::none:
      return "none";
    case Contention::formula:
      return "formula";
    case Contention::counted:
      return "counted";
    case Contention::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view to_string(CountedBy by) {
  switch (by) {
    case CountedBy::formula:
      return "formula";
    case CountedBy::counted:
      return "counted";
    case CountedBy::unknown:
      return "unknown";
  }
  return "?";
}

std::optional<double> counted(const Collective& collective, const Topology& topology,
                              const std::optional<double>& startups, Bytes block_bytes,
                              const std::function<double(const Schedule&, Bytes)>& count) {
  constexpr std::int64_t most_messages = 1 << 17;
  if (startups && *startups * topology.nodes() > most_messages) return std::nullopt;
  try {
    const bool even = collective.operation()->sizes == Sizes::equal;
    const Bytes bytes = even ? unit_block_bytes(collective, topology) : block_bytes;
    const Contract contract =
        contract_of(collective, topology.nodes(), bytes, 1, even ? Pattern::tags : Pattern::words);
    topology.require_routable();
    const Program program = collective_program(collective, contract, nullptr);
    return count(startups ? record(topology, program, collective.name())
                          : record_within_limits(collective.name(), topology, program,
                                                 collective.arguments.root, collective.name(),
                                                 most_messages),
                 bytes);
  } catch (const TimeLimit&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller gets the error when it runs the algorithm
  }
}

namespace {

/// The sum of the dimensions' longest routes; of graphs, whose routes may be longer than their
/// distances, twice their height.
double longest_route(const Topology& topology) {
  double sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    const int diameter = graph.diameter().value_or(graph.nodes());
    sum += graph.shape() == Shape::graph ? 2 * diameter : diameter;
  }
  return sum;
}

/// Fills in what has no formula.
void count_the_rest(Weighed& weighed, const Collective& collective, const Topology& topology,
                    Bytes block_bytes) {
  Prediction& prediction = weighed.prediction;
  counted(collective, topology, prediction.startups, block_bytes,
          [&](const Schedule& schedule, Bytes bytes) {
            const ScheduleReport report = check(schedule, Routing(topology), true);
            const auto fill = [](std::optional<double>& count, CountedBy& by, double value) {
              if (!count) count = value, by = CountedBy::counted;
            };
            const auto blocks = [&](Bytes of) {
              return static_cast<double>(of) / static_cast<double>(std::max<Bytes>(bytes, 1));
            };
            if (!prediction.link_blocks) weighed.contention = Contention::counted;
            fill(prediction.startups, weighed.startups, static_cast<double>(report.startups));
            fill(prediction.transmission_blocks, weighed.transmission, blocks(report.transmission));
            fill(prediction.link_blocks, weighed.link, blocks(report.contended));
            fill(prediction.rearranged_blocks, weighed.rearranged, blocks(report.rearranged));
            fill(prediction.combined_blocks, weighed.combined, blocks(report.combined));
            fill(prediction.hops, weighed.hops, static_cast<double>(report.sum_max_hops));
            if (weighed.injected == CountedBy::unknown) {
              fill(prediction.injected_blocks, weighed.injected, blocks(report.injected));
            }
            return 0.0;
          });
}

}  // namespace

Weighed weigh(const Collective& collective, const Topology& topology, Bytes block_bytes, bool bus) {
  Weighed result{collective.predict(topology)};
  Prediction& prediction = result.prediction;
  const bool empty = prediction.transmission_blocks == 0.0;  // a barrier's, or a single node's
  if (prediction.link_blocks) {
    result.contention = Contention::formula;
  } else if (prediction.transmission_blocks && (collective.algorithm->contention_free || empty)) {
    prediction.link_blocks = prediction.transmission_blocks;
    result.contention = Contention::none;
  }
  if (prediction.startups == 0.0) prediction.hops = 0;
  const bool counts_bus = bus && collective.algorithm->ports == Ports::all && !empty;
  if (!counts_bus) result.injected = CountedBy::formula;
  bool complete = !counts_bus;
  for (const auto& [count, by] : {std::pair(&prediction.startups, &result.startups),
                                  std::pair(&prediction.transmission_blocks, &result.transmission),
                                  std::pair(&prediction.rearranged_blocks, &result.rearranged),
                                  std::pair(&prediction.combined_blocks, &result.combined),
                                  std::pair(&prediction.link_blocks, &result.link),
                                  std::pair(&prediction.hops, &result.hops)}) {
    if (*count) *by = CountedBy::formula;
    complete = complete && count->has_value();
  }
  if (!complete) count_the_rest(result, collective, topology, block_bytes);
  if (!prediction.hops && prediction.startups) {
    result.most_hops = *prediction.startups * longest_route(topology);
  }
  return result;
}

std::optional<double> Weighed::us(const CostModel& model, Bytes block_bytes) const {
  if (!prediction.startups || !(prediction.transmission_blocks || prediction.link_blocks)) {
    return std::nullopt;
  }
  return predicted_us(prediction, model, block_bytes);
}

std::optional<ModelTime> Weighed::parts(const CostModel& model, Bytes block_bytes) const {
  if (!us(model, block_bytes)) return std::nullopt;
  return model_time(call_counts(prediction, block_bytes), model);
}

bool Weighed::has_counted() const {
  return std::ranges::any_of(
      std::array{startups, transmission, rearranged, combined, link, hops, injected},
      [](CountedBy by) { return by == CountedBy::counted; });
}

std::optional<double> Weighed::ranked_us(const CostModel& model, Bytes block_bytes) const {
  if (hops != CountedBy::unknown) return us(model, block_bytes);
  Weighed longest = *this;
  longest.prediction.hops = most_hops;
  return longest.us(model, block_bytes);
}

const Weighed& Weights::operator()(const Collective& collective, Bytes block_bytes) {
  const bool even = collective.operation()->sizes == Sizes::equal;
  const auto [entry, is_new] = known_.try_emplace(fmt::format(
      "{} {} {}", collective.operation()->name, collective.text(), even ? 0 : block_bytes));
  if (is_new) entry->second = weigh(collective, topology_, block_bytes, bus_);
  return entry->second;
}

}  // namespace wormcube
