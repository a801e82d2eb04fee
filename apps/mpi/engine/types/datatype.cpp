// MPI's datatypes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/datatype.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

__extension__ using Wide = unsigned __int128;

// A polynomial of the elements' numbers modulo a prime.
constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1, radix = 0x1b0f'5c2a'9e37'79b9 % prime;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(Wide{a} * b % prime);
}

std::uintptr_t number_of(MPI_Datatype handle) { return reinterpret_cast<std::uintptr_t>(handle); }

Signature signature_of(MPI_Datatype handle) {
  return {number_of(handle), radix, 1, handle == MPI_PACKED};
}

// ---- Shapes: two ways to build one from others, of which all constructors are made ----

TypeShape shifted(TypeShape shape, std::int64_t offset) {
  shape.lower += offset;
  shape.upper += offset;
  if (shape.bytes > 0) {
    shape.true_lower += offset;
    shape.true_upper += offset;
    shape.layout.offset += offset;
  }
  return shape;
}

/// `count` times, each `stride` bytes behind the one before.
TypeShape repeated_shape(std::int64_t count, std::int64_t stride, const TypeShape& shape) {
  if (count == 0 || shape.is_empty) {
    TypeShape nothing;
    nothing.alignment = shape.alignment;
    return nothing;
  }
  TypeShape result = shape;
  const std::int64_t last = (count - 1) * stride, least = std::min<std::int64_t>(last, 0),
                     most = std::max<std::int64_t>(last, 0);
  result.bytes *= count;
  result.lower += least;
  result.upper += most;
  if (shape.bytes > 0) {
    result.true_lower += least;
    result.true_upper += most;
  }
  result.layout = Layout::repeat(count, stride, shape.layout);
  result.signature = repeated(count, shape.signature);
  return result;
}

/// One after the other, each where it is. Bounds that were set are the only ones that count.
class JoinedShape {
 public:
  void reserve(std::size_t parts) { layouts_.reserve(parts); }
  void add(const TypeShape& shape) {
    result_.alignment = std::max(result_.alignment, shape.alignment);
    if (shape.is_empty) return;
    if (shape.bytes > 0) {
      const bool is_first = result_.bytes == 0;
      result_.true_lower =
          is_first ? shape.true_lower : std::min(result_.true_lower, shape.true_lower);
      result_.true_upper =
          is_first ? shape.true_upper : std::max(result_.true_upper, shape.true_upper);
    }
    if (result_.is_empty || (shape.has_set_bounds && !result_.has_set_bounds)) {
      result_.lower = shape.lower;
      result_.upper = shape.upper;
    } else if (shape.has_set_bounds == result_.has_set_bounds) {
      result_.lower = std::min(result_.lower, shape.lower);
      result_.upper = std::max(result_.upper, shape.upper);
    }
    result_.has_set_bounds = result_.has_set_bounds || shape.has_set_bounds;
    result_.is_empty = false;
    result_.bytes += shape.bytes;
    result_.signature = joined(result_.signature, shape.signature);
    layouts_.push_back(shape.layout);
  }
  TypeShape finish() && {
    result_.layout = Layout::list(std::move(layouts_));
    return std::move(result_);
  }

 private:
  TypeShape result_;
  std::vector<PlacedLayout> layouts_;
};

TypeShape with_bounds(TypeShape shape, std::int64_t lower, std::int64_t extent) {
  shape.lower = lower;
  shape.upper = lower + extent;
  shape.has_set_bounds = true;
  return shape;
}

/// Blocks of one type have equal layouts where they have equal lengths.
class RepeatedBlocks {
 public:
  explicit RepeatedBlocks(const TypeShape& element) : element_(element) {}
  TypeShape at(std::int64_t count, std::int64_t offset) {
    if (count != count_) {
      count_ = count;
      block_ = repeated_shape(count, element_.upper - element_.lower, element_);
    }
    return shifted(block_, offset);
  }

 private:
  const TypeShape& element_;
  std::int64_t count_ = -1;
  TypeShape block_;
};

