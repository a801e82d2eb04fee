// What every operation promises, and comparing with it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"

#include "wormcube/runtime/base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr Bytes word_bytes = sizeof(std::uint64_t);
constexpr std::byte untouched{0xA5};

/// Where an element comes from: 24 bits of origin, 24 of block, 16 of index.
std::uint64_t tag(Rank origin, Rank block, std::uint64_t index) {
  return static_cast<std::uint64_t>(origin) << 40 | static_cast<std::uint64_t>(block) << 16 | index;
}
constexpr std::uint64_t origin_of(std::uint64_t tag) { return tag >> 40; }
constexpr std::uint64_t block_of(std::uint64_t tag) { return tag >> 16 & 0xffffff; }
constexpr std::uint64_t index_of(std::uint64_t tag) { return tag & 0xffff; }

/// What tags are written with, by exclusive or: random bits, so that neither zeros nor any other
/// constant of a program is a block that somebody gave. With the highest one, zeros, sizes and
/// numbers of nodes are read as of an origin that no network has.
std::uint64_t salt(const Contract& contract) {
  return mixed(contract.seed + 0x9e3779b97f4a7c15U) | std::uint64_t{1} << 63;
}
/// The same for the number of a block in a witness of reductions.
std::uint32_t block_salt(const Contract& contract) {
  return static_cast<std::uint32_t>(salt(contract));
}

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
/// whatever order: `sum` adds up 64 random bits of each. Two such multisets look alike with a
/// chance of 2^-64.
struct Multiset {
  std::uint64_t sum = 0;
  std::uint32_t block = 0, index = 0;
};
static_assert(sizeof(Multiset) == sizeof(Interval));

/// What tags are reduced with.
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

/// Elements that differ in their index alone.
template <class Element>
void write_elements(Element element, Span data) {
  for (Bytes at = 0; at < data.size(); at += sizeof(Element), ++element.index) {
    std::memcpy(&data[at], &element, sizeof(Element));
  }
}

/// What the witness makes of the content.
void write_witness(const Contract& contract, const Content& content, Span data) {
  const auto block = static_cast<std::uint32_t>(content.block) ^ block_salt(contract);
  if (!contract.commutes) return write_elements(Interval{content.first, content.last, block}, data);
  Multiset all{0, block};
  for (Rank rank = content.first; rank < content.last; ++rank) all.sum += mixed(tag(rank, 1, 0));
  write_elements(all, data);
}

std::vector<Bytes> offsets(Rank blocks, auto size) {
  std::vector<Bytes> offsets{0};
  for (Rank b = 0; b < blocks; ++b) offsets.push_back(offsets.back() + size(b));
  return offsets;
}

/// What stands at a place where something else should, in words.
std::string found_instead(const Contract& contract, ConstSpan place) {
  if (contract.pattern != Pattern::tags || place.size() < contract.element_bytes()) return {};
  if (contract.operation->reduces) {
    if (contract.commutes) return ", but other blocks, or one of them more than once";
    Interval found;
    std::memcpy(&found, place.data(), sizeof(found));
    if (found.first < 0 || found.last > contract.nodes || found.first >= found.last) {
      return ", but what was not combined in the order of ranks, or twice";
    }
    return fmt::format(", but the combination of nodes {} to {}, block {}", found.first,
                       found.last - 1, found.block ^ block_salt(contract));
  }
  std::uint64_t element = 0;
  std::memcpy(&element, place.data(), sizeof(element));
  element ^= salt(contract);
  if (origin_of(element) >= static_cast<std::uint64_t>(contract.nodes) ||
      block_of(element) >= static_cast<std::uint64_t>(contract.nodes)) {
    return {};
  }
  return fmt::format(", but from block {} of node {}", block_of(element), origin_of(element));
}

std::string wanted(const Contract& contract, const Content& content) {
  if (content.first == content.last) return "not left as it was";
  if (!contract.operation->reduces) {
    return fmt::format("not from block {} of node {}", content.block, content.first);
  }
  return fmt::format("not the combination of nodes {} to {}, block {}", content.first,
                     content.last - 1, content.block);
}

