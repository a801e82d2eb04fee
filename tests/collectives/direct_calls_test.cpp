// Collectives called as functions, without the registry, and with blocks cut by hand: what they cannot
// do every node refuses before its first step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/ring.hpp"
#include "wormcube/collectives/broadcast/binomial.hpp"
#include "wormcube/collectives/broadcast/halving.hpp"
#include "wormcube/collectives/broadcast/hypercube_all_port.hpp"
#include "wormcube/collectives/broadcast/mesh.hpp"
#include "wormcube/collectives/broadcast/naive.hpp"
#include "wormcube/collectives/broadcast/neighbours.hpp"
#include "wormcube/collectives/broadcast/pipelined.hpp"
#include "wormcube/collectives/broadcast/plan.hpp"
#include "wormcube/collectives/broadcast/recursive_doubling.hpp"
#include "wormcube/collectives/broadcast/scatter_allgather.hpp"
#include "wormcube/collectives/broadcast/umesh.hpp"
#include "wormcube/collectives/k_alltoall/direct.hpp"
#include "wormcube/collectives/k_alltoall/hypercube.hpp"
#include "wormcube/collectives/k_broadcast/bruck.hpp"
#include "wormcube/collectives/k_broadcast/hypercube.hpp"
#include "wormcube/collectives/k_broadcast/pipelined.hpp"
#include "wormcube/collectives/k_broadcast/split.hpp"
#include "wormcube/collectives/k_gather/direct.hpp"
#include "wormcube/collectives/k_gather/hypercube.hpp"
#include "wormcube/collectives/k_reduce/direct.hpp"
#include "wormcube/collectives/k_reduce/hypercube.hpp"
#include "wormcube/collectives/k_reduce/split.hpp"
#include "wormcube/collectives/k_to_all/sources.hpp"
#include "wormcube/collectives/permute/direct.hpp"
#include "wormcube/collectives/reduce/direct.hpp"
#include "wormcube/collectives/reduce/halving.hpp"
#include "wormcube/collectives/reduce/hypercube.hpp"
#include "wormcube/collectives/reduce/mesh.hpp"
#include "wormcube/collectives/reduce/reduce_scatter_gather.hpp"
#include "wormcube/collectives/reduce_scatter/bruck.hpp"
#include "wormcube/collectives/reduce_scatter/hypercube.hpp"
#include "wormcube/collectives/reduce_scatter/mesh.hpp"
#include "wormcube/collectives/reduce_scatter/pairwise.hpp"
#include "wormcube/collectives/reduce_scatter/ring.hpp"
#include "wormcube/collectives/scan/ring.hpp"
#include "wormcube/collectives/scatter/direct.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"
#include "wormcube/collectives/scatter/hypercube_all_port.hpp"
#include "wormcube/collectives/scatter/ring.hpp"
#include "wormcube/collectives/shift/direct.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <atomic>
#include <limits>
#include <mutex>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

constexpr auto most_int = std::numeric_limits<int>::max(),
               least_int = std::numeric_limits<int>::min();

/// The call is refused by this many nodes (-1: by all), before their first step, in words that say so.
void refused(const std::string& network, const Program& call, const std::string& text,
             int by = -1) {
  const Topology topology = Topology::parse(network);
  std::atomic<int> nodes = 0;
  std::mutex mutex;
  std::string other;
  record(topology, [&](Node& node) {
    cases::Tampering watched(node);
    try {
      call(watched);
    } catch (const UsageError& error) {
      const std::string said = error.what();
      if (watched.steps() == 0 && said.find(text) != std::string::npos) {
        ++nodes;
      } else {
        const std::scoped_lock lock(mutex);
        other = fmt::format("after {} steps: {}", watched.steps(), said);
      }
    }
  });
  INFO(network << ", should say '" << text << "'; said " << other);
  CHECK(nodes == (by < 0 ? topology.nodes() : by));
}

/// No node refuses the call.
void runs(const std::string& network, const Program& call) {
  INFO(network);
  CHECK_NOTHROW(record(Topology::parse(network), call));
}

Reduction sum() { return find_reduction("sum", "int32"); }

struct Rooted {
  std::string name;
  void (*call)(Node&, Rank root);
};

template <auto Broadcast>
Rooted broadcast(const char* name) {
  return {name, [](Node& node, Rank root) { Broadcast(node, node.memory(64), root); }};
}

