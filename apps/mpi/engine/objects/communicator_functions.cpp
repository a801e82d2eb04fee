// MPI's functions on communicators: duplicated, split, compared, named, freed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/core/communicator.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

int comm_rank(MPI_Comm on, int* rank) {
  WORMCUBE_MPI_CALL(MPI_Comm_rank);
  return call([&] {
    call.result(rank, "rank");
    *rank = call.communicator(on).rank;
  });
}

int comm_size(MPI_Comm on, int* size) {
  WORMCUBE_MPI_CALL(MPI_Comm_size);
  return call([&] {
    call.result(size, "size");
    *size = call.communicator(on).size();
  });
}

// All ranks make the call, but none waits for the others: what they share is in memory.
void duplicate(Call& call, MPI_Comm on, std::shared_ptr<const InfoKeys> info, MPI_Comm* made,
               bool may_wait = true) {
  Communicator& parent = call.communicator(on);
  const std::uint64_t number = come_to(parent, {.function = call.function()});
  if (may_wait) keep_together(call, parent);
  const std::string name = "dup of " + parent.name;
  const std::vector<Rank>& members = parent.shared->members();
  Communicator& copy =
      parent.remote ? make_pair_end(call, {parent.context(), number, 0}, members,
                                    parent.remote->members(), name, parent, made)
                    : make_end(call, parent.shared->child(number, 0, members, name), parent, made);
  copy.grid = parent.grid;
  copy.graph = parent.graph;
  copy.neighbours = parent.neighbours;
  copy.info = info != nullptr ? std::move(info) : parent.info;
  if (const int error = parent.attributes.copy_to(on, copy.attributes)) {
    copy.attributes.remove_all(copy.handle);
    end_communicator(call, copy);
    *made = MPI_COMM_NULL;
    throw Failure(error, "the copy function of an attribute returned an error");
  }
}

// What all ranks share is in memory, so the copy is complete at once.
void duplicate_at_once(Call& call, MPI_Comm on, std::shared_ptr<const InfoKeys> info,
                       MPI_Comm* made, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  duplicate(call, on, std::move(info), made, false);
  *request = reinterpret_cast<MPI_Request>(
      &start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, on, Requests::Mode::standard));
}

int comm_dup(MPI_Comm on, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_dup);
  return call([&] { duplicate(call, on, nullptr, made); });
}

int comm_dup_with_info(MPI_Comm on, MPI_Info info, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_dup_with_info);
  return call([&] { duplicate(call, on, hints_of(info), made); });
}

int comm_idup(MPI_Comm on, MPI_Comm* made, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Comm_idup);
  return call([&] { duplicate_at_once(call, on, nullptr, made, request); });
}

int comm_idup_with_info(MPI_Comm on, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Comm_idup_with_info);
  return call([&] { duplicate_at_once(call, on, hints_of(info), made, request); });
}

struct ColourAndKey {
  int colour, key;
};

/// The members of one color among them, sorted by key, as ranks of the world.
std::vector<Rank> members_of_colour(const std::vector<ColourAndKey>& all, int colour,
                                    const SharedCommunicator& group) {
  std::vector<Rank> members;
  for (Rank r = 0; r < group.size(); ++r) {
    if (all[static_cast<std::size_t>(r)].colour == colour) members.push_back(r);
  }
  std::ranges::stable_sort(members, {},
                           [&](Rank r) { return all[static_cast<std::size_t>(r)].key; });
  for (Rank& member : members) member = group.members()[static_cast<std::size_t>(member)];
  return members;
}

