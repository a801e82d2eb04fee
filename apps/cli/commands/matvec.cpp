// wormcube matvec: a distributed matrix-vector product, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/matvec/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cmath>
#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct MatvecCommand {
  ApplicationOptions application;
  std::string matrix, vector, column, shape = "1024x768", vectors_on = "edge", output;
  bool shape_given = false;
};

Source matrix(const MatvecCommand& options) {
  if (options.matrix.empty()) {
    return made_array(ElementType::float64, parse_shape(options.shape, 2, 2),
                      options.application.seed);
  }
  if (options.shape_given) {
    throw UsageError("--matrix already defines the shape; do not pass --shape");
  }
  return open_matrix(options.matrix);
}

Source vector(const MatvecCommand& options, std::size_t columns) {
  if (!options.vector.empty()) return open_list(options.vector, options.column);
  if (!options.column.empty()) {
    throw UsageError("--column names a column of the vector's file; name the file with --vector");
  }
  return made_array(ElementType::float64, {columns}, ~options.application.seed);
}

std::string source(const std::string& file, std::uint64_t seed) {
  return file.empty() ? fmt::format("generated, seed {}", seed) : file;
}

void print_result(const Context& context, const MatvecCommand& options, const MatvecJob& job,
                  const MatvecResult& result, const MachineOptions& machine, double rate) {
  const ApplicationOptions& application = options.application;
  const OutputOptions& output = application.output;
  print_setting(output, "matrix",
                fmt::format("{} of float64, {}", shape_text(job.matrix.shape()),
                            source(options.matrix, application.seed)));
  print_setting(output, "vector", source(options.vector, application.seed));
  print_setting(output, "grid",
                fmt::format("{} x {} nodes; vectors on the {}", result.grid_rows,
                            result.grid_columns, options.vectors_on));
  print_collectives_run(context, application, result.figures, machine);
  Table table = figures_table(result.figures);
  if (result.serial_wall) {
    table.add({"serial product on the host", cell_rate(microseconds(*result.serial_wall)), "us"});
  }
  table.add({"rate", cell_rate(rate), "Gflop/s"});
  print_table(output, table);
  Table checks({{"compared with", "", true},
                {"elements"},
                {"relative to", "", true},
                {"largest error"},
                {"allowed"},
                {"passed"}});
  constexpr const char *check = "a product in extended precision",
                       *measure = "the element's |A| |x|";
  if (result.verified()) {
    checks.add({check, std::to_string(result.check.elements), measure,
                cell_error(result.check.error), fmt::format("{:.2e}", result.check.tolerance),
                result.passed() ? "yes" : "NO"});
  } else {
    checks.add({check, "-", measure, "-", "-", "?"});
  }
  print_table(output, checks);
}

Json check_json(const MatvecCheck& check) {
  const auto if_measured = [&](auto value) { return check.measured ? Json(value) : Json(nullptr); };
  Json json;
  put(json, "elements", if_measured(check.elements), not_verified);
  put(json, "error", std::isfinite(check.error) ? if_measured(check.error) : Json(nullptr),
      check.measured ? "an element of the product is not finite" : not_verified);
  put(json, "tolerance", if_measured(check.tolerance), not_verified);
  put(json, "wrong", if_measured(check.wrong), not_verified);
  put(json, "passed", if_measured(check.passed()), not_verified);
  return json;
}

ExitCode run(Context& context, const MatvecCommand& options) {
  const ApplicationOptions& application = options.application;
  // The seed generates what is not read.
  const std::string& input = options.vector.empty() ? options.vector : options.matrix;
  ApplicationRun run(context, application, "matvec", input, options.output);
  const Algorithms algorithms = application.algorithms(context, matvec_operations());
  const Source a = matrix(options);
  const std::vector<std::size_t>& shape = a.shape();
  const MatvecJob job{a, vector(options, shape[1]), parse_vectors_on(options.vectors_on),
                      run.run_options()};
  const MatvecResult result = run.on_machine(algorithms.all_port(), [&](const Runner& runner) {
    return run_matvec(runner, algorithms, job);
  });
  const double rate = per_microsecond(2 * shape[0] * shape[1], result.figures.wall) / 1000;
  run.write_output([&] {
    write_list(run.runner(), options.output, "y", ElementType::float64, shape[0], result.here,
               std::as_bytes(std::span(result.y)));
  });
  print_result(context, options, job, result, run.machine(), rate);

  Json json = run.json(collectives_json(result.figures), result.figures);
  json["shape"] = shape;
  json["grid"] = {result.grid_rows, result.grid_columns};
  json["vectors_on"] = options.vectors_on;
  json["gflop_per_s"] = rate;
  put(json, "serial_us",
      result.serial_wall ? Json(microseconds(*result.serial_wall)) : Json(nullptr),
      result.verified() ? "no process has the whole matrix" : not_verified);
  json["check"] = check_json(result.check);
  return run.finish(std::move(json), verdict(result));
}

}  // namespace

Action add_matvec(CLI::App& program) {
  auto options = std::make_shared<MatvecCommand>();
  CLI::App& app = *program.add_subcommand(
      "matvec", "Multiply a matrix by a vector on a grid of nodes, and verify the result");
  app.add_option("--matrix", options->matrix,
                 "Read the matrix from a 2-D .npy file or a CSV file instead of generating one")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  app.add_option(
         "--vector", options->vector,
         "Read the vector from a 1-D .npy file or a column of a CSV file instead of generating one")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  app.add_option("--column", options->column,
                 "Column of the vector's CSV file: a name in its first line, or a column number "
                 "(the first is 1)")
      ->type_name("NAME")
      ->group("Data");
  CLI::Option* shape =
      app.add_option("--shape", options->shape, "Rows x columns of the generated matrix")
          ->type_name("RxC")
          ->capture_default_str()
          ->group("Data");
  app.add_option("--output", options->output,
                 "Write the product: CSV if the name ends in .csv, or else NumPy's .npy format")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  app.add_option("--vectors-on", options->vectors_on,
                 "Placement of the vectors. edge: the vector on the first row of the grid, the "
                 "product on the first column; diagonal: both on the diagonal")
      ->type_name("edge|diagonal")
      ->check(one_of({"edge", "diagonal"}))
      ->capture_default_str()
      ->group("What");
  add_application_options(app, options->application, "broadcast, reduce");
  app.footer(
      "The network's dimensions are split into two groups, which form the rows and columns of a "
      "grid as square as possible: mesh:5x3 becomes 5 x 3, and a hypercube of 64 nodes becomes 8 x "
      "8. Node (i, j) holds block (i, j) of the matrix. Each column broadcasts its block of the "
      "vector, each node multiplies, and each row sums its part of the product. Every element is "
      "compared with a product in extended precision. If several processes run, each reads or "
      "generates its part again for this check. The tolerance covers rounding for any order of "
      "summation.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging, combining, host copies, moving data (copying "
      "messages), network and switching (routes, reservations, matching, switching nodes), and "
      "idle time.\n\n"
      "Examples:\n"
      "  wormcube matvec\n"
      "  wormcube matvec --shape 3000x17 --on mesh:6x5 --vectors-on diagonal\n"
      "  wormcube matvec --matrix a.npy --vector x.csv --column x --output y.npy --on hypercube:4\n"
      "  wormcube matvec --on torus:8x8 --algorithm broadcast=binomial,reduce=halving");
  return [options, shape](Context& context) {
    options->shape_given = shape->count() > 0;
    return run(context, *options);
  };
}

}  // namespace wormcube::cli
