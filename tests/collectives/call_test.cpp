// A collective called as a function in a node program, and operations that copy each other.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

constexpr Rank four = 4;
using Row = std::vector<std::int64_t>;

/// Runs one call on every node of a ring of four.
template <class Program>
void on_four(Program program) {
  Machine machine(Topology::parse("ring:4"));
  machine.run([&](Node& node) { program(node, static_cast<std::size_t>(node.rank())); });
}

}  // namespace

TEST_CASE("a collective is called with vectors, on every node", "[collectives][call]") {
  const Collective exchange = parse_collective(operations::alltoall, "ring");
  std::vector<Row> out(four, Row(four)), in(four, Row(four));
  for (Rank r = 0; r < four; ++r) {
    for (Rank q = 0; q < four; ++q) out[r][q] = 10 * r + q;
  }
  on_four([&](Node& node, std::size_t r) { exchange(node, out[r], in[r]); });
  for (Rank r = 0; r < four; ++r) {
    for (Rank q = 0; q < four; ++q) CHECK(in[r][q] == 10 * q + r);
  }
}

TEST_CASE("a collective is called in place where its operation offers it", "[collectives][call]") {
  std::vector<std::array<int, 2>> messages(four);
  messages[2] = {7, 8};
  const Collective broadcast = parse_collective(operations::broadcast, "halving", {.root = 2});
  on_four([&](Node& node, std::size_t r) { broadcast(node, messages[r]); });
  for (const auto& message : messages) CHECK(message == std::array{7, 8});

  std::vector<Row> rows(four, Row(four, -1));
  for (Rank r = 0; r < four; ++r) rows[r][r] = r;
  const Collective ring_allgather = parse_collective(operations::allgather, "ring");
  on_four([&](Node& node, std::size_t r) { ring_allgather(node, rows[r]); });
  for (const Row& row : rows) CHECK(row == Row{0, 1, 2, 3});
}

TEST_CASE("who only gives, or only gets, needs no memory for the other", "[collectives][call]") {
  const Collective gather = parse_collective(operations::gather, "halving", {.root = 1}),
                   scatter = parse_collective(operations::scatter, "halving", {.root = 1});
  std::vector<Row> gathered(four), scattered(four, Row(1));
  on_four([&](Node& node, std::size_t r) {
    if (r == 1) gathered[r].resize(four);
    gather(node, Row{10 + node.rank()}, gathered[r]);
    scatter(node, r == 1 ? Row{20, 21, 22, 23} : Row{}, scattered[r]);
  });
  CHECK(gathered == std::vector<Row>{{}, {10, 11, 12, 13}, {}, {}});
  CHECK(scattered == std::vector<Row>{{20}, {21}, {22}, {23}});
}

TEST_CASE("blocks of different sizes are given as blocks", "[collectives][call]") {
  const Collective exchange = parse_collective(operations::alltoallv, "shift");
  // Node r sends q+1 bytes to node q, all of value r.
  std::vector<std::vector<std::byte>> in(four);
  on_four([&](Node& node, std::size_t r) {
    const std::array<Bytes, 5> out_offsets{0, 1, 3, 6, 10};
    const std::vector<std::byte> out(10, std::byte(r));
    in[r].resize(4 * (r + 1));
    const std::array<Bytes, 5> in_offsets{0, r + 1, 2 * (r + 1), 3 * (r + 1), 4 * (r + 1)};
    exchange(node, ConstBlocks(out, std::span(out_offsets)), Blocks(in[r], std::span(in_offsets)));
  });
  for (std::size_t r = 0; r < four; ++r) {
    for (std::size_t i = 0; i < in[r].size(); ++i) CHECK(in[r][i] == std::byte(i / (r + 1)));
  }
}

TEST_CASE("a call whose sizes are not the operation's is refused before any message",
          "[collectives][call]") {
  const Collective exchange = parse_collective(operations::alltoall, "ring"),
                   broadcast = parse_collective(operations::broadcast, "halving"),
                   uneven = parse_collective(operations::alltoallv, "shift");
  const auto refused = [](const char* text, auto call) {
    INFO(text);
    CHECK_THROWS_MATCHES(on_four([&](Node& node, std::size_t) { call(node); }), UsageError,
                         Catch::Matchers::Predicate<UsageError>([text](const UsageError& error) {
                           return std::string(error.what()).find(text) != std::string::npos;
                         }));
  };
  refused("cannot be cut", [&](Node& node) { exchange(node, Row(four), std::vector<char>(3)); });
  refused("blocks of 8 bytes in and 4 out",
          [&](Node& node) { exchange(node, Row(four), std::vector<int>(four)); });
  refused("does not work in place", [&](Node& node) { exchange(node, Row(four)); });
  refused("works in place", [&](Node& node) { broadcast(node, Row(four), Row(four)); });
  refused("different sizes", [&](Node& node) { uneven(node, Row(four), Row(four)); });
  refused("3 blocks in and 4 out; node", [&](Node& node) {
    Row out(3), in(four);
    exchange(node, ConstBlocks(std::as_bytes(std::span(out)), 3),
             Blocks(std::as_writable_bytes(std::span(in)), four));
  });
}

TEST_CASE("bytes are elements only where they are whole and aligned", "[collectives][call]") {
  alignas(8) std::array<std::byte, 16> bytes{};
  CHECK(as<double>(bytes).size() == 2);
  CHECK_THROWS_AS(as<double>(Span(bytes).first(12)), UsageError);
  CHECK_THROWS_AS(as<double>(Span(bytes).subspan(4, 8)), UsageError);
}

TEST_CASE("an operation is equal to a copy of its row, and to no other", "[collectives][call]") {
  const OperationRow copy = operations::alltoall;  // as in another shared object
  CHECK(Operation(copy) == operations::alltoall);
  for (const Operation a : all_operations) {
    for (const Operation b : all_operations) CHECK((a == b) == (a->name == b->name));
  }
}
