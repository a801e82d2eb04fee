// Groups.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/groups.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The rank of each member in a group.
class RankIn {
 public:
  explicit RankIn(const Members& group) {
    if (group.empty()) return;
    ranks_.assign(static_cast<std::size_t>(*std::ranges::max_element(group)) + 1, MPI_UNDEFINED);
    for (std::size_t i = 0; i < group.size(); ++i) {
      ranks_[static_cast<std::size_t>(group[i])] = static_cast<int>(i);
    }
  }
  /// MPI_UNDEFINED if it is not a member.
  int of(Rank member) const {
    const auto place = static_cast<std::size_t>(member);
    return place < ranks_.size() ? ranks_[place] : MPI_UNDEFINED + 0;
  }
  bool has(Rank member) const { return of(member) != MPI_UNDEFINED; }

 private:
  std::vector<int> ranks_;
};

/// Which ranks of a group are listed.
std::vector<bool> named_once(const Members& group, std::span<const int> ranks) {
  std::vector<bool> named(group.size());
  for (const int rank : ranks) {
    if (rank < 0 || rank >= std::ssize(group)) {
      throw Failure(MPI_ERR_RANK, fmt::format("rank {} is out of range for the group ({} ranks)",
                                              rank, group.size()));
    }
    if (named[static_cast<std::size_t>(rank)]) {
      throw Failure(MPI_ERR_RANK, fmt::format("rank {} is listed twice", rank));
    }
    named[static_cast<std::size_t>(rank)] = true;
  }
  return named;
}

Members those_of(const Members& first, const Members& second, bool that_are_in) {
  const RankIn in_second(second);
  Members result;
  std::ranges::copy_if(first, std::back_inserter(result),
                       [&](Rank member) { return in_second.has(member) == that_are_in; });
  return result;
}

}  // namespace

Members included(const Members& group, std::span<const int> ranks) {
  named_once(group, ranks);
  Members result;
  for (const int rank : ranks) result.push_back(group[static_cast<std::size_t>(rank)]);
  return result;
}

Members excluded(const Members& group, std::span<const int> ranks) {
  const std::vector<bool> named = named_once(group, ranks);
  Members result;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!named[i]) result.push_back(group[i]);
  }
  return result;
}

std::vector<int> ranks_of(std::span<const RankRange> ranges) {
  std::vector<int> result;
  for (const RankRange& range : ranges) {
    if (range.stride == 0) throw Failure(MPI_ERR_ARG, "the stride of a range of ranks is 0");
    const std::int64_t length = std::int64_t{range.last} - range.first;
    if (length != 0 && (length > 0) != (range.stride > 0)) {
      throw Failure(MPI_ERR_ARG, fmt::format("the range from {} to {} by {} is empty", range.first,
                                             range.last, range.stride));
    }
    for (std::int64_t i = 0; i <= length / range.stride; ++i) {
      result.push_back(static_cast<int>(range.first + i * range.stride));
    }
  }
  return result;
}

Members group_union(const Members& first, const Members& second) {
  Members result = first;
  const Members more = those_of(second, first, false);
  result.insert(result.end(), more.begin(), more.end());
  return result;
}
Members group_intersection(const Members& first, const Members& second) {
  return those_of(first, second, true);
}
Members group_difference(const Members& first, const Members& second) {
  return those_of(first, second, false);
}

int compared(const Members& first, const Members& second) {
  if (first == second) return MPI_IDENT;
  if (first.size() != second.size()) return MPI_UNEQUAL;
  return those_of(first, second, false).empty() ? MPI_SIMILAR : MPI_UNEQUAL;
}

std::vector<int> translated(const Members& from, std::span<const int> ranks, const Members& to) {
  const RankIn in_to(to);
  std::vector<int> result;
  result.reserve(ranks.size());
  for (const int rank : ranks) {
    if (rank == MPI_PROC_NULL) {
      result.push_back(MPI_PROC_NULL);
      continue;
    }
    if (rank < 0 || rank >= std::ssize(from)) {
      throw Failure(MPI_ERR_RANK, fmt::format("rank {} is out of range for the group ({} ranks)",
                                              rank, from.size()));
    }
    result.push_back(in_to.of(from[static_cast<std::size_t>(rank)]));
  }
  return result;
}

}  // namespace wormcube::mpi
