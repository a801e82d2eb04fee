// Routes are contiguous, shortest and dimension ordered, and their channels cannot deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/routing.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

using Dependencies = std::set<std::pair<Channel, Channel>>;

/// Small topologies of every kind, arbitrary graphs among them.
std::vector<Topology> topologies() {
  std::vector<Topology> all;
  for (const std::string& text : samples::texts()) all.push_back(Topology::parse(text));
  all.push_back(Topology({samples::petersen()}));
  all.push_back(Topology({samples::scrambled(8), Graph::ring(3)}));
  all.push_back(Topology({Graph::line(3), samples::star(4)}));
  return all;
}

struct Route {
  Rank from, to;
  std::vector<Channel> path;
  std::vector<LinkRun> runs = {};
};

std::vector<Route> routes_by_rank(const Routing& routing) {
  std::vector<Route> routes;
  const Rank p = routing.topology().nodes();
  for (Rank from = 0; from < p; ++from) {
    for (Rank to = 0; to < p; ++to) {
      routes.push_back({from, to, {}});
      routing.route(from, to, routes.back().path);
      routing.runs(from, to, routes.back().runs);
    }
  }
  return routes;
}

/// The routes of all combinations of signed moves, last dimension first; dimensions without
/// direction are left out.
std::vector<Route> routes_by_moves(const Routing& routing) {
  const Topology& topology = routing.topology();
  std::vector<Route> routes;
  for (Rank from = 0; from < topology.nodes(); ++from) {
    std::vector<std::vector<Move>> lists{{}};
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      const Graph& graph = topology.factor(d);
      if (!graph.has_direction()) continue;
      std::vector<std::vector<Move>> longer;
      for (const auto& moves : lists) {
        for (int hops = 1 - graph.nodes(); hops < graph.nodes(); ++hops) {
          if (graph.moved(topology.coordinate(from, d), hops) < 0) continue;
          longer.push_back(moves);
          longer.back().push_back({d, hops});
        }
      }
      lists = std::move(longer);
    }
    for (const auto& moves : lists) {
      Route route{from, 0, {}};
      route.to = routing.route(from, moves, route.path);
      CHECK(routing.runs(from, moves, route.runs) == route.to);
      routes.push_back(std::move(route));
    }
  }
  return routes;
}

std::vector<Route> all_routes(const Routing& routing) {
  std::vector<Route> routes = routes_by_rank(routing);
  std::ranges::move(routes_by_moves(routing), std::back_inserter(routes));
  return routes;
}

/// Nothing if each channel of the route starts where the one before it ends, from the first node to
/// the last one.
std::string broken(const Topology& topology, const Routing& routing, const Route& route) {
  Rank at = route.from;  // the node, or the last one before the switches
  Topology::Place last{-1, -1, -1};
  for (const Channel channel : route.path) {
    const Topology::Place place = topology.place(routing.link(channel));
    const Graph& graph = topology.factor(place.dimension);
    const Rank vertex = graph.ends(place.link).from;
    if (vertex < graph.nodes()) {
      if (topology.on_line(place.dimension, place.line, vertex) != at) return "starts elsewhere";
    } else if (last.dimension != place.dimension || last.line != place.line ||
               graph.ends(last.link).to != vertex) {
      return "leaves another switch";
    }
    if (const Rank end = graph.ends(place.link).to; end < graph.nodes()) {
      at = topology.on_line(place.dimension, place.line, end);
    }
    last = place;
  }
  return at == route.to ? "" : "ends elsewhere";
}

}  // namespace

TEST_CASE("the runs of a route are its links, in order", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())), GENERATE(1, 2));
  CAPTURE(routing.topology().name());
  std::size_t runs = 0, hops = 0;
  for (const Route& route : all_routes(routing)) {
    std::vector<Link> links, of_runs;
    for (const Channel channel : route.path) links.push_back(routing.link(channel));
    for (const LinkRun& run : route.runs) {
      for (int i = 0; i < run.count; ++i) of_runs.push_back(run.first + Link{run.step} * i);
      REQUIRE(of_runs.back() == run.last());
    }
    REQUIRE(of_runs == links);
    runs += route.runs.size(), hops += links.size();
  }
  CHECK(runs <= hops);
  const Topology ring = Topology::parse("ring:6");
  std::vector<LinkRun> round;
  CHECK_THROWS_WITH(Routing(ring, 1).runs(1, std::vector<Move>{{0, 4}, {0, 3}}, round),
                    Contains("twice"));
}

