// wormcube best: the best algorithm for each network, block size and port model.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/best_bound.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/equal_cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/choose/contest.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

struct BestCommand {
  std::string operation;
  RankedOptions ranked;
  std::vector<std::string> on;
  std::vector<std::string> bytes{"64..1M"};
  std::string ports;  // empty: the machine's, else both
  CostModel model;
  ChoiceOptions choice;
  EqualCostOptions equal_cost;
  MachineFlags machine;
  int iterations = 11;
  bool markdown = false, bound = false;
  OutputOptions output;
  std::vector<const CLI::Option*> of_measuring;  // options that have no effect otherwise
};

/// All operations that have formulas: not those whose blocks differ in size.
std::vector<Operation> operations_of(const std::string& text) {
  if (!text.empty()) return {parse_operation(text)};
  std::vector<Operation> all;
  for (const Operation operation : registered_operations()) {
    if (operation->sizes == Sizes::equal) all.push_back(operation);
  }
  return all;
}

/// "354.9r": replayed.
std::string us_cell(const Contestant& contestant) {
  return model_cell(contestant.us, contestant.at_least()) + (contestant.is_near_winner ? "r" : "");
}

/// \param is_named  by --algorithm
/// \param by        the cost that ranks
Json ranked_json(const Contestant& contestant, const Topology& topology, bool is_named,
                 std::string_view by) {
  const Priced& priced = contestant.priced;
  const char* const no_formula =
      is_named || is_chosen_by_auto(*priced.collective.algorithm)
          ? no_counts
          : "auto never picks it: name it with --algorithm to get its time";
  Json json{{"algorithm", priced.collective.name()},
            {"options", options_json(priced.collective.options)},
            {"ports", to_string(priced.collective.algorithm->ports)},
            {"same_bits", same_bits_cell(priced.collective, topology)},
            {"predicted", prediction_json(priced.weighed.prediction, no_formula)}};
  put(json, "model_time_us", json_value(priced.us), no_formula);
  put(json, "model_contention",
      priced.us ? Json(to_string(priced.weighed.contention)) : Json(nullptr), no_formula);
  const auto put_figure = [&](const char* key, std::string_view cost) {
    const bool decides = contestant.answer && (cost == by || (cost == "replay" && by == "formula"));
    const CallFigures::Answer none{{}, fmt::format("--cost {} was not given", cost)};
    const CallFigures::Answer& answer = decides ? *contestant.answer : none;
    Json figure(nullptr);
    if (answer.figure) {
      figure = cost == "measured" ? Json(microseconds_of(*answer.figure)) : Json(*answer.figure);
    }
    put(json, key, std::move(figure), answer.reason);
  };
  put_figure("replayed_ps", "replay");
  put_figure("work_bytes", "work");
  put_figure("measured_us", "measured");
  return json;
}

/// The links times the winner's time: what the speed costs; nothing if `us` is no time.
std::optional<double> links_time(const BestCommand& options, const Topology& topology,
                                 const Contest& contest) {
  if (options.choice.by_work() || !contest.has_winner()) return std::nullopt;
  return static_cast<double>(topology.links()) * *contest.winner().us;
}

Json contest_json(const BestCommand& options, Operation operation, const Topology& topology,
                  Ports ports, const Contest& contest) {
  Json json{{"operation", operation->name},       {"topology", topology.name()},
            {"nodes", topology.nodes()},          {"ports", to_string(ports)},
            {"block_bytes", contest.block_bytes}, {"cost_model", cost_model_json(options.model)}};
  json["cost"] = options.choice.by;
  const bool won = contest.has_winner();
  put(json, "winner", won ? Json(contest.winner().collective().text()) : Json(nullptr),
      "no algorithm with formulas runs here");
  put(json, "model_time_us", won ? json_value(contest.winner().priced.us) : Json(nullptr),
      "no algorithm with formulas runs here");
  put(json, "margin", won ? json_value(contest.margin()) : Json(nullptr),
      "no other algorithm has a known time, or the time is 0");
  json["links"] = topology.links();
  put(json, "links_time_us", json_value(links_time(options, topology, contest)),
      "--cost work has no time, or no algorithm with formulas runs here");
  json["equal_cost_factor"] = options.equal_cost.factor(topology);
  const auto takes = won ? contest.formula_ratio() : std::nullopt;
  put(json, "formula_winner",
      takes ? Json(contest.by_formula()->collective().text()) : Json(nullptr),
      "the formulas' pick has no time here");
  put(json, "formula_takes", json_value(takes), "the formulas' pick has no time here");
  json["ties"] = won ? Json(contest.ties()) : Json::array();
  json["ranking"] = Json::array();
  for (const Contestant& each : contest.ranked) {
    json["ranking"].push_back(
        ranked_json(each, topology, !options.ranked.names.empty(), options.choice.by));
  }
  return json;
}

