// The pre- and postcondition of every operation.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"

#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/collectives/harness/tags.hpp"
#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

namespace wormcube {

using namespace tags;

namespace {

constexpr std::byte untouched{0xA5};

bool witnesses(const Contract& contract) {
  return contract.operation->reduces && contract.pattern == Pattern::tags;
}

std::uint64_t stream(const Contract& contract, Rank origin, Rank block) {
  return mixed(contract.seed ^ mixed(tag(origin, block, 0)));
}

/// The words of a block that moves; the last one may be cut short.
void write_words(const Contract& contract, Rank origin, Rank block, Span data) {
  const std::uint64_t start = stream(contract, origin, block);
  for (Bytes at = 0; at < data.size(); at += word_bytes) {
    const std::uint64_t i = at / word_bytes;
    const std::uint64_t word = contract.pattern == Pattern::tags
                                   ? tag_in(contract, origin, block, i)
                                   : mixed(start + i * 0x9e3779b97f4a7c15U);
    std::memcpy(&data[at], &word, std::min(word_bytes, data.size() - at));
  }
}

/// Some ranks, each any number of times, have been combined in element `index` of block `block`, in
/// any order: `sum` adds up 64 random bits of each. Two such multisets look equal with a
/// probability of 2^-64.
struct Multiset {
  std::uint64_t sum = 0;
  std::uint32_t block = 0, index = 0;
};
static_assert(sizeof(Multiset) == sizeof(Interval));

/// The operator that reduces tags.
const Reduction& witness(const Contract& contract) {
  static const Reduction multisets = exact(elementwise<Multiset>(
      "multiset",
      [](Multiset x, Multiset y) {
        constexpr Multiset poison{0, 0xffffffff, 0xffffffff};
        return x.block == y.block && x.index == y.index ? Multiset{x.sum + y.sum, x.block, x.index}
                                                        : poison;
      },
      true));
  return contract.commutes ? multisets : interval_reduction();
}

/// Elements that differ only in their index.
template <class Element>
void write_elements(Element element, Span data) {
  for (Bytes at = 0; at < data.size(); at += sizeof(Element), ++element.index) {
    std::memcpy(&data[at], &element, sizeof(Element));
  }
}

/// The order-tracking operator's value for the content.
void write_witness(const Contract& contract, const Content& content, Span data) {
  const auto block = static_cast<std::uint32_t>(content.block) ^ block_salt(contract);
  if (!contract.commutes) return write_elements(Interval{content.first, content.last, block}, data);
  Multiset all{0, block};
  for (Rank rank = content.first; rank < content.last; ++rank) all.sum += mixed(tag(rank, 1, 0));
  write_elements(all, data);
}

Offsets offsets(Rank blocks, auto size) {
  std::vector<Bytes> table{0};
  for (Rank b = 0; b < blocks; ++b) table.push_back(table.back() + size(b));
  return Offsets(std::move(table));
}

}  // namespace

Bytes Contract::element_bytes() const {
  if (operation->reduces) {
    return pattern == Pattern::tags ? sizeof(Interval) : arguments.reduction.element_bytes;
  }
  return pattern == Pattern::tags ? word_bytes : 1;
}

/// From 0 to twice block_bytes; a quarter of them are empty, many are odd.
Bytes Contract::block_size(Rank origin, Rank block) const {
  if (!uneven()) return block_bytes;
  const Rank by_origin = operation->sizes == Sizes::by_block ? 0 : origin;
  const Rank by_block = operation->sizes == Sizes::by_origin ? 0 : block;
  const std::uint64_t chance = mixed(seed + mixed(tag(by_origin, by_block, 0)));
  const Bytes unit = element_bytes();
  return chance % 4 == 0 ? 0 : chance / 4 % (2 * block_bytes / unit + 1) * unit;
}

Offsets Contract::input_offsets(Rank rank) const {
  if (!uneven()) return {block_bytes, gives(rank)};
  return offsets(gives(rank), [&](Rank block) { return block_size(rank, block); });
}

Offsets Contract::output_offsets(Rank rank) const {
  if (!uneven()) return {block_bytes, ends_with(rank)};
  return offsets(ends_with(rank), [&](Rank block) { return size(result(rank, block)); });
}

std::vector<Bytes> Contract::known_sizes() const {
  std::vector<Bytes> sizes;
  if (operation->sizes != Sizes::by_origin && operation->sizes != Sizes::by_block) return sizes;
  for (Rank q = 0; q < nodes; ++q) {
    sizes.push_back(operation->sizes == Sizes::by_origin ? block_size(q, 0) : block_size(0, q));
  }
  return sizes;
}

Rank Contract::place_of_input(Rank rank) const {
  const bool offered = operation->place_of_input != nullptr;
  return offered && (in_place || operation->always_in_place)
             ? operation->place_of_input(instance(), rank)
             : -1;
}

void Contract::require_sizes() const {
  const Bytes element = element_bytes();
  if (block_bytes % element != 0) {
    throw UsageError(
        pattern == Pattern::tags
            ? fmt::format("tags: blocks of {} bytes; need a multiple of {} up to {}", block_bytes,
                          element, largest_tagged_block)
            : fmt::format("{}: blocks of {} bytes; need a multiple of {}, an element of {} {}",
                          operation->name, block_bytes, element, arguments.reduction.name,
                          arguments.reduction.type));
  }
  if (pattern == Pattern::tags && block_bytes > largest_tagged_block) {
    throw UsageError(fmt::format("tags: blocks of {} bytes; need a multiple of {} up to {}",
                                 block_bytes, element, largest_tagged_block));
  }
  if (in_place && operation->place_of_input == nullptr) {
    throw UsageError(fmt::format("{}: its input cannot lie in its output", operation->name));
  }
}

Oracle::Oracle(const Contract& contract) : contract_(contract) {
  if (!contract_.operation->reduces || witnesses(contract_)) return;
  // All results are combinations of nodes 0 .. last-1: one pass over the ranks for each block.
  std::map<Rank, std::vector<Rank>> needed;  // block -> lasts
  for (Rank rank = 0; rank < contract_.nodes; ++rank) {
    for (Rank block = 0; block < contract_.ends_with(rank); ++block) {
      const Content content = contract_.result(rank, block);
      if (content.last > 0) needed[content.block].push_back(content.last);
    }
  }
  const Reduction& reduction = contract_.arguments.reduction;
  for (auto& [block, lasts] : needed) {
    std::ranges::sort(lasts);
    lasts.erase(std::unique(lasts.begin(), lasts.end()), lasts.end());
    std::vector<std::byte> sum(contract_.block_size(0, block)), next(sum.size());
    auto last = lasts.begin();
    for (Rank rank = 0; last != lasts.end(); ++rank) {
      write_operand(rank, block, rank == 0 ? sum : next);
      if (rank > 0) {
        reduction.apply(sum.data(), next.data(), sum.data(), sum.size() / reduction.element_bytes);
      }
      if (*last == rank + 1) {
        reduced_.emplace(std::pair(*last, block), sum);
        ++last;
      }
    }
  }
}

double Oracle::bytes(const Contract& contract) {
  if (!contract.operation->reduces || witnesses(contract)) return 0;
  if (contract.operation->has_sources) {
    return static_cast<double>(contract.block_bytes) * contract.instance().sources();
  }
  const double blocks = contract.ends_with(contract.arguments.root);
  const bool alike = contract.result(0, 0) == contract.result(contract.nodes - 1, 0);
  return static_cast<double>(contract.block_bytes) * (alike ? blocks : contract.nodes);
}

void Oracle::write_operand(Rank origin, Rank block, Span data) const {
  const Reduction& reduction = contract_.arguments.reduction;
  if (reduction.operands) {
    reduction.operands(stream(contract_, origin, block), data);
  } else {
    write_words(contract_, origin, block, data);
  }
}

void Oracle::write_input(Rank rank, Span input) const {
  Bytes begin = 0;
  for (Rank block = 0; block < contract_.gives(rank); ++block) {
    const Span data = input.subspan(begin, contract_.block_size(rank, block));
    begin += data.size();
    write_input_block(rank, block, data);
  }
}

void Oracle::write_input_block(Rank rank, Rank block, Span data) const {
  if (witnesses(contract_)) {
    write_witness(contract_, from(rank, block), data);
  } else if (contract_.operation->reduces) {
    write_operand(rank, block, data);
  } else {
    write_words(contract_, rank, block, data);
  }
}

void Oracle::write(const Content& content, Span block) const {
  if (content.first == content.last) {
    std::ranges::fill(block, untouched);
  } else if (witnesses(contract_)) {
    write_witness(contract_, content, block);
  } else if (contract_.operation->reduces) {
    std::ranges::copy(reduced_.at({content.last, content.block}), block.begin());
  } else {
    write_words(contract_, content.first, content.block, block);
  }
}

std::uint64_t tag_in(const Contract& contract, Rank origin, Rank block, std::uint64_t index) {
  return tag(origin, block, index) ^ salt(contract);
}

Contract contract_of(const Collective& collective, Rank nodes, Bytes block_bytes,
                     std::uint64_t seed, Pattern pattern, bool in_place) {
  Contract contract{
      collective.operation(),
      nodes,
      collective.arguments,
      block_bytes,
      seed,
      pattern,
      in_place,
      collective.algorithm->needs_commutative || collective.arguments.reduction.commutative};
  if (!collective.algorithm->needs_sizes) return contract;
  require_memory("the sizes of all pairs' blocks",
                 static_cast<double>(nodes) * nodes * sizeof(Bytes), "use fewer nodes");
  std::vector<Bytes> sizes;
  sizes.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes));
  for (Rank r = 0; r < nodes; ++r) {
    for (Rank q = 0; q < nodes; ++q) sizes.push_back(contract.block_size(r, q));
  }
  contract.pair_sizes = std::make_shared<const std::vector<Bytes>>(std::move(sizes));
  return contract;
}

Collective witnessed(Collective collective, const Contract& contract) {
  if (witnesses(contract)) collective.arguments.reduction = witness(contract);
  return collective;
}

Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place) {
  const std::string title = fmt::format("{} {}", collective.operation()->name, collective.text());
  topology.require_routable();
  const Program program = collective_program(
      collective,
      contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::words, in_place), nullptr);
  return record_within_limits(fmt::format("replay {} on {}", title, topology.name()), topology,
                              program, collective.arguments.root, title);
}

}  // namespace wormcube
