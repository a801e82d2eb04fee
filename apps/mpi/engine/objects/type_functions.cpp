// MPI's functions on datatypes: constructors, what they tell, packing, counts of what was received.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

template <class T>
std::vector<std::int64_t> numbers(const T* first, std::int64_t count) {
  return {first, first + count};
}

/// A number as the caller takes it; UNDEFINED if that is too small for it.
template <class Count>
Count told(std::int64_t number) {
  return number > std::numeric_limits<Count>::max() ? static_cast<Count>(MPI_UNDEFINED)
                                                    : static_cast<Count>(number);
}

/// A type of a call that makes another, or asks.
const DatatypePointer& type_of(MPI_Datatype handle) { return *type_view(handle, false).type; }

// ---- Constructors ----

/// The handle of what a constructor with counts of this type has made.
template <class Count>
MPI_Datatype made_by(const DatatypePointer& type) {
  return new_type(sizeof(Count) == sizeof(int) ? type : Datatype::of_large_counts(type));
}

template <class Count>
int type_contiguous(Count count, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_contiguous);
  return call([&] {
    call.result(made, "newtype");
    *made = made_by<Count>(Datatype::contiguous(count, type_of(old)));
  });
}

template <class Count>
int type_vector(Count count, Count blocklength, Count stride, MPI_Datatype old,
                MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_vector);
  return call([&] {
    call.result(made, "newtype");
    *made = made_by<Count>(Datatype::vector(count, blocklength, stride, type_of(old)));
  });
}

template <class Count>
int type_hvector(Count count, Count blocklength, Place<Count> stride, MPI_Datatype old,
                 MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_hvector);
  return call([&] {
    call.result(made, "newtype");
    *made = made_by<Count>(Datatype::hvector(count, blocklength, stride, type_of(old)));
  });
}

template <class Count>
int type_indexed(Count count, const Count lengths[], const Count places[], MPI_Datatype old,
                 MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_indexed);
  return call([&] {
    call.result(made, "newtype");
    call.count(count);
    *made = made_by<Count>(
        Datatype::indexed(numbers(lengths, count), numbers(places, count), type_of(old)));
  });
}

template <class Count>
int type_hindexed(Count count, const Count lengths[], const Place<Count> places[], MPI_Datatype old,
                  MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_hindexed);
  return call([&] {
    call.result(made, "newtype");
    call.count(count);
    *made = made_by<Count>(
        Datatype::hindexed(numbers(lengths, count), numbers(places, count), type_of(old)));
  });
}

template <class Count>
int type_indexed_block(Count count, Count length, const Count places[], MPI_Datatype old,
                       MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_indexed_block);
  return call([&] {
    call.result(made, "newtype");
    call.count(count);
    *made = made_by<Count>(Datatype::indexed_block(length, numbers(places, count), type_of(old)));
  });
}

template <class Count>
int type_hindexed_block(Count count, Count length, const Place<Count> places[], MPI_Datatype old,
                        MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_hindexed_block);
  return call([&] {
    call.result(made, "newtype");
    call.count(count);
    *made = made_by<Count>(Datatype::hindexed_block(length, numbers(places, count), type_of(old)));
  });
}

template <class Count>
int type_struct(Count count, const Count lengths[], const Place<Count> places[],
                const MPI_Datatype types[], MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_struct);
  return call([&] {
    call.result(made, "newtype");
    call.count(count);
    std::vector<DatatypePointer> olds;
    for (Count i = 0; i < count; ++i) olds.push_back(type_of(types[i]));
    *made =
        made_by<Count>(Datatype::structure(numbers(lengths, count), numbers(places, count), olds));
  });
}

template <class Count>
int type_resized(MPI_Datatype old, Place<Count> lower, Place<Count> extent, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_resized);
  return call([&] {
    call.result(made, "newtype");
    *made = made_by<Count>(Datatype::resized(type_of(old), lower, extent));
  });
}