TEST_CASE("a route by rank is a contiguous path to its destination", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())), GENERATE(1, 2));
  CAPTURE(routing.topology().name());
  for (const Route& route : routes_by_rank(routing)) {
    CAPTURE(route.from, route.to);
    REQUIRE(broken(routing.topology(), routing, route) == "");
  }
}

TEST_CASE("a route by moves is a contiguous path of the hops that the moves say", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())));
  const Topology& topology = routing.topology();
  CAPTURE(topology.name());
  for (const Route& route : routes_by_moves(routing)) {
    CAPTURE(route.from, route.to);
    REQUIRE(broken(topology, routing, route) == "");
  }
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (!topology.factor(d).has_direction()) continue;
    for (int hops = 1; hops < topology.size(d); ++hops) {
      for (const int sign : {+1, -1}) {
        if (topology.factor(d).moved(0, sign * hops) < 0) continue;
        std::vector<Channel> path;
        const std::vector<Move> moves{{d, sign * hops}};
        REQUIRE(routing.route(0, moves, path) == topology.neighbour(0, d, sign * hops));
        REQUIRE(path.size() == static_cast<std::size_t>(hops));
      }
    }
  }
}

TEST_CASE("a route by rank is as long as the distances in its dimensions together", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())));
  const Topology& topology = routing.topology();
  CAPTURE(topology.name());
  std::vector<std::vector<std::vector<int>>> distances;  // by dimension, from, to
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).shape() == Shape::graph) return;  // up*/down* routes may be longer
    distances.emplace_back();
    for (Rank from = 0; from < topology.size(d); ++from) {
      distances.back().push_back(samples::distances(topology.factor(d), from));
    }
  }
  for (const Route& route : routes_by_rank(routing)) {
    std::size_t distance = 0;
    for (int d = 0; d < topology.dimensions(); ++d) {
      distance +=
          distances[d][topology.coordinate(route.from, d)][topology.coordinate(route.to, d)];
    }
    CAPTURE(route.from, route.to);
    REQUIRE(route.path.size() == distance);
  }
}

TEST_CASE("a route takes its dimensions in order, the last one first", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())));
  CAPTURE(routing.topology().name());
  const auto dimension = [&](Channel channel) {
    return routing.topology().place(routing.link(channel)).dimension;
  };
  for (const Route& route : routes_by_rank(routing)) {
    REQUIRE(std::ranges::is_sorted(route.path, std::greater{}, dimension));
  }
}

TEST_CASE("a route by rank is the route of its signed hops", "[routing]") {
  const Routing routing(Topology::parse(
      GENERATE("torus:4x5", "torus:2x3x4", "mesh:3x4", "hypercube:4", "ring:4*line:3")));
  const Topology& topology = routing.topology();
  for (const Route& route : routes_by_rank(routing)) {
    std::vector<Move> moves;
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      moves.push_back({d, topology.factor(d).hops(topology.coordinate(route.from, d),
                                                  topology.coordinate(route.to, d))});
    }
    std::vector<Channel> path;
    REQUIRE(routing.route(route.from, moves, path) == route.to);
    REQUIRE(path == route.path);
  }
}

TEST_CASE("moves are travelled in the order given, with the sign given", "[routing]") {
  const Routing routing(Topology::parse("torus:4x4"), 1);
  const auto names = [&](Rank from, const std::vector<Move>& moves) {
    std::vector<Channel> path;
    routing.route(from, moves, path);
    std::string text;
    for (const Channel channel : path) text += routing.channel_name(channel) + " ";
    return text;
  };
  CHECK(names(0, {{1, +2}, {0, +1}}) == "0->1 1->2 2->6 ");
  CHECK(names(0, {{0, +1}, {1, +2}}) == "0->4 4->5 5->6 ");
  CHECK(names(0, {{1, -2}}) == "0->3 3->2 ");
  CHECK(names(0, {{1, +3}}) == "0->1 1->2 2->3 ");
  CHECK(names(0, {{1, 0}}).empty());
  CHECK(names(0, {}).empty());
  CHECK(names(0, {{1, +1}, {0, +1}, {1, +1}}) == "0->1 1->5 5->6 ");
}

TEST_CASE("routes are appended to the path", "[routing]") {
  const Routing routing(Topology::parse("mesh:3x3"));
  std::vector<Channel> path{77};
  routing.route(0, 8, path);
  CHECK(path.size() == 5);
  const std::vector<Move> moves{{1, -1}};
  routing.route(8, moves, path);
  CHECK(path.size() == 6);
  CHECK(path.front() == 77);
}

