// MPI's functions on groups, and communicators made from groups.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/groups.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The object behind an MPI_Group. Its memory stays, so a freed group is recognised.
struct GroupObject {
  static constexpr std::uint32_t alive = 0x47525031, dead = 0x47525030;
  std::uint32_t magic = alive;
  Members members;
  std::shared_ptr<SessionState> of_session;
};

const Members& members_of(MPI_Group handle) {
  static const Members none;
  if (handle == MPI_GROUP_EMPTY) return none;
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_GROUP, handle == MPI_GROUP_NULL
                                     ? std::string("the group is MPI_GROUP_NULL")
                                     : fmt::format("invalid group handle {:#x}",
                                                   reinterpret_cast<std::uintptr_t>(handle)));
  }
  const auto* const object = reinterpret_cast<const GroupObject*>(handle);
  if (object->magic == GroupObject::alive) return object->members;
  throw Failure(MPI_ERR_GROUP, object->magic == GroupObject::dead ? "the group has been freed"
                                                                  : "invalid group handle");
}

}  // namespace

const std::vector<Rank>& members_of_group(MPI_Group group) { return members_of(group); }

std::shared_ptr<SessionState> session_of_group(MPI_Group group) {
  return is_predefined(group) ? nullptr : reinterpret_cast<const GroupObject*>(group)->of_session;
}

MPI_Group new_group(Members members, std::shared_ptr<SessionState> of_session) {
  if (members.empty()) return MPI_GROUP_EMPTY;
  return reinterpret_cast<MPI_Group>(
      new GroupObject{GroupObject::alive, std::move(members), std::move(of_session)});
}

namespace {

std::span<const int> listed(const Call& call, const int* ranks, int count) {
  return {ranks, call.count(count, "n")};
}

std::vector<RankRange> ranges_of(const Call& call, const int ranges[][3], int count) {
  std::vector<RankRange> result;
  for (std::size_t i = 0; i < call.count(count, "n"); ++i) {
    result.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
  }
  return result;
}

int comm_group(MPI_Comm on, MPI_Group* group) {
  WORMCUBE_MPI_CALL(MPI_Comm_group);
  return call([&] {
    call.result(group, "group");
    const Communicator& named = call.communicator(on);
    *group = new_group(named.shared->members(), named.of_session);
  });
}

int group_size(MPI_Group group, int* size) {
  WORMCUBE_MPI_CALL(MPI_Group_size);
  return call([&] {
    call.result(size, "size");
    *size = static_cast<int>(members_of(group).size());
  });
}

int group_rank(MPI_Group group, int* rank) {
  WORMCUBE_MPI_CALL(MPI_Group_rank);
  return call([&] {
    call.result(rank, "rank");
    const Members& members = members_of(group);
    const auto place = std::ranges::find(members, call.rank().rank);
    *rank = place == members.end() ? MPI_UNDEFINED + 0 : static_cast<int>(place - members.begin());
  });
}

int group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to,
                          int translated_ranks[]) {
  WORMCUBE_MPI_CALL(MPI_Group_translate_ranks);
  return call([&] {
    std::ranges::copy(translated(members_of(from), listed(call, ranks, count), members_of(to)),
                      translated_ranks);
  });
}

int group_compare(MPI_Group first, MPI_Group second, int* result) {
  WORMCUBE_MPI_CALL(MPI_Group_compare);
  return call([&] {
    call.result(result, "result");
    *result = compared(members_of(first), members_of(second));
  });
}

int group_union_call(MPI_Group first, MPI_Group second, MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_union);
  return call([&] {
    call.result(made, "newgroup");
    *made = new_group(group_union(members_of(first), members_of(second)), session_of_group(first));
  });
}
int group_intersection_call(MPI_Group first, MPI_Group second, MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_intersection);
  return call([&] {
    call.result(made, "newgroup");
    *made = new_group(group_intersection(members_of(first), members_of(second)),
                      session_of_group(first));
  });
}
int group_difference_call(MPI_Group first, MPI_Group second, MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_difference);
  return call([&] {
    call.result(made, "newgroup");
    *made =
        new_group(group_difference(members_of(first), members_of(second)), session_of_group(first));
  });
}
int group_incl(MPI_Group group, int count, const int ranks[], MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_incl);
  return call([&] {
    call.result(made, "newgroup");
    *made =
        new_group(included(members_of(group), listed(call, ranks, count)), session_of_group(group));
  });
}
int group_excl(MPI_Group group, int count, const int ranks[], MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_excl);
  return call([&] {
    call.result(made, "newgroup");
    *made =
        new_group(excluded(members_of(group), listed(call, ranks, count)), session_of_group(group));
  });
}
int group_range_incl(MPI_Group group, int count, int ranges[][3], MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_range_incl);
  return call([&] {
    call.result(made, "newgroup");
    *made = new_group(included(members_of(group), ranks_of(ranges_of(call, ranges, count))),
                      session_of_group(group));
  });
}
int group_range_excl(MPI_Group group, int count, int ranges[][3], MPI_Group* made) {
  WORMCUBE_MPI_CALL(MPI_Group_range_excl);
  return call([&] {
    call.result(made, "newgroup");
    *made = new_group(excluded(members_of(group), ranks_of(ranges_of(call, ranges, count))),
                      session_of_group(group));
  });
}

