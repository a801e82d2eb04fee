// MPI's functions that describe a datatype: size, name, contents, attributes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/objects/type_functions.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {

AttributeSet<MPI_Datatype>& attributes_of(const Call& call, MPI_Datatype type) {
  type_of(type);
  return is_predefined(type) ? call.rank().type_attributes[type] : made_type(type).attributes;
}

namespace {

template <class Count>
int type_size(MPI_Datatype type, Count* size) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_size);
  return call([&] {
    call.result(size, "size");
    *size = as_count<Count>(type_of(type)->size());
  });
}
int type_size_x(MPI_Datatype type, MPI_Count* size) {
  WORMCUBE_MPI_CALL(MPI_Type_size_x);
  return call([&] {
    call.result(size, "size");
    *size = type_of(type)->size();
  });
}

template <class Number>
int tell_extent(Call& call, MPI_Datatype type, Number* lower, Number* extent) {
  return call([&] {
    const DatatypePointer found = type_of(type);
    *lower = found->lower_bound();
    *extent = found->extent();
  });
}
template <class Number>
int tell_true_extent(Call& call, MPI_Datatype type, Number* lower, Number* extent) {
  return call([&] {
    const DatatypePointer found = type_of(type);
    *lower = found->true_lower_bound();
    *extent = found->true_extent();
  });
}
int type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_extent);
  return tell_extent(call, type, lower, extent);
}
int type_get_extent_c(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_extent_c);
  return tell_extent(call, type, lower, extent);
}
int type_get_extent_x(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_extent_x);
  return tell_extent(call, type, lower, extent);
}
int type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_true_extent);
  return tell_true_extent(call, type, lower, extent);
}
int type_get_true_extent_c(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_true_extent_c);
  return tell_true_extent(call, type, lower, extent);
}
int type_get_true_extent_x(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_true_extent_x);
  return tell_true_extent(call, type, lower, extent);
}

