// MPI functions that need no rank.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/objects/plain_functions.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/version.hpp"

#include <cstdint>
#include <cstring>

namespace wormcube::mpi {
namespace {

int get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_library_version(char* version, int* length) {
  const std::string_view text = library_version();
  std::memcpy(version, text.data(), text.size());
  version[text.size()] = '\0';
  *length = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int abi_get_version(int* major, int* minor) {
  *major = MPI_ABI_VERSION;
  *minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

/// There is no Fortran compiler here that could define its LOGICALs.
int abi_get_fortran_booleans(int, void*, void*, int* is_set) {
  *is_set = 0;
  return MPI_SUCCESS;
}

int abi_get_fortran_info(MPI_Info* info) {
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

/// Differences of addresses may overflow a signed number.
MPI_Aint sum_of_addresses(MPI_Aint base, MPI_Aint displacement) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(displacement));
}
MPI_Aint difference_of_addresses(MPI_Aint left, MPI_Aint right) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(left) -
                               static_cast<std::uintptr_t>(right));
}

int get_status_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}
int get_status_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}
int get_status_error(const MPI_Status* status, int* error) {
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}
int set_status_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}
int set_status_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}
int set_status_error(MPI_Status* status, int error) {
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}
int set_cancelled(MPI_Status* status, int flag) {
  set_status_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}
int test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status_cancelled(*status);
  return MPI_SUCCESS;
}

template <class Handle>
int to_int(Handle handle) {
  return number_of_handle(handle);
}
template <class Handle>
Handle from_int(int number) {
  return static_cast<Handle>(handle_of_number(number));
}

}  // namespace

std::string_view library_version() {
  return "wormcube " WORMCUBE_VERSION ", MPI 5.0, standard ABI 1.0";
}

void add_plain_functions(WormcubeMpiFunctions& table) {
  table.MPI_Get_version = get_version;
  table.MPI_Get_library_version = get_library_version;
  table.MPI_Abi_get_version = abi_get_version;
  table.MPI_Abi_get_fortran_booleans = abi_get_fortran_booleans;
  table.MPI_Abi_get_fortran_info = abi_get_fortran_info;
  table.MPI_Get_address = get_address;
  table.MPI_Aint_add = sum_of_addresses;
  table.MPI_Aint_diff = difference_of_addresses;
  table.MPI_Status_get_source = get_status_source;
  table.MPI_Status_get_tag = get_status_tag;
  table.MPI_Status_get_error = get_status_error;
  table.MPI_Status_set_source = set_status_source;
  table.MPI_Status_set_tag = set_status_tag;
  table.MPI_Status_set_error = set_status_error;
  table.MPI_Status_set_cancelled = set_cancelled;
  table.MPI_Test_cancelled = test_cancelled;
  table.MPI_Comm_toint = to_int;
  table.MPI_Comm_fromint = from_int;
  table.MPI_Errhandler_toint = to_int;
  table.MPI_Errhandler_fromint = from_int;
  table.MPI_File_toint = to_int;
  table.MPI_File_fromint = from_int;
  table.MPI_Group_toint = to_int;
  table.MPI_Group_fromint = from_int;
  table.MPI_Info_toint = to_int;
  table.MPI_Info_fromint = from_int;
  table.MPI_Message_toint = to_int;
  table.MPI_Message_fromint = from_int;
  table.MPI_Op_toint = to_int;
  table.MPI_Op_fromint = from_int;
  table.MPI_Request_toint = to_int;
  table.MPI_Request_fromint = from_int;
  table.MPI_Session_toint = to_int;
  table.MPI_Session_fromint = from_int;
  table.MPI_Type_toint = to_int;
  table.MPI_Type_fromint = from_int;
  table.MPI_Win_toint = to_int;
  table.MPI_Win_fromint = from_int;
}

}  // namespace wormcube::mpi
