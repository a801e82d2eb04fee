// Permutations of nodes by name: formulas, and the numbers of nodes for which they exist; and lists
// of images.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/permutation.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube {

namespace {

Rank square_root(Rank nodes) { return static_cast<Rank>(std::lround(std::sqrt(nodes))); }

Rank reversed(Rank rank, Rank nodes) {
  Rank backwards = 0;
  for (Rank bit = 1; bit < nodes; bit *= 2) {
    backwards = 2 * backwards + ((rank & bit) != 0 ? 1 : 0);
  }
  return backwards;
}

}  // namespace

std::string_view to_string(Permutation::Name name) {
  constexpr std::array<std::string_view, Permutation::names.size()> texts{
      "complement", "bit-reversal", "transpose", "shuffle", "butterfly"};
  return texts[name];
}

std::string permutation_names(std::string_view separator) {
  std::vector<std::string_view> texts;
  for (const Permutation::Name name : Permutation::names) texts.push_back(to_string(name));
  return fmt::format("{}", fmt::join(texts, separator));
}

Permutation::Permutation(std::vector<Rank> images)
    : name_(complement), images_(std::move(images)), origins_(images_.size(), -1) {
  const auto count = static_cast<Rank>(images_.size());
  if (count == 0) throw UsageError("permutation: no images; give one for each node");
  for (Rank node = 0; node < count; ++node) {
    const Rank image = images_[node];
    if (image < 0 || image >= count) {
      throw UsageError(fmt::format("permutation: image {} of node {}; {} images are 0 to {}", image,
                                   node, count, count - 1));
    }
    if (origins_[image] < 0) {
      origins_[image] = node;
      continue;
    }
    std::vector<bool> present(images_.size(), false);
    for (const Rank each : images_) present[std::clamp(each, 0, count - 1)] = true;
    const auto missing = std::ranges::find(present, false) - present.begin();
    throw UsageError(
        fmt::format("permutation: {} is repeated, as the image of nodes {} and {}; the first "
                    "missing number is {}",
                    image, origins_[image], node, missing));
  }
}

Permutation Permutation::parse(std::string_view text) {
  std::vector<std::string_view> known;
  for (const Name name : names) {
    if (to_string(name) == text) return name;
    known.push_back(to_string(name));
  }
  if (text.find(',') == text.npos) {
    throw UsageError(
        fmt::format("unknown permutation '{}'{}; available:{}, a file with one "
                    "image for each node, or images such as 1,2,0",
                    printable(text), did_you_mean(text, known), listed(known)));
  }
  std::vector<Rank> images;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto image = number_of<Rank>(text.substr(0, end));
    if (!image) {
      throw UsageError(
          fmt::format("permutation: '{}' is not a node number", printable(text.substr(0, end))));
    }
    images.push_back(*image);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Permutation(std::move(images));
}

std::string Permutation::text() const {
  if (images_.empty()) return std::string(to_string(name_));
  return fmt::format("{}{}", fmt::join(images_, ","), images_.size() == 1 ? "," : "");
}

std::string Permutation::short_text() const {
  constexpr std::size_t most = 16;
  if (images_.size() <= most) return text();
  return fmt::format("{},.. ({} images)", fmt::join(images_.begin(), images_.begin() + most, ","),
                     images_.size());
}

Rank Permutation::destination(Rank rank, Rank nodes) const {
  if (!images_.empty()) return images_[rank];
  switch (name_) {
    case complement:
      return nodes - 1 - rank;
    case bit_reversal:
      return reversed(rank, nodes);
    case transpose: {
      const Rank side = square_root(nodes);
      return rank % side * side + rank / side;
    }
    case shuffle:
      return rank == nodes - 1 ? rank : mod(2 * rank, nodes - 1);
    case butterfly: {
      const Rank both = nodes / 2 | 1, ends = rank & both;
      return ends == 0 || ends == both ? rank : rank ^ both;
    }
  }
  return rank;
}

Rank Permutation::origin(Rank rank, Rank nodes) const {
  if (!origins_.empty()) return origins_[rank];
  // 2 x nodes/2 is 1 modulo nodes - 1. The others are their own inverses.
  if (name_ == shuffle) {
    return rank == nodes - 1 ? rank
                             : static_cast<Rank>(std::int64_t{rank} * (nodes / 2) % (nodes - 1));
  }
  return destination(rank, nodes);
}

bool Permutation::is_identity(Rank nodes) const {
  for (Rank rank = 0; rank < nodes; ++rank) {
    if (destination(rank, nodes) != rank) return false;
  }
  return true;
}

void Permutation::require(std::string_view algorithm, Rank nodes) const {
  const auto refuse = [&](std::string_view need) {
    throw UsageError(fmt::format("{}: {} needs {}, not {}; use complement", algorithm,
                                 to_string(name_), need, nodes));
  };
  if (!images_.empty()) {
    if (std::ssize(images_) == nodes) return;
    throw UsageError(
        fmt::format("{}: the permutation has {} images for {} nodes; give one for "
                    "each node",
                    algorithm, images_.size(), nodes));
  }
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(nodes));
  if ((name_ == bit_reversal || name_ == butterfly) && !power_of_two) {
    refuse("a power-of-2 number of nodes");
  }
  if (name_ == transpose && square_root(nodes) * square_root(nodes) != nodes) {
    refuse("s x s nodes");
  }
  if (name_ == shuffle && nodes % 2 != 0 && nodes != 1) refuse("an even number of nodes");
}

}  // namespace wormcube
