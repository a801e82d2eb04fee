// Grama, Gupta, Karypis and Kumar, Introduction to Parallel Computing, chapter 4: equations,
// algorithms and problems, as printed, corrected, and counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/reproduce/paper.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// What a figure counts: of an algorithm, or of a network.
enum class ChapterUnit : std::uint8_t {
  startups,
  contended,  ///< blocks of time, contention included
  rearranged,
  combined,     ///< blocks
  route,        ///< links of the longest
  time,         ///< blocks of 1 word, ts = 100, tw = 1
  bandwidth,    ///< contended / Table 4.1's blocks of time for long messages: what a network of
                ///< a constant cross-section bandwidth is slower by
  bisections,   ///< contended / the time in which a bisection carries the blocks
  at_distance,  ///< nodes at distance 0, 1, .. of node 0, figure by figure
  cables,
};
std::string_view to_string(ChapterUnit unit);
/// Figures are fractions of small numbers.
bool is_same_figure(double a, double b);

struct ChapterFigure {
  ChapterUnit unit;
  std::string_view formula;  ///< the chapter's
  double printed;
  double corrected = printed;
};

/// An algorithm of the chapter on a network, and what is printed about it.
struct ChapterRow {
  std::string_view place;  ///< "Eq. 4.2"
  Operation operation = operations::broadcast;
  std::string_view algorithm;  ///< with options; empty: figures of the network
  std::string_view network;
  std::vector<ChapterFigure> figures;
  std::string_view errata = {};  ///< "4, 5": of grama_errata()
  Arguments arguments = {};
  bool every_distance = false;  ///< of a shift: the most of all distances
};
std::span<const ChapterRow> chapter_rows();

struct ChapterResult {
  std::vector<double> counted;  ///< by figure
  std::vector<std::string> failures;
  bool passed() const { return failures.empty(); }
};
/// Of a row with an algorithm; a reduction is a sum.
Collective collective_of(const ChapterRow& row);
ChapterResult reproduce_row(const ChapterRow& row, const CheckOptions& options);

extern const std::string_view grama_citation;
std::span<const Erratum> grama_errata();

}  // namespace wormcube::apps