/// At a node that is the root, result has room; none is where the root is no node.
using Reduce = void (*)(Node&, const Reduction&, ConstSpan, Span, Rank);
struct RootedReduction {
  const char* name;
  Reduce call;
};
constexpr std::array<RootedReduction, 5> reductions{{{"reduce_direct", reduce_direct},
                                                     {"reduce_halving", reduce_halving},
                                                     {"reduce_hypercube", reduce_hypercube},
                                                     {"reduce_mesh", reduce_mesh},
                                                     {"reduce_by_parts", reduce_by_parts}}};

std::vector<Rooted> rooted() {
  return {
      broadcast<broadcast_binomial>("broadcast_binomial"),
      broadcast<broadcast_halving>("broadcast_halving"),
      broadcast<broadcast_hypercube_all_port>("broadcast_hypercube_all_port"),
      broadcast<broadcast_mesh>("broadcast_mesh"),
      broadcast<broadcast_naive>("broadcast_naive"),
      broadcast<broadcast_neighbours>("broadcast_neighbours"),
      {"broadcast_pipelined",
       [](Node& node, Rank root) { broadcast_pipelined(node, node.memory(64), root); }},
      {"broadcast_recursive_doubling",
       [](Node& node, Rank root) { broadcast_recursive_doubling(node, node.memory(64), root); }},
      {"broadcast_rotated_doubling",
       [](Node& node, Rank root) { broadcast_rotated_doubling(node, node.memory(64), root, 1); }},
      {"broadcast_scatter_allgather",
       [](Node& node, Rank root) { broadcast_scatter_allgather(node, node.memory(64), root); }},
      {"plan", [](Node& node, Rank root) { broadcast_plan(node, node.memory(64), root); }},
      {"umesh", [](Node& node, Rank root) { broadcast_umesh(node, node.memory(64), root); }},
      {"scatter_direct",
       [](Node& node, Rank root) {
         scatter_direct(node, ConstBlocks(node.memory(64).span(), 8), node.memory(8), root);
       }},
      {"gather_direct",
       [](Node& node, Rank root) {
         gather_direct(node, node.memory(8), Blocks(node.memory(64), 8), root);
       }},
      {"scatter_ring",
       [](Node& node, Rank root) {
         scatter_ring(node, ConstBlocks(node.memory(64).span(), 8), node.memory(8), root);
       }},
      {"gather_ring",
       [](Node& node, Rank root) {
         gather_ring(node, node.memory(8), Blocks(node.memory(64), 8), root);
       }},
      {"scatter_by_halving",
       [](Node& node, Rank root) {
         scatter_by_halving(node, HalvingTree::image, ConstBlocks(node.memory(64).span(), 8),
                            node.memory(8), root);
       }},
      {"gather_by_halving",
       [](Node& node, Rank root) {
         gather_by_halving(node, HalvingTree::first, node.memory(8), Blocks(node.memory(64), 8),
                           root);
       }},
      {"scatter_hypercube_all_port",
       [](Node& node, Rank root) {
         scatter_hypercube_all_port(node, ConstBlocks(node.memory(64).span(), 8), node.memory(8),
                                    root);
       }},
      {"gather_hypercube_all_port", [](Node& node, Rank root) {
         gather_hypercube_all_port(node, node.memory(8), Blocks(node.memory(64), 8), root);
       }}};
}

/// A function with sources or targets, and what one of these gives or gets.
struct WithEnds {
  const char* name;
  Ends ends;
  bool each;  ///< a block for each node, not one
  void (*call)(Node&, std::span<const Rank>, ConstBlocks, Blocks);
};

template <auto Function>
void reducing(Node& node, std::span<const Rank> targets, ConstBlocks mine, Blocks result) {
  Function(node, sum(), targets, mine, result);
}

