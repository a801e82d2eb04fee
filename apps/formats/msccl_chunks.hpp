// What the chunks of a collective hold at the start, and what they must hold at the end: MSCCL XML
// and MSCCL++ plans number them alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/runtime/dataflow/values.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace wormcube::apps {

/// What a cell holds before anything is written to it.
inline constexpr NamedValue held_nothing{~WordId{0}, 0, 0};
/// Follows from a finding: not reported again.
inline constexpr NamedValue held_unknown{~WordId{0} - 1, 0, 0};
inline constexpr std::size_t most_msccl_findings = 10;

struct MscclChunks {
  MscclCollective collective = MscclCollective::custom;
  int ranks = 1;
  int parts = 1;  ///< chunks of one block of the operation

  /// Chunk `chunk` of a GPU's input; nothing if it gives none (all but the root in a broadcast).
  std::optional<NamedValue> given(int gpu, int chunk) const;
  /// What chunk `chunk` of a GPU's output must hold; nothing: anything.
  std::optional<NamedValue> wanted(int gpu, int chunk, Words& words) const;
  /// The number of a value's chunk in the input of its GPUs.
  int index(const NamedValue& value) const { return value.block * parts + value.part; }
  /// "0+1", "all"
  std::string origins(const Words& words, const NamedValue& value) const;
};

}  // namespace wormcube::apps
