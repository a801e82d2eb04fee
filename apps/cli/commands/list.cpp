// wormcube list: operations and algorithms; with a network, those that it admits, and their costs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/list_all.hpp"
#include "wormcube/apps/cli/commands/list_network.hpp"
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
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {
namespace {

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
