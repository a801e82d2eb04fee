// wormcube sort: a distributed sample sort, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/sort/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct SortCommand {
  ApplicationOptions application;
  std::string input, column, generate = "uniform", type = "double", output;
  std::size_t count = 1000000, samples = 0;
  bool makes = false;  // an option for generated keys was given
  bool rebalance = false;
};

Source keys(const SortCommand& options) {
  if (options.input.empty()) {
    if (!options.column.empty()) {
      throw UsageError("--column names a column of a CSV file; name the file with --input");
    }
    return made_keys(parse_key_kind(options.generate), parse_element_type(options.type),
                     options.count, options.application.seed);
  }
  if (options.makes) {
    throw UsageError("--input already defines the keys; do not pass --count, --type or --generate");
  }
  return open_list(options.input, options.column);
}

/// Largest share / mean share.
double imbalance(const SortResult& result) {
  return result.average_share > 0 ? static_cast<double>(result.largest_share) / result.average_share
                                  : 1;
}

void print_result(const Context& context, const SortCommand& options, const SortJob& job,
                  const SortResult& result, const MachineOptions& machine, double rate) {
  const ApplicationOptions& application = options.application;
  const OutputOptions& output = application.output;
  print_setting(output, "keys",
                fmt::format("{} of {}, {}", job.keys.elements(), to_string(job.keys.type()),
                            options.input.empty()
                                ? fmt::format("{}, seed {}", options.generate, application.seed)
                                : options.input));
  print_setting(output, "samples",
                fmt::format("{} per node, fewer if it has fewer keys", result.samples));
  print_setting(output, "shares",
                options.rebalance ? "equal, by a second exchange" : "as divided by the splitters");
  print_collectives_run(context, application, result.figures, machine);
  Table table = figures_table(result.figures);
  table.add({"largest share", std::to_string(result.largest_share), "keys of one node"});
  table.add({"smallest share", std::to_string(result.smallest_share), "keys of one node"});
  table.add({"mean share", cell(result.average_share), "keys"});
  table.add({"largest / mean", cell_rate(imbalance(result)), ""});
  table.add({"rate", cell_rate(rate), "million keys/s"});
  if (result.verified() && result.check.counted) {
    table.add({"serial sort on the host", cell_rate(microseconds(result.check.serial_wall)), "us"});
  }
  const auto counted = [&](const char* name, std::size_t value, const char* unit) {
    table.add({name, result.verified() ? std::to_string(value) : "?",
               result.verified() ? unit : "(--no-verify)"});
  };
  counted("keys smaller than the previous one", result.check.descents, "");
  counted("missing keys of the input", result.check.missing,
          result.check.counted ? "" : "by fingerprints; 1: some");
  print_table(output, table);
}

ExitCode run(Context& context, const SortCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(context, application, "sort", options.input, options.output);
  const Algorithms algorithms = application.algorithms(context, sort_operations());
  const SortJob job{keys(options), options.samples, options.rebalance, run.run_options()};
  const SortResult result = run.on_machine(algorithms.all_port(), [&](const Runner& runner) {
    return run_sort(runner, algorithms, job);
  });
  const double rate = per_microsecond(job.keys.elements(), result.figures.wall);
  run.write_output([&] {
    write_list(run.runner(), options.output, "sorted", job.keys.type(), job.keys.elements(),
               result.here, result.sorted.data);
  });
  print_result(context, options, job, result, run.machine(), rate);

  const auto if_verified = [&](auto value) {
    return result.verified() ? Json(value) : Json(nullptr);
  };
  Json json = run.json(collectives_json(result.figures), result.figures);
  json["keys"] = job.keys.elements();
  json["type"] = to_string(job.keys.type());
  json["input"] = options.input.empty() ? options.generate : options.input;
  json["samples"] = result.samples;
  json["rebalanced"] = options.rebalance;
  json["largest_share"] = result.largest_share;
  json["smallest_share"] = result.smallest_share;
  json["mean_share"] = result.average_share;
  json["largest_to_mean"] = imbalance(result);
  json["million_keys_per_s"] = rate;
  const bool counted = result.check.counted;
  put(json, "serial_us",
      counted ? if_verified(microseconds(result.check.serial_wall)) : Json(nullptr),
      counted ? not_verified : "no process has all keys");
  put(json, "descents", if_verified(result.check.descents), not_verified);
  put(json, "missing", if_verified(result.check.missing), not_verified);
  put(json, "missing_by", if_verified(counted ? "count" : "fingerprint"), not_verified);
  return run.finish(std::move(json), verdict(result));
}

}  // namespace

Action add_sort(CLI::App& program) {
  auto options = std::make_shared<SortCommand>();
  CLI::App& app = *program.add_subcommand(
      "sort", "Sort a list of numbers on many nodes, and verify the result");
  add_input_options(app, options->input, options->column,
                    "Read the keys from a 1-D .npy file of any real type, or from a column of a "
                    "CSV file, instead of generating them");
  const std::vector<CLI::Option*> makes{
      app.add_option("--count", options->count, "Number of keys to generate")
          ->type_name("N")
          ->check(at_least(0))
          ->capture_default_str()
          ->group("Data"),
      app.add_option(
             "--type", options->type,
             "Type of the generated keys: float, double, or a NumPy name (int32, uint64, ...)")
          ->type_name("TYPE")
          ->capture_default_str()
          ->group("Data"),
      app.add_option("--generate", options->generate,
                     "Values of the generated keys: uniform, equal, few (16 distinct keys), sorted "
                     "or reverse")
          ->type_name("KIND")
          ->capture_default_str()
          ->group("Data")};
  app.add_option("--output", options->output,
                 "Write the sorted keys: CSV if the name ends in .csv, or else NumPy's .npy format")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  app.add_option("--samples", options->samples,
                 "Number of samples per node; a node's share is at most (1 + nodes / samples) "
                 "times the mean (0: as many samples as nodes)")
      ->type_name("N")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  app.add_flag("--rebalance", options->rebalance,
               "Add a second exchange that gives all nodes equal shares")
      ->group("What");
  add_application_options(app, options->application, "allgatherv, alltoall, alltoallv, exscan");
  app.footer(
      "Each node sorts its share and sends regular samples of it to all nodes. From the samples, "
      "every node picks the same splitters. It divides its keys at the splitters, announces how "
      "many keys it sends (alltoall), sends them (alltoallv) and merges the keys that it receives. "
      "A scan gives the position of its keys in the whole list. Equal keys are ordered by their "
      "original position, so even a list of one repeated key is shared evenly. Two checks verify "
      "the result: it is in order, and it is the same multiset as the input, bit for bit.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging, combining, host copies, moving data (copying "
      "messages), network and switching (routes, reservations, matching, switching nodes), and "
      "idle time.\n\n"
      "Examples:\n"
      "  wormcube sort\n"
      "  wormcube sort --count 100000 --generate equal --on mesh:5x3\n"
      "  wormcube sort --input weather.csv --column temperature --output sorted.csv\n"
      "  wormcube sort --type int64 --on hypercube:5 --algorithm alltoallv=shift,allgatherv=bruck");
  return [options, makes](Context& context) {
    options->makes =
        std::ranges::any_of(makes, [](const CLI::Option* option) { return option->count() > 0; });
    return run(context, *options);
  };
}

}  // namespace wormcube::cli
