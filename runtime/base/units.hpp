// Bytes and figures as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wormcube {

/// "12.3 GiB", "512 MiB", "17 B": three digits.
std::string memory_text(double bytes);
/// "4 KiB", "1.50 GiB", "100 B": whole numbers as they are, others with two decimals.
std::string bytes_text(double bytes);

/// Four significant digits without an exponent from 1e-4 on, as times and rates need.
std::string figure_text(double value);
/// The same; a whole number as it is.
std::string count_text(double value);

}  // namespace wormcube