const std::vector<WithEnds>& with_ends() {
  static const std::vector<WithEnds> all{
      {"k_broadcast_bruck", Ends::sources, false, k_broadcast_bruck},
      {"k_broadcast_hypercube", Ends::sources, false,
       [](Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks) {
         k_broadcast_hypercube(node, sources, mine, blocks, BitOrder::ascending);
       }},
      {"k_broadcast_pipelined", Ends::sources, false, k_broadcast_pipelined},
      {"k_broadcast_split", Ends::sources, false, k_broadcast_split},
      {"k_alltoall_direct", Ends::sources, true, k_alltoall_direct},
      {"k_alltoall_hypercube", Ends::sources, true, k_alltoall_hypercube},
      {"k_reduce_direct", Ends::targets, false, reducing<k_reduce_direct>},
      {"k_reduce_hypercube", Ends::targets, false, reducing<k_reduce_hypercube>},
      {"k_reduce_split", Ends::targets, false, reducing<k_reduce_split>},
      {"k_gather_direct", Ends::targets, true, k_gather_direct},
      {"k_gather_hypercube", Ends::targets, true, k_gather_hypercube}};
  return all;
}

std::string network_of(const WithEnds& function) {
  return std::string(function.name) == "k_broadcast_pipelined" ? "ring:8" : "hypercube:3";
}

/// The call with blocks of so many bytes, as the list says.
Program call_with(const WithEnds& function, std::vector<Rank> list, Bytes bytes = 8) {
  return [&function, list, bytes](Node& node) {
    const bool is_end = std::ranges::find(list, node.rank()) != list.end();
    const auto k = static_cast<Rank>(list.size());
    const Rank here = !is_end ? 0 : function.each ? node.size() : 1;
    const Rank gives = function.ends == Ends::sources ? here : k,
               ends_with = function.ends == Ends::sources ? k : here;
    const Memory mine = node.memory(static_cast<Bytes>(gives) * bytes),
                 result = node.memory(static_cast<Bytes>(ends_with) * bytes);
    function.call(node, list, ConstBlocks(mine, gives), Blocks(result, ends_with));
  };
}

using ReduceScatter = void (*)(Node&, const Reduction&, ConstBlocks, Span);
constexpr std::array<std::pair<const char*, ReduceScatter>, 5> reduce_scatters{
    {{"reduce_scatter_bruck", reduce_scatter_bruck},
     {"reduce_scatter_hypercube", reduce_scatter_hypercube},
     {"reduce_scatter_mesh", reduce_scatter_mesh},
     {"reduce_scatter_pairwise", reduce_scatter_pairwise},
     {"reduce_scatter_ring", reduce_scatter_ring}}};

}  // namespace

TEST_CASE("a root that is no node is refused by every function that has one",
          "[collectives][direct_calls]") {
  for (const Rank root : {-1, 8, least_int, most_int}) {
    const std::string text = fmt::format(": root {} of 8 nodes; nodes are 0 to 7", root);
    for (const Rooted& function : rooted()) {
      const bool on_torus = function.name == "plan";
      refused(
          on_torus ? "torus:2x4" : "hypercube:3", [&](Node& node) { function.call(node, root); },
          function.name + text);
    }
    for (const auto& [name, reduce] : reductions) {
      refused(
          "hypercube:3",
          [&, reduce = reduce](Node& node) {
            const Memory mine = node.memory(8);
            reduce(node, sum(), mine, {}, root);
          },
          name + text);
    }
  }
}

TEST_CASE("recursive doubling by itself asks for what it asks for in the registry",
          "[collectives][direct_calls]") {
  const auto call = [](Rank root, RingTies ties) {
    return [=](Node& node) {
      broadcast_recursive_doubling(node, node.memory(8), root, DoublingOrder::descending, ties);
    };
  };
  refused("ring:6", call(1, RingTies::plus), "a root other than 0 needs a power of 2 of nodes");
  refused("ring:6", call(0, RingTies::balanced), "ties=balanced needs a power of 2 of nodes");
  runs("ring:6", call(0, RingTies::plus));
  runs("ring:8", call(5, RingTies::balanced));
}

TEST_CASE("a reduction to a root is of whole elements on every node, with room at the root",
          "[collectives][direct_calls]") {
  for (const auto& [name, reduce] : reductions) {
    const auto call = [reduce = reduce](Bytes bytes, Bytes room) {
      return [=](Node& node) {
        const Memory mine = node.memory(bytes), result = node.memory(node.rank() == 0 ? room : 0);
        reduce(node, sum(), mine, result, 0);
      };
    };
    const std::string start = std::string(name) + ": ";
    refused("hypercube:3", call(7, 7), start + "7 bytes; sum has elements of 4");
    refused("hypercube:3", call(8, 12), start + "node 0 has 8 bytes to give and room for 12", 1);
    runs("hypercube:3", call(8, 8));
  }
}

