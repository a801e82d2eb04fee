// Rings through all nodes: worked examples, formulas, preserved orders, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/kit/ring.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

Arguments with_operator(const char* operation, const char* type) {
  Arguments arguments;
  arguments.reduction = find_reduction(operation, type);
  return arguments;
}

CheckResult checked_on(const char* network, Operation operation, const std::string& algorithm,
                       bool all_port = false, Arguments arguments = {}) {
  if (operation->reduces && !arguments.reduction.apply) {
    arguments = with_operator("sum", "int64");
  }
  const CheckResult result = check_collective(parse_collective(operation, algorithm, arguments),
                                              Topology::parse(network), {.all_port = all_port});
  INFO(network << " " << algorithm);
  CHECK(result.failures == std::vector<std::string>{});
  CHECK(result.delivered == true);
  return result;
}

constexpr const char* many_networks[]{
    "line:1",    "line:2",      "line:3",          "line:7",        "ring:3",     "ring:8",
    "ring:13",   "tree:2",      "tree:5",          "tree:16",       "complete:3", "complete:9",
    "mesh:3x3",  "mesh:4x3",    "mesh:5x7",        "mesh:2x3x4",    "mesh:1x4",   "torus:3x5",
    "torus:4x6", "torus:3x3x3", "hypercube:1",     "hypercube:4",   "ghc:4x3",    "ring:4*line:3",
    "petersen",  "star:6",      "circulant:9+1+3", "tree:5*line:3", "ccc:3",      "star-graph:4"};

}  // namespace

TEST_CASE("a ring takes its formula on every network: counted and proved", "[collectives]") {
  for (const char* const network : many_networks) {
    CAPTURE(network);
    const double p = Topology::parse(network).nodes();
    const bool is_graph = Topology::parse(network).factor(0).shape() == Shape::graph;
    for (const char* const order : {"ring", "rank"}) {
      const std::string name = fmt::format("ring:order={}", order);
      for (const Operation operation : {operations::allgather, operations::reduce_scatter}) {
        const CheckResult result = checked_on(network, operation, name);
        CHECK(result.report.startups == p - 1);
        CHECK(result.transmission_blocks == p - 1);
        if (!is_graph) CHECK(result.report.link_load_max == (p > 1 ? 1 : 0));
      }
      for (const int segments : {1, 3}) {
        const CheckResult result = checked_on(network, operations::allreduce,
                                              fmt::format("{}:segments={}", name, segments));
        CHECK(result.report.startups == (segments + 1) * (p - 1));
        CHECK(result.transmission_blocks == Approx(2 * (p - 1) / p));
        CHECK(result.combined_blocks == Approx((p - 1) / p));
      }
    }
  }
}

TEST_CASE("a ring in the order of ranks keeps that order, with a second partial result",
          "[collectives]") {
  const Arguments compose = with_operator("compose", "affine");
  for (const char* const network : many_networks) {
    CAPTURE(network);
    const double p = Topology::parse(network).nodes();
    const CheckResult scattered =
        checked_on(network, operations::reduce_scatter, "ring:order=rank", false, compose);
    const CheckResult reduced =
        checked_on(network, operations::allreduce, "ring:order=rank", false, compose);
    if (p < 3) continue;
    CHECK(scattered.transmission_blocks == 2 * (p - 1) - 1);
    CHECK(scattered.combined_blocks == p);
    CHECK(reduced.transmission_blocks == Approx((3 * (p - 1) - 1) / p));
    CHECK(reduced.combined_blocks == Approx(1));
  }
  // On a ring the network's order is the order of ranks.
  checked_on("ring:5", operations::allreduce, "ring", false, compose);
  const auto why = refusal(parse_collective(operations::allreduce, "ring", compose),
                           Topology::parse("mesh:3x3"));
  CHECK_THAT(why.value_or(""), Contains("compose") && Contains("use order=rank"));
}

TEST_CASE("a ring of 4 reduces a vector in 6 start-ups and 1.5 vectors", "[collectives]") {
  const Collective ring =
      parse_collective(operations::allreduce, "ring", with_operator("sum", "int64"));
  const CheckResult result = check_collective(ring, Topology::parse("ring:4"), {});
  CHECK(result.report.startups == 6);
  CHECK(result.transmission_blocks == 1.5);
}

TEST_CASE("a ring is free of contention where trees of doubling share links", "[collectives]") {
  const CheckResult tree = checked_on("tree:16", operations::allgather, "ring");
  CHECK(tree.report.startups == 15);
  CHECK(tree.link_blocks == 15);
  // A mesh of odd sides: one hop of two links.
  const CheckResult mesh = checked_on("mesh:5x7", operations::allreduce, "ring");
  CHECK(mesh.report.startups == 68);
  CHECK(mesh.link_blocks == Approx(68.0 / 35));
}

TEST_CASE("edge-disjoint cycles take all-gathers to the bound, on unequal sides too",
          "[collectives]") {
  for (const char* const network :
       {"line:1",    "ring:3",    "ring:4",     "ring:5",    "ring:8",      "ring:13",
        "torus:1x5", "torus:3x3", "torus:3x4",  "torus:4x3", "torus:3x5",   "torus:5x3",
        "torus:4x4", "torus:4x5", "torus:4x6",  "torus:6x4", "torus:5x5",   "torus:3x8",
        "torus:8x3", "torus:4x8", "torus:6x10", "torus:7x7", "torus:3x1x7", "torus:9x4",
        "torus:8x8", "torus:3x11"}) {
    CAPTURE(network);
    const Topology topology = Topology::parse(network);
    const double p = topology.nodes();
    const double h = p == 1 ? 1 : topology.ports(0);
    for (const Operation operation : {operations::allgather, operations::reduce_scatter}) {
      const CheckResult result = checked_on(network, operation, "multi-ring", true);
      CHECK(result.report.startups == p - 1);
      CHECK(result.link_blocks == Approx((p - 1) / h));
    }
    const CheckResult result = checked_on(network, operations::allreduce, "multi-ring", true);
    CHECK(result.report.startups == 2 * (p - 1));
    CHECK(result.link_blocks == Approx(2 * (p - 1) / (h * p)));
  }
  for (const char* const network :
       {"torus:3x3x3", "torus:2x4", "ring:2", "mesh:3x3", "complete:5"}) {
    CAPTURE(network);
    const auto why =
        refusal(parse_collective(operations::allgather, "multi-ring"), Topology::parse(network));
    CHECK_THAT(why.value_or(""), Contains("multi-ring: needs a ring or a 2-D torus"));
  }
}
