// A ranking for one block size, by whatever decides, and who wins at which sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/near_winners.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// An algorithm with the options of lowest modelled time.
struct Contestant {
  Priced priced;
  std::optional<CallFigures::Answer> answer;  // empty: the formulas alone rank, or have no time
  std::optional<double> us;                   // what decides, as CallFigures::shown() has it
  bool first_by_formula = false;
  bool by_formula = true;
  bool is_near_winner = false;  // replayed although the formulas rank
  const Collective& collective() const { return priced.collective; }
  /// How `us` includes contention: replays, emulation and measurements contain it.
  Contention contention() const {
    return by_formula ? priced.weighed.contention : Contention::counted;
  }
  bool at_least() const { return by_formula && priced.weighed.at_least(); }
  bool is_comparable() const { return us && contention() != Contention::unknown; }
};

/// The ranking for one block size: the algorithms with formulas, best first, by standing().
struct Contest {
  Bytes block_bytes;
  std::vector<Contestant> ranked;

  bool has_winner() const { return !ranked.empty() && ranked.front().us.has_value(); }
  const Contestant& winner() const { return ranked.front(); }
  /// Those that are as fast as the winner.
  std::vector<std::string> ties() const;
  /// The formulas' choice; nullptr if it has no replay, or was not measured.
  const Contestant* by_formula() const;
  /// Its time / the winner's time; 1 if they are the same, or equally fast.
  std::optional<double> formula_ratio() const;
  /// The runner-up's time / the winner's time.
  std::optional<double> margin() const;
  /// Those with unknown contention that would beat the winner without any.
  std::vector<std::string_view> unknown() const;
};

/// The contest of these, as ranking() returns them: by formula, and by replay those near the
/// lowest; or by the figures of those that have formulas.
/// \param figures  nullptr: formulas, and `near` unless it is nullptr
/// \param needed   how many of the lowest figures are needed
Contest contest_of(std::vector<Priced> ranked, Bytes block_bytes, Ports ports, CallFigures* figures,
                   NearWinners* near, std::size_t needed = CallFigures::all);

/// The sizes at which one algorithm with its choices wins, from `first` to `last`.
struct Reign {
  std::size_t first, last;
};
/// Options that are numbers differ between sizes: only the choices count.
std::string name_of(const Contestant& contestant);
std::vector<Reign> reigns(const std::vector<Contest>& contests);

/// Contest::unknown() of any size.
std::set<std::string_view> unknown_of(const std::vector<Contest>& contests);

}  // namespace wormcube
