// wormcube fft: a distributed Fourier transform, verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/fft/local.hpp"
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/runtime/base/error.hpp"

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

/// The record that `wormcube fft` transforms by default.
bool is_sunspots(const FftCommand& options) {
  return options.input.empty() && options.generate.empty() && options.shape.empty();
}

SignalSource signal(const FftCommand& options) {
  if (options.input.empty() && !options.column.empty())
    throw UsageError("--column names a column of a CSV file; add --input FILE.csv");
  if (is_sunspots(options)) return sunspot_record();
  if (!options.input.empty()) {
    if (!options.generate.empty() || !options.shape.empty()) {
      throw UsageError("--input already defines the shape; do not pass --generate or --shape");
    }
    return open_signal(options.input, options.column);
  }
  if (options.shape.empty())
    throw UsageError("--generate needs --shape, as in --shape 4096 or --shape 512x256");
  return made_signal(parse_signal_kind(options.generate.empty() ? "random" : options.generate),
                     parse_shape(options.shape, 1, 2), options.application.seed);
}

constexpr const char* in_parts = "no process has the whole signal; \"bins\" was checked instead";
constexpr const char* in_one =
    "the whole signal is in one process; \"closed_form\" and \"serial\" were checked instead";

/// \param unit        rounding_unit() of the transform
/// \param unmeasured  why it was not measured
Json check_json(const FftCheck& check, double unit, const char* unmeasured = not_verified) {
  const auto if_measured = [&](auto value) { return check.measured ? Json(value) : Json(nullptr); };
  Json json;
  put(json, "error", if_measured(check.error), unmeasured);
  put(json, "error_of_eps_log2_n", if_measured(check.error / unit), unmeasured);
  put(json, "tolerance", if_measured(check.tolerance), unmeasured);
  put(json, "passed", if_measured(check.passed()), unmeasured);
  return json;
}

void add_check(Table& table, const char* name, const char* measure, const FftCheck& check,
               double unit) {
  if (check.measured) {
    table.add({name, measure, cell_error(check.error), fmt::format("{:.2f}", check.error / unit),
               fmt::format("{:.2e}", check.tolerance), check.passed() ? "yes" : "NO"});
  } else {
    table.add({name, measure, "-", "-", "-", "?"});
  }
}

constexpr const char* not_joined =
    "not searched for: more than 1048576 elements in several processes";
constexpr const char* no_period =
    "the series is constant up to rounding, or no frequency stands out from the noise";

/// "128 to 141 months, 10.7 to 11.8 years": as narrow as the bins next to the peak allow.
std::string period_text(const SpectralPeak& peak, bool months) {
  const auto range = [&](double unit) {
    return peak.bin == 1
               ? fmt::format("{:.3g} or more", peak.shortest / unit)
               : fmt::format("{:.3g} to {:.3g}", peak.shortest / unit, peak.longest / unit);
  };
  if (!months) return range(1) + " samples";
  constexpr double of_a_year = 12;
  return fmt::format("{} months, {} years", range(1), range(of_a_year));
}

/// Whether a strongest period is meaningful: the forward spectrum of one real series.
bool has_period(const FftCommand& options, const FftJob& job) {
  return job.signal.real() && job.signal.shape().size() == 1 && !options.inverse &&
         job.signal.elements() > 1;
}

void print_result(const Context& context, const FftCommand& options, const FftJob& job,
                  const FftResult& result, const MachineOptions& machine) {
  const OutputOptions& output = options.application.output;
  print_setting(output, "input", job.signal.source());
  print_setting(output, "shape",
                fmt::format("{}, {}", shape_text(job.signal.shape()),
                            job.signal.real() ? "real" : "complex"));
  print_setting(output, "transform",
                fmt::format("{}, {}", options.inverse ? "inverse" : "forward", result.method));
  print_setting(output, "busy nodes",
                fmt::format("{} of {}", result.busy_nodes, result.figures.nodes));
  if (!result.remark.empty()) print_setting(output, "remark", result.remark);
  print_run(context, options.application, result.figures, machine);
  Table table = figures_table(result.figures);
  if (result.serial.measured) {
    table.add({"serial FFTW on the host", cell_rate(microseconds(result.serial_wall)), "us"});
  }
  print_table(output, table);
  Table checks({{.head = "check", .text = true},
                {.head = "relative error of", .text = true, .drop = 1},
                {.head = "error"},
                {.head = "of eps log2 N"},
                {.head = "allowed"},
                {.head = "passed"}});
  constexpr const char* norm = "all values (L2)";
  const double unit = rounding_unit(job.signal.elements());
  add_check(checks, "inverse restores the input", norm, result.inverse, unit);
  add_check(checks, "Parseval", "the energy", result.parseval, unit);
  if (result.bins.measured) {
    add_check(checks, "8 bins by definition", norm, result.bins, unit);
  } else {
    add_check(checks, "closed form: shift, impulse", norm, result.closed_form, unit);
    add_check(checks, "same as a serial FFTW transform", norm, result.serial, unit);
  }
  print_table(output, checks);
  if (has_period(options, job) && output.text()) {
    if (!result.peak) {
      print_setting(output, "period", not_joined);
      return;
    }
    const SpectralPeak& peak = *result.peak;
    if (peak.bin == 0) {
      print(fmt::format("no period: {}\n", no_period));
      return;
    }
    print(fmt::format("strongest period: {} (bin {} of {})\n",
                      period_text(peak, is_sunspots(options)), peak.bin, job.signal.elements()));
  }
}

