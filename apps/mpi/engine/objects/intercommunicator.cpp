// Intercommunicators: two groups that communicate.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// What leaders send each other and then their groups: a number for the pair, and the group's
/// members.
struct Introduction {
  int number = 0;
  std::vector<Rank> members;
};

std::vector<int> as_words(const Introduction& of) {
  std::vector<int> words{of.number, static_cast<int>(of.members.size())};
  words.insert(words.end(), of.members.begin(), of.members.end());
  return words;
}

/// The tag of the messages by which leaders exchange them.
Introduction introduced(Call& call, Communicator& peer, int remote_leader, int tag,
                        const Introduction& own) {
  RankState& rank = call.rank();
  CurrentCall& now = rank.call;
  now.communicator = &peer;
  now.waits = CurrentCall::Waits::both;
  now.peer = now.source = remote_leader;
  now.tag = now.source_tag = tag;
  const std::vector<int> out = as_words(own);
  std::vector<int> in(static_cast<std::size_t>(rank.job.ranks()) + 2);
  const Rank to = peer.world_rank(remote_leader);
  std::array<Request, 2> both{
      rank.requests->start(MessagePattern{.source = to, .tag = tag, .context = peer.context()},
                           std::as_writable_bytes(std::span(in))),
      rank.requests->start(wormcube::send(to, std::as_bytes(std::span(out)), tag), peer.context())};
  rank.requests->wait_all(both);
  // Both use the same number.
  const bool is_lower = rank.rank < to;
  return {is_lower ? own.number : in[0], {in.begin() + 2, in.begin() + 2 + in[1]}};
}

/// Broadcasts from its leader to all ranks of a group.
Introduction from_leader(const Communicator& local, int leader, const Introduction& what) {
  std::vector<int> words(static_cast<std::size_t>(local.shared->ranks_of_world()) + 2);
  if (local.rank == leader) std::ranges::copy(as_words(what), words.begin());
  if (local.size() > 1) {
    const Collective& broadcast =
        local.shared->collective({.operation = operations::broadcast,
                                  .block_bytes = words.size() * sizeof(int),
                                  .root = leader},
                                 local.node->topology(), {});
    const Span data = std::as_writable_bytes(std::span(words));
    broadcast(*local.node, data);
  }
  return {words[0], {words.begin() + 2, words.begin() + 2 + words[1]}};
}

int intercomm_create(MPI_Comm local_handle, int local_leader, MPI_Comm peer_handle,
                     int remote_leader, int tag, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Intercomm_create);
  return call([&] {
    call.result(made, "newintercomm");
    Communicator& local = call.intracommunicator(local_handle);
    if (local_leader < 0 || local_leader >= local.size()) {
      throw Failure(MPI_ERR_RANK, fmt::format("local_leader {} is out of range for {} ({} ranks)",
                                              local_leader, local.name, local.size()));
    }
    *made = MPI_COMM_NULL;
    come_to(local, {.function = call.function(), .root = local_leader});
    Introduction other;
    if (local.rank == local_leader) {
      Communicator& peer = call.communicator(peer_handle);
      if (remote_leader < 0 || remote_leader >= peer.peers().size()) {
        throw Failure(MPI_ERR_RANK,
                      fmt::format("remote_leader {} is out of range for {} ({} ranks)",
                                  remote_leader, peer.name, peer.peers().size()));
      }
      call.send_tag(tag);
      other = introduced(call, peer, remote_leader, tag,
                         {call.rank().job.next_number(), local.shared->members()});
    }
    call.rank().call.communicator = &local;
    call.rank().call.waits = CurrentCall::Waits::collective;
    other = from_leader(local, local_leader, other);
    for (const Rank rank : other.members) {
      if (local.shared->rank_of(rank) < 0) continue;
      throw Failure(MPI_ERR_COMM, fmt::format("rank {} of MPI_COMM_WORLD is in both groups", rank));
    }
    // Pairs have their own numbers: no communicator has this one.
    constexpr auto none = ~std::uint32_t{0};
    make_pair_end(call, {none, static_cast<std::uint64_t>(other.number), 0},
                  local.shared->members(), other.members, fmt::format("{} and others", local.name),
                  local, made);
  });
}

Communicator& intercommunicator(Call& call, MPI_Comm handle) {
  Communicator& found = call.communicator(handle);
  if (found.remote) return found;
  throw Failure(MPI_ERR_COMM, found.name + " is not an intercommunicator");
}

int intercomm_merge(MPI_Comm handle, int high, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Intercomm_merge);
  return call([&] {
    Communicator& both = intercommunicator(call, handle);
    const std::uint64_t number = come_to(both, {.function = call.function()});
    const int own_high = high != 0 ? 1 : 0;
    int their_high = 0;
    swap_between(call, both, std::as_bytes(std::span(&own_high, 1)),
                 std::as_writable_bytes(std::span(&their_high, 1)));
    const std::vector<Rank>&own = both.shared->members(), &theirs = both.remote->members();
    const bool own_first = own_high == their_high ? own.front() < theirs.front() : own_high == 0;
    std::vector<Rank> members = own_first ? own : theirs;
    const std::vector<Rank>& second = own_first ? theirs : own;
    members.insert(members.end(), second.begin(), second.end());
    SharedCommunicator& keeper =
        both.shared->id() < both.remote->id() ? *both.shared : *both.remote;
    make_end(call, keeper.child(number, 0, members, "merged " + both.name), both, made);
  });
}

int comm_test_inter(MPI_Comm on, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Comm_test_inter);
  return call([&] {
    call.result(flag, "flag");
    *flag = call.communicator(on).remote ? 1 : 0;
  });
}
int comm_remote_size(MPI_Comm on, int* size) {
  WORMCUBE_MPI_CALL(MPI_Comm_remote_size);
  return call([&] {
    call.result(size, "size");
    *size = intercommunicator(call, on).remote->size();
  });
}
int comm_remote_group(MPI_Comm on, MPI_Group* group) {
  WORMCUBE_MPI_CALL(MPI_Comm_remote_group);
  return call([&] {
    call.result(group, "group");
    *group = new_group(intercommunicator(call, on).remote->members());
  });
}

}  // namespace

void add_intercommunicator_functions(WormcubeMpiFunctions& table) {
  table.MPI_Intercomm_create = intercomm_create;
  table.MPI_Intercomm_merge = intercomm_merge;
  table.MPI_Comm_test_inter = comm_test_inter;
  table.MPI_Comm_remote_size = comm_remote_size;
  table.MPI_Comm_remote_group = comm_remote_group;
}

}  // namespace wormcube::mpi
