// Loads a plugin: first its version, then its symbols, then its algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/plugin.hpp"

#include "wormcube/collectives/core/registry.hpp"

#include <exception>
#include <string_view>

#include <dlfcn.h>
#include <fmt/core.h>

namespace wormcube {

namespace {

template <class Function>
Function* find(void* object, const std::string& file, const char* name) {
  void* const symbol = dlsym(object, name);
  if (symbol == nullptr) {
    throw UsageError(fmt::format(
        "plugin {}: has no function {}; end its source with WORMCUBE_PLUGIN(..)", file, name));
  }
  return reinterpret_cast<Function*>(symbol);
}

void require_version(void* object, const std::string& file) {
  const std::string_view built_against =
      find<const char*()>(object, file, "wormcube_plugin_version")();
  if (built_against != WORMCUBE_PLUGIN_VERSION) {
    throw UsageError(fmt::format("plugin {}: built against wormcube {}, but this is {}; rebuild it",
                                 file, built_against, WORMCUBE_PLUGIN_VERSION));
  }
}

/// Whatever the plugin's functions throw is reported as a UsageError that names it.
/// \param what  "its registration"
template <class Act>
auto in_plugin(const std::string& file, const char* what, const Act& act) {
  try {
    return act();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("plugin {}: {} threw: {}", file, what, error.what()));
  } catch (...) {
    throw UsageError(fmt::format("plugin {}: {} threw an unknown exception type", file, what));
  }
}

void* open(const std::string& file) {
  // Without a slash the loader would look in the system's folders.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  // It is declared not to throw, but the constructors of the plugin's global objects may. A pointer
  // that the compiler cannot see through makes it expect that.
  void* (*volatile load)(const char*, int) = dlopen;
  if (void* const object = load(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return object;
  const std::string reason = dlerror();
  // A plugin of another version may lack symbols: loaded lazily, it can report its version, which
  // is a clearer error.
  if (void* const object = load(path.c_str(), RTLD_LAZY | RTLD_LOCAL))
    require_version(object, file);
  throw UsageError(fmt::format("plugin {}: {}", file, reason));
}

}  // namespace

void PluginRegistry::add(const Algorithm& algorithm) {
  add_algorithm(algorithm, origin_);
  added_.push_back(&algorithm);
}

void PluginRegistry::add(const OperationRow& operation) {
  add_operation(operation, "plugin " + origin_);
}

std::vector<const Algorithm*> load_plugin(const std::string& file) {
  void* const object =
      in_plugin(file, "the constructor of a global object", [&] { return open(file); });
  require_version(object, file);
  PluginRegistry registry(file.substr(file.rfind('/') + 1));
  const auto enter = find<void(PluginRegistry&)>(object, file, "wormcube_plugin_register");
  in_plugin(file, "its registration", [&] { enter(registry); });
  return registry.added();
}

}  // namespace wormcube
