// wormcube list: operations and algorithms; with a network, those that it admits, with costs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/modelled.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
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

#include <fmt/format.h>

namespace wormcube::cli {
namespace {

struct ListCommand {
  std::string operation;
  std::vector<std::string> on;
  CostModel model;
  ChoiceOptions choice;
  std::vector<std::string> bytes{"1K"};
  const CLI::Option* bytes_option = nullptr;
  bool markdown = false;
  double time_limit = 0;
  OutputOptions output;
};

Json option_json(const Option& option) {
  Json json{{"name", option.name}, {"values", option.values()}};
  json["default"] = option.text(option.preset);
  json["help"] = option.help;
  return json;
}

Json describe(const Algorithm& algorithm) {
  Json options = Json::array(), needs = Json::array();
  for (const Option& option : algorithm.options) options.push_back(option_json(option));
  for (const Need& need : algorithm.needs) needs.push_back(need.text);
  Json json{{"operation", to_string(algorithm.operation)},
            {"operation_summary", algorithm.operation->summary},
            {"algorithm", algorithm.name},
            {"ports", to_string(algorithm.ports)},
            {"contention_free", algorithm.contention_free},
            {"exactly_once", algorithm.exactly_once},
            {"considered_by_auto", is_chosen_by_auto(algorithm)},
            {"summary", algorithm.summary},
            {"source", algorithm.source},
            {"origin", origin(algorithm).empty() ? "built in" : origin(algorithm)},
            {"options", options},
            {"needs", needs}};
  add_remark(json, algorithm);
  return json;
}

std::vector<const Algorithm*> chosen(const std::string& operation) {
  std::vector<const Algorithm*> algorithms;
  std::optional<Operation> wanted;
  if (!operation.empty()) wanted = parse_operation(operation);
  for (const Algorithm* algorithm : registry()) {
    if (!wanted || algorithm->operation == *wanted) algorithms.push_back(algorithm);
  }
  return algorithms;
}

std::vector<Json> list_everything(const std::vector<const Algorithm*>& algorithms,
                                  const OutputOptions& output) {
  Table table({{.head = "operation", .text = true},
               {.head = "algorithm", .text = true},
               {.head = "ports", .text = true, .wide = true},
               {.head = "summary", .text = true, .cut = 20}});
  std::vector<Json> results;
  std::vector<std::string> sources, options, foreign;
  for (const Algorithm* algorithm : algorithms) {
    const std::string operation(to_string(algorithm->operation));
    table.add({operation, std::string(algorithm->name), std::string(to_string(algorithm->ports)),
               std::string(algorithm->summary)});
    sources.push_back(fmt::format("{} {}: {}", operation, algorithm->name, algorithm->source));
    if (!algorithm->remark.empty()) sources.back() += fmt::format(" [{}]", algorithm->remark);
    if (const std::string from(origin(*algorithm)); !from.empty()) {
      sources.back() += fmt::format(" [from {}]", from);
      foreign.push_back(fmt::format("{} {} [from {}]", operation, algorithm->name, from));
    }
    for (const Option& option : algorithm->options) {
      options.push_back(fmt::format("{} {}:{}={} [{}]  {}", operation, algorithm->name, option.name,
                                    option.values(), option.text(option.preset), option.help));
    }
    results.push_back(describe(*algorithm));
  }
  print_table(output, table);
  if (!output.wide) {
    for (const std::string& algorithm : foreign) print_note(output, algorithm);
    print_note(output, "--wide has full summaries, options, sources and remarks");
    return results;
  }
  if (!options.empty()) print_note(output, "options:");
  for (const std::string& option : options) print_note(output, "  " + option);
  print_note(output, "sources and remarks:");
  for (const std::string& source : sources) print_note(output, "  " + source);
  return results;
}

/// Nothing is recorded and nothing runs: only a step's messages and their links, which the
/// contention formulas count, grow with the network. A bound, not a measurement.
void require_memory_to_list(const Topology& topology) {
  constexpr double bytes_of_node = 128;
  require_memory(fmt::format("list on {}: counting the messages of {} nodes", topology.name(),
                             topology.nodes()),
                 bytes_of_node * topology.nodes(), "use fewer nodes");
}

/// The picks of `auto` on one network, for each block size; empty if no algorithm of its kind runs.
struct AutoChoice {
  std::optional<Collective> one_port, all_port;

