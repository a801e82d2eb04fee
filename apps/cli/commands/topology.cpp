// wormcube topology: the properties of a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/topology.hpp"

#include "wormcube/apps/cli/commands/cables.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/topology_bounds.hpp"
#include "wormcube/apps/cli/commands/topology_distances.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/topology/families.hpp"
#include "wormcube/runtime/topology/flows.hpp"
#include "wormcube/runtime/topology/ring_order.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <type_traits>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

namespace {

struct TopologyCommand {
  std::string topology;
  Rank node = -1;
  std::vector<Rank> route;
  bool ring = false;
  int virtual_channels = 2;
  OutputOptions output;
  std::string svg, thumbnail, layout = "plain";
};

std::string coordinates_text(const Topology& topology, Rank rank) {
  return fmt::format("({})", fmt::join(topology.coordinates(rank), ","));
}

void require_node(const Topology& topology, Rank rank) {
  if (rank < 0 || rank >= topology.nodes()) {
    throw UsageError(fmt::format("node {} is out of range; {} has nodes 0 to {}", rank,
                                 topology.name(), topology.nodes() - 1));
  }
}

std::optional<int> diameter(const Topology& topology) {
  int sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const auto diameter = topology.factor(d).diameter();
    if (!diameter) return std::nullopt;
    sum += *diameter;
  }
  return sum;
}

constexpr const char* not_searched = "not searched for: too many nodes";

std::string links_text(const std::optional<int>& diameter) {
  return diameter ? fmt::format("{} {}", *diameter, *diameter == 1 ? "link" : "links")
                  : not_searched;
}

Json or_null(const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); }

