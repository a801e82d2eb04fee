// Whether the tests run under a sanitizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/fiber/sanitizers.hpp"

/// A sanitizer takes 5 to 20 times as long, terabytes of addresses, memory per fiber, and the signals for itself. Tests that
/// walk many sizes stop earlier there: what a sanitizer sees, it sees in small networks.
#if defined(WORMCUBE_ASAN) || defined(WORMCUBE_TSAN)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Walks of hypercubes, and of as many nodes of others, go so far.
inline constexpr int most_dimensions = sanitized ? 7 : 10;