int group_free(MPI_Group* group) {
  WORMCUBE_MPI_CALL(MPI_Group_free);
  return call([&] {
    call.result(group, "group");
    members_of(*group);
    if (!is_predefined(*group)) {
      auto* const object = reinterpret_cast<GroupObject*>(*group);
      forget_number_of(*group);
      object->magic = GroupObject::dead;
      object->members = {};
    }
    *group = MPI_GROUP_NULL;
  });
}

/// The group's members as ranks of the communicator.
void need_subset(const Members& members, const Communicator& parent) {
  for (const Rank member : members) {
    if (parent.shared->rank_of(member) < 0) {
      throw Failure(MPI_ERR_GROUP,
                    fmt::format("rank {} of MPI_COMM_WORLD is in the group but not in {}", member,
                                parent.name));
    }
  }
}

/// The world's ranks in an intercommunicator's other group.
Members members_of_others(Call& call, const Communicator& parent, const Members& members) {
  constexpr Rank nobody = -1;
  Members own(members), others(static_cast<std::size_t>(parent.remote->size()));
  own.resize(static_cast<std::size_t>(parent.size()), nobody);
  swap_between(call, parent, std::as_bytes(std::span(own)),
               std::as_writable_bytes(std::span(others)));
  std::erase(others, nobody);
  return others;
}

// All ranks of the communicator call this. Different groups have no member in common, so their
// first member distinguishes them.
int comm_create(MPI_Comm on, MPI_Group group, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_create);
  return call([&] {
    call.result(made, "newcomm");
    Communicator& parent = call.communicator(on);
    const Members& members = members_of(group);
    need_subset(members, parent);
    const std::uint64_t number = come_to(parent, {.function = call.function()});
    keep_together(call, parent);
    *made = MPI_COMM_NULL;
    const bool is_in = std::ranges::find(members, call.rank().rank) != members.end();
    if (parent.remote) {
      const Members others = members_of_others(call, parent, members);
      if (!is_in || others.empty()) return;
      make_pair_end(call, {parent.context(), number, 0}, members, others,
                    "groups of " + parent.name, parent, made);
    } else if (is_in) {
      make_end(call,
               parent.shared->child(number, members.front(), members, "group of " + parent.name),
               parent, made);
    }
  });
}

// Only the group's ranks call this. They wait for each other, so that the next call of this group
// with this tag finds no member still in this one.
int comm_create_group(MPI_Comm on, MPI_Group group, int tag, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_create_group);
  return call([&] {
    call.result(made, "newcomm");
    Communicator& parent = call.intracommunicator(on);
    const Members& members = members_of(group);
    need_subset(members, parent);
    call.send_tag(tag);
    *made = MPI_COMM_NULL;
    if (std::ranges::find(members, call.rank().rank) == members.end()) return;
    Communicator& end = make_end(
        call, parent.shared->child_of_group(tag, members, "group of " + parent.name), parent, made);
    come_to(end, {.function = call.function()});
    wait_for_all(call, end);
  });
}

}  // namespace

void add_group_functions(WormcubeMpiFunctions& table) {
  table.MPI_Comm_group = comm_group;
  table.MPI_Comm_create = comm_create;
  table.MPI_Comm_create_group = comm_create_group;
  table.MPI_Group_size = group_size;
  table.MPI_Group_rank = group_rank;
  table.MPI_Group_translate_ranks = group_translate_ranks;
  table.MPI_Group_compare = group_compare;
  table.MPI_Group_union = group_union_call;
  table.MPI_Group_intersection = group_intersection_call;
  table.MPI_Group_difference = group_difference_call;
  table.MPI_Group_incl = group_incl;
  table.MPI_Group_excl = group_excl;
  table.MPI_Group_range_incl = group_range_incl;
  table.MPI_Group_range_excl = group_range_excl;
  table.MPI_Group_free = group_free;
}

}  // namespace wormcube::mpi