TEST_CASE("hypercube's reduction has any root of 2^d nodes, and node 0 of others",
          "[collectives][direct_calls]") {
  const auto to = [](Rank root) {
    return [root](Node& node) {
      const Memory mine = node.memory(8), result = node.memory(node.rank() == root ? 8 : 0);
      reduce_hypercube(node, sum(), mine, result, root);
    };
  };
  refused("ring:6", to(6), "reduce_hypercube: root 6 of 6 nodes; nodes are 0 to 5");
  refused("ring:6", to(1), "root 1 of 6 nodes; needs root 0, or a power of 2");
  runs("ring:6", to(0));
  runs("ring:8", to(3));
}

TEST_CASE("no function takes an empty list, one out of range, out of order, or twice the same node",
          "[collectives][direct_calls]") {
  for (const WithEnds& function : with_ends()) {
    const std::string network = network_of(function), start = std::string(function.name) + ": ",
                      one = function.ends == Ends::sources ? "source" : "target";
    INFO(function.name);
    refused(network, call_with(function, {}), start + "0 " + one + "s; name 1 or more");
    for (const Rank outside : {-1, least_int}) {
      refused(network, call_with(function, {outside, 3}),
              fmt::format("{}{} {} of 8 nodes; nodes are 0 to 7", start, one, outside));
    }
    for (const Rank outside : {8, 100000, most_int}) {
      refused(network, call_with(function, {3, outside}),
              fmt::format("{}{} {} of 8 nodes; nodes are 0 to 7", start, one, outside));
    }
    refused(network, call_with(function, {4, 1}), start + one + "s must ascend; 4 stands before 1");
    refused(network, call_with(function, {1, 4, 4, 6}),
            start + one + "s must ascend; 4 stands before 4");
    runs(network, call_with(function, {1, 6}));
  }
}

TEST_CASE("functions with sources or targets refuse blocks that are not theirs",
          "[collectives][direct_calls]") {
  for (const WithEnds& function : with_ends()) {
    const std::string network = network_of(function), start = std::string(function.name) + ": ";
    const std::vector<Rank> ends{1, 6};
    const bool gives_all = function.ends == Ends::targets;
    // Every node's two blocks are of 4 and 12 bytes.
    const auto uneven = [&](Node& node) {
      const std::array<Bytes, 3> two{0, 4, 16};
      const bool is_end = number_of(ends, node.rank()) >= 0;
      const Rank here = !is_end ? 0 : function.each ? 8 : 1;
      const Memory all = node.memory(16), other = node.memory(8 * static_cast<Bytes>(here));
      const Blocks cut(all, two), equal(other, here);
      function.call(node, ends, gives_all ? cut : equal, gives_all ? equal : cut);
    };
    refused(network, uneven, start + "blocks must all have one size");
    const auto too_many = [&](Node& node) {
      const Memory mine = node.memory(24), result = node.memory(24);
      function.call(node, ends, ConstBlocks(mine, 3), Blocks(result, 3));
    };
    refused(network, too_many, "has 3 blocks to give");
  }
}

TEST_CASE("blocks that end in the middle of an element are refused where they are combined",
          "[collectives][direct_calls]") {
  Reduction nothing = sum();
  nothing.element_bytes = 0;
  for (const auto& [name, reduce_scatter] : reduce_scatters) {
    const auto call = [reduce_scatter = reduce_scatter](const Reduction& reduction, Bytes bytes) {
      return [=](Node& node) {
        const Memory in = node.memory(8 * bytes), out = node.memory(bytes);
        reduce_scatter(node, reduction, ConstBlocks(in, 8), out);
      };
    };
    refused("ring:8", call(sum(), 6), std::string(name) + ": 6 bytes; sum has elements of 4");
    refused("ring:8", call(nothing, 8), std::string(name) + ": sum has elements of 0 bytes");
    refused("ring:8", call({}, 8), std::string(name) + ": needs a reduction operator");
    runs("ring:8", call(sum(), 8));
    // Only the last block is none of whole elements, on nodes that have another.
    const auto last = [reduce_scatter = reduce_scatter](Node& node) {
      const std::array<Bytes, 9> offsets{0, 4, 8, 12, 16, 20, 24, 28, 30};
      const Memory in = node.memory(30), out = node.memory(node.rank() == 7 ? 2 : 4);
      reduce_scatter(node, sum(), ConstBlocks(in, offsets), out);
    };
    refused("ring:8", last, std::string(name) + ": 2 bytes; sum has elements of 4");
  }
  for (const WithEnds& function : with_ends()) {
    if (std::string(function.name).find("k_reduce") != 0) continue;
    refused("hypercube:3", call_with(function, {1, 6}, 6),
            std::string(function.name) + ": 6 bytes; sum has elements of 4");
  }
}