void need_not_negative(std::int64_t value, const char* what) {
  if (value < 0) {
    throw Failure(MPI_ERR_ARG, fmt::format("{} is {}, it cannot be negative", what, value));
  }
}
void need_count(std::int64_t count) {
  if (count < 0) {
    throw Failure(MPI_ERR_COUNT, fmt::format("count is {}, it cannot be negative", count));
  }
}
void need_order(int order) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    throw Failure(MPI_ERR_ARG,
                  fmt::format("order is {}, it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order));
  }
}

/// The dimension that is the k-th to be built, the fastest first.
std::size_t by_speed(std::size_t k, std::size_t dimensions, int order) {
  return order == MPI_ORDER_C ? dimensions - 1 - k : k;
}

std::vector<std::int64_t> listed(std::initializer_list<std::span<const std::int64_t>> lists) {
  std::vector<std::int64_t> result;
  for (const auto list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

}  // namespace

Signature joined(const Signature& first, const Signature& second) {
  return {(times(first.hash, second.power) + second.hash) % prime, times(first.power, second.power),
          first.elements + second.elements, first.has_packed || second.has_packed};
}

Signature repeated(std::int64_t count, const Signature& signature) {
  Signature result, doubled = signature;
  for (; count > 0; count /= 2) {
    if (count % 2 != 0) result = joined(result, doubled);
    doubled = joined(doubled, doubled);
  }
  return result;
}

// ---- Predefined types ----

namespace {

/// A row of the standard's tables: one value, or a pair as C lays it out.
struct PredefinedRow {
  MPI_Datatype handle;
  std::string_view name;
  std::size_t size, alignment, extent;
  MPI_Datatype first = nullptr, second = nullptr;
  std::size_t second_at = 0;
};

template <class T>
PredefinedRow value_row(MPI_Datatype handle, std::string_view name) {
  return {handle, name, sizeof(T), alignof(T), sizeof(T)};
}
template <class First, class Second>
PredefinedRow pair_row(MPI_Datatype handle, std::string_view name, MPI_Datatype first,
                       MPI_Datatype second) {
  struct Both {
    First first;
    Second second;
  };
  return {handle, name,   sizeof(First) + sizeof(Second), alignof(Both), sizeof(Both),
          first,  second, offsetof(Both, second)};
}

/// Each pair behind its two.
std::vector<PredefinedRow> predefined_rows() {
  struct alignas(2) Bytes2 {
    std::byte bytes[2];
  };
  struct alignas(16) Bytes16 {
    std::byte bytes[16];
  };
  using Half = std::array<Bytes2, 2>;
  using Quadruple = std::array<Bytes16, 2>;
  return {
#define VALUE(name, type) value_row<type>(MPI_##name, "MPI_" #name)
#define PAIR(name, first, First, second, Second) \
  pair_row<First, Second>(MPI_##name, "MPI_" #name, MPI_##first, MPI_##second)
      // clang-format off
      VALUE(AINT, MPI_Aint), VALUE(COUNT, MPI_Count), VALUE(OFFSET, MPI_Offset), VALUE(PACKED, std::byte),
      VALUE(SHORT, short), VALUE(INT, int), VALUE(LONG, long), VALUE(LONG_LONG_INT, long long),
      VALUE(UNSIGNED_SHORT, unsigned short), VALUE(UNSIGNED, unsigned), VALUE(UNSIGNED_LONG, unsigned long),
      VALUE(UNSIGNED_LONG_LONG, unsigned long long),
      VALUE(FLOAT, float), VALUE(DOUBLE, double), VALUE(LONG_DOUBLE, long double),
      VALUE(C_COMPLEX, std::complex<float>), VALUE(CXX_FLOAT_COMPLEX, std::complex<float>),
      VALUE(C_DOUBLE_COMPLEX, std::complex<double>), VALUE(CXX_DOUBLE_COMPLEX, std::complex<double>),
      VALUE(C_LONG_DOUBLE_COMPLEX, std::complex<long double>), VALUE(CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>),
      VALUE(C_BOOL, bool), VALUE(CXX_BOOL, bool), VALUE(WCHAR, wchar_t),
      VALUE(LOGICAL, int), VALUE(INTEGER, int), VALUE(REAL, float), VALUE(COMPLEX, std::complex<float>),
      VALUE(DOUBLE_PRECISION, double), VALUE(DOUBLE_COMPLEX, std::complex<double>), VALUE(CHARACTER, char),
      VALUE(INT8_T, std::int8_t), VALUE(UINT8_T, std::uint8_t), VALUE(CHAR, char), VALUE(SIGNED_CHAR, signed char),
      VALUE(UNSIGNED_CHAR, unsigned char), VALUE(BYTE, std::byte), VALUE(INT16_T, std::int16_t), VALUE(UINT16_T, std::uint16_t),
      VALUE(INT32_T, std::int32_t), VALUE(UINT32_T, std::uint32_t), VALUE(INT64_T, std::int64_t), VALUE(UINT64_T, std::uint64_t),
      VALUE(LOGICAL1, std::int8_t), VALUE(LOGICAL2, std::int16_t), VALUE(LOGICAL4, std::int32_t), VALUE(LOGICAL8, std::int64_t),
      VALUE(LOGICAL16, Bytes16),
      VALUE(INTEGER1, std::int8_t), VALUE(INTEGER2, std::int16_t), VALUE(INTEGER4, std::int32_t), VALUE(INTEGER8, std::int64_t),
      VALUE(INTEGER16, Bytes16),
      VALUE(REAL2, Bytes2), VALUE(REAL4, float), VALUE(REAL8, double), VALUE(REAL16, Bytes16),
      VALUE(COMPLEX4, Half), VALUE(COMPLEX8, std::complex<float>), VALUE(COMPLEX16, std::complex<double>), VALUE(COMPLEX32, Quadruple),
      PAIR(FLOAT_INT, FLOAT, float, INT, int), PAIR(DOUBLE_INT, DOUBLE, double, INT, int), PAIR(LONG_INT, LONG, long, INT, int),
      PAIR(2INT, INT, int, INT, int), PAIR(SHORT_INT, SHORT, short, INT, int),
      PAIR(LONG_DOUBLE_INT, LONG_DOUBLE, long double, INT, int), PAIR(2REAL, REAL, float, REAL, float),
      PAIR(2DOUBLE_PRECISION, DOUBLE_PRECISION, double, DOUBLE_PRECISION, double), PAIR(2INTEGER, INTEGER, int, INTEGER, int),
  // clang-format on
#undef VALUE
#undef PAIR
  };
}

}  // namespace

const Datatype::AllPredefined& Datatype::all_predefined() {
  static const AllPredefined all = [] {
    AllPredefined types;
    const auto place = [&](MPI_Datatype handle) -> DatatypePointer& {
      return types[index_of_predefined(handle)];
    };
    for (const PredefinedRow& row : predefined_rows()) {
      const auto size = static_cast<std::int64_t>(row.size);
      TypeShape shape;
      std::vector<Part> parts;
      if (row.first == nullptr) {
        shape.bytes = shape.true_upper = size;
        shape.layout = Layout::run(0, size);
        shape.signature = signature_of(row.handle);
      } else {
        const DatatypePointer &first = place(row.first), &second = place(row.second);
        JoinedShape both;
        both.add(first->shape_);
        both.add(shifted(second->shape_, static_cast<std::int64_t>(row.second_at)));
        shape = std::move(both).finish();
        parts = {{1, first.get()}, {1, second.get()}};
      }
      shape.upper = static_cast<std::int64_t>(row.extent);
      shape.alignment = static_cast<int>(row.alignment);
      place(row.handle) = made(std::move(shape), std::move(parts), {}, row.handle, row.name);
    }
    return types;
  }();
  return all;
}

const DatatypePointer& Datatype::predefined(MPI_Datatype handle) {
  static const DatatypePointer none;
  const AllPredefined& all = all_predefined();
  const std::size_t index = index_of_predefined(handle);
  return index < all.size() ? all[index] : none;
}

DatatypePointer Datatype::value_index(const Datatype& value, const Datatype& index) {
  for (const DatatypePointer& type : all_predefined()) {
    if (type && type->parts_.size() == 2 && type->parts_[0].type == &value &&
        type->parts_[1].type == &index) {
      return type;
    }
  }
  return nullptr;
}

// ---- Constructors ----

DatatypePointer Datatype::made(TypeShape shape, std::vector<Part> parts, TypeContents contents,
                               MPI_Datatype handle, std::string_view name) {
  struct Made : Datatype {};
  const auto type = std::make_shared<Made>();
  type->shape_ = std::move(shape);
  type->shape_.is_empty = false;  // also one without data is somewhere
  type->parts_ = std::move(parts);
  type->contents_ = std::move(contents);
  type->handle_ = handle;
  type->name_ = name;
  const PlacedLayout& layout = type->shape_.layout;
  type->is_dense_ = !layout.layout || (layout.layout->kind() == Layout::Kind::run &&
                                       layout.offset == 0 && type->extent() == type->size());
  return type;
}

DatatypePointer Datatype::duplicate(const DatatypePointer& old) {
  return made(old->shape_, {{1, old.get()}}, {MPI_COMBINER_DUP, {}, {}, {old}});
}

DatatypePointer Datatype::of_large_counts(const DatatypePointer& made) {
  TypeContents contents = made->contents_;
  contents.large = true;
  return Datatype::made(made->shape_, made->parts_, std::move(contents));
}

DatatypePointer Datatype::parametrized(int combiner, std::vector<std::int64_t> parameters,
                                       const DatatypePointer& predefined) {
  return made(predefined->shape_, predefined->parts_, {combiner, std::move(parameters), {}, {}},
              predefined->handle_, predefined->name_);
}

DatatypePointer Datatype::contiguous(std::int64_t count, const DatatypePointer& old) {
  need_count(count);
  return made(repeated_shape(count, old->extent(), old->shape_), {{count, old.get()}},
              {MPI_COMBINER_CONTIGUOUS, {count}, {}, {old}});
}

DatatypePointer Datatype::vector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                 const DatatypePointer& old) {
  need_count(count);
  need_not_negative(blocklength, "blocklength");
  const TypeShape block = repeated_shape(blocklength, old->extent(), old->shape_);
  return made(repeated_shape(count, stride * old->extent(), block),
              {{count * blocklength, old.get()}},
              {MPI_COMBINER_VECTOR, {count, blocklength, stride}, {}, {old}});
}

DatatypePointer Datatype::hvector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                  const DatatypePointer& old) {
  need_count(count);
  need_not_negative(blocklength, "blocklength");
  const TypeShape block = repeated_shape(blocklength, old->extent(), old->shape_);
  return made(repeated_shape(count, stride, block), {{count * blocklength, old.get()}},
              {MPI_COMBINER_HVECTOR, {count, blocklength}, {stride}, {old}});
}

