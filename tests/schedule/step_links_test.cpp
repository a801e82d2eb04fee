// The loads of a step's links, against counting link by link.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/step_links.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("the load of a step's busiest link, whether links have few messages or many",
          "[schedule]") {
  const std::string name =
      GENERATE("torus:5x4", "mesh:3x4", "ring:9", "hypercube:4", "ring:2", "complete:5", "tree:8");
  const Topology topology = Topology::parse(name);
  const Routing routing(topology);
  StepLinks links(topology, 8);
  std::mt19937 random(7);
  const auto below = [&](Rank end) {
    return std::uniform_int_distribution<Rank>(0, end - 1)(random);
  };
  int heavy = 0;
  for (const int messages : {0, 1, 5, 40, 2000}) {
    CAPTURE(name, messages);
    links.clear();
    std::map<Link, StepLinks::Counts> expected;
    std::vector<Link> order;
    std::int64_t hops = 0;
    for (int i = 0; i < messages; ++i) {
      const Rank from = below(topology.nodes()), to = below(topology.nodes());
      const auto bytes = static_cast<Bytes>(below(100));
      routing.runs(from, to, links.runs());
      std::vector<Channel> path;
      routing.route(from, to, path);
      CHECK(links.add(bytes) == static_cast<int>(path.size()));
      hops += static_cast<std::int64_t>(path.size());
      for (const Channel channel : path) {
        StepLinks::Counts& counts = expected[routing.link(channel)];
        if (counts.all++ == 0) order.push_back(routing.link(channel));
        counts.bytes += bytes;
      }
      if (path.empty()) continue;
      ++expected[routing.link(path.front())].first;
      ++expected[routing.link(path.back())].last;
    }
    heavy += hops > 2 * topology.links() ? 1 : 0;
    StepLinks::Load most;
    for (const auto& [link, counts] : expected) {
      most.messages = std::max(most.messages, counts.all);
      most.bytes = std::max(most.bytes, counts.bytes);
    }
    for (int again = 0; again < 2; ++again) {
      CHECK(links.most().messages == most.messages);
      CHECK(links.most().bytes == most.bytes);
      std::vector<Link> used;
      links.each([&](Link link, const StepLinks::Counts& counts) {
        used.push_back(link);
        const StepLinks::Counts& right = expected.at(link);
        CHECK((counts.all == right.all && counts.first == right.first &&
               counts.last == right.last && counts.bytes == right.bytes));
      });
      CHECK(used == order);
    }
  }
  CHECK(heavy > 0);
}
