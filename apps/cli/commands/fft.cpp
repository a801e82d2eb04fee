// wormcube fft: a distributed Fourier transform, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/output/print.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/apps/fft/local.hpp"
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/runtime/error.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct FftCommand {
  ApplicationOptions application;
  std::string input, column, shape, generate, output;
  std::string method = "auto";
  bool inverse = false, measure = false;
};

/// The record that `wormcube fft` transforms when it is told nothing else.
bool is_sunspots(const FftCommand& options) {
  return options.input.empty() && options.generate.empty() && options.shape.empty();
}

Signal signal(const FftCommand& options) {
  if (options.input.empty() && !options.column.empty())
    throw UsageError("--column is of a CSV file, and needs --input");
  if (is_sunspots(options)) return sunspot_record();
  if (!options.input.empty()) {
    if (!options.generate.empty() || !options.shape.empty()) {
      throw UsageError(
          "--input brings its own shape; --generate and --shape make data instead of reading it");
    }
    return read_signal(options.input, options.column);
  }
  if (options.shape.empty())
    throw UsageError("--generate needs a --shape, as in --shape 4096 or --shape 512x256");
  return generate_signal(parse_signal_kind(options.generate.empty() ? "random" : options.generate),
                         parse_shape(options.shape, 1, 2), options.application.seed);
}

Json check_json(const FftCheck& check) {
  const auto if_measured = [&](auto value) { return check.measured ? Json(value) : Json(nullptr); };
  Json json;
  put(json, "error", if_measured(check.error), not_verified);
  put(json, "tolerance", if_measured(check.tolerance), not_verified);
  put(json, "passed", if_measured(check.passed()), not_verified);
  return json;
}

void add_check(Table& table, const char* name, const FftCheck& check) {
  if (check.measured) {
    table.add({name, fmt::format("{:.3e}", check.error), fmt::format("{:.3e}", check.tolerance),
               check.passed() ? "yes" : "NO"});
  } else {
    table.add({name, "-", "-", "?"});
  }
}

constexpr const char* no_period = "the series is constant, but for what rounding may cause";

/// Whether a strongest period means something: the forward spectrum of one real series.
bool has_period(const FftCommand& options, const FftJob& job) {
  return job.signal.real && job.signal.shape.size() == 1 && !options.inverse &&
         job.signal.values.size() > 1;
}

void print_result(const FftCommand& options, const FftJob& job, const FftResult& result,
                  const MachineOptions& machine) {
  const OutputOptions& output = options.application.output;
  print_setting(output, "input", job.signal.source);
  print_setting(
      output, "shape",
      fmt::format("{}, {}", shape_text(job.signal.shape), job.signal.real ? "real" : "complex"));
  print_setting(output, "transform",
                fmt::format("{}, {}", options.inverse ? "inverse" : "forward", result.method));
  print_setting(output, "busy nodes",
                fmt::format("{} of {}", result.busy_nodes, result.figures.nodes));
  if (!result.remark.empty()) print_setting(output, "remark", result.remark);
  print_run(options.application, result.figures, machine);
  Table table = figures_table(result.figures);
  if (result.serial.measured) {
    table.add({"serial FFTW on the host", cell_rate(microseconds(result.serial_wall)), "us"});
  }
  print_table(output, table);
  Table checks({{"check", "", true}, {"relative error"}, {"allowed"}, {"passed"}});
  add_check(checks, "inverse gives the input again", result.inverse);
  add_check(checks, "Parseval", result.parseval);
  add_check(checks, "same as a serial FFTW transform", result.serial);
  print_table(output, checks);
  if (has_period(options, job) && output.text()) {
    const SpectralPeak peak = strongest_frequency(result.output);
    if (peak.bin == 0) {
      print(fmt::format("no period: {}\n", no_period));
      return;
    }
    const std::string years =
        is_sunspots(options) ? fmt::format(" months = {:.1f} years", peak.period / 12) : " samples";
    print(fmt::format("strongest period: {:.1f}{} (bin {} of {})\n", peak.period, years, peak.bin,
                      result.output.size()));
  }
}

