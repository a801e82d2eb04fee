// Ranks the algorithms of an operation by modelled time: what `auto`, `best` and `list` start from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/weigh.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace wormcube {

/// Whether results may end with different last bits on different nodes (same_bits()): by default
/// such algorithms are left out.
enum class Bits : std::uint8_t { same, any };

/// The call that an algorithm is chosen for, and the costs that decide:
///
///   cheapest({.operation = operations::alltoall, .topology = machine.topology()})
struct Choice {
  Operation operation;
  const Topology& topology;
  Bytes block_bytes = 1024;
  Ports ports = Ports::one;  ///< that the algorithm may use
  CostModel model = {};
  Arguments arguments = {};
  Bits bits = Bits::same;

  /// Of its topology and its model, for the functions below.
  Weights weights() const { return {topology, model.bus_us.has_value()}; }
};

/// The order of all rankings, the cheapest first: those with a known time, by time; then those with
/// unknown contention, by their lower limit; then those without a time.
using Standing = std::tuple<bool, bool, double>;
Standing standing(const std::optional<double>& us, Contention contention);

/// An algorithm with its cheapest options, and its cost.
struct Priced {
  Collective collective;
  Weighed weighed;
  std::optional<double> us;  ///< nothing if counts are unknown, or `auto` does not need it
};

/// The algorithm with its cheapest options on this network: for options that are choices, the
/// cheapest combination; options that depend on the size are set. Nothing if none is admitted.
std::optional<Priced> cheapest_form(const Algorithm& algorithm, const Choice& choice,
                                    Weights& weights);
/// A named algorithm in its cheapest form, or with the options that the name gives.
Priced form_of(std::string_view name, Collective collective, const Choice& choice,
               Weights& weights);
/// Whether the name, which may be another library's or have options, is this algorithm's.
bool is_named(const Algorithm& algorithm, std::string_view name);

/// The algorithms that this network admits and that need no more than these ports, by standing() of
/// predicted_us of weigh()'s result, each in its cheapest form. Among equal ones those made for
/// these ports come first, then the first by name. The commands `best`, `list` and `auto` all rank
/// by this function.
/// \param weights  of this topology; calls of one operation have the same arguments
std::vector<Priced> ranking(const Choice& choice, Weights& weights);
std::vector<Priced> ranking(const Choice& choice);
/// The same of these alone: each as form_of() has it. Names that the operation does not have, and
/// those that do not run here, are left out.
std::vector<Priced> ranking(std::span<const std::string> names, const Choice& choice,
                            Weights& weights);

/// The cheapest of ranking(). Throws UsageError if none applies to the network.
Collective cheapest(const Choice& choice);

/// Whether a call runs on an all-port machine: by request, or because it needs all ports.
inline bool takes_all_ports(const Algorithm& algorithm, Ports ports) {
  return ports == Ports::all || algorithm.ports == Ports::all;
}

}  // namespace wormcube
