// A plugin of the right version that lacks a symbol.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/collectives/core/plugin.hpp>

extern "C" void wormcube_that_is_not_there();

namespace {
void add_all(wormcube::PluginRegistry&) { wormcube_that_is_not_there(); }
}  // namespace

WORMCUBE_PLUGIN(add_all);