TEST_CASE("a scatter to images needs 2^d nodes, and so does the gather",
          "[collectives][direct_calls]") {
  const auto scatter = [](Node& node) {
    const Bytes p = static_cast<Bytes>(node.size());
    const Memory out = node.memory(8 * p), own = node.memory(8);
    scatter_by_halving(node, HalvingTree::image, ConstBlocks(out, node.size()), own, 1);
  };
  const auto gather = [](Node& node) {
    const Bytes p = static_cast<Bytes>(node.size());
    const Memory in = node.memory(8 * p), own = node.memory(8);
    gather_by_halving(node, HalvingTree::image, own, Blocks(in, node.size()), 1);
  };
  for (const int p : {3, 5, 6, 7, 12, 31}) {
    const std::string text = fmt::format("needs a power of 2 of nodes; ring:{} has {}", p, p);
    refused(fmt::format("ring:{}", p), scatter, "scatter_by_halving: HalvingTree::image " + text);
    refused(fmt::format("ring:{}", p), gather, "gather_by_halving: HalvingTree::image " + text);
  }
  for (const char* const network : {"ring:2", "ring:8", "mesh:2x4"}) {
    runs(network, scatter);
    runs(network, gather);
  }
}

TEST_CASE("a scan along a line is in one segment or more", "[collectives][direct_calls]") {
  for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
    const auto call = [prefix](Rank segments) {
      return [=](Node& node) {
        const Memory mine = node.memory(8), result = node.memory(8);
        scan_ring(node, sum(), mine, result, prefix, segments);
      };
    };
    for (const Rank segments : {0, -1, least_int}) {
      refused("line:4", call(segments),
              fmt::format("scan_ring: {} segments; need 1 or more", segments));
    }
    runs("line:4", call(1));
    runs("line:4", call(5));
  }
}

TEST_CASE("a permutation needs its number of nodes", "[collectives][direct_calls]") {
  const auto call = [](Permutation permutation) {
    return [=](Node& node) {
      const Memory mine = node.memory(8), result = node.memory(8);
      permute_direct(node, permutation, ConstBlocks(mine, 1), Blocks(result, 1));
    };
  };
  refused("ring:6", call(Permutation::transpose),
          "permute_direct: transpose needs s x s nodes, not 6; use complement");
  refused("ring:6", call(Permutation::bit_reversal),
          "permute_direct: bit-reversal needs a power of 2 of nodes, not 6; use complement");
  runs("ring:6", call(Permutation::complement));
  runs("ring:9", call(Permutation::transpose));
  runs("ring:8", call(Permutation::bit_reversal));
}

TEST_CASE("networks are asked for by the functions themselves", "[collectives][direct_calls]") {
  refused(
      "complete:8", [](Node& node) { broadcast_umesh(node, node.memory(8), 0); },
      "umesh: every dimension must be a line or a ring");
  refused(
      "mesh:2x4",
      [](Node& node) {
        const Memory mine = node.memory(8), result = node.memory(8);
        allreduce_ring(node, sum(), mine, result);
      },
      "ring: ");
}

TEST_CASE("a shift by any number is one modulo the nodes", "[collectives][direct_calls]") {
  constexpr auto far = std::numeric_limits<std::int64_t>::max(),
                 back = std::numeric_limits<std::int64_t>::min();
  CHECK(shift_distance(far, 6) == 1);
  CHECK(shift_distance(back, 6) == 4);
  CHECK(shift_distance(back + 1, 6) == 5);
  for (const std::int64_t by : {far, far - 1, back, back + 1, std::int64_t{-1}, std::int64_t{0}}) {
    Arguments arguments;
    arguments.by = by;
    for (const char* const network : {"ring:1", "ring:6", "ring:7", "mesh:3x4", "hypercube:3"}) {
      const Topology topology = Topology::parse(network);
      const Rank p = topology.nodes();
      const Instance instance{p, arguments};
      for (Rank r = 0; r < p; ++r) {
        const Rank from = instance.shifted_from(r);
        CHECK((0 <= from && from < p));
        CHECK(mod(from + shift_distance(by, p), p) == r);
      }
      for (const Collective& shift : admitted(operations::shift, topology, arguments)) {
        INFO(cases::title(shift, topology));
        CHECK(cases::outcome(shift, topology).delivered);
      }
    }
  }
}

