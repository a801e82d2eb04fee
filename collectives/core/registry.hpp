// The registry: all operations and algorithms. Tests, benchmarks, the command line and the choice
// among algorithms use it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// All operations: the built-in ones in the order of documentation, then those added since.
std::span<const Operation> registered_operations();
/// Adds one. Its row, which must outlive all uses, is used like the built-in ones: the operation is
/// then listed, checked, proved, run and timed.
/// \param origin  where it comes from
/// Throws UsageError if one with this name exists, or if the row does not say what each node gives
/// and ends with. Not while others use the registry.
void add_operation(const OperationRow& row, std::string_view origin);
void add_operation(const OperationRow&&, std::string_view) = delete;

/// All algorithms, operation by operation, by name: the built-in ones, which algorithms.inc lists,
/// and those added since.
std::span<const Algorithm* const> registry();
/// Adds one, which must outlive all uses. \param origin  where it comes from: shown with it
/// Throws UsageError if the operation is not registered or has one of this name, and for one
/// without name, summary, source or program, or with `instead` and no `needs` that could fail. Not
/// while others use the registry.
void add_algorithm(const Algorithm& algorithm, std::string origin);
void add_algorithm(const Algorithm&&, std::string) = delete;
/// Where an added algorithm comes from; empty for a built-in one.
std::string_view origin(const Algorithm& algorithm);

/// The algorithm of this name; throws UsageError that lists the operation's algorithms.
const Algorithm& find_algorithm(Operation operation, std::string_view name);
/// "NAME" or "NAME:option=value:option=value". Throws UsageError that lists what is available.
Collective parse_collective(Operation operation, std::string_view text, Arguments arguments = {});

/// The algorithms of an operation that apply to this network with these arguments, with the
/// defaults of their options.
std::vector<Collective> admitted(Operation operation, const Topology& topology,
                                 const Arguments& arguments = {});
/// Whether `auto` may pick it.
bool is_chosen_by_auto(const Algorithm& algorithm);

}  // namespace wormcube
