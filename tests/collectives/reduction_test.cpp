// The built-in operators against plain loops, the interval operands, and exact operands.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/reduction.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The operator on two lists.
template <class T>
std::vector<T> applied(const Reduction& reduction, const std::vector<T>& left,
                       const std::vector<T>& right) {
  REQUIRE(reduction.element_bytes == sizeof(T));
  // One byte off: the pointers need not be aligned.
  std::vector<std::byte> a = bytes_of(left), b = bytes_of(right), result(a.size() + 1);
  a.insert(a.begin(), std::byte{0});
  reduction.apply(a.data() + 1, b.data(), result.data() + 1, left.size());
  result.erase(result.begin());
  return values_of<T>(result);
}

template <class T>
std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  return {Limits::lowest(), Limits::max(), T(0), T(1), T(2), T(7), T(100)};
}

/// Every pair of values.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs(const std::vector<T>& values) {
  std::pair<std::vector<T>, std::vector<T>> all;
  for (const T x : values) {
    for (const T y : values) {
      all.first.push_back(x);
      all.second.push_back(y);
    }
  }
  return all;
}

template <class T>
void check_operator(const char* operation, const char* type, const std::vector<T>& values,
                    const std::function<T(T, T)>& plain, std::set<std::string>& checked) {
  CAPTURE(operation, type);
  const Reduction reduction = find_reduction(operation, type);
  CHECK(reduction.name == operation);
  CHECK(reduction.type == type);
  CHECK(reduction.commutative);
  const auto [left, right] = pairs(values);
  std::vector<T> wanted;
  for (std::size_t i = 0; i < left.size(); ++i) wanted.push_back(plain(left[i], right[i]));
  CHECK(applied(reduction, left, right) == wanted);
  checked.insert(std::string(operation) + " " + type);
}

// Wide: sums and products modulo 2^n are those of a wider unsigned type, cut.
template <class T, class Wide>
void check_integers(const char* type, std::set<std::string>& checked) {
  const std::vector<T> values = extremes<T>();
  const auto check = [&](const char* operation, std::function<T(T, T)> plain) {
    check_operator<T>(operation, type, values, plain, checked);
  };
  check("sum",
        [](T x, T y) { return static_cast<T>(static_cast<Wide>(x) + static_cast<Wide>(y)); });
  check("product",
        [](T x, T y) { return static_cast<T>(static_cast<Wide>(x) * static_cast<Wide>(y)); });
  check("min", [](T x, T y) { return std::min(x, y); });
  check("max", [](T x, T y) { return std::max(x, y); });
  check("and", [](T x, T y) { return static_cast<T>(x & y); });
  check("or", [](T x, T y) { return static_cast<T>(x | y); });
  check("xor", [](T x, T y) { return static_cast<T>(x ^ y); });
}

template <class T>
void check_reals(const char* type, std::set<std::string>& checked) {
  const std::vector<T> values{T(-1.5), T(0), T(0.25), T(3), T(1e10), T(-7)};
  const auto check = [&](const char* operation, std::function<T(T, T)> plain) {
    check_operator<T>(operation, type, values, plain, checked);
  };
  check("sum", [](T x, T y) { return x + y; });
  check("product", [](T x, T y) { return x * y; });
  check("min", [](T x, T y) { return std::min(x, y); });
  check("max", [](T x, T y) { return std::max(x, y); });
}

struct Affine {
  std::uint32_t a, b;
  friend bool operator==(Affine, Affine) = default;
};

std::vector<Interval> joined(const Interval& left, const Interval& right) {
  return applied<Interval>(interval_reduction(), {left}, {right});
}

}  // namespace

TEST_CASE("every built-in operator does what a plain loop does", "[collectives][reduction]") {
  std::set<std::string> checked;
  check_integers<std::int32_t, std::uint64_t>("int32", checked);
  check_integers<std::int64_t, std::uint64_t>("int64", checked);
  check_integers<std::uint8_t, std::uint32_t>("uint8", checked);
  check_reals<float>("float", checked);
  check_reals<double>("double", checked);
  using Complex = std::complex<double>;
  const std::vector<Complex> values{{0, 0}, {1, 0}, {0, 1}, {-2, 3}, {0.5, -4}};
  check_operator<Complex>(
      "sum", "complex", values, [](Complex x, Complex y) { return x + y; }, checked);
  check_operator<Complex>(
      "product", "complex", values,
      [](Complex x, Complex y) {
        return Complex(x.real() * y.real() - x.imag() * y.imag(),
                       x.real() * y.imag() + x.imag() * y.real());
      },
      checked);
  // Nothing built in is left out but compose, which has a test of its own.
  std::set<std::string> listed;
  for (const BuiltIn& entry : built_in_reductions()) {
    listed.insert(std::string(entry.operation) + " " + std::string(entry.type));
  }
  checked.insert("compose affine");
  CHECK(listed == checked);
}

TEST_CASE("compose does the left map first, and is not commutative", "[collectives][reduction]") {
  const Reduction compose = find_reduction("compose", "affine");
  CHECK_FALSE(compose.commutative);
  // x -> 3x + 1, then x -> 5x + 4: 15x + 9; the other way round 3(5x + 4) + 1.
  const Affine f{3, 1}, g{5, 4};
  CHECK(applied<Affine>(compose, {f}, {g}) == std::vector{Affine{15, 9}});
  CHECK(applied<Affine>(compose, {g}, {f}) == std::vector{Affine{15, 13}});
  // Modulo 2^32.
  CHECK(applied<Affine>(compose, {{1U << 31, 1}}, {{2, 1U << 31}}) ==
        std::vector{Affine{0, (1U << 31) + 2}});
  const Affine h{7, 11};
  const auto left_first = applied<Affine>(compose, applied<Affine>(compose, {f}, {g}), {h});
  const auto right_first = applied<Affine>(compose, {f}, applied<Affine>(compose, {g}, {h}));
  CHECK(left_first == right_first);  // associative
}

