// A few algorithms side by side: times by block size, where they cross, and why.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/figures.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

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
/// "crossover: A up to 264 B, B from 272 B on"
std::string crossover_text(const Crossover& crossover, std::span<const ComparedCall> calls);

/// The times of a few algorithms, for one size after another.
class Comparison {
 public:
  /// \param choice   its block size and its bits do not matter
  /// \param names    "bruck", "suh-mesh:order=parity"; without options: the cheapest for each size
  /// \param figures  that decide, and live as long as this; nullptr: formulas
  /// Throws UsageError for names that the operation does not have.
  Comparison(const Choice& choice, std::vector<std::string> names, CallFigures* figures);

  /// Options that depend on the size are not set.
  const std::vector<Collective>& collectives() const { return open_; }
  /// As it was given, but for the name of another library ("nccl.tree"), which it resolves.
  std::string name(std::size_t i) const;
  std::vector<ComparedCall> at(Bytes block_bytes);
  /// Blocks have whole elements.
  Bytes unit() const;
  /// The sizes in (low, high] from which another algorithm is the fastest: by formula, to an
  /// element.
  std::vector<Crossover> crossovers(Bytes low, Bytes high, std::size_t first, std::size_t last);

 private:
  Choice choice_;
  std::vector<std::string> names_;
  CallFigures* figures_;
  Weights weights_;
  std::vector<Collective> open_;
};

/// Why the fastest is faster than the runner-up, from the parts of the modelled times.
/// \param cost  what the times are: "formula", "replay", "measured"
std::vector<std::string> explain(std::span<const ComparedCall> calls, Bytes bytes,
                                 std::string_view cost);

}  // namespace wormcube
