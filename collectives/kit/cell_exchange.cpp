// Cells whose blocks arrive alternately in their places and in a memory.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/cell_exchange.hpp"

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
  // Arrivals go alternately to the block's place in `in` and to memory, the last one to `in`.
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
  std::vector<Span> pieces;  // of a step: for each message those sent, then those received
  std::vector<Op> ops;
  for (const auto& messages : steps) {
    std::size_t moved = 0;
    for (const Message& message : messages) moved += message.cells.size();
    ops.clear(), pieces.resize(2 * moved);
    Span* going = pieces.data();
    for (const Message& message : messages) {
      const std::size_t count = message.cells.size();
      Span* const coming = going + count;
      for (std::size_t i = 0; i < count; ++i) {
        const auto cell = static_cast<std::size_t>(message.cells[i]);
        going[i] = only_read(at[cell]);
        at[cell] = coming[i] =
            --left[cell] % 2 == 0 ? cut(in[source[cell]]) : memory.subspan(place[cell], bytes);
      }
      ops.push_back(send_pieces(message.to, std::span<const Span>(going, count)));
      ops.push_back(receive_pieces(message.from, std::span<const Span>(coming, count)));
      going = coming + count;
    }
    node.step(ops);
  }
}

}  // namespace wormcube