TEST_CASE("a move in a complete dimension is one hop, to the node that many numbers on",
          "[routing]") {
  const Routing routing(Topology::parse("ring:4*complete:5"));
  for (Rank from = 0; from < 20; ++from) {
    for (int hops = -4; hops <= 4; ++hops) {
      std::vector<Channel> moved, routed;
      const std::vector<Move> moves{{1, hops}, {0, 1}};
      const Rank to = routing.route(from, moves, moved);
      CHECK(to == (from / 5 + 1) % 4 * 5 + (from % 5 + hops + 5) % 5);
      routing.route(from, to, routed);
      CHECK(moved == routed);
    }
  }
  std::vector<Channel> path;
  const std::vector<Move> round{{1, 5}};
  CHECK_THROWS_WITH(routing.route(0, round, path), Contains("once round is 5"));
}

TEST_CASE("moves that lead nowhere are usage errors", "[routing]") {
  const Routing routing(Topology::parse("ring:4*line:3*star:3"));
  const auto route = [&](std::vector<Move> moves) {
    std::vector<Channel> path;
    return routing.route(0, moves, path);
  };
  CHECK_THROWS_WITH(route({{2, 1}}), Contains("no direction"));
  CHECK_THROWS_WITH(route({{1, -1}}), Contains("line of 3"));
  CHECK_THROWS_WITH(route({{1, 2}, {1, 1}}), Contains("line of 3"));
  CHECK_THROWS_WITH(route({{0, 4}}), Contains("once round"));
  CHECK_THROWS_WITH(route({{3, 1}}), Contains("dimensions are 0 to 2"));
  CHECK_THROWS_WITH(route({{0, 3}, {0, 3}, {0, 3}}), Contains("twice"));
  CHECK_THROWS_AS(route({{0, 3}, {0, 3}, {0, 3}}), UsageError);
  CHECK_THROWS_AS(Routing(Topology::parse("ring:4"), 3), UsageError);
  CHECK_THROWS_AS(Routing(Topology::parse("ring:4"), 0), UsageError);
}

TEST_CASE("each channel is one lane of one link, rings of 3 or more have two", "[routing]") {
  const int virtual_channels = GENERATE(1, 2);
  const Routing routing(GENERATE(from_range(topologies())), virtual_channels);
  const Topology& topology = routing.topology();
  CAPTURE(topology.name(), virtual_channels);
  std::set<std::pair<Link, int>> seen;
  Channel expected = 0;
  for (Channel channel = 0; channel < routing.channels(); ++channel) {
    const Link link = routing.link(channel);
    const int lane = routing.virtual_channel(channel);
    REQUIRE((link >= 0 && link < topology.links()));
    REQUIRE(seen.emplace(link, lane).second);
    const bool two =
        virtual_channels == 2 && topology.factor(topology.place(link).dimension).wraps();
    REQUIRE((lane >= 0 && lane < (two ? 2 : 1)));
    const std::string suffix = two ? (lane == 0 ? " vc 0" : " vc 1") : "";
    REQUIRE(routing.channel_name(channel) == topology.link_name(link) + suffix);
  }
  for (Link link = 0; link < topology.links(); ++link) {
    expected += topology.factor(topology.place(link).dimension).wraps() ? virtual_channels : 1;
  }
  CHECK(routing.channels() == expected);
}

TEST_CASE("a worm changes to channel 1 on the link that closes the ring", "[routing]") {
  const Routing routing(Topology::parse("ring:5"));
  const auto names = [&](Rank from, int hops) {
    std::vector<Channel> path;
    routing.route(from, std::vector<Move>{{0, hops}}, path);
    std::string text;
    for (const Channel channel : path) text += routing.channel_name(channel) + ", ";
    return text;
  };
  CHECK(names(3, +3) == "3->4 vc 0, 4->0 vc 1, 0->1 vc 1, ");
  CHECK(names(1, -3) == "1->0 vc 0, 0->4 vc 1, 4->3 vc 1, ");
  CHECK(names(0, +4) == "0->1 vc 0, 1->2 vc 0, 2->3 vc 0, 3->4 vc 0, ");
  CHECK(names(4, +1) == "4->0 vc 1, ");
}