/// How often the formulas pick the winner, and how much slower their choice is otherwise.
std::string agreement_text(std::vector<double> takes) {
  if (takes.empty()) return "the formulas' pick has no time here";
  std::ranges::sort(takes);
  const auto same = std::ranges::count_if(takes, [](double each) { return each == 1; });
  const auto near = std::ranges::count_if(takes, [](double each) { return each <= 1.1; });
  return fmt::format(
      "the formulas pick the winner in {} of {} cases, and an algorithm within 10 % of it in {}; "
      "their pick takes {} times the winner's time at the median, {} at most",
      same, takes.size(), near, cell(takes[takes.size() / 2]), cell(takes.back()));
}

/// "`bruck` to 2K, `rotated` from 4K on"
std::string reigns_text(const std::vector<Contest>& contests) {
  const std::vector<Reign> all = reigns(contests);
  if (all.size() == 1) return fmt::format("`{}`", name_of(contests[all[0].first].winner()));
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = name_of(contests[all[i].first].winner());
    const std::string from = size_text(contests[all[i].first].block_bytes),
                      to = size_text(contests[all[i].last].block_bytes);
    text += fmt::format("{}`{}` {}", text.empty() ? "" : ", ", name,
                        i + 1 == all.size() ? "from " + from
                        : i == 0            ? "to " + to
                        : from == to        ? "at " + from
                                            : fmt::format("{} to {}", from, to));
  }
  return text.empty() ? "-" : text;
}

/// Before hours of replays.
void require_affordable(const BestCommand& options, const std::vector<Operation>& operations,
                        std::vector<Weights>& weights, const std::vector<Bytes>& sizes) {
  double messages = 0;
  std::string where;
  for (Weights& weighed : weights) {
    const Topology& topology = weighed.topology();
    where += (where.empty() ? "" : ", ") + topology.name();
    for (const Operation operation : operations) {
      for (const Ports ports : ports_of(options.ports)) {
        const auto ranked = options.ranked.rank(
            options.ranked.choice(operation, topology, options.model, sizes.front(), ports),
            weighed);
        messages += messages_of(ranked, topology.nodes()) * static_cast<double>(sizes.size());
      }
    }
  }
  call_figures(options.choice, weights.front().topology())
      ->require_affordable(fmt::format("best on {} with {} sizes (--time-limit SECONDS allows it)",
                                       where, sizes.size()),
                           messages);
}

