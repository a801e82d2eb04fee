// Names of phases with the numbers that a paper gives them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// "phase 1: two hops", "phase 2: two hops", ..: as Node::phase wants them, static ones live long
/// enough.
class NumberedPhases {
 public:
  /// \param before  "phase ", "stage 2, phase "
  NumberedPhases(std::string_view before, std::string_view name) {
    constexpr int most = 32;  // dimensions, divisions; phases beyond share the last name
    for (int i = 1; i <= most; ++i) {
      names_.push_back(std::string(before) + std::to_string(i) + ": " + std::string(name));
    }
  }
  /// \param number  from 1
  std::string_view operator()(int number) const {
    return names_[std::min(static_cast<std::size_t>(number), names_.size()) - 1];
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace wormcube
