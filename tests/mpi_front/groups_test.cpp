// Groups, and MPI's other functions on sets of ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/groups.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace wormcube::mpi {
namespace {

using Ranks = std::vector<int>;

int class_of_failure(auto&& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error_class();
  }
  return MPI_SUCCESS;
}

}  // namespace

TEST_CASE("groups keep the order that MPI says", "[mpi_front]") {
  const Members group{10, 11, 12, 13, 14}, other{14, 20, 11};
  CHECK(included(group, Ranks{4, 0, 2}) == Members{14, 10, 12});
  CHECK(included(group, Ranks{}).empty());
  CHECK(excluded(group, Ranks{4, 0, 2}) == Members{11, 13});
  CHECK(group_union(group, other) == Members{10, 11, 12, 13, 14, 20});
  CHECK(group_union(other, group) == Members{14, 20, 11, 10, 12, 13});
  CHECK(group_intersection(group, other) == Members{11, 14});
  CHECK(group_intersection(other, group) == Members{14, 11});
  CHECK(group_difference(group, other) == Members{10, 12, 13});
  CHECK(group_difference(other, group) == Members{20});
  CHECK(class_of_failure([&] { included(group, Ranks{5}); }) == MPI_ERR_RANK);
  CHECK(class_of_failure([&] { excluded(group, Ranks{-1}); }) == MPI_ERR_RANK);
  CHECK(class_of_failure([&] { included(group, Ranks{1, 2, 1}); }) == MPI_ERR_RANK);
}

TEST_CASE("ranges of ranks go up, down, and past their end", "[mpi_front]") {
  const auto of = [](std::vector<RankRange> ranges) { return ranks_of(ranges); };
  CHECK(of({{1, 9, 3}, {10, 10, -7}}) == Ranks{1, 4, 7, 10});
  CHECK(of({{9, 1, -4}}) == Ranks{9, 5, 1});
  CHECK(of({{0, 5, 2}}) == Ranks{0, 2, 4});
  CHECK(of({}).empty());
  CHECK(class_of_failure([&] { of({{1, 2, 0}}); }) == MPI_ERR_ARG);
  CHECK(class_of_failure([&] { of({{1, 2, -1}}); }) == MPI_ERR_ARG);
}

TEST_CASE("groups are compared and translated", "[mpi_front]") {
  const Members group{3, 1, 2};
  CHECK(compared(group, group) == MPI_IDENT);
  CHECK(compared(group, {1, 2, 3}) == MPI_SIMILAR);
  CHECK(compared(group, {1, 2, 4}) == MPI_UNEQUAL);
  CHECK(compared(group, {1, 2}) == MPI_UNEQUAL);
  CHECK(compared({}, {}) == MPI_IDENT);
  CHECK(translated(group, Ranks{0, 1, MPI_PROC_NULL, 2, 0}, {2, 3}) ==
        Ranks{1, MPI_UNDEFINED, MPI_PROC_NULL, 0, 1});
  CHECK(class_of_failure([&] { translated(group, Ranks{3}, group); }) == MPI_ERR_RANK);
}

}  // namespace wormcube::mpi
