// Datatypes: random trees of constructors against the standard's definition, a list of (type,
// displacement).
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/datatype.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace wormcube::mpi {
namespace {

using Numbers = std::vector<std::int64_t>;

DatatypePointer predefined(MPI_Datatype handle) { return Datatype::predefined(handle); }

/// The standard's type map, literally: basic types at displacements, in order; and where the types that it
/// was built of begin and end, apart from those whose bounds were set.
struct TypeMap {
  struct Item {
    MPI_Datatype type;
    std::int64_t at;
  };
  std::vector<Item> items;
  Numbers lowers, uppers, set_lowers, set_uppers;
  std::int64_t padding_to = 1;  // of a struct

  static TypeMap of(MPI_Datatype type) {
    TypeMap map;
    map.items = {{type, 0}};
    map.lowers = {0};
    map.uppers = {size_of(type)};
    return map;
  }
  static std::int64_t size_of(MPI_Datatype type) { return Datatype::predefined(type)->size(); }
  std::int64_t lower() const {
    const Numbers& all = set_lowers.empty() ? lowers : set_lowers;
    return all.empty() ? 0 : *std::ranges::min_element(all);
  }
  std::int64_t upper() const {
    if (!set_uppers.empty()) return *std::ranges::max_element(set_uppers);
    if (uppers.empty()) return 0;
    std::int64_t length = *std::ranges::max_element(uppers) - lower();
    while (length % padding_to != 0) ++length;
    return lower() + length;
  }
  std::int64_t extent() const { return upper() - lower(); }
  std::int64_t true_lower() const {
    if (items.empty()) return 0;
    return std::ranges::min(items, {}, &Item::at).at;
  }
  std::int64_t true_upper() const {
    std::int64_t most = items.empty() ? 0 : INT64_MIN;
    for (const Item& item : items) most = std::max(most, item.at + size_of(item.type));
    return most;
  }
  void add(const TypeMap& other, std::int64_t at) {
    for (const Item& item : other.items) items.push_back({item.type, item.at + at});
    lowers.push_back(other.lower() + at);
    uppers.push_back(other.upper() + at);
    if (other.set_lowers.empty()) return;
    set_lowers.push_back(lowers.back());
    set_uppers.push_back(uppers.back());
  }
  void add(const TypeMap& other, std::int64_t count, std::int64_t at) {
    for (std::int64_t i = 0; i < count; ++i) add(other, at + i * other.extent());
  }
  /// The displacement of each byte that is sent, in order, of `count` of them.
  Numbers bytes(std::int64_t count) const {
    Numbers result;
    for (std::int64_t k = 0; k < count; ++k) {
      for (const Item& item : items) {
        for (std::int64_t b = 0; b < size_of(item.type); ++b) {
          result.push_back(k * extent() + item.at + b);
        }
      }
    }
    return result;
  }
};

/// A type, and what the standard says that it is.
struct Both {
  DatatypePointer type;
  TypeMap map;
};

class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : random_(seed) {}

  Both tree(int depth) {
    if (depth == 0) return leaf();
    const Both old = tree(depth - 1);
    // Anything that would be large stays what it is.
    if (old.map.items.size() > 60) return old;
    const std::int64_t extent = old.map.extent();
    Both result;
    switch (between(0, 11)) {
      case 0: {
        const std::int64_t count = between(0, 4);
        result.type = Datatype::contiguous(count, old.type);
        result.map.add(old.map, count, 0);
        break;
      }
      case 1: {
        const std::int64_t count = between(0, 3), length = between(0, 3), stride = between(-4, 5);
        result.type = Datatype::vector(count, length, stride, old.type);
        for (std::int64_t i = 0; i < count; ++i)
          result.map.add(old.map, length, i * stride * extent);
        break;
      }
      case 2: {
        const std::int64_t count = between(0, 3), length = between(0, 3), stride = between(-40, 60);
        result.type = Datatype::hvector(count, length, stride, old.type);
        for (std::int64_t i = 0; i < count; ++i) result.map.add(old.map, length, i * stride);
        break;
      }
      case 3:
      case 4: {
        const bool in_bytes = between(0, 1) != 0;
        const Numbers lengths = numbers(between(0, 4), 0, 3);
        const Numbers places = numbers(std::ssize(lengths), -5, in_bytes ? 60 : 8);
        result.type = in_bytes ? Datatype::hindexed(lengths, places, old.type)
                               : Datatype::indexed(lengths, places, old.type);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          result.map.add(old.map, lengths[i], places[i] * (in_bytes ? 1 : extent));
        }
        break;
      }
      case 5:
      case 6: {
        const bool in_bytes = between(0, 1) != 0;
        const std::int64_t length = between(0, 3);
        const Numbers places = numbers(between(0, 4), -5, in_bytes ? 60 : 8);
        result.type = in_bytes ? Datatype::hindexed_block(length, places, old.type)
                               : Datatype::indexed_block(length, places, old.type);
        for (const std::int64_t place : places) {
          result.map.add(old.map, length, place * (in_bytes ? 1 : extent));
        }
        break;
      }
      case 7: {
        const std::int64_t count = between(0, 3);
        const Numbers lengths = numbers(count, 0, 2), places = numbers(count, -30, 90);
        std::vector<Both> olds;
        std::vector<DatatypePointer> types;
        for (std::int64_t i = 0; i < count; ++i) {
          olds.push_back(i == 0 ? old : tree(static_cast<int>(between(0, depth - 1))));
          types.push_back(olds.back().type);
        }
        result.type = Datatype::structure(lengths, places, types);
        for (std::size_t i = 0; i < olds.size(); ++i) {
          result.map.add(olds[i].map, lengths[i], places[i]);
          if (lengths[i] > 0) {
            result.map.padding_to =
                std::max<std::int64_t>(result.map.padding_to, types[i]->shape().alignment);
          }
        }
        break;
      }
      case 8: {
        const std::int64_t lower = between(-20, 20), length = between(-10, 80);
        result.type = Datatype::resized(old.type, lower, length);
        result.map.items = old.map.items;
        result.map.set_lowers = {lower};
        result.map.set_uppers = {lower + length};
        break;
      }
      case 9:
        result = subarray(old);
        break;
      case 10:
        result = darray(old);
        break;
      default:
        result = {Datatype::duplicate(old.type), old.map};
        break;
    }
    return result;
  }

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  Both leaf() {
    static const std::array handles{MPI_BYTE,   MPI_CHAR, MPI_SHORT,        MPI_INT,
                                    MPI_DOUBLE, MPI_LONG, MPI_LONG_DOUBLE,  MPI_FLOAT,
                                    MPI_INT8_T, MPI_BYTE, MPI_UNSIGNED_LONG};
    struct Pair {
      MPI_Datatype type, first, second;
      std::int64_t second_at, extent;
    };
    static const std::array pairs{Pair{MPI_SHORT_INT, MPI_SHORT, MPI_INT, 4, 8},
                                  Pair{MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT, 8, 16},
                                  Pair{MPI_2INT, MPI_INT, MPI_INT, 4, 8}};
    Both result;
    if (between(0, 5) == 0) {
      const Pair& pair = pairs[static_cast<std::size_t>(between(0, 2))];
      result.type = predefined(pair.type);
      result.map.items = {{pair.first, 0}, {pair.second, pair.second_at}};
      result.map.lowers = {0};
      result.map.uppers = {pair.extent};
    } else {
      const MPI_Datatype handle = handles[static_cast<std::size_t>(between(0, handles.size() - 1))];
      result.type = predefined(handle);
      result.map = TypeMap::of(handle);
    }
    return result;
  }
  Numbers numbers(std::int64_t count, std::int64_t least, std::int64_t most) {
    Numbers result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(between(least, most));
    return result;
  }
  /// Appends element (i, j, ..) of an array, over the given indices of each dimension, in the order
  /// of the array.
  static void add_elements(TypeMap& map, const TypeMap& old, const Numbers& sizes, int order,
                           const std::vector<Numbers>& indices) {
    const std::size_t dimensions = sizes.size();
    std::vector<std::size_t> slow_first(dimensions);
    std::iota(slow_first.begin(), slow_first.end(), 0);
    if (order == MPI_ORDER_FORTRAN) std::ranges::reverse(slow_first);
    Numbers offsets{0};
    for (const std::size_t d : slow_first) {
      Numbers next;
      for (const std::int64_t offset : offsets) {
        for (const std::int64_t index : indices[d]) next.push_back(offset * sizes[d] + index);
      }
      offsets = next;
    }
    for (const std::int64_t offset : offsets) map.add(old, offset * old.extent());
    std::int64_t all = old.extent();
    for (const std::int64_t size : sizes) all *= size;
    map.set_lowers = {0};
    map.set_uppers = {all};
  }
  Both subarray(const Both& old) {
    const std::int64_t dimensions = between(1, 3);
    Numbers sizes, subsizes, starts;
    std::vector<Numbers> indices;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      sizes.push_back(between(1, 4));
      subsizes.push_back(between(1, sizes.back()));
      starts.push_back(between(0, sizes.back() - subsizes.back()));
      indices.emplace_back(static_cast<std::size_t>(subsizes.back()));
      std::iota(indices.back().begin(), indices.back().end(), starts.back());
    }
    const int order = between(0, 1) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    Both result{Datatype::subarray(sizes, subsizes, starts, order, old.type), {}};
    add_elements(result.map, old.map, sizes, order, indices);
    return result;
  }
  Both darray(const Both& old) {
    const std::int64_t dimensions = between(1, 3);
    Numbers sizes;
    std::vector<int> distributions, arguments, grid;
    std::int64_t processes = 1;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      sizes.push_back(between(1, 5));
      const int kind = static_cast<int>(between(0, 2));
      const int side = kind == 0 ? 1 : static_cast<int>(between(1, 3));
      distributions.push_back(MPI_DISTRIBUTE_NONE + kind);
      const bool is_default = between(0, 1) != 0;
      const std::int64_t least = kind == 1 ? (sizes.back() + side - 1) / side : 1;
      arguments.push_back(is_default ? MPI_DISTRIBUTE_DFLT_DARG
                                     : static_cast<int>(between(least, least + 2)));
      grid.push_back(side);
      processes *= side;
    }
    const auto rank = between(0, processes - 1);
    const int order = between(0, 1) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    // An index belongs to the process of its block, one after the other, and so on in turn.
    std::vector<Numbers> indices(static_cast<std::size_t>(dimensions));
    std::int64_t rest = rank;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      const std::int64_t side = grid[d], mine = rest % side;
      rest /= side;
      std::int64_t block = arguments[d];
      if (block == MPI_DISTRIBUTE_DFLT_DARG) {
        block = distributions[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + side - 1) / side;
      }
      for (std::int64_t i = 0; i < sizes[d]; ++i) {
        const bool is_mine = distributions[d] == MPI_DISTRIBUTE_NONE || i / block % side == mine;
        if (is_mine) indices[d].push_back(i);
      }
    }
    Both result{Datatype::darray(static_cast<int>(processes), static_cast<int>(rank), sizes,
                                 distributions, arguments, grid, order, old.type),
                {}};
    add_elements(result.map, old.map, sizes, order, indices);
    return result;
  }

  std::mt19937_64 random_;
};