/// The cables that a cut across a dimension's middle severs, if it halves the nodes.
std::optional<std::int64_t> halving_cut(const Topology& topology, int dimension) {
  const Graph& graph = topology.factor(dimension);
  const Rank size = graph.nodes();
  if (size % 2 != 0) return std::nullopt;
  const std::int64_t lines = topology.nodes() / size;
  switch (graph.shape()) {
    case Shape::line:
      return lines;
    case Shape::ring:
      return lines * (size > 2 ? 2 : 1);
    case Shape::complete:
      return lines * (size / 2) * (size / 2);
    case Shape::tree:
      return lines;
    case Shape::graph:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The smallest of these cuts, and where it is.
std::optional<std::pair<std::int64_t, int>> smallest_cut(const Topology& topology) {
  std::optional<std::pair<std::int64_t, int>> best;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const auto cut = halving_cut(topology, d);
    if (cut && (!best || *cut < best->first)) best = {*cut, d};
  }
  return best;
}

std::string_view sign_of(const Graph& graph, Rank from, Rank to) {
  if (!graph.has_direction()) return "";
  return graph.hops(from, to) > 0 ? "+" : "-";
}

Json dimensions_json(const Topology& topology) {
  Json dimensions = Json::array();
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    Json dimension{
        {"shape", to_string(graph.shape())}, {"size", graph.nodes()}, {"links", graph.links()}};
    put(dimension, "diameter", or_null(graph.diameter()), not_searched);
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

void show_dimensions(const Topology& topology, const OutputOptions& output) {
  Table table({{"dimension"},
               {"shape", "", true},
               {"size", "nodes"},
               {"links", "each line"},
               {"lines"},
               {"diameter", "links"}});
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    table.add({std::to_string(d), std::string(to_string(graph.shape())),
               std::to_string(graph.nodes()), std::to_string(graph.links()),
               std::to_string(topology.nodes() / graph.nodes()),
               graph.diameter() ? std::to_string(*graph.diameter()) : "-"});
  }
  print_table(output, table);
}

Json show_node(const Topology& topology, Rank node, const OutputOptions& output) {
  print_note(output, fmt::format("node {} {}: its ports", node, coordinates_text(topology, node)));
  Table table({{"port"}, {"dimension"}, {"to", "", true}, {"at", "", true}, {"link", "", true}});
  Json neighbours = Json::array();
  for (int port = 0; port < topology.ports(node); ++port) {
    const Link link = topology.link(node, port);
    const int d = topology.place(link).dimension;
    const Rank to = topology.link_ends(link).to;
    std::string direction;
    if (to >= 0)
      direction =
          sign_of(topology.factor(d), topology.coordinate(node, d), topology.coordinate(to, d));
    table.add({std::to_string(port), fmt::format("{}{}", direction, d),
               to < 0 ? "switch" : std::to_string(to), to < 0 ? "" : coordinates_text(topology, to),
               topology.link_name(link)});
    Json neighbour{{"port", port}, {"dimension", d}};
    put(neighbour, "direction", direction.empty() ? Json(nullptr) : Json(direction),
        "no sign: neither a line nor a ring");
    put(neighbour, "node", to < 0 ? Json(nullptr) : Json(to), "a switch");
    neighbour["link"] = link;
    neighbour["link_name"] = topology.link_name(link);
    neighbours.push_back(std::move(neighbour));
  }
  print_table(output, table);
  return neighbours;
}

Json show_route(const Topology& topology, const Routing& routing, Rank from, Rank to,
                const OutputOptions& output) {
  std::vector<Channel> path;
  routing.route(from, to, path);
  print_note(
      output,
      fmt::format("route from {} {} to {} {}: {} link{}", from, coordinates_text(topology, from),
                  to, coordinates_text(topology, to), path.size(), path.size() == 1 ? "" : "s"));
  Table table({{"hop"}, {"channel", "", true}, {"dimension"}});
  Json hops = Json::array();
  for (std::size_t hop = 0; hop < path.size(); ++hop) {
    const Link link = routing.link(path[hop]);
    const int d = topology.place(link).dimension;
    table.add({std::to_string(hop), routing.channel_name(path[hop]), std::to_string(d)});
    hops.push_back({{"link", link},
                    {"link_name", topology.link_name(link)},
                    {"virtual_channel", routing.virtual_channel(path[hop])},
                    {"dimension", d}});
  }
  print_table(output, table);
  return hops;
}

/// The order in which ring algorithms visit the nodes.
Json show_ring(const Topology& topology, const OutputOptions& output) {
  const RingOrder ring = ring_order(topology);
  print_note(output, fmt::format("ring order: {}, load {}, hops of {}{} {}", to_string(ring.kind),
                                 ring.load, ring.longest_hop > 1 ? "1 to " : "", ring.longest_hop,
                                 ring.longest_hop == 1 ? "link" : "links"));
  print_note(output, fmt::format("{}", fmt::join(ring.nodes, " ")));
  return {{"order", ring.nodes},
          {"kind", to_string(ring.kind)},
          {"load", ring.load},
          {"longest_hop", ring.longest_hop}};
}

/// The number of virtual channels per link.
std::string virtual_channels_text(const Topology& topology, int virtual_channels) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).wraps()) return fmt::format("{} per ring link", virtual_channels);
  }
  return "1 per link, because there is no ring";
}

/// Why there is no halving cut.
std::string_view no_halves(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).shape() == Shape::graph)
      return "not searched; for graphs see the cut of the all-port bound";
  }
  return "no dimension has an even number of nodes";
}

/// The memory of dependency_cycle(), which examines arbitrary graphs and trees link by link.
double dependency_bytes(const Topology& topology) {
  constexpr double link_bytes = 90;
  double most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.shape() == Shape::graph || graph.shape() == Shape::tree)
      most = std::max(most, link_bytes * static_cast<double>(graph.links()));
  }
  return most;
}

