// Contests.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/contest.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Contest contest_of(std::vector<Priced> ranked, Bytes block_bytes, Ports ports, CallFigures* figures,
                   NearWinners* near, std::size_t needed) {
  Contest contest{block_bytes, {}};
  std::vector<CallFigures::Answer> replayed;
  if (near != nullptr) replayed = (*near)(ranked, block_bytes, ports);
  if (figures != nullptr) {
    std::vector<Priced> with_formulas;
    std::ranges::copy_if(ranked, std::back_inserter(with_formulas),
                         [](const Priced& each) { return each.us.has_value(); });
    figures->compute(with_formulas, block_bytes, ports, needed);
  }
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    Contestant contestant{std::move(ranked[i]), {}, {}};
    contestant.us = contestant.priced.us;
    contestant.first_by_formula = contest.ranked.empty() && contestant.us.has_value();
    if (near != nullptr) contestant.answer = std::move(replayed[i]);
    contestant.is_near_winner = contestant.answer && contestant.answer->figure;
    contestant.by_formula = figures == nullptr && !contestant.is_near_winner;
    if (contestant.is_near_winner) contestant.us = microseconds_of(*contestant.answer->figure);
    if (figures != nullptr && contestant.us) {
      const bool all_port = takes_all_ports(*contestant.collective().algorithm, ports);
      contestant.answer = (*figures)(contestant.collective(), block_bytes, all_port);
      contestant.us.reset();
      if (contestant.answer->figure) contestant.us = figures->shown(*contestant.answer->figure);
    }
    contest.ranked.push_back(std::move(contestant));
  }
  std::ranges::stable_sort(contest.ranked, {}, [](const Contestant& contestant) {
    return std::pair(!contestant.is_near_winner, standing(contestant.us, contestant.contention()));
  });
  return contest;
}

std::vector<std::string> Contest::ties() const {
  constexpr double rounding = 1e-9;
  std::vector<std::string> ties;
  for (std::size_t i = 1; i < ranked.size() && ranked[i].is_comparable(); ++i) {
    if (*ranked[i].us <= *winner().us * (1 + rounding))
      ties.push_back(ranked[i].collective().text());
  }
  return ties;
}

const Contestant* Contest::by_formula() const {
  const auto found = std::ranges::find_if(
      ranked, [](const Contestant& each) { return each.first_by_formula && each.us.has_value(); });
  return found == ranked.end() ? nullptr : &*found;
}

std::optional<double> Contest::formula_ratio() const {
  const Contestant* const named = by_formula();
  if (named == nullptr || *winner().us == 0) return std::nullopt;
  return *named->us / *winner().us;
}

std::optional<double> Contest::margin() const {
  if (ranked.size() < 2 || !ranked[1].is_comparable() || *winner().us == 0) return std::nullopt;
  return *ranked[1].us / *winner().us;
}

std::vector<std::string_view> Contest::unknown() const {
  std::vector<std::string_view> names;
  if (!has_winner()) return names;
  for (const Contestant& each : ranked) {
    if (each.us && !each.is_comparable() && *each.us < *winner().us)
      names.push_back(each.collective().name());
  }
  return names;
}

std::string name_of(const Contestant& contestant) {
  std::string name(contestant.collective().name());
  const Options& options = contestant.collective().options;
  for (std::size_t i = 0; i < options.declared().size(); ++i) {
    const Option& option = options.declared()[i];
    const std::int64_t value = options.values()[i];
    if (option.choices.empty() || value == option.preset) continue;
    name += fmt::format(":{}={}", option.name, option.text(value));
  }
  return name;
}

std::vector<Reign> reigns(const std::vector<Contest>& contests) {
  std::vector<Reign> all;
  for (std::size_t i = 0; i < contests.size(); ++i) {
    if (!contests[i].has_winner()) continue;
    if (!all.empty() && all.back().last + 1 == i &&
        name_of(contests[i - 1].winner()) == name_of(contests[i].winner())) {
      all.back().last = i;
    } else {
      all.push_back({i, i});
    }
  }
  return all;
}

std::set<std::string_view> unknown_of(const std::vector<Contest>& contests) {
  std::set<std::string_view> names;
  for (const Contest& contest : contests) {
    const auto unknown = contest.unknown();
    names.insert(unknown.begin(), unknown.end());
  }
  return names;
}

}  // namespace wormcube
