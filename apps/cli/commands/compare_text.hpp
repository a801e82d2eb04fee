// What `wormcube compare` says about its numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/collectives/harness/choose.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::cli {

/// One algorithm's call with blocks of one size.
struct ComparedCall {
  Collective collective;
  std::string name;  ///< for tables and sentences
  Weighed weighed;
  std::optional<ModelTime> parts;
  std::optional<double> us;  ///< modelled, replayed or measured
  std::string reason;        ///< if there is no time
};

/// The lowest time, the first of equal ones; the number of calls if none has a time.
std::size_t fastest_of(std::span<const ComparedCall> calls);
/// The runner-up's time / the fastest time.
std::optional<double> margin_of(std::span<const ComparedCall> calls);

/// Up to `after` bytes one algorithm is the fastest, from `from` bytes another.
struct Crossover {
  Bytes after, from;
  std::size_t first, next;
  bool exact = false;  ///< no size between them
};
std::string crossover_text(const Crossover& crossover, std::span<const ComparedCall> calls);

/// Why the fastest is faster than the runner-up, from the parts of the modelled times.
/// \param cost  what the times are: "formula", "replay", "measured"
std::vector<std::string> explain(std::span<const ComparedCall> calls, Bytes bytes,
                                 std::string_view cost);

/// A column's head, which may break after hyphens: "reduce- scatter- allgather".
std::string head_of(std::string_view name);

}  // namespace wormcube::cli
