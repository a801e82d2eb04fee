// wormcube topology: the theory's figures, and networks from files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/families.hpp"
#include "wormcube/tests/cli/program.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <fstream>
#include <string>

#include <catch2/catch.hpp>

using wormcube::test::run_wormcube;
using wormcube::test::TemporaryFile;
using wormcube::test::with_addresses;

TEST_CASE("topology prints status and bounds as exact fractions and as numbers") {
  const auto torus = run_wormcube("topology 'torus:6x6' --node 3 --json -").json();
  CHECK(torus["average_status"] == "108");
  CHECK(torus["average_status_value"] == 108.0);
  CHECK(torus["status"] == 108);
  CHECK(torus["average_distance"] == "108/35");
  CHECK(torus["bound_one_port"] == "108");
  CHECK(torus["bound_cut"] == "27");
  CHECK(torus["bound_cut_searched"] == "all cuts across one dimension");
  CHECK(torus["bound_tree"].is_null());
  CHECK(torus["bound_tree_reason"].is_string());

  const auto ring = run_wormcube("topology ring:6 --json -").json();
  CHECK(ring["bound_cut"] == "9/2");
  CHECK(ring["bound_cut_value"] == 4.5);
  CHECK(ring["bound_cut_cables"] == 2);
  CHECK(run_wormcube("topology line:4 --json -").json()["bound_tree"] == 7);
  CHECK_THAT(run_wormcube("topology line:5").out,
             Catch::Contains("average status   8, of single nodes 6 to 10") &&
                 Catch::Contains(
                     "one-port bound   12 steps of total exchange (the busiest node of a tree)"));
}

TEST_CASE("topology prints how many nodes are how far, and eccentricities") {
  const auto cube = run_wormcube("topology hypercube:3 --json -").json();
  CHECK(cube["nodes_at_distance"] == nlohmann::json{1, 3, 3, 1});
  CHECK(cube["distance_from"] == 0);
  CHECK(cube["nodes_alike"] == true);
  CHECK(cube["eccentricity"] == 3);
  const auto mesh = run_wormcube("topology mesh:3x3 --node 4 --json -").json();
  CHECK(mesh["nodes_at_distance"] == nlohmann::json{1, 4, 4});
  CHECK(mesh["distance_from"] == 4);
  CHECK(mesh["nodes_alike"] == false);
  CHECK(mesh["eccentricity_min"] == 2);
  CHECK(mesh["eccentricity_max"] == 4);
  CHECK_THAT(run_wormcube("topology hypercube:3").out,
             Catch::Contains("1 3 3 1 nodes at 0 to 3 links from any node (all look alike)") &&
                 Catch::Contains("3 of every node"));
  CHECK_THAT(run_wormcube("topology mesh:3x3").out,
             Catch::Contains("1 2 3 2 1 nodes at 0 to 4 links from node 0") &&
                 Catch::Contains("2 to 4 (radius and diameter)"));
}

TEST_CASE("topology says why a network has no such figures") {
  const auto tree = run_wormcube("topology tree:8 --json -").json();
  CHECK(tree["average_status"].is_null());
  CHECK(tree["bound_cut"] == "16");
  CHECK(tree["bound_tree"].is_null());
  CHECK_THAT(tree["bound_tree_reason"].get<std::string>(), Catch::Contains("only switch"));
  CHECK_THAT(tree["average_status_reason"].get<std::string>(),
             Catch::Contains("tree:8 has 7 inner vertices that only switch"));
  CHECK(run_wormcube("topology tree:8").exit == 0);
}

TEST_CASE("topology shows a dense graph of half a million edges within 1 GiB") {
  const TemporaryFile file(".txt");
  constexpr int n = sanitized ? 256 : 1024;
  {
    std::ofstream out(file.path());
    for (int u = 0; u < n; ++u) {
      for (int v = u + 1; v < n; ++v) out << u << ' ' << v << '\n';
    }
  }
  const std::string limit = sanitized ? "" : with_addresses(1024);  // shadow memory is terabytes
  const auto output = run_wormcube("topology graph:" + file.path() + " --json -", limit);
  REQUIRE(output.exit == 0);
  const auto graph = output.json();
  CHECK(graph["links"] == n * (n - 1));
  CHECK(graph["deadlock_free"] == true);
  CHECK(graph["average_status"] == std::to_string(n - 1));
  CHECK(graph["bound_cut"] == "1");
  CHECK(graph["bound_cut_searched"] == "all cuts");
}

TEST_CASE("topology shows a sparse graph of a million edges, without what would take too long") {
  const TemporaryFile file(".txt");
  constexpr int n = sanitized ? 25'000 : 300'000;
  {
    std::ofstream out(file.path());
    for (int v = 0; v < n; ++v) {
      for (const int step : {1, 7, 1000, 20'000}) out << v << ' ' << (v + step) % n << '\n';
    }
  }
  const auto output = run_wormcube("topology graph:" + file.path() + " --json -");
  REQUIRE(output.exit == 0);
  const auto graph = output.json();
  CHECK(graph["nodes"] == n);
  CHECK(graph["links"] == 8 * n);
  CHECK(graph["deadlock_free"] == true);
  CHECK(graph["diameter"].is_null());
  CHECK(graph["average_status"].is_null());
  CHECK_THAT(graph["average_status_reason"].get<std::string>(),
             Catch::Contains(std::to_string(n) + " nodes") && Catch::Contains("too long"));
  CHECK(graph["bound_cut_searched"] == "some cuts");

  // It can be shown, but no message can be routed in it.
  const auto route = run_wormcube("topology graph:" + file.path() + " --route 0,5");
  CHECK(route.exit == 2);
  CHECK_THAT(route.err,
             Catch::Contains(std::to_string(n) + " nodes") && Catch::Contains("up to 8192 nodes"));
}

TEST_CASE("topology's diameter is its largest eccentricity", "[cli]") {
  const char* const network = GENERATE("torus:4x6", "mesh:3x3", "petersen", "ring:4*line:3",
                                       "hypercube:3", "star:5", "tree:6", "ring:1", "ccc:3");
  CAPTURE(network);
  const auto json = run_wormcube(std::string("topology ") + network + " --json -").json();
  CHECK(json["diameter"] == json["eccentricity_max"]);
}

TEST_CASE("the documents have the table of network kinds", "[cli][docs]") {
  const std::string source = WORMCUBE_SOURCE_DIR;
  const std::string reference = wormcube::test::read_text(source + "/docs/reference/networks.md");
  for (const wormcube::NetworkKind& kind : wormcube::network_kinds()) {
    CAPTURE(kind.name);
    std::string row = "\n| `";
    row.append(kind.syntax).append("` | ").append(kind.meaning).append(" | ");
    row.append(kind.nodes).append(" |\n");
    CHECK(reference.find(row) != std::string::npos);
  }
}
