// MPI's functions on communicator attributes, MPI 1's names included.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using CommunicatorKeys = AttributeKeys<MPI_Comm>;

/// A keyval that the program created.
std::shared_ptr<const CommunicatorKeys::Key> own_key(const Call& call, int number) {
  auto key = call.rank().communicator_keys.find(number);
  if (key) return key;
  const bool is_ours = number >= MPI_TAG_UB && number <= MPI_UNIVERSE_SIZE;
  throw Failure(MPI_ERR_KEYVAL,
                is_ours ? fmt::format("the attribute with keyval {} is read-only", number)
                        : fmt::format("invalid communicator keyval {}", number));
}

void need_success(int error, const char* function) {
  if (error == MPI_SUCCESS) return;
  throw Failure(error, fmt::format("the {} function of an attribute returned an error", function));
}

int create(Call& call, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
           int* key, void* extra) {
  return call([&] {
    call.result(key, "keyval");
    *key = call.rank().communicator_keys.create(copy, remove, extra);
  });
}
int free_key(Call& call, int* key) {
  return call([&] {
    call.result(key, "keyval");
    own_key(call, *key);
    call.rank().communicator_keys.free(*key);
    *key = MPI_KEYVAL_INVALID;
  });
}
int set(Call& call, MPI_Comm on, int key, void* value) {
  return call([&] {
    Communicator& communicator = call.communicator(on);
    need_success(communicator.attributes.set(on, own_key(call, key), value), "delete");
  });
}
int remove(Call& call, MPI_Comm on, int key) {
  return call([&] {
    Communicator& communicator = call.communicator(on);
    need_success(communicator.attributes.remove(on, *own_key(call, key)), "delete");
  });
}

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                       int* key, void* extra) {
  WORMCUBE_MPI_CALL(MPI_Comm_create_keyval);
  return create(call, copy, remove, key, extra);
}
int comm_free_keyval(int* key) {
  WORMCUBE_MPI_CALL(MPI_Comm_free_keyval);
  return free_key(call, key);
}
int comm_set_attr(MPI_Comm on, int key, void* value) {
  WORMCUBE_MPI_CALL(MPI_Comm_set_attr);
  return set(call, on, key, value);
}
int comm_delete_attr(MPI_Comm on, int key) {
  WORMCUBE_MPI_CALL(MPI_Comm_delete_attr);
  return remove(call, on, key);
}
int keyval_create(MPI_Copy_function* copy, MPI_Delete_function* delete_function, int* key,
                  void* extra) {
  WORMCUBE_MPI_CALL(MPI_Keyval_create);
  return create(call, copy, delete_function, key, extra);
}
int keyval_free(int* key) {
  WORMCUBE_MPI_CALL(MPI_Keyval_free);
  return free_key(call, key);
}
int attr_put(MPI_Comm on, int key, void* value) {
  WORMCUBE_MPI_CALL(MPI_Attr_put);
  return set(call, on, key, value);
}
int attr_delete(MPI_Comm on, int key) {
  WORMCUBE_MPI_CALL(MPI_Attr_delete);
  return remove(call, on, key);
}

}  // namespace

void add_attribute_functions(WormcubeMpiFunctions& table) {
  table.MPI_Comm_create_keyval = comm_create_keyval;
  table.MPI_Comm_free_keyval = comm_free_keyval;
  table.MPI_Comm_set_attr = comm_set_attr;
  table.MPI_Comm_delete_attr = comm_delete_attr;
  table.MPI_Keyval_create = keyval_create;
  table.MPI_Keyval_free = keyval_free;
  table.MPI_Attr_put = attr_put;
  table.MPI_Attr_get = table.MPI_Comm_get_attr;
  table.MPI_Attr_delete = attr_delete;
}

}  // namespace wormcube::mpi