template <class Count>
int type_subarray(int dimensions, const Count sizes[], const Count subsizes[], const Count starts[],
                  int order, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_subarray);
  return call([&] {
    call.result(made, "newtype");
    call.count(dimensions, "ndims");
    *made =
        made_by<Count>(Datatype::subarray(numbers(sizes, dimensions), numbers(subsizes, dimensions),
                                          numbers(starts, dimensions), order, type_of(old)));
  });
}

template <class Count>
int type_darray(int size, int rank, int dimensions, const Count sizes[], const int distributions[],
                const int arguments[], const int grid[], int order, MPI_Datatype old,
                MPI_Datatype* made) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_create_darray);
  return call([&] {
    call.result(made, "newtype");
    const std::size_t n = call.count(dimensions, "ndims");
    *made =
        made_by<Count>(Datatype::darray(size, rank, numbers(sizes, dimensions), {distributions, n},
                                        {arguments, n}, {grid, n}, order, type_of(old)));
  });
}

AttributeSet<MPI_Datatype>& attributes_of(const Call& call, MPI_Datatype type) {
  type_of(type);
  return is_predefined(type) ? call.rank().type_attributes[type] : made_type(type).attributes;
}

/// The handle is none any more. What is under way has its own view of the type.
void end_type(MPI_Datatype type, TypeObject& object) {
  forget_number_of(type);
  object.magic = TypeObject::dead;
  object.type.reset();
  object.name.clear();
}

int type_dup(MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_dup);
  return call([&] {
    call.result(made, "newtype");
    const bool committed = is_predefined(old) || made_type(old).committed;
    const AttributeSet<MPI_Datatype>& attributes = attributes_of(call, old);
    *made = MPI_DATATYPE_NULL;
    const MPI_Datatype handle = new_type(Datatype::duplicate(type_of(old)), committed);
    TypeObject& copy = made_type(handle);
    if (const int error = attributes.copy_to(old, copy.attributes)) {
      copy.attributes.remove_all(handle);
      end_type(handle, copy);
      throw Failure(error, "the copy function of an attribute returned an error");
    }
    *made = handle;
  });
}

int type_commit(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_commit);
  return call([&] {
    call.result(type, "datatype");
    if (!is_predefined(*type)) {
      made_type(*type).committed = true;
    } else {
      type_of(*type);
    }
  });
}

int type_free(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_free);
  return call([&] {
    call.result(type, "datatype");
    TypeObject& object = made_type(*type);
    if (object.type->handle() != nullptr)
      throw Failure(MPI_ERR_TYPE, "a type of Fortran's kinds cannot be freed");
    if (const int error = object.attributes.remove_all(*type)) {
      throw Failure(error, "the delete function of an attribute returned an error");
    }
    end_type(*type, object);
    *type = MPI_DATATYPE_NULL;
  });
}

// ---- What types tell ----