DatatypePointer Datatype::from_blocks(int combiner, std::span<const std::int64_t> blocklengths,
                                      std::span<const std::int64_t> displacements,
                                      std::int64_t unit, const DatatypePointer& old) {
  RepeatedBlocks blocks(old->shape_);
  JoinedShape shape;
  shape.reserve(blocklengths.size());
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < blocklengths.size(); ++i) {
    need_not_negative(blocklengths[i], "a blocklength");
    shape.add(blocks.at(blocklengths[i], displacements[i] * unit));
    elements += blocklengths[i];
  }
  const std::int64_t count = static_cast<std::int64_t>(blocklengths.size());
  TypeContents contents{combiner, {}, {}, {old}};
  if (combiner == MPI_COMBINER_INDEXED) {
    contents.integers = listed({{&count, 1}, blocklengths, displacements});
  } else {
    contents.integers = listed({{&count, 1}, blocklengths});
    contents.addresses = listed({displacements});
  }
  return made(std::move(shape).finish(), {{elements, old.get()}}, std::move(contents));
}

DatatypePointer Datatype::indexed(std::span<const std::int64_t> blocklengths,
                                  std::span<const std::int64_t> displacements,
                                  const DatatypePointer& old) {
  return from_blocks(MPI_COMBINER_INDEXED, blocklengths, displacements, old->extent(), old);
}
DatatypePointer Datatype::hindexed(std::span<const std::int64_t> blocklengths,
                                   std::span<const std::int64_t> displacements,
                                   const DatatypePointer& old) {
  return from_blocks(MPI_COMBINER_HINDEXED, blocklengths, displacements, 1, old);
}

