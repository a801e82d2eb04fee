// A plugin with an algorithm for an operation that it does not add.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

constexpr OperationRow mine{.name = "mine",
                            .summary = "not added",
                            .gives = [](const Instance&, Rank) { return Rank{0}; },
                            .ends_with = [](const Instance&, Rank) { return Rank{0}; },
                            .result = [](const Instance&, Rank, Rank) { return Content{}; }};

const Algorithm orphan{.operation = mine,
                       .name = "orphan",
                       .summary = "of nobody",
                       .source = "a test",
                       .program = [](Node&, const Call&) {}};

void add_all(PluginRegistry& registry) { registry.add(orphan); }

}  // namespace

WORMCUBE_PLUGIN(add_all);
