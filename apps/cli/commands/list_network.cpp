// The rows of `wormcube list` for one network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/list_network.hpp"

#include "wormcube/apps/cli/commands/list_all.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/cost.hpp"

#include <iterator>

#include <fmt/format.h>

namespace wormcube::cli {

RankedCall::RankedCall(Operation operation, Weights& weights, const ListCommand& options,
                       Bytes bytes, CallFigures* figures, NearWinners* near) {
  const Topology& topology = weights.topology();
  Choice choice = options.ranked.choice(operation, topology, options.model, bytes, Ports::all);
  all = options.ranked.rank(choice, weights);
  if (figures != nullptr) figures->compute(all, bytes, options.ports_of_rows(), CallFigures::all);
  for (const Ports ports : ports_of(options.ports)) {
    choice.ports = ports;
    std::vector<Priced> running = options.ranked.rank(choice, weights);
    if (options.ranked.names.empty()) {
      std::erase_if(running, [](const Priced& each) {
        return !is_chosen_by_auto(*each.collective.algorithm);
      });
    }
    if (running.empty()) continue;
    if (figures != nullptr) {
      picks.push_back({ports, figures->least(running, bytes, ports).collective});
    } else if (near != nullptr) {
      const auto replayed = (*near)(running, bytes, ports);
      const std::size_t winner = NearWinners::winner(replayed);
      picks.push_back({ports, running[winner].collective, replayed[winner].figure});
    } else {
      picks.push_back({ports, running.front().collective});
    }
  }
}

std::vector<Table::Column> columns_of_admitted(bool several_sizes, bool reduce,
                                               const ChoiceOptions& choice) {
  std::vector<Table::Column> columns{
      {.head = "operation", .text = true, .drop = 1},
      {.head = "algorithm", .text = true, .answer = true},
      {.head = "ports", .text = true, .drop = 2},
      {.head = "block", .unit = "B", .wide = !several_sizes},
      {.head = "startups"},
      {.head = "hops", .wide = true},
      {.head = "transmitted", .unit = "blocks", .drop = 3},
      {.head = "busiest link", .unit = "blocks"},
      {.head = "bound", .unit = "blocks", .wide = true},
      {.head = "bound by", .text = true, .wide = true},
      {.head = "rearranged", .unit = "blocks", .drop = 4},
      {.head = "combined", .unit = "blocks", .wide = !reduce, .drop = 5},
      {.head = "startups", .unit = "us", .wide = true},
      {.head = "hops", .unit = "us", .wide = true},
      {.head = "transfer", .unit = "us", .wide = true},
      {.head = "rearranged", .unit = "us", .wide = true},
      {.head = "combined", .unit = "us", .wide = true},
      {.head = "model", .unit = "us"},
      {.head = "replayed", .unit = "us"},
      {.head = "work", .unit = "KiB"},
      {.head = "same bits", .text = true, .wide = !reduce, .drop = 6},
      {.head = "auto", .text = true}};
  std::erase_if(columns, [&](const auto& column) {
    return (column.head == "replayed" && !choice.by_replay()) ||
           (column.head == "work" && !choice.by_work());
  });
  return columns;
}

/// "84.2 us", "84.2 us replayed" or "12.5 KiB of work", by the cost that `auto` minimized.
static std::string pick_text(const RankedCall::Pick& picked, Weights& weights,
                             const ListCommand& options, Bytes bytes, CallFigures* figures) {
  const Collective& pick = picked.collective;
  if (picked.replayed) return cell_rate(microseconds_of(*picked.replayed)) + " us replayed";
  if (figures != nullptr) {
    const auto& answer = (*figures)(pick, bytes, takes_all_ports(*pick.algorithm, picked.ports));
    if (!answer.figure) return "?";
    return fmt::format("{} {}", cell_rate(figures->shown(*answer.figure)),
                       options.choice.by_work() ? "KiB of work" : "us");
  }
  const Weighed& weighed = weights(pick, bytes);
  return model_cell(weighed.us(options.model, bytes), weighed.at_least()) + " us";
}

void NetworkList::add(const Algorithm& algorithm, const std::vector<Bytes>& sizes) {
  const Operation operation = algorithm.operation;
  const Collective open(algorithm, options_.ranked.arguments(operation));
  Json common = describe(algorithm);
  common["topology"] = topology_.name();
  const auto reason = refusal(open, topology_);
  common["admitted"] = !reason;
  put(common, "refusal", reason ? Json(*reason) : Json(nullptr), "it runs here");
  if (reason) {
    refused.push_back(fmt::format("{} {}", operation->name, named(algorithm.name, *reason)));
    of_refused.push_back(std::move(common));
    return;
  }
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    const auto [ranked, is_new] =
        ranked_.try_emplace({operation->name, size}, operation, weights_, options_, sizes[size],
                            figures_.get(), near_ ? &*near_ : nullptr);
    if (is_new) {
      for (const RankedCall::Pick& pick : ranked->second.picks) {
        picks.push_back(
            fmt::format("{} for {} of {} with {} ({})", pick.collective.text(), operation->name,
                        bytes_text(static_cast<double>(sizes[size])), ports_name(pick.ports),
                        pick_text(pick, weights_, options_, sizes[size], figures_.get())));
      }
    }
    bool found = false;
    for (const Priced& priced : ranked->second.all) {
      if (priced.collective.algorithm != &algorithm) continue;
      add_row(priced.collective, sizes[size], size, ranked->second, common);
      found = true;
    }
    if (found) continue;
    Collective collective = open;  // `auto` does not weigh it
    collective.settle(topology_, options_.model, sizes[size]);
    add_row(collective, sizes[size], size, ranked->second, common);
  }
}

