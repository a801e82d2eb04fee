// wormcube lookup: a distributed table lookup, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/lookup/made.hpp"
#include "wormcube/apps/lookup/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct ListOptions {
  std::string file, column;
};

struct LookupCommand {
  ApplicationOptions application;
  ListOptions table, values, keys;
  std::size_t entries = 100000, lookups = 1000000;
  double absent = 0.1;
  bool makes = false;  // an option for generated data was given
  std::string by = "hash", output;
};

Source open(const ListOptions& list) { return open_list(list.file, list.column); }

/// \param convert  of an element of type T and its place
template <class T, class Convert>
Source converted(const Source& from, ElementType to, Convert convert) {
  using Element = decltype(convert(T{}, std::size_t{}));
  return made(to, from.shape(), [=](std::size_t first, Span into) {
    std::vector<T> some;
    for (std::size_t at = 0; at < into.size() / sizeof(Element); at += some.size()) {
      some.resize(std::min(rows_at_a_time, into.size() / sizeof(Element) - at));
      from.reader().read(first + at, std::as_writable_bytes(std::span(some)));
      for (std::size_t k = 0; k < some.size(); ++k) {
        const Element element = convert(some[k], first + at + k);
        std::memcpy(&into[(at + k) * sizeof element], &element, sizeof element);
      }
    }
  });
}

Source open_keys(const ListOptions& list) {
  const Source source = open(list);
  return with_real_type(source.type(), list.file, [&]<class T>(T) -> Source {
    if constexpr (std::is_floating_point_v<T>) {
      if (source.elements() == 0) return row_numbers(0);
      throw UsageError(fmt::format("{}: keys of {}; keys must be whole numbers", list.file,
                                   to_string(source.type())));
    } else {
      return converted<T>(source, ElementType::int64, [file = list.file](T key, std::size_t at) {
        if (!std::in_range<Key>(key)) {
          throw UsageError(fmt::format("{}: key {} (element {}, from 0) is larger than {}", file,
                                       key, at, std::numeric_limits<Key>::max()));
        }
        return static_cast<Key>(key);
      });
    }
  });
}

/// The values as eight bytes each: int64, uint64 or float64.
Source open_values(const ListOptions& list) {
  const Source source = open(list);
  return with_real_type(source.type(), list.file, [&]<class T>(T) -> Source {
    if constexpr (std::is_floating_point_v<T>) {
      return converted<T>(source, ElementType::float64,
                          [](T value, std::size_t) { return static_cast<double>(value); });
    } else {
      return converted<T>(
          source, std::is_same_v<T, std::uint64_t> ? ElementType::uint64 : ElementType::int64,
          [](T value, std::size_t) { return static_cast<apps::Value>(value); });
    }
  });
}

LookupJob read_data(const LookupCommand& options) {
  if (options.keys.file.empty()) throw UsageError("--table needs --keys, the keys to look up");
  if (options.makes) {
    throw UsageError(
        "--table already defines the data; do not pass --entries, --lookups or --absent");
  }
  const Source table = open_keys(options.table), keys = open_keys(options.keys);
  const std::size_t entries = table.elements();
  const Source values =
      options.values.file.empty() ? row_numbers(entries) : open_values(options.values);
  if (values.elements() != entries) {
    throw UsageError(
        fmt::format("{} keys in {}, but {} values in {}; the table needs a value for each key",
                    entries, options.table.file, values.elements(), options.values.file));
  }
  return {{table, values}, keys};
}

LookupJob make_data(const LookupCommand& options) {
  for (const auto& [name, list] :
       {std::pair("--values", &options.values), std::pair("--keys", &options.keys)}) {
    if (!list->file.empty()) throw UsageError(fmt::format("{} needs --table", name));
  }
  return generate_lookup(options.entries, options.lookups, options.absent,
                         options.application.seed);
}

void require_columns(const LookupCommand& options) {
  for (const auto& [name, list] :
       {std::pair("--table", &options.table), std::pair("--values", &options.values),
        std::pair("--keys", &options.keys)}) {
    if (list->file.empty() && !list->column.empty()) {
      throw UsageError(fmt::format(
          "{0}-column names a column of a CSV file; name the file with {0}", name, name));
    }
  }
}

/// The output for a key that is not in the table: NaN for floating point values, the smallest
/// int64, the largest uint64.
apps::Value marker(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return std::bit_cast<apps::Value>(std::numeric_limits<double>::quiet_NaN());
    case ElementType::uint64:
      return std::numeric_limits<apps::Value>::max();
    default:
      return std::bit_cast<apps::Value>(std::numeric_limits<std::int64_t>::min());
  }
}

std::vector<apps::Value> output_values(const LookupResult& result, ElementType type) {
  std::vector<apps::Value> values = result.values;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (result.found[k] == 0) values[k] = marker(type);
  }
  return values;
}

void print_result(const Context& context, const LookupCommand& options, const LookupJob& job,
                  const LookupResult& result, const MachineOptions& machine, double rate) {
  const ApplicationOptions& application = options.application;
  const OutputOptions& output = application.output;
  const bool made = options.table.file.empty();
  print_setting(
      output, "table",
      fmt::format("{} entries, {}, distributed by {}", job.table.count(),
                  made ? fmt::format("generated, seed {}", application.seed) : options.table.file,
                  options.by));
  print_setting(output, "keys",
                fmt::format("{}, {}", job.keys.elements(),
                            made ? fmt::format("a share of {} not in the table", options.absent)
                                 : options.keys.file));
  print_collectives_run(context, application, result.figures, machine);
  Table table = figures_table(result.figures);
  table.add(
      {"largest part of the table", std::to_string(result.largest_table), "entries of one node"});
  table.add({"mean part of the table", fmt::format("{:.1f}", result.average_table), "entries"});
  table.add(
      {"most requests", std::to_string(result.largest_requests), "keys requested from one node"});
  table.add({"mean requests", cell(result.average_requests), "keys"});
  table.add({"keys not in the table", std::to_string(result.absent), ""});
  table.add({"rate", cell_rate(rate), "million keys/s"});
  table.add({"wrong answers", result.wrong ? std::to_string(*result.wrong) : "?",
             result.wrong ? "" : "(--no-verify)"});
  print_table(output, table);
}

