// MPI's tool interface, for an MPI without variables, events or categories.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <atomic>

namespace wormcube::mpi {
namespace {

/// Shared by all ranks: no rank can disturb another one here.
std::atomic<int> users{0};

int init_tools(int required, int* provided) {
  ++users;
  *provided = std::min<int>(required, MPI_THREAD_FUNNELED);
  return MPI_SUCCESS;
}
int finalize_tools() {
  if (users.fetch_sub(1) > 0) return MPI_SUCCESS;
  ++users;
  return MPI_T_ERR_NOT_INITIALIZED;
}

/// The result of every call that names a variable, event or category: there is none.
template <int code, class... Arguments>
int no_such(Arguments... /*arguments*/) {
  return users > 0 ? code : MPI_T_ERR_NOT_INITIALIZED + 0;
}

int none(int* number) {
  *number = 0;
  return no_such<MPI_SUCCESS>();
}

struct VariableSession {
  static constexpr std::uint32_t alive = 0x50565331, dead = 0x50565330;
  std::uint32_t magic = alive;
};

int create_session(MPI_T_pvar_session* session) {
  if (users <= 0) return MPI_T_ERR_NOT_INITIALIZED;
  *session = reinterpret_cast<MPI_T_pvar_session>(new VariableSession);
  return MPI_SUCCESS;
}
int free_session(MPI_T_pvar_session* session) {
  if (users <= 0) return MPI_T_ERR_NOT_INITIALIZED;
  auto* const object = reinterpret_cast<VariableSession*>(*session);
  if (object == nullptr || object->magic != VariableSession::alive)
    return MPI_T_ERR_INVALID_SESSION;
  object->magic = VariableSession::dead;
  delete object;
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
/// A session has no variables.
int for_all_handles(MPI_T_pvar_session /*session*/, MPI_T_pvar_handle handle) {
  return handle == MPI_T_PVAR_ALL_HANDLES ? no_such<MPI_SUCCESS>()
                                          : no_such<MPI_T_ERR_INVALID_HANDLE>();
}

}  // namespace

void add_tool_functions(WormcubeMpiFunctions& table) {
  table.MPI_T_init_thread = init_tools;
  table.MPI_T_finalize = finalize_tools;

  table.MPI_T_cvar_get_num = none;
  table.MPI_T_pvar_get_num = none;
  table.MPI_T_event_get_num = none;
  table.MPI_T_source_get_num = none;
  table.MPI_T_category_get_num = none;
  table.MPI_T_category_changed = none;

  table.MPI_T_cvar_get_index = no_such<MPI_T_ERR_INVALID_NAME>;
  table.MPI_T_pvar_get_index = no_such<MPI_T_ERR_INVALID_NAME>;
  table.MPI_T_event_get_index = no_such<MPI_T_ERR_INVALID_NAME>;
  table.MPI_T_category_get_index = no_such<MPI_T_ERR_INVALID_NAME>;

  table.MPI_T_cvar_get_info = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_cvar_handle_alloc = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_pvar_get_info = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_pvar_handle_alloc = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_event_get_info = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_event_handle_alloc = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_source_get_info = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_source_get_timestamp = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_info = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_categories = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_cvars = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_pvars = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_events = no_such<MPI_T_ERR_INVALID_INDEX>;
  table.MPI_T_category_get_num_events = no_such<MPI_T_ERR_INVALID_INDEX>;

  table.MPI_T_enum_get_info = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_enum_get_item = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_cvar_handle_free = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_cvar_read = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_cvar_write = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_pvar_session_create = create_session;
  table.MPI_T_pvar_session_free = free_session;
  table.MPI_T_pvar_start = for_all_handles;
  table.MPI_T_pvar_stop = for_all_handles;
  table.MPI_T_pvar_reset = for_all_handles;
  table.MPI_T_pvar_handle_free = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_pvar_read = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_pvar_readreset = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_pvar_write = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_callback_get_info = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_callback_set_info = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_copy = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_get_source = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_get_timestamp = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_handle_free = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_handle_get_info = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_handle_set_info = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_read = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_register_callback = no_such<MPI_T_ERR_INVALID_HANDLE>;
  table.MPI_T_event_set_dropped_handler = no_such<MPI_T_ERR_INVALID_HANDLE>;
}

}  // namespace wormcube::mpi
