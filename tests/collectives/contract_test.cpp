// The oracle itself: what it asks for, and that it notices what is wrong.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"

#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <cstring>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

Contract exchange(Rank nodes, Bytes block_bytes, Pattern pattern) {
  return {.operation = Operation::alltoall,
          .nodes = nodes,
          .block_bytes = block_bytes,
          .seed = cases::seed,
          .pattern = pattern};
}

/// What a node must end with, put together from the inputs of all.
std::vector<std::byte> right_output(const Contract& contract, Rank rank) {
  std::vector<std::byte> output;
  for (Rank b = 0; b < contract.output_blocks(); ++b) {
    const Label label = contract.output(rank, b);
    const std::vector<Bytes> offsets = contract.input_offsets(label.origin);
    std::vector<std::byte> input(offsets.back());
    fill_input(contract, label.origin, input);
    output.insert(output.end(), input.begin() + static_cast<std::ptrdiff_t>(offsets[label.block]),
                  input.begin() + static_cast<std::ptrdiff_t>(offsets[label.block + 1]));
  }
  return output;
}

constexpr Operation operations[] = {Operation::broadcast, Operation::allgather, Operation::alltoall,
                                    Operation::alltoallv, Operation::barrier};

}  // namespace

TEST_CASE("what the contracts ask for, in words of 4 nodes", "[collectives][contract]") {
  Contract contract{.operation = Operation::alltoall, .nodes = 4, .root = 2, .block_bytes = 5};
  CHECK(contract.input(1, 3) == Label{1, 3, 5});
  CHECK(contract.output(3, 1) == Label{1, 3, 5});
  CHECK(contract.input_blocks(1) == 4);

  contract.operation = Operation::allgather;
  CHECK(contract.input(1, 0) == Label{1, 0, 5});
  CHECK(contract.output(3, 1) == Label{1, 0, 5});
  CHECK(contract.input_blocks(1) == 1);
  CHECK(contract.output_blocks() == 4);

  contract.operation = Operation::broadcast;
  CHECK(contract.output(3, 0) == Label{2, 0, 5});
  CHECK(contract.input_blocks(2) == 1);
  CHECK(contract.input_blocks(3) == 0);

  contract.operation = Operation::barrier;
  CHECK(contract.output_blocks() == 0);
}

TEST_CASE("the right output is accepted, a spoilt one is wrong in every byte",
          "[collectives][contract]") {
  const Pattern pattern = GENERATE(Pattern::words, Pattern::tags);
  const Bytes block_bytes = pattern == Pattern::tags ? 24 : 21;
  for (const Operation operation : operations) {
    const Contract contract{.operation = operation,
                            .nodes = 5,
                            .root = 3,
                            .block_bytes = block_bytes,
                            .seed = cases::seed,
                            .pattern = pattern};
    for (Rank rank = 0; rank < 5; ++rank) {
      INFO(to_string(operation) << " node " << rank);
      std::vector<std::byte> output = right_output(contract, rank);
      const Findings right = compare_output(contract, rank, output);
      CHECK(right.compared);
      CHECK(right.wrong_bytes == 0);
      CHECK(right.missing == 0);
      CHECK(right.first.empty());

      spoil_output(contract, rank, output);
      const Findings spoilt = compare_output(contract, rank, output);
      CHECK(spoilt.wrong_bytes == output.size());
      CHECK(spoilt.missing == (pattern == Pattern::tags ? output.size() / 8 : 0));
      CHECK(spoilt.foreign == 0);
    }
  }
}

TEST_CASE("swapped, dropped, doubled and damaged blocks are told apart",
          "[collectives][contract]") {
  const Contract contract = exchange(4, 16, Pattern::tags);  // two tags a block
  std::vector<std::byte> output = right_output(contract, 1);
  const auto block = [&](Rank b) { return Blocks(Span(output), 4)[b]; };

  SECTION("two blocks swapped") {
    std::ranges::swap_ranges(block(0), block(2));
    const Findings findings = compare_output(contract, 1, output);
    CHECK(findings.missing == 4);
    CHECK(findings.foreign == 4);
    CHECK(findings.first ==
          "node 1, block 0, byte 0: not from block 1 of node 0, but from block 1 of node 2");
  }
  SECTION("one block dropped") {
    std::vector<std::byte> spoilt(output.size());
    spoil_output(contract, 1, spoilt);
    copy(ConstBlocks(ConstSpan(spoilt), 4)[3], block(3));
    const Findings findings = compare_output(contract, 1, output);
    CHECK(findings.missing == 2);
    CHECK(findings.foreign == 0);
    CHECK(findings.first == "node 1, block 3, byte 0: not from block 1 of node 3");
  }
  SECTION("one block doubled") {
    copy(block(0), block(3));
    const Findings findings = compare_output(contract, 1, output);
    CHECK(findings.missing == 2);
    CHECK(findings.foreign == 2);
  }
  SECTION("two elements of a block swapped") {
    std::ranges::swap_ranges(block(3).first(8), block(3).last(8));
    CHECK(compare_output(contract, 1, output).missing == 2);
  }
  SECTION("a block of another node") {
    output = right_output(contract, 2);
    CHECK(compare_output(contract, 1, output).foreign == 8);
  }
}