/// The first difference between a type and the standard's definition of it; empty: there is none.
std::string difference(const Both& both, std::int64_t count) {
  const Datatype& type = *both.type;
  const TypeMap& map = both.map;
  const Numbers bytes = map.bytes(count);
  const auto total = std::ssize(bytes);
  if (type.size() * count != total) return "size";
  if (type.lower_bound() != map.lower()) return "lower bound";
  if (type.extent() != map.extent()) return "extent";
  if (type.true_lower_bound() != map.true_lower()) return "true lower bound";
  if (type.true_extent() != map.true_upper() - map.true_lower()) return "true extent";
  const std::int64_t least = bytes.empty() ? 0 : *std::ranges::min_element(bytes);
  const std::int64_t most = bytes.empty() ? 0 : *std::ranges::max_element(bytes) + 1;
  std::vector<std::byte> memory(static_cast<std::size_t>(most - least));
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(i * 167 + i / 256);
  const auto at = [&](std::int64_t displacement) {
    return static_cast<std::size_t>(displacement - least);
  };
  std::vector<std::byte> expected;
  for (const std::int64_t byte : bytes) expected.push_back(memory[at(byte)]);
  // Pieces say the same.
  const auto pieces = type.pieces(count, 1u << 20U);
  if (!pieces) return "pieces";
  Numbers in_pieces;
  for (const auto& [offset, length] : *pieces) {
    for (std::int64_t b = 0; b < length; ++b) in_pieces.push_back(offset + b);
  }
  if (in_pieces != bytes) return "pieces";
  if (pieces->size() > 1 && type.pieces(count, pieces->size() - 1)) return "limit of pieces";
  if (type.is_dense() && pieces->size() > 1) return "density";
  if (!type.is_dense() && pieces->size() == 1 && pieces->front().first == 0 && count > 1 &&
      type.extent() == type.size()) {
    return "density";
  }
  // Each byte once: else what is received is not defined.
  Numbers sorted = bytes;
  std::ranges::sort(sorted);
  const bool overlaps = std::ranges::adjacent_find(sorted) != sorted.end();
  std::vector<std::byte> received(memory.size()), wanted(memory.size());
  for (const std::int64_t byte : bytes) wanted[at(byte)] = memory[at(byte)];
  const std::byte* const source = memory.data() - least;
  std::vector<std::byte> packed(expected.size());
  for (std::int64_t split = 0; split <= total; ++split) {
    const auto first = static_cast<std::size_t>(split);
    std::ranges::fill(packed, std::byte{0});
    type.pack(source, 0, std::span(packed).first(first));
    type.pack(source, split, std::span(packed).subspan(first));
    if (packed != expected) return "pack, split at " + std::to_string(split);
    if (overlaps) continue;
    std::ranges::fill(received, std::byte{0});
    std::byte* const target = received.data() - least;
    type.unpack(target, split, std::span<const std::byte>(expected).subspan(first));
    type.unpack(target, 0, std::span<const std::byte>(expected).first(first));
    if (received != wanted) return "unpack, split at " + std::to_string(split);
  }
  // A window in the middle.
  if (total >= 3) {
    std::vector<std::byte> middle(static_cast<std::size_t>(total - 2));
    type.pack(source, 1, middle);
    if (!std::ranges::equal(middle, std::span(expected).subspan(1, middle.size()))) return "window";
  }
  // Elements: as many as lie whole in a part of a message, which must end behind one.
  std::int64_t elements = 0, sum = 0;
  Signature naive;
  const std::int64_t in_all = count * std::ssize(map.items);
  for (std::int64_t i = 0;; ++i) {
    if (type.elements_in(sum) != std::optional(elements)) return "elements";
    if (type.bytes_of_first(elements) != sum) return "bytes of elements";
    if (type.signature_of_first(elements) != naive) return "signature";
    if (i == in_all) break;
    const MPI_Datatype item = map.items[static_cast<std::size_t>(i % std::ssize(map.items))].type;
    if (TypeMap::size_of(item) > 1 && type.elements_in(sum + 1)) return "a cut element";
    sum += TypeMap::size_of(item);
    ++elements;
    naive = joined(naive, predefined(item)->signature(1));
  }
  if (type.signature(count) != naive) return "signature";
  std::vector<MPI_Datatype> order, listed;
  for (const TypeMap::Item& item : map.items) listed.push_back(item.type);
  type.each_element([&](MPI_Datatype handle, std::int64_t n) {
    order.insert(order.end(), static_cast<std::size_t>(n), handle);
  });
  if (order != listed) return "order of elements";
  return {};
}