void split(Call& call, Communicator& parent, int colour, int key, MPI_Comm* made) {
  const std::uint64_t number = come_to(parent, {.function = call.function()});
  call.rank().call.waits = CurrentCall::Waits::collective;
  // Collects what all ranks contribute, with the registry's allgather.
  std::vector<ColourAndKey> all(static_cast<std::size_t>(parent.size())), others;
  all[static_cast<std::size_t>(parent.rank)] = {colour, key};
  if (parent.size() > 1) {
    const Collective& gather = parent.shared->collective(
        {.operation = operations::allgather, .block_bytes = sizeof(ColourAndKey)},
        parent.node->topology(), {});
    gather(*parent.node, all);
  }
  if (parent.remote) {
    others.resize(static_cast<std::size_t>(parent.remote->size()));
    swap_between(call, parent, std::as_bytes(std::span(all)),
                 std::as_writable_bytes(std::span(others)));
  }
  call.result(made, "newcomm");
  *made = MPI_COMM_NULL;
  if (colour == MPI_UNDEFINED) return;
  const std::vector<Rank> members = members_of_colour(all, colour, *parent.shared);
  const std::string name = fmt::format("part {} of {}", colour, parent.name);
  if (!parent.remote) {
    make_end(call, parent.shared->child(number, colour, members, name), parent, made);
    return;
  }
  const std::vector<Rank> remote = members_of_colour(others, colour, *parent.remote);
  if (remote.empty()) return;
  make_pair_end(call, {parent.context(), number, colour}, members, remote, name, parent, made);
}

int comm_split(MPI_Comm on, int colour, int key, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_split);
  return call([&] {
    Communicator& parent = call.communicator(on);
    if (colour < 0 && colour != MPI_UNDEFINED) {
      throw Failure(MPI_ERR_ARG, fmt::format("color {} is negative and not MPI_UNDEFINED", colour));
    }
    split(call, parent, colour, key, made);
  });
}

// Each node has its own memory, and nothing else is known about its hardware.
int comm_split_type(MPI_Comm on, int type, int key, MPI_Info info, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_split_type);
  return call([&] {
    Communicator& parent = call.intracommunicator(on);
    static const std::string resource = "mpi_hw_resource_type", memory = "mpi_shared_memory";
    bool is_in = false;
    switch (type) {
      case MPI_UNDEFINED:
        break;
      case MPI_COMM_TYPE_SHARED:
        is_in = true;
        break;
      case MPI_COMM_TYPE_HW_UNGUIDED:  // the next smaller part, if there is one
        is_in = parent.size() > 1;
        if (is_in && info != MPI_INFO_NULL) set_key(info, resource, memory);
        break;
      case MPI_COMM_TYPE_HW_GUIDED:
      case MPI_COMM_TYPE_RESOURCE_GUIDED: {
        const InfoKeys keys = keys_of(info);
        const std::string* const wanted = keys.find(resource);
        is_in = wanted != nullptr && *wanted == memory;
        break;
      }
      default:
        throw Failure(MPI_ERR_ARG, fmt::format("invalid split_type {}", type));
    }
    split(call, parent, is_in ? parent.rank : MPI_UNDEFINED + 0, key, made);
  });
}

void free_communicator(Call& call, MPI_Comm* on) {
  Communicator& communicator = call.communicator(*on);
  if (is_predefined(*on)) throw Failure(MPI_ERR_COMM, communicator.name + " cannot be freed");
  if (const int error = communicator.attributes.remove_all(*on)) {
    throw Failure(error, "the delete function of an attribute returned an error");
  }
  end_communicator(call, communicator);
  *on = MPI_COMM_NULL;
}

int comm_free(MPI_Comm* on) {
  WORMCUBE_MPI_CALL(MPI_Comm_free);
  return call([&] {
    call.result(on, "comm");
    free_communicator(call, on);
  });
}

// The program has completed what it started, so this waits only for the other ranks.
int comm_disconnect(MPI_Comm* on) {
  WORMCUBE_MPI_CALL(MPI_Comm_disconnect);
  return call([&] {
    call.result(on, "comm");
    Communicator& communicator = call.communicator(*on);
    come_to(communicator, {.function = call.function()});
    wait_for_all(call, communicator);
    free_communicator(call, on);
  });
}

// No rank was spawned by another.
int comm_get_parent(MPI_Comm* parent) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_parent);
  return call([&] {
    call.result(parent, "parent");
    *parent = MPI_COMM_NULL;
  });
}