Json result_json(const FftCommand& options, const FftJob& job, const FftResult& result,
                 const ApplicationRun& run) {
  Json json = run.json(figures_json(result.figures));
  json["input"] = job.signal.source;
  json["shape"] = job.signal.shape;
  json["real"] = job.signal.real;
  json["inverse"] = options.inverse;
  json["method"] = result.method;
  json["busy_nodes"] = result.busy_nodes;
  json["checks"] = {{"inverse", check_json(result.inverse)},
                    {"parseval", check_json(result.parseval)},
                    {"serial", check_json(result.serial)}};
  put(json, "serial_us",
      result.serial.measured ? Json(microseconds(result.serial_wall)) : Json(nullptr),
      not_verified);
  if (has_period(options, job)) {
    const SpectralPeak peak = strongest_frequency(result.output);
    put(json, "peak",
        peak.bin == 0
            ? Json(nullptr)
            : Json{{"bin", peak.bin}, {"period", peak.period}, {"magnitude", peak.magnitude}},
        no_period);
  } else {
    put(json, "peak", nullptr, "only of a forward transform of one real series");
  }
  return json;
}

ExitCode transform(const FftCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(application, "fft", options.input, options.output);
  const Exchange exchange = application.exchange();
  FftJob job{signal(options), {}, run.run_options()};
  job.fft = {options.inverse, parse_fft_method(options.method), options.measure};
  const FftResult result = run.on_machine(
      exchange.all_port(), [&](const Runner& runner) { return run_fft(runner, exchange, job); });
  run.write_output([&] { write_npy(options.output, to_array(result.output, job.signal.shape)); });
  print_result(options, job, result, run.machine());
  return run.finish(result_json(options, job, result, run), verdict(result));
}

}  // namespace

std::string_view fftw_library() { return local_transforms_library(); }

Action add_fft(CLI::App& program) {
  auto options = std::make_shared<FftCommand>();
  CLI::App& app =
      *program.add_subcommand("fft", "Transform a signal or an image on many nodes, and verify it");
  add_input_options(
      app, options->input, options->column,
      "Read a .npy file (1-D or 2-D) or a column of a CSV file; without it: the sunspot record");
  app.add_option("--generate", options->generate,
                 "Make data instead: random, random-real, impulse, tones")
      ->type_name("KIND")
      ->group("Data");
  app.add_option("--shape", options->shape,
                 "The shape of generated data: a length, or rows x columns")
      ->type_name("N|RxC")
      ->group("Data");
  app.add_flag("--inverse", options->inverse, "Transform back, divided by the number of elements")
      ->group("Data");
  app.add_option("--method", options->method,
                 "1-D: auto, six-step (N = R x C), bluestein (any length, as a convolution)")
      ->type_name("METHOD")
      ->capture_default_str()
      ->group("What");
  app.add_option("--output", options->output, "Write the result as complex128 in NumPy's format")
      ->type_name("FILE.npy")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  app.add_flag("--measure-plans", options->measure, "Let FFTW time its plans before the run")
      ->group("Measuring");
  add_application_options(app, options->application);
  app.footer(
      "The nodes share the data by rows. A 1-D transform of N = R x C elements takes six steps: "
      "transpose, local\n"
      "transforms, twiddle factors, transpose, local transforms, transpose; lengths without useful "
      "factors become a\n"
      "convolution (bluestein). A 2-D one: rows, transpose, columns, transpose back. Verified in "
      "three ways: a second\n"
      "distributed run backwards, Parseval's sum, and one serial FFTW transform. Of a real series "
      "the strongest\n"
      "period is printed.\n\n"
      "Times: wall is the whole run; compute, rearrangement (packing, local transposition), "
      "communication (in steps) and\n"
      "host copies are means over the nodes. With more nodes than cores each contains waiting for "
      "a core.\n\n"
      "Examples:\n"
      "  wormcube fft                                          the sunspot record on torus:8x8\n"
      "  wormcube fft --on mesh:5x3 --output spectrum.npy\n"
      "  wormcube fft --shape 2048x2048 --on torus:4x4\n"
      "  wormcube fft --input weather.csv --column temperature --algorithm suh-torus");
  return [options] { return transform(*options); };
}

}  // namespace wormcube::cli