/// The network alone, or with one message's route.
/// \param small  for an index: without text, in the colours of the embedding page
std::string network_svg(const Topology& topology, const Routing& routing,
                        const TopologyCommand& options, bool small) {
  const apps::Layout layout = apps::layout(routing, options.layout == "folded");
  apps::DrawnStep step;
  if (!options.route.empty()) {
    apps::DrawnMessage message{options.route[0], options.route[1], 1, 0};
    routing.route(message.from, message.to, message.route);
    for (const Channel channel : message.route) step.links.push_back({routing.link(channel), 1, 1});
    std::ranges::sort(step.links, {}, &apps::LinkLoad::link);
    step.messages.push_back(std::move(message));
  }
  const apps::Marks marks = options.route.empty()
                                ? apps::network_marks(layout)
                                : apps::step_marks(layout, routing, step, 1, !small);
  if (!small) return apps::cropped_svg(marks, {.title = topology.describe()});
  return apps::svg_text(
      marks, layout.corner, layout.size,
      {.title = topology.describe(), .themed = true, .texts = false, .ground = false});
}

ExitCode show(const Context& context, const TopologyCommand& options) {
  options.output.validate();
  const std::array<const std::string*, 4> files{&options.output.json, &options.output.jsonl,
                                                &options.svg, &options.thumbnail};
  if (std::ranges::count(files, std::string("-"), [](const auto* file) { return *file; }) > 1) {
    throw UsageError(
        "only one of --json, --jsonl, --svg and --thumbnail can write to standard output; name a "
        "file for the others");
  }
  require_writable(options.svg);
  apps::require_picture_format(apps::picture_format(options.svg));
  require_writable(options.thumbnail);
  const Topology topology = parse_topology(options.topology);
  if (options.node >= 0) require_node(topology, options.node);
  for (const Rank end : options.route) require_node(topology, end);
  const Routing routing(topology, options.virtual_channels);
  if (!options.svg.empty() || !options.thumbnail.empty()) {
    apps::require_drawable(topology);
    for (const std::string* file : {&options.svg, &options.thumbnail}) {
      if (file->empty()) continue;
      const bool small = file == &options.thumbnail;
      const std::string svg = network_svg(topology, routing, options, small);
      write_text(context, *file, small ? svg : apps::picture(svg, apps::picture_format(*file)));
      if (*file == "-") return passed;
    }
  }
  require_memory("topology " + topology.name() + ": the channel dependency graph",
                 dependency_bytes(topology), "use a network with fewer links");
  Progress progress(context, options.output, "topology " + topology.name());
  progress.doing("channel dependencies");
  const auto cycle = dependency_cycle(routing);
  const auto cut = smallest_cut(topology);
  int fewest = topology.ports(0), most = fewest;
  for (Rank rank = 1; rank < topology.nodes(); ++rank) {
    fewest = std::min(fewest, topology.ports(rank));
    most = std::max(most, topology.ports(rank));
  }

  const OutputOptions& output = options.output;
  print_fact(output, "topology", topology.describe());
  print_fact(output, "nodes", std::to_string(topology.nodes()));
  print_fact(output, "links", fmt::format("{} (each cable is two)", topology.links()));
  print_fact(output, "ports",
             fewest == most ? fmt::format("{} per node", most)
                            : fmt::format("{} to {} per node", fewest, most));
  print_fact(output, "diameter", links_text(diameter(topology)));
  print_fact(output, "halving cut",
             cut ? fmt::format("{} {}, across dimension {}", cut->first,
                               cut->first == 1 ? "cable" : "cables", cut->second)
                 : no_halves(topology));
  print_fact(output, "virtual channels",
             fmt::format("{}, {} in all", virtual_channels_text(topology, options.virtual_channels),
                         routing.channels()));
  print_fact(
      output, "deadlock free",
      cycle ? "no: messages that go around a ring can wait for each other on these links: " + *cycle
            : "yes: the channel dependency graph has no cycle");

  Json result{{"topology", topology.name()}, {"description", topology.describe()},
              {"nodes", topology.nodes()},   {"links", topology.links()},
              {"ports_min", fewest},         {"ports_max", most}};
  put(result, "diameter", or_null(diameter(topology)), not_searched);
  put(result, "halving_cut_cables", cut ? Json(cut->first) : Json(nullptr), no_halves(topology));
  put(result, "halving_cut_dimension", cut ? Json(cut->second) : Json(nullptr),
      no_halves(topology));
  result["virtual_channels"] = options.virtual_channels;
  result["channels"] = routing.channels();
  result["deadlock_free"] = !cycle;
  put(result, "cycle", cycle ? Json(*cycle) : Json(nullptr), "there is none");
  result["dimensions"] = dimensions_json(topology);
  put_cables(result, topology);
  progress.doing("distances and cuts");
  show_distances(topology, options.node, output, result);
  show_theory(topology, options.node, output, result);
  show_link_bounds(topology, output, result);
  if (options.node < 0 && options.route.empty() && !options.ring) show_dimensions(topology, output);
  if (options.node >= 0) {
    result["node"] = options.node;
    result["neighbours"] = show_node(topology, options.node, output);
  }
  if (!options.route.empty()) {
    result["route"] = show_route(topology, routing, options.route[0], options.route[1], output);
  }
  if (options.ring) result["ring"] = show_ring(topology, output);
  write_results(context, output, {result}, true);
  return passed;
}

}  // namespace