Json peak_json(const SpectralPeak& peak) {
  Json json{{"bin", peak.bin},
            {"period", peak.period},
            {"period_shortest", peak.shortest},
            {"magnitude", peak.magnitude},
            {"chance", peak.chance}};
  put(json, "period_longest", peak.bin == 1 ? Json(nullptr) : Json(peak.longest),
      "bin 1: any period longer than the series looks the same");
  return json;
}

Json result_json(const FftCommand& options, const FftJob& job, const FftResult& result,
                 const ApplicationRun& run) {
  Json json = run.json(figures_json(result.figures), result.figures);
  json["input"] = job.signal.source();
  json["shape"] = job.signal.shape();
  json["real"] = job.signal.real();
  json["inverse"] = options.inverse;
  json["method"] = result.method;
  json["busy_nodes"] = result.busy_nodes;
  const double unit = rounding_unit(job.signal.elements());
  const char* const alone = result.bins.measured ? in_parts : not_verified;
  json["checks"] = {
      {"inverse", check_json(result.inverse, unit)},
      {"parseval", check_json(result.parseval, unit)},
      {"closed_form", check_json(result.closed_form, unit, alone)},
      {"serial", check_json(result.serial, unit, alone)},
      {"bins", check_json(result.bins, unit, result.serial.measured ? in_one : not_verified)}};
  put(json, "serial_us",
      result.serial.measured ? Json(microseconds(result.serial_wall)) : Json(nullptr), alone);
  if (has_period(options, job) && !result.peak) {
    put(json, "peak", nullptr, not_joined);
  } else if (has_period(options, job)) {
    const SpectralPeak& peak = *result.peak;
    put(json, "peak", peak.bin == 0 ? Json(nullptr) : peak_json(peak), no_period);
  } else {
    put(json, "peak", nullptr, "only for a forward transform of one real series");
  }
  return json;
}

ExitCode transform(Context& context, const FftCommand& options) {
  const ApplicationOptions& application = options.application;
  ApplicationRun run(context, application, "fft", options.input, options.output);
  const Exchange exchange = application.exchange(context);
  FftJob job{signal(options), {}, run.run_options()};
  job.fft = {options.inverse, parse_fft_method(options.method), options.measure};
  const FftResult result = run.on_machine(
      exchange.all_port(), [&](const Runner& runner) { return run_fft(runner, exchange, job); });
  run.write_output([&] {
    write_npy(run.runner(), options.output, ElementType::complex128, job.signal.shape(),
              result.here, std::as_bytes(std::span(result.output)));
  });
  print_result(context, options, job, result, run.machine());
  return run.finish(result_json(options, job, result, run), verdict(result));
}

}  // namespace

std::string_view fftw_library() { return local_transforms_library(); }

Action add_fft(CLI::App& program) {
  auto options = std::make_shared<FftCommand>();
  CLI::App& app = *program.add_subcommand(
      "fft",
      "Compute the Fourier transform of a signal or an image on many nodes, and verify the result");
  add_input_options(
      app, options->input, options->column,
      "Read a 1-D or 2-D .npy file, or a column of a CSV file (default: the sunspot record)");
  app.add_option("--generate", options->generate,
                 "Generate data instead: random, random-real, impulse or tones")
      ->type_name("KIND")
      ->group("Data");
  app.add_option("--shape", options->shape,
                 "Shape of the generated data: a length, or rows x columns")
      ->type_name("N|RxC")
      ->group("Data");
  app.add_flag("--inverse", options->inverse,
               "Compute the inverse transform, divided by the number of elements")
      ->group("Data");
  app.add_option("--method", options->method,
                 "Method for 1-D transforms: auto, six-step (N = R x C) or bluestein (any length, "
                 "by convolution)")
      ->type_name("METHOD")
      ->capture_default_str()
      ->group("What");
  app.add_option("--output", options->output, "Write the result as complex128 to a .npy file")
      ->type_name("FILE.npy")
      ->check(file_name())
      ->group("Data");
  add_overwrite_flag(app, options->application);
  app.add_flag("--measure-plans", options->measure, "Let FFTW measure its plans before the run")
      ->group("Measuring");
  add_application_options(app, options->application);
  app.footer(
      "The data is distributed over the nodes by rows. A 1-D transform of N = R x C elements has "
      "six steps: transpose, local transforms, twiddle factors, transpose, local transforms, "
      "transpose. Transforms whose lengths have no useful factors are computed as a convolution "
      "(bluestein). A 2-D transform transforms the rows, transposes, transforms the columns, and "
      "transposes back.\n\n"
      "Four checks verify the result. A second distributed run computes the inverse transform, "
      "which must restore the input. The energies of the input and the result must be equal "
      "(Parseval). A third run transforms a shifted input with an added impulse, and must match "
      "the closed form. A serial FFTW transform must give the same result. Errors are relative L2 "
      "norms over all values; they are also shown in units of eps log2 N. Rounding alone causes a "
      "fraction of a unit, and 5 units are allowed (bluestein: 10). For a real series, the "
      "strongest period is printed if it stands out from the noise (Fisher's test at the 1 % "
      "level). The period is given as a range, as narrow as the length of the series allows.\n\n"
      "Times: wall time covers the whole run. Its parts are core times, which add up to cores x "
      "wall time. They are: computing, rearranging (packing, local transposition), combining, "
      "host copies, moving data (copying messages), network and switching (routes, reservations, "
      "matching, switching nodes), and idle time.\n\n"
      "Examples:\n"
      "  wormcube fft                                          the sunspot record on torus:8x8\n"
      "  wormcube fft --on mesh:5x3 --output spectrum.npy\n"
      "  wormcube fft --shape 2048x2048 --on torus:4x4\n"
      "  wormcube fft --input weather.csv --column temperature --algorithm suh-torus");
  return [options](Context& context) { return transform(context, *options); };
}

}  // namespace wormcube::cli