template <class Count>
int type_size(MPI_Datatype type, Count* size) {
  WORMCUBE_MPI_CALL_OF(MPI_Type_size);
  return call([&] {
    call.result(size, "size");
    *size = told<Count>(type_of(type)->size());
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
    std::string text = "MPI_DATATYPE_NULL";  // that is one without being a type
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
      throw Failure(MPI_ERR_ARG, fmt::format("{} is no class of types", kind));
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

/// The smallest kind that has so many digits and exponents (MPI_UNDEFINED: any): IEEE's of 4, 8 and 16 bytes.
std::size_t kind_of(int digits, int range) {
  if (digits == MPI_UNDEFINED && range == MPI_UNDEFINED)
    throw Failure(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED");
  constexpr std::array<std::pair<int, int>, 3> kinds{{{6, 37}, {15, 307}, {33, 4931}}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if ((digits == MPI_UNDEFINED || digits <= kinds[i].first) &&
        (range == MPI_UNDEFINED || range <= kinds[i].second))
      return i;
  }
  throw Failure(MPI_ERR_ARG, fmt::format("no real type has {} digits and range {}", digits, range));
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

/// What envelopes of the form with ints tell: all counts are integers there.
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

/// What a constructor was given: integers of the C type int, addresses, counts of X_c.
struct GivenContents {
  std::vector<std::int64_t> integers, addresses, counts;
};
GivenContents given_of(const TypeContents& contents) {
  GivenContents given{contents.integers, contents.addresses, {}};
  if (!contents.large) return given;
  // Of arrays the number of dimensions, the order and what describes the grid are no counts.
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
  throw Failure(MPI_ERR_ARG, fmt::format("room for {} {}, and there are {}", room, what, all));
}

/// Throws Failure for one that is predefined.
const TypeContents& contents_of(const Datatype& type) {
  if (type.contents().combiner == MPI_COMBINER_NAMED) {
    throw Failure(MPI_ERR_TYPE, fmt::format("{} is predefined, it has no contents", type.name()));
  }
  return type.contents();
}

void tell_integers(const std::vector<std::int64_t>& all, int* integers) {
  for (const std::int64_t number : all) {
    if (number != static_cast<int>(number)) {
      throw Failure(MPI_ERR_TYPE,
                    fmt::format("{} of its contents is too large for an int", number));
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

// ---- Packing ----

template <class Count>
int pack_size(Count count, MPI_Datatype type, MPI_Comm on, Count* size) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack_size);
  return call([&] {
    call.result(size, "size");
    call.communicator(on);
    *size = told<Count>(static_cast<std::int64_t>(call.count(count) * type_view(type).size));
  });
}

void need_room(std::int64_t from, Bytes bytes, std::int64_t room, const char* what) {
  if (from >= 0 && from <= room && bytes <= static_cast<Bytes>(room - from)) return;
  throw Failure(MPI_ERR_TRUNCATE,
                fmt::format("{} bytes from position {} on, and {} of {}", bytes, from, what, room));
}

template <class Count>
int pack_call(const void* elements, Count count, MPI_Datatype type, void* packed, Count room,
              Count* position, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack);
  return call([&] {
    call.result(position, "position");
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    call.pointer(elements, bytes, "inbuf", view.first);
    call.pointer(packed, bytes, "outbuf");
    need_room(*position, bytes, room, "an outbuf");
    pack(**view.type, elements, bytes, static_cast<std::byte*>(packed) + *position);
    *position += static_cast<Count>(bytes);
  });
}

template <class Count>
int unpack_call(const void* packed, Count room, Count* position, void* elements, Count count,
                MPI_Datatype type, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Unpack);
  return call([&] {
    call.result(position, "position");
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    call.pointer(elements, bytes, "outbuf", view.first);
    call.pointer(packed, bytes, "inbuf");
    need_room(*position, bytes, room, "an inbuf");
    unpack(**view.type, static_cast<const std::byte*>(packed) + *position, bytes, elements);
    *position += static_cast<Count>(bytes);
  });
}

// ---- Counts of what was received ----

template <class Count>
int get_count(const MPI_Status* status, MPI_Datatype type, Count* count) {
  WORMCUBE_MPI_CALL_OF(MPI_Get_count);
  return call([&] {
    call.result(count, "count");
    const std::int64_t size = type_of(type)->size();
    const std::int64_t bytes = status_bytes(*status);
    if (size == 0) {
      *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    } else {
      *count = bytes % size == 0 ? told<Count>(bytes / size) : static_cast<Count>(MPI_UNDEFINED);
    }
  });
}

template <class Count>
int tell_elements(Call& call, const MPI_Status* status, MPI_Datatype type, Count* count) {
  return call([&] {
    const auto elements = type_of(type)->elements_in(status_bytes(*status));
    *count = elements ? told<Count>(*elements) : static_cast<Count>(MPI_UNDEFINED);
  });
}
template <class Count>
int get_elements(const MPI_Status* status, MPI_Datatype type, Count* count) {
  WORMCUBE_MPI_CALL_OF(MPI_Get_elements);
  return tell_elements(call, status, type, count);
}
int get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  WORMCUBE_MPI_CALL(MPI_Get_elements_x);
  return tell_elements(call, status, type, count);
}

int set_elements(Call& call, MPI_Status* status, MPI_Datatype type, std::int64_t count) {
  return call([&] {
    call.count(count);
    set_status_bytes(*status, type_of(type)->bytes_of_first(count));
  });
}
int status_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements);
  return set_elements(call, status, type, count);
}
int status_set_elements_c(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements_c);
  return set_elements(call, status, type, count);
}
int status_set_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements_x);
  return set_elements(call, status, type, count);
}

