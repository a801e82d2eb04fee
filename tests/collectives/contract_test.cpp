// The oracle: what it demands, and that it detects wrong results.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"

#include "wormcube/collectives/harness/tags.hpp"
#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

std::uint64_t read_tag(const Contract& contract, std::uint64_t element) {
  return element ^ tags::salt(contract);
}
std::uint32_t read_block(const Contract& contract, std::uint32_t block) {
  return block ^ tags::block_salt(contract);
}

using Program4 = void (*)(Node&, const Call&);

/// The arguments of every kind of call.
Arguments some_arguments() {
  Arguments arguments;
  arguments.root = 2;
  arguments.by = 3;
  arguments.sources = {1, 3};
  arguments.reduction = find_reduction("compose", "affine");
  return arguments;
}

Contract contract_for(Operation operation, Rank nodes, Bytes block_bytes, Pattern pattern) {
  return {.operation = operation,
          .nodes = nodes,
          .arguments = some_arguments(),
          .block_bytes = block_bytes,
          .seed = cases::seed,
          .pattern = pattern};
}

/// Two elements a block.
Bytes two_elements(Operation operation, Pattern pattern) {
  return 2 * std::max<Bytes>(contract_for(operation, 1, 0, pattern).element_bytes(), 8);
}

std::vector<std::byte> input_of(const Oracle& oracle, Rank rank) {
  std::vector<std::byte> input(oracle.contract().input_offsets(rank).back());
  oracle.write_input(rank, input);
  return input;
}

/// Block `block` of a node's input.
std::vector<std::byte> input_block(const Oracle& oracle, Rank rank, Rank block) {
  const Offsets offsets = oracle.contract().input_offsets(rank);
  const std::vector<std::byte> input = input_of(oracle, rank);
  const auto at = [&](Rank b) {
    return input.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(b)]);
  };
  return {at(block), at(block + 1)};
}

/// What a block must hold, put together from the inputs of all.
std::vector<std::byte> right_block(const Oracle& oracle, const Content& content) {
  const Contract& contract = oracle.contract();
  std::vector<std::byte> sum = input_block(oracle, content.first, content.block);
  const Reduction& reduction =
      contract.pattern == Pattern::tags ? interval_reduction() : contract.arguments.reduction;
  for (Rank rank = content.first + 1; rank < content.last; ++rank) {
    const std::vector<std::byte> next = input_block(oracle, rank, content.block);
    reduction.apply(sum.data(), next.data(), sum.data(), sum.size() / reduction.element_bytes);
  }
  return sum;
}

/// A collective with this program instead of an algorithm's.
class Wrong {
 public:
  Wrong(Operation operation, Program4 program) : algorithm_(mutant(operation, program)) {}
  cases::Outcome outcome(Rank nodes, bool in_place = false) const {
    const Collective collective(algorithm_, some_arguments());
    const Topology topology({Graph::complete(nodes)});
    const Bytes bytes = two_elements(algorithm_.operation, Pattern::tags);
    return cases::outcome({collective, topology, bytes, Pattern::tags, in_place}, topology);
  }

 private:
  static Algorithm mutant(Operation operation, Program4 program) {
    Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
    algorithm.operation = operation;
    algorithm.name = "wrong";
    algorithm.program = program;
    return algorithm;
  }
  Algorithm algorithm_;
};

cases::Outcome outcome(Operation operation, Program4 program, Rank nodes = 4,
                       bool in_place = false) {
  return Wrong(operation, program).outcome(nodes, in_place);
}

void shift(Node& node, const Call& call) {
  find_algorithm(operations::alltoall, "shift").program(node, call);
}

}  // namespace

TEST_CASE("what the operations ask for, in words of 4 nodes", "[collectives][contract]") {
  // "r: given -> block block ..": "q.b" is block b of node q, "0-2.b" that of nodes 0 to 2
  // combined.
  const auto words = [](Operation operation) {
    Arguments arguments = some_arguments();
    const Instance on{4, arguments};
    std::string text;
    for (Rank rank = 0; rank < 4; ++rank) {
      text += (rank == 0 ? "" : " | ") + std::to_string(operation->gives(on, rank)) + " ->";
      for (Rank block = 0; block < operation->ends_with(on, rank); ++block) {
        const Content content = operation->result(on, rank, block);
        text += " ";
        if (content.first == content.last) {
          text += "same";
          continue;
        }
        text += std::to_string(content.first);
        if (content.last - content.first > 1) text += "-" + std::to_string(content.last - 1);
        text += "." + std::to_string(content.block);
      }
    }
    return text;
  };
  // Root 2, shift by 3, sources 1 and 3.
  const std::map<std::string_view, const char*> expected{
      {"broadcast", "0 -> 2.0 | 0 -> 2.0 | 1 -> 2.0 | 0 -> 2.0"},
      {"reduce", "1 -> | 1 -> | 1 -> 0-3.0 | 1 ->"},
      {"allgather",
       "1 -> 0.0 1.0 2.0 3.0 | 1 -> 0.0 1.0 2.0 3.0 | 1 -> 0.0 1.0 2.0 3.0 | 1 -> 0.0 1.0 2.0 "
       "3.0"},
      {"reduce_scatter", "4 -> 0-3.0 | 4 -> 0-3.1 | 4 -> 0-3.2 | 4 -> 0-3.3"},
      {"allreduce", "1 -> 0-3.0 | 1 -> 0-3.0 | 1 -> 0-3.0 | 1 -> 0-3.0"},
      {"scan", "1 -> 0.0 | 1 -> 0-1.0 | 1 -> 0-2.0 | 1 -> 0-3.0"},
      {"exscan", "1 -> same | 1 -> 0.0 | 1 -> 0-1.0 | 1 -> 0-2.0"},
      {"barrier", "0 -> | 0 -> | 0 -> | 0 ->"},
      {"scatter", "0 -> 2.0 | 0 -> 2.1 | 4 -> 2.2 | 0 -> 2.3"},
      {"gather", "1 -> | 1 -> | 1 -> 0.0 1.0 2.0 3.0 | 1 ->"},
      {"alltoall",
       "4 -> 0.0 1.0 2.0 3.0 | 4 -> 0.1 1.1 2.1 3.1 | 4 -> 0.2 1.2 2.2 3.2 | 4 -> 0.3 1.3 2.3 "
       "3.3"},
      {"shift", "1 -> 1.0 | 1 -> 2.0 | 1 -> 3.0 | 1 -> 0.0"},
      {"permute", "1 -> 3.0 | 1 -> 2.0 | 1 -> 1.0 | 1 -> 0.0"},
      {"k_reduce", "2 -> | 2 -> 0-3.0 | 2 -> | 2 -> 0-3.1"},
      {"k_gather", "2 -> | 2 -> 0.0 1.0 2.0 3.0 | 2 -> | 2 -> 0.1 1.1 2.1 3.1"},
      {"k_broadcast", "0 -> 1.0 3.0 | 1 -> 1.0 3.0 | 0 -> 1.0 3.0 | 1 -> 1.0 3.0"},
      {"k_alltoall", "0 -> 1.0 3.0 | 4 -> 1.1 3.1 | 0 -> 1.2 3.2 | 4 -> 1.3 3.3"}};
  for (const Operation operation : all_operations) {
    std::string_view name = operation->name;
    if (operation->sizes != Sizes::equal) {  // the same with blocks whose sizes differ
      REQUIRE(name.ends_with("v"));
      name.remove_suffix(1);
    }
    INFO(operation->name);
    REQUIRE(expected.contains(name));
    CHECK(words(operation) == expected.at(name));
  }
  CHECK(all_operations.size() == expected.size() + 5);
}

