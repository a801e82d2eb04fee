// wormcube check: algorithms recorded by a dry run, counted, compared with their formulas, and
// proved.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include "wormcube/apps/cli/commands/check_json.hpp"
#include "wormcube/apps/cli/commands/check_schedule.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <memory>
#include <optional>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct CheckCommand {
  SweepOptions what;
  CostModel model;
  ChoiceOptions choice;
  std::vector<std::string> bytes{"1K"};
  CheckOptions check;
  double time_limit = 0;
  std::string schedule, as;
  const CLI::Option* seed_option = nullptr;
  OutputOptions output;
};

std::vector<Table::Column> check_columns(const RowNames& names, bool reduces, bool several_sizes) {
  return {{.head = "topology", .text = true, .cut = 12, .is_name = true, .names = names.topologies},
          {.head = "algorithm", .text = true, .names = names.algorithms},
          {.head = "ports", .text = true, .wide = true},
          {.head = "block", .unit = "B", .width = 7, .wide = !several_sizes},
          {.head = "startups"},
          {.head = "startups formula", .wide = true},
          {.head = "startups bound", .wide = true},
          {.head = "optimal", .text = true, .wide = true},
          {.head = "transmitted", .unit = "blocks", .width = 8},
          {.head = "transmitted formula", .unit = "blocks", .wide = true},
          {.head = "transmitted bound", .unit = "blocks", .wide = true},
          {.head = "busiest link", .unit = "blocks", .wide = true},
          {.head = "busiest link bound", .unit = "blocks", .wide = true},
          {.head = "bound by", .text = true, .wide = true},
          {.head = "rearranged", .unit = "blocks", .width = 7, .wide = reduces, .drop = 1},
          {.head = "rearranged formula", .unit = "blocks", .wide = true},
          {.head = "combined", .unit = "blocks", .width = 6, .wide = !reduces},
          {.head = "messages", .wide = true},
          {.head = "longest", .unit = "links", .wide = true},
          {.head = "hops", .wide = true},
          {.head = "hops formula", .wide = true},
          {.head = "link load"},
          {.head = "peak", .unit = "blocks", .wide = true},
          {.head = "delivered", .drop = 2},
          {.head = "exactly once", .drop = 3},
          {.head = "order kept", .wide = !reduces, .drop = 4},
          {.head = "same bits", .text = true, .wide = !reduces, .drop = 5},
          {.head = "deadlock-free", .wide = true},
          {.head = "startups", .unit = "us", .wide = true},
          {.head = "hops", .unit = "us", .wide = true},
          {.head = "transfer", .unit = "us", .wide = true},
          {.head = "rearranged", .unit = "us", .wide = true},
          {.head = "combined", .unit = "us", .wide = true},
          {.head = "time", .unit = "us", .wide = true},
          {.head = "passed", .verdict = true}};
}

/// "met": equal to the bound; "best": no integer lies between.
std::string optimal_cell(const CheckResult& result) {
  if (!result.optimal()) return "-";
  return *result.bound_met() ? "met" : *result.optimal() ? "best" : "no";
}

/// "-": nothing has an order, or the operator must commute.
std::string order_cell(const CheckResult& result) {
  const Collective& collective = result.collective;
  const bool has_order =
      collective.operation()->reduces && !collective.algorithm->needs_commutative;
  return has_order || result.keeps_order ? cell(result.keeps_order) : "-";
}

/// \param time  of the call, step by step; empty: not requested
std::vector<std::string> cells(const CheckResult& result, Bytes block_bytes,
                               const std::optional<ModelTime>& time) {
  const ScheduleReport& report = result.report;
  const auto number = [](auto value) { return cell(static_cast<double>(value)); };
  const auto part = [&](double ModelTime::*member) {
    return time ? cell_rate((*time).*member) : std::string("-");
  };
  return {result.topology,
          result.collective.text(),
          std::string(ports_text(result.all_port)),
          std::to_string(block_bytes),
          number(report.startups),
          cell(result.predicted.startups),
          cell(result.lower_bound.startups),
          optimal_cell(result),
          cell(result.transmission_blocks),
          cell(result.predicted.transmission_blocks),
          cell(result.lower_bound.port_blocks),
          cell(result.link_blocks),
          cell(result.lower_bound.transmission_blocks),
          bound_source_cell(result.lower_bound),
          cell(result.rearranged_blocks),
          cell(result.predicted.rearranged_blocks),
          cell(result.combined_blocks),
          number(report.messages),
          number(report.max_hops),
          number(report.sum_max_hops),
          cell(result.predicted.hops),
          number(report.link_load_max),
          cell(result.peak_blocks),
          cell(result.delivered),
          cell(result.exactly_once),
          order_cell(result),
          result.same_bits ? std::string(to_string(*result.same_bits)) : "-",
          cell(std::optional<bool>(report.deadlock_free)),
          part(&ModelTime::startups_us),
          part(&ModelTime::hops_us),
          part(&ModelTime::transfer_us),
          part(&ModelTime::rearrange_us),
          part(&ModelTime::combine_us),
          time ? cell_rate(time->total_us) : "-",
          !result.passed()        ? "NO"
          : result.has_formulas() ? cell(result.verdict())
                                  : cell(result.verdict()) + ", no formulas"};
}

