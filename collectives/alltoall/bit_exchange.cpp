// The log p total exchange, bit by bit.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/bit_exchange.hpp"

namespace wormcube {

/// A held part is named by the label e with its source's bits in the bits done and its
/// destination's in the others. Before bit b, a node moves the half that stays to the front: the
/// parts whose label has its own bit b.
void alltoall_bit_exchange(Node& node, int bits, int j, int copies, ConstBlocks out, Blocks in) {
  const Rank p = node.size(), r = node.rank();
  const Bytes bytes = p * part(out[0], j, copies).size();
  const Memory ready_memory = node.memory(bytes, Purpose::blocks), held_memory = node.memory(bytes);
  const Blocks ready(ready_memory, p), held(held_memory, p);
  const auto place = [r, p](int b, Rank e) {
    const Rank low = e & ((1 << b) - 1), high = e >> (b + 1);
    return ((e ^ r) >> b & 1) * (p / 2) + (high << b | low);
  };
  const auto staying = [p](Blocks parts) { return parts.range(0, p / 2); };
  const auto leaving = [p](Blocks parts) { return parts.range(p / 2, p / 2); };

  for (int t = 0; t < bits; ++t) {
    const int last = (j + t + bits - 1) % bits, b = (j + t) % bits;
    node.rearrange(bytes, [&] {
      for (Rank e = 0; e < p; ++e) {
        copy(t == 0 ? part(out[e], j, copies) : held[place(last, e)], ready[place(b, e)]);
      }
    });
    node.step(exchange(r ^ 1 << b, leaving(ready), leaving(held)));
    node.local([&] { copy(staying(ready), staying(held)); });
  }
  node.local([&] {
    for (Rank e = 0; e < p; ++e)
      copy(held[place((j + bits - 1) % bits, e)], part(in[e], j, copies));
  });
}

}  // namespace wormcube
