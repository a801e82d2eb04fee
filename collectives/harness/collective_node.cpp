// One node's side of a verified collective: prepares, calls, compares.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/tags.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace wormcube {

using namespace tags;

namespace {

/// Describes what was found in place of the expected data.
std::string found_instead(const Contract& contract, ConstSpan place) {
  if (contract.pattern != Pattern::tags || place.size() < contract.element_bytes()) return {};
  if (contract.operation->reduces) {
    if (contract.commutes) return ", but other blocks, or one of them more than once";
    Interval found;
    std::memcpy(&found, place.data(), sizeof(found));
    if (found.first < 0 || found.last > contract.nodes || found.first >= found.last) {
      return ", but a combination out of rank order, or with a block twice";
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
BasicBlocks<Byte> cut(std::span<Byte> data, const Contract& contract, const Offsets& offsets) {
  if (contract.uneven()) return {data, offsets.table()};
  return {data, static_cast<Rank>(offsets.size()) - 1};
}

}  // namespace

bool Verification::passed() const {
  return std::ranges::all_of(nodes_, &Findings::compared) && wrong_bytes() == 0 &&
         wrong_elements() == 0;
}

std::vector<std::pair<Rank, Rank>> Verification::wrong_pairs() const {
  std::vector<std::pair<Rank, Rank>> pairs;
  for (std::size_t to = 0; to < nodes_.size(); ++to) {
    for (const Rank from : nodes_[to].wrong_sources) pairs.emplace_back(from, to);
  }
  std::ranges::sort(pairs);
  return pairs;
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
  for (Rank r = 0; contract.uneven() && r < contract.nodes; ++r) {
    entries += 2.0 + contract.gives(r) + contract.ends_with(r);
  }
  entries += static_cast<double>(contract.known_sizes().size()) * contract.nodes;
  if (contract.pair_sizes) entries += static_cast<double>(contract.pair_sizes->size());
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
  // Every byte that the call must write is overwritten first, so that missing data is noticed.
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
  collective_.algorithm->program(
      node_, {cut(ConstSpan(input()), contract_, input_offsets_),
              cut(output_.span(), contract_, output_offsets_), collective_.arguments,
              collective_.options, contract_.pair_sizes ? *contract_.pair_sizes : sizes_});
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
      if (content.last == content.first + 1) findings.wrong_sources.insert(content.first);
      ++findings.wrong_elements;
      if (findings.first.empty()) {
        findings.first = fmt::format("node {}, block {}, byte {}: {}{}", r, block, at,
                                     wanted(contract_, content),
                                     found_instead(contract_, found.subspan(at, bytes)));
      }
    }
  }
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
