// MPI's functions on infos, which may be called at any time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The object behind an MPI_Info. Its memory stays, so a freed info is recognised.
struct InfoObject {
  static constexpr std::uint32_t alive = 0x494e4631, dead = 0x494e4630;
  std::uint32_t magic = alive;
  InfoKeys keys;
};

}  // namespace

MPI_Info new_info(InfoKeys keys) {
  return reinterpret_cast<MPI_Info>(new InfoObject{InfoObject::alive, std::move(keys)});
}

namespace {

InfoKeys& keys_in(MPI_Info handle) {
  static InfoKeys of_start;  // INFO_ENV: the start of a program supplies no values
  if (handle == MPI_INFO_ENV) return of_start;
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_INFO, handle == MPI_INFO_NULL
                                    ? std::string("the info is MPI_INFO_NULL")
                                    : fmt::format("invalid info handle {:#x}",
                                                  reinterpret_cast<std::uintptr_t>(handle)));
  }
  auto* const object = reinterpret_cast<InfoObject*>(handle);
  if (object->magic == InfoObject::alive) return object->keys;
  throw Failure(MPI_ERR_INFO, object->magic == InfoObject::dead ? "the info has been freed"
                                                                : "invalid info handle");
}
InfoKeys& own_keys_in(MPI_Info handle) {
  if (handle == MPI_INFO_ENV) throw Failure(MPI_ERR_INFO, "MPI_INFO_ENV is read-only");
  return keys_in(handle);
}

int info_create(MPI_Info* info) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_create);
  return call([&] {
    call.result(info, "info");
    *info = new_info({});
  });
}
int info_create_env(int, char**, MPI_Info* info) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_create_env);
  return call([&] {
    call.result(info, "info");
    *info = new_info(keys_in(MPI_INFO_ENV));
  });
}
int info_dup(MPI_Info info, MPI_Info* made) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_dup);
  return call([&] {
    call.result(made, "newinfo");
    *made = new_info(keys_in(info));
  });
}
int info_free(MPI_Info* info) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_free);
  return call([&] {
    call.result(info, "info");
    own_keys_in(*info) = {};
    forget_number_of(*info);
    reinterpret_cast<InfoObject*>(*info)->magic = InfoObject::dead;
    *info = MPI_INFO_NULL;
  });
}
int info_set(MPI_Info info, const char* key, const char* value) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_set);
  return call([&] { own_keys_in(info).set(key, value); });
}
int info_delete(MPI_Info info, const char* key) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_delete);
  return call([&] { own_keys_in(info).remove(key); });
}
int info_get_nkeys(MPI_Info info, int* count) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_get_nkeys);
  return call([&] {
    call.result(count, "nkeys");
    *count = static_cast<int>(keys_in(info).size());
  });
}
int info_get_nthkey(MPI_Info info, int n, char* key) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_get_nthkey);
  return call([&] {
    const InfoKeys& keys = keys_in(info);
    if (n < 0 || static_cast<std::size_t>(n) >= keys.size()) {
      throw Failure(MPI_ERR_ARG, fmt::format("key {} of {}", n, keys.size()));
    }
    const std::string& found = keys.key(static_cast<std::size_t>(n));
    std::memcpy(key, found.c_str(), found.size() + 1);
  });
}

/// As much of a text as fits, and a terminating zero.
void copy_cut(const std::string& text, std::size_t characters, char* to) {
  const std::size_t copied = std::min(text.size(), characters);
  std::memcpy(to, text.data(), copied);
  to[copied] = '\0';
}

int info_get(MPI_Info info, const char* key, int room, char* value, int* flag) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_get);
  return call([&] {
    call.result(flag, "flag");
    const std::string* const found = keys_in(info).find(key);
    *flag = found != nullptr;
    if (found != nullptr) copy_cut(*found, call.count(room, "valuelen"), value);
  });
}
int info_get_valuelen(MPI_Info info, const char* key, int* length, int* flag) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_get_valuelen);
  return call([&] {
    call.result(length, "valuelen");
    call.result(flag, "flag");
    const std::string* const found = keys_in(info).find(key);
    *flag = found != nullptr;
    if (found != nullptr) *length = static_cast<int>(found->size());
  });
}
// The length includes the terminating zero, and so does the reported one.
int info_get_string(MPI_Info info, const char* key, int* room, char* value, int* flag) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Info_get_string);
  return call([&] {
    call.result(room, "buflen");
    call.result(flag, "flag");
    const std::string* const found = keys_in(info).find(key);
    *flag = found != nullptr;
    if (found == nullptr) return;
    if (const std::size_t characters = call.count(*room, "buflen"); characters > 0) {
      copy_cut(*found, characters - 1, value);
    }
    *room = static_cast<int>(found->size()) + 1;
  });
}

int comm_set_info(MPI_Comm on, MPI_Info info) {
  WORMCUBE_MPI_CALL(MPI_Comm_set_info);
  return call([&] { call.communicator(on).info = hints_of(info); });
}
int comm_get_info(MPI_Comm on, MPI_Info* info) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_info);
  return call([&] {
    call.result(info, "info_used");
    const auto& keys = call.communicator(on).info;
    *info = new_info(keys ? *keys : InfoKeys());
  });
}

int abi_get_info(MPI_Info* info) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Abi_get_info);
  return call([&] {
    call.result(info, "info");
    InfoKeys keys;
    keys.set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
    keys.set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
    keys.set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
    *info = new_info(std::move(keys));
  });
}

}  // namespace

InfoKeys keys_of(MPI_Info handle) { return handle == MPI_INFO_NULL ? InfoKeys() : keys_in(handle); }

std::shared_ptr<const InfoKeys> hints_of(MPI_Info handle) {
  static constexpr std::array known{
      "mpi_assert_no_any_tag",         "mpi_assert_no_any_source",
      "mpi_assert_exact_length",       "mpi_assert_allow_overtaking",
      "mpi_assert_memory_alloc_kinds", "mpi_assert_strict_persistent_collective_ordering"};
  const InfoKeys given = keys_of(handle);
  auto kept = std::make_shared<InfoKeys>();
  for (std::size_t n = 0; n < given.size(); ++n) {
    const std::string& key = given.key(n);
    if (std::ranges::find(known, key) != known.end()) kept->set(key, *given.find(key));
  }
  return kept;
}

void set_key(MPI_Info handle, const std::string& key, const std::string& value) {
  own_keys_in(handle).set(key, value);
}

void add_info_functions(WormcubeMpiFunctions& table) {
  table.MPI_Info_create = info_create;
  table.MPI_Info_create_env = info_create_env;
  table.MPI_Info_dup = info_dup;
  table.MPI_Info_free = info_free;
  table.MPI_Info_set = info_set;
  table.MPI_Info_delete = info_delete;
  table.MPI_Info_get_nkeys = info_get_nkeys;
  table.MPI_Info_get_nthkey = info_get_nthkey;
  table.MPI_Info_get = info_get;
  table.MPI_Info_get_valuelen = info_get_valuelen;
  table.MPI_Info_get_string = info_get_string;
  table.MPI_Comm_set_info = comm_set_info;
  table.MPI_Comm_get_info = comm_get_info;
  table.MPI_Abi_get_info = abi_get_info;
}

}  // namespace wormcube::mpi