TEST_CASE("the rows say where an input may lie in the output, and who counts as what",
          "[collectives][contract]") {
  const Arguments arguments = some_arguments();
  const Instance on{4, arguments};
  const std::map<std::string_view, std::vector<Rank>> places{
      {"broadcast", {-1, -1, 0, -1}}, {"reduce", {-1, -1, 0, -1}}, {"allgather", {0, 1, 2, 3}},
      {"allreduce", {0, 0, 0, 0}},    {"scan", {0, 0, 0, 0}},      {"gather", {-1, -1, 2, -1}},
      {"shift", {0, 0, 0, 0}},        {"permute", {0, 0, 0, 0}}};
  for (const Operation operation : all_operations) {
    INFO(operation->name);
    const auto found = places.find(operation->name);
    CHECK((operation->place_of_input != nullptr) == (found != places.end()));
    if (found == places.end()) continue;
    for (Rank rank = 0; rank < 4; ++rank) {
      CHECK(operation->place_of_input(on, rank) == found->second[static_cast<std::size_t>(rank)]);
    }
  }
  CHECK(on.is_source(1));
  CHECK_FALSE(on.is_source(2));
  const Arguments none;
  CHECK(Instance{4, none}.sources() == 1);
  CHECK(Instance{4, none}.is_source(0));
}

TEST_CASE("the oracle wants what the inputs add up to", "[collectives][contract]") {
  const Pattern pattern = GENERATE(Pattern::words, Pattern::tags);
  for (const Operation operation : all_operations) {
    const Oracle oracle(contract_for(operation, 5, two_elements(operation, pattern), pattern));
    const Contract& contract = oracle.contract();
    for (Rank rank = 0; rank < 5; ++rank) {
      for (Rank block = 0; block < contract.ends_with(rank); ++block) {
        INFO(operation->name << " node " << rank << " block " << block);
        const Content content = contract.result(rank, block);
        if (content.first == content.last) continue;
        std::vector<std::byte> wanted(contract.size(content));
        oracle.write(content, wanted);
        CHECK(wanted == right_block(oracle, content));
      }
    }
  }
}

namespace {

/// Writes what the oracle wants, without a message.
const Oracle* omniscient = nullptr;
void knows_all(Node& node, const Call& call) {
  node.local([&] {
    const Contract& contract = omniscient->contract();
    for (Rank block = 0; block < call.output.count(); ++block) {
      const Content content = contract.result(node.rank(), block);
      if (content.first < content.last) omniscient->write(content, call.output[block]);
    }
  });
}
void says_nothing(Node&, const Call&) {}

}  // namespace

TEST_CASE("the right output is accepted, where nothing is written every byte is wrong",
          "[collectives][contract]") {
  const Pattern pattern = GENERATE(Pattern::words, Pattern::tags);
  const Topology topology({Graph::complete(5)});
  for (const Operation operation : all_operations) {
    if (operation == Operation(operations::barrier)) continue;  // it has no output
    INFO(operation->name);
    Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
    algorithm.operation = operation;
    algorithm.program = knows_all;
    const Collective right(algorithm, some_arguments());
    const cases::Call call(right, topology, two_elements(operation, pattern), pattern);
    const Oracle oracle(call.contract);
    omniscient = &oracle;
    const cases::Outcome found = cases::outcome(call, topology);
    INFO(found.first);
    CHECK(found.delivered);
    CHECK(found.wrong_bytes == 0);
    CHECK(found.wrong_elements == 0);

    algorithm.program = says_nothing;
    std::uint64_t bytes = 0;
    for (Rank rank = 0; rank < 5; ++rank) {
      for (Rank block = 0; block < call.contract.ends_with(rank); ++block) {
        const Content content = call.contract.result(rank, block);
        const bool in_place = call.contract.place_of_input(rank) == block;
        if (content.first < content.last && !in_place) bytes += call.contract.size(content);
      }
    }
    const cases::Outcome nothing = cases::outcome(call, topology);
    CHECK(bytes > 0);
    CHECK_FALSE(nothing.delivered);
    CHECK(nothing.wrong_bytes == bytes);
    if (pattern == Pattern::tags) {
      CHECK(nothing.wrong_elements == bytes / call.contract.element_bytes());
    }
  }
}