TEST_CASE("two channels that a route takes in a row within a dimension are among its turns",
          "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())), GENERATE(1, 2));
  const Topology& topology = routing.topology();
  CAPTURE(topology.name(), routing.virtual_channels());
  std::vector<Dependencies> turns, taken(topology.dimensions());
  for (int d = 0; d < topology.dimensions(); ++d) {
    const auto list = routing.turns(d);
    turns.emplace_back(list.begin(), list.end());
    REQUIRE(turns.back().size() == list.size());
  }
  const auto relative = [&](Channel channel, const Topology::Place& place) {
    const int lanes = topology.factor(place.dimension).wraps() ? routing.virtual_channels() : 1;
    return place.link * lanes + routing.virtual_channel(channel);
  };
  for (const Route& route : all_routes(routing)) {
    for (std::size_t i = 1; i < route.path.size(); ++i) {
      const Topology::Place in = topology.place(routing.link(route.path[i - 1]));
      const Topology::Place out = topology.place(routing.link(route.path[i]));
      if (in.dimension != out.dimension) continue;
      REQUIRE(in.line == out.line);
      const std::pair turn{relative(route.path[i - 1], in), relative(route.path[i], out)};
      if (turns[in.dimension].count(turn) == 0) FAIL("turn " << turn.first << " " << turn.second);
      taken[in.dimension].insert(turn);
    }
  }
  // On lines and rings nothing else is among them: each is taken by some signed move.
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).has_direction()) CHECK(taken[d] == turns[d]);
  }
}

