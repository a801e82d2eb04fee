// The table of waiting ranks groups those at one call site; the advice names known patterns.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/waiting_ranks.hpp"

#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::mpi;
using Catch::Matchers::Contains;

namespace {

Need need_of(Need::Kind kind, Rank self, Rank peer, int size, int tag = 0) {
  Need need;
  need.kind = kind;
  need.ranks = {peer};
  need.peer = peer;
  need.self = self;
  need.size = size;
  need.tag = tag;
  need.bytes = 4;
  need.communicator = "MPI_COMM_WORLD";
  return need;
}

Need collective_of(std::string function, std::vector<Rank> missing) {
  Need need;
  need.kind = Need::Kind::collective;
  need.text = "the missing ranks";
  need.ranks = std::move(missing);
  need.communicator = "MPI_COMM_WORLD";
  need.collective = std::move(function);
  return need;
}

std::vector<WaitingRank> all_in(int size, const std::string& call, Need::Kind kind,
                                const std::function<Rank(Rank)>& peer) {
  std::vector<WaitingRank> ranks;
  for (Rank rank = 0; rank < size; ++rank)
    ranks.push_back({rank, call, "ring.c:10", false, {need_of(kind, rank, peer(rank), size)}, 0});
  return ranks;
}

std::string advice_for(std::span<const WaitingRank> ranks, bool is_near_miss = false) {
  std::vector<std::vector<Rank>> waits_for;
  for (const WaitingRank& rank : ranks) {
    auto& edges = waits_for.emplace_back();
    for (const Need& need : rank.needs)
      edges.insert(edges.end(), need.ranks.begin(), need.ranks.end());
  }
  return advice(ranks, cycle_of(waits_for), is_near_miss);
}

}  // namespace

TEST_CASE("ranks at one call site share a row of a deadlock's table", "[mpi]") {
  const auto right = [](Rank rank) { return (rank + 1) % 64; };
  CHECK(wait_table(all_in(64, "MPI_Send", Need::Kind::receive, right)) ==
        "  rank  call      waits for                             bytes  communicator    at\n"
        "  0-63  MPI_Send  receive by dest rank + 1, tag 0           4  MPI_COMM_WORLD  ring.c:10");
  const auto left = [](Rank rank) { return (rank + 63) % 64; };
  CHECK_THAT(wait_table(all_in(64, "MPI_Recv", Need::Kind::message, left)),
             Contains("  0-63  MPI_Recv  source rank - 1, tag 0 "));
  const auto across = [](Rank rank) { return rank ^ 4; };
  CHECK_THAT(wait_table(all_in(64, "MPI_Recv", Need::Kind::message, across)),
             Contains("  0-63  MPI_Recv  source rank xor 4, tag 0 "));
  const auto root = [](Rank) { return 0; };
  CHECK_THAT(wait_table(all_in(64, "MPI_Recv", Need::Kind::message, root)),
             Contains("  0-63  MPI_Recv  source 0, tag 0 "));
}

TEST_CASE("ranks at one call site that wait for many ranks list them", "[mpi]") {
  const auto peer = [](Rank rank) { return rank * rank % 17; };
  const std::string table = wait_table(all_in(16, "MPI_Recv", Need::Kind::message, peer));
  CHECK_THAT(table, Contains("  0-15  MPI_Recv  source 0-2,4,8,9,13,15,16, tag 0 "));
  CHECK(std::ranges::count(table, '\n') == 1);
}

TEST_CASE("few ranks have a row each in a deadlock's table", "[mpi]") {
  const auto right = [](Rank rank) { return (rank + 1) % 4; };
  const std::string table = wait_table(all_in(4, "MPI_Send", Need::Kind::receive, right));
  CHECK(std::ranges::count(table, '\n') == 4);
  CHECK_THAT(table, Contains("     2  MPI_Send  receive by dest 3, tag 0 "));
}

TEST_CASE("ranks at other call sites have rows of their own, with ranges of ranks", "[mpi]") {
  auto ranks = all_in(12, "MPI_Barrier", Need::Kind::message, [](Rank) { return 0; });
  for (WaitingRank& each : ranks) each.needs = {collective_of("MPI_Barrier", {3, 4, 9})};
  for (const std::size_t rank : {3U, 4U, 9U})
    ranks[rank] = {static_cast<Rank>(rank), "has ended", "", true, {}, 0};
  const std::string table = wait_table(ranks);
  CHECK_THAT(table, Contains("0-2,5-8,10,11  MPI_Barrier  the missing ranks "));
  CHECK_THAT(table, Contains(" 3,4,9  has ended"));
}

TEST_CASE("a deadlock's advice names the pattern", "[mpi]") {
  const auto next = [](Rank rank) { return (rank + 1) % 4; };
  const auto sends = all_in(4, "MPI_Send", Need::Kind::receive, next);
  CHECK_THAT(advice_for(sends), Contains("relies on buffering"));
  auto receives = all_in(4, "MPI_Recv", Need::Kind::message, next);
  CHECK_THAT(advice_for(receives), Contains("receives before it sends"));
  CHECK_THAT(advice_for(receives, true), Contains("almost matches"));
  receives[1] = {1, "has ended", "", true, {}, 0};
  CHECK(advice_for(receives) ==
        "rank 1 never sends the message that rank 0 waits for: it has ended");
  auto barrier = all_in(4, "MPI_Recv", Need::Kind::message, [](Rank) { return 0; });
  for (const std::size_t rank : {0U, 1U, 3U})
    barrier[rank].needs = {collective_of("MPI_Barrier", {2})};
  CHECK(advice_for(barrier) ==
        "every rank of MPI_COMM_WORLD must call MPI_Barrier: rank 2 has not (rank 2: MPI_Recv at "
        "ring.c:10)");
  CHECK(advice_for({}).empty());
}
