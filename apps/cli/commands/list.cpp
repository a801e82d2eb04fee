// wormcube list: operations and algorithms; with a network, those that it admits, and their costs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/list_all.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/aliases.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/modelled.hpp"
#include "wormcube/apps/cli/options/near_winners.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {
namespace {

struct ListCommand {
  std::string operation;
  std::vector<std::string> on;
  RankedOptions ranked;
  std::string ports;  // empty: the machine's, else both
  CostModel model;
  ChoiceOptions choice;
  std::vector<std::string> bytes{"1K"};
  std::vector<const CLI::Option*> of_network;  // options that have no effect without one
  bool markdown = false, aliases = false;
  double time_limit = 0;
  OutputOptions output;

  std::vector<Operation> operations() const {
    if (!operation.empty()) return {parse_operation(operation)};
    const auto all = registered_operations();
    return {all.begin(), all.end()};
  }
  Ports ports_of_rows() const { return ports == "all" ? Ports::all : Ports::one; }
  std::vector<const Algorithm*> algorithms() const {
    const std::vector<Operation> wanted = operations();
    std::vector<const Algorithm*> chosen;
    for (const Algorithm* algorithm : registry()) {
      if (std::ranges::find(wanted, algorithm->operation) == wanted.end()) continue;
      if (ranked.names_algorithm(*algorithm)) chosen.push_back(algorithm);
    }
    return chosen;
  }
};

/// One operation with blocks of one size: the algorithms with their cheapest options, and the picks
/// of `auto`; empty where none runs.
struct Ranked {
  struct Pick {
    Ports ports;
    Collective collective;
    std::optional<Ticks> replayed = {};  // where a replay decided between formulas
  };
  std::vector<Priced> all;
  std::vector<Pick> picks;

