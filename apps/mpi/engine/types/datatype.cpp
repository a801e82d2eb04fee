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
    throw Failure(MPI_ERR_ARG, fmt::format("{} is {}, which must not be negative", what, value));
  }
}
void need_count(std::int64_t count) {
  if (count < 0) {
    throw Failure(MPI_ERR_COUNT, fmt::format("count is {}, which must not be negative", count));
  }
}
void need_order(int order) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    throw Failure(MPI_ERR_ARG,
                  fmt::format("order {} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order));
  }
}

/// The k-th dimension to build, the fastest first.
std::size_t by_speed(std::size_t k, std::size_t dimensions, int order) {
  return order == MPI_ORDER_C ? dimensions - 1 - k : k;
}

std::vector<std::int64_t> listed(std::initializer_list<std::span<const std::int64_t>> lists) {
  std::vector<std::int64_t> result;
  for (const auto list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

}  // namespace

// ---- Constructors ----

DatatypePointer Datatype::made(TypeShape shape, std::vector<Part> parts, TypeContents contents,
                               MPI_Datatype handle, std::string_view name) {
  struct Made : Datatype {};
  const auto type = std::make_shared<Made>();
  type->shape_ = std::move(shape);
  type->shape_.is_empty = false;  // even a type without data has a position
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
  // The padding that a compiler adds at the end of a struct.
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
  if (dimensions == 0) throw Failure(MPI_ERR_DIMS, "ndims is 0, but must be at least 1");
  need_order(order);
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (sizes[d] < 1 || subsizes[d] < 1 || subsizes[d] > sizes[d] || starts[d] < 0 ||
        starts[d] > sizes[d] - subsizes[d]) {
      throw Failure(MPI_ERR_ARG,
                    fmt::format("dimension {}: {} elements from {} on exceed its size {}", d,
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
  if (dimensions == 0) throw Failure(MPI_ERR_DIMS, "ndims is 0, but must be at least 1");
  need_order(order);
  std::int64_t places = 1;
  for (const int side : grid) {
    if (side < 1)
      throw Failure(MPI_ERR_ARG, fmt::format("psizes has {}, but must be positive", side));
    places *= side;
  }
  if (places != size) {
    throw Failure(MPI_ERR_ARG,
                  fmt::format("psizes make {} processes, but size is {}", places, size));
  }
  if (rank < 0 || rank >= size) {
    throw Failure(MPI_ERR_RANK,
                  fmt::format("rank {} is out of range for {} processes", rank, size));
  }
  // The grid of processes is in row-major order, whatever the order of the array.
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
          throw Failure(
              MPI_ERR_ARG,
              fmt::format("dimension {} is not distributed, but psizes has {} processes for it", d,
                          side));
        }
        block = all;
        break;
      case MPI_DISTRIBUTE_BLOCK:
        block = is_default ? (all + side - 1) / side : arguments[d];
        if (block < 1 || block * side < all) {
          throw Failure(MPI_ERR_ARG,
                        fmt::format("dimension {}: {} blocks of {} hold fewer than {} elements", d,
                                    side, block, all));
        }
        break;
      case MPI_DISTRIBUTE_CYCLIC:
        block = is_default ? 1 : arguments[d];
        if (block < 1)
          throw Failure(MPI_ERR_ARG,
                        fmt::format("dimension {}: block size {} is not positive", d, block));
        break;
      default:
        throw Failure(MPI_ERR_ARG,
                      fmt::format("dimension {}: invalid distribution {}", d, distributions[d]));
    }
    // Blocks mine, mine + side, ..: whole blocks, then the rest of one.
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
  // One element is cut: copy it by its parts.
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
