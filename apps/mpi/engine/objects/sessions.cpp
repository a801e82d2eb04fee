// Sessions: two process sets, groups of them, and communicators made from groups alone.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/errors.hpp"
#include "wormcube/apps/mpi/engine/base/groups.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The object behind an MPI_Session. Its memory stays, so a finalized session is recognised.
struct SessionObject {
  static constexpr std::uint32_t alive = 0x53455331, dead = 0x53455330;
  std::uint32_t magic = alive;
  MPI_Errhandler errors = MPI_ERRORS_ARE_FATAL;
  std::string thread_level;
  std::shared_ptr<SessionState> state = std::make_shared<SessionState>();
};

SessionObject& session_of(Call& call, MPI_Session handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_SESSION, handle == MPI_SESSION_NULL
                                       ? std::string("the session is MPI_SESSION_NULL")
                                       : fmt::format("invalid session handle {:#x}",
                                                     reinterpret_cast<std::uintptr_t>(handle)));
  }
  auto* const object = reinterpret_cast<SessionObject*>(handle);
  if (object->magic != SessionObject::alive) {
    throw Failure(MPI_ERR_SESSION, object->magic == SessionObject::dead
                                       ? "the session has been finalized"
                                       : "invalid session handle");
  }
  call.errors_go_to(object->errors, handle);
  return *object;
}

constexpr std::array<const char*, 2> set_names{"mpi://WORLD", "mpi://SELF"};

Members members_of_set(const Call& call, const char* name) {
  const auto is_name = [&](std::string_view known) {
    return std::ranges::equal(
        known, std::string_view(name), {}, [](unsigned char c) { return std::tolower(c); },
        [](unsigned char c) { return std::tolower(c); });
  };
  if (is_name(set_names[1])) return {call.rank().rank};
  if (!is_name(set_names[0])) {
    throw Failure(MPI_ERR_ARG, fmt::format("unknown process set {} (available: {} and {})", name,
                                           set_names[0], set_names[1]));
  }
  Members all(static_cast<std::size_t>(call.rank().job.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int session_init(MPI_Info info, MPI_Errhandler errors, MPI_Session* session) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Session_init);
  return call([&] {
    call.result(session, "session");
    call.errors_go_to(errors, nullptr);
    const InfoKeys given = keys_of(info);
    const std::string* const level = given.find("thread_level");
    auto* const made = new SessionObject;
    made->errors = errors;
    made->thread_level = level != nullptr && *level == "MPI_THREAD_SINGLE" ? "MPI_THREAD_SINGLE"
                                                                           : "MPI_THREAD_FUNNELED";
    ++call.rank().sessions;
    *session = reinterpret_cast<MPI_Session>(made);
  });
}

int session_finalize(MPI_Session* session) {
  WORMCUBE_MPI_CALL(MPI_Session_finalize);
  return call([&] {
    call.result(session, "session");
    SessionObject& ended = session_of(call, *session);
    flush_buffer(call, ended.state->attached_buffer);
    ended.magic = SessionObject::dead;
    forget_number_of(*session);
    --call.rank().sessions;
    *session = MPI_SESSION_NULL;
  });
}

int session_get_num_psets(MPI_Session session, MPI_Info, int* count) {
  WORMCUBE_MPI_CALL(MPI_Session_get_num_psets);
  return call([&] {
    call.result(count, "npset_names");
    session_of(call, session);
    *count = static_cast<int>(set_names.size());
  });
}

int session_get_nth_pset(MPI_Session session, MPI_Info, int n, int* room, char* name) {
  WORMCUBE_MPI_CALL(MPI_Session_get_nth_pset);
  return call([&] {
    call.result(room, "pset_len");
    session_of(call, session);
    if (n < 0 || static_cast<std::size_t>(n) >= set_names.size()) {
      throw Failure(MPI_ERR_ARG, fmt::format("process set {} is out of range: there are {}", n,
                                             set_names.size()));
    }
    const std::string_view found = set_names[static_cast<std::size_t>(n)];
    if (const std::size_t characters = call.count(*room, "pset_len"); characters > 0) {
      const std::size_t copied = std::min(found.size(), characters - 1);
      std::memcpy(name, found.data(), copied);
      name[copied] = '\0';
    }
    *room = static_cast<int>(found.size()) + 1;
  });
}

int session_get_pset_info(MPI_Session session, const char* name, MPI_Info* info) {
  WORMCUBE_MPI_CALL(MPI_Session_get_pset_info);
  return call([&] {
    call.result(info, "info");
    session_of(call, session);
    InfoKeys keys;
    keys.set("mpi_size", std::to_string(members_of_set(call, name).size()));
    *info = new_info(std::move(keys));
  });
}

int session_get_info(MPI_Session session, MPI_Info* info) {
  WORMCUBE_MPI_CALL(MPI_Session_get_info);
  return call([&] {
    call.result(info, "info_used");
    InfoKeys keys;
    keys.set("thread_level", session_of(call, session).thread_level);
    *info = new_info(std::move(keys));
  });
}

int session_set_errhandler(MPI_Session session, MPI_Errhandler errors) {
  WORMCUBE_MPI_CALL(MPI_Session_set_errhandler);
  return call([&] { session_of(call, session).errors = errors; });
}
int session_get_errhandler(MPI_Session session, MPI_Errhandler* errors) {
  WORMCUBE_MPI_CALL(MPI_Session_get_errhandler);
  return call([&] {
    call.result(errors, "errhandler");
    *errors = session_of(call, session).errors;
  });
}
// The function's first argument points to the session, as it does to a communicator elsewhere.
int session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Session_create_errhandler);
  return call([&] {
    call.result(handle, "errhandler");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *handle = reinterpret_cast<MPI_Errhandler>(
        new ErrorHandler{reinterpret_cast<MPI_Comm_errhandler_function*>(function)});
  });
}
int session_call_errhandler(MPI_Session session, int code) {
  WORMCUBE_MPI_CALL(MPI_Session_call_errhandler);
  static_cast<void>(call([&] {
    session_of(call, session);
    throw Failure(code, "reported by the program");
  }));
  return MPI_SUCCESS;
}