/// IDENT: the same members in the same order; SIMILAR: in another order.
int compared_members(const std::vector<Rank>& a, const std::vector<Rank>& b) {
  if (a == b) return MPI_IDENT;
  return a.size() == b.size() && std::ranges::is_permutation(a, b) ? MPI_SIMILAR : MPI_UNEQUAL;
}

int comm_compare(MPI_Comm left, MPI_Comm right, int* result) {
  WORMCUBE_MPI_CALL(MPI_Comm_compare);
  return call([&] {
    call.result(result, "result");
    const Communicator& a = call.communicator(left);
    const Communicator& b = call.communicator(right);
    *result = MPI_UNEQUAL;
    if (left == right) {
      *result = MPI_IDENT;
    } else if ((a.remote == nullptr) == (b.remote == nullptr)) {
      const int local = compared_members(a.shared->members(), b.shared->members());
      const int remote =
          a.remote ? compared_members(a.remote->members(), b.remote->members()) : local;
      *result = std::max(local, remote);  // IDENT < SIMILAR < UNEQUAL
      if (*result == MPI_IDENT) *result = MPI_CONGRUENT;
    }
  });
}

int comm_set_name(MPI_Comm on, const char* name) {
  WORMCUBE_MPI_CALL(MPI_Comm_set_name);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    communicator.name = std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  });
}

int comm_get_name(MPI_Comm on, char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_name);
  return call([&] {
    call.result(length, "resultlen");
    const Communicator& communicator = call.communicator(on);
    const bool is_ours = communicator.name == communicator.shared->name && !is_predefined(on);
    const std::string text = is_ours ? std::string() : communicator.name;
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int comm_get_attr(MPI_Comm on, int key, void* value, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_attr);
  return call([&] {
    call.result(flag, "flag");
    call.communicator(on);
    static const int most_tag = std::numeric_limits<int>::max(), any = MPI_ANY_SOURCE,
                     none = MPI_PROC_NULL, yes = 1, first = 0;
    const int* found = nullptr;
    switch (key) {
      case MPI_TAG_UB:
        found = &most_tag;
        break;
      case MPI_IO:
        found = &any;
        break;
      case MPI_HOST:
        found = &none;
        break;
      case MPI_WTIME_IS_GLOBAL:
        found = call.rank().job.clock() == nullptr ? &yes : &first;
        break;
      case MPI_APPNUM:
        found = &first;
        break;
      case MPI_UNIVERSE_SIZE:
        found = &call.rank().job.options().ranks;
        break;
      case MPI_LASTUSEDCODE:
        found = &call.rank().added_errors.last;
        break;
      default: {
        const auto own = call.rank().communicator_keys.find(key);
        if (!own) {
          throw Failure(MPI_ERR_KEYVAL, fmt::format("invalid keyval {}", key));
        }
        void* const* const set = call.communicator(on).attributes.find(*own);
        *flag = set != nullptr;
        if (set != nullptr) *static_cast<void**>(value) = *set;
        return;
      }
    }
    *static_cast<const int**>(value) = found;
    *flag = 1;
  });
}

}  // namespace

void add_communicator_functions(WormcubeMpiFunctions& table) {
  table.MPI_Comm_rank = comm_rank;
  table.MPI_Comm_size = comm_size;
  table.MPI_Comm_dup = comm_dup;
  table.MPI_Comm_dup_with_info = comm_dup_with_info;
  table.MPI_Comm_idup = comm_idup;
  table.MPI_Comm_idup_with_info = comm_idup_with_info;
  table.MPI_Comm_split = comm_split;
  table.MPI_Comm_split_type = comm_split_type;
  table.MPI_Comm_free = comm_free;
  table.MPI_Comm_disconnect = comm_disconnect;
  table.MPI_Comm_get_parent = comm_get_parent;
  table.MPI_Comm_compare = comm_compare;
  table.MPI_Comm_set_name = comm_set_name;
  table.MPI_Comm_get_name = comm_get_name;
  table.MPI_Comm_get_attr = comm_get_attr;
}

}  // namespace wormcube::mpi
