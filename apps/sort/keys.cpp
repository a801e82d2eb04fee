// Keys to sort, of several kinds, generated from a seed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/random.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/sort/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr std::array<std::pair<KeyKind, std::string_view>, 5> kinds{
    {{KeyKind::uniform, "uniform"},
     {KeyKind::equal, "equal"},
     {KeyKind::few, "few"},
     {KeyKind::sorted, "sorted"},
     {KeyKind::reverse, "reverse"}}};

template <class T>
T random_key(SplitMix& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(random.symmetric());
  } else {
    return static_cast<T>(random.next());
  }
}

/// The keys from `first` on.
template <class T>
void make_keys(KeyKind kind, std::size_t count, SplitMix random, std::size_t first,
               std::span<T> keys) {
  std::array<T, 16> some{};
  for (T& key : some) key = random_key<T>(random);
  random.skip(first);
  // Key k of a sorted list of n is a random one of the k-th of n equal parts of the range.
  const std::uint64_t width = std::max<std::uint64_t>(
      std::numeric_limits<std::uint64_t>::max() / std::max<std::size_t>(count, 1), 1);
  std::size_t place = first;
  for (T& key : keys) {
    const std::size_t k = kind == KeyKind::reverse ? count - 1 - place : place;
    ++place;
    switch (kind) {
      case KeyKind::uniform:
        key = random_key<T>(random);
        break;
      case KeyKind::equal:
        key = some[0];
        break;
      case KeyKind::few:
        key = some[random.next() % some.size()];
        break;
      case KeyKind::sorted:
      case KeyKind::reverse: {
        const std::uint64_t code = k * width + random.next() % width;
        if constexpr (std::is_floating_point_v<T>) {
          key = static_cast<T>(static_cast<double>(code >> 11) * 0x1p-52 - 1);
        } else {
          using Unsigned = std::make_unsigned_t<T>;
          const auto top =
              static_cast<Unsigned>(code >> (64 - std::numeric_limits<Unsigned>::digits));
          key = static_cast<T>(top + static_cast<Unsigned>(std::numeric_limits<T>::min()));
        }
      }
    }
  }
}

}  // namespace

KeyKind parse_key_kind(std::string_view text) {
  std::string known;
  for (const auto& [kind, name] : kinds) {
    if (name == text) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw UsageError(fmt::format("unknown keys '{}'; available: {}", text, known));
}

Source made_keys(KeyKind kind, ElementType type, std::size_t count, std::uint64_t seed) {
  with_real_type(type, "sort", [](auto) {});
  return made(type, {count}, [=](std::size_t first, Span to) {
    with_real_type(type, "sort", [&]<class T>(T) {
      make_keys<T>(kind, count, SplitMix(seed), first,
                   {reinterpret_cast<T*>(to.data()), to.size() / sizeof(T)});
    });
  });
}

Array generate_keys(KeyKind kind, ElementType type, std::size_t count, std::uint64_t seed) {
  require_memory(fmt::format("{} keys of {}", count, to_string(type)),
                 static_cast<double>(count) * static_cast<double>(bytes_of(type)),
                 "use fewer (--count)");
  return read_all(made_keys(kind, type, count, seed));
}

}  // namespace wormcube::apps