  /// \param figures  the figures that decide; nullptr: formulas, and `near` where they are close
  Ranked(Operation operation, Weights& weights, const ListCommand& options, Bytes bytes,
         CallFigures* figures, NearWinners* near)
      : all(options.ranked.rank(operation, weights, options.model, bytes, Ports::all)) {
    if (figures != nullptr) figures->compute(all, bytes, options.ports_of_rows(), CallFigures::all);
    for (const Ports ports : ports_of(options.ports)) {
      std::vector<Priced> running =
          options.ranked.rank(operation, weights, options.model, bytes, ports);
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

  bool is_pick(Ports ports, const Collective& collective) const {
    return std::ranges::any_of(picks, [&](const Pick& pick) {
      return pick.ports == ports && pick.collective.algorithm == collective.algorithm &&
             pick.collective.text() == collective.text();
    });
  }
  /// "*": picked; "all": picked with all ports only; "no": never picked.
  std::string cell(const Collective& collective) const {
    if (!picks.empty() && is_pick(picks.front().ports, collective)) return "*";
    if (is_pick(Ports::all, collective)) return "all";
    return is_chosen_by_auto(*collective.algorithm) ? "" : "no";
  }
};

/// Rows of one network, until the order by cost is known.
struct ListRow {
  Operation operation;
  std::size_t size;  // which of the block sizes
  Standing standing;
  std::vector<std::string> cells;
  Json json;

  bool operator<(const ListRow& other) const {
    return std::tie(size, standing) < std::tie(other.size, other.standing);
  }
};

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
std::string pick_text(const Ranked::Pick& picked, Weights& weights, const ListCommand& options,
                      Bytes bytes, CallFigures* figures) {
  const Collective& pick = picked.collective;
  if (picked.replayed) return cell_rate(microseconds_of(*picked.replayed)) + " us replayed";
  if (figures != nullptr) {
    const auto& answer = (*figures)(pick, bytes, takes_all_ports(*pick.algorithm, picked.ports));
    if (!answer.figure) return "?";
    return fmt::format("{} {}", cell_rate(options.choice.cell_figure(*answer.figure)),
                       options.choice.by_work() ? "KiB of work" : "us");
  }
  const Weighed& weighed = weights(pick, bytes);
  return model_cell(weighed.us(options.model, bytes), weighed.at_least()) + " us";
}

/// One network's rows.
class NetworkList {
 public:
  NetworkList(const ListCommand& options, const Topology& topology)
      : options_(options),
        topology_(topology),
        weights_(topology, options.model.bus_us.has_value()),
        figures_(call_figures(options.choice, topology)),
        near_(near_winners(options.choice, options.model, topology)) {}

  void add(const Algorithm& algorithm, const std::vector<Bytes>& sizes) {
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
        for (const Ranked::Pick& pick : ranked->second.picks) {
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

  /// The cheapest first, operation by operation in their order.
  void sort() {
    for (auto first = rows.begin(); first != rows.end();) {
      const auto last = std::find_if(
          first, rows.end(), [&](const ListRow& row) { return row.operation != first->operation; });
      std::stable_sort(first, last);
      first = last;
    }
  }

  std::vector<ListRow> rows;
  std::vector<Json> of_refused;
  std::vector<std::string> refused, picks;
  bool has_counted = false;

 private:
  void add_row(const Collective& collective, Bytes bytes, std::size_t size, const Ranked& ranked,
               const Json& common) {
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
    const auto parts = time_parts(weighed, model, bytes);
    const auto part = [&](double ModelTime::*member) {
      return parts ? cell_rate((*parts).*member) : std::string("-");
    };
    CallFigures::Answer answer;
    if (figures_ != nullptr) {
      answer = (*figures_)(collective, bytes, takes_all_ports(algorithm, options_.ports_of_rows()));
    }
    std::optional<double> figure;
    if (answer.figure) figure = options_.choice.cell_figure(*answer.figure);
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

  const ListCommand& options_;
  const Topology& topology_;
  Weights weights_;
  std::unique_ptr<CallFigures> figures_;
  std::optional<NearWinners> near_;
  std::map<std::pair<std::string_view, std::size_t>, Ranked> ranked_;
  std::map<std::tuple<std::string_view, Ports, decltype(Algorithm::bound)>, LowerBound> bounds_;
};

/// \return  whether every algorithm gave its figures
bool list_admitted(const Context& context, const std::vector<const Algorithm*>& algorithms,
                   const Topology& topology, const ListCommand& options,
                   const std::vector<Bytes>& sizes, std::vector<Json>& results) {
  const OutputOptions& output = options.output;
  // Nothing is recorded and nothing runs: only a step's messages and their links, which the
  // contention formulas count, grow with the network. A bound, not a measurement.
  constexpr double bytes_of_node = 128;
  require_memory(fmt::format("list on {}: counting the messages of {} nodes", topology.name(),
                             topology.nodes()),
                 bytes_of_node * topology.nodes(), "use fewer nodes");
  print_setting(output, "topology", topology_text(topology));
  if (sizes.size() == 1)
    print_setting(output, "block", bytes_text(static_cast<double>(sizes.front())));
  print_operator(output, options.ranked, options.operations());
  print_choice(output, options.choice, options.model);
  const bool reduce = std::ranges::any_of(
      algorithms, [](const Algorithm* algorithm) { return algorithm->operation->reduces; });
  NetworkList list(options, topology);
  Progress progress(context, output, fmt::format("list on {}", topology.name()));
  std::vector<std::string> broken;
  long done = 0;
  for (const Algorithm* algorithm : algorithms) {
    progress.doing(fmt::format("{} {}", algorithm->operation->name, algorithm->name));
    progress(done++, std::ssize(algorithms));
    try {
      list.add(*algorithm, sizes);
    } catch (...) {
      const auto trouble = failure_of(std::current_exception());
      if (!trouble || trouble->code == usage) throw;
      broken.push_back(fmt::format("FAILED: {} {}: {}", algorithm->operation->name, algorithm->name,
                                   trouble->text));
    }
  }
  list.sort();
  Table table(columns_of_admitted(sizes.size() > 1, reduce, options.choice));
  for (ListRow& row : list.rows) {
    const bool winner = row.cells.back() == "*";
    table.add(std::move(row.cells), winner);
    results.push_back(std::move(row.json));
  }
  std::ranges::move(list.of_refused, std::back_inserter(results));
  print_table(output, table);
  if (list.has_counted) print_note(output, counted_note);
  print_note(output, fmt::format("auto: `*`: picked (the lowest {} with {}){}; `no`: never picked "
                                 "(baseline, slow to plan, or nonstandard routes)",
                                 options.choice.by_replay() ? "replayed time"
                                 : options.choice.by_work() ? "work"
                                                            : "model time",
                                 ports_name(ports_of(options.ports).front()),
                                 options.ports == "both" ? "; `all`: picked with all ports" : ""));
  if (!list.picks.empty() && list.picks.size() <= 8) {
    print_note(output,
               fmt::format("{} {}", options.ranked.names.empty() ? "auto picks" : "best of these:",
                           fmt::join(list.picks, "; ")));
  }
  if (output.wide) {
    for (const std::string& reason : list.refused) print_note(output, "not applicable: " + reason);
  } else if (const std::size_t count = list.refused.size(); count > 0) {
    print_note(output, fmt::format("{} more {} not applicable here; --wide gives the reasons",
                                   count, count == 1 ? "is" : "are"));
  }
  for (const std::string& text : broken) {
    print(filled(text, "# ", "#   "));
    complain(text);
  }
  return broken.empty();
}

void require_network(const ListCommand& options) {
  if (options.markdown && !options.on.empty()) {
    throw UsageError("--markdown lists algorithms without a network; do not combine it with --on");
  }
  for (const CLI::Option* const option : options.of_network) {
    if (option->count() == 0) continue;
    throw UsageError(
        options.markdown
            ? fmt::format(
                  "--markdown lists algorithms without a network; do not combine it with {}",
                  option->get_name())
            : fmt::format("{} has no effect without a network: name one with --on",
                          option->get_name()));
  }
}

ExitCode list(Context& context, const ListCommand& given) {
  ListCommand options = given;
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  options.output.validate();
  options.model = options.choice.cost_model(options.model);
  options.ranked.use(options.operation, options.on);
  options.ranked.require(options.operations());
  const auto algorithms = options.algorithms();
  std::vector<Json> results;
  bool complete = true;
  if (options.markdown) {
    options.output.require_text("--markdown");
    require_network(options);
    print_markdown(algorithms);
    for (const Algorithm* algorithm : algorithms) results.push_back(describe(*algorithm));
  } else if (options.aliases) {
    if (!options.on.empty()) throw UsageError("--aliases lists names without a network: omit --on");
    require_network(options);
    results = list_aliases(options.operation, options.output);
  } else if (options.on.empty()) {
    require_network(options);
    results = list_everything(algorithms, options.output);
  } else {
    options.ports = options.choice.ports_or_machines(options.ports);
    const std::vector<Bytes> sizes = parse_sizes(options.bytes);
    for (const Topology& topology : parse_topologies(options.on)) {
      complete = list_admitted(context, algorithms, topology, options, sizes, results) && complete;
    }
  }
  write_results(context, options.output, results, false);
  return complete ? passed : failed;
}

}  // namespace

Action add_list(CLI::App& program) {
  auto options = std::make_shared<ListCommand>();
  CLI::App& app = *program.add_subcommand(
      "list", "List operations and algorithms; with --on, those that can run on a network");
  app.add_option("OPERATION", options->operation, operations_text() + "; default: all operations");
  add_on_option(app, options->on, false);
  add_ranked_options(app, options->ranked);
  app.add_option("--ports", options->ports,
                 "Mark what `auto` picks for one-port nodes, for all-port nodes, or for both "
                 "(default: the ports of --machine, or else both)")
      ->type_name("one|all|both")
      ->check(no_number_of_ports())
      ->check(one_of({"one", "all", "both"}))
      ->group("What");
  add_sizes_option(app, options->bytes, "Block size for the modelled time");
  app.add_flag("--markdown", options->markdown,
               "Print tables of all algorithms as Markdown (docs/reference/algorithms.md)")
      ->group("Output");
  app.add_flag("--aliases", options->aliases,
               "List the names that Open MPI, MPICH, NCCL and SMPI use for the algorithms; "
               "--algorithm accepts them");
  add_choice_options(app, options->choice, options->model, "--cost");
  for (const char* const name :
       {"--operator", "--type", "--any-bits", "--ports", "--bytes", "--cost", "--machine"}) {
    options->of_network.push_back(app.get_option(name));
  }
  add_command_limit_option(app, options->time_limit);
  add_output_options(app, options->output);
  app.footer(
      "Columns with --on. Figures come from the formulas in each algorithm's paper, or are counted "
      "in a dry run (marked c, as in 14c):\n"
      "  startups         number of steps\n"
      "  transmitted      largest message of each step, summed over the steps\n"
      "  busiest link     blocks on each step's busiest link, summed over the steps\n"
      "  hops             with --wide: longest route of each step, summed over the steps\n"
      "  rearranged       blocks permuted in local memory, along the critical path\n"
      "  combined         blocks combined by a reduction, along the critical path\n"
      "  model            modelled time for blocks of m bytes, where th is --hop:\n"
      "                   ts x startups\n"
      "                   + max(th x hops + tw x m x transmitted,\n"
      "                         th x startups + tw x m x busiest link)\n"
      "                   + tr x m x rearranged + tc x m x combined\n"
      "                   (docs/explanation/costs.md)\n"
      "  replayed         with --cost replay: simulated time on the machine\n"
      "  work             with --cost work: messages and bytes of all nodes\n"
      "  same bits        reductions: whether a rounded sum has the same bits on all\n"
      "                   nodes; `exact`: always, with this operator\n"
      "  auto             `*`: `auto` picks it; `all`: picks it with all ports; `no`:\n"
      "                   never (baseline, slow to plan, or nonstandard routes)\n"
      "Each algorithm is shown with the options that give the lowest modelled time. '-' or '?' "
      "means that no formula gives the figure and that the network is too large to count it in a "
      "dry run. If the contention or the hops are unknown, the time is a lower bound ('>='). Rows "
      "are sorted by the cost that `auto` minimises. --wide adds the parts of the time. It also "
      "lists the algorithms that cannot run on the network, with the reasons.\n\n"
      "Examples:\n"
      "  wormcube list alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube list alltoall --on torus:8x8 --cost replay --machine t3d\n"
      "  wormcube list allreduce --aliases\n"
      "  wormcube list --on hypercube:6 --json -");
  return [options](Context& context) { return list(context, *options); };
}

}  // namespace wormcube::cli