void NetworkList::sort() {
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(
        first, rows.end(), [&](const ListRow& row) { return row.operation != first->operation; });
    std::stable_sort(first, last);
    first = last;
  }
}

void NetworkList::add_row(const Collective& collective, Bytes bytes, std::size_t size,
                          const RankedCall& ranked, const Json& common) {
  const CostModel& model = options_.model;
  const Algorithm& algorithm = *collective.algorithm;
  const Operation operation = algorithm.operation;
  // Shared by all algorithms of an operation without a bound of their own.
  const std::tuple of_operation(operation->name, algorithm.ports, algorithm.bound);
  if (!bounds_.contains(of_operation)) {
    bounds_[of_operation] = collective.lower_bound(topology_, algorithm.ports);
  }
  const LowerBound& bound = bounds_[of_operation];
  const Weighed& weighed = weights_(collective, bytes);
  const Prediction& prediction = weighed.prediction;
  has_counted = has_counted || weighed.has_counted();
  const auto parts = weighed.parts(model, bytes);
  const auto part = [&](double ModelTime::*member) {
    return parts ? cell_rate((*parts).*member) : std::string("-");
  };
  CallFigures::Answer answer;
  if (figures_ != nullptr) {
    answer = (*figures_)(collective, bytes, takes_all_ports(algorithm, options_.ports_of_rows()));
  }
  std::optional<double> figure;
  if (answer.figure) figure = figures_->shown(*answer.figure);
  rows.push_back({operation,
                  size,
                  figures_ != nullptr
                      ? standing(figure, Contention::counted)
                      : standing(weighed.ranked_us(model, bytes), weighed.contention),
                  {std::string(operation->name),
                   collective.text(),
                   std::string(to_string(algorithm.ports)),
                   std::to_string(bytes),
                   count_cell(prediction.startups, weighed.startups),
                   count_cell(prediction.hops, weighed.hops),
                   count_cell(prediction.transmission_blocks, weighed.transmission),
                   link_blocks_cell(weighed),
                   cell(bound.transmission_blocks),
                   bound_source_cell(bound),
                   count_cell(prediction.rearranged_blocks, weighed.rearranged),
                   count_cell(prediction.combined_blocks, weighed.combined),
                   part(&ModelTime::startups_us),
                   part(&ModelTime::hops_us),
                   part(&ModelTime::transfer_us),
                   part(&ModelTime::rearrange_us),
                   part(&ModelTime::combine_us),
                   model_cell(weighed.us(model, bytes), weighed.at_least()),
                   same_bits_cell(collective, topology_),
                   ranked.cell(collective)},
                  common});
  if (figures_ != nullptr) {
    rows.back().cells.insert(rows.back().cells.end() - 2, cell_rate(figure));
  }
  Json& json = rows.back().json;
  json["chosen_options"] = options_json(collective.options);
  json["arguments"] = arguments_json(operation, collective.arguments);
  json["same_bits"] = same_bits_cell(collective, topology_);
  json["lower_bound"] = lower_bound_json(bound);
  json["block_bytes"] = bytes;
  json["cost_model"] = cost_model_json(model);
  add_model_json(json, weighed, model, bytes);
  const auto put_figure = [&](const char* key, bool given, const char* not_given) {
    put(json, key, given && answer.figure ? Json(*answer.figure) : Json(nullptr),
        given ? answer.reason : not_given);
  };
  put_figure("replayed_ps", options_.choice.by_replay(), "--cost replay was not given");
  put_figure("work_bytes", options_.choice.by_work(), "--cost work was not given");
  const auto put_pick = [&](const char* key, Ports ports, const char* other) {
    put(json, key,
        options_.ports == other ? Json(nullptr) : Json(ranked.is_pick(ports, collective)),
        fmt::format("--ports {}", other));
  };
  put_pick("chosen_by_auto", Ports::one, "all");
  put_pick("chosen_by_auto_all_ports", Ports::all, "one");
}

}  // namespace wormcube::cli