  /// \param figures  the figures that decide; nullptr: formulas
  AutoChoice(Operation operation, Weights& weights, const CostModel& model, Bytes bytes,
             CallFigures* figures)
      : one_port(taken(operation, weights, model, bytes, Ports::one, figures)),
        all_port(taken(operation, weights, model, bytes, Ports::all, figures)) {}

  static bool is(const std::optional<Collective>& choice, const Algorithm& algorithm) {
    return choice && choice->algorithm == &algorithm;
  }
  /// "*": picked; "all": picked with --ports all; "no": never picked.
  std::string cell(const Algorithm& algorithm) const {
    if (is(one_port, algorithm)) return "*";
    if (is(all_port, algorithm)) return "all";
    return is_chosen_by_auto(algorithm) ? "" : "no";
  }

 private:
  static std::optional<Collective> taken(Operation operation, Weights& weights,
                                         const CostModel& model, Bytes bytes, Ports ports,
                                         CallFigures* figures) {
    const Arguments arguments = plain_arguments(operation);
    try {
      if (figures != nullptr) {
        return figures->least(operation, model, bytes, ports, arguments).collective;
      }
      const auto ranked = ranking(operation, weights, model, bytes, ports, arguments);
      if (!ranked.empty()) return ranked.front().collective;
    } catch (const UsageError&) {  // none runs here
    }
    return std::nullopt;
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
      {.head = "transmitted", .unit = "blocks", .drop = 3},
      {.head = "with contention", .unit = "blocks"},
      {.head = "bound", .unit = "blocks", .wide = true},
      {.head = "bound by", .text = true, .wide = true},
      {.head = "rearranged", .unit = "blocks", .drop = 4},
      {.head = "combined", .unit = "blocks", .wide = !reduce, .drop = 5},
      {.head = "startups", .unit = "us", .wide = true},
      {.head = "transfer", .unit = "us", .wide = true},
      {.head = "rearranged", .unit = "us", .wide = true},
      {.head = "combined", .unit = "us", .wide = true},
      {.head = "model", .unit = "us"},
      {.head = "replayed", .unit = "us"},
      {.head = "work", .unit = "KiB"},
      {.head = "auto", .text = true}};
  std::erase_if(columns, [&](const auto& column) {
    return (column.head == "replayed" && !choice.by_replay()) ||
           (column.head == "work" && !choice.by_work());
  });
  return columns;
}

/// "84.2 us" or "12.5 KiB of work", by the cost that `auto` minimized.
std::string taken_text(const Collective& taken, Weights& weights, const CostModel& model,
                       Bytes bytes, const ChoiceOptions& choice, CallFigures* figures) {
  if (figures != nullptr) {
    const auto& answer = (*figures)(taken, bytes, takes_all_ports(*taken.algorithm, Ports::one));
    if (!answer.figure) return "?";
    return fmt::format("{} {}", cell_rate(choice.cell_figure(*answer.figure)),
                       choice.by_work() ? "KiB of work" : "us");
  }
  const auto& [prediction, contention] = weights(taken);
  return model_cell(model_time_us(prediction, model, bytes), contention) + " us";
}

/// \return  whether every algorithm gave its figures
bool list_admitted(const Context& context, const std::vector<const Algorithm*>& algorithms,
                   const Topology& topology, const ListCommand& options,
                   const std::vector<Bytes>& sizes, std::vector<Json>& results) {
  const CostModel& model = options.model;
  const OutputOptions& output = options.output;
  require_memory_to_list(topology);
  print_setting(output, "topology", topology_text(topology));
  if (sizes.size() == 1)
    print_setting(output, "block", bytes_text(static_cast<double>(sizes.front())));
  print_choice(output, options.choice, model);
  const std::unique_ptr<CallFigures> figures = call_figures(options.choice, topology);
  Weights weights(topology);
  const bool reduce = std::ranges::any_of(
      algorithms, [](const Algorithm* algorithm) { return algorithm->operation->reduces; });
  Progress progress(context, output, fmt::format("list on {}", topology.name()));
  std::vector<ListRow> rows;
  std::vector<Json> of_refused;
  std::vector<std::string> refused, takes, broken;
  long done = 0;
  std::map<std::pair<std::string_view, std::size_t>, AutoChoice> choices;
  std::map<std::tuple<std::string_view, Ports, decltype(Algorithm::bound)>, LowerBound> bounds;
  for (const Algorithm* algorithm : algorithms) {
    const Operation operation = algorithm->operation;
    progress.doing(fmt::format("{} {}", operation->name, algorithm->name));
    progress(done++, std::ssize(algorithms));
    const auto list_one = [&] {
      const Collective open(*algorithm, plain_arguments(operation));
      Json common = describe(*algorithm);
      common["topology"] = topology.name();
      const auto reason = refusal(open, topology);
      common["admitted"] = !reason;
      put(common, "refusal", reason ? Json(*reason) : Json(nullptr), "it runs here");
      if (reason) {
        refused.push_back(fmt::format("{} {}", operation->name, named(algorithm->name, *reason)));
        of_refused.push_back(std::move(common));
        return;
      }
      for (std::size_t size = 0; size < sizes.size(); ++size) {
        const auto [choice, is_new] = choices.try_emplace(
            {operation->name, size}, operation, weights, model, sizes[size], figures.get());
        if (const auto& taken = choice->second.one_port; is_new && taken) {
          takes.push_back(fmt::format(
              "{} for {} of {} ({})", taken->text(), operation->name,
              bytes_text(static_cast<double>(sizes[size])),
              taken_text(*taken, weights, model, sizes[size], options.choice, figures.get())));
        }
        Collective collective = open;
        collective.settle(topology, model, sizes[size]);
        // Shared by all algorithms of an operation without a bound of their own.
        const std::tuple of_operation(operation->name, algorithm->ports, algorithm->bound);
        if (!bounds.contains(of_operation)) {
          bounds[of_operation] = collective.lower_bound(topology, algorithm->ports);
        }
        const LowerBound& bound = bounds[of_operation];
        const auto& [prediction, contention] = weights(collective);
        const auto model_us = model_time_us(prediction, model, sizes[size]);
        const TimeParts parts = time_parts(prediction, model, sizes[size]);
        CallFigures::Answer answer;
        if (figures != nullptr) {
          answer = (*figures)(collective, sizes[size], takes_all_ports(*algorithm, Ports::one));
        }
        std::optional<double> figure;
        if (answer.figure) figure = options.choice.cell_figure(*answer.figure);
        rows.push_back({operation,
                        size,
                        figures != nullptr ? standing(figure, Contention::counted)
                                           : standing(model_us, contention),
                        {std::string(operation->name), std::string(algorithm->name),
                         std::string(to_string(algorithm->ports)), std::to_string(sizes[size]),
                         cell(prediction.startups), cell(prediction.transmission_blocks),
                         link_blocks_cell(prediction, contention), cell(bound.transmission_blocks),
                         bound_source_cell(bound), cell(prediction.rearranged_blocks),
                         cell(prediction.combined_blocks), cell_rate(parts.startups_us),
                         cell_rate(parts.transfer_us), cell_rate(parts.rearrange_us),
                         cell_rate(parts.combine_us), model_cell(model_us, contention),
                         choice->second.cell(*algorithm)},
                        {}});
        if (figures != nullptr) {
          rows.back().cells.insert(rows.back().cells.end() - 1, cell_rate(figure));
        }
        Json result = common;
        result["predicted"] = prediction_json(prediction);
        result["lower_bound"] = lower_bound_json(bound);
        put(result, "model_contention", contention_json(prediction, contention),
            "the source gives no formula");
        result["block_bytes"] = sizes[size];
        result["cost_model"] = cost_model_json(model);
        put(result, "model_time_us", json_value(model_us), "the source gives no formula");
        result["model_time_parts_us"] = time_parts_json(parts);
        const auto put_figure = [&](const char* key, bool given, const char* not_given) {
          put(result, key, given && answer.figure ? Json(*answer.figure) : Json(nullptr),
              given ? answer.reason : not_given);
        };
        put_figure("replayed_ps", options.choice.by_replay(), "--cost replay was not given");
        put_figure("work_bytes", options.choice.by_work(), "--cost work was not given");
        result["chosen_by_auto"] = AutoChoice::is(choice->second.one_port, *algorithm);
        result["chosen_by_auto_all_ports"] = AutoChoice::is(choice->second.all_port, *algorithm);
        rows.back().json = std::move(result);
      }
    };
    try {
      list_one();
    } catch (...) {
      const auto trouble = failure_of(std::current_exception());
      if (!trouble || trouble->code == usage) throw;
      broken.push_back(
          fmt::format("FAILED: {} {}: {}", operation->name, algorithm->name, trouble->text));
    }
  }
  // The cheapest first, operation by operation in their order.
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(
        first, rows.end(), [&](const ListRow& row) { return row.operation != first->operation; });
    std::stable_sort(first, last);
    first = last;
  }
  Table table(columns_of_admitted(sizes.size() > 1, reduce, options.choice));
  for (ListRow& row : rows) {
    const bool winner = row.cells.back() == "*";
    table.add(std::move(row.cells), winner);
    results.push_back(std::move(row.json));
  }
  std::ranges::move(of_refused, std::back_inserter(results));
  print_table(output, table);
  print_note(output,
             fmt::format(
                 "auto: `*`: picked (the lowest {} of the one-port algorithms); `all`: picked with "
                 "--ports all; `no`: never picked (baseline, slow to plan, or nonstandard routes)",
                 options.choice.by_replay() ? "replayed time"
                 : options.choice.by_work() ? "work"
                                            : "model time"));
  if (!takes.empty() && takes.size() <= 8)
    print_note(output, "auto picks " + fmt::format("{}", fmt::join(takes, "; ")));
  if (output.wide) {
    for (const std::string& reason : refused) print_note(output, "not applicable: " + reason);
  } else if (!refused.empty()) {
    print_note(output, fmt::format("{} more {} not applicable here; --wide gives the reasons",
                                   refused.size(), refused.size() == 1 ? "is" : "are"));
  }
  for (const std::string& text : broken) {
    print(filled(text, "# ", "#   "));
    complain(text);
  }
  return broken.empty();
}

/// A cell of a markdown table.
std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '*') result += '\\';
    if (c == '<' || c == '>') {
      result += c == '<' ? "&lt;" : "&gt;";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result;
}

