// What every operation promises, and comparing with it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr Bytes element_bytes = sizeof(std::uint64_t);

/// splitmix64's finaliser (Steele, Lea, Flood 2014): every bit of x changes half of the result's.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// An element that remembers where it comes from: 24 bits of origin, 24 of block, 16 of index.
std::uint64_t tag(const Label& label, std::uint64_t index) {
  return static_cast<std::uint64_t>(label.origin) << 40 |
         static_cast<std::uint64_t>(label.block) << 16 | index;
}
constexpr Bytes largest_tagged_block = element_bytes << 16;

/// Whether this is a tag at all. A spoilt place and memory that nobody wrote are not: their origin
/// is no node.
bool is_tag(const Contract& contract, std::uint64_t element) {
  const auto origin = element >> 40, block = element >> 16 & 0xffffff;
  const auto nodes = static_cast<std::uint64_t>(contract.nodes);
  return origin < nodes && block < nodes;
}

/// The elements of a block.
class Elements {
 public:
  Elements(const Contract& contract, const Label& label)
      : label_(label),
        tags_(contract.pattern == Pattern::tags),
        start_(mix(contract.seed ^ mix(tag(label, 0)))) {}
  std::uint64_t operator[](std::uint64_t i) const {
    return tags_ ? tag(label_, i) : mix(start_ + i * 0x9e3779b97f4a7c15U);
  }

 private:
  Label label_;
  bool tags_;
  std::uint64_t start_;
};

/// Writes a block: its elements, each xor `difference`.
void write(const Contract& contract, const Label& label, Span block, std::uint64_t difference) {
  const Elements elements(contract, label);
  const Bytes whole = block.size() / element_bytes, rest = block.size() % element_bytes;
  for (Bytes i = 0; i < whole; ++i) {
    const std::uint64_t element = elements[i] ^ difference;
    std::memcpy(block.data() + i * element_bytes, &element, element_bytes);
  }
  if (rest > 0) {
    const std::uint64_t element = elements[whole] ^ difference;
    std::memcpy(block.data() + whole * element_bytes, &element, rest);
  }
}

std::vector<Bytes> offsets(Rank blocks, auto label_of) {
  std::vector<Bytes> offsets{0};
  for (Rank b = 0; b < blocks; ++b) offsets.push_back(offsets.back() + label_of(b).bytes);
  return offsets;
}

template <class Byte>
BasicBlocks<Byte> cut(std::span<Byte> data, Rank blocks, const std::vector<Bytes>& offsets) {
  return offsets.empty() ? BasicBlocks<Byte>(data, std::max(blocks, 1))
                         : BasicBlocks<Byte>(data, offsets);
}

}  // namespace

Rank Contract::input_blocks(Rank rank) const {
  switch (operation) {
    case Operation::broadcast:
      return rank == root ? 1 : 0;
    case Operation::allgather:
      return 1;
    case Operation::alltoall:
    case Operation::alltoallv:
      return nodes;
    case Operation::barrier:
      return 0;
  }
  return 0;
}

Rank Contract::output_blocks() const {
  switch (operation) {
    case Operation::broadcast:
      return 1;
    case Operation::allgather:
    case Operation::alltoall:
    case Operation::alltoallv:
      return nodes;
    case Operation::barrier:
      return 0;
  }
  return 0;
}

Label Contract::input(Rank rank, Rank block) const { return label(rank, block); }

Label Contract::output(Rank rank, Rank block) const {
  switch (operation) {
    case Operation::broadcast:
      return label(root, 0);
    case Operation::allgather:
      return label(block, 0);
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::barrier:
      break;
  }
  return label(block, rank);
}

Label Contract::label(Rank origin, Rank block) const {
  return {origin, block, uneven() ? uneven_bytes(*this, origin, block) : block_bytes};
}

std::vector<Bytes> Contract::input_offsets(Rank rank) const {
  return offsets(input_blocks(rank), [&](Rank block) { return input(rank, block); });
}

std::vector<Bytes> Contract::output_offsets(Rank rank) const {
  return offsets(output_blocks(), [&](Rank block) { return output(rank, block); });
}

Bytes uneven_bytes(const Contract& contract, Rank source, Rank destination) {
  const std::uint64_t chance = mix(contract.seed + mix(tag({source, destination}, 0)));
  const Bytes unit = contract.pattern == Pattern::tags ? element_bytes : 1;
  return chance % 4 == 0 ? 0 : chance / 4 % (2 * contract.block_bytes / unit + 1) * unit;
}

void fill_input(const Contract& contract, Rank rank, Span input) {
  Bytes begin = 0;
  for (Rank block = 0; block < contract.input_blocks(rank); ++block) {
    const Label label = contract.input(rank, block);
    write(contract, label, input.subspan(begin, label.bytes), 0);
    begin += label.bytes;
  }
}