template <class Count>
int session_attach_buffer(MPI_Session session, void* memory, Count bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Session_attach_buffer);
  return call([&] {
    attach_buffer(call, session_of(call, session).state->attached_buffer, memory, bytes);
  });
}
template <class Count>
int session_detach_buffer(MPI_Session session, void* memory, Count* bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Session_detach_buffer);
  return call([&] {
    call.result(bytes, "size");
    *bytes = static_cast<Count>(
        detach_buffer(call, session_of(call, session).state->attached_buffer, memory));
  });
}
int session_flush_buffer(MPI_Session session) {
  WORMCUBE_MPI_CALL(MPI_Session_flush_buffer);
  return call([&] { flush_buffer(call, session_of(call, session).state->attached_buffer); });
}
int session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Session_iflush_buffer);
  return call([&] {
    call.result(request, "request");
    *request = iflush_buffer(call, session_of(call, session).state->attached_buffer);
  });
}

int group_from_session_pset(MPI_Session session, const char* name, MPI_Group* group) {
  WORMCUBE_MPI_CALL(MPI_Group_from_session_pset);
  return call([&] {
    call.result(group, "newgroup");
    const SessionObject& its = session_of(call, session);
    *group = new_group(members_of_set(call, name), its.state);
  });
}

// ---- Communicators made from groups, without a parent ----

void require_member(const Call& call, const Members& members) {
  if (std::ranges::find(members, call.rank().rank) != members.end()) return;
  throw Failure(MPI_ERR_GROUP, "the calling rank is not in the group");
}

// The members wait for each other, so that the next call with this tag finds no member still in
// this one.
Communicator& end_of_group(Call& call, const Members& members, const std::string& tag,
                           MPI_Comm* made) {
  RankState& rank = call.rank();
  Communicator& end = make_end(
      call, rank.job.world()->child_of_group(rank.job.number_of_tag(tag), members, "group " + tag),
      rank.world, made);
  come_to(end, {.function = call.function()});
  wait_for_all(call, end);
  return end;
}

int comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler errors,
                           MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_create_from_group);
  return call([&] {
    call.result(made, "newcomm");
    call.errors_go_to(errors, nullptr);
    *made = MPI_COMM_NULL;
    const Members& members = members_of_group(group);
    if (members.empty()) return;
    require_member(call, members);
    Communicator& end = end_of_group(call, members, tag, made);
    end.of_session = session_of_group(group);
    end.errors = errors;
    end.info = hints_of(info);
  });
}

int intercomm_create_from_groups(MPI_Group local_group, int, MPI_Group remote_group, int,
                                 const char* tag, MPI_Info info, MPI_Errhandler errors,
                                 MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Intercomm_create_from_groups);
  return call([&] {
    call.result(made, "newintercomm");
    call.errors_go_to(errors, nullptr);
    *made = MPI_COMM_NULL;
    const Members &local = members_of_group(local_group), &remote = members_of_group(remote_group);
    require_member(call, local);
    if (remote.empty()) throw Failure(MPI_ERR_GROUP, "the remote group is empty");
    for (const Rank rank : remote) {
      if (std::ranges::find(local, rank) == local.end()) continue;
      throw Failure(MPI_ERR_GROUP, fmt::format("rank {} of the world is in both groups", rank));
    }
    const int number = call.rank().job.number_of_tag(tag);
    // A rank that names another remote group makes another pair and waits for it.
    constexpr auto none = ~std::uint32_t{0};
    const auto both = static_cast<std::uint64_t>(std::min(local.front(), remote.front())) << 32U |
                      static_cast<std::uint32_t>(std::max(local.front(), remote.front()));
    Communicator& end = make_pair_end(call, {none, both, number}, local, remote,
                                      fmt::format("groups {}", tag), call.rank().world, made);
    end.of_session = session_of_group(local_group);
    end.errors = errors;
    end.info = hints_of(info);
    come_to(end, {.function = call.function()});
    wait_for_all(call, end);
  });
}

}  // namespace

void add_session_functions(WormcubeMpiFunctions& table) {
  table.MPI_Session_init = session_init;
  table.MPI_Session_finalize = session_finalize;
  table.MPI_Session_get_num_psets = session_get_num_psets;
  table.MPI_Session_get_nth_pset = session_get_nth_pset;
  table.MPI_Session_get_pset_info = session_get_pset_info;
  table.MPI_Session_get_info = session_get_info;
  table.MPI_Session_set_errhandler = session_set_errhandler;
  table.MPI_Session_get_errhandler = session_get_errhandler;
  table.MPI_Session_create_errhandler = session_create_errhandler;
  table.MPI_Session_call_errhandler = session_call_errhandler;
  table.MPI_Session_attach_buffer = session_attach_buffer<int>;
  table.MPI_Session_attach_buffer_c = session_attach_buffer<MPI_Count>;
  table.MPI_Session_detach_buffer = session_detach_buffer<int>;
  table.MPI_Session_detach_buffer_c = session_detach_buffer<MPI_Count>;
  table.MPI_Session_flush_buffer = session_flush_buffer;
  table.MPI_Session_iflush_buffer = session_iflush_buffer;
  table.MPI_Group_from_session_pset = group_from_session_pset;
  table.MPI_Comm_create_from_group = comm_create_from_group;
  table.MPI_Intercomm_create_from_groups = intercomm_create_from_groups;
}

}  // namespace wormcube::mpi