ExitCode best(Context& context, const BestCommand& given) {
  BestCommand options = given;
  const CommandLimit limit(context, options.machine.time_limit_ms());
  options.output.validate();
  if (options.markdown) options.output.require_text("--markdown");
  options.model = options.choice.cost_model(options.model);
  const std::vector<Bytes> sizes = parse_sizes(options.bytes);
  options.ranked.use(options.operation, options.on);
  require_on(!options.on.empty(), options.operation);
  const std::vector<Topology> topologies = parse_topologies(options.on);
  const std::vector<Operation> operations = operations_of(options.operation);
  options.ranked.require(operations);
  options.equal_cost.require(options.choice.by);
  const bool ports_of_machine = options.ports.empty() && options.choice.has_machine();
  options.ports = options.choice.ports_or_machines(options.ports);
  if (!options.markdown) print_operator(options.output, options.ranked, operations);
  if (!options.markdown) print_choice(options.output, options.choice, options.model);
  const bool by_replay = options.choice.by_replay(), by_work = options.choice.by_work(),
             measured = options.choice.by == "measured";
  for (const CLI::Option* const option : options.of_measuring) {
    if (measured || option->count() == 0) continue;
    throw UsageError(
        fmt::format("{} has no effect with --cost {}: nothing runs; use --cost measured",
                    option->get_name(), options.choice.by));
  }
  for (const Topology& topology : topologies) {
    if (measured) require_workers(options.machine, topology);
  }
  if (measured && !options.markdown) {
    print_setting(options.output, "machine", machine_text(options.machine.resolve(context, false)));
  }
  std::vector<Weights> weights;
  for (const Topology& topology : topologies) {
    weights.emplace_back(topology, options.model.bus_us.has_value());
  }
  if (by_replay && options.machine.time_limit <= 0) {
    require_affordable(options, operations, weights, sizes);
  }
  const CostModel model = options.model;
  if (!options.markdown) options.equal_cost.print(options.output, topologies);
  Progress progress(context, options.output, "best");
  const bool reduces =
      std::ranges::any_of(operations, [](Operation operation) { return operation->reduces; });
  std::vector<Table::Column> columns{
      {.head = "operation", .text = true, .drop = operations.size() > 1 ? 0 : 2},
      {.head = "topology", .text = true, .cut = 14, .is_name = true},
      {.head = "ports", .text = true},
      {.head = "from", .unit = "B"},
      {.head = "to", .unit = "B"},
      {.head = "best", .text = true, .answer = true},
      {.head = by_replay  ? "replayed"
               : by_work  ? "work"
               : measured ? "measured"
                          : "model",
       .unit = by_work ? "KiB" : "us"},
      {.head = "links", .wide = true},
      {.head = "links x time", .unit = "us", .wide = true},
      {.head = "same bits", .text = true, .wide = !reduces, .drop = 3},
      {.head = "runner-up", .text = true, .drop = 1},
      {.head = "runner-up / best"}};
  if (options.bound) {
    for (const char* const head : {"blocks", "bound", "blocks / bound"})
      columns.push_back({.head = head});
  }
  Table table(columns);
  std::vector<Json> results;
  BoundRatios bounds;
  bool any = false, any_near = false;
  std::vector<double> formula_ratios;
  std::vector<std::string> notes;
  // The table names the best and the runner-up.
  constexpr std::size_t of_table = 2;
  const bool whole = !options.output.text() || options.output.has_files();
  const std::size_t needed = whole ? CallFigures::all : of_table;
  const auto total = static_cast<long>(operations.size() * topologies.size() *
                                       ports_of(options.ports).size() * sizes.size());
  long done = 0;
  for (const Operation operation : operations) {
    if (options.markdown) {
      std::string heads = "| network |", rule = "|---|";
      for (const Ports ports : ports_of(options.ports)) {
        heads += ports == Ports::one ? " one port |" : " all ports |";
        rule += "---|";
      }
      print(fmt::format("\n### {}\n\n{}\n{}\n", operation->name, heads, rule));
    }
    for (Weights& weighed : weights) {
      const Topology& topology = weighed.topology();
      options.model = options.equal_cost.applied(model, topology);
      std::unique_ptr<CallFigures> figures = call_figures(options.choice, topology);
      if (measured)
        figures = measured_times(context, topology, options.machine, options.iterations);
      std::optional near = options.equal_cost.given()
                               ? std::nullopt
                               : near_winners(options.choice, options.model, topology);
      const std::vector<Ports> all_ports = ports_of(options.ports);
      std::map<Ports, std::vector<Contest>> contests_of;
      for (const Bytes bytes : sizes) {
        for (const Ports ports : all_ports) {
          progress.doing(fmt::format("{} of {} on {}, {}", operation->name, size_text(bytes),
                                     topology.name(), ports_name(ports)));
          progress(done++, total);
          const Choice choice =
              options.ranked.choice(operation, topology, options.model, bytes, ports);
          contests_of[ports].push_back(contest_of(options.ranked.rank(choice, weighed), bytes,
                                                  ports, figures.get(), near ? &*near : nullptr,
                                                  needed));
        }
      }
      std::string row;
      for (const Ports ports : all_ports) {
        const std::vector<Contest>& contests = contests_of[ports];
        BoundOfCell bound(operation, topology, ports, options.bound);
        for (const Contest& contest : contests) {
          results.push_back(contest_json(options, operation, topology, ports, contest));
          const BoundRatio ratio = bound.of(contest);
          ratio.add_json(results.back());
          bounds.add(ratio, fmt::format("{}, {}, {}", operation->name, topology.name(),
                                        ports_name(ports)));
          any = any || contest.has_winner();
          const auto takes = contest.has_winner() ? contest.formula_ratio() : std::nullopt;
          if (takes) formula_ratios.push_back(*takes);
        }
        if (const auto unknown = unknown_of(contests); !unknown.empty()) {
          notes.push_back(fmt::format(
              "{} on {}, {}: not compared, because their contention is unknown: {}",
              operation->name, topology.name(), ports_name(ports), fmt::join(unknown, ", ")));
        }
        row += fmt::format(" {} |", reigns_text(contests));
        for (const auto& [first, last] : reigns(contests)) {
          const Contest& at = contests[first];
          const bool second = at.margin().has_value();
          any_near = any_near || (at.has_winner() && at.winner().is_near_winner);
          std::vector<std::string> cells{std::string(operation->name),
                                         topology.name(),
                                         std::string(to_string(ports)),
                                         size_text(at.block_bytes),
                                         size_text(contests[last].block_bytes),
                                         name_of(at.winner()),
                                         us_cell(at.winner()),
                                         std::to_string(topology.links()),
                                         cell(links_time(options, topology, at)),
                                         same_bits_cell(at.winner().collective(), topology),
                                         second ? name_of(at.ranked[1]) : "-",
                                         cell(at.margin())};
          if (options.bound) {
            const BoundRatio ratio = bound.of(at);
            cells.insert(cells.end(), {cell(ratio.blocks), cell(ratio.bound.transmission_blocks),
                                       cell(ratio.ratio())});
          }
          table.add(cells, at.has_winner());
        }
      }
      if (options.markdown) print(fmt::format("| {} |{}\n", topology.name(), row));
    }
  }
  if (options.markdown) {
    if (options.choice.by != "formula")
      print(fmt::format("\n{}.\n", agreement_text(formula_ratios)));
    write_results(context, options.output, results, false);
    return passed;
  }
  if (!any) throw UsageError("no algorithm with formulas runs on any of these networks");
  print_table(options.output, table);
  print_note(options.output,
             fmt::format("{}; time and runner-up are for the smallest size in the row. --json has "
                         "all sizes, ties and the whole ranking",
                         by_replay  ? "times replayed, for algorithms with formulas"
                         : by_work  ? "work of emulation, for algorithms with formulas"
                         : measured ? "minimum times measured on this computer (the emulator's "
                                      "throughput), for algorithms with formulas"
                                    : "modelled times, contention included"));
  if (ports_of_machine) {
    print_note(options.output,
               fmt::format("{} has {} per node; --ports both also ranks for other machines",
                           options.choice.resolve().profile->name,
                           options.ports == "one" ? "one port" : "a port for each link"));
  }
  if (any_near) {
    print_note(options.output,
               "`r`: replayed, as are all algorithms near it, because messages that share links "
               "can take more or less than the modelled time");
  }
  for (const std::string& note : notes) print_note(options.output, note);
  if (options.bound) print_note(options.output, bounds.text());
  if (options.choice.by != "formula") print_note(options.output, agreement_text(formula_ratios));
  write_results(context, options.output, results, false);
  return passed;
}

}  // namespace

