// A plugin with a global object whose constructor throws.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <wormcube/wormcube.hpp>

namespace {

struct Thrower {
  Thrower() { throw std::runtime_error("no licence"); }
} const thrower;

void add_all(wormcube::PluginRegistry&) {}

}  // namespace

WORMCUBE_PLUGIN(add_all);