void spoil_output(const Contract& contract, Rank rank, Span output) {
  Bytes begin = 0;
  for (Rank block = 0; block < contract.output_blocks(); ++block) {
    const Label label = contract.output(rank, block);
    write(contract, label, output.subspan(begin, label.bytes), ~std::uint64_t{0});
    begin += label.bytes;
  }
}

Findings compare_output(const Contract& contract, Rank rank, ConstSpan output) {
  Findings findings;
  findings.compared = true;
  Bytes begin = 0;
  for (Rank block = 0; block < contract.output_blocks(); ++block) {
    const Label label = contract.output(rank, block);
    const Elements elements(contract, label);
    for (Bytes at = 0; at < label.bytes; at += element_bytes) {
      const std::uint64_t right = elements[at / element_bytes];
      std::uint64_t found = right;
      if (at + element_bytes <= label.bytes) {
        std::memcpy(&found, &output[begin + at], element_bytes);
      } else {
        std::memcpy(&found, &output[begin + at], label.bytes - at);
      }
      if (found == right) continue;

      for (std::uint64_t rest = found ^ right; rest != 0; rest >>= 8) {
        findings.wrong_bytes += (rest & 0xff) != 0 ? 1 : 0;
      }
      const bool tags = contract.pattern == Pattern::tags;
      const bool foreign = tags && is_tag(contract, found);
      findings.missing += tags ? 1 : 0;
      findings.foreign += foreign ? 1 : 0;
      if (findings.first.empty()) {
        findings.first = fmt::format("node {}, block {}, byte {}: not from block {} of node {}",
                                     rank, block, at, label.block, label.origin);
        if (foreign) {
          findings.first +=
              fmt::format(", but from block {} of node {}", found >> 16 & 0xffffff, found >> 40);
        }
      }
    }
    begin += label.bytes;
  }
  return findings;
}

std::string Verification::first() const {
  for (const Findings& findings : nodes_) {
    if (!findings.first.empty()) return findings.first;
  }
  return {};
}

std::uint64_t Verification::sum(std::uint64_t Findings::*count) const {
  std::uint64_t sum = 0;
  for (const Findings& findings : nodes_) sum += findings.*count;
  return sum;
}

bool Verification::all_compared() const { return std::ranges::all_of(nodes_, &Findings::compared); }

std::function<void(Node&)> collective_program(const Algorithm& algorithm,
                                              const Parameters& parameters, Bytes block_bytes,
                                              std::uint64_t seed, Verification* verification,
                                              Pattern pattern) {
  if (pattern == Pattern::tags &&
      (block_bytes % element_bytes != 0 || block_bytes > largest_tagged_block)) {
    throw UsageError(fmt::format("tags: blocks of {} bytes; need a multiple of {} up to {}",
                                 block_bytes, element_bytes, largest_tagged_block));
  }
  return [=, &algorithm](Node& node) {
    const Rank r = node.rank();
    const Contract contract{.operation = algorithm.operation,
                            .nodes = node.size(),
                            .root = parameters.root,
                            .block_bytes = block_bytes,
                            .seed = seed,
                            .pattern = pattern};
    std::vector<Bytes> input_offsets, output_offsets;
    if (contract.uneven()) {
      input_offsets = contract.input_offsets(r);
      output_offsets = contract.output_offsets(r);
    }
    const auto bytes = [&](Rank blocks, const std::vector<Bytes>& offsets) {
      return offsets.empty() ? blocks * block_bytes : offsets.back();
    };
    const Memory output = node.memory(bytes(contract.output_blocks(), output_offsets));
    std::optional<Memory> own_input;
    if (!contract.in_place()) {
      own_input.emplace(node, bytes(contract.input_blocks(r), input_offsets), Purpose::staging);
    }
    const Span input = contract.in_place() ? output : own_input->span();

    if (verification != nullptr) {
      node.local([&] {
        spoil_output(contract, r, output);
        fill_input(contract, r, input);
        // Relaxed: what a barrier orders is ordered by its messages.
        verification->entered.fetch_add(1, std::memory_order_relaxed);
      });
    }
    algorithm.program(node,
                      {cut(ConstSpan(input), contract.input_blocks(r), input_offsets),
                       cut(output.span(), contract.output_blocks(), output_offsets), parameters});
    if (verification != nullptr) {
      node.local([&] {
        verification->of(r) = compare_output(contract, r, output);
        const Rank entered = verification->entered.load(std::memory_order_relaxed);
        if (algorithm.operation == Operation::barrier && entered < node.size()) {
          verification->of(r).missing = node.size() - entered;
          verification->of(r).first =
              fmt::format("node {} left when {} of {} nodes had entered", r, entered, node.size());
        }
      });
    }
  };
}

}  // namespace wormcube