int type_set_name(MPI_Datatype type, const char* name) {
  WORMCUBE_MPI_CALL(MPI_Type_set_name);
  return call([&] {
    type_of(type);
    std::string& own = is_predefined(type) ? call.rank().type_names[type] : made_type(type).name;
    own = std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  });
}
int type_get_name(MPI_Datatype type, char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Type_get_name);
  return call([&] {
    call.result(length, "resultlen");
    std::string text = "MPI_DATATYPE_NULL";  // which has a name but is not a type
    const auto& given = call.rank().type_names;
    if (!is_predefined(type)) {
      text = made_type(type).name;
    } else if (const auto own = given.find(type); own != given.end()) {
      text = own->second;
    } else if (type != MPI_DATATYPE_NULL) {
      text = type_of(type)->name();
    }
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int type_match_size(int kind, int size, MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_match_size);
  return call([&] {
    call.result(type, "datatype");
    struct SizedType {
      int kind, size;
      MPI_Datatype type;
    };
    static const std::array rows{SizedType{MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
                                 SizedType{MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},
                                 SizedType{MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
                                 SizedType{MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},
                                 SizedType{MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
                                 SizedType{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
                                 SizedType{MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
                                 SizedType{MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
                                 SizedType{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                                 SizedType{MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
                                 SizedType{MPI_TYPECLASS_REAL, 2, MPI_REAL2},
                                 SizedType{MPI_TYPECLASS_REAL, 4, MPI_REAL4},
                                 SizedType{MPI_TYPECLASS_REAL, 8, MPI_REAL8},
                                 SizedType{MPI_TYPECLASS_REAL, 16, MPI_REAL16},
                                 SizedType{MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
                                 SizedType{MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
                                 SizedType{MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
                                 SizedType{MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
    if (std::ranges::find(rows, kind, &SizedType::kind) == rows.end()) {
      throw Failure(MPI_ERR_ARG, fmt::format("invalid type class {}", kind));
    }
    const auto found = std::ranges::find_if(
        rows, [&](const SizedType& row) { return row.kind == kind && row.size == size; });
    if (found == rows.end()) {
      throw Failure(MPI_ERR_ARG, fmt::format("no type of this class has {} bytes", size));
    }
    *type = found->type;
  });
}

/// One of these types for each rank and pair of numbers.
MPI_Datatype type_of_kind(const Call& call, int combiner, std::vector<std::int64_t> parameters,
                          MPI_Datatype predefined) {
  MPI_Datatype& made = call.rank().types_of_kinds[{combiner, parameters}];
  if (made == nullptr) {
    made = new_type(
        Datatype::parametrized(combiner, std::move(parameters), Datatype::predefined(predefined)),
        true);
  }
  return made;
}

/// The smallest kind with at least this precision and range (MPI_UNDEFINED: any): IEEE numbers of
/// 4, 8 and 16 bytes.
std::size_t kind_of(int digits, int range) {
  if (digits == MPI_UNDEFINED && range == MPI_UNDEFINED)
    throw Failure(MPI_ERR_ARG, "p and r must not both be MPI_UNDEFINED");
  constexpr std::array<std::pair<int, int>, 3> kinds{{{6, 37}, {15, 307}, {33, 4931}}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if ((digits == MPI_UNDEFINED || digits <= kinds[i].first) &&
        (range == MPI_UNDEFINED || range <= kinds[i].second))
      return i;
  }
  throw Failure(MPI_ERR_ARG,
                fmt::format("no real type has precision {} and range {}", digits, range));
}

int type_create_f90_real(int digits, int range, MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_create_f90_real);
  return call([&] {
    call.result(type, "newtype");
    const std::array kinds{MPI_REAL4, MPI_REAL8, MPI_REAL16};
    *type =
        type_of_kind(call, MPI_COMBINER_F90_REAL, {digits, range}, kinds[kind_of(digits, range)]);
  });
}
int type_create_f90_complex(int digits, int range, MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_create_f90_complex);
  return call([&] {
    call.result(type, "newtype");
    const std::array kinds{MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
    *type = type_of_kind(call, MPI_COMBINER_F90_COMPLEX, {digits, range},
                         kinds[kind_of(digits, range)]);
  });
}
int type_create_f90_integer(int range, MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_create_f90_integer);
  return call([&] {
    call.result(type, "newtype");
    const std::array<std::pair<int, MPI_Datatype>, 5> kinds{{{2, MPI_INTEGER1},
                                                             {4, MPI_INTEGER2},
                                                             {9, MPI_INTEGER4},
                                                             {18, MPI_INTEGER8},
                                                             {38, MPI_INTEGER16}}};
    const auto* const found =
        std::ranges::find_if(kinds, [&](const auto& kind) { return range <= kind.first; });
    if (found == kinds.end())
      throw Failure(MPI_ERR_ARG, fmt::format("no integer type has range {}", range));
    *type = type_of_kind(call, MPI_COMBINER_F90_INTEGER, {range}, found->second);
  });
}

int type_get_value_index(MPI_Datatype value, MPI_Datatype index, MPI_Datatype* pair) {
  WORMCUBE_MPI_CALL(MPI_Type_get_value_index);
  return call([&] {
    call.result(pair, "pair_type");
    const DatatypePointer found = Datatype::value_index(*type_of(value), *type_of(index));
    *pair = found ? found->handle() : MPI_DATATYPE_NULL;
  });
}

/// The envelope in the form with ints: all counts are integers in it.
int type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner) {
  WORMCUBE_MPI_CALL(MPI_Type_get_envelope);
  return call([&] {
    call.result(integers, "num_integers");
    call.result(addresses, "num_addresses");
    call.result(types, "num_datatypes");
    call.result(combiner, "combiner");
    const DatatypePointer found = type_of(type);
    const TypeContents& contents = found->contents();
    *combiner = contents.combiner;
    *integers = static_cast<int>(contents.integers.size());
    *addresses = static_cast<int>(contents.addresses.size());
    *types = static_cast<int>(contents.types.size());
  });
}

/// The arguments of a constructor: integers of type int, addresses, counts of X_c.
struct GivenContents {
  std::vector<std::int64_t> integers, addresses, counts;
};
GivenContents given_of(const TypeContents& contents) {
  GivenContents given{contents.integers, contents.addresses, {}};
  if (!contents.large) return given;
  // For arrays, the number of dimensions, the order and the description of the grid are not counts.
  const std::size_t kept = contents.combiner == MPI_COMBINER_SUBARRAY ? 1
                           : contents.combiner == MPI_COMBINER_DARRAY ? 3
                                                                      : 0;
  auto& all = given.integers;
  std::size_t counts = all.size();
  if (kept > 0) {
    const auto dimensions = static_cast<std::size_t>(all[kept - 1]);
    counts = (kept == 1 ? 3 : 1) * dimensions;
  }
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(kept);
  const auto last = first + static_cast<std::ptrdiff_t>(counts);
  given.counts.assign(first, last);
  all.erase(first, last);
  given.counts.insert(given.counts.end(), given.addresses.begin(), given.addresses.end());
  given.addresses.clear();
  return given;
}

int type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                        MPI_Count* counts, MPI_Count* types, int* combiner) {
  WORMCUBE_MPI_CALL(MPI_Type_get_envelope_c);
  return call([&] {
    call.result(integers, "num_integers");
    call.result(addresses, "num_addresses");
    call.result(counts, "num_large_counts");
    call.result(types, "num_datatypes");
    call.result(combiner, "combiner");
    const DatatypePointer found = type_of(type);
    const GivenContents given = given_of(found->contents());
    *combiner = found->contents().combiner;
    *integers = std::ssize(given.integers);
    *addresses = std::ssize(given.addresses);
    *counts = std::ssize(given.counts);
    *types = std::ssize(found->contents().types);
  });
}

void need_room_for(std::size_t all, std::int64_t room, const char* what) {
  if (static_cast<std::int64_t>(all) <= room) return;
  throw Failure(MPI_ERR_ARG,
                fmt::format("the array has room for {} {}, but there are {}", room, what, all));
}

/// Throws Failure for a predefined type.
const TypeContents& contents_of(const Datatype& type) {
  if (type.contents().combiner == MPI_COMBINER_NAMED) {
    throw Failure(MPI_ERR_TYPE, fmt::format("{} is predefined and has no contents", type.name()));
  }
  return type.contents();
}

void tell_integers(const std::vector<std::int64_t>& all, int* integers) {
  for (const std::int64_t number : all) {
    if (number != static_cast<int>(number)) {
      throw Failure(
          MPI_ERR_TYPE,
          fmt::format("the type's contents include {}, which does not fit in an int", number));
    }
    *integers++ = static_cast<int>(number);
  }
}
void tell_types(const std::vector<DatatypePointer>& all, MPI_Datatype* types) {
  for (const DatatypePointer& old : all) {
    *types++ = old->handle() != nullptr ? old->handle() : new_type(old, true);
  }
}

int type_get_contents(MPI_Datatype type, int most_integers, int most_addresses, int most_types,
                      int integers[], MPI_Aint addresses[], MPI_Datatype types[]) {
  WORMCUBE_MPI_CALL(MPI_Type_get_contents);
  return call([&] {
    const DatatypePointer found = type_of(type);
    const TypeContents& contents = contents_of(*found);
    need_room_for(contents.integers.size(), most_integers, "integers");
    need_room_for(contents.addresses.size(), most_addresses, "addresses");
    need_room_for(contents.types.size(), most_types, "datatypes");
    tell_integers(contents.integers, integers);
    std::ranges::copy(contents.addresses, addresses);
    tell_types(contents.types, types);
  });
}

int type_get_contents_c(MPI_Datatype type, MPI_Count most_integers, MPI_Count most_addresses,
                        MPI_Count most_counts, MPI_Count most_types, int integers[],
                        MPI_Aint addresses[], MPI_Count counts[], MPI_Datatype types[]) {
  WORMCUBE_MPI_CALL(MPI_Type_get_contents_c);
  return call([&] {
    const DatatypePointer found = type_of(type);
    const TypeContents& contents = contents_of(*found);
    const GivenContents given = given_of(contents);
    need_room_for(given.integers.size(), most_integers, "integers");
    need_room_for(given.addresses.size(), most_addresses, "addresses");
    need_room_for(given.counts.size(), most_counts, "large counts");
    need_room_for(contents.types.size(), most_types, "datatypes");
    tell_integers(given.integers, integers);
    std::ranges::copy(given.addresses, addresses);
    std::ranges::copy(given.counts, counts);
    tell_types(contents.types, types);
  });
}

// ---- Attributes ----

using TypeKeys = AttributeKeys<MPI_Datatype>;

std::shared_ptr<const TypeKeys::Key> type_key(const Call& call, int number) {
  auto key = call.rank().type_keys.find(number);
  if (!key) throw Failure(MPI_ERR_KEYVAL, fmt::format("invalid datatype keyval {}", number));
  return key;
}
int type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove,
                       int* key, void* extra) {
  WORMCUBE_MPI_CALL(MPI_Type_create_keyval);
  return call([&] {
    call.result(key, "type_keyval");
    *key = call.rank().type_keys.create(copy, remove, extra);
  });
}
int type_free_keyval(int* key) {
  WORMCUBE_MPI_CALL(MPI_Type_free_keyval);
  return call([&] {
    call.result(key, "type_keyval");
    type_key(call, *key);
    call.rank().type_keys.free(*key);
    *key = MPI_KEYVAL_INVALID;
  });
}
int type_set_attr(MPI_Datatype type, int key, void* value) {
  WORMCUBE_MPI_CALL(MPI_Type_set_attr);
  return call([&] {
    if (const int error = attributes_of(call, type).set(type, type_key(call, key), value)) {
      throw Failure(error, "the delete function of an attribute returned an error");
    }
  });
}
int type_get_attr(MPI_Datatype type, int key, void* value, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Type_get_attr);
  return call([&] {
    call.result(flag, "flag");
    const auto found_key = type_key(call, key);
    void* const* const found = attributes_of(call, type).find(*found_key);
    *flag = found != nullptr;
    if (found != nullptr) *static_cast<void**>(value) = *found;
  });
}
int type_delete_attr(MPI_Datatype type, int key) {
  WORMCUBE_MPI_CALL(MPI_Type_delete_attr);
  return call([&] {
    if (const int error = attributes_of(call, type).remove(type, *type_key(call, key))) {
      throw Failure(error, "the delete function of an attribute returned an error");
    }
  });
}

}  // namespace

void add_type_functions(WormcubeMpiFunctions& table) {
  add_type_constructors(table);
  add_packing_functions(table);
  table.MPI_Type_size = type_size<int>;
  table.MPI_Type_size_c = type_size<MPI_Count>;
  table.MPI_Type_size_x = type_size_x;
  table.MPI_Type_get_extent = type_get_extent;
  table.MPI_Type_get_extent_c = type_get_extent_c;
  table.MPI_Type_get_extent_x = type_get_extent_x;
  table.MPI_Type_get_true_extent = type_get_true_extent;
  table.MPI_Type_get_true_extent_c = type_get_true_extent_c;
  table.MPI_Type_get_true_extent_x = type_get_true_extent_x;
  table.MPI_Type_set_name = type_set_name;
  table.MPI_Type_get_name = type_get_name;
  table.MPI_Type_match_size = type_match_size;
  table.MPI_Type_get_value_index = type_get_value_index;
  table.MPI_Type_get_envelope = type_get_envelope;
  table.MPI_Type_get_contents = type_get_contents;
  table.MPI_Type_get_envelope_c = type_get_envelope_c;
  table.MPI_Type_get_contents_c = type_get_contents_c;
  table.MPI_Type_create_f90_real = type_create_f90_real;
  table.MPI_Type_create_f90_complex = type_create_f90_complex;
  table.MPI_Type_create_f90_integer = type_create_f90_integer;
  table.MPI_Type_create_keyval = type_create_keyval;
  table.MPI_Type_free_keyval = type_free_keyval;
  table.MPI_Type_set_attr = type_set_attr;
  table.MPI_Type_get_attr = type_get_attr;
  table.MPI_Type_delete_attr = type_delete_attr;
}

}  // namespace wormcube::mpi
