// The number that transforms compute with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

namespace wormcube::apps {

using Complex = std::complex<double>;

/// a * b without the standard's care for infinities, which costs a test for each product.
inline Complex multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace wormcube::apps
