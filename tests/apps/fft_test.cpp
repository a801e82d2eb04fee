// Transforms: the laws of the Fourier transform, the definition's sum, and checks that fail when
// they should.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/parts.hpp"
#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

using Extents = std::vector<std::size_t>;
using Complexes = std::vector<Complex>;

FftResult run(const Topology& topology, Signal signal, const FftOptions& options = {},
              const Exchange& exchange = find_exchange("shift"), const RunOptions& how = {}) {
  return run_fft(proof(topology), exchange, {std::move(signal), options, how});
}

// The bare transform, without its checks.
Complexes transformed(const Topology& topology, const Extents& shape, const Complexes& values,
                      const FftOptions& options = {},
                      const Exchange& exchange = find_exchange("shift")) {
  return run(topology, {shape, values, false, "test"}, options, exchange,
             {.verify = false, .check = false})
      .output;
}

// Rows, then columns, by the sum of the definition.
Complexes transform_2d_by_definition(std::size_t rows, std::size_t columns, Complexes x,
                                     Direction direction) {
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(i * columns);
    std::ranges::copy(
        transform_by_definition({row, row + static_cast<std::ptrdiff_t>(columns)}, direction), row);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    Complexes column;
    for (std::size_t i = 0; i < rows; ++i) column.push_back(x[i * columns + j]);
    column = transform_by_definition(column, direction);
    for (std::size_t i = 0; i < rows; ++i) x[i * columns + j] = column[i];
  }
  return x;
}

const std::vector<std::string> networks{"complete:1", "ring:2",      "line:3",
                                        "mesh:5x3",   "hypercube:3", "torus:4x4"};

}  // namespace

TEST_CASE("a 1-D transform is the sum of the definition, for every method, length and network",
          "[apps][fft]") {
  const auto topology = Topology::parse(GENERATE(from_range(networks)));
  const auto method = GENERATE(FftMethod::six_step, FftMethod::bluestein, FftMethod::automatic);
  const bool inverse = GENERATE(false, true);
  for (const std::size_t length : {1, 2, 3, 4, 6, 7, 8, 12, 13, 16, 30, 31, 47, 64, 97, 120}) {
    CAPTURE(topology.name(), to_string(method), inverse, length);
    const Complexes x = random_values(length, length);
    const Complexes wanted =
        transform_by_definition(x, inverse ? Direction::backward : Direction::forward);
    const Complexes got = transformed(topology, {length}, x, {inverse, method, false});
    CHECK(relative_error(got, wanted) <= fft_tolerance(length, FftMethod::bluestein));
  }
}

TEST_CASE("a 2-D transform is the sum of the definition, for every shape and network",
          "[apps][fft]") {
  const auto topology = Topology::parse(GENERATE(from_range(networks)));
  const bool inverse = GENERATE(false, true);
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {1, 7}, {7, 1}, {5, 3}, {8, 8}, {16, 10}, {13, 11}, {33, 17}}) {
    CAPTURE(topology.name(), inverse, rows, columns);
    const Complexes x = random_values(rows * columns, rows + columns);
    const Complexes wanted = transform_2d_by_definition(
        rows, columns, x, inverse ? Direction::backward : Direction::forward);
    const Complexes got = transformed(topology, {rows, columns}, x, {.inverse = inverse});
    CHECK(relative_error(got, wanted) < fft_tolerance(rows * columns));
  }
}

TEST_CASE("a transform works with every registered exchange", "[apps][fft]") {
  const auto topology =
      Topology::parse(GENERATE("ring:5", "mesh:4x3", "torus:4x4", "hypercube:3", "complete:5"));
  const Complexes x = random_values(240, 4);
  const Complexes wanted = transform_by_definition(x, Direction::forward);
  for (const Exchange& exchange : exchanges(topology)) {
    CAPTURE(topology.name(), exchange.collective.text());
    for (const FftMethod method : {FftMethod::six_step, FftMethod::bluestein}) {
      CHECK(relative_error(transformed(topology, {240}, x, {.method = method}, exchange), wanted) <
            fft_tolerance(240, method));
    }
  }
}