ExitCode run(Context& context, const LookupCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(context, application, "lookup", options.table.file, options.output);
  const Algorithms algorithms = application.algorithms(context, lookup_operations());
  require_columns(options);
  LookupJob job = options.table.file.empty() ? make_data(options) : read_data(options);
  job.by = parse_table_by(options.by);
  job.options = run.run_options();
  const LookupResult result = run.on_machine(algorithms.all_port(), [&](const Runner& runner) {
    return run_lookup(runner, algorithms, job);
  });
  const double rate = per_microsecond(job.keys.elements(), result.figures.wall);
  const ElementType type = job.table.values.type();
  run.write_output([&] {
    std::vector<apps::Value> values;
    in_all_processes(run.runner(), [&] { values = output_values(result, type); });
    write_list(run.runner(), options.output, "value", type, job.keys.elements(), result.here,
               std::as_bytes(std::span(values)));
  });
  print_result(context, options, job, result, run.machine(), rate);

  Json json = run.json(collectives_json(result.figures), result.figures);
  json["entries"] = job.table.count();
  json["keys"] = job.keys.elements();
  json["values"] = to_string(type);
  json["distribution"] = options.by;
  json["largest_table"] = result.largest_table;
  json["mean_table"] = result.average_table;
  json["largest_requests"] = result.largest_requests;
  json["mean_requests"] = result.average_requests;
  json["absent"] = result.absent;
  json["million_keys_per_s"] = rate;
  put(json, "wrong", result.wrong ? Json(*result.wrong) : Json(nullptr), not_verified);
  return run.finish(std::move(json), verdict(result));
}

void add_list_options(CLI::App& app, const std::string& name, ListOptions& list,
                      const std::string& what, const std::string& remark = "") {
  app.add_option(name, list.file, what + " from a 1-D .npy file or a column of a CSV file" + remark)
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  app.add_option(
         name + "-column", list.column,
         "Column of that CSV file: a name in its first line, or a column number (the first is 1)")
      ->type_name("NAME")
      ->group("Data");
}

}  // namespace

Action add_lookup(CLI::App& program) {
  auto options = std::make_shared<LookupCommand>();
  CLI::App& app = *program.add_subcommand(
      "lookup", "Look up keys in a table distributed over the nodes, and verify the result");
  add_list_options(app, "--table", options->table,
                   "Read the table's keys (distinct whole numbers)");
  add_list_options(app, "--values", options->values, "Read the table's values",
                   " (default: each key's row number, counted from 0)");
  add_list_options(app, "--keys", options->keys, "Read the keys to look up");
  const std::vector<CLI::Option*> makes{
      app.add_option("--entries", options->entries, "Number of table entries to generate")
          ->type_name("N")
          ->check(at_least(0))
          ->capture_default_str()
          ->group("Data"),
      app.add_option("--lookups", options->lookups, "Number of lookup keys to generate")
          ->type_name("N")
          ->check(at_least(0))
          ->capture_default_str()
          ->group("Data"),
      app.add_option("--absent", options->absent,
                     "Fraction of the generated lookup keys that are not in the table")
          ->type_name("SHARE")
          ->check(between(0, 1.0))
          ->capture_default_str()
          ->group("Data")};
  app.add_option("--output", options->output,
                 "Write the values in the order of the keys: CSV if the name ends in .csv, or else "
                 "NumPy's .npy format. For keys that are not in the table, write NaN, the smallest "
                 "int64 or the largest uint64, depending on the type of the values")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  app.add_option(
         "--distribution", options->by,
         "How the keys of the table are distributed over the nodes. hash: by hashed key modulo the "
         "number of nodes; block: by equal ranges between the smallest and the largest key")
      ->type_name("hash|block")
      ->check(one_of({"hash", "block"}))
      ->capture_default_str()
      ->group("What");
  add_application_options(app, options->application, "alltoall, alltoallv");
  app.footer(
      "Each node holds the entries for its keys, and a share of the keys to look up. It sorts "
      "these keys by the node that holds their entries, announces how many keys it sends "
      "(alltoall), sends them (alltoallv) and receives the answers (alltoallv in the other "
      "direction). A second pass over the table verifies all answers, including those for absent "
      "keys. Under MPI, each process stores only its own nodes' data.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging (sorting by node), combining, host copies, "
      "moving data (copying messages), network and switching (routes, reservations, matching, "
      "switching nodes), and idle time.\n\n"
      "Examples:\n"
      "  wormcube lookup\n"
      "  wormcube lookup --entries 1000 --lookups 50000 --absent 0.5 --on mesh:5x3\n"
      "  wormcube lookup --table items.csv --table-column id --values items.csv \\\n"
      "    --values-column price --keys sold.npy --output prices.csv\n"
      "  wormcube lookup --distribution block --on hypercube:5 --algorithm hypercube-pairwise");
  return [options, makes](Context& context) {
    options->makes =
        std::ranges::any_of(makes, [](const CLI::Option* option) { return option->count() > 0; });
    return run(context, *options);
  };
}

}  // namespace wormcube::cli
