// Elements of a type in words.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/words.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {

std::string words_of(const Datatype& type, std::size_t count) {
  constexpr int most = 4;
  struct Alike {
    MPI_Datatype handle;
    std::int64_t count;
  };
  std::vector<Alike> runs;
  type.each_element([&](MPI_Datatype handle, std::int64_t elements) {
    if (!runs.empty() && runs.back().handle == handle) {
      runs.back().count += elements;
    } else if (runs.size() <= most) {
      runs.push_back({handle, elements});
    }
  });
  const auto words = [](const Alike& run, std::int64_t times) {
    const std::string_view name = Datatype::predefined(run.handle)->name();
    return run.count * times == 1 ? std::string(name)
                                  : fmt::format("{} {}", run.count * times, name);
  };
  if (runs.empty() || count == 0) return "nothing";
  if (runs.size() == 1) return words(runs.front(), static_cast<std::int64_t>(count));
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + words(runs[i], 1);
  }
  if (runs.size() > most) text += ", ..";
  return fmt::format("{} x ({})", count, text);
}

}  // namespace wormcube::mpi