DatatypePointer Datatype::of_equal_blocks(int combiner, std::int64_t blocklength,
                                          std::span<const std::int64_t> displacements,
                                          std::int64_t unit, const DatatypePointer& old) {
  need_not_negative(blocklength, "blocklength");
  RepeatedBlocks blocks(old->shape_);
  JoinedShape shape;
  shape.reserve(displacements.size());
  for (const std::int64_t displacement : displacements) {
    shape.add(blocks.at(blocklength, displacement * unit));
  }
  const std::int64_t count = static_cast<std::int64_t>(displacements.size());
  TypeContents contents{combiner, {count, blocklength}, {}, {old}};
  auto& list = combiner == MPI_COMBINER_INDEXED_BLOCK ? contents.integers : contents.addresses;
  list.insert(list.end(), displacements.begin(), displacements.end());
  return made(std::move(shape).finish(), {{count * blocklength, old.get()}}, std::move(contents));
}

DatatypePointer Datatype::indexed_block(std::int64_t blocklength,
                                        std::span<const std::int64_t> displacements,
                                        const DatatypePointer& old) {
  return of_equal_blocks(MPI_COMBINER_INDEXED_BLOCK, blocklength, displacements, old->extent(),
                         old);
}
DatatypePointer Datatype::hindexed_block(std::int64_t blocklength,
                                         std::span<const std::int64_t> displacements,
                                         const DatatypePointer& old) {
  return of_equal_blocks(MPI_COMBINER_HINDEXED_BLOCK, blocklength, displacements, 1, old);
}

