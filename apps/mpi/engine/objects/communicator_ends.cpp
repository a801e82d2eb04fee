// A rank's ends of communicators: how they are made, waited on and ended.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/core/nonblocking_node.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>

namespace wormcube::mpi {

namespace {

/// Whether this rank has, or may have, requests in progress on the communicator.
bool is_used(const RankState& rank, const Communicator& communicator) {
  bool found = false;
  rank.pool.each([&](const RequestObject& request) {
    found =
        found || (request.communicator == &communicator && (request.active || request.persistent));
  });
  return found;
}

void release(RankState& rank, Communicator& communicator) {
  const std::uint32_t context = communicator.context();
  std::erase_if(rank.made_in_partitions,
                [&](const auto& each) { return std::get<0>(each.first) == context; });
  communicator.idle_places.clear();
  communicator.view.reset();
  communicator.tagged.reset();
  communicator.node = communicator.world = nullptr;
  communicator.shared.reset();
  communicator.remote.reset();
}

}  // namespace

Communicator& make_end(Call& call, std::shared_ptr<SharedCommunicator> shared,
                       const Communicator& parent, MPI_Comm* handle,
                       std::shared_ptr<SharedCommunicator> remote) {
  RankState& rank = call.rank();
  for (const auto& each : rank.communicators) {  // those freed with requests in progress
    if (each->magic == Communicator::dead && each->shared && !is_used(rank, *each))
      release(rank, *each);
  }
  const auto unused = std::ranges::find_if(rank.communicators, [](const auto& each) {
    return each->magic == Communicator::dead && each->shared == nullptr;
  });
  call.result(handle, "newcomm");
  Communicator* made = nullptr;
  if (unused == rank.communicators.end()) {
    made = rank.communicators.emplace_back(std::make_unique<Communicator>()).get();
  } else {
    made = unused->get();
  }
  attach(*made, *rank.node, std::move(shared), std::move(remote));
  made->errors = parent.errors;
  made->grid = nullptr;
  made->graph = nullptr;
  made->neighbours = nullptr;
  made->attributes = {};
  made->info = nullptr;
  made->attached_buffer = nullptr;
  made->of_session = parent.of_session;
  made->handle = reinterpret_cast<MPI_Comm>(made);
  *handle = made->handle;
  return *made;
}

Communicator& make_pair_end(Call& call, const Job::PairKey& key, const std::vector<Rank>& local,
                            const std::vector<Rank>& remote, const std::string& name,
                            const Communicator& parent, MPI_Comm* handle) {
  Job::Pair pair = call.rank().job.pair(key, local, remote, name);
  if (pair.lower->rank_of(call.rank().rank) < 0) std::swap(pair.lower, pair.upper);
  return make_end(call, std::move(pair.lower), parent, handle, std::move(pair.upper));
}

void end_communicator(Call& call, Communicator& communicator) {
  forget_number_of(communicator.handle);
  communicator.magic = Communicator::dead;
  if (call.rank().call.communicator == &communicator) call.rank().call.communicator = nullptr;
  if (!is_used(call.rank(), communicator)) release(call.rank(), communicator);
}

void keep_together(Call& call, Communicator& parent) {
  constexpr std::uint64_t most_ahead = 64;
  if (++parent.made % most_ahead == 0) wait_for_all(call, parent);
}

}  // namespace wormcube::mpi
