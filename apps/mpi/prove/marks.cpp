// The table of marked elements.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/marks.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;  // the golden ratio's bits; odd

/// Newton's iteration: each step doubles the right bits.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;
  for (int i = 0; i < 6; ++i) result *= 2 - odd * result;
  return result;
}
static_assert(factor * inverse(factor) == 1);

constexpr std::uint64_t half = 32;
constexpr std::uint64_t high_bits = 0xD6E8FEB86659FD93U;  // so that a sum of handles is none
constexpr Handle handle_of(std::uint64_t number) {
  number = (number ^ high_bits) * factor;
  number ^= number >> half;
  return number * factor;
}
constexpr std::uint64_t number_in(Handle handle) {
  handle *= inverse(factor);
  handle ^= handle >> half;
  return handle * inverse(factor) ^ high_bits;
}
static_assert(number_in(handle_of(123456789)) == 123456789);

constexpr std::uint64_t most_numbers = std::uint64_t{1} << 32;

}  // namespace

void Marks::begin_call() {
  first_ += marks_.size();
  marks_.clear();
}

Handle Marks::add(const Mark& mark) {
  const std::uint64_t number = first_ + marks_.size();
  if (number >= most_numbers)
    throw UsageError("too many marked elements; prove fewer numbers of ranks or counts at once");
  marks_.push_back(mark);
  return handle_of(number);
}

Handle Marks::input(Rank rank, Rank block, Rank element) {
  return add({static_cast<WordId>(rank), block, element, rank, Mark::Kind::value, 0, 0});
}

Handle Marks::unwritten(Rank rank, Rank element) {
  return add({0, 0, element, rank, Mark::Kind::unwritten, 0, 0});
}

std::optional<std::uint32_t> Marks::number_of(Handle handle) const {
  const std::uint64_t number = number_in(handle);
  if (number < first_ || number - first_ >= marks_.size()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

bool Marks::is_earlier(Handle handle) const {
  const std::uint64_t number = number_in(handle);
  return number > 0 && number < first_;
}

Handle Marks::combined(Rank rank, Handle left, Handle right) {
  const auto one = number_of(left), other = number_of(right);
  Mark result{0, 0, 0, rank, Mark::Kind::broken, one.value_or(0), other.value_or(0)};
  if (one && other) {
    const Mark a = (*this)[*one], b = (*this)[*other];
    if (a.kind == Mark::Kind::value && b.kind == Mark::Kind::value && a.block == b.block &&
        a.element == b.element) {
      result.kind = Mark::Kind::value;
      result.word = words_.join(a.word, b.word);
      result.block = a.block;
      result.element = a.element;
    }
  }
  return add(result);
}

std::string Marks::trouble(const Mark& combined, bool in_order) {
  if (combined.left == 0 || combined.right == 0) {
    return combined.kind == Mark::Kind::broken ? "one of them is not an element" : "";
  }
  const Mark &left = (*this)[combined.left], &right = (*this)[combined.right];
  for (const Mark* const each : {&left, &right}) {
    if (each->kind == Mark::Kind::unwritten) return "one of them was never written";
  }
  if (left.kind == Mark::Kind::broken || right.kind == Mark::Kind::broken) return "";
  if (left.block != right.block) return "they are of different blocks";
  if (left.element != right.element) return "they are of different elements";
  if (const auto twice = words_.shared(left.word, right.word))
    return fmt::format("rank {}'s element is in both", *twice);
  if (!in_order) return "";
  const Rank first = words_.front(combined.word);
  const auto size = static_cast<Rank>(words_.size(combined.word));
  if (first + size <= words_.nodes() && words_.interval(first, first + size) == combined.word)
    return "";
  return "no result in the order of ranks has this part";
}

std::string Marks::text(const Mark& mark, bool several_blocks) const {
  switch (mark.kind) {
    case Mark::Kind::value:
      return several_blocks ? fmt::format("{}.{}", words_.text(mark.word), mark.block)
                            : words_.text(mark.word);
    case Mark::Kind::unwritten:
      return "nothing (never written)";
    case Mark::Kind::broken:
      break;
  }
  return "a combination of elements that do not belong together";
}

std::string Marks::text(Handle handle, bool several_blocks) const {
  if (const auto number = number_of(handle)) return text((*this)[*number], several_blocks);
  if (is_earlier(handle)) return "an element of an earlier call";
  return fmt::format("a value that is not an element (bytes {:#x})", handle);
}

}  // namespace wormcube::mpi
