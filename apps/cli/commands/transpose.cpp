// wormcube transpose: a distributed matrix transposition, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/apps/transpose/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct TransposeCommand {
  ApplicationOptions application;
  std::string input, shape = "1024x768", type = "double", output;
  const CLI::Option *shape_option = nullptr, *type_option = nullptr;
};

Source transposed_matrix(const TransposeCommand& options) {
  if (!options.input.empty()) {
    if (options.shape_option->count() + options.type_option->count() > 0)
      throw UsageError("--input already defines shape and type; do not pass --shape or --type");
    Source array = open_npy(options.input);
    if (array.shape().size() != 2) {
      throw UsageError(fmt::format("{}: an array of {} dimension{}; transpose needs 2",
                                   options.input, array.shape().size(),
                                   array.shape().size() == 1 ? "" : "s"));
    }
    return array;
  }
  const auto shape = parse_shape(options.shape, 2, 2);
  const ElementType type = parse_element_type(options.type);
  return made_array(type, shape, options.application.seed);
}

void print_result(const Context& context, const TransposeCommand& options, const TransposeJob& job,
                  const TransposeResult& result, const MachineOptions& machine, double rate) {
  const OutputOptions& output = options.application.output;
  print_setting(
      output, "matrix",
      fmt::format("{} of {}, {}", shape_text(job.matrix.shape()), to_string(job.matrix.type()),
                  options.input.empty()
                      ? fmt::format("generated, seed {}", options.application.seed)
                      : options.input));
  print_run(context, options.application, result.figures, machine);
  Table table = figures_table(result.figures);
  table.add({"rate", cell_rate(rate), "GB/s of the matrix"});
  table.add({"wrong elements", result.wrong ? std::to_string(*result.wrong) : "?",
             result.wrong ? "" : "(--no-verify)"});
  print_table(output, table);
}

ExitCode run(Context& context, const TransposeCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(context, application, "transpose", options.input, options.output);
  const Exchange exchange = application.exchange(context);
  const TransposeJob job{transposed_matrix(options), run.run_options()};
  const TransposeResult result = run.on_machine(exchange.all_port(), [&](const Runner& runner) {
    return run_transpose(runner, exchange, job);
  });
  const std::vector<std::size_t>& shape = job.matrix.shape();
  const std::size_t bytes = job.matrix.elements() * bytes_of(job.matrix.type());
  const double rate = per_microsecond(bytes, result.figures.wall) / 1000;
  run.write_output([&] {
    write_npy(run.runner(), options.output, job.matrix.type(), {shape[1], shape[0]}, result.here,
              result.transposed.data);
  });
  print_result(context, options, job, result, run.machine(), rate);

  Json json = run.json(figures_json(result.figures), result.figures);
  json["shape"] = shape;
  json["type"] = to_string(job.matrix.type());
  json["input"] = options.input.empty() ? "generated" : options.input;
  json["gb_per_s"] = rate;
  put(json, "wrong", result.wrong ? Json(*result.wrong) : Json(nullptr), not_verified);
  return run.finish(std::move(json), verdict(result));
}

}  // namespace

Action add_transpose(CLI::App& program) {
  auto options = std::make_shared<TransposeCommand>();
  CLI::App& app = *program.add_subcommand(
      "transpose", "Transpose a matrix distributed by rows, and verify the result");
  app.add_option("--input", options->input,
                 "Read the matrix from a 2-D .npy file instead of generating one")
      ->type_name("FILE.npy")
      ->check(file_name())
      ->group("Data");
  options->shape_option =
      app.add_option("--shape", options->shape, "Rows x columns of the generated matrix")
          ->type_name("RxC")
          ->capture_default_str()
          ->group("Data");
  options->type_option = app.add_option("--type", options->type,
                                        "Element type of the generated matrix: float, double, "
                                        "complex, or a NumPy name (int32, complex64, ...)")
                             ->type_name("TYPE")
                             ->capture_default_str()
                             ->group("Data");
  app.add_option("--output", options->output, "Write the transposed matrix to a .npy file")
      ->type_name("FILE.npy")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  add_application_options(app, options->application);
  app.footer(
      "Each node holds a share of the rows, and each pair of nodes exchanges one block. If there "
      "are "
      "more nodes than rows, some nodes have no rows. Every element of the result is compared with "
      "the original, bit for bit.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging (packing, local transposition), combining, "
      "host copies, moving data (copying messages), network and switching (routes, reservations, "
      "matching, switching nodes), and idle time.\n\n"
      "Examples:\n"
      "  wormcube transpose\n"
      "  wormcube transpose --shape 3000x17 --type complex --on mesh:6x5\n"
      "  wormcube transpose --input a.npy --output b.npy --on hypercube:4 --algorithm shift");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace wormcube::cli