DatatypePointer Datatype::structure(std::span<const std::int64_t> blocklengths,
                                    std::span<const std::int64_t> displacements,
                                    std::span<const DatatypePointer> types) {
  JoinedShape joined_shape;
  joined_shape.reserve(types.size());
  std::vector<Part> parts;
  parts.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    need_not_negative(blocklengths[i], "a blocklength");
    if (blocklengths[i] == 0) continue;  // its alignment does not count either
    joined_shape.add(shifted(repeated_shape(blocklengths[i], types[i]->extent(), types[i]->shape_),
                             displacements[i]));
    parts.push_back({blocklengths[i], types[i].get()});
  }
  TypeShape shape = std::move(joined_shape).finish();
  // What a compiler adds at the end of a struct.
  if (!shape.has_set_bounds && !shape.is_empty) {
    const std::int64_t alignment = shape.alignment, extent = shape.upper - shape.lower;
    shape.upper = shape.lower + (extent + alignment - 1) / alignment * alignment;
  }
  const std::int64_t count = static_cast<std::int64_t>(types.size());
  return made(std::move(shape), std::move(parts),
              {MPI_COMBINER_STRUCT,
               listed({{&count, 1}, blocklengths}),
               listed({displacements}),
               {types.begin(), types.end()}});
}

DatatypePointer Datatype::resized(const DatatypePointer& old, std::int64_t lower,
                                  std::int64_t extent) {
  return made(with_bounds(old->shape_, lower, extent), {{1, old.get()}},
              {MPI_COMBINER_RESIZED, {}, {lower, extent}, {old}});
}

DatatypePointer Datatype::subarray(std::span<const std::int64_t> sizes,
                                   std::span<const std::int64_t> subsizes,
                                   std::span<const std::int64_t> starts, int order,
                                   const DatatypePointer& old) {
  const std::size_t dimensions = sizes.size();
  if (dimensions == 0) throw Failure(MPI_ERR_DIMS, "ndims is 0, at least 1 is needed");
  need_order(order);
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (sizes[d] < 1 || subsizes[d] < 1 || subsizes[d] > sizes[d] || starts[d] < 0 ||
        starts[d] > sizes[d] - subsizes[d]) {
      throw Failure(MPI_ERR_ARG,
                    fmt::format("dimension {}: {} elements from {} on do not lie in {}", d,
                                subsizes[d], starts[d], sizes[d]));
    }
  }
  TypeShape shape = old->shape_;
  std::int64_t stride = old->extent(), elements = 1;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const std::size_t d = by_speed(k, dimensions, order);
    shape = shifted(repeated_shape(subsizes[d], stride, shape), starts[d] * stride);
    stride *= sizes[d];
    elements *= subsizes[d];
  }
  const std::int64_t ndims = static_cast<std::int64_t>(dimensions), last = order;
  return made(with_bounds(std::move(shape), 0, stride), {{elements, old.get()}},
              {MPI_COMBINER_SUBARRAY,
               listed({{&ndims, 1}, sizes, subsizes, starts, {&last, 1}}),
               {},
               {old}});
}

