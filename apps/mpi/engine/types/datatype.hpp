// MPI's datatypes: immutable trees of constructors over the predefined types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/types/shape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::mpi {

class Datatype;
using DatatypePointer = std::shared_ptr<const Datatype>;

/// How a type was made: the results of Type_get_envelope and Type_get_contents, in the form for
/// calls with int counts.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> integers, addresses;
  std::vector<DatatypePointer> types;
  bool large = false;  ///< the constructor's counts were MPI_Count: X_c
};

/// Threads  any: a type never changes after construction.
/// Throws  Failure from constructors: MPI_ERR_COUNT, MPI_ERR_ARG, MPI_ERR_DIMS.
class Datatype {
 public:
  /// The predefined type with this handle; null if there is none. DATATYPE_NULL is not a type.
  static const DatatypePointer& predefined(MPI_Datatype handle);

  static DatatypePointer duplicate(const DatatypePointer& old);
  static DatatypePointer contiguous(std::int64_t count, const DatatypePointer& old);
  /// \param stride  in elements; for hvector in bytes
  static DatatypePointer vector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                const DatatypePointer& old);
  static DatatypePointer hvector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                 const DatatypePointer& old);
  /// \param displacements  in elements; in bytes for the constructors with an h
  static DatatypePointer indexed(std::span<const std::int64_t> blocklengths,
                                 std::span<const std::int64_t> displacements,
                                 const DatatypePointer& old);
  static DatatypePointer hindexed(std::span<const std::int64_t> blocklengths,
                                  std::span<const std::int64_t> displacements,
                                  const DatatypePointer& old);
  static DatatypePointer indexed_block(std::int64_t blocklength,
                                       std::span<const std::int64_t> displacements,
                                       const DatatypePointer& old);
  static DatatypePointer hindexed_block(std::int64_t blocklength,
                                        std::span<const std::int64_t> displacements,
                                        const DatatypePointer& old);
  static DatatypePointer structure(std::span<const std::int64_t> blocklengths,
                                   std::span<const std::int64_t> displacements,
                                   std::span<const DatatypePointer> types);
  static DatatypePointer resized(const DatatypePointer& old, std::int64_t lower,
                                 std::int64_t extent);
  /// \param order  MPI_ORDER_C, MPI_ORDER_FORTRAN
  static DatatypePointer subarray(std::span<const std::int64_t> sizes,
                                  std::span<const std::int64_t> subsizes,
                                  std::span<const std::int64_t> starts, int order,
                                  const DatatypePointer& old);
  /// The part that process `rank` has of an array distributed over a grid of `size` processes.
  /// \param distributions, arguments, grid  one number for each dimension
  static DatatypePointer darray(int size, int rank, std::span<const std::int64_t> sizes,
                                std::span<const int> distributions, std::span<const int> arguments,
                                std::span<const int> grid, int order, const DatatypePointer& old);
  /// A pair of a value and an index: see Type_get_value_index. Null if there is none.
  static DatatypePointer value_index(const Datatype& value, const Datatype& index);

  std::int64_t size() const { return shape_.bytes; }
  std::int64_t lower_bound() const { return shape_.lower; }
  std::int64_t extent() const { return shape_.upper - shape_.lower; }
  std::int64_t true_lower_bound() const { return shape_.true_lower; }
  std::int64_t true_extent() const { return shape_.true_upper - shape_.true_lower; }
  const TypeShape& shape() const { return shape_; }
  /// The same type, with an envelope that reports X_c as its constructor.
  static DatatypePointer of_large_counts(const DatatypePointer& made);
  /// A predefined type that was requested by precision and range: MPI_Type_create_f90_real and
  /// similar functions.
  static DatatypePointer parametrized(int combiner, std::vector<std::int64_t> parameters,
                                      const DatatypePointer& predefined);

  const TypeContents& contents() const { return contents_; }
  /// The handle of a predefined type; null for a constructed one.
  MPI_Datatype handle() const { return handle_; }
  /// "MPI_INT"; empty for a constructed type.
  std::string_view name() const { return name_; }

  /// Whether any number of elements form one piece that begins where the first does.
  bool is_dense() const { return is_dense_; }
  /// The pieces of `count` elements, (displacement, bytes), in order; none if there are more than
  /// `limit`.
  std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> pieces(std::int64_t count,
                                                                           std::size_t limit) const;

  /// Copies bytes [begin, begin + packed.size()) of the data that `elements` of this type send.
  void pack(const void* elements, std::int64_t begin, std::span<std::byte> packed) const;
  void unpack(void* elements, std::int64_t begin, std::span<const std::byte> packed) const;

  /// The number of complete predefined elements in the first `bytes` bytes of a message of this
  /// type (Get_elements). None if the last one is cut.
  std::optional<std::int64_t> elements_in(std::int64_t bytes) const;
  /// The inverse: the bytes of the first `elements` predefined elements of a message of this type.
  std::int64_t bytes_of_first(std::int64_t elements) const;
  /// The signature of the first `limit` predefined elements in `count` of this type.
  Signature signature(std::int64_t count) const { return repeated(count, shape_.signature); }
  Signature signature_of_first(std::int64_t limit) const;

  /// Calls f(handle, count) for each run of equal predefined elements in one element of this type,
  /// in order.
  template <class F>
  void each_element(F&& f) const {
    if (handle_ != nullptr && parts_.empty()) return f(handle_, 1);
    for (const Part& part : parts_) {
      for (std::int64_t i = 0; i < part.count; ++i) part.type->each_element(f);
    }
  }

  /// Calls f(handle) for each predefined type that this type consists of; a pair is one.
  template <class F>
  void each_named(F&& f) const {
    if (handle_ != nullptr) return f(handle_);
    for (const Part& part : parts_) {
      if (part.count > 0) part.type->each_named(f);
    }
  }

 private:
  /// The type map's order: `count` times this type, then the next part.
  struct Part {
    std::int64_t count;
    const Datatype* type;  // kept alive by contents_
  };
  using AllPredefined = std::array<DatatypePointer, predefined_types>;
  static const AllPredefined& all_predefined();

  Datatype() = default;
  static DatatypePointer made(TypeShape shape, std::vector<Part> parts, TypeContents contents,
                              MPI_Datatype handle = nullptr, std::string_view name = {});
  static DatatypePointer from_blocks(int combiner, std::span<const std::int64_t> blocklengths,
                                     std::span<const std::int64_t> displacements, std::int64_t unit,
                                     const DatatypePointer& old);
  static DatatypePointer of_equal_blocks(int combiner, std::int64_t blocklength,
                                         std::span<const std::int64_t> displacements,
                                         std::int64_t unit, const DatatypePointer& old);

  TypeShape shape_;
  std::vector<Part> parts_;
  TypeContents contents_;
  bool is_dense_ = false;
  MPI_Datatype handle_ = nullptr;
  std::string_view name_;
};

}  // namespace wormcube::mpi
