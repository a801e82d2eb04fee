// Cells that come to their places and to a memory by turns.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/cell_exchange.hpp"

namespace wormcube {

void CellExchange::run(Node& node, ConstBlocks out, Blocks in, Rank part, Rank parts) const {
  const std::size_t cells = destination.size();
  std::vector<int> left(cells, 0);  // arrivals to come
  for (const auto& messages : steps) {
    for (const Message& message : messages) {
      for (const Rank cell : message.cells) ++left[static_cast<std::size_t>(cell)];
    }
  }
  const auto cut = [&](auto block) { return wormcube::part(block, part, parts); };
  const Bytes bytes = cut(out[0]).size();
  // Arrivals come to the block's place in `in` and to memory by turns, the last one to `in`.
  Bytes total = 0;
  std::vector<Bytes> place(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    place[cell] = total;
    if (left[cell] > 1) total += bytes;
  }
  const Memory memory = node.memory(total, Purpose::blocks);

  std::vector<ConstSpan> at(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    at[cell] = cut(out[destination[cell]]);
    if (left[cell] == 0) node.local([&] { copy(at[cell], cut(in[source[cell]])); });
  }
  std::vector<std::vector<Span>> pieces;
  std::vector<Op> ops;
  for (const auto& messages : steps) {
    ops.clear(), pieces.clear(), pieces.reserve(2 * messages.size());
    for (const Message& message : messages) {
      auto& going = pieces.emplace_back();
      auto& coming = pieces.emplace_back();
      for (const Rank number : message.cells) {
        const auto cell = static_cast<std::size_t>(number);
        going.push_back(only_read(at[cell]));
        coming.push_back(--left[cell] % 2 == 0 ? cut(in[source[cell]])
                                               : memory.subspan(place[cell], bytes));
        at[cell] = coming.back();
      }
      ops.push_back(send_pieces(message.to, going));
      ops.push_back(receive_pieces(message.from, coming));
    }
    node.step(ops);
  }
}

}  // namespace wormcube