void compare_random_types(std::uint64_t first_seed, std::uint64_t seeds) {
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    RandomTypes random(seed);
    const Both both = random.tree(static_cast<int>(random.between(0, 4)));
    const std::int64_t count = both.map.items.size() > 100 ? 1 : random.between(0, 3);
    CAPTURE(seed, count);
    REQUIRE(difference(both, count) == "");
  }
}

int failure_class(auto&& make) {
  try {
    make();
  } catch (const Failure& failure) {
    return failure.error_class();
  }
  return MPI_SUCCESS;
}

}  // namespace

TEST_CASE("a datatype is what the standard's type map says, split anywhere", "[mpi_front]") {
  compare_random_types(1, sanitized ? 1000 : 3000);
}

TEST_CASE("100 000 random datatypes are what their type maps say", "[.][mpi_front]") {
  compare_random_types(1'000'000, 100'000);
}

TEST_CASE("the comparison of datatypes sees another one", "[mpi_front]") {
  const DatatypePointer pair = Datatype::vector(2, 1, 3, predefined(MPI_INT));
  TypeMap map;
  map.add(TypeMap::of(MPI_INT), 0);
  map.add(TypeMap::of(MPI_INT), 12);
  CHECK(difference({pair, map}, 2) == "");
  TypeMap elsewhere;
  elsewhere.add(TypeMap::of(MPI_INT), 0);
  elsewhere.add(TypeMap::of(MPI_INT), 8);
  CHECK(difference({pair, elsewhere}, 2) == "extent");
  elsewhere.set_uppers = {16};
  elsewhere.set_lowers = {0};
  CHECK(difference({pair, elsewhere}, 2) == "true extent");
  TypeMap turned = map;
  std::swap(turned.items[0], turned.items[1]);
  CHECK(difference({pair, turned}, 2) == "pieces");
  TypeMap floats = map;
  floats.items[1].type = MPI_FLOAT;
  CHECK(difference({pair, floats}, 2) == "signature");
}

TEST_CASE("predefined types have C's sizes and those encoded in their handles", "[mpi_front]") {
  int found = 0;
  for (std::uintptr_t number = 0x200; number < 0x300; ++number) {
    const auto handle = reinterpret_cast<MPI_Datatype>(number);
    const Datatype* const type = Datatype::predefined(handle).get();
    if (type == nullptr) continue;
    ++found;
    CAPTURE(std::string(type->name()));
    CHECK(type->handle() == handle);
    CHECK(type->contents().combiner == MPI_COMBINER_NAMED);
    CHECK(type->lower_bound() == 0);
    const bool has_its_size_in_its_handle = number >= 0x240 && (number < 0x280 || number >= 0x2c0);
    if (has_its_size_in_its_handle) CHECK(type->size() == std::int64_t{1} << ((number >> 3U) & 7U));
  }
  CHECK(found == 70);
  CHECK(Datatype::predefined(MPI_DATATYPE_NULL) == nullptr);
  CHECK(Datatype::predefined(MPI_Datatype{}) == nullptr);
  CHECK(Datatype::predefined(reinterpret_cast<MPI_Datatype>(0x300)) == nullptr);
  CHECK(predefined(MPI_LONG_DOUBLE)->size() == sizeof(long double));
  const Datatype& pair = *predefined(MPI_SHORT_INT);
  CHECK((pair.size() == 6 && pair.extent() == 8 && pair.true_extent() == 8));
  const Datatype& wide = *predefined(MPI_LONG_DOUBLE_INT);
  CHECK((wide.size() == 20 && wide.extent() == 32 && wide.true_extent() == 20));
  CHECK(Datatype::value_index(*predefined(MPI_DOUBLE), *predefined(MPI_INT)) ==
        predefined(MPI_DOUBLE_INT));
  CHECK(Datatype::value_index(*predefined(MPI_INT), *predefined(MPI_DOUBLE)) == nullptr);
}

TEST_CASE("what is contiguous is one piece, however it was built", "[mpi_front]") {
  const DatatypePointer number = predefined(MPI_DOUBLE);
  const DatatypePointer four = Datatype::contiguous(4, number);
  CHECK(four->is_dense());
  CHECK(Datatype::vector(3, 4, 4, number)->is_dense());
  CHECK(Datatype::indexed(Numbers{1, 2, 1}, Numbers{0, 1, 3}, four)->is_dense());
  CHECK(Datatype::structure(Numbers{1, 2}, Numbers{0, 8}, std::vector{number, number})->is_dense());
  CHECK(Datatype::subarray(Numbers{4, 5}, Numbers{4, 5}, Numbers{0, 0}, MPI_ORDER_C, number)
            ->is_dense());
  CHECK_FALSE(Datatype::vector(3, 4, 5, number)->is_dense());
  CHECK_FALSE(Datatype::resized(number, 0, 16)->is_dense());
  CHECK_FALSE(Datatype::hindexed(Numbers{1}, Numbers{8}, number)->is_dense());
  // A column of a matrix is a loop of one piece a row, whatever was nested to get it.
  const DatatypePointer column = Datatype::vector(100, 1, 100, number);
  CHECK(column->shape().layout.layout->kind() == Layout::Kind::repeat);
  CHECK(column->pieces(1, 100)->size() == 100);
  CHECK_FALSE(column->pieces(1, 99));
  // Signatures do not depend on how a sequence was built, but on its order.
  const auto thousand = Datatype::contiguous(1000, predefined(MPI_INT));
  CHECK(thousand->signature(3) == predefined(MPI_INT)->signature(3000));
  const auto int_double =
      Datatype::structure(Numbers{1, 1}, Numbers{0, 8}, std::vector{predefined(MPI_INT), number});
  const auto double_int =
      Datatype::structure(Numbers{1, 1}, Numbers{0, 8}, std::vector{number, predefined(MPI_INT)});
  CHECK_FALSE(int_double->signature(1) == double_int->signature(1));
  CHECK_FALSE(thousand->signature(3).has_packed);
  CHECK(Datatype::contiguous(2, predefined(MPI_PACKED))->signature(1).has_packed);
}

TEST_CASE("large types cost what their constructors cost", "[mpi_front]") {
  const DatatypePointer bytes = predefined(MPI_BYTE);
  const std::int64_t many = std::int64_t{1} << 40;
  const DatatypePointer large = Datatype::vector(many, 3, 5, bytes);
  CHECK(large->size() == 3 * many);
  CHECK(large->extent() == 5 * (many - 1) + 3);
  CHECK(large->elements_in(3 * many + 2) == 3 * many + 2);
  CHECK_FALSE(large->pieces(1, 16));
  const DatatypePointer block =
      Datatype::subarray(Numbers(5, 1000), Numbers(5, 500), Numbers(5, 250), MPI_ORDER_C, bytes);
  CHECK(block->size() == 31'250'000'000'000);
  CHECK(block->shape().layout.layout->pieces() == 62'500'000'000);
}

TEST_CASE("a datatype reports how it was made", "[mpi_front]") {
  const DatatypePointer number = predefined(MPI_INT);
  const auto contents = [](const DatatypePointer& type) -> const TypeContents& {
    return type->contents();
  };
  const auto vector = Datatype::vector(2, 3, 4, number);
  CHECK(contents(vector).combiner == MPI_COMBINER_VECTOR);
  CHECK(contents(vector).integers == Numbers{2, 3, 4});
  CHECK(contents(vector).types == std::vector{number});
  CHECK(contents(Datatype::hvector(2, 3, 4, number)).addresses == Numbers{4});
  CHECK(contents(Datatype::indexed(Numbers{1, 2}, Numbers{3, 4}, number)).integers ==
        Numbers{2, 1, 2, 3, 4});
  const auto hindexed = Datatype::hindexed(Numbers{1, 2}, Numbers{3, 4}, vector);
  CHECK(contents(hindexed).integers == Numbers{2, 1, 2});
  CHECK(contents(hindexed).addresses == Numbers{3, 4});
  CHECK(contents(hindexed).types == std::vector{vector});
  CHECK(contents(Datatype::indexed_block(7, Numbers{3, 4}, number)).integers ==
        Numbers{2, 7, 3, 4});
  CHECK(contents(Datatype::hindexed_block(7, Numbers{3, 4}, number)).addresses == Numbers{3, 4});
  const auto structure =
      Datatype::structure(Numbers{1, 0}, Numbers{5, 6}, std::vector{number, vector});
  CHECK(contents(structure).integers == Numbers{2, 1, 0});
  CHECK(contents(structure).addresses == Numbers{5, 6});
  CHECK(contents(structure).types == std::vector{number, vector});
  CHECK(contents(Datatype::resized(number, -1, 9)).addresses == Numbers{-1, 9});
  CHECK(
      contents(Datatype::subarray(Numbers{4, 5}, Numbers{2, 3}, Numbers{1, 1}, MPI_ORDER_C, number))
          .integers == Numbers{2, 4, 5, 2, 3, 1, 1, MPI_ORDER_C});
  const std::vector<int> cyclic(1, MPI_DISTRIBUTE_CYCLIC), argument(1, 2), grid(1, 3);
  CHECK(contents(
            Datatype::darray(3, 1, Numbers{9}, cyclic, argument, grid, MPI_ORDER_FORTRAN, number))
            .integers == Numbers{3, 1, 1, 9, MPI_DISTRIBUTE_CYCLIC, 2, 3, MPI_ORDER_FORTRAN});
  CHECK(contents(Datatype::duplicate(vector)).combiner == MPI_COMBINER_DUP);
}

TEST_CASE("invalid datatype arguments are refused", "[mpi_front]") {
  const DatatypePointer number = predefined(MPI_INT);
  const std::vector<int> block(1, MPI_DISTRIBUTE_BLOCK),
      default_argument(1, MPI_DISTRIBUTE_DFLT_DARG), two(1, 2);
  const std::vector<int> none(1, MPI_DISTRIBUTE_NONE);
  CHECK(failure_class([&] { Datatype::contiguous(-1, number); }) == MPI_ERR_COUNT);
  CHECK(failure_class([&] { Datatype::vector(-1, 1, 1, number); }) == MPI_ERR_COUNT);
  CHECK(failure_class([&] { Datatype::vector(1, -1, 1, number); }) == MPI_ERR_ARG);
  CHECK(failure_class([&] {
          Datatype::hindexed(Numbers{1, -2}, Numbers{0, 0}, number);
        }) == MPI_ERR_ARG);
  CHECK(failure_class([&] {
          Datatype::subarray(Numbers{4}, Numbers{3}, Numbers{2}, MPI_ORDER_C, number);
        }) == MPI_ERR_ARG);
  CHECK(failure_class([&] {
          Datatype::subarray(Numbers{4}, Numbers{0}, Numbers{2}, MPI_ORDER_C, number);
        }) == MPI_ERR_ARG);
  CHECK(failure_class([&] { Datatype::subarray(Numbers{4}, Numbers{1}, Numbers{2}, 1, number); }) ==
        MPI_ERR_ARG);
  CHECK(failure_class([&] { Datatype::subarray({}, {}, {}, MPI_ORDER_C, number); }) ==
        MPI_ERR_DIMS);
  const auto darray = [&](int size, int rank, const std::vector<int>& how,
                          std::vector<int> argument) {
    return failure_class(
        [&] { Datatype::darray(size, rank, Numbers{9}, how, argument, two, MPI_ORDER_C, number); });
  };
  CHECK(darray(2, 1, block, default_argument) == MPI_SUCCESS);
  CHECK(darray(3, 1, block, default_argument) == MPI_ERR_ARG);
  CHECK(darray(2, 2, block, default_argument) == MPI_ERR_RANK);
  CHECK(darray(2, 1, none, default_argument) == MPI_ERR_ARG);
  CHECK(darray(2, 1, block, {4}) == MPI_ERR_ARG);
  CHECK(darray(2, 1, std::vector<int>(1, 99), default_argument) == MPI_ERR_ARG);
}

}  // namespace wormcube::mpi
