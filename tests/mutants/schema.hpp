// What tests/mutants/schema.py writes into a file, so that one compilation holds all its mutants: each place does what the source
// says unless WORMCUBE_MUTANT is its number. Where a file is given (WORMCUBE_MUTANTS_REACHED), it is mapped, and byte `id` becomes
// 1 where place `id` is reached, by this process or one that it starts, and 2 where its change does not compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wormcube_mutants {

inline constexpr std::size_t most = 1 << 16;

struct State {
  int active = 0;
  volatile unsigned char* reached = nullptr;

  State() {
    if (const char* id = std::getenv("WORMCUBE_MUTANT")) active = std::atoi(id);
    const char* const path = std::getenv("WORMCUBE_MUTANTS_REACHED");
    const int file = path != nullptr ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* const map = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
    close(file);
  }
};
inline State& state() {
  static State only;
  return only;
}

/// Whether the place is to do something else.
inline bool on(int id) {
  State& now = state();
  if (now.reached != nullptr && now.reached[id] == 0) now.reached[id] = 1;
  return now.active == id;
}

/// There is an expression whose change does not compile: reported before main.
template <int id>
struct Unchangeable {
  static inline const bool reported = [] {
    if (state().reached != nullptr) state().reached[id] = 2;
    return true;
  }();
};

// a OP b is written a OP name<id>{} OP b: the operator's precedence finds its operands.
#define WORMCUBE_MUTANTS_OPERATOR(name, op, changed)                                              \
  template <int id>                                                                               \
  struct name {};                                                                                 \
  template <int id, class A>                                                                      \
  struct name##_left {                                                                            \
    A&& a;                                                                                        \
  };                                                                                              \
  template <class A, int id>                                                                      \
  name##_left<id, A> operator op(A&& a, name<id>) {                                               \
    return {std::forward<A>(a)};                                                                  \
  }                                                                                               \
  template <int id, class A, class B>                                                             \
  auto operator op(name##_left<id, A> left, B&& b) {                                              \
    using Result = std::decay_t<decltype(std::forward<A>(left.a) op std::forward<B>(b))>;         \
    if constexpr (requires { static_cast<Result>(left.a changed b); }) {                          \
      if (on(id)) return static_cast<Result>(std::forward<A>(left.a) changed std::forward<B>(b)); \
    } else {                                                                                      \
      static_cast<void>(Unchangeable<id>::reported);                                              \
    }                                                                                             \
    return static_cast<Result>(std::forward<A>(left.a) op std::forward<B>(b));                    \
  }
WORMCUBE_MUTANTS_OPERATOR(less, <, <=)
WORMCUBE_MUTANTS_OPERATOR(less_equal, <=, <)
WORMCUBE_MUTANTS_OPERATOR(greater, >, >=)
WORMCUBE_MUTANTS_OPERATOR(greater_equal, >=, >)
WORMCUBE_MUTANTS_OPERATOR(equal, ==, !=)
WORMCUBE_MUTANTS_OPERATOR(unequal, !=, ==)
WORMCUBE_MUTANTS_OPERATOR(plus, +, -)
WORMCUBE_MUTANTS_OPERATOR(minus, -, +)
WORMCUBE_MUTANTS_OPERATOR(times, *, +)
WORMCUBE_MUTANTS_OPERATOR(divided, /, *)
WORMCUBE_MUTANTS_OPERATOR(modulo, %, /)
WORMCUBE_MUTANTS_OPERATOR(exclusive_or, ^, |)
WORMCUBE_MUTANTS_OPERATOR(left_shift, <<, >>)
#undef WORMCUBE_MUTANTS_OPERATOR

// a OP b is written a OP name<id>{} OP b here too: assignments are taken from the right.
#define WORMCUBE_MUTANTS_ASSIGNMENT(name, op, changed)          \
  template <int id>                                             \
  struct name {};                                               \
  template <int id, class B>                                    \
  struct name##_right {                                         \
    B&& b;                                                      \
  };                                                            \
  template <int id, class B>                                    \
  name##_right<id, B> operator op(name<id>, B&& b) {            \
    return {std::forward<B>(b)};                                \
  }                                                             \
  template <class A, int id, class B>                           \
  A& operator op(A& a, name##_right<id, B> right) {             \
    if constexpr (requires { a changed right.b; }) {            \
      if (on(id)) return a changed std::forward<B>(right.b), a; \
    } else {                                                    \
      static_cast<void>(Unchangeable<id>::reported);            \
    }                                                           \
    return a op std::forward<B>(right.b), a;                    \
  }
WORMCUBE_MUTANTS_ASSIGNMENT(add, +=, -=)
WORMCUBE_MUTANTS_ASSIGNMENT(subtract, -=, +=)
#undef WORMCUBE_MUTANTS_ASSIGNMENT

/// !x is written !negated<id>{} ->* x.
template <int id>
struct negated {
  struct Left {};
  Left operator!() const { return {}; }
  template <class X>
  friend bool operator->*(Left, X&& x) {
    return on(id) ? static_cast<bool>(x) : !x;
  }
};

template <int id, class A, class B>
auto min(A&& a, B&& b) {
  return on(id) ? std::max(std::forward<A>(a), std::forward<B>(b))
                : std::min(std::forward<A>(a), std::forward<B>(b));
}
template <int id, class A, class B>
auto max(A&& a, B&& b) {
  return on(id) ? std::min(std::forward<A>(a), std::forward<B>(b))
                : std::max(std::forward<A>(a), std::forward<B>(b));
}
template <int id, class T>
T min(std::initializer_list<T> list) {
  return on(id) ? std::max(list) : std::min(list);
}
template <int id, class T>
T max(std::initializer_list<T> list) {
  return on(id) ? std::min(list) : std::max(list);
}

template <int id>
int number(int value) {
  return on(id) ? value + 1 : value;
}
template <int id>
bool kept() {
  return !on(id);
}
template <int id>
bool changed() {
  return on(id);
}

}  // namespace wormcube_mutants
