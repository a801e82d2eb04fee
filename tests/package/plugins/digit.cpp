// A plugin built against headers that differ in one place: its digest has another first digit. What it registers would
// end the program.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include <wormcube/collectives/core/plugin.hpp>

extern "C" [[gnu::visibility("default")]] const char* wormcube_plugin_version() {
  static const std::string changed = [] {
    std::string version = WORMCUBE_PLUGIN_VERSION;
    char& digit = version[version.find(WORMCUBE_HEADERS_DIGEST)];
    digit = digit == '0' ? '1' : '0';
    return version;
  }();
  return changed.c_str();
}
extern "C" [[gnu::visibility("default")]] void wormcube_plugin_register(wormcube::PluginRegistry&) {
  std::abort();
}