template <class Byte>
BasicBlocks<Byte> cut(std::span<Byte> data, const Contract& contract,
                      const std::vector<Bytes>& offsets) {
  if (contract.uneven()) return {data, offsets};
  return {data, static_cast<Rank>(offsets.size()) - 1};
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

std::vector<Bytes> Contract::input_offsets(Rank rank) const {
  return offsets(gives(rank), [&](Rank block) { return block_size(rank, block); });
}

std::vector<Bytes> Contract::output_offsets(Rank rank) const {
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

Arrivals::Arrivals(const Contract& contract)
    : contract_(contract),
      counted_(contract.pattern == Pattern::tags),
      blocks_per_node_(0),
      elements_per_block_(contract.block_bytes / contract.element_bytes() *
                          (contract.uneven() ? 2 : 1)) {
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    blocks_per_node_ = std::max<std::uint64_t>(blocks_per_node_, contract.gives(rank));
  }
  counted_ = counted_ && blocks_per_node_ > 0 && expected_bytes() <= most_bytes;
  if (!counted_) return;
  const auto nodes = static_cast<std::size_t>(contract.nodes);
  contract.operation->reduces ? combinations_.resize(nodes) : seen_.resize(nodes);
}

double Arrivals::expected_bytes() const {
  const auto p = static_cast<double>(contract_.nodes);
  const auto elements = static_cast<double>(blocks_per_node_ * elements_per_block_);
  constexpr double bits = 8;
  if (!contract_.operation->reduces) return p * p * elements / bits;
  // Of each block a node receives partial results, about log p of them, and the whole one.
  return p * elements * (std::log2(p) + 1) * bytes_per_combination;
}

double Arrivals::bytes(const Contract& contract) {
  const Arrivals arrivals(contract);
  return arrivals.counted_ ? arrivals.expected_bytes() : 0;
}

void Arrivals::add(Rank to, std::span<const Span> pieces) {
  if (!counted_) return;
  const Bytes bytes = contract_.element_bytes();
  for (const Span piece : pieces) {
    for (Bytes at = 0; at + bytes <= piece.size() && counted_; at += bytes) {
      if (contract_.operation->reduces) {
        add_combination(to, piece.subspan(at, bytes));
        continue;
      }
      std::uint64_t element = 0;
      std::memcpy(&element, &piece[at], word_bytes);
      add(to, element ^ salt(contract_));
    }
  }
}

void Arrivals::add_combination(Rank to, ConstSpan element) {
  Combination combination;
  static_assert(sizeof(combination) == sizeof(Interval));
  std::memcpy(combination.data(), element.data(), sizeof(combination));
  Interval interval;
  std::memcpy(&interval, element.data(), sizeof(interval));
  const std::uint32_t block = interval.block ^ block_salt(contract_);
  if (block >= blocks_per_node_ || interval.index >= elements_per_block_) return;  // no witness
  const bool ranks =
      interval.first >= 0 && interval.first < interval.last && interval.last <= contract_.nodes;
  if (!contract_.commutes && !ranks) return;
  if (!combinations_[static_cast<std::size_t>(to)].insert(combination).second) {
    ++repeated_;
    if (first_.empty()) {
      first_ =
          contract_.commutes
              ? fmt::format("node {} receives the same combination of block {} twice", to, block)
              : fmt::format(
                    "node {} receives the combination of nodes {} to {}, block {}, "
                    "twice",
                    to, interval.first, interval.last - 1, block);
    }
  }
  constexpr auto most = static_cast<std::size_t>(most_bytes / bytes_per_combination);
  counted_ = ++combinations_kept_ < most;
}

void Arrivals::add(Rank to, std::uint64_t element) {
  const auto nodes = static_cast<std::uint64_t>(contract_.nodes);
  if (origin_of(element) >= nodes || block_of(element) >= blocks_per_node_ ||
      index_of(element) >= elements_per_block_) {
    return;  // not a tag: what the program says for itself
  }
  auto& seen = seen_[static_cast<std::size_t>(to)];
  if (seen.empty()) seen.resize(nodes * blocks_per_node_ * elements_per_block_);
  // By block first: a node that receives only its own block of everybody's stays within some lines
  // of memory.
  const auto place =
      (block_of(element) * nodes + origin_of(element)) * elements_per_block_ + index_of(element);
  if (seen[place]) {
    ++repeated_;
    if (first_.empty()) {
      first_ = fmt::format("node {} receives block {} of node {} twice", to, block_of(element),
                           origin_of(element));
    }
  }
  seen[place] = true;
}

bool Verification::passed() const {
  return std::ranges::all_of(nodes_, &Findings::compared) && wrong_bytes() == 0 &&
         wrong_elements() == 0;
}

std::string Verification::first() const {
  for (const Findings& findings : nodes_) {
    if (!findings.first.empty()) return findings.first;
  }
  return {};
}

std::uint64_t Verification::sum(std::uint64_t Findings::*count) const {
  std::uint64_t all = 0;
  for (const Findings& findings : nodes_) all += findings.*count;
  return all;
}

CollectiveNode::CollectiveNode(Node& node, const Collective& collective, const Contract& contract,
                               Verification* verification)
    : node_(node),
      collective_(collective),
      contract_(contract),
      verification_(verification),
      input_offsets_(contract.input_offsets(node.rank())),
      output_offsets_(contract.output_offsets(node.rank())),
      sizes_(contract.known_sizes()),
      output_(node.memory(output_offsets_.back())),
      own_input_(
          node.memory(contract.place_of_input(node.rank()) >= 0 ? 0 : input_offsets_.back())) {}

double CollectiveNode::table_bytes(const Contract& contract) {
  double entries = 0;
  for (Rank r = 0; r < contract.nodes; ++r) {
    entries += 2.0 + contract.gives(r) + contract.ends_with(r);
  }
  entries += static_cast<double>(contract.known_sizes().size()) * contract.nodes;
  return entries * sizeof(Bytes);
}

Span CollectiveNode::input() const {
  const Rank place = contract_.place_of_input(node_.rank());
  if (place < 0) return own_input_;
  return output_.subspan(output_offsets_[static_cast<std::size_t>(place)], input_offsets_.back());
}

void CollectiveNode::prepare() {
  if (verification_ == nullptr) return;
  const Rank r = node_.rank();
  const Oracle& oracle = verification_->oracle;
  // Every byte that the call must write is made wrong, so that what nobody delivers is noticed.
  for (Rank block = 0; block < contract_.ends_with(r); ++block) {
    const auto begin = output_offsets_[static_cast<std::size_t>(block)];
    const Content content = contract_.result(r, block);
    const Span place = output_.subspan(begin, contract_.size(content));
    oracle.write(content, place);
    if (content.first == content.last) continue;
    for (std::byte& byte : place) byte = ~byte;
  }
  oracle.write_input(r, input());
}

void CollectiveNode::enter() {
  if (verification_ != nullptr && verification_->entered) verification_->entered->add_one();
}

void CollectiveNode::operator()() {
  collective_.algorithm->program(node_, {cut(ConstSpan(input()), contract_, input_offsets_),
                                         cut(output_.span(), contract_, output_offsets_),
                                         collective_.arguments, collective_.options, sizes_});
}

void CollectiveNode::compare() {
  if (verification_ == nullptr) return;
  const Rank r = node_.rank();
  Findings& findings = verification_->of(r);
  findings = {};
  findings.compared = true;
  struct Turn {
    explicit Turn(std::counting_semaphore<>& all) : turns(all) { turns.acquire(); }
    ~Turn() { turns.release(); }
    std::counting_semaphore<>& turns;
  } const turn(verification_->comparing);
  compare_outputs(findings);
  if (contract_.place_of_input(r) < 0) {
    std::vector<std::byte> right;
    bool changed = false;
    for (std::size_t block = 0; block + 1 < input_offsets_.size() && !changed; ++block) {
      const Bytes begin = input_offsets_[block];
      right.resize(input_offsets_[block + 1] - begin);
      verification_->oracle.write_input_block(r, static_cast<Rank>(block), right);
      changed = !std::ranges::equal(right, own_input_.span().subspan(begin, right.size()));
    }
    if (changed) {
      ++findings.wrong_bytes;
      if (findings.first.empty()) findings.first = fmt::format("node {}: its input was changed", r);
    }
  }
  const auto nodes = static_cast<std::uint64_t>(contract_.nodes);
  const std::uint64_t entered = verification_->entered ? verification_->entered->value() : nodes;
  if (entered < nodes) {
    findings.wrong_elements = nodes - entered;
    findings.first = fmt::format("node {} left when {} of {} nodes had entered", r, entered, nodes);
  }
}

void CollectiveNode::compare_outputs(Findings& findings) {
  const Rank r = node_.rank();
  const Bytes element = contract_.element_bytes();
  std::vector<std::byte> right;
  for (Rank block = 0; block < contract_.ends_with(r); ++block) {
    const Content content = contract_.result(r, block);
    const Span found =
        output_.subspan(output_offsets_[static_cast<std::size_t>(block)], contract_.size(content));
    right.resize(found.size());
    verification_->oracle.write(content, right);
    if (std::ranges::equal(right, found)) continue;
    for (Bytes at = 0; at < found.size(); at += element) {
      const Bytes bytes = std::min(element, found.size() - at);
      std::uint64_t wrong = 0;
      for (Bytes i = at; i < at + bytes; ++i) wrong += right[i] != found[i] ? 1 : 0;
      if (wrong == 0) continue;
      findings.wrong_bytes += wrong;
      ++findings.wrong_elements;
      if (findings.first.empty()) {
        findings.first = fmt::format("node {}, block {}, byte {}: {}{}", r, block, at,
                                     wanted(contract_, content),
                                     found_instead(contract_, found.subspan(at, bytes)));
      }
    }
  }
}

std::uint64_t tag_in(const Contract& contract, Rank origin, Rank block, std::uint64_t index) {
  return tag(origin, block, index) ^ salt(contract);
}
std::uint64_t read_tag(const Contract& contract, std::uint64_t element) {
  return element ^ salt(contract);
}
std::uint32_t read_block(const Contract& contract, std::uint32_t block) {
  return block ^ block_salt(contract);
}

Contract contract_of(const Collective& collective, Rank nodes, Bytes block_bytes,
                     std::uint64_t seed, Pattern pattern, bool in_place) {
  return {collective.operation(),
          nodes,
          collective.arguments,
          block_bytes,
          seed,
          pattern,
          in_place,
          collective.algorithm->needs_commutative || combining(collective) == Combining::reordered};
}

Collective witnessed(Collective collective, const Contract& contract) {
  if (witnesses(contract)) collective.arguments.reduction = witness(contract);
  return collective;
}

std::function<void(Node&)> collective_program(const Collective& collective,
                                              const Contract& contract,
                                              Verification* verification) {
  contract.require_sizes();
  return [collective = witnessed(collective, contract), contract, verification](Node& node) {
    CollectiveNode call(node, collective, contract, verification);
    node.local([&] {
      call.prepare();
      call.enter();
    });
    call();
    node.local([&] { call.compare(); });
  };
}

}  // namespace wormcube
