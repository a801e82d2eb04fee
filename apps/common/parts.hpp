// The part of a host array that each of several processes has: that of its own nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/io/source.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wormcube::apps {

/// This process's part of an array that is distributed over the nodes in their order.
/// \param of_node  a node's part
Part part_here(const Runner& runner, const std::function<Part(Rank)>& of_node);

/// Shows every process a whole array, of which each has a part, in order, some elements at a time,
/// so none needs to hold it. If look throws, all processes throw.
/// \param element_bytes  no element is cut
/// \param look           at some elements, from `first` on
void in_order(const Runner& runner, std::size_t elements, std::size_t element_bytes, Part here,
              ConstSpan mine, const std::function<void(std::size_t first, ConstSpan)>& look);

/// Writes an array of which each process has a part, in NumPy's format. Throws, in all processes,
/// UsageError if the file cannot be written.
void write_npy(const Runner& runner, const std::string& file, ElementType type,
               const std::vector<std::size_t>& shape, Part here, ConstSpan mine);

/// Writes a list of which each process has a part, as write_list does.
void write_list(const Runner& runner, const std::string& file, std::string_view name,
                ElementType type, std::size_t elements, Part here, ConstSpan mine);

/// An item of each process, in every process; for a single process its own.
template <class Item>
requires std::is_trivially_copyable_v<Item> std::vector<Item> of_all_processes(const Runner& runner,
                                                                               const Item& mine) {
  if (runner.processes == nullptr) return {mine};
  std::vector<Item> items(static_cast<std::size_t>(runner.processes->processes()));
  const auto process = static_cast<std::size_t>(runner.processes->process());
  items[process] = mine;
  runner.processes->join(std::as_writable_bytes(std::span(items)), process * sizeof(Item),
                         (process + 1) * sizeof(Item));
  return items;
}

}  // namespace wormcube::apps