DatatypePointer Datatype::darray(int size, int rank, std::span<const std::int64_t> sizes,
                                 std::span<const int> distributions, std::span<const int> arguments,
                                 std::span<const int> grid, int order, const DatatypePointer& old) {
  const std::size_t dimensions = sizes.size();
  if (dimensions == 0) throw Failure(MPI_ERR_DIMS, "ndims is 0, at least 1 is needed");
  need_order(order);
  std::int64_t places = 1;
  for (const int side : grid) {
    if (side < 1)
      throw Failure(MPI_ERR_ARG, fmt::format("a grid of processes with a side of {}", side));
    places *= side;
  }
  if (places != size) {
    throw Failure(MPI_ERR_ARG,
                  fmt::format("the grid has {} processes, and size is {}", places, size));
  }
  if (rank < 0 || rank >= size) {
    throw Failure(MPI_ERR_RANK, fmt::format("rank is {}, of {} processes", rank, size));
  }
  // The grid of processes is in row-major order, whatever the array's.
  std::vector<std::int64_t> coordinates(dimensions);
  for (std::size_t d = dimensions, rest = static_cast<std::size_t>(rank); d-- > 0;) {
    coordinates[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(grid[d]));
    rest /= static_cast<std::size_t>(grid[d]);
  }
  TypeShape shape = old->shape_;
  std::int64_t stride = old->extent(), elements = 1;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const std::size_t d = by_speed(k, dimensions, order);
    const std::int64_t all = sizes[d], side = grid[d], mine = coordinates[d];
    const bool is_default = arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
    if (all < 1) throw Failure(MPI_ERR_ARG, fmt::format("dimension {} has {} elements", d, all));
    std::int64_t block = 0;
    switch (distributions[d]) {
      case MPI_DISTRIBUTE_NONE:
        if (side != 1) {
          throw Failure(MPI_ERR_ARG,
                        fmt::format("dimension {} is not distributed, over {} processes", d, side));
        }
        block = all;
        break;
      case MPI_DISTRIBUTE_BLOCK:
        block = is_default ? (all + side - 1) / side : arguments[d];
        if (block < 1 || block * side < all) {
          throw Failure(MPI_ERR_ARG, fmt::format("dimension {}: {} blocks of {} do not hold {}", d,
                                                 side, block, all));
        }
        break;
      case MPI_DISTRIBUTE_CYCLIC:
        block = is_default ? 1 : arguments[d];
        if (block < 1)
          throw Failure(MPI_ERR_ARG, fmt::format("dimension {}: blocks of {}", d, block));
        break;
      default:
        throw Failure(MPI_ERR_ARG,
                      fmt::format("dimension {}: {} is no distribution", d, distributions[d]));
    }
    // Blocks mine, mine + side, ..: whole ones, then what is left of one.
    const std::int64_t first = mine * block, round = side * block;
    const std::int64_t whole = all < first + block ? 0 : (all - first - block) / round + 1;
    const std::int64_t next = first + whole * round;
    const std::int64_t rest = std::clamp<std::int64_t>(all - next, 0, block);
    JoinedShape joined_shape;
    joined_shape.add(
        shifted(repeated_shape(whole, round * stride, repeated_shape(block, stride, shape)),
                first * stride));
    joined_shape.add(shifted(repeated_shape(rest, stride, shape), next * stride));
    shape = std::move(joined_shape).finish();
    elements *= whole * block + rest;
    stride *= all;
  }
  TypeContents contents{
      MPI_COMBINER_DARRAY, {size, rank, static_cast<std::int64_t>(dimensions)}, {}, {old}};
  const auto add = [&](const auto& list) {
    contents.integers.insert(contents.integers.end(), list.begin(), list.end());
  };
  add(sizes);
  add(distributions);
  add(arguments);
  add(grid);
  contents.integers.push_back(order);
  return made(with_bounds(std::move(shape), 0, stride), {{elements, old.get()}},
              std::move(contents));
}

