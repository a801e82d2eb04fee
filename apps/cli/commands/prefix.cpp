// wormcube prefix: distributed prefix sums, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/prefix/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

using namespace apps;

namespace {

constexpr std::size_t most_printed = 16;

struct PrefixCommand {
  ApplicationOptions application;
  std::vector<std::int64_t> numbers;
  std::string input, column, type = "int64", output;
  std::size_t count = 1000000;
  bool makes = false;  // an option for generated numbers was given
};

/// Small whole numbers, whose sums do not wrap around.
Source made_numbers(const std::string& name, std::size_t count, std::uint64_t seed) {
  const ElementType type = parse_element_type(name);
  if (type == ElementType::float64) return made_array(type, {count}, seed);
  if (type != ElementType::int64) {
    throw UsageError(fmt::format("--type {}: prefix adds int64 or double numbers", name));
  }
  return made(type, {count},
              [source = made_array(type, {count}, seed)](std::size_t first, Span to) {
                source.reader().read(first, to);
                const std::span<std::int64_t> numbers{reinterpret_cast<std::int64_t*>(to.data()),
                                                      to.size() / sizeof(std::int64_t)};
                for (std::int64_t& number : numbers) number %= 101;
              });
}

Source given_numbers(const PrefixCommand& options) {
  if (!options.column.empty() && options.input.empty()) {
    throw UsageError("--column names a column of a CSV file; name the file with --input");
  }
  if (!options.numbers.empty()) {
    if (options.makes || !options.input.empty()) {
      throw UsageError(
          "--numbers already gives the numbers; do not pass --input, --count or --type");
    }
    return to_array<std::int64_t>(ElementType::int64, options.numbers, {options.numbers.size()});
  }
  if (options.input.empty()) {
    return made_numbers(options.type, options.count, options.application.seed);
  }
  if (options.makes) {
    throw UsageError("--input already defines the numbers; do not pass --count or --type");
  }
  return open_list(options.input, options.column);
}

/// Where the numbers come from.
std::string source_name(const PrefixCommand& options) {
  if (!options.numbers.empty()) return "--numbers";
  return options.input.empty() ? "generated" : options.input;
}

/// A short list as JSON; null for a longer one, or one that several processes have.
Json short_list(const Array& array, std::size_t elements) {
  if (elements > most_printed || array.elements() != elements) return nullptr;
  if (array.type == ElementType::float64) return apps::elements<double>(array);
  return apps::elements<std::int64_t>(array);
}

void print_result(const Context& context, const PrefixCommand& options, const PrefixJob& job,
                  const PrefixResult& result, const MachineOptions& machine, double rate) {
  const ApplicationOptions& application = options.application;
  const OutputOptions& output = application.output;
  const std::size_t count = job.numbers.elements();
  print_setting(output, "numbers",
                fmt::format("{} of {}, {}", count, to_string(job.numbers.type()),
                            source_name(options) == "generated"
                                ? fmt::format("generated, seed {}", application.seed)
                                : source_name(options)));
  print_collectives_run(context, application, result.figures, machine);
  Table table = figures_table(result.figures);
  table.add({"rate", cell_rate(rate), "million numbers/s"});
  table.add({"wrong sums", result.wrong ? std::to_string(*result.wrong) : "?",
             result.wrong ? "" : "(--no-verify)"});
  print_table(output, table);
  if (const Json sums = short_list(result.sums, count); output.text() && !sums.is_null()) {
    std::vector<std::string> words;
    for (const Json& sum : sums) words.push_back(sum.dump());
    print(fmt::format("prefix sums: {}\n", fmt::join(words, " ")));
  }
}

ExitCode run(Context& context, const PrefixCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(context, application, "prefix", options.input, options.output);
  const Algorithms algorithms = application.algorithms(context, prefix_operations());
  const PrefixJob job{given_numbers(options), run.run_options()};
  const PrefixResult result = run.on_machine(algorithms.all_port(), [&](const Runner& runner) {
    return run_prefix(runner, algorithms, job);
  });
  const std::size_t count = job.numbers.elements();
  const double rate = per_microsecond(count, result.figures.wall);
  run.write_output([&] {
    write_list(run.runner(), options.output, "sum", job.numbers.type(), count, result.here,
               result.sums.data);
  });
  print_result(context, options, job, result, run.machine(), rate);

  Json json = run.json(collectives_json(result.figures), result.figures);
  json["numbers"] = count;
  json["type"] = to_string(job.numbers.type());
  json["input"] = source_name(options);
  json["million_numbers_per_s"] = rate;
  put(json, "sums", short_list(result.sums, count),
      fmt::format("shown for up to {} numbers, all in one process; use --output", most_printed));
  put(json, "wrong", result.wrong ? Json(*result.wrong) : Json(nullptr), not_verified);
  return run.finish(std::move(json), verdict(result));
}

}  // namespace

Action add_prefix(CLI::App& program) {
  auto options = std::make_shared<PrefixCommand>();
  CLI::App& app = *program.add_subcommand(
      "prefix",
      "Compute the prefix sums of a list of numbers on many nodes, and verify the result");
  app.add_option("--numbers", options->numbers,
                 "The numbers: whole ones, separated by commas, as in 3,1,4,0,2")
      ->type_name("N,N,..")
      ->delimiter(',')
      ->group("Data");
  add_input_options(app, options->input, options->column,
                    "Read the numbers from a 1-D .npy file (int64 or float64), or from a column of "
                    "a CSV file, instead of generating them");
  const std::vector<CLI::Option*> makes{
      app.add_option("--count", options->count, "Number of numbers to generate")
          ->type_name("N")
          ->check(at_least(0))
          ->capture_default_str()
          ->group("Data"),
      app.add_option("--type", options->type,
                     "Type of the generated numbers: int64 (-100 to 100) or double (-1 to 1)")
          ->type_name("TYPE")
          ->capture_default_str()
          ->group("Data")};
  app.add_option("--output", options->output,
                 "Write the sums: CSV if the name ends in .csv, or else NumPy's .npy format")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  add_application_options(app, options->application, "exscan");
  app.footer(
      "Sum k is the sum of the first k numbers. Each node holds n/p consecutive numbers and "
      "computes their prefix sums. An exclusive scan gives it the sum of all numbers on lower "
      "nodes, which it adds to each of its own sums. The nodes therefore exchange one number per "
      "step, even for long lists. Every sum is compared with a serial one: exactly for int64 "
      "(modulo 2^64), and within the rounding error of its additions for double. Up to 16 sums are "
      "printed.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging, combining, host copies, moving data (copying "
      "messages), network and switching (routes, reservations, matching, switching nodes), and "
      "idle time.\n\n"
      "Examples:\n"
      "  wormcube prefix --numbers 3,1,4,0,2 --on line:2\n"
      "  wormcube prefix --count 100000 --on hypercube:6 --algorithm exscan=hypercube\n"
      "  wormcube prefix --input weather.csv --column rain --output sums.csv");
  return [options, makes](Context& context) {
    options->makes =
        std::ranges::any_of(makes, [](const CLI::Option* option) { return option->count() > 0; });
    return run(context, *options);
  };
}

}  // namespace wormcube::cli
