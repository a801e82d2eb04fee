// Algorithms and operations from shared objects: what `wormcube --plugin FILE.so` loads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/abi.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/version.hpp"

#include <string>
#include <vector>

namespace wormcube {

/// The argument of a plugin's function: it adds the plugin's operations and algorithms, which live
/// as long as the process.
class PluginRegistry {
 public:
  explicit PluginRegistry(std::string origin) : origin_(std::move(origin)) {}
  /// Throws UsageError as add_algorithm.
  void add(const Algorithm& algorithm);
  void add(const Algorithm&&) = delete;  // it is kept by address: `static const`
  /// An operation of the plugin, before its algorithms. Throws UsageError as add_operation.
  void add(const OperationRow& operation);
  void add(const OperationRow&&) = delete;
  const std::vector<const Algorithm*>& added() const { return added_; }

 private:
  std::string origin_;
  std::vector<const Algorithm*> added_;
};

/// Loads a shared object and registers what it adds, with the name of its file as their origin. It
/// stays loaded. Returns the algorithms.
///
/// A plugin contains nothing of the library, and finds all of it in the program. The program must
/// export its symbols (CMake: ENABLE_EXPORTS) and contain the whole library
/// ($<LINK_LIBRARY:WHOLE_ARCHIVE,wormcube::wormcube>), as `wormcube` does.
///
/// Throws UsageError if the file does not exist, lacks symbols, is not a plugin, or was built
/// against another version of wormcube, other headers, or by another compiler.
std::vector<const Algorithm*> load_plugin(const std::string& file);

}  // namespace wormcube

#define WORMCUBE_TEXT_OF(value) #value
#define WORMCUBE_TEXT(value) WORMCUBE_TEXT_OF(value)
#ifdef __clang__
#define WORMCUBE_COMPILER __VERSION__
#else
#define WORMCUBE_COMPILER "g++ " __VERSION__
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
#define WORMCUBE_STRING_ABI " strings " WORMCUBE_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define WORMCUBE_STRING_ABI ""
#endif
/// What a plugin and the program must have in common: the text of the public headers, the compiler,
/// and its string ABI. A literal, so that a plugin has its own copy.
#define WORMCUBE_PLUGIN_VERSION \
  WORMCUBE_VERSION " headers " WORMCUBE_HEADERS_DIGEST " by " WORMCUBE_COMPILER WORMCUBE_STRING_ABI

/// Once in a plugin, outside of namespaces: `add_all` is a function of a PluginRegistry&.
#define WORMCUBE_PLUGIN(add_all)                                                    \
  extern "C" [[gnu::visibility("default")]] const char* wormcube_plugin_version() { \
    return WORMCUBE_PLUGIN_VERSION;                                                 \
  }                                                                                 \
  extern "C" [[gnu::visibility("default")]] void wormcube_plugin_register(          \
      wormcube::PluginRegistry& registry) {                                         \
    add_all(registry);                                                              \
  }                                                                                 \
  static_assert(true, "for the semicolon")