TEST_CASE("a shift's one block is cut by its number", "[collectives][direct_calls]") {
  const auto call = [](Node& node) {
    const std::array<Bytes, 2> out{0, 8}, in{4, 8};
    const Memory mine = node.memory(8), result = node.memory(8);
    shift_direct(node, 1, ConstBlocks(mine, out), Blocks(result, in));
  };
  refused("ring:4", call, "shift_direct: blocks must all have one size; cut them by their number");
}

TEST_CASE("packets take no more steps than can be counted", "[collectives][direct_calls]") {
  const Topology torus = Topology::parse("torus:4x4");
  for (const char* const name : {"plan", "peel", "quad", "squeeze", "wang-tseng", "umesh"}) {
    const auto with = [&](const char* options) {
      return parse_collective(operations::broadcast, std::string(name) + options);
    };
    const Collective far = with(":packets=65536:period=1048576");
    REQUIRE(refusal(far, torus).has_value());
    CHECK_THAT(*refusal(far, torus), Contains("65536 packets, one every 1048576 steps") &&
                                         Contains("at most 2147483647") &&
                                         Contains("use fewer packets or a shorter period"));
    // What is predicted is what they would take.
    const double tree = *with("").predict(torus).startups;
    CHECK(far.predict(torus).startups == 65536 * tree);  // idle steps between packets are none
    CHECK_FALSE(refusal(with(":packets=2048:period=1048576"), torus));
    CHECK(with(":packets=65536").predict(torus).startups == 65536 * tree);
  }
  const auto umesh = [](Packets packets) {
    return [=](Node& node) { broadcast_umesh(node, node.memory(8), 0, packets); };
  };
  for (const Packets packets :
       {Packets{most_int, 0}, Packets{most_int, most_int}, Packets{2, most_int},
        Packets{2, most_int - 1}, Packets{most_int, 1}}) {
    refused("ring:8", umesh(packets), "can be counted; use fewer packets or a shorter period");
  }
  for (const Packets packets : {Packets{least_int, 1}, Packets{0, 0}, Packets{1, -1}}) {
    refused("ring:8", umesh(packets), "need 1 packet or more");
  }
  runs("ring:8", umesh({3, 5}));
  CHECK(record(Topology::parse("ring:8"), umesh({3, 5})).steps() == 3 + 2 * 5);
  CHECK(record(Topology::parse("ring:1"), umesh({3, 5})).steps() == 0);

  const auto pipelined = [](Rank packets) {
    return [=](Node& node) { broadcast_pipelined(node, node.memory(8), 0, packets); };
  };
  for (const Rank packets : {-1, least_int, (1 << 20) + 1, most_int}) {
    refused(
        "hypercube:3", pipelined(packets),
        fmt::format("broadcast_pipelined: {} packets; need 1 to 32768, or 0 for the best number",
                    packets));
  }
  runs("hypercube:3", pipelined(5));
}

TEST_CASE("a collective refuses blocks of other elements than the operator's, block by block",
          "[collectives][direct_calls]") {
  Arguments arguments;
  arguments.reduction = sum();
  const auto called = [](const Collective& collective, Bytes in, Bytes out) {
    return [=](Node& node) {
      const Memory input = node.memory(in), output = node.memory(out);
      collective(node, input.span(), output.span());
    };
  };
  for (const char* const name : {"ring", "bruck", "hypercube", "pairwise", "mesh"}) {
    const Collective collective = parse_collective(operations::reduce_scatter, name, arguments);
    refused("ring:2", called(collective, 4, 2), "reduce_scatter: 2 bytes; sum has elements of 4");
    runs("ring:2", called(collective, 8, 4));
  }
  // The total is of whole elements, its blocks are not.
  const Collective uneven = parse_collective(operations::reduce_scatterv, "ring", arguments);
  refused(
      "ring:2",
      [&](Node& node) {
        const std::array<Bytes, 3> offsets{0, 2, 8};
        const std::array<Bytes, 2> room{0, node.rank() == 0 ? Bytes{2} : Bytes{6}};
        const Memory input = node.memory(8), output = node.memory(room[1]);
        uneven(node, ConstBlocks(input, offsets), Blocks(output, room), std::array<Bytes, 2>{2, 6});
      },
      "reduce_scatterv: 2 bytes; sum has elements of 4");

  arguments.reduction.element_bytes = 0;
  for (const Operation operation : all_operations) {
    if (!operation->reduces) continue;
    CHECK_THROWS_WITH(require_arguments(operation, 4, arguments),
                      std::string(operation->name) +
                          ": sum has elements of 0 bytes; give it the size of one, 1 or more");
  }
}