/// The settings of a check, whatever its result.
Json call_json(const Sweep::Row& row, const CheckCommand& options) {
  const Topology& topology = row.topology;
  const Collective& collective = row.collective;
  const Algorithm& algorithm = *collective.algorithm;
  Json json{{"operation", to_string(algorithm.operation)},
            {"algorithm", algorithm.name},
            {"options", options_json(collective.options)},
            {"arguments", arguments_json(algorithm.operation, collective.arguments)},
            {"topology", topology.name()},
            {"nodes", topology.nodes()},
            {"ports", ports_text(all_port(options.what.algorithm, algorithm))},
            {"virtual_channels", options.check.virtual_channels},
            {"seed", options.check.seed},
            {"block_bytes", row.block_bytes},
            {"cost_model", cost_model_json(options.model)},
            {"source", algorithm.source},
            {"origin", origin(algorithm).empty() ? "built in" : origin(algorithm)}};
  add_remark(json, algorithm);
  return json;
}

/// The row of an algorithm that failed.
std::vector<std::string> cells_without_result(const Sweep::Row& row, bool every_port,
                                              const std::string& verdict) {
  std::vector<std::string> cells(check_columns({}, false, false).size(), "-");
  cells[0] = row.topology.name();
  cells[1] = row.collective.text();
  cells[2] = ports_text(every_port);
  cells[3] = std::to_string(row.block_bytes);
  cells.back() = verdict;
  return cells;
}

/// The row of a checked algorithm.
ExitCode checked(const Sweep::Row& row, const CheckCommand& options, const CheckOptions& check,
                 Results& results) {
  const Topology& topology = row.topology;
  const Collective& collective = row.collective;
  const Bytes block_bytes = row.block_bytes;
  const CheckResult result = check_collective(collective, topology, check);
  const Weighed weighed =
      weigh(collective, topology, block_bytes, options.model.bus_us.has_value());
  Json json = check_json(result, weighed, options.check, options.model, block_bytes);
  std::optional<ModelTime> time;
  if (!options.output.json.empty() || !options.output.jsonl.empty() || options.output.wide) {
    // With the call's own operator and bytes, as in `run`.
    const ScheduleReport steps = check_steps(collective, topology, block_bytes, check);
    json["arguments"] = arguments_json(collective.operation(), collective.arguments);
    time = lock_step_time(steps, options.model);
    add_steps(json, steps, *time);
  }
  results.add(cells(result, block_bytes, time), std::move(json));
  note_remark(results, *collective.algorithm, topology);
  note_bits(results, collective, topology);
  const auto note = [&](std::string_view text) {
    results.note(fmt::format("{} on {}: {}", collective.text(), topology.name(), text));
  };
  if (!result.delivered) note("delivery: " + result.proof);
  if (result.delivered == true && result.exactly_once != true)
    note("exactly once: " + result.arrivals);
  for (const std::string& failure : result.failures) note("FAILED: " + failure);
  return result.passed() ? passed : failed;
}

