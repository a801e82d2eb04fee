// A plugin whose algorithm has the name of a built-in one.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

const wormcube::Algorithm ring{.operation = wormcube::operations::alltoall,
                               .name = "ring",
                               .summary = "taken",
                               .source = "a test",
                               .program = [](wormcube::Node&, const wormcube::Call&) {}};

void add_all(wormcube::PluginRegistry& registry) { registry.add(ring); }

}  // namespace

WORMCUBE_PLUGIN(add_all);