/// One table for each operation: docs/reference/algorithms.md.
void print_markdown(const std::vector<const Algorithm*>& algorithms) {
  std::optional<Operation> last;
  for (const Algorithm* algorithm : algorithms) {
    if (!last || *last != algorithm->operation) {
      last = algorithm->operation;
      print(fmt::format("\n## {}\n\n{}\n\n", (*last)->name, markdown_cell((*last)->summary)));
      print("| algorithm | what | needs | ports | free of contention | options | source |\n");
      print("|---|---|---|---|---|---|---|\n");
    }
    std::string needs, options;
    for (const Need& need : algorithm->needs) {
      needs += fmt::format("{}{}", needs.empty() ? "" : "; ", markdown_cell(need.text));
    }
    if (algorithm->needs_commutative) needs += needs.empty() ? "" : "; ";
    if (algorithm->needs_commutative) needs += "a commutative operator";
    for (const Option& option : algorithm->options) {
      options += fmt::format("{}`{}` = {} [{}]", options.empty() ? "" : "<br>", option.name,
                             markdown_cell(option.values()), option.text(option.preset));
    }
    print(fmt::format(
        "| `{}` | {} | {} | {} | {} | {} | {}{} |\n", algorithm->name,
        markdown_cell(algorithm->summary), needs, to_string(algorithm->ports),
        algorithm->contention_free ? "yes" : "no", options, markdown_cell(algorithm->source),
        algorithm->remark.empty() ? "" : fmt::format(" ({})", markdown_cell(algorithm->remark))));
  }
}

