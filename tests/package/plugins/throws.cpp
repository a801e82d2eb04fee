// A plugin whose algorithms throw: a usage error before it runs, one in a node, anything else in a node.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

const Algorithm refuses{.operation = operations::barrier,
                        .name = "refuses",
                        .summary = "never runs",
                        .source = "a test",
                        .require = [](const Setting&) { throw UsageError("thrown by the plugin"); },
                        .program = [](Node&, const Call&) {}};

const Algorithm complains{
    .operation = operations::barrier,
    .name = "complains",
    .summary = "a usage error in every node",
    .source = "a test",
    .program = [](Node&, const Call&) { throw UsageError("thrown in a node"); }};

const Algorithm fails{.operation = operations::barrier,
                      .name = "fails",
                      .summary = "an error in node 3",
                      .source = "a test",
                      .program = [](Node& node, const Call&) {
                        if (node.rank() == 3) throw std::runtime_error("node 3 has enough");
                        node.step();
                      }};

/// Recursion deeper than any stack.
[[gnu::noinline]] int sink(volatile int* depth) {
  if (*depth < 0) return 0;  // never: an end that the compiler can see
  volatile char frame[256];
  frame[*depth % 256] = 1;
  *depth = *depth + 1;
  return sink(depth) + frame[*depth % 256];
}

void sink_in_node_3(Node& node, bool locally) {
  const auto work = [] {
    volatile int depth = 0;
    sink(&depth);
  };
  node.step();
  if (node.rank() != 3) return;
  locally ? node.local(work) : work();
}

const Algorithm sinks{.operation = operations::barrier,
                      .name = "sinks",
                      .summary = "node 3 uses up its stack",
                      .source = "a test",
                      .program = [](Node& node, const Call&) { sink_in_node_3(node, false); }};

const Algorithm sinks_locally{
    .operation = operations::barrier,
    .name = "sinks-locally",
    .summary = "the same where a dry run does not go",
    .source = "a test",
    .program = [](Node& node, const Call&) { sink_in_node_3(node, true); }};

/// What it sees of the program's registry, and of the program's operations, is the program's own.
void add_all(PluginRegistry& registry) {
  if (find_algorithm(operations::alltoall, "ring").operation != operations::alltoall ||
      parse_operation("alltoall") != operations::alltoall) {
    throw UsageError("an operation is not equal to itself");
  }
  for (const Algorithm* algorithm : {&refuses, &complains, &fails, &sinks, &sinks_locally})
    registry.add(*algorithm);
}

}  // namespace

WORMCUBE_PLUGIN(add_all);
