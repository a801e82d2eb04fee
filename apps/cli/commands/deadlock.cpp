// wormcube deadlock: two cyclic waits, and the machine's diagnosis.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct DeadlockCommand {
  std::string on = "ring:4", of = "receives";
  int virtual_channels = 1;
  const CLI::Option* virtual_channels_option = nullptr;
  double time_limit = 10;
  OutputOptions output;
};

/// Holds every worm on the first link of its route until all have reserved theirs.
class HoldFirstLinks final : public NetworkObserver {
 public:
  explicit HoldFirstLinks(Rank worms) : missing_(worms) {}
  void reserved(Rank, Rank, Channel, int hop) override {
    if (hop != 0) return;
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) all_there_.notify_all();
    // A limit, so that a machine that moves worms one by one ends without a deadlock instead of
    // hanging.
    all_there_.wait_for(lock, std::chrono::seconds(5), [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_there_;
  Rank missing_;
};

/// Every node receives from the next one before it sends to the previous one.
void receive_before_sending(Node& node) {
  const Rank p = node.size();
  const Memory memory = node.memory(16);
  node.step({receive(mod(node.rank() + 1, p), memory.subspan(0, 8))});
  node.step({send(mod(node.rank() - 1, p), memory.subspan(8, 8))});
}

/// A message too long for the queues.
constexpr Bytes long_message = 64 << 10;

/// Every node sends two links ahead in one direction of a ring.
void send_two_links_on(Node& node, int dimension) {
  const Memory memory = node.memory(2 * long_message);
  const Topology& topology = node.topology();
  const Rank ring = topology.size(dimension), here = topology.coordinate(node.rank(), dimension);
  node.step({send(Move{dimension, 2}, memory.subspan(0, long_message)),
             receive(topology.with(node.rank(), dimension, mod(here - 2, ring)),
                     memory.subspan(long_message, long_message))});
}

int first_ring(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).wraps()) return d;
  }
  throw UsageError(fmt::format(
      "{} has no ring of 3 or more nodes, where channels could form a cycle; try --on ring:4",
      topology.name()));
}

MachineOptions machine_options(Context& context, const DeadlockCommand& options) {
  MachineFlags flags;
  flags.time_limit = options.time_limit;
  flags.virtual_channels = options.virtual_channels;
  MachineOptions machine = flags.resolve(context, false);
  machine.allow_cycles = true;
  return machine;
}

void wait_for_receives(Context& context, const Topology& topology, const DeadlockCommand& options,
                       const OutputOptions& output) {
  if (topology.nodes() < 2) {
    throw UsageError(
        fmt::format("{} has one node, and a deadlock needs two; try --on ring:4", topology.name()));
  }
  print_setting(output, "topology", topology_text(topology));
  print_note(
      output,
      "each node first receives from the next node, and would then send to the previous one");
  Machine machine(topology, machine_options(context, options));
  machine.run(receive_before_sending);
}

void wait_for_channels(Context& context, const Topology& topology, const DeadlockCommand& options,
                       const OutputOptions& output) {
  const int dimension = first_ring(topology);
  print_setting(output, "topology", topology_text(topology));
  print_note(output, fmt::format("each node sends two links ahead around the ring of dimension {}, "
                                 "with {} virtual channel{} per link",
                                 dimension, options.virtual_channels,
                                 options.virtual_channels == 1 ? "" : "s"));
  print_note(output,
             "each worm is held until all have reserved their first link; then each waits for the "
             "next one");
  const std::string what = fmt::format("deadlock --of channels on {}: {} messages of {} bytes",
                                       topology.name(), topology.nodes(), long_message);
  require_available(what, 2.0 * long_message * topology.nodes(), "use fewer nodes");
  // The sent data was never written and occupies no pages; a node's stack occupies three.
  constexpr double of_node = long_message + 3 * 4096;
  require_memory(what, of_node * topology.nodes(), "use fewer nodes");
  HoldFirstLinks observer(topology.nodes());
  MachineOptions machine_settings = machine_options(context, options);
  machine_settings.observer = &observer;
  Machine machine(topology, machine_settings);
  machine.run([dimension](Node& node) { send_two_links_on(node, dimension); });
}

/// \param report  the machine's diagnosis, line by line; empty if every message arrived
Json result_json(const DeadlockCommand& options, const Topology& topology,
                 std::string_view report) {
  Json lines = Json::array();
  for (std::string_view rest = report; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {{"topology", topology.name()},
          {"nodes", topology.nodes()},
          {"of", options.of},
          {"virtual_channels", options.virtual_channels},
          {"time_limit_s", options.time_limit},
          {"deadlock", !report.empty()},
          {"report", lines}};
}

ExitCode demonstrate(Context& context, const DeadlockCommand& options) {
  const OutputOptions& output = options.output;
  output.validate();
  const Topology topology = parse_topology(options.on);
  if (options.of != "channels" && options.virtual_channels_option->count() > 0) {
    throw UsageError("--virtual-channels has no effect on --of receives: nothing is sent");
  }
  try {
    if (options.of == "channels") {
      wait_for_channels(context, topology, options, output);
    } else {
      wait_for_receives(context, topology, options, output);
    }
  } catch (const Deadlock& error) {
    write_results(context, output, {result_json(options, topology, error.what())}, true);
    throw;
  }
  if (output.text()) print("no deadlock: every message arrived\n");
  write_results(context, output, {result_json(options, topology, {})}, true);
  return passed;
}

}  // namespace

Action add_deadlock(CLI::App& program) {
  auto options = std::make_shared<DeadlockCommand>();
  CLI::App& app = *program.add_subcommand("deadlock", "Cause a deadlock and show its diagnosis");
  app.add_option("--on", options->on, "The network")->type_name("TOPOLOGY")->capture_default_str();
  app.add_option("--of", options->of,
                 "Cause of the deadlock. receives: every node receives before it sends; channels: "
                 "each worm on a ring holds a link and waits for the next")
      ->type_name("receives|channels")
      ->check(one_of({"receives", "channels"}))
      ->capture_default_str();
  options->virtual_channels_option =
      app.add_option("--virtual-channels", options->virtual_channels,
                     "With --of channels: 1 causes a deadlock; with 2 (the default for the other "
                     "commands), the same messages arrive")
          ->type_name("1|2")
          ->check(between(1, 2))
          ->capture_default_str();
  app.add_option("--time-limit", options->time_limit, "Stop the command after this many seconds")
      ->type_name("SECONDS")
      ->check(between(0, 1e6))
      ->capture_default_str();
  add_output_options(app, options->output, false, false);
  app.footer(
      "The emulated machine detects a deadlock when every node waits and nothing moves. The "
      "program then ends with exit code 3. A table on standard error shows what each node waits "
      "for and which links it holds.\n\n"
      "Examples:\n"
      "  wormcube deadlock\n"
      "  wormcube deadlock --of channels --on ring:4\n"
      "  wormcube deadlock --of channels --virtual-channels 2      no deadlock");
  return [options](Context& context) { return demonstrate(context, *options); };
}

}  // namespace wormcube::cli