TEST_CASE("an impulse becomes a wave of constant strength", "[apps][fft]") {
  const auto topology = Topology::parse("mesh:3x2");
  const std::size_t length = GENERATE(60, 61), place = GENERATE(0, 1, 59);
  Complexes x(length);
  x[place] = 1;
  const Complexes spectrum = transformed(topology, {length}, x);
  Complexes wave(length);
  for (std::size_t k = 0; k < length; ++k) wave[k] = std::conj(root_of_unity(k * place, length));
  CHECK(relative_error(spectrum, wave) < fft_tolerance(length, FftMethod::bluestein));
}

TEST_CASE("a transform is linear", "[apps][fft]") {
  const auto topology = Topology::parse("torus:3x3");
  const std::size_t length = GENERATE(90, 101);
  const Complexes a = random_values(length, 1), b = random_values(length, 2);
  const Complex s{1.5, -0.5}, t{-0.25, 2};
  Complexes sum(length), wanted(length);
  const Complexes spectrum_a = transformed(topology, {length}, a),
                  spectrum_b = transformed(topology, {length}, b);
  for (std::size_t i = 0; i < length; ++i) {
    sum[i] = s * a[i] + t * b[i];
    wanted[i] = s * spectrum_a[i] + t * spectrum_b[i];
  }
  CHECK(relative_error(transformed(topology, {length}, sum), wanted) <
        fft_tolerance(length, FftMethod::bluestein));
}

TEST_CASE("a shift of the signal turns the phases of the spectrum", "[apps][fft]") {
  const auto topology = Topology::parse("hypercube:3");
  const std::size_t length = GENERATE(96, 89), by = GENERATE(1, 17);
  const Complexes x = random_values(length, 3);
  Complexes shifted(length), wanted = transformed(topology, {length}, x);
  for (std::size_t n = 0; n < length; ++n) shifted[(n + by) % length] = x[n];
  for (std::size_t k = 0; k < length; ++k) wanted[k] *= std::conj(root_of_unity(k * by, length));
  CHECK(relative_error(transformed(topology, {length}, shifted), wanted) <
        fft_tolerance(length, FftMethod::bluestein));
}

TEST_CASE(
    "the spectrum of a real signal is its own mirror image, and the report says it was computed as "
    "complex",
    "[apps][fft]") {
  const std::size_t length = GENERATE(100, 103);
  const FftResult result =
      run(Topology::parse("ring:4"), generate_signal(SignalKind::random_real, {length}, 5));
  Complexes mirrored(length);
  for (std::size_t k = 0; k < length; ++k)
    mirrored[k] = std::conj(result.output[(length - k) % length]);
  CHECK(relative_error(result.output, mirrored) < fft_tolerance(length, FftMethod::bluestein));
  CHECK_THAT(result.remark, Contains("real input, computed as complex"));
}

TEST_CASE("a transform passes its four checks, forward and inverse", "[apps][fft]") {
  const auto topology = Topology::parse(GENERATE("complete:1", "mesh:5x3"));
  const auto shape = GENERATE(Extents{1}, Extents{2}, Extents{360}, Extents{1009}, Extents{4096},
                              Extents{40, 33}, Extents{1, 97});
  const auto kind = GENERATE(SignalKind::random, SignalKind::impulse, SignalKind::tones);
  const bool inverse = GENERATE(false, true);
  CAPTURE(topology.name(), shape, inverse);
  const FftResult result = run(topology, generate_signal(kind, shape, 11), {.inverse = inverse});
  CHECK(result.verified());
  CHECK(result.inverse.error <= result.inverse.tolerance);
  CHECK(result.parseval.error <= result.parseval.tolerance);
  CHECK(result.closed_form.error <= result.closed_form.tolerance);
  CHECK(result.serial.error <= result.serial.tolerance);
  CHECK(result.passed());
}

TEST_CASE("a transform of zeros is zeros, and passes", "[apps][fft]") {
  const FftResult result = run(Topology::parse("ring:3"), {{12}, Complexes(12), true, "zeros"});
  CHECK(result.output == Complexes(12));
  CHECK(result.passed());
  CHECK(strongest_frequency(result.output).bin == 0);
}

