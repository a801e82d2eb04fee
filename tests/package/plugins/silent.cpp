// A plugin whose algorithm does not say where it comes from.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

const wormcube::Algorithm silent{.operation = wormcube::operations::barrier,
                                 .name = "silent",
                                 .summary = "of nobody",
                                 .source = "",
                                 .program = [](wormcube::Node&, const wormcube::Call&) {}};

void add_all(wormcube::PluginRegistry& registry) { registry.add(silent); }

}  // namespace

WORMCUBE_PLUGIN(add_all);