ExitCode check(Context& context, const CheckCommand& given) {
  CheckCommand options = given;
  const auto limit = milliseconds_of(options.time_limit);
  options.output.validate();
  options.model = options.choice.cost_model(options.model);
  if (options.choice.has_machine()) {
    const auto profile = options.choice.resolve().profile;
    options.what.algorithm.choose_for(profile->name, profile->model.all_port);
  }
  options.check.in_place = options.what.call.in_place;
  if (!options.schedule.empty()) {
    if (!options.what.operation.empty())
      throw UsageError("--schedule already defines the operation; pass --as instead of OPERATION");
    if (options.what.on.size() > 1)
      throw UsageError("--schedule accepts only one network with --on");
    require_no_algorithms(options.what.algorithm.names);
    const bool has_bytes = options.what.bytes_option->count() > 0;
    if (has_bytes && (options.as.empty() || options.bytes.size() != 1)) {
      throw UsageError(
          "with --schedule, --bytes sets the block size for the search in GOAL and Chakra files; "
          "give one size, together with --as (`replay`, `run` and `compare` can scale a schedule)");
    }
    const CommandLimit limited(context, limit);
    return check_schedule(
        context,
        {.file = options.schedule,
         .on = options.what.on.empty() ? "" : options.what.on.front(),
         .as = options.as,
         .call = options.what.call,
         .ports = options.what.algorithm.ports,
         .virtual_channels = options.check.virtual_channels,
         .prove_messages = options.check.prove_messages,
         .block_bytes =
             has_bytes ? std::optional(parse_sizes(options.bytes).front()) : std::nullopt},
        options.output);
  }
  if (!options.as.empty())
    throw UsageError(
        "--as has no effect without --schedule; OPERATION already names the operation");
  if (options.what.operation.empty())
    throw UsageError("OPERATION is required (or a schedule: --schedule FILE)");
  require_on(!options.what.on.empty(), options.what.operation);
  const std::vector<Bytes> sizes = parse_sizes(options.bytes);
  Sweep sweep(options.what, parse_topologies(options.what.on), sizes, sizes.size() > 1);
  const Operation operation = sweep.operation();
  const bool uneven = operation->sizes != Sizes::equal;
  require_effect(options.seed_option, uneven, operation, "its blocks all have one size");
  sweep.select(
      context, options.model,
      auto_chooser(context, options.choice, options.output, options.check.virtual_channels), limit);

  const OutputOptions& output = options.output;
  print_setting(
      output, "check",
      fmt::format("{}, algorithm {}", to_string(operation), names_text(options.what.algorithm)));
  sweep.print_settings(output);
  print_setting(output, "virtual channels",
                fmt::format("{} per ring link", options.check.virtual_channels));
  if (uneven) print_setting(output, "block sizes", fmt::format("seed {}", options.check.seed));
  print_setting(output, "proof",
                fmt::format("up to {} node{}", options.check.prove_up_to,
                            options.check.prove_up_to == 1 ? "" : "s"));
  if (options.what.algorithm.chooses()) {
    if (sizes.size() == 1) {
      print_setting(output, "auto",
                    fmt::format("blocks of {}", bytes_text(static_cast<double>(sizes.front()))));
    }
    print_choice(output, options.choice, options.model);
  }
  Results results(context, output,
                  check_columns(sweep.names(), operation->reduces, sizes.size() > 1));
  Progress progress(context, output, "check");
  const ExitCode worst = sweep.each(context, output, results, progress, [&](const Sweep::Row& row) {
    CheckOptions check = options.check;
    check.all_port = all_port(options.what.algorithm, *row.collective.algorithm);
    check.block_bytes = row.block_bytes;
    return sweep.attempt(
        context, results, row, call_json(row, options),
        [&](const std::string& verdict) {
          return cells_without_result(row, check.all_port, verdict);
        },
        [&] {
          const TimeLimited limited(context, limit);
          return checked(row, options, check, results);
        });
  });
  results.finish(sweep.is_single());
  return worst;
}

}  // namespace