TEST_CASE("verdicts are right for values from subnormal numbers to 1e300", "[apps][fft]") {
  const double size = GENERATE(5e-324, 1e-310, 1e-200, 1.0, 1e160, 1e300);
  const auto method = GENERATE(FftMethod::six_step, FftMethod::bluestein);
  const bool inverse = GENERATE(false, true);
  const auto topology = Topology::parse("ring:3");
  Complexes x = random_values(240, 9);
  for (Complex& value : x) value *= size;
  CAPTURE(size, inverse);
  const FftResult result =
      run(topology, {{240}, x, false, "x"}, {.inverse = inverse, .method = method});
  CHECK(result.inverse.error <= result.inverse.tolerance);
  CHECK(result.parseval.error <= result.parseval.tolerance);
  CHECK(result.closed_form.error <= result.closed_form.tolerance);
  CHECK(result.serial.error <= result.serial.tolerance);
  CHECK(result.passed());
  if (size < 1e-300 || size > 1e150) CHECK_THAT(result.remark, Contains("scaled by 2^"));
  // And the values are those of the definition.
  if (size == 1e300) {
    CHECK(relative_error(result.output, transform_by_definition(x, inverse ? Direction::backward
                                                                           : Direction::forward)) <
          1e-12);
  }
}

TEST_CASE("a damaged transform of very large or small values fails its checks", "[apps][fft]") {
  const double size = GENERATE(1e-310, 1e300);
  Complexes x = random_values(90, 2);
  for (Complex& value : x) value *= size;
  CHECK_FALSE(
      run(Topology::parse("ring:3"), {{90}, x, false, "x"}, {}, damaging_exchange()).passed());
}

TEST_CASE("a transform that exceeds the largest number is refused", "[apps][fft]") {
  CHECK_THROWS_WITH(run(Topology::parse("ring:3"), {{12}, Complexes(12, 1.5e308), true, "x"}),
                    Contains("element 0") && Contains("largest double-precision number"));
}

TEST_CASE("Parseval's sums neither overflow nor vanish", "[apps][fft]") {
  for (const double size : {1e-320, 1e-200, 1e200, 1e300}) {
    const Complexes one(1, size), off(1, size * 1.5);
    CHECK(parseval_error(one, one) == 0);
    CHECK(parseval_error(one, off) == Approx(1.25).epsilon(0.01));
  }
}

TEST_CASE("a constant series has no period", "[apps][fft]") {
  for (const double value : {0.0, 0.1, 1e9, 1e-310, 1e300}) {
    const FftResult result =
        run(Topology::parse("ring:3"), {{2820}, Complexes(2820, value), true, "constant"});
    CHECK(result.passed());
    CHECK(strongest_frequency(result.output).bin == 0);
  }
}

TEST_CASE("the sunspot record inside the program is the file's", "[apps][fft]") {
  const Signal inside = sunspot_record(), file = read_signal(sunspots, "sunspots");
  CHECK(inside.shape == Extents{2820});
  CHECK(inside.values == file.values);
  CHECK(inside.real);
}

TEST_CASE("NaN and infinity in the input are refused with their place", "[apps][fft]") {
  const test::TemporaryFile file(".data");
  Complexes x(6, 1);
  x[4] = {0, std::numeric_limits<double>::infinity()};
  write_npy(file.path(), to_array(x, {2, 3}));
  CHECK_THROWS_WITH(read_signal(file.path()),
                    Contains("value 4 (row 1, column 1; from 0)") && Contains("infinite"));
}

TEST_CASE("what a file is, its content says, not its name", "[apps][fft]") {
  const test::TemporaryFile npy(".csv"), csv(".npy", "a,b\n1,2\n3,4\n");
  write_npy(npy.path(), to_array(Complexes{1, 2}, {2}));
  CHECK(read_signal(npy.path()).values == Complexes{1, 2});
  CHECK(read_signal(csv.path(), "b").values == Complexes{2, 4});
}

TEST_CASE("measured plans compute the same", "[apps][fft]") {
  const auto topology = Topology::parse("ring:3");
  const Complexes x = random_values(210, 1);
  CHECK(relative_error(transformed(topology, {210}, x, {.measure = true}),
                       transformed(topology, {210}, x)) < fft_tolerance(210));
}

