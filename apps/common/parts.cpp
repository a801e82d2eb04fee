// Parts of arrays in several processes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/parts.hpp"

#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/collectives/core/blocks.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::apps {

Part part_here(const Runner& runner, const std::function<Part(Rank)>& of_node) {
  const auto [first, last] = nodes_here(runner);
  if (first == last) return {};
  const Part begin = of_node(first), end = of_node(last - 1);
  return {begin.first, end.end() - begin.first};
}

void in_order(const Runner& runner, std::size_t elements, std::size_t element_bytes, Part here,
              ConstSpan mine, const std::function<void(std::size_t first, ConstSpan)>& look) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 22;
  const std::size_t most = std::max<std::size_t>(1, piece_bytes / element_bytes);
  if (holds_all(runner)) {
    in_all_processes(runner, [&] {
      for (std::size_t first = 0; first < elements; first += most) {
        look(first,
             mine.subspan(first * element_bytes, std::min(most, elements - first) * element_bytes));
      }
    });
    return;
  }
  std::vector<std::byte> piece(std::min(most, elements) * element_bytes);
  for (std::size_t first = 0; first < elements; first += most) {
    const std::size_t end = std::min(first + most, elements);
    const std::size_t begin = std::clamp(here.first, first, end),
                      stop = std::clamp(here.end(), first, end);
    const Span whole = Span(piece).subspan(0, (end - first) * element_bytes);
    const std::size_t at = (begin - first) * element_bytes, bytes = (stop - begin) * element_bytes;
    if (bytes > 0) {
      copy(mine.subspan((begin - here.first) * element_bytes, bytes), whole.subspan(at, bytes));
    }
    runner.processes->join(whole, at, at + bytes);
    in_all_processes(runner, [&] { look(first, whole); });
  }
}

namespace {

/// \param text  of some elements
void write_parts(const Runner& runner, const std::string& file, std::string_view head,
                 std::size_t elements, std::size_t element_bytes, Part here, ConstSpan mine,
                 const std::function<std::string_view(ConstSpan)>& text) {
  std::optional<NewFile> stream;
  const bool writes = runner.processes == nullptr || runner.processes->is_first_process();
  in_all_processes(runner, [&] {
    if (!writes) return;
    stream.emplace(file);
    stream->write(head);
  });
  in_order(runner, elements, element_bytes, here, mine,
           [&](std::size_t /*first*/, ConstSpan bytes) {
             if (writes) stream->write(text(bytes));
           });
  in_all_processes(runner, [&] {
    if (writes) stream->finish();
  });
}

std::string_view as_text(ConstSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void write_npy(const Runner& runner, const std::string& file, ElementType type,
               const std::vector<std::size_t>& shape, Part here, ConstSpan mine) {
  std::size_t elements = 1;
  for (const std::size_t size : shape) elements *= size;
  write_parts(runner, file, npy_header(type, shape), elements, bytes_of(type), here, mine, as_text);
}

void write_list(const Runner& runner, const std::string& file, std::string_view name,
                ElementType type, std::size_t elements, Part here, ConstSpan mine) {
  if (!file.ends_with(".csv")) return write_npy(runner, file, type, {elements}, here, mine);
  std::string lines;
  write_parts(runner, file, fmt::format("{}\n", name), elements, bytes_of(type), here, mine,
              [&](ConstSpan bytes) -> std::string_view {
                lines = csv_lines(type, bytes);
                return lines;
              });
}

}  // namespace wormcube::apps