namespace {

std::vector<std::pair<Channel, Channel>> dependencies_of(const Routing& routing) {
  Dependencies all;
  for (const Route& route : all_routes(routing)) {
    for (std::size_t i = 1; i < route.path.size(); ++i) {
      all.emplace(route.path[i - 1], route.path[i]);
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("the channels of all routes depend on each other without a cycle", "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())));
  CAPTURE(routing.topology().name());
  CHECK_FALSE(find_cycle(routing.channels(), dependencies_of(routing)).has_value());
  CHECK(dependency_cycle(routing) == std::nullopt);
}

TEST_CASE("rings without a dateline are cyclic, in the full dependency graph and in the short one",
          "[routing]") {
  const Routing routing(GENERATE(from_range(topologies())), 1);
  const Topology& topology = routing.topology();
  CAPTURE(topology.name());
  bool rings = false;
  for (int d = 0; d < topology.dimensions(); ++d) rings = rings || topology.factor(d).wraps();
  CHECK(find_cycle(routing.channels(), dependencies_of(routing)).has_value() == rings);
  CHECK(dependency_cycle(routing).has_value() == rings);
}

TEST_CASE("the cycle of a ring without a dateline is named by its links", "[routing]") {
  const auto cycle = [](const char* text) {
    return dependency_cycle(Routing(Topology::parse(text), 1)).value_or("none");
  };
  CHECK(cycle("ring:3") == "0->1, 1->2, 2->0");
  CHECK(cycle("ring:4") == "0->1, 1->2, 2->3, 3->0");
  CHECK(cycle("ring:5") == "0->1, 1->2, 2->3, 3->4, 4->0");
  CHECK(cycle("torus:4x3") == "0->3, 3->6, 6->9, 9->0");
  CHECK(cycle("torus:2x3") == "0->1, 1->2, 2->0");
  CHECK(cycle("line:4*ring:3") == "0->1, 1->2, 2->0");
  CHECK(cycle("torus:2x2") == "none");
}

TEST_CASE("big networks are checked for cycles by their dimensions alone", "[routing]") {
  for (const char* text : {"complete:4096", "hypercube:20", "torus:1024x1024", "tree:4096"}) {
    CAPTURE(text);
    CHECK(dependency_cycle(Routing(Topology::parse(text))) == std::nullopt);
  }
}

TEST_CASE("a cycle that is reported is one, and is found if there is one", "[routing]") {
  const unsigned seed = GENERATE(range(1U, 200U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto count = static_cast<Channel>(1 + random() % 30);
  std::vector<std::pair<Channel, Channel>> dependencies(random() % (2 * count));
  for (auto& [held, wanted] : dependencies) {
    held = random() % count;
    wanted = random() % count;
  }
  const auto cycle = find_cycle(count, dependencies);
  if (cycle) {
    REQUIRE_FALSE(cycle->empty());
    for (std::size_t i = 0; i < cycle->size(); ++i) {
      const std::pair edge{(*cycle)[i], (*cycle)[(i + 1) % cycle->size()]};
      REQUIRE(std::ranges::count(dependencies, edge) > 0);
    }
    REQUIRE(std::set<Channel>(cycle->begin(), cycle->end()).size() == cycle->size());
  }
  // Oracle: repeatedly remove what depends on nothing that is left. A cycle is what
  // cannot be taken away.
  std::set<Channel> left;
  for (Channel c = 0; c < count; ++c) left.insert(c);
  const auto is_free = [&](Channel c) {
    return std::ranges::none_of(dependencies, [&](const auto& dependency) {
      return dependency.first == c && left.count(dependency.second) > 0;
    });
  };
  while (std::erase_if(left, is_free) > 0) {
  }
  CHECK(cycle.has_value() == !left.empty());
}

TEST_CASE("of up*/down* turns there is a cycle exactly where the full list of turns has one",
          "[routing]") {
  const unsigned seed = GENERATE(range(1U, 300U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Rank n = 3 + static_cast<Rank>(random() % 6);
  std::vector<Graph::Ends> links;
  std::vector<bool> goes_up;
  for (Rank u = 0; u < n; ++u) {
    for (Rank v = u + 1; v < n; ++v) {
      if (random() % 3 == 0) continue;
      // By number, as it should be, or at random: then there may be cycles of ups.
      const bool up = seed % 3 == 0 ? false : random() % 2 == 0;
      links.push_back({u, v});
      goes_up.push_back(up);
      links.push_back({v, u});
      goes_up.push_back(!up);
    }
  }
  std::vector<std::pair<Channel, Channel>> turns;
  const auto count = static_cast<Channel>(links.size());
  for (Channel in = 0; in < count; ++in) {
    for (Channel out = 0; out < count; ++out) {
      if (links[in].to == links[out].from && links[in].from != links[out].to &&
          (goes_up[in] || !goes_up[out])) {
        turns.emplace_back(in, out);
      }
    }
  }
  const auto cycle = find_up_down_cycle(links, goes_up);
  CHECK(cycle.has_value() == find_cycle(count, turns).has_value());
  if (seed % 3 == 0) CHECK_FALSE(cycle.has_value());
  for (std::size_t i = 0; cycle && i < cycle->size(); ++i) {
    const Channel in = (*cycle)[i], out = (*cycle)[(i + 1) % cycle->size()];
    REQUIRE(links[in].to == links[out].from);
    REQUIRE((goes_up[in] || !goes_up[out]));
  }
}

TEST_CASE("three links up round a triangle are a cycle", "[routing]") {
  const std::vector<Graph::Ends> links{{0, 1}, {1, 2}, {2, 0}, {1, 0}, {2, 1}, {0, 2}};
  const auto cycle = find_up_down_cycle(links, {true, true, true, false, false, false});
  REQUIRE(cycle.has_value());
  CHECK(cycle->size() == 3);
  CHECK_FALSE(find_up_down_cycle(links, {false, false, true, true, true, false}).has_value());
}

TEST_CASE("a complete graph of 1024 nodes in a table is checked in memory linear in its links",
          "[routing]") {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank u = 0; u < 1024; ++u) {
    for (Rank v = u + 1; v < 1024; ++v) edges.emplace_back(u, v);
  }
  const Routing routing(Topology({Graph::arbitrary(1024, edges, "k1024")}));
  CHECK(dependency_cycle(routing) == std::nullopt);
  CHECK(routing.topology().factor(0).diameter() == 1);
}

TEST_CASE("one added dependency that closes a cycle is found", "[routing]") {
  const Routing routing(Topology::parse(GENERATE("ring:5", "torus:3x4", "tree:8", "mesh:3x3")));
  auto dependencies = dependencies_of(routing);
  REQUIRE_FALSE(find_cycle(routing.channels(), dependencies).has_value());
  const auto [held, wanted] = dependencies.at(dependencies.size() / 2);
  dependencies.emplace_back(wanted, held);
  const auto cycle = find_cycle(routing.channels(), dependencies);
  REQUIRE(cycle.has_value());
  for (std::size_t i = 0; i < cycle->size(); ++i) {
    const std::pair edge{(*cycle)[i], (*cycle)[(i + 1) % cycle->size()]};
    CHECK(std::ranges::count(dependencies, edge) > 0);
  }
}

TEST_CASE("nothing depends on nothing", "[routing]") {
  CHECK_FALSE(find_cycle(0, {}).has_value());
  CHECK_FALSE(find_cycle(5, {}).has_value());
  const std::vector<std::pair<Channel, Channel>> self{{3, 3}};
  CHECK(find_cycle(5, self) == std::vector<Channel>{3});
}