// ---- Data ----

std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> Datatype::pieces(
    std::int64_t count, std::size_t limit) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  const PlacedLayout all = Layout::repeat(count, extent(), shape_.layout);
  if (all.layout && !all.layout->pieces(all.offset, limit, result)) return std::nullopt;
  return result;
}

void Datatype::pack(const void* elements, std::int64_t begin, std::span<std::byte> packed) const {
  if (packed.empty()) return;
  const auto* const base = moved(elements, shape_.layout.offset);
  const std::int64_t end = begin + static_cast<std::int64_t>(packed.size()), each = shape_.bytes;
  if (is_dense_) {
    std::memcpy(packed.data(), moved(base, begin), packed.size());
    return;
  }
  std::byte* to = packed.data();
  for (std::int64_t i = begin / each; i * each < end; ++i) {
    to = shape_.layout.layout->pack(moved(base, i * extent()),
                                    std::max<std::int64_t>(begin - i * each, 0),
                                    std::min(end - i * each, each), to);
  }
}

void Datatype::unpack(void* elements, std::int64_t begin, std::span<const std::byte> packed) const {
  if (packed.empty()) return;
  auto* const base = moved(elements, shape_.layout.offset);
  const std::int64_t end = begin + static_cast<std::int64_t>(packed.size()), each = shape_.bytes;
  if (is_dense_) {
    std::memcpy(moved(base, begin), packed.data(), packed.size());
    return;
  }
  const std::byte* from = packed.data();
  for (std::int64_t i = begin / each; i * each < end; ++i) {
    from = shape_.layout.layout->unpack(moved(base, i * extent()),
                                        std::max<std::int64_t>(begin - i * each, 0),
                                        std::min(end - i * each, each), from);
  }
}

std::optional<std::int64_t> Datatype::elements_in(std::int64_t bytes) const {
  if (bytes == 0) return 0;
  if (shape_.bytes == 0) return std::nullopt;
  std::int64_t result = bytes / shape_.bytes * shape_.signature.elements;
  std::int64_t rest = bytes % shape_.bytes;
  // One element is cut: by its parts.
  for (const Datatype* type = this; rest > 0;) {
    if (type->parts_.empty()) return std::nullopt;
    for (const Part& part : type->parts_) {
      const std::int64_t each = part.type->shape_.bytes, whole = part.count * each;
      if (rest >= whole) {
        result += part.count * part.type->shape_.signature.elements;
        rest -= whole;
        continue;
      }
      result += rest / each * part.type->shape_.signature.elements;
      rest %= each;
      type = part.type;
      break;
    }
  }
  return result;
}

std::int64_t Datatype::bytes_of_first(std::int64_t elements) const {
  const std::int64_t each = shape_.signature.elements;
  if (each == 0) return 0;
  std::int64_t result = elements / each * shape_.bytes, rest = elements % each;
  for (const Datatype* type = this; rest > 0;) {
    for (const Part& part : type->parts_) {
      const TypeShape& one = part.type->shape_;
      if (one.signature.elements == 0) continue;
      const std::int64_t whole = std::min(rest / one.signature.elements, part.count);
      result += whole * one.bytes;
      rest -= whole * one.signature.elements;
      if (whole == part.count) continue;
      type = part.type;
      break;
    }
  }
  return result;
}

Signature Datatype::signature_of_first(std::int64_t limit) const {
  const std::int64_t each = shape_.signature.elements;
  if (each == 0 || limit <= 0) return {};
  Signature result = repeated(limit / each, shape_.signature);
  std::int64_t rest = limit % each;
  for (const Datatype* type = this; rest > 0;) {
    for (const Part& part : type->parts_) {
      const Signature& one = part.type->shape_.signature;
      const std::int64_t whole = part.count * one.elements;
      if (rest >= whole) {
        result = joined(result, repeated(part.count, one));
        rest -= whole;
        continue;
      }
      result = joined(result, repeated(rest / one.elements, one));
      rest %= one.elements;
      type = part.type;
      break;
    }
  }
  return result;
}

}  // namespace wormcube::mpi