TEST_CASE("unknown operators and types are refused with the known ones",
          "[collectives][reduction]") {
  CHECK_THROWS_WITH(find_reduction("summ", "int32"),
                    "unknown operator 'summ' (did you mean 'sum'?); available: sum product min max "
                    "and or xor compose");
  CHECK_THROWS_WITH(
      find_reduction("min", "complex"),
      "operator min does not take the type 'complex'; it takes: int32 int64 uint8 float "
      "double");
  CHECK_THROWS_WITH(find_reduction("xor", "double"), Contains("it takes: int32 int64 uint8"));
  CHECK_THROWS_WITH(find_reduction("sum", "float32"), Contains("(did you mean 'float'?)"));
  CHECK_THROWS_WITH(find_reduction("compose", "double"), Contains("it takes: affine"));
}

TEST_CASE("the result may be the left operand or the right one", "[collectives][reduction]") {
  const Reduction compose = find_reduction("compose", "affine");
  const std::vector<Affine> f{{3, 1}, {2, 9}, {1, 1}}, g{{5, 2}, {4, 4}, {8, 3}};
  const std::vector<Affine> wanted = applied(compose, f, g);
  std::vector<std::byte> left = bytes_of(f), right = bytes_of(g);
  compose.apply(left.data(), right.data(), left.data(), 3);
  CHECK(values_of<Affine>(left) == wanted);
  left = bytes_of(f);
  compose.apply(left.data(), right.data(), right.data(), 3);
  CHECK(values_of<Affine>(right) == wanted);
}

TEST_CASE("the witness joins neighbours, and poisons everything else", "[collectives][reduction]") {
  CHECK_FALSE(interval_reduction().commutative);
  CHECK(joined({0, 2, 5, 7}, {2, 3, 5, 7}) == std::vector{Interval{0, 3, 5, 7}});
  const auto poisoned = [](const Interval& left, const Interval& right) {
    const Interval both = joined(left, right).front();
    // No right result is like it, and what joins it is poisoned too.
    const bool bad = both.first < 0 && both.last < 0;
    const Interval next{right.last, right.last + 1, right.block, right.index};
    const Interval again = joined(both, next).front();
    return bad && again.first < 0 && joined(next, both).front().first < 0;
  };
  CHECK(poisoned({2, 3, 5, 7}, {0, 2, 5, 7}));  // swapped
  CHECK(poisoned({0, 2, 5, 7}, {1, 3, 5, 7}));  // doubled in part
  CHECK(poisoned({0, 2, 5, 7}, {0, 2, 5, 7}));  // doubled
  CHECK(poisoned({0, 2, 5, 7}, {3, 4, 5, 7}));  // one missing
  CHECK(poisoned({0, 2, 5, 7}, {2, 3, 6, 7}));  // of different blocks
  CHECK(poisoned({0, 2, 5, 7}, {2, 3, 5, 8}));  // of different elements
}

TEST_CASE("test operands are exact: any bracketing, and if it commutes any order, is the same",
          "[collectives][reduction]") {
  std::mt19937 random(11);
  constexpr std::size_t elements = 33;
  constexpr int nodes = 300;
  for (const BuiltIn& entry : built_in_reductions()) {
    CAPTURE(entry.operation, entry.type);
    const Reduction reduction = find_reduction(entry.operation, entry.type);
    using Data = std::vector<std::byte>;
    const auto both = [&](Data left, const Data& right) {
      reduction.apply(left.data(), right.data(), left.data(), elements);
      return left;
    };
    std::vector<Data> given;
    std::set<std::string> different;
    for (std::uint64_t stream = 0; stream < nodes; ++stream) {
      given.emplace_back(elements * reduction.element_bytes);
      reduction.operands(stream, given.back());
      different.emplace(reinterpret_cast<const char*>(given.back().data()), given.back().size());
    }
    CHECK(different.size() > nodes / 2);
    Data in_turn = given.front();
    for (int i = 1; i < nodes; ++i) in_turn = both(in_turn, given[static_cast<std::size_t>(i)]);
    const std::function<Data(int, int)> bracketed = [&](int first, int last) {
      if (last - first == 1) return given[static_cast<std::size_t>(first)];
      const int middle = std::uniform_int_distribution(first + 1, last - 1)(random);
      return both(bracketed(first, middle), bracketed(middle, last));
    };
    CHECK(bracketed(0, nodes) == in_turn);
    if (!reduction.commutative) continue;
    std::shuffle(given.begin(), given.end(), random);
    CHECK(bracketed(0, nodes) == in_turn);
  }
}

TEST_CASE("an operator of one's own is a callable", "[collectives][reduction]") {
  const Reduction longer = elementwise<std::array<char, 3>>(
      "last", [](std::array<char, 3>, std::array<char, 3> y) { return y; }, false);
  CHECK(longer.element_bytes == 3);
  CHECK_FALSE(longer.operands);
  std::string left = "abcdef", right = "uvwxyz";
  longer.apply(reinterpret_cast<std::byte*>(left.data()),
               reinterpret_cast<std::byte*>(right.data()),
               reinterpret_cast<std::byte*>(left.data()), 2);
  CHECK(left == "uvwxyz");
}
