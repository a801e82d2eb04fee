// `wormcube fft`: a signal of the host, transformed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/run.hpp"

#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/fft/fft.hpp"
#include "wormcube/apps/fft/parts.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/faults.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

// A plan, an exchange and the host's share of the time: what all runs of one job share.
class Transform {
 public:
  Transform(const Runner& runner, const Exchange& exchange, const FftPlan& plan)
      : runner_(runner),
        exchange_(exchange),
        plan_(plan),
        host_(static_cast<std::size_t>(runner.topology.nodes())) {}

  /// This process's elements before and after.
  Part input() const {
    return part_here(runner_, [&](Rank r) { return as_part(plan_.input(r)); });
  }
  Part output() const {
    return part_here(runner_, [&](Rank r) { return as_part(plan_.output(r)); });
  }

  /// \param from, to  those parts
  Program program(Direction direction, std::span<const Complex> from, std::span<Complex> to) {
    return [this, direction, from, to, first_in = input().first,
            first_out = output().first](Node& node) {
      const auto input = plan_.input(node.rank()), output = plan_.output(node.rank());
      const Memory data = node.memory(plan_.buffer_bytes(node.rank()));
      Clock::duration& host = host_[static_cast<std::size_t>(node.rank())];
      node.local([&] {
        const auto start = Clock::now();
        copy(std::as_bytes(from.subspan(input.first - first_in, input.count)),
             data.subspan(0, input.count * sizeof(Complex)));
        host = Clock::now() - start;
      });
      fft(node, exchange_, plan_, direction, data);
      node.local([&] {
        const auto start = Clock::now();
        copy(data.subspan(0, output.count * sizeof(Complex)),
             std::as_writable_bytes(to.subspan(output.first - first_out, output.count)));
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

 private:
  static Part as_part(FftPlan::Slice slice) { return {slice.first, slice.count}; }

  const Runner& runner_;
  const Exchange& exchange_;
  const FftPlan& plan_;
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

/// What the host holds besides the input: the result, its reference, and FFTW's own arrays for
/// that: twiddle factors and a buffer, and for a large prime factor those of a convolution.
/// Measured with FFTW 3.3.10, length 2^20.
double host_bytes(std::span<const std::size_t> shape, bool verify) {
  const auto array = static_cast<double>(count_elements(shape) * sizeof(Complex));
  if (!verify) return array;
  constexpr double compared = 1, transform = 2;
  double of_factors = 0;
  for (const std::size_t size : shape) of_factors = std::max(of_factors, convolution_bytes(size));
  return (1 + compared + transform) * array + of_factors;
}

std::string remark_on(bool real, const FftPlan& plan, Rank nodes) {
  std::vector<std::string> parts;
  if (real) parts.emplace_back("real input, computed as complex");
  if (plan.busy_nodes() < nodes) {
    parts.push_back(
        fmt::format("{} of {} nodes have rows in every phase", plan.busy_nodes(), nodes));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

FftCheck check_serial(std::span<const std::size_t> shape, std::span<const Complex> input,
                      Direction direction, double tolerance, FftResult& result) {
  std::vector<Complex> wanted(input.begin(), input.end());
  const double seconds = transform_serially(shape, direction, wanted);
  result.serial_wall =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  if (direction == Direction::backward) {
    for (Complex& value : wanted) value /= static_cast<double>(wanted.size());
  }
  return {true, relative_error(result.output, wanted), tolerance};
}

/// One run of one job, on this process's part.
class Job {
 public:
  Job(const Runner& runner, const Exchange& exchange, const FftJob& job)
      : runner_(runner),
        job_(job),
        shape_(job.signal.shape()),
        plan_(shape_, job.fft, runner.topology.nodes()),
        exchange_(resolve(exchange, runner.topology,
                          plan_.matrix().padded_block_bytes(runner.topology.nodes()))),
        direction_(job.fft.inverse ? Direction::backward : Direction::forward),
        transform_(runner, exchange_, plan_),
        in_(transform_.input()) {
    result_.here = transform_.output();
  }

  FftResult run() {
    load();
    const int exponent = extreme_exponent(maximum(runner_, largest_component(input_)));
    if (exponent != 0) scale_input(-exponent);
    result_.method = plan_.description();
    result_.used = plan_.method();
    result_.busy_nodes = plan_.busy_nodes();
    result_.remark = remark_on(job_.signal.real(), plan_, runner_.topology.nodes());
    result_.figures =
        transform_.measured(job_.options, transform_.program(direction_, input_, result_.output));
    if (job_.options.verify) verify();
    if (exponent != 0) scale_output(exponent);
    if (plan_.is_1d() && direction_ == Direction::forward) result_.peak = find_peak();
    return std::move(result_);
  }

 private:
  void load() {
    const auto what =
        fmt::format("fft of {} on {} nodes", fmt::join(shape_, " x "), runner_.topology.nodes());
    job_.options.tell("memory");
    in_all_processes(runner_, [&] {
      const auto bytes = [](Part part) {
        return static_cast<double>(part.count) * sizeof(Complex);
      };
      const double own = job_.signal.is_in_memory() ? 0 : bytes(in_);
      const bool verify = job_.options.verify;
      const double beside = holds_all(runner_) ? host_bytes(shape_, verify)
                                               : bytes(result_.here) + (verify ? bytes(in_) : 0);
      require_memory_to_run(what, runner_, own + beside, transform_.program(direction_, {}, {}));
      job_.options.tell("input");
      input_ = job_.signal.load(in_, room_);
      require_finite(shape_, job_.signal.source(), in_.first, input_);
      result_.output.resize(result_.here.count);
    });
  }

  // A transform is linear and a power of two is exact: transform and verify at ordinary size.
  void scale_input(int exponent) {
    if (room_.empty()) room_.assign(input_.begin(), input_.end());
    scale(room_, exponent);
    input_ = room_;
  }

  void scale_output(int exponent) {
    scale(result_.output, exponent);
    in_all_processes(runner_, [&] {
      const auto lost = std::ranges::find_if_not(result_.output, [](Complex value) {
        return std::isfinite(value.real()) && std::isfinite(value.imag());
      });
      if (lost == result_.output.end()) return;
      throw UsageError(fmt::format(
          "fft: element {} of the transform is larger than the largest double-precision number; "
          "divide the input by its number of elements",
          result_.here.first + static_cast<std::size_t>(lost - result_.output.begin())));
    });
    result_.remark += fmt::format("{}computed and verified with the input scaled by 2^{}",
                                  result_.remark.empty() ? "" : "; ", -exponent);
  }

  void verify() {
    const double tolerance = fft_tolerance(plan_.elements(), result_.used);
    {
      job_.options.tell("the inverse transform");
      FftOptions options = job_.fft;
      options.method = plan_.method();
      options.turned = true;  // from the result's place to the input's
      const FftPlan back(shape_, options, runner_.topology.nodes());
      Transform inverse(runner_, exchange_, back);
      std::vector<Complex> again(in_.count);
      runner_.run(inverse.program(opposite(direction_), result_.output, again));
      result_.inverse = {true, relative_error(runner_, again, input_), tolerance};
    }
    const std::span<const Complex> output = result_.output;
    const bool inverse = direction_ == Direction::backward;
    result_.parseval = {true,
                        parseval_error(runner_, plan_.elements(), inverse ? output : input_,
                                       inverse ? input_ : output),
                        tolerance};
    if (holds_all(runner_)) {
      verify_alone(tolerance);
    } else {
      job_.options.tell("some bins by the definition");
      result_.bins = {true,
                      bins_error(runner_, shape_, direction_, in_, input_, result_.here, output),
                      tolerance};
    }
  }

  /// The checks that need the whole arrays.
  void verify_alone(double tolerance) {
    {
      job_.options.tell("a shifted signal with an impulse");
      const ShiftAndImpulse probe(shape_, input_, input_.size());
      const std::vector<Complex> probed = probe.applied(input_);
      std::vector<Complex> spectrum(input_.size());
      runner_.run(transform_.program(direction_, probed, spectrum));
      result_.closed_form = {true, probe.error(spectrum, result_.output, direction_), tolerance};
    }
    job_.options.tell("one serial transform");
    result_.serial = check_serial(shape_, input_, direction_, tolerance, result_);
  }

  /// Of a spectrum that no process has whole, if it is short enough to be gathered.
  std::optional<SpectralPeak> find_peak() const {
    if (holds_all(runner_)) return strongest_frequency(result_.output);
    if (plan_.elements() > longest_joined) return {};
    std::vector<Complex> whole(plan_.elements());
    const Part here = result_.here;
    std::ranges::copy(result_.output, whole.begin() + static_cast<std::ptrdiff_t>(here.first));
    runner_.processes->join(std::as_writable_bytes(std::span(whole)), here.first * sizeof(Complex),
                            here.end() * sizeof(Complex));
    return strongest_frequency(whole);
  }

  const Runner& runner_;
  const FftJob& job_;
  const std::vector<std::size_t> shape_;
  FftPlan plan_;
  Exchange exchange_;
  Direction direction_;
  Transform transform_;
  Part in_;
  std::vector<Complex> room_;
  std::span<const Complex> input_;
  FftResult result_;
};

}  // namespace

FftResult run_fft(const Runner& runner, const Exchange& exchange, const FftJob& job) {
  const Activity activity("fft");
  return Job(runner, exchange, job).run();
}

FftResult run_fft(Machine& machine, const Exchange& exchange, const FftJob& job) {
  return run_fft(on(machine), exchange, job);
}

}  // namespace wormcube::apps