namespace {

template <int mistake>
void spoilt_shift(Node& node, const Call& call) {
  shift(node, call);
  if (node.rank() != 1) return;
  node.local([&] {
    const auto block = [&](Rank b) { return call.output[b]; };
    if (mistake == 0) std::ranges::swap_ranges(block(0), block(2));
    if (mistake == 1) std::ranges::fill(block(3), std::byte{0xff});
    if (mistake == 2) copy(block(0), block(3));
    if (mistake == 3) std::ranges::swap_ranges(block(3).first(8), block(3).last(8));
    if (mistake == 4) block(2)[9] ^= std::byte{64};
  });
}

}  // namespace

TEST_CASE("swapped, dropped, doubled and damaged blocks are distinguished",
          "[collectives][contract]") {
  const Operation exchange = operations::alltoall;  // two tags a block
  SECTION("two blocks swapped") {
    const cases::Outcome found = outcome(exchange, spoilt_shift<0>);
    CHECK_FALSE(found.delivered);
    CHECK(found.wrong_elements == 4);
    CHECK(found.first ==
          "node 1, block 0, byte 0: not from block 1 of node 0, but from block 1 of node 2");
  }
  SECTION("one block dropped") {
    const cases::Outcome found = outcome(exchange, spoilt_shift<1>);
    CHECK(found.wrong_elements == 2);
    CHECK(found.wrong_bytes == 16);
    CHECK(found.first == "node 1, block 3, byte 0: not from block 1 of node 3");
  }
  SECTION("one block doubled") {
    const cases::Outcome found = outcome(exchange, spoilt_shift<2>);
    CHECK(found.wrong_elements == 2);
    CHECK_THAT(found.first, Contains("block 3") && Contains("but from block 1 of node 0"));
  }
  SECTION("two elements of a block swapped") {
    CHECK(outcome(exchange, spoilt_shift<3>).wrong_elements == 2);
  }
  SECTION("a single wrong bit is one wrong byte") {
    const cases::Outcome found = outcome(exchange, spoilt_shift<4>);
    CHECK(found.wrong_bytes == 1);
    CHECK(found.wrong_elements == 1);
    CHECK_THAT(found.first, Contains("node 1, block 2, byte 8"));
  }
  SECTION("without a mistake it passes") { CHECK(outcome(exchange, shift).delivered); }
}

TEST_CASE("a single wrong bit is one wrong byte, in whole words and in the rest",
          "[collectives][contract]") {
  static std::size_t at;
  at = GENERATE(0U, 7U, 8U, 10U, 11U, 32U);
  Algorithm mutant = find_algorithm(operations::alltoall, "shift");
  mutant.program = [](Node& node, const Call& call) {
    shift(node, call);
    node.local([&] {
      if (node.rank() == 0) call.output.all()[at] ^= std::byte{64};
    });
  };
  const Topology topology = Topology::parse("ring:3");
  const cases::Outcome found =
      cases::outcome({Collective(mutant), topology, 11, Pattern::words}, topology);
  CHECK(found.wrong_bytes == 1);
  CHECK_THAT(found.first, Contains("node 0, block " + std::to_string(at / 11)));
}

TEST_CASE("words and tags are those of splitmix64", "[collectives][contract]") {
  // Steele, Lea, Flood 2014: the finaliser, and the step of its counter.
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  };
  const auto word_of = [](const std::vector<std::byte>& block, std::size_t i) {
    std::uint64_t word = 0;
    std::memcpy(&word, &block[8 * i], 8);
    return word;
  };
  Contract contract = contract_for(operations::alltoall, 6, 24, Pattern::words);
  contract.seed =
      3;  // the salt has its highest bit by itself with half of the seeds, not with this one
  const std::vector<std::byte> words = input_block(Oracle(contract), 5, 3);
  contract.pattern = Pattern::tags;
  const std::vector<std::byte> tags = input_block(Oracle(contract), 5, 3);
  const std::uint64_t first = std::uint64_t{5} << 40 | 3U << 16;
  const std::uint64_t salt = mixed(3 + golden) | std::uint64_t{1} << 63;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(word_of(words, i) == mixed(mixed(3 ^ mixed(first)) + i * golden));
    CHECK(word_of(tags, i) == ((first | i) ^ salt));
    CHECK(read_tag(contract, word_of(tags, i)) == (first | i));
  }
}

TEST_CASE("other seeds, origins, blocks and places have other words", "[collectives][contract]") {
  std::set<std::uint64_t> words;
  Contract contract = contract_for(operations::alltoall, 6, 32, Pattern::words);
  for (int seeds = 0; seeds < 2; ++seeds, ++contract.seed) {
    const Oracle oracle(contract);
    for (Rank rank = 0; rank < 6; ++rank) {
      const std::vector<std::byte> input = input_of(oracle, rank);
      REQUIRE(input.size() == 6 * 32);
      for (std::size_t i = 0; i < input.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, &input[i], 8);
        words.insert(word);
      }
    }
  }
  CHECK(words.size() == 2 * 6 * 6 * 4);
}