TEST_CASE(
    "the sunspot record has the same spectrum on every network, with its peak near 130 months",
    "[apps][fft]") {
  const Signal record = read_signal(sunspots, "sunspots");
  const FftResult alone = run(Topology::parse("complete:1"), record);
  CHECK(alone.passed());
  CHECK(alone.method == "six-step, 2820 = 47 x 60");
  const SpectralPeak peak = strongest_frequency(alone.output);
  CHECK(peak.period > 120);
  CHECK(peak.period < 140);
  for (const char* const name : {"torus:8x8", "mesh:5x3", "hypercube:4"}) {
    const auto topology = Topology::parse(name);
    for (const Exchange& exchange : plain_exchanges(topology)) {
      const FftResult result = run(topology, record, {}, exchange);
      CHECK(result.passed());
      CHECK(relative_error(result.output, alone.output) < 1e-12);
      CHECK(strongest_frequency(result.output).bin == peak.bin);
    }
    const FftResult chirped = run(topology, record, {.method = FftMethod::bluestein});
    CHECK(chirped.passed());
    CHECK(relative_error(chirped.output, alone.output) < 1e-12);
  }
}

TEST_CASE("the strongest frequency of a wave is the wave's, not the mean's", "[apps][fft]") {
  const std::size_t length = 96, periods = GENERATE(1, 5, 48);
  Complexes x(length);
  for (std::size_t n = 0; n < length; ++n) x[n] = 100.0 + root_of_unity(n * periods, length).real();
  const SpectralPeak peak =
      strongest_frequency(transformed(Topology::parse("ring:2"), {length}, x));
  CHECK(peak.bin == periods);
  CHECK(peak.period == Approx(static_cast<double>(length) / static_cast<double>(periods)));
  CHECK(peak.magnitude == Approx(periods == 48 ? 96 : 48));
  CHECK(peak.chance < 1e-6);
  CHECK(peak.shortest == Approx(periods == 48 ? 2 : 96.0 / (static_cast<double>(periods) + 1)));
  if (periods == 1) {
    CHECK(std::isinf(peak.longest));
  } else {
    CHECK(peak.longest == Approx(96.0 / (static_cast<double>(periods) - 1)));
  }
  CHECK(strongest_frequency(Complexes(1)).bin == 0);
}

TEST_CASE("where no frequency stands out there is no period", "[apps][fft]") {
  for (const std::size_t length : {2, 3, 16, 1000, 1001}) {
    Complexes impulse(length);
    impulse[length / 3] = 1;
    CAPTURE(length);
    CHECK(strongest_frequency(transformed(Topology::parse("ring:4"), {length}, impulse)).bin == 0);
  }
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Signal noise = generate_signal(SignalKind::random_real, {512}, seed);
    Complexes spectrum = noise.values;
    transform_serially(noise.shape, Direction::forward, spectrum);
    found += strongest_frequency(spectrum).bin != 0 ? 1 : 0;
  }
  CHECK(found <= 4);  // one in a hundred is expected
  // A weak wave in as much noise is found.
  Signal noise = generate_signal(SignalKind::random_real, {512}, 1);
  for (std::size_t n = 0; n < 512; ++n) noise.values[n] += 0.5 * root_of_unity(n * 40, 512).real();
  transform_serially(noise.shape, Direction::forward, noise.values);
  CHECK(strongest_frequency(noise.values).bin == 40);
}

TEST_CASE("each check finds one value that is off", "[apps][fft]") {
  const std::size_t length = 240;
  const Complexes x = random_values(length, 1);
  const Complexes spectrum = transformed(Topology::parse("ring:3"), {length}, x);
  for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
    Complexes off = spectrum;
    off[at] *= 1 + 1e-8;
    CHECK_FALSE(FftCheck{true, relative_error(off, spectrum), fft_tolerance(length)}.passed());
    CHECK_FALSE(FftCheck{true, parseval_error(x, off), fft_tolerance(length)}.passed());
    off[at] = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(FftCheck{true, relative_error(off, spectrum), fft_tolerance(length)}.passed());
    CHECK_FALSE(FftCheck{true, parseval_error(x, off), fft_tolerance(length)}.passed());
    off[at] = std::numeric_limits<double>::infinity();
    CHECK_FALSE(FftCheck{true, relative_error(off, spectrum), fft_tolerance(length)}.passed());
    CHECK_FALSE(FftCheck{true, parseval_error(x, off), fft_tolerance(length)}.passed());
  }
  CHECK_FALSE(FftCheck{true, relative_error(Complexes(3), Complexes(4)), 1}.passed());
  CHECK_FALSE(FftCheck{false, 0, 1}.passed());  // never measured
}

