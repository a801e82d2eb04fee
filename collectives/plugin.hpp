// Algorithms and operations from shared objects: what `wormcube --plugin FILE.so` loads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/version.hpp"

#include <string>
#include <vector>

namespace wormcube {

/// What a plugin's function gets: it adds the plugin's operations and algorithms, which live as long
/// as the process.
class PluginRegistry {
 public:
  explicit PluginRegistry(std::string origin) : origin_(std::move(origin)) {}
  /// Throws UsageError for an algorithm without name or program, and for a name that is taken.
  void add(const Algorithm& algorithm);
  /// An operation of one's own, before its algorithms. Throws UsageError as add_operation.
  void add(const OperationRow& operation);
  const std::vector<const Algorithm*>& added() const { return added_; }

 private:
  std::string origin_;
  std::vector<const Algorithm*> added_;
};

/// Loads a shared object and registers what it adds, with the name of its file as their origin. It
/// stays loaded. Returns the algorithms.
///
/// A plugin contains nothing of the library, and finds all of it in the program: which must export
/// its symbols (CMake: ENABLE_EXPORTS) and contain the whole library
/// ($<LINK_LIBRARY:WHOLE_ARCHIVE,wormcube::wormcube>), as `wormcube` does.
///
/// Throws UsageError if the file is not there, lacks symbols, is no plugin, or was built against
/// another version of wormcube.
std::vector<const Algorithm*> load_plugin(const std::string& file);

}  // namespace wormcube

/// Raised whenever Algorithm, Call or Node change within a version.
#define WORMCUBE_PLUGIN_ABI "1"
/// A literal, so that a plugin keeps its own.
#define WORMCUBE_PLUGIN_VERSION WORMCUBE_VERSION " abi " WORMCUBE_PLUGIN_ABI

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