ExitCode list(Context& context, const ListCommand& given) {
  ListCommand options = given;
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  options.output.validate();
  options.model = options.choice.cost_model(options.model);
  const auto algorithms = chosen(options.operation);
  std::vector<Json> results;
  if (options.markdown) {
    options.output.require_text("--markdown");
    if (!options.on.empty() || options.bytes_option->count() > 0 ||
        options.choice.by != "formula" || options.choice.has_machine()) {
      throw UsageError(
          "--markdown lists algorithms without a network; do not combine it with --on, --bytes, "
          "--cost or --machine");
    }
    print_markdown(algorithms);
    for (const Algorithm* algorithm : algorithms) results.push_back(describe(*algorithm));
    write_results(context, options.output, results, false);
    return passed;
  }
  bool complete = true;
  if (options.on.empty()) {
    if (options.bytes_option->count() > 0) {
      throw UsageError("--bytes has no effect without a network: name one with --on");
    }
    if (options.choice.by != "formula" || options.choice.has_machine()) {
      throw UsageError("--cost and --machine have no effect without a network: name one with --on");
    }
    results = list_everything(algorithms, options.output);
  } else {
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
      "list", "List operations and algorithms; with --on: those that a network admits");
  app.add_option("OPERATION", options->operation, operations_text() + "; default: all of them");
  add_on_option(app, options->on, false);
  options->bytes_option = add_sizes_option(app, options->bytes, "Block size for the modelled time");
  app.add_flag("--markdown", options->markdown,
               "Print tables of all algorithms as markdown (docs/reference/algorithms.md)")
      ->group("Output");
  add_choice_options(app, options->choice, options->model, "--cost");
  add_command_limit_option(app, options->time_limit);
  add_output_options(app, options->output);
  app.footer(
      "Columns with --on, by the formulas of each algorithm's source:\n"
      "  startups         steps\n"
      "  transmitted      sum over the steps of the largest message\n"
      "  with contention  the same, with messages that share a link sent one after the other\n"
      "  rearranged       blocks permuted in local memory, along the critical path\n"
      "  combined         blocks combined by a reduction, along the critical path\n"
      "  model            the modelled time for blocks of m bytes: ts x startups + tw x m x with "
      "contention\n"
      "                   + tr x m x rearranged + tc x m x combined\n"
      "  replayed         with --cost replay: the time on the machine "
      "(docs/explanation/replay.md)\n"
      "  work             with --cost work: messages and bytes of all nodes, the cost of "
      "emulation\n"
      "  auto             `*`: `auto` picks it; `all`: picked with --ports all; `no`: never "
      "picked\n"
      "                   (baseline, slow to plan, or nonstandard routes)\n"
      "'-': the source gives no formula. '?': contention is unknown, because no formula gives it "
      "and the network is too large to count it in a dry run; the time is then a lower bound "
      "('>='). Rows are sorted by the cost that `auto` minimizes. --wide adds the parts of the "
      "time, and the algorithms that the network does not admit, with the reason.\n\n"
      "Examples:\n"
      "  wormcube list\n"
      "  wormcube list alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube list alltoall --on torus:8x8 --cost replay --machine t3d\n"
      "  wormcube list alltoall --on torus:8x8 --cost work --bytes 64,64K\n"
      "  wormcube list --on hypercube:6 --json -");
  return [options](Context& context) { return list(context, *options); };
}

}  // namespace wormcube::cli