// ---- Attributes ----

using TypeKeys = AttributeKeys<MPI_Datatype>;

std::shared_ptr<const TypeKeys::Key> type_key(const Call& call, int number) {
  auto key = call.rank().type_keys.find(number);
  if (!key)
    throw Failure(MPI_ERR_KEYVAL, fmt::format("{} is no key of datatypes' attributes", number));
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
  table.MPI_Type_contiguous = type_contiguous<int>;
  table.MPI_Type_contiguous_c = type_contiguous<MPI_Count>;
  table.MPI_Type_vector = type_vector<int>;
  table.MPI_Type_vector_c = type_vector<MPI_Count>;
  table.MPI_Type_create_hvector = type_hvector<int>;
  table.MPI_Type_create_hvector_c = type_hvector<MPI_Count>;
  table.MPI_Type_indexed = type_indexed<int>;
  table.MPI_Type_indexed_c = type_indexed<MPI_Count>;
  table.MPI_Type_create_hindexed = type_hindexed<int>;
  table.MPI_Type_create_hindexed_c = type_hindexed<MPI_Count>;
  table.MPI_Type_create_indexed_block = type_indexed_block<int>;
  table.MPI_Type_create_indexed_block_c = type_indexed_block<MPI_Count>;
  table.MPI_Type_create_hindexed_block = type_hindexed_block<int>;
  table.MPI_Type_create_hindexed_block_c = type_hindexed_block<MPI_Count>;
  table.MPI_Type_create_struct = type_struct<int>;
  table.MPI_Type_create_struct_c = type_struct<MPI_Count>;
  table.MPI_Type_create_resized = type_resized<int>;
  table.MPI_Type_create_resized_c = type_resized<MPI_Count>;
  table.MPI_Type_create_subarray = type_subarray<int>;
  table.MPI_Type_create_subarray_c = type_subarray<MPI_Count>;
  table.MPI_Type_create_darray = type_darray<int>;
  table.MPI_Type_create_darray_c = type_darray<MPI_Count>;
  table.MPI_Type_dup = type_dup;
  table.MPI_Type_commit = type_commit;
  table.MPI_Type_free = type_free;
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
  table.MPI_Pack_size = pack_size<int>;
  table.MPI_Pack_size_c = pack_size<MPI_Count>;
  table.MPI_Pack = pack_call<int>;
  table.MPI_Pack_c = pack_call<MPI_Count>;
  table.MPI_Unpack = unpack_call<int>;
  table.MPI_Unpack_c = unpack_call<MPI_Count>;
  table.MPI_Get_count = get_count<int>;
  table.MPI_Get_count_c = get_count<MPI_Count>;
  table.MPI_Get_elements = get_elements<int>;
  table.MPI_Get_elements_c = get_elements<MPI_Count>;
  table.MPI_Get_elements_x = get_elements_x;
  table.MPI_Status_set_elements = status_set_elements;
  table.MPI_Status_set_elements_c = status_set_elements_c;
  table.MPI_Status_set_elements_x = status_set_elements_x;
}

}  // namespace wormcube::mpi
