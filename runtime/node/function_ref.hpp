// A function by reference, as a node's work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace wormcube {

/// A callable by reference, without allocation; valid during the call that it is passed to.
class FunctionRef {
 public:
  template <class F>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): FunctionRef itself is excluded
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& function)
      : object_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* object) { (*static_cast<std::remove_reference_t<F>*>(object))(); }) {}
  void operator()() const { call_(object_); }

 private:
  void* object_;
  void (*call_)(void*);
};

}  // namespace wormcube