Action add_best(CLI::App& program) {
  auto options = std::make_shared<BestCommand>();
  CLI::App& app = *program.add_subcommand(
      "best", "Find the best algorithm for each network, block size and port model");
  app.add_option("OPERATION", options->operation,
                 operations_text() + "; default: all operations with equal block sizes");
  add_on_option(app, options->on, false);
  add_ranked_options(app, options->ranked);
  add_sizes_option(app, options->bytes, "Block sizes");
  app.add_option("--ports", options->ports,
                 "Rank for one-port nodes, for all-port nodes, or for both (default: the ports of "
                 "--machine, or else both)")
      ->type_name("one|all|both")
      ->check(no_number_of_ports())
      ->check(one_of({"one", "all", "both"}));
  app.add_flag("--markdown", options->markdown, "Print a Markdown table for each operation")
      ->group("Output");
  app.add_flag("--bound", options->bound, "Compare each winner's busiest link with the lower bound")
      ->group("Output");
  add_choice_options(app, options->choice, options->model, "--cost",
                     {"formula", "replay", "work", "measured"});
  add_equal_cost_options(app, options->equal_cost);
  app.add_option("--iterations", options->iterations,
                 "With --cost measured: number of timed calls per algorithm")
      ->type_name("N")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  add_machine_options(app, options->machine, Executors::in_this_process);
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_name() == "--time-limit") continue;  // for the whole command
    if (option->get_group() == "Machine" || option->get_group() == "Measuring") {
      options->of_measuring.push_back(option);
    }
  }
  add_output_options(app, options->output);
  app.footer(
      "Each row is a range of block sizes with one winner: the algorithm and options with the "
      "lowest modelled time, contention included (see `list`). Where algorithms within 1.5 times "
      "of it "
      "share links, a replay of each decides (`r` behind the time). Algorithms that `auto` never "
      "picks "
      "are left out unless --algorithm names them. Reductions are sums of doubles unless "
      "--operator and --type say otherwise. Algorithms whose rounded sums may differ from node to "
      "node in their last bits are also left out, as with `auto`. With --any-bits, they are ranked "
      "too, and the column `same bits` marks them. --wide adds each network's number of links, and "
      "that number times the winner's time, a measure of cost-effectiveness (lower is better).\n\n"
      "Examples:\n"
      "  wormcube best alltoall --on torus:8x8\n"
      "  wormcube best alltoall --on torus:4x4,mesh:4x4 --cost replay --machine paragon\n"
      "  wormcube best allgather --on ring:64,torus:8x8,hypercube:6 --wide\n"
      "  wormcube best --on torus:8x8,mesh:7x12,petersen --bytes 1G --bound\n"
      "  wormcube best allgather --on torus:8x8,hypercube:6 --equal-cost-to hypercube:6\n"
      "  wormcube best allreduce --on ring:27,torus:8x8 --ports all --bytes 1K..16M --json "
      "map.json");
  return [options](Context& context) { return best(context, *options); };
}

}  // namespace wormcube::cli