TEST_CASE("errors are those of all values together, measured against eps log2 N", "[apps][fft]") {
  CHECK(rounding_unit(1) == std::numeric_limits<double>::epsilon());
  CHECK(rounding_unit(1024) == 10 * std::numeric_limits<double>::epsilon());
  CHECK(fft_tolerance(1024) == 5 * rounding_unit(1024));
  CHECK(fft_tolerance(1024, FftMethod::bluestein) == 10 * rounding_unit(1024));
  const Complexes three{{3, 0}, {0, 4}};
  CHECK(relative_error(Complexes{{3, 0}, {0, 4.5}}, three) == Approx(0.1));
  CHECK(relative_error(Complexes{{3.3, 0}, {0, 4.4}}, three) == Approx(0.1));
  CHECK(relative_error(three, three) == 0);
  // One strong value does not hide that the others are noise: 1e-9 of it in each of 1000.
  Complexes strong(1000), noisy(1000, 1e-9);
  strong[0] = noisy[0] = 1;
  CHECK(relative_error(noisy, strong) == Approx(1e-9 * std::sqrt(999)));
  // Wherever it comes from: a good transform is far below the limit, ten times worse is above it.
  for (const FftMethod method : {FftMethod::six_step, FftMethod::bluestein}) {
    const FftResult result =
        run(Topology::parse("ring:4"), generate_signal(SignalKind::random, {4096}, 3),
            {.method = method});
    CHECK(result.passed());
    for (const FftCheck* const check : {&result.inverse, &result.closed_form, &result.serial}) {
      CHECK(check->error > 0);
      CHECK(check->error < check->tolerance / 5);
    }
    CHECK(result.serial.tolerance < 1.4e-14 * (method == FftMethod::bluestein ? 2 : 1));
  }
}

TEST_CASE("the closed form of a shifted signal with an impulse holds for a Fourier transform alone",
          "[apps][fft]") {
  const bool inverse = GENERATE(false, true);
  const Direction direction = inverse ? Direction::backward : Direction::forward;
  for (const Extents& shape :
       {Extents{1}, Extents{30}, Extents{31}, Extents{6, 5}, Extents{1, 7}}) {
    const std::size_t columns = shape.back(), rows = shape.size() == 2 ? shape.front() : 1;
    const Complexes x = random_values(rows * columns, 7);
    const auto exact = [&](const Complexes& values) {
      return transform_2d_by_definition(rows, columns, values, direction);
    };
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      CAPTURE(shape, seed, inverse);
      const ShiftAndImpulse probe(shape, x, seed);
      const Complexes probed = probe.applied(x);
      const auto error = [&](auto map) { return probe.error(map(probed), map(x), direction); };
      CHECK(error(exact) < 1e-14);
      if (x.size() == 1) continue;
      // Linear maps that FFTW's own check would call right if FFTW made the same mistake:
      CHECK(error([&](const Complexes& values) {  // one twiddle factor in single precision
              Complexes spectrum = exact(values);
              spectrum[1] *= 1 + 1e-7;
              return spectrum;
            }) > fft_tolerance(x.size()));
      CHECK(error([&](const Complexes& values) {  // twice the spectrum
              Complexes spectrum = exact(values);
              for (Complex& value : spectrum) value *= 2;
              return spectrum;
            }) > 0.1);
      CHECK(error([&](const Complexes& values) {  // the other direction
              return transform_2d_by_definition(rows, columns, values, opposite(direction));
            }) > 0.01);
      CHECK(error([](const Complexes& values) { return values; }) > 0.01);
      CHECK(error([](const Complexes& values) { return Complexes(values.size()); }) > 0.01);
    }
  }
}

