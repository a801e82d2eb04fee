// `wormcube fft`: a signal of the host, transformed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/apps/fft/signal.hpp"
#include "wormcube/apps/fft/verify.hpp"
#include "wormcube/apps/io/complex.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

/// A longer spectrum in several processes is not gathered to find its strongest period.
inline constexpr std::size_t longest_joined = std::size_t{1} << 20;

struct FftJob {
  SignalSource signal;
  FftOptions fft = {};
  RunOptions options = {};
};

struct FftResult {
  RunFigures figures;
  std::vector<Complex> output;  ///< natural order: the elements that this process's nodes have
  Part here;                    ///< which elements of the whole they are
  /// "six-step, 2820 = 47 x 60", "bluestein, convolution length 5625 = 75 x 75", "2-D, ...".
  std::string method;
  FftMethod used = FftMethod::automatic;  ///< of a 1-D transform
  std::string remark;    ///< idle nodes, real input computed as complex; may be empty
  Rank busy_nodes = 0;   ///< that have rows in every phase
  FftCheck inverse;      ///< a second distributed run, the inverse, gives the input again
  FftCheck parseval;     ///< sum |X|^2 = N sum |x|^2
  FftCheck closed_form;  ///< a third run, with the input shifted and an impulse: ShiftAndImpulse
  FftCheck serial;       ///< against one FFTW transform on the host, which does the local ones too
  FftCheck bins;         ///< some bins against the definition's sum, if several processes share
                         ///< the signal and none could hold it, instead of the two before
  /// For a 1-D forward transform; also empty if several processes share more than longest_joined.
  std::optional<SpectralPeak> peak;
  std::chrono::nanoseconds serial_wall{0};  ///< of that transform, planning excluded

  bool verified() const {
    return inverse.measured && parseval.measured &&
           (bins.measured || (closed_form.measured && serial.measured));
  }
  bool passed() const {
    return inverse.passed() && parseval.passed() &&
           (bins.measured ? bins.passed() : closed_form.passed() && serial.passed());
  }
};

/// Each process reads, holds and verifies what its nodes have.
/// Throws UsageError before anything runs: an impossible shape, values that are not finite, an
/// exchange that does not apply here, too little memory.
FftResult run_fft(Machine& machine, const Exchange& exchange, const FftJob& job);
FftResult run_fft(const Runner& runner, const Exchange& exchange, const FftJob& job);

}  // namespace wormcube::apps
