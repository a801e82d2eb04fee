// Arrays of random numbers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/made.hpp"

#include "wormcube/apps/common/random.hpp"

#include <cstring>
#include <utility>

namespace wormcube::apps {

namespace {

/// How many numbers of a generator an element uses.
std::uint64_t draws(ElementType type) {
  return type == ElementType::complex64 || type == ElementType::complex128 ? 2 : 1;
}

void make_elements(ElementType type, SplitMix random, Span to) {
  const Bytes element = bytes_of(type);
  for (std::size_t at = 0; at < to.size();) {
    const auto put = [&](auto value) {
      std::memcpy(&to[at], &value, sizeof value);
      at += sizeof value;
    };
    switch (type) {
      case ElementType::float32:
      case ElementType::complex64:
        put(static_cast<float>(random.symmetric()));
        break;
      case ElementType::float64:
      case ElementType::complex128:
        put(random.symmetric());
        break;
      default: {
        const std::uint64_t bits = random.next();
        std::memcpy(&to[at], &bits, element);
        at += element;
      }
    }
  }
}

}  // namespace

Source made_array(ElementType type, std::vector<std::size_t> shape, std::uint64_t seed) {
  return made(type, std::move(shape), [type, seed](std::size_t first, Span to) {
    SplitMix random(seed);
    random.skip(first * draws(type));
    make_elements(type, random, to);
  });
}

}  // namespace wormcube::apps