Action add_topology(CLI::App& program) {
  auto options = std::make_shared<TopologyCommand>();
  CLI::App& app = *program.add_subcommand(
      "topology",
      "Show a network's nodes, links, ports and routes, and whether it is free of deadlock");
  app.add_option("--on,TOPOLOGY", options->topology,
                 network_examples() + ", or a product such as ring:4*line:3")
      ->type_name("TOPOLOGY")
      ->required();
  app.add_option("--node", options->node, "Show this node's ports and neighbours")
      ->type_name("NODE")
      ->check(at_least(0));
  app.add_option("--route", options->route,
                 "Show the route of a message from A to B: the channels that it reserves")
      ->type_name("A,B")
      ->delimiter(',')
      ->expected(2);
  app.add_flag("--ring", options->ring, "Show the order in which ring algorithms visit the nodes");
  add_virtual_channels_option(app, options->virtual_channels);
  add_output_options(app, options->output, false, false);
  app.add_option("--svg", options->svg,
                 "Draw the network (with --route, also the message's route): SVG, PDF or PNG, "
                 "according to the file extension; `-` prints only the SVG")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--thumbnail", options->thumbnail,
                 "Draw the same picture as SVG without text, in the colours of the embedding page")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--layout", options->layout,
                 "`folded`: draw the nodes of a ring in the order 0 2 4 .. 5 3 1")
      ->type_name("plain|folded")
      ->check(one_of({"plain", "folded"}))
      ->capture_default_str()
      ->group("Output");
  app.footer(
      "Nodes are numbered in row-major order of their coordinates: the last coordinate changes "
      "fastest. Every cable is two links, one in each direction. A route crosses the dimensions "
      "from the last to the first. `s0` is a switch of a tree; in products, `s1.0.2` is switch 2 "
      "of line 0 of dimension 1. The `halving cut` is the smallest number of cables severed by a "
      "cut across the middle of a dimension. The `average status` is the sum of the distances from "
      "a node to all others, averaged over the nodes. If each step moves one block to a neighbour, "
      "a total exchange with one port needs at least this many steps; with all ports, it needs at "
      "least |V1| |V2| / cables steps for any cut between node sets V1 and V2.\n\n"
      "Examples:\n"
      "  wormcube topology torus:8x8\n"
      "  wormcube topology ring:4*line:3 --node 5\n"
      "  wormcube topology torus:8x8 --route 0,63\n"
      "  wormcube topology mesh:4x3 --ring\n"
      "  wormcube topology petersen --svg petersen.svg\n"
      "  wormcube topology ring:4 --virtual-channels 1   shows the cycle that the second channel "
      "breaks");
  return [options](Context& context) { return show(context, *options); };
}

}  // namespace wormcube::cli