TEST_CASE("a single wrong bit is one wrong byte, in whole words and in the rest",
          "[collectives][contract]") {
  const Contract contract = exchange(3, 11, Pattern::words);
  std::vector<std::byte> output = right_output(contract, 0);
  const std::size_t at = GENERATE(0, 7, 8, 10, 11, 32);
  output[at] ^= std::byte{64};
  const Findings findings = compare_output(contract, 0, output);
  CHECK(findings.wrong_bytes == 1);
  CHECK_THAT(findings.first, Contains("node 0, block " + std::to_string(at / 11)));
}

TEST_CASE("other seeds, origins, blocks and places have other words", "[collectives][contract]") {
  std::set<std::uint64_t> words;
  const auto add = [&](const Contract& contract, Rank rank) {
    std::vector<std::byte> input(static_cast<std::size_t>(contract.nodes) * contract.block_bytes);
    fill_input(contract, rank, input);
    for (std::size_t i = 0; i < input.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &input[i], 8);
      words.insert(word);
    }
  };
  Contract contract = exchange(6, 32, Pattern::words);
  for (Rank rank = 0; rank < 6; ++rank) add(contract, rank);
  ++contract.seed;
  for (Rank rank = 0; rank < 6; ++rank) add(contract, rank);
  CHECK(words.size() == 2 * 6 * 6 * 4);
}

TEST_CASE("uneven blocks have the size on which both ends agree, empty and odd ones among them",
          "[collectives][contract]") {
  const Pattern pattern = GENERATE(Pattern::words, Pattern::tags);
  Contract contract = exchange(16, 24, pattern);
  contract.operation = Operation::alltoallv;
  int empty = 0, odd = 0, large = 0;
  for (Rank source = 0; source < 16; ++source) {
    for (Rank destination = 0; destination < 16; ++destination) {
      const Bytes bytes = uneven_bytes(contract, source, destination);
      CHECK(contract.input(source, destination).bytes == bytes);
      CHECK(contract.output(destination, source).bytes == bytes);
      CHECK(bytes <= 48);
      if (pattern == Pattern::tags) CHECK(bytes % 8 == 0);
      empty += bytes == 0 ? 1 : 0;
      odd += bytes % 2 != 0 ? 1 : 0;
      large += bytes > 24 ? 1 : 0;
    }
  }
  CHECK(empty > 32);
  CHECK(large > 32);
  if (pattern == Pattern::words) CHECK(odd > 32);
}

namespace {

/// The shift exchange with one mistake.
template <int mistake>
void wrong_shift(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p);
    const bool wrong = r == 2 && i == 1;
    if (mistake == 0) {
      node.step({send(to, call.input[wrong ? r : to]), receive(from, call.output[from])});
    } else if (mistake == 1 && (wrong || (r == 3 && i == 1))) {  // message 2 -> 3 is left out
      if (r == 2) node.step({receive(from, call.output[from])});
      if (r == 3) node.step({send(to, call.input[to])});
    } else {
      node.step({send(to, call.input[to]), receive(from, call.output[from])});
    }
  }
}

void barrier_of_nothing(Node& /*node*/, const Call& /*call*/) {}

void verify(Operation operation, void (*program)(Node&, const Call&), Verification& verification) {
  const Algorithm algorithm{.operation = operation,
                            .name = "wrong",
                            .summary = "",
                            .source = "",
                            .require = nullptr,
                            .predict = nullptr,
                            .program = program};
  prove(Topology::parse("ring:6"),
        collective_program(algorithm, {}, 16, cases::seed, &verification, Pattern::tags));
}

}  // namespace

TEST_CASE("wrong programs fail, each in its way", "[collectives][contract]") {
  Verification verification(6);
  SECTION("a block sent twice") {
    verify(Operation::alltoall, wrong_shift<0>, verification);
    CHECK_FALSE(verification.delivered());
    CHECK_FALSE(verification.exactly_once());
    CHECK_FALSE(verification.passed());
    CHECK(verification.wrong_bytes() > 0);
    CHECK_THAT(verification.first(), Contains("node 3, block 2"));
  }
  SECTION("a message left out") {
    verify(Operation::alltoall, wrong_shift<1>, verification);
    CHECK_FALSE(verification.delivered());
    CHECK(verification.exactly_once());
    CHECK_FALSE(verification.passed());
  }
  SECTION("without a mistake it passes") {
    verify(Operation::alltoall, wrong_shift<2>, verification);
    CHECK(verification.passed());
  }
  SECTION("a barrier that does not wait") {
    verify(Operation::barrier, barrier_of_nothing, verification);
    CHECK_FALSE(verification.passed());
    CHECK(verification.first() == "node 0 left when 1 of 6 nodes had entered");
  }
  SECTION("nothing compared is not a pass") {
    CHECK_FALSE(verification.passed());
    CHECK_FALSE(verification.delivered());
    CHECK_FALSE(verification.exactly_once());
  }
}

TEST_CASE("tags need blocks of whole tags", "[collectives][contract]") {
  const Algorithm& shift = find_algorithm(Operation::alltoall, "shift");
  CHECK_THROWS_WITH(collective_program(shift, {}, 12, 0, nullptr, Pattern::tags),
                    "tags: blocks of 12 bytes; need a multiple of 8 up to 524288");
  CHECK_THROWS_AS(collective_program(shift, {}, 524296, 0, nullptr, Pattern::tags), UsageError);
}