Action add_check(CLI::App& program) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App& app = *program.add_subcommand(
      "check",
      "Count an algorithm's messages and prove delivery, without data, threads or a network");
  app.add_option("OPERATION", options->what.operation, operations_text());
  add_on_option(app, options->what.on, false);
  app.add_option("--schedule", options->schedule,
                 "Check a schedule file: verify that it follows the rules for schedules, count its "
                 "messages, and prove that it performs the operation that it names")
      ->type_name("FILE")
      ->check(file_name())
      ->group("What");
  app.add_option("--as", options->as,
                 "With --schedule: prove that the schedule performs this operation, with the "
                 "call's arguments (such as --root), instead of the operation that the file names")
      ->type_name("OPERATION")
      ->group("What");
  add_algorithm_options(app, options->what.algorithm);
  options->what.bytes_option = add_sizes_option(
      app, options->bytes,
      "Block sizes for `auto`, for times, and for algorithm options that depend on the size");
  app.add_option("--prove-up-to", options->check.prove_up_to,
                 "Skip the proof of delivery (a run with labelled blocks) on networks with more "
                 "than this many nodes; for broadcasts, the schedule alone then proves delivery")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  app.add_option("--prove-messages", options->check.prove_messages,
                 "Skip the proof above N messages (the proof handles under a million per second)")
      ->type_name("N")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  add_record_pieces_option(app, options->check.record_pieces);
  options->seed_option =
      app.add_option("--seed", options->check.seed,
                     "Seed for the block sizes of operations whose names end in v")
          ->type_name("N")
          ->check(whole_number())
          ->capture_default_str()
          ->group("What");
  add_virtual_channels_option(app, options->check.virtual_channels);
  add_time_limit_option(app, options->time_limit, "What");
  add_call_options(app, options->what.call);
  add_choice_options(app, options->choice, options->model);
  add_output_options(app, options->output);
  app.footer(
      "A dry run executes every node's program without data and counts its messages. A second run, "
      "with blocks that are labelled with their origin, proves that every block is delivered. A "
      "block is the data for one pair of nodes; in a broadcast it is the whole message. Columns:\n"
      "  startups      number of steps in which any node sends\n"
      "  transmitted   largest message of each step, summed over the steps\n"
      "  rearranged    blocks permuted in local memory, along the critical path (for\n"
      "                reductions, only with --wide)\n"
      "  combined      blocks combined by a reduction, along the critical path (for\n"
      "                other operations, only with --wide)\n"
      "  link load     largest number of messages on one directed link in one step; 1:\n"
      "                no contention\n"
      "  delivered     every block arrives at its destination; `?`: not proved (the\n"
      "                reason follows)\n"
      "  exactly once  no node receives the same data twice; `no` is a failure only if\n"
      "                the paper claims otherwise\n"
      "  order kept    reductions: a second proof shows that the result is right even\n"
      "                for operators that do not commute; `-`: the algorithm needs an\n"
      "                operator that commutes. The counts and the first proof use\n"
      "                the operator that you choose\n"
      "  same bits     reductions: a third run shows whether a rounded result has the\n"
      "                same bits on all nodes; `exact`: the operator does not\n"
      "                round; `-`: no two nodes end up with the same result\n"
      "  passed        ports, partners, routes, delivery and all claims of the paper\n"
      "                are correct, and the counts match the formulas; `?`: no\n"
      "                check failed, but delivery was not proved\n"
      "  With --wide:\n"
      "  formula       value given by the formula in the algorithm's paper\n"
      "  bound         lower bound for algorithms of this kind on this network (for\n"
      "                products: for algorithms that send single blocks between\n"
      "                neighbours)\n"
      "  busiest link  blocks on the busiest directed link of each step, summed over\n"
      "                the steps; compare it with its bound if messages share links\n"
      "  optimal       for algorithms that send blocks between neighbours: `met` if\n"
      "                the start-ups equal the bound, `best` if no integer lies\n"
      "                between them\n"
      "  also          messages; longest route; hops (longest route of each step,\n"
      "                summed over the steps); peak number of blocks on a node;\n"
      "                deadlock freedom of the routes; time in lock step from the\n"
      "                counts, the cost model and the contention, with its parts\n\n"
      "The JSON output is one object for a single algorithm (by name or `auto`) on a single "
      "network, and otherwise an array of objects. The exit code is 1 if any check fails.\n\n"
      "Examples:\n"
      "  wormcube check alltoall --on torus:8x8 --algorithm all\n"
      "  wormcube check alltoall --on torus:8x8 --algorithm suh-torus --json -\n"
      "  wormcube check broadcast --on mesh:6x5 --root 7\n"
      "  wormcube check broadcast --on ring:16 --algorithm circulant --bytes 1K..1M\n"
      "  wormcube check --schedule mine.txt --ports all\n"
      "  wormcube check --schedule plan.json --on ring:8\n"
      "  wormcube check --schedule trace.goal --as alltoall --bytes 1K");
  return [options](Context& context) { return check(context, *options); };
}

}  // namespace wormcube::cli
