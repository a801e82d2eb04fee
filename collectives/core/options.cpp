// Reads and prints the options of an algorithm.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/options.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

std::string Option::values() const {
  if (choices.empty()) return fmt::format("{}..{}", least, most);
  std::string text;
  for (const std::string_view choice : choices) text.append(text.empty() ? "" : "|").append(choice);
  return text;
}

std::string Option::text(std::int64_t value) const {
  return choices.empty() ? std::to_string(value)
                         : std::string(choices[static_cast<std::size_t>(value)]);
}

Options::Options(std::span<const Option> declared) : declared_(declared) {
  for (const Option& option : declared) values_.push_back(option.preset);
}

std::size_t Options::find(std::string_view name) const {
  const auto found = std::ranges::find(declared_, name, &Option::name);
  if (found != declared_.end()) return static_cast<std::size_t>(found - declared_.begin());
  if (declared_.empty())
    throw UsageError(fmt::format("unknown option '{}'; the algorithm has no options", name));
  std::vector<std::string_view> known;
  for (const Option& option : declared_) known.push_back(option.name);
  throw UsageError(fmt::format("unknown option '{}'{}; available:{}", name,
                               did_you_mean(name, known), listed(known)));
}

void Options::set(std::string_view name, std::string_view value) {
  const std::size_t i = find(name);
  const Option& option = declared_[i];
  const auto fail = [&] {
    throw UsageError(fmt::format("option {} is '{}'; need {}", name, value, option.values()));
  };
  if (!option.choices.empty()) {
    const auto found = std::ranges::find(option.choices, value);
    if (found == option.choices.end()) fail();
    values_[i] = found - option.choices.begin();
    return;
  }
  const auto number = number_of<std::int64_t>(value);
  if (!number || *number < option.least || *number > option.most) fail();
  values_[i] = *number;
}

std::int64_t Options::number(std::string_view name) const { return values_[find(name)]; }

bool Options::is(std::string_view name, std::string_view value) const {
  const std::size_t i = find(name);
  return declared_[i].text(values_[i]) == value;
}

std::string Options::text() const {
  std::string text;
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    const Option& option = declared_[i];
    if (values_[i] == option.preset) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ":", option.name, option.text(values_[i]));
  }
  return text;
}

}  // namespace wormcube