TEST_CASE("uneven blocks have the size on which both ends agree, empty and odd ones among them",
          "[collectives][contract]") {
  const Pattern pattern = GENERATE(Pattern::words, Pattern::tags);
  const Contract contract = contract_for(operations::alltoallv, 16, 24, pattern);
  int empty = 0, odd = 0, large = 0;
  for (Rank source = 0; source < 16; ++source) {
    const Offsets given = contract.input_offsets(source);
    for (Rank destination = 0; destination < 16; ++destination) {
      const Bytes bytes = contract.block_size(source, destination);
      const Offsets got = contract.output_offsets(destination);
      const auto size = [](const Offsets& offsets, Rank block) {
        return offsets[static_cast<std::size_t>(block) + 1] -
               offsets[static_cast<std::size_t>(block)];
      };
      CHECK(size(given, destination) == bytes);
      CHECK(size(got, source) == bytes);
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
  CHECK(contract.known_sizes().empty());
}

TEST_CASE("sizes that all nodes must know depend on the origin, or on the block, alone",
          "[collectives][contract]") {
  for (const Operation operation : all_operations) {
    INFO(operation->name);
    const Contract contract = contract_for(operation, 16, 24, Pattern::words);
    const std::vector<Bytes> known = contract.known_sizes();
    const bool by_origin = operation->sizes == Sizes::by_origin;
    if (!by_origin && operation->sizes != Sizes::by_block) {
      CHECK(known.empty());
      continue;
    }
    REQUIRE(known.size() == 16);
    CHECK(std::set(known.begin(), known.end()).size() > 4);
    for (Rank origin = 0; origin < 16; ++origin) {
      for (Rank block = 0; block < 16; ++block) {
        CHECK(contract.block_size(origin, block) ==
              known[static_cast<std::size_t>(by_origin ? origin : block)]);
      }
    }
  }
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
  // Node 2's block for node 3 once more: it has come already.
  if (mistake == 3 && r == 2) node.step({send(3, call.input[3])});
  if (mistake == 3 && r == 3) node.step({receive(2, call.output[2])});
  if (mistake == 3 && r != 2 && r != 3) node.step();
}

/// Through a node that has no use for it, twice: nothing in the output shows it.
void by_way_of_node_0_twice(Node& node, const Call& call) {
  shift(node, call);
  const Memory guest = node.memory(call.input[0].size());
  for (int turn = 0; turn < 2; ++turn) {
    if (node.rank() == 1) node.step({send(0, call.input[3])});
    if (node.rank() == 0) node.step({receive(1, guest)});
    if (node.rank() > 1) node.step();
  }
}

template <Rank block>
void changes_its_input(Node& node, const Call& call) {
  shift(node, call);
  node.local([&] {
    if (node.rank() == 3) {
      const ConstSpan changed = call.input[block];
      const_cast<std::byte*>(changed.data())[2] ^= std::byte{1};
    }
  });
}

}  // namespace

TEST_CASE("wrong programs fail with the right error", "[collectives][contract]") {
  const Operation exchange = operations::alltoall;
  SECTION("a block sent in another's place") {
    const cases::Outcome found = outcome(exchange, wrong_shift<0>, 6);
    CHECK_FALSE(found.delivered);
    CHECK(found.wrong_bytes > 0);
    CHECK_THAT(found.first, Contains("node 3, block 2"));
  }
  SECTION("a message left out") {
    const cases::Outcome found = outcome(exchange, wrong_shift<1>, 6);
    CHECK_FALSE(found.delivered);
    CHECK(found.exactly_once());
  }
  SECTION("without a mistake it passes") {
    const cases::Outcome found = outcome(exchange, wrong_shift<2>, 6);
    CHECK(found.delivered);
    CHECK(found.counted);
    CHECK(found.exactly_once());
  }
  SECTION("a block that comes twice is delivered, and counted") {
    const cases::Outcome found = outcome(exchange, wrong_shift<3>, 6);
    CHECK(found.delivered);
    CHECK(found.repeated == 2);  // tags
  }
  SECTION("one that comes twice to a node on its way, too") {
    const cases::Outcome found = outcome(exchange, by_way_of_node_0_twice, 6);
    CHECK(found.delivered);
    CHECK(found.repeated == 2);
  }
  SECTION("an input that was changed") {
    for (const Program4 program : {changes_its_input<0>, changes_its_input<5>}) {
      const cases::Outcome found = outcome(exchange, program, 6);
      CHECK_FALSE(found.delivered);
      CHECK(found.wrong_bytes == 1);
      CHECK(found.first == "node 3: its input was changed");
    }
  }
  SECTION("a barrier that does not wait") {
    const cases::Outcome found = outcome(operations::barrier, says_nothing, 6);
    CHECK_FALSE(found.delivered);
    CHECK(found.first == "node 0 left when 1 of 6 nodes had entered");
    CHECK(found.wrong_elements == 5 + 4 + 3 + 2 + 1);  // one enters after the other
  }
  SECTION("a barrier that waits") {
    const cases::Outcome found = outcome(
        operations::barrier, find_algorithm(operations::barrier, "dissemination").program, 6);
    CHECK(found.delivered);
    CHECK(found.first.empty());
  }
  SECTION("nothing compared is not a pass") {
    const Verification verification(contract_for(exchange, 6, 16, Pattern::tags));
    CHECK_FALSE(verification.passed());
  }
}

TEST_CASE("arrivals are counted tag by tag, at each node apart", "[collectives][contract]") {
  const Contract contract = contract_for(operations::alltoall, 4, 16, Pattern::tags);
  const Oracle oracle(contract);
  std::vector<std::byte> block = input_block(oracle, 2, 3);
  const Span pieces[]{Span(block).first(8), Span(block).last(8)};
  Arrivals arrivals(contract);
  REQUIRE(arrivals.counted());
  arrivals.add(3, pieces);
  CHECK(arrivals.repeated() == 0);
  CHECK(arrivals.first().empty());
  arrivals.add(1, pieces);  // another node
  CHECK(arrivals.repeated() == 0);
  arrivals.add(3, std::span(pieces).last(1));  // one tag again
  CHECK(arrivals.repeated() == 1);
  CHECK(arrivals.first() == "node 3 receives block 3 of node 2 twice");
  arrivals.add(1, pieces);
  CHECK(arrivals.repeated() == 3);
  CHECK(arrivals.first() == "node 3 receives block 3 of node 2 twice");
  // What is no tag is not counted: a program's own words, zeros among them.
  for (const int value : {0, 1, 0xff}) {
    std::vector<std::byte> words(16, static_cast<std::byte>(value));
    const Span foreign[]{words};
    arrivals.add(0, foreign);
    arrivals.add(0, foreign);
    CHECK(arrivals.repeated() == 3);
  }

  CHECK_FALSE(Arrivals(contract_for(operations::alltoall, 4, 16, Pattern::words)).counted());
  CHECK(Arrivals(contract_for(operations::scan, 4, 16, Pattern::tags)).counted());
  CHECK_FALSE(Arrivals(contract_for(operations::barrier, 4, 16, Pattern::tags)).counted());
  CHECK_FALSE(Arrivals(contract_for(operations::alltoall, 4096, 16, Pattern::tags)).counted());
}

TEST_CASE("numbers come out of a stream as they went in", "[collectives][contract]") {
  std::vector<std::uint64_t> numbers{
      0, 0, 5, 9, 13, 17, ~std::uint64_t{0}, 0, std::uint64_t{1} << 63};
  for (std::uint64_t i = 0; i < 9000; ++i) numbers.push_back(i % 7 == 0 ? mixed(i) : 3 * i);
  NumberStream stream;
  std::size_t chunks = 0;
  for (std::size_t at = 0; at < numbers.size(); at += 1000) {
    const std::size_t count = std::min<std::size_t>(1000, numbers.size() - at);
    chunks += stream.append(std::span(numbers).subspan(at, count));
  }
  std::vector<std::uint64_t> again;
  stream.each([&](std::uint64_t number) { again.push_back(number); });
  CHECK(again == numbers);
  CHECK(chunks * NumberStream::chunk_bytes > numbers.size());

  NumberStream regular;  // a byte each
  std::size_t bytes = 0;
  std::vector<std::uint64_t> run(1000);
  for (std::uint64_t r = 0; r < 100; ++r) {
    for (std::uint64_t i = 0; i < run.size(); ++i) run[i] = 1000 * r + 5 * i;
    bytes += regular.append(run) * NumberStream::chunk_bytes;
  }
  CHECK(bytes < 100 * run.size() * 11 / 10);
}

TEST_CASE("on large networks arrivals are kept in order, and looked through at the end",
          "[collectives][contract]") {
  const Contract contract = contract_for(operations::alltoall, 4096, 8, Pattern::tags);
  const Oracle oracle(contract);
  std::vector<std::byte> one(8), two(8), words(8);
  oracle.write({4000, 4001, 17}, one);
  oracle.write({3, 4, 4095}, two);
  const Span first[]{one}, both[]{two, one}, foreign[]{words};
  Arrivals arrivals(contract, 7);
  REQUIRE(arrivals.counted());
  arrivals.add(4095, first);
  arrivals.add(17, first);
  arrivals.add(17, foreign);
  arrivals.add(17, foreign);
  arrivals.add(2, both);
  arrivals.finish();
  CHECK(arrivals.counted());
  CHECK(arrivals.repeated() == 0);
  CHECK(arrivals.first().empty());

  Arrivals again(contract, 7);
  again.add(4095, first);
  again.add(17, both);
  again.add(4095, both);
  again.add(17, both);
  again.finish();
  CHECK(again.repeated() == 3);
  CHECK(again.first() == "node 17 receives block 4095 of node 3 twice");

  // So many nodes that each one's places are sorted: no bit for each of all.
  const Contract large = contract_for(operations::scatter, 12000, 8, Pattern::tags);
  const Oracle of_large(large);
  of_large.write({2, 3, 11000}, one);
  of_large.write({2, 3, 5}, two);
  Arrivals sorted(large, 7);
  REQUIRE(sorted.counted());
  sorted.add(9, both);
  sorted.add(11000, first);
  sorted.add(9, first);
  sorted.add(3, both);
  sorted.finish();
  CHECK(sorted.repeated() == 1);
  CHECK(sorted.first() == "node 9 receives block 11000 of node 2 twice");
  CHECK(Arrivals::bytes(large, 1e6) < 2e7);

  CHECK_FALSE(Arrivals(contract, 1.3e9).counted());  // a byte or more each
  CHECK(Arrivals::bytes(contract, 1e9) == Approx(1e9).epsilon(0.01));
  CHECK(Arrivals::bytes(contract, 1.3e9) == 0);
}

TEST_CASE("of reductions arrivals are counted combination by combination",
          "[collectives][contract]") {
  for (const bool commutes : {false, true}) {
    Contract contract = contract_for(operations::allreduce, 4, 32, Pattern::tags);
    contract.commutes = commutes;
    const Oracle oracle(contract);
    std::vector<std::byte> one(32), two(32), zeros(32);
    oracle.write({0, 1, 0}, one);
    oracle.write({0, 2, 0}, two);
    const Span first[]{one}, second[]{two}, nothing[]{zeros};
    Arrivals arrivals(contract);
    REQUIRE(arrivals.counted());
    CHECK(Arrivals::bytes(contract) > 0);
    arrivals.add(3, first);
    arrivals.add(3, second);  // other ranks
    arrivals.add(2, first);   // another node
    arrivals.add(3, nothing);
    arrivals.add(3, nothing);  // no combination
    CHECK(arrivals.repeated() == 0);
    arrivals.add(3, second);
    CHECK(arrivals.repeated() == 2);  // two elements
    CHECK(arrivals.first() == (commutes ? "node 3 receives the same combination of block 0 twice"
                                        : "node 3 receives the combination of nodes 0 to 1, block "
                                          "0, twice"));
  }
}

namespace {

enum class Mistake { none, swaps, doubles, drops };

/// All blocks to everybody, combined rank by rank; on node 2 with a mistake.
template <Mistake mistake>
void allreduce(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  const Bytes bytes = call.input.bytes();
  const Memory gathered = node.memory(bytes * static_cast<Bytes>(p));
  const auto of = [&](Rank q) { return gathered.subspan(static_cast<Bytes>(q) * bytes, bytes); };
  node.local([&] { copy(call.input[0], of(r)); });
  for (Rank i = 1; i < p; ++i) {
    node.step({send(mod(r + i, p), of(r)), receive(mod(r - i, p), of(mod(r - i, p)))});
  }
  const bool wrong = r == 2;
  const Reduction& reduction = call.arguments.reduction;
  node.local([&] { copy(of(0), call.output[0]); });
  for (Rank q = 1; q < p; ++q) {
    if (wrong && mistake == Mistake::drops && q == 1) continue;
    if (wrong && mistake == Mistake::swaps) {
      combine(node, reduction, of(q), call.output[0], call.output[0]);
    } else {
      combine(node, reduction, call.output[0], of(q), call.output[0]);
    }
    if (wrong && mistake == Mistake::doubles && q == 1) {
      combine(node, reduction, call.output[0], of(q), call.output[0]);
    }
  }
}

/// Every node the blocks of all before it; node 0 writes to its output too.
template <bool touches>
void exscan(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  const Bytes bytes = call.input.bytes();
  const Memory gathered = node.memory(bytes * static_cast<Bytes>(p));
  const auto of = [&](Rank q) { return gathered.subspan(static_cast<Bytes>(q) * bytes, bytes); };
  for (Rank i = 1; i < p; ++i) {
    node.step({send(mod(r + i, p), call.input[0]), receive(mod(r - i, p), of(mod(r - i, p)))});
  }
  if (r == 0) {
    if (touches) {
      node.local([&] { std::ranges::fill(call.output[0], std::byte{0}); });
    }
    return;
  }
  node.local([&] { copy(of(0), call.output[0]); });
  for (Rank q = 1; q < r; ++q) {
    combine(node, call.arguments.reduction, call.output[0], of(q), call.output[0]);
  }
}

}  // namespace

TEST_CASE("wrong reductions fail: operands swapped, a contribution doubled or dropped",
          "[collectives][contract]") {
  const Operation reduces = operations::allreduce;
  SECTION("without a mistake it passes") {
    const cases::Outcome found = outcome(reduces, allreduce<Mistake::none>, 5);
    INFO(found.first);
    CHECK(found.delivered);
  }
  const Program4 wrong =
      GENERATE(Program4(allreduce<Mistake::swaps>), Program4(allreduce<Mistake::doubles>),
               Program4(allreduce<Mistake::drops>));
  const cases::Outcome found = outcome(reduces, wrong, 5);
  CHECK_FALSE(found.delivered);
  CHECK(found.wrong_elements == 2);  // both intervals of node 2
  CHECK_THAT(found.first, Contains("node 2, block 0, byte 0: not the combination of nodes 0 to 4"));
  CHECK_THAT(found.first, Contains("a combination out of rank order, or with a block twice"));
}

TEST_CASE("an operator that hides it does not hide it from the witness",
          "[collectives][contract]") {
  // max of doubled or swapped operands is the same: with its own operands nobody sees it.
  Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
  algorithm.operation = operations::allreduce;
  algorithm.program = allreduce<Mistake::doubles>;
  Arguments arguments;
  arguments.reduction = find_reduction("max", "int32");
  const Collective collective(algorithm, arguments);
  const Topology topology({Graph::complete(5)});
  CHECK(cases::outcome({collective, topology, 16, Pattern::words}, topology).delivered);
  CHECK_FALSE(cases::outcome({collective, topology, 16, Pattern::tags}, topology).delivered);
}

TEST_CASE("an exscan must leave node 0's output as it was", "[collectives][contract]") {
  CHECK(outcome(operations::exscan, exscan<false>, 5).delivered);
  const cases::Outcome found = outcome(operations::exscan, exscan<true>, 5);
  CHECK_FALSE(found.delivered);
  CHECK_THAT(found.first, Contains("node 0, block 0, byte 0: not left as it was"));
}

namespace {

/// What node 2 writes in place of its first element.
std::array<std::byte, sizeof(Interval)> instead{};
void writes_instead(Node& node, const Call& call) {
  if (call.arguments.reduction.apply) {
    allreduce<Mistake::none>(node, call);
  } else {
    shift(node, call);
  }
  if (node.rank() != 2) return;
  node.local([&] {
    const Span first = call.output[0].first(call.arguments.reduction.apply ? sizeof(Interval) : 8);
    std::copy_n(instead.begin(), first.size(), first.begin());
  });
}

}  // namespace

TEST_CASE("a wrong block in the place of a result is identified if it is a known one",
          "[collectives][contract]") {
  const Topology topology({Graph::complete(5)});
  const auto found = [&](Operation operation, const Arguments& arguments, const auto& element) {
    std::memcpy(instead.data(), &element, sizeof(element));
    Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
    algorithm.operation = operation;
    algorithm.program = writes_instead;
    return cases::outcome({Collective(algorithm, arguments), topology,
                           two_elements(operation, Pattern::tags), Pattern::tags},
                          topology)
        .first;
  };
  Contract contract = contract_for(operations::alltoall, 5, 16, Pattern::tags);
  const auto tag = [&](Rank origin, Rank block) {
    return found(operations::alltoall, {}, tag_in(contract, origin, block, 0));
  };
  const std::string place = "node 2, block 0, byte 0: not from block 2 of node 0";
  CHECK(tag(4, 4) == place + ", but from block 4 of node 4");
  CHECK(tag(5, 4) == place);
  CHECK(tag(4, 5) == place);

  const auto interval = [&](Rank first, Rank last, std::uint32_t block) {
    return found(operations::allreduce, some_arguments(),
                 Interval{first, last, read_block(contract, block), 0});
  };
  const std::string result =
      "node 2, block 0, byte 0: not the combination of nodes 0 to 4, block 0, but ";
  CHECK(interval(0, 4, 0) == result + "the combination of nodes 0 to 3, block 0");
  CHECK(interval(3, 5, 0) == result + "the combination of nodes 3 to 4, block 0");
  CHECK(interval(0, 5, 7) == result + "the combination of nodes 0 to 4, block 7");
  const std::string none = result + "a combination out of rank order, or with a block twice";
  CHECK(interval(-1, 4, 0) == none);
  CHECK(interval(3, 6, 0) == none);
  CHECK(interval(3, 3, 0) == none);
  CHECK(interval(3, 2, 0) == none);
}

TEST_CASE("a witness that commutes sees another block, or another element, in a sum",
          "[collectives][contract]") {
  Contract contract = contract_for(operations::reduce_scatter, 3, 32, Pattern::tags);
  contract.commutes = true;
  const Oracle oracle(contract);
  const Reduction reduction =
      witnessed(cases::collective_of(operations::reduce_scatter, "pairwise"), contract)
          .arguments.reduction;
  const auto sum_with = [&](const std::vector<std::byte>& other) {
    std::vector<std::byte> sum = input_block(oracle, 0, 1);
    reduction.apply(sum.data(), other.data(), sum.data(), sum.size() / reduction.element_bytes);
    return sum;
  };
  std::vector<std::byte> wanted(32);
  oracle.write({0, 2, 1}, wanted);
  std::vector<std::byte> other = input_block(oracle, 1, 1);
  CHECK(sum_with(other) == wanted);
  std::rotate(other.begin(), other.begin() + 16, other.end());
  CHECK(sum_with(other) != wanted);
  CHECK(sum_with(input_block(oracle, 1, 2)) != wanted);
  CHECK(sum_with(input_block(oracle, 2, 1)) != wanted);
  for (Rank block = 0; block < 3; ++block) {
    std::uint32_t name = 0;
    std::memcpy(&name, &input_block(oracle, 0, block)[8], sizeof(name));
    CHECK(read_block(contract, name) == static_cast<std::uint32_t>(block));
  }
}

TEST_CASE("results that grow shorter from rank to rank have their operands",
          "[collectives][contract]") {
  // Every operation of the registry asks for sums of ever more ranks, a plugin's need not.
  static const OperationRow shorter = [] {
    OperationRow row = *Operation(operations::scan).operator->();
    row.name = "shorter";
    row.result = [](const Instance& on, Rank rank, Rank) { return Content{0, on.nodes - rank, 0}; };
    return row;
  }();
  const Oracle oracle(contract_for(shorter, 4, 48, Pattern::words));
  for (Rank rank = 0; rank < 4; ++rank) {
    std::vector<std::byte> wanted(48);
    oracle.write({0, rank + 1, 0}, wanted);
    CHECK(wanted == right_block(oracle, {0, rank + 1, 0}));
  }
}

TEST_CASE("what the oracle, arrivals and tables take is what they hold",
          "[collectives][contract]") {
  const auto oracle = [](Operation operation, Rank nodes, Pattern pattern = Pattern::words) {
    Contract contract = contract_for(operation, nodes, 48, pattern);
    if (nodes < 4) contract.arguments.root = 0;
    return Oracle::bytes(contract);
  };
  CHECK(oracle(operations::alltoall, 4) == 0);
  CHECK(oracle(operations::allreduce, 4, Pattern::tags) == 0);
  CHECK(oracle(operations::allreduce, 4) == 48);
  CHECK(oracle(operations::reduce, 4) == 48);
  CHECK(oracle(operations::reduce_scatter, 4) == 4 * 48);
  CHECK(oracle(operations::scan, 4) == 4 * 48);
  CHECK(oracle(operations::scan, 2) == 2 * 48);
  CHECK(oracle(operations::k_reduce, 4) == 2 * 48);

  const auto arrivals = [](Operation operation, Rank nodes, Bytes bytes) {
    return Arrivals::bytes(contract_for(operation, nodes, bytes, Pattern::tags));
  };
  CHECK(arrivals(operations::alltoall, 4, 16) == 4 * 4 * (4 * 2) / 8);  // a bit each
  CHECK(arrivals(operations::alltoallv, 4, 16) == 2 * 16);  // a block may have twice the mean
  CHECK(Arrivals::bytes(contract_for(operations::alltoall, 4, 16, Pattern::words)) == 0);
  const double one = arrivals(operations::allreduce, 4, 32) / (4 * 2 * 3);
  CHECK(one > 32);
  CHECK(arrivals(operations::allreduce, 16, 32) == Approx(one * (16 * 2 * 5)));
  CHECK(arrivals(operations::allreduce, 16, 64) == Approx(one * (16 * 4 * 5)));
  Contract from_0 = contract_for(operations::broadcast, 4, 16, Pattern::tags);
  from_0.arguments.root = 0;
  CHECK(Arrivals(from_0).counted());

  const auto table = [](Operation operation) {
    return CollectiveNode::table_bytes(contract_for(operation, 4, 16, Pattern::words)) /
           sizeof(Bytes);
  };
  CHECK(table(operations::alltoall) == 0);  // blocks of one size
  CHECK(table(operations::scatter) == 0);
  CHECK(table(operations::allgatherv) == 4 * (2 + 1 + 4) + 4 * 4);  // and all sizes at each node
}

TEST_CASE("what is neither a tag nor a combination is not counted twice",
          "[collectives][contract]") {
  const auto repeated = [](const Contract& contract, const auto& element) {
    std::array<std::byte, sizeof(element)> bytes{};
    std::memcpy(bytes.data(), &element, sizeof(element));
    const Span piece[]{bytes};
    Arrivals arrivals(contract);
    for (int i = 0; i < 2; ++i) arrivals.add(1, piece);
    return arrivals.repeated();
  };
  const Contract exchange = contract_for(operations::alltoall, 4, 16, Pattern::tags);
  const auto tag = [&](Rank origin, Rank block, std::uint64_t index) {
    return repeated(exchange, tag_in(exchange, origin, block, index));
  };
  CHECK(tag(3, 3, 1) == 1);
  CHECK(tag(4, 3, 1) == 0);
  CHECK(tag(3, 4, 1) == 0);
  CHECK(tag(3, 3, 2) == 0);

  const Contract sums = contract_for(operations::allreduce, 4, 32, Pattern::tags);
  const auto interval = [&](Rank first, Rank last, std::uint32_t block, std::uint32_t index) {
    return repeated(sums, Interval{first, last, read_block(sums, block), index});
  };
  CHECK(interval(0, 4, 0, 1) == 1);
  CHECK(interval(0, 4, 1, 1) == 0);
  CHECK(interval(0, 4, 0, 2) == 0);
  CHECK(interval(-1, 2, 0, 1) == 0);
  CHECK(interval(3, 3, 0, 1) == 0);
  CHECK(interval(3, 2, 0, 1) == 0);
  CHECK(interval(2, 5, 0, 1) == 0);
}

TEST_CASE("an operator without operands of its own gets words", "[collectives][contract]") {
  Contract contract = contract_for(operations::allreduce, 3, 48, Pattern::words);
  contract.arguments.reduction.operands = nullptr;
  const Oracle oracle(contract);
  CHECK(input_block(oracle, 0, 0) != input_block(oracle, 1, 0));
}

TEST_CASE("each comparison forgets the one before", "[collectives][contract]") {
  const Collective exchange = cases::alltoall("shift");
  const Contract contract = contract_of(exchange, 4, 16, 1, Pattern::words);
  Verification verification(contract);
  prove(Topology::parse("ring:4"), [&](Node& node) {
    CollectiveNode call(node, exchange, contract, &verification);
    node.local([&] {
      call.prepare();
      call.compare();
    });
    CHECK(verification.of(node.rank()).wrong_bytes == 4 * 16);
    call();
    node.local([&] { call.compare(); });
  });
  CHECK(verification.passed());
  CHECK(verification.first().empty());
}

TEST_CASE("in place no node has memory for an input", "[collectives][contract]") {
  const Collective ring = cases::collective_of(operations::allgather, "ring");
  const auto peak = [&](bool in_place) {
    const Contract contract = contract_of(ring, 4, 24, 1, Pattern::words, in_place);
    const Schedule schedule =
        record(Topology::parse("ring:4"), collective_program(ring, contract, nullptr));
    std::vector<Bytes> peaks;
    for (const RankLog& log : schedule.ranks) peaks.push_back(log.peak_bytes);
    return peaks;
  };
  CHECK(peak(true) == std::vector<Bytes>(4, 4 * 24));
  CHECK(peak(false) == std::vector<Bytes>(4, 5 * 24));
}

TEST_CASE("blocks must be whole elements, and tags fit", "[collectives][contract]") {
  const Collective shift_call = cases::alltoall("shift");
  const Topology topology = Topology::parse("ring:4");
  const auto refused = [&](const Collective& collective, Bytes bytes, Pattern pattern,
                           bool in_place = false) -> std::string {
    try {
      cases::Call(collective, topology, bytes, pattern, in_place).dry();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused(shift_call, 12, Pattern::tags) ==
        "tags: blocks of 12 bytes; need a multiple of 8 up to 524288");
  CHECK(refused(shift_call, 524288, Pattern::tags).empty());
  CHECK(refused(shift_call, 524296, Pattern::tags) ==
        "tags: blocks of 524296 bytes; need a multiple of 8 up to 524288");
  CHECK(refused(shift_call, 12, Pattern::words).empty());
  CHECK(refused(shift_call, 12, Pattern::words, true) ==
        "alltoall: its input cannot lie in its output");
  Algorithm scan = *shift_call.algorithm;
  scan.operation = operations::scan;
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "double");
  CHECK(refused(Collective(scan, arguments), 12, Pattern::words) ==
        "scan: blocks of 12 bytes; need a multiple of 8, an element of sum double");
  CHECK(refused(Collective(scan, arguments), 24, Pattern::tags) ==
        "tags: blocks of 24 bytes; need a multiple of 16 up to 524288");
}

TEST_CASE("in place the input is in the output, and is not spoilt", "[collectives][contract]") {
  const Collective ring = cases::collective_of(operations::allgather, "ring");
  const Topology topology = Topology::parse("ring:5");
  CHECK(cases::outcome({ring, topology, 16, Pattern::tags, true}, topology).delivered);
  // A program that does nothing has its own block right, and that one only.
  Algorithm lazy = *ring.algorithm;
  lazy.program = says_nothing;
  const cases::Outcome found =
      cases::outcome({Collective(lazy), topology, 16, Pattern::tags, true}, topology);
  CHECK(found.wrong_elements == 5 * 4 * 2);
}
