// What other libraries call the algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace wormcube {

/// "openmpi.segmented_ring" of allreduce is "ring:order=rank:segments=4".
struct Alias {
  std::string_view operation, library, name;
  std::string_view algorithm;  ///< with options, as parse_collective() reads it
};
/// By operation, library and name, as wormcube and the libraries list them.
std::span<const Alias> aliases();
/// "LIBRARY.NAME", in any case, of this operation; nullptr: there is none.
const Alias* find_alias(std::string_view operation, std::string_view text);

}  // namespace wormcube
