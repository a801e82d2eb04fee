// MPI's functions that make, commit and free datatypes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/objects/type_functions.hpp"

#include <vector>

namespace wormcube::mpi {
namespace {

template <class T>
std::vector<std::int64_t> numbers(const T* first, std::int64_t count) {
  return {first, first + count};
}

/// The handle of the type that a constructor with counts of this type made.
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

/// Ends the handle. Operations in progress have their own view of the type.
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
      throw Failure(MPI_ERR_TYPE, "a type made by MPI_Type_create_f90 cannot be freed");
    if (const int error = object.attributes.remove_all(*type)) {
      throw Failure(error, "the delete function of an attribute returned an error");
    }
    end_type(*type, object);
    *type = MPI_DATATYPE_NULL;
  });
}

}  // namespace

void add_type_constructors(WormcubeMpiFunctions& table) {
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
}

}  // namespace wormcube::mpi