TEST_CASE("the checks by parts say the same of the whole, and find what is off", "[apps][fft]") {
  const Runner runner = proof(Topology::parse("ring:3"));
  const auto shape = GENERATE(Extents{240}, Extents{12, 20}, Extents{241});
  const auto direction = GENERATE(Direction::forward, Direction::backward);
  const std::size_t length = count_elements(shape);
  const Complexes x = random_values(length, 1);
  const Complexes spectrum =
      transformed(runner.topology, shape, x, {.inverse = direction == Direction::backward});
  const double tolerance = fft_tolerance(length);
  const Part all{0, length};
  const auto bins = [&](const Complexes& signal, const Complexes& found) {
    return FftCheck{true, bins_error(runner, shape, direction, all, signal, all, found), tolerance}
        .passed();
  };
  CHECK(bins(x, spectrum));
  Complexes off = spectrum;
  for (Complex& value : off) value = std::conj(value);
  CHECK_FALSE(bins(x, off));
  off = spectrum;
  for (Complex& value : off) value *= 1 + 1e-8;
  CHECK_FALSE(bins(x, off));
  off = spectrum;
  std::rotate(off.begin(), off.begin() + 1, off.end());
  CHECK_FALSE(bins(x, off));
  off = x;
  std::swap(off[3], off[5]);
  CHECK_FALSE(bins(off, spectrum));
  off[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(bins(off, spectrum));

  const Complexes &signal = direction == Direction::forward ? x : spectrum,
                  &transform = direction == Direction::forward ? spectrum : x;
  CHECK(parseval_error(runner, length, signal, transform) <= tolerance);
  CHECK(relative_error(runner, spectrum, spectrum) == 0);
  for (const std::size_t at : {std::size_t{0}, length - 1}) {
    off = transform;
    off[at] *= 1 + 1e-8;
    CHECK(relative_error(runner, off, transform) > tolerance);
    CHECK(parseval_error(runner, length, signal, off) > tolerance);
    off[at] = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(FftCheck{true, relative_error(runner, off, transform), tolerance}.passed());
    CHECK_FALSE(FftCheck{true, parseval_error(runner, length, signal, off), tolerance}.passed());
  }
  CHECK_FALSE(FftCheck{true, relative_error(runner, Complexes(3), Complexes(4)), 1}.passed());
}

TEST_CASE("a transform over a damaging exchange fails every check", "[apps][fft]") {
  const auto topology = Topology::parse("mesh:3x2");
  const auto method = GENERATE(FftMethod::six_step, FftMethod::bluestein);
  const FftResult result = run(topology, generate_signal(SignalKind::random, {360}, 1),
                               {.method = method}, damaging_exchange());
  CHECK_FALSE(result.inverse.passed());
  CHECK_FALSE(result.parseval.passed());
  CHECK_FALSE(result.closed_form.passed());
  CHECK_FALSE(result.serial.passed());
  CHECK_FALSE(result.passed());
}

TEST_CASE("a transform that is not verified has not passed", "[apps][fft]") {
  const FftResult result =
      run(Topology::parse("ring:2"), generate_signal(SignalKind::random, {12}, 1), {},
          find_exchange("shift"), {.verify = false});
  CHECK_FALSE(result.verified());
  CHECK_FALSE(result.passed());
}

TEST_CASE("a real transform does what its dry run says", "[apps][fft]") {
  const auto topology = Topology::parse("torus:4x2");
  const auto shape = GENERATE(Extents{100}, Extents{101}, Extents{10, 12});
  for (const Exchange& exchange : plain_exchanges(topology)) {
    std::vector<Schedule> traces, dry;
    Runner runner = tracing_proof(topology, traces);
    const auto trace = runner.run;
    runner.run = [&](const Program& program) {
      dry.push_back(record(topology, program));
      return trace(program);
    };
    run_fft(runner, exchange, {generate_signal(SignalKind::random, shape, 1), {}, {}});
    REQUIRE(traces.size() == 3);  // there and back, and with an impulse
    CHECK(traces == dry);
  }
}

TEST_CASE("the report counts exchanges, and names method, factors and idle nodes", "[apps][fft]") {
  const auto report = [](const char* topology, const Extents& shape,
                         FftMethod method = FftMethod::automatic) {
    return run(Topology::parse(topology), generate_signal(SignalKind::random, shape, 1),
               {.method = method});
  };
  const FftResult six = report("torus:8x8", {2820});
  CHECK(six.method == "six-step, 2820 = 47 x 60");
  CHECK(six.figures.collectives.at(0).calls == 3);
  CHECK(six.figures.block_bytes == 16);
  CHECK(six.figures.padding == 3 * (64 * 64 - 2820) * 16);
  CHECK(six.busy_nodes == 47);
  CHECK_THAT(six.remark, Contains("47 of 64 nodes"));
  REQUIRE(six.figures.schedule);
  CHECK(six.figures.schedule->startups == 3 * 63);  // shift

  const FftResult prime = report("hypercube:3", {2819});
  CHECK(prime.used == FftMethod::bluestein);
  CHECK(prime.method == "bluestein, convolution length 5760 = 72 x 80");
  CHECK(prime.figures.collectives.at(0).calls == 6);
  CHECK(prime.remark.empty());
  CHECK(report("complete:1", {2819}).method == "six-step, 2819 = 1 x 2819");
  CHECK(report("ring:3", {10}).used == FftMethod::six_step);
  CHECK(report("ring:4", {10}).used == FftMethod::six_step);   // 2 of 4 busy, 4 as a convolution
  CHECK(report("ring:5", {94}).used == FftMethod::bluestein);  // 2 x 47, or 192 = 12 x 16
  CHECK(report("torus:8x8", {1000}).used == FftMethod::six_step);  // 25 x 40, or 2000 = 40 x 50

  const FftResult image = report("ring:8", {6, 30});
  CHECK(image.method == "2-D, 6 x 30: rows, transpose, columns, transpose");
  CHECK(image.figures.collectives.at(0).calls == 2);
  CHECK(image.busy_nodes == 6);
}

TEST_CASE("balanced factors are the closest, smooth factors are smooth, close and enough",
          "[apps][fft]") {
  CHECK(balanced_factors(2820) == std::pair<std::size_t, std::size_t>{47, 60});
  CHECK(balanced_factors(1) == std::pair<std::size_t, std::size_t>{1, 1});
  CHECK(balanced_factors(97) == std::pair<std::size_t, std::size_t>{1, 97});
  CHECK(balanced_factors(std::size_t{1} << 20) == std::pair<std::size_t, std::size_t>{1024, 1024});
  const auto is_smooth = [](std::size_t n) {
    for (const std::size_t prime : {2U, 3U, 5U}) {
      while (n % prime == 0) n /= prime;
    }
    return n == 1;
  };
  for (std::size_t n = 1; n < 20000; n += n < 300 ? 1 : 97) {
    const auto [a, b] = smooth_factors(n);
    CAPTURE(n, a, b);
    CHECK(a <= b);
    CHECK(b <= 2 * a);
    CHECK(a * b >= n);
    CHECK(is_smooth(a * b));
    if (n > 100) CHECK(a * b < n + n / 8);
  }
}

TEST_CASE("roots of unity are right to the last places", "[apps][fft]") {
  for (const std::uint64_t order : {1U, 2U, 3U, 4U, 5U, 8U, 47U, 60U, 1000U, 4096U, 65537U}) {
    const Roots roots(order);
    double direct = 0, product = 0;
    for (std::uint64_t t = 0; t < order; ++t) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(t) /
                                static_cast<long double>(order);
      const Complex wanted(static_cast<double>(std::cos(angle)),
                           static_cast<double>(std::sin(angle)));
      direct = std::max(direct, std::abs(root_of_unity(t, order) - wanted));
      product = std::max(product, std::abs(roots(t, Direction::backward) - wanted));
      product = std::max(product, std::abs(roots(t, Direction::forward) - std::conj(wanted)));
    }
    CAPTURE(order);
    CHECK(direct < 1.2e-16);
    CHECK(product < 5e-16);
  }
  CHECK(root_of_unity(1, 4) == Complex(0, 1));  // exact where the circle meets the axes
  CHECK(root_of_unity(2, 4) == Complex(-1, 0));
  CHECK(root_of_unity(3, 4) == Complex(0, -1));
  CHECK(root_of_unity(4, 4) == Complex(1, 0));
}

