// Node programs that the tests of recording, tracing, proving and checking share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace programs {

using namespace wormcube;

/// What node `from` has for node `to`.
inline std::int64_t word(Rank from, Rank to) { return from * 1'000'000 + to; }
inline void put(Span data, std::int64_t value) { std::memcpy(data.data(), &value, sizeof value); }
inline std::int64_t get(ConstSpan data) {
  std::int64_t value = 0;
  std::memcpy(&value, data.data(), sizeof value);
  return value;
}
constexpr Bytes word_bytes = sizeof(std::int64_t);

/// Total exchange of one word per pair: in step t node r sends to r + t. Any network, one-port.
inline void exchange(Node& node) {
  const Rank p = node.size(), r = node.rank();
  const Memory out = node.memory(word_bytes * p, Purpose::blocks),
               in = node.memory(word_bytes * p, Purpose::blocks);
  const auto block = [](const Memory& memory, Rank q) {
    return memory.subspan(word_bytes * q, word_bytes);
  };
  node.local([&] {
    for (Rank q = 0; q < p; ++q) put(block(out, q), word(r, q));
  });
  node.rearrange(word_bytes, [&] { put(block(in, r), get(block(out, r))); });
  for (Rank t = 1; t < p; ++t) {
    const Rank to = mod(r + t, p), from = mod(r - t, p);
    node.step({send(to, block(out, to)), receive(from, block(in, from))});
  }
  node.local([&] {
    for (Rank q = 0; q < p; ++q) {
      if (get(block(in, q)) != word(q, r))
        throw std::runtime_error("wrong block from " + std::to_string(q));
    }
  });
}

/// The same in one step: every node is busy with every other.
inline void exchange_at_once(Node& node) {
  const Rank p = node.size(), r = node.rank();
  const Memory out = node.memory(word_bytes * p), in = node.memory(word_bytes * p);
  const auto block = [](const Memory& memory, Rank q) {
    return memory.subspan(word_bytes * q, word_bytes);
  };
  node.local([&] {
    for (Rank q = 0; q < p; ++q) put(block(out, q), word(r, q));
  });
  std::vector<Op> ops;
  for (Rank q = p; q-- > 0;) ops.push_back(receive(q, block(in, q), q % 3 + r % 3));
  for (Rank q = 0; q < p; ++q) ops.push_back(send(q, block(out, q), r % 3 + q % 3));
  node.step(std::span<const Op>(ops));
  node.local([&] {
    for (Rank q = 0; q < p; ++q) {
      if (get(block(in, q)) != word(q, r))
        throw std::runtime_error("wrong block from " + std::to_string(q));
    }
  });
}

/// Every node's word once round the ring of each dimension, by moves, on views.
inline void rotate(Node& node) {
  for (int d = 0; d < node.topology().dimensions(); ++d) {
    auto ring = node.along(d);
    const Rank p = ring.size();
    const Memory words = ring.memory(2 * word_bytes, Purpose::blocks);
    ring.local([&] { put(words, word(ring.rank(), node.rank())); });
    for (Rank t = 0; t < p && p > 1; ++t) {
      ring.step({send(Move{0, 1}, words.subspan(0, word_bytes)),
                 receive(mod(ring.rank() - 1, p), words.subspan(word_bytes, word_bytes))});
      ring.rearrange(word_bytes, [&] { put(words, get(words.subspan(word_bytes, word_bytes))); });
    }
    ring.local([&] {
      if (get(words.span()) != word(ring.rank(), node.rank()))
        throw std::runtime_error("wrong word came round");
    });
  }
}

/// Even and odd nodes exchange among themselves, in groups that are listed in reverse.
inline void exchange_in_groups(Node& node) {
  std::vector<Rank> members;
  for (Rank r = node.size(); r-- > 0;) {
    if (r % 2 == node.rank() % 2) members.push_back(r);
  }
  auto group = node.group(members);
  exchange(group);
}

}  // namespace programs
