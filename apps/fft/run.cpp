// `wormcube fft`: a signal of the host, transformed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/run.hpp"

#include "wormcube/apps/fft/fft.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/faults.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

// A plan, an exchange and the host's share of the time: what all runs of one job have in common.
class Transform {
 public:
  Transform(const Runner& runner, const Exchange& exchange, const FftPlan& plan)
      : runner_(runner),
        exchange_(exchange),
        plan_(plan),
        host_(static_cast<std::size_t>(runner.topology.nodes())) {}

  Program program(Direction direction, std::span<const Complex> from, std::span<Complex> to) {
    return [this, direction, from, to](Node& node) {
      const auto input = plan_.input(node.rank()), output = plan_.output(node.rank());
      const Memory data = node.memory(plan_.buffer_bytes(node.rank()));
      Clock::duration& host = host_[static_cast<std::size_t>(node.rank())];
      node.local([&] {
        const auto start = Clock::now();
        copy(std::as_bytes(from.subspan(input.first, input.count)),
             data.subspan(0, input.count * sizeof(Complex)));
        host = Clock::now() - start;
      });
      fft(node, exchange_, plan_, direction, data);
      node.local([&] {
        const auto start = Clock::now();
        copy(data.subspan(0, output.count * sizeof(Complex)),
             std::as_writable_bytes(to.subspan(output.first, output.count)));
        host += Clock::now() - start;
      });
    };
  }

  RunFigures measured(const RunOptions& options, const Program& program) {
    const Rank p = runner_.topology.nodes();
    RunFigures known;
    const auto transpositions = plan_.transpositions();
    known.collectives = {
        UsedCollective(exchange_.collective, static_cast<int>(transpositions.size()))};
    for (const MatrixShape& matrix : transpositions) {
      known.block_bytes = std::max(known.block_bytes, matrix.padded_block_bytes(p));
      known.padding += matrix.padding(exchange_, p);
    }
    return measure(runner_, options, program, std::move(known),
                   [&] { return sum(runner_, host_) / p; });
  }

  /// Where nodes live in several processes: the output of all of them.
  void join_output(std::span<Complex> output) const {
    join(runner_, std::as_writable_bytes(output), [&](Rank rank) {
      const auto rows = plan_.output(rank);
      return std::pair(rows.first * sizeof(Complex), (rows.first + rows.count) * sizeof(Complex));
    });
  }

 private:
  const Runner& runner_;
  const Exchange& exchange_;
  const FftPlan& plan_;
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

std::size_t largest_prime_factor(std::size_t n) {
  std::size_t largest = 1;
  for (std::size_t factor = 2; factor * factor <= n; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return std::max(largest, n);
}

/// What the host holds beside the input: the result, what it is compared with, and FFTW's own arrays
/// for that: twiddle factors and a buffer, and for a large prime factor those of a convolution.
/// Measured with FFTW 3.3.10, lengths 2^20 and 524287.
double host_bytes(const Signal& signal, bool verify) {
  const auto array = static_cast<double>(signal.values.size() * sizeof(Complex));
  if (!verify) return array;
  constexpr double compared = 1, transform = 2, convolution = 9;
  constexpr std::size_t largest_direct = 173;
  double of_factors = 0;
  for (const std::size_t size : signal.shape) {
    if (const std::size_t factor = largest_prime_factor(size); factor > largest_direct)
      of_factors =
          std::max(of_factors, convolution * sizeof(Complex) * static_cast<double>(factor));
  }
  return (1 + compared + transform) * array + of_factors;
}

std::string remark_on(const Signal& signal, const FftPlan& plan, Rank nodes) {
  std::vector<std::string> parts;
  if (signal.real) parts.emplace_back("real input, computed as complex");
  if (plan.busy_nodes() < nodes) {
    parts.push_back(
        fmt::format("{} of {} nodes have rows in every phase", plan.busy_nodes(), nodes));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

FftCheck check_serial(const FftJob& job, Direction direction, double tolerance, FftResult& result) {
  std::vector<Complex> wanted = job.signal.values;
  const double seconds = transform_serially(job.signal.shape, direction, wanted);
  result.serial_wall =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  if (direction == Direction::backward) {
    for (Complex& value : wanted) value /= static_cast<double>(wanted.size());
  }
  return {true, relative_error(result.output, wanted), tolerance};
}

/// run_fft for values of ordinary size.
FftResult run_ordinary(const Runner& runner, const Exchange& exchange, const FftJob& job) {
  const std::vector<Complex>& input = job.signal.values;
  const Rank p = runner.topology.nodes();
  const FftPlan plan(job.signal.shape, job.fft, p);
  const Exchange resolved = resolve(exchange, runner.topology, plan.matrix().padded_block_bytes(p));

  const Direction direction = job.fft.inverse ? Direction::backward : Direction::forward;
  const auto what = fmt::format("fft of {} on {} nodes", fmt::join(job.signal.shape, " x "), p);
  Transform transform(runner, resolved, plan);
  job.options.tell("memory");
  require_memory_to_run(what, runner, host_bytes(job.signal, job.options.verify),
                        transform.program(direction, input, {}));
  FftResult result;
  result.method = plan.description();
  result.used = plan.method();
  result.busy_nodes = plan.busy_nodes();
  result.remark = remark_on(job.signal, plan, p);
  result.output.resize(input.size());

  result.figures =
      transform.measured(job.options, transform.program(direction, input, result.output));
  transform.join_output(result.output);
  if (!job.options.verify) return result;

  const double tolerance = fft_tolerance(input.size(), result.used);
  {
    job.options.tell("the inverse transform");
    std::vector<Complex> again(input.size());
    runner.run(transform.program(opposite(direction), result.output, again));
    transform.join_output(again);
    result.inverse = {true, relative_error(again, input), tolerance};
  }
  const bool inverse = job.fft.inverse;
  result.parseval = {
      true, parseval_error(inverse ? result.output : input, inverse ? input : result.output),
      tolerance};
  {
    job.options.tell("a shifted signal with an impulse");
    const ShiftAndImpulse probe(job.signal.shape, input, input.size());
    const std::vector<Complex> probed = probe.applied(input);
    std::vector<Complex> spectrum(input.size());
    runner.run(transform.program(direction, probed, spectrum));
    transform.join_output(spectrum);
    result.closed_form = {true, probe.error(spectrum, result.output, direction), tolerance};
  }
  job.options.tell("one serial transform");
  result.serial = check_serial(job, direction, tolerance, result);
  return result;
}

}  // namespace

FftResult run_fft(const Runner& runner, const Exchange& exchange, const FftJob& job) {
  const Activity activity("fft");
  require_signal(job.signal);
  const int exponent = extreme_exponent(job.signal.values);
  if (exponent == 0) return run_ordinary(runner, exchange, job);
  // A transform is linear and a power of two is exact: transform and verify at ordinary size.
  FftJob scaled = job;
  scale(scaled.signal.values, -exponent);
  FftResult result = run_ordinary(runner, exchange, scaled);
  scale(result.output, exponent);
  if (const auto lost = std::ranges::find_if_not(
          result.output,
          [](Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); });
      lost != result.output.end()) {
    throw UsageError(
        fmt::format("fft: element {} of the transform is larger than the largest number of double "
                    "precision; divide the input by its number of elements",
                    lost - result.output.begin()));
  }
  result.remark += fmt::format("{}computed and verified with the input times 2^{}",
                               result.remark.empty() ? "" : "; ", -exponent);
  return result;
}

FftResult run_fft(Machine& machine, const Exchange& exchange, const FftJob& job) {
  return run_fft(on(machine), exchange, job);
}

}  // namespace wormcube::apps