TEST_CASE("signals are read from .npy and CSV files", "[apps][fft]") {
  const Signal record = read_signal(sunspots, "3");
  CHECK(record.shape == Extents{2820});
  CHECK(record.real);
  CHECK_THAT(record.source, Contains("sunspots.csv (sunspots)"));

  const test::TemporaryFile file(".npy");
  const Complexes x = random_values(6, 1);
  write_npy(file.path(), to_array(x, {2, 3}));
  const Signal image = read_signal(file.path());
  CHECK(image.shape == Extents{2, 3});
  CHECK(image.values == x);
  CHECK_FALSE(image.real);

  write_npy(file.path(), {ElementType::int8, {2}, {std::byte{1}, std::byte{255}}});
  CHECK(read_signal(file.path()).values == Complexes{1, -1});
  CHECK(read_signal(file.path()).real);

  CHECK_THROWS_WITH(read_signal(file.path(), "a"), Contains("column 'a'"));
  write_npy(file.path(), {ElementType::int8, {1, 1, 2}, std::vector<std::byte>(2)});
  CHECK_THROWS_WITH(read_signal(file.path()), Contains("an array of 3 dimensions"));
  write_npy(file.path(),
            to_array(Complexes{1, {0, std::numeric_limits<double>::quiet_NaN()}}, {2}));
  CHECK_THROWS_WITH(read_signal(file.path()), Contains("value 1 (from 0) is not a number"));
}

