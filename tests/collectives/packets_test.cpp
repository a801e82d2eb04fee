// How many packets a message is split into, also for constants without a best number.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/packets.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("the best number of packets is a square root, of at least 1 and at most one a byte",
          "[collectives]") {
  CHECK(best_packets(40'000, 5, {.startup_us = 2, .transfer_us = 0.001}) == 10);
  CHECK(best_packets(40'000, 5, {.startup_us = 1e6, .transfer_us = 0.001}) == 1);
  CHECK(best_packets(7, 5, {.startup_us = 1e-9, .transfer_us = 1, .hop_us = 0}) == 7);
  CHECK(best_packets(40'000, 0, {}) == 1);
}

TEST_CASE("without start-ups there is no best number of packets, but a most", "[collectives]") {
  CHECK(best_packets(64, 2, {.startup_us = 0, .hop_us = 0}) == 64);
  CHECK(best_packets(Bytes{1} << 30, 2, {.startup_us = 0, .hop_us = 0}) == 4096);
  CHECK(best_packets(Bytes{1} << 30, 2, {.startup_us = 1e-300, .hop_us = 0}) == 4096);
  CHECK(best_packets(0, 2, {.startup_us = 0, .hop_us = 0}) == 1);
  CHECK(best_packets(64, 2, {.startup_us = 0, .transfer_us = 0}) == 1);
}

TEST_CASE("packets=0 is never more packets than bytes", "[collectives]") {
  const Topology cube = Topology::parse("hypercube:3");
  for (const auto& [operation, name] : {std::pair(operations::broadcast, "pipelined"),
                                        std::pair(operations::broadcast, "circulant"),
                                        std::pair(operations::reduce, "circulant")}) {
    Arguments sum;
    if (operation.reduces) sum.reduction = find_reduction("sum", "double");
    Collective collective(find_algorithm(operation, name), sum);
    collective.settle(cube, {.startup_us = 0, .hop_us = 0}, 64);
    CHECK(collective.options.number("packets") == 64);
  }
}

TEST_CASE("as many packets as the option accepts can be checked", "[collectives]") {
  const Topology ring = Topology::parse("ring:3");
  const std::string most = std::to_string(most_packets);
  Arguments sum;
  sum.reduction = find_reduction("sum", "double");
  CHECK(check_collective(parse_collective(operations::broadcast, "circulant:packets=" + most), ring)
            .passed());
  CHECK(
      check_collective(parse_collective(operations::reduce, "circulant:packets=" + most, sum), ring)
          .passed());
  CHECK_THROWS_WITH(parse_collective(operations::broadcast,
                                     "circulant:packets=" + std::to_string(most_packets + 1)),
                    Contains("packets is '32769'; need 0..32768"));
}

TEST_CASE("a block with more parts than a dry run distinguishes is refused", "[collectives]") {
  const Topology cube = Topology::parse("hypercube:16");
  Arguments sum;
  sum.reduction = find_reduction("sum", "double");
  CHECK_THROWS_WITH(
      check_collective(parse_collective(operations::allreduce, "reduce-scatter-allgather", sum),
                       cube),
      Contains("cuts a block into 65536 parts; a dry run distinguishes up to 32768: use "));
}

TEST_CASE("the chosen number of packets is no slower than one, half or twice as many",
          "[collectives]") {
  const auto [network, startup_us] = GENERATE(table<const char*, double>({{"ring:9", 10},
                                                                          {"torus:4x4", 10},
                                                                          {"torus:8x8", 0.5},
                                                                          {"mesh:3x5", 10},
                                                                          {"hypercube:4", 0},
                                                                          {"complete:8", 1}}));
  const Bytes bytes = GENERATE(64, 1000, 65536, 1 << 20);
  const Topology topology = Topology::parse(network);
  const CostModel model{.startup_us = startup_us, .transfer_us = 0.001, .hop_us = 0.05};
  int compared = 0;
  for (const Operation operation : all_operations) {
    Arguments arguments;
    if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
    for (const Priced& priced : ranking({.operation = operation,
                                .topology = topology,
                                .block_bytes = bytes,
                                .ports = Ports::all,
                                .model = model,
                                .arguments = arguments,
                                .bits = Bits::any})) {
      const Algorithm& algorithm = *priced.collective.algorithm;
      if (algorithm.settle == nullptr || !priced.us) continue;
      Collective other = priced.collective;
      for (const char* name : {"packets", "segments"}) {
        if (std::ranges::none_of(algorithm.options,
                                 [&](const Option& option) { return option.name == name; }))
          continue;
        const std::int64_t chosen = priced.collective.options.number(name);
        for (const std::int64_t n : {std::int64_t{1}, chosen / 2, 2 * chosen}) {
          if (n < 1 || n > 4096) continue;
          other.options.set(name, std::to_string(n));
          const std::optional<double> us = weigh(other, topology, bytes).us(model, bytes);
          CAPTURE(network, bytes, operation->name, algorithm.name, chosen, n);
          if (us) {
            CHECK(*priced.us <= *us * (1 + 1e-12));
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 0);
}