TEST_CASE("an operation of equal blocks refuses uneven ones, and names the one that takes them",
          "[collectives][direct_calls]") {
  const Topology topology = Topology::parse("ring:4");
  Arguments arguments;
  arguments.reduction = sum();
  std::vector<std::string> named;
  for (const Operation operation : all_operations) {
    if (operation->sizes != Sizes::equal || operation == Operation(operations::barrier)) continue;
    const Collective collective = admitted(operation, topology, arguments).front();
    const bool has_other = std::ranges::any_of(all_operations, [&](Operation other) {
      return other->name == std::string(operation->name) + "v";
    });
    if (has_other) named.emplace_back(operation->name);
    const std::string text =
        fmt::format("{}: blocks must all have one size; {}", operation->name,
                    has_other ? fmt::format("use {}v for others", operation->name)
                              : "cut them by their number, without offsets");
    refused(
        "ring:4",
        [&](Node& node) {
          const Instance instance{4, arguments};
          const auto offsets = [](Rank blocks) {
            std::vector<Bytes> all{0};
            for (Rank b = 0; b < blocks; ++b) all.push_back(all.back() + 4 * (Bytes{1} + b));
            return all;
          };
          const std::vector<Bytes> in = offsets(operation->gives(instance, node.rank())),
                                   out = offsets(operation->ends_with(instance, node.rank()));
          const Memory input = node.memory(in.back()), output = node.memory(out.back());
          collective(node, ConstBlocks(input, in), Blocks(output, out));
        },
        text);
  }
  CHECK(named ==
        std::vector<std::string>{"allgather", "reduce_scatter", "scatter", "gather", "alltoall"});
}

TEST_CASE("blocks are cut by offsets that ascend within the data", "[collectives][direct_calls]") {
  std::array<std::byte, 8> data{};
  const auto cut = [&](std::vector<Bytes> offsets) {
    const Blocks blocks(data, std::span<const Bytes>(offsets));
    return blocks.count();
  };
  CHECK_THROWS_WITH(cut({}), "blocks: 0 offsets; give one more than there are blocks, 1 or more");
  CHECK_THROWS_WITH(cut({0, 5, 4, 8}), "blocks: offsets must ascend; 5 stands before 4");
  CHECK_THROWS_WITH(cut({4, 0}), "blocks: offsets must ascend; 4 stands before 0");
  CHECK_THROWS_WITH(cut({0, 4, 9}),
                    "blocks: the last one ends at byte 9, the data have 8; give all");
  CHECK_THROWS_AS(cut({9}), UsageError);
  CHECK_THROWS_AS(cut({0, ~Bytes{0}}), UsageError);
  CHECK_THROWS_AS(ConstBlocks(ConstSpan(data), std::span<const Bytes>()), UsageError);
  CHECK(cut({0}) == 0);
  CHECK(cut({0, 0, 8, 8}) == 3);
  CHECK(cut({2, 5}) == 1);
  CHECK_THROWS_AS(Blocks(data, -1), UsageError);
  CHECK_THROWS_AS(Blocks(Span(), -1), UsageError);
}

TEST_CASE("a block is copied onto itself", "[collectives][direct_calls]") {
  std::array<std::byte, 3> data{std::byte{1}, std::byte{2}, std::byte{3}};
  copy(data, data);
  CHECK(data == std::array{std::byte{1}, std::byte{2}, std::byte{3}});
  std::array<std::byte, 3> other{};
  copy(data, other);
  CHECK(other == data);
  copy({}, {});
}