TEST_CASE("generated signals depend on the seed alone", "[apps][fft]") {
  for (const char* const name : {"random", "random-real", "impulse", "tones"}) {
    const SignalKind kind = parse_signal_kind(name);
    const Signal signal = generate_signal(kind, {8, 9}, 1);
    CHECK(signal.values.size() == 72);
    CHECK(signal.values == generate_signal(kind, {8, 9}, 1).values);
    CHECK(signal.values != generate_signal(kind, {8, 9}, 2).values);
    CHECK_THAT(signal.source, Contains(name) && Contains("seed 1"));
    CHECK(signal.real == (kind != SignalKind::random));
    if (signal.real) {
      CHECK(std::ranges::all_of(signal.values, [](Complex value) { return value.imag() == 0; }));
    }
  }
  CHECK_THROWS_WITH(parse_signal_kind("music"), Contains("music") && Contains("impulse"));
}

TEST_CASE("a transform that cannot be is refused", "[apps][fft]") {
  const auto topology = Topology::parse("ring:3");
  CHECK_THROWS_WITH(run(topology, {{}, {}, false, ""}), Contains("shape"));
  CHECK_THROWS_WITH(run(topology, {{0}, {}, false, ""}), Contains("shape 0"));
  CHECK_THROWS_WITH(run(topology, {{2, 2, 2}, Complexes(8), false, ""}), Contains("2 x 2 x 2"));
  CHECK_THROWS_WITH(run(topology, {{4}, Complexes(3), false, ""}),
                    Contains("3 values for shape 4"));
  CHECK_THROWS_WITH(run(topology, {{std::size_t{1} << 20, std::size_t{1} << 20}, {}, false, ""}),
                    Contains("1048576 x 1048576"));
  CHECK_THROWS_WITH(
      run(topology, {{2, 2}, Complexes(4), false, ""}, {.method = FftMethod::bluestein}),
      Contains("bluestein is for 1-D"));
  CHECK_THROWS_AS(
      run(topology, {{4}, Complexes(4), false, ""}, {}, find_exchange("hypercube-pairwise")),
      UsageError);
  CHECK(parse_fft_method("six-step") == FftMethod::six_step);
  CHECK_THROWS_WITH(parse_fft_method("dct"), Contains("dct") && Contains("bluestein"));
}

TEST_CASE("a transform is priced at 5 n log2 n operations, and its twiddle factors",
          "[apps][fft]") {
  ModelledMachine machine;
  machine.model.rearrange = machine.model.combine = {};
  machine.model.operations = {1, 1};
  const FftResult result = run(Topology::parse("complete:1"), {{64}, Complexes(64), false, "test"},
                               {}, find_exchange("shift"), {.verify = false, .modelled = machine});
  REQUIRE(result.figures.modelled);
  // 64 = 8 x 8: rows of 8 twice, one product for each element between them.
  CHECK(result.figures.modelled->computing == 2 * 5 * 64 * 3 + 6 * 64);
  CHECK(result.figures.modelled->time == result.figures.modelled->computing);
}
