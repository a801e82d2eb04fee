// A collective's arguments and blocks: every node refuses invalid ones before its first step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
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

/// The call is refused by this many nodes (-1: by all), before their first step, in words that say
/// so.
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

/// A call with blocks of `bytes`, as many as the operation has; each node's own number if `wrong`
/// is added to what it gives.
Program call_of(const Collective& collective, Bytes bytes, Rank wrong = 0) {
  return [=](Node& node) {
    const Operation on = collective.operation();
    const Instance instance{node.size(), collective.arguments};
    const Rank gives = std::max(0, on->gives(instance, node.rank())) + wrong,
               ends_with = on->ends_with(instance, node.rank());
    const Memory input = node.memory(static_cast<Bytes>(gives) * bytes),
                 output = node.memory(static_cast<Bytes>(ends_with) * bytes);
    collective(node, ConstBlocks(input, gives), Blocks(output, ends_with));
  };
}

/// An even operation's algorithms that run on a network, with these arguments but a valid root.
std::vector<Collective> all_of(Operation operation, const std::string& network) {
  Arguments arguments;
  arguments.reduction = sum();
  return admitted(operation, Topology::parse(network), arguments);
}

}  // namespace

TEST_CASE("a root that is no node is refused by every algorithm that has one",
          "[collectives][checks]") {
  for (const Operation operation : all_operations) {
    if (!operation->rooted) continue;
    for (const char* const network : {"hypercube:3", "torus:4x2", "line:8"}) {
      for (Collective collective : all_of(operation, network)) {
        for (const Rank root : {-1, 8, least_int, most_int}) {
          INFO(collective.text());
          collective.arguments.root = root;
          const std::string text =
              fmt::format("{}: root {} of 8 nodes; nodes are 0 to 7", operation->name, root);
          refused(
              network,
              [&](Node& node) {
                const Memory memory = node.memory(64);
                collective(node, ConstBlocks(memory, 1), Blocks(memory, 1));
              },
              text);
        }
      }
    }
  }
}

TEST_CASE("recursive doubling has any root of 2^d nodes, and node 0 of others",
          "[collectives][checks]") {
  const auto call = [](const char* options, Rank root) {
    return [=](Node& node) {
      const Memory message = node.memory(8);
      parse_collective(operations::broadcast, std::string("recursive-doubling") + options,
                       {.root = root})(node, message.span());
    };
  };
  refused("ring:6", call("", 1), "a root other than 0 needs a power-of-2 number of nodes");
  refused("ring:6", call(":ties=balanced", 0), "ties=balanced needs a power-of-2 number of nodes");
  runs("ring:6", call("", 0));
  runs("ring:8", call(":ties=balanced", 5));
  const auto reduce = [](Rank root) {
    return call_of(
        parse_collective(operations::reduce, "hypercube", {.root = root, .reduction = sum()}), 8);
  };
  refused("ring:6", reduce(6), "reduce: root 6 of 6 nodes; nodes are 0 to 5");
  refused("ring:6", reduce(1), "root 1 of 6 nodes; needs root 0, or a power-of-2 number of nodes");
  runs("ring:6", reduce(0));
  runs("ring:8", reduce(3));
}

TEST_CASE("what is combined is of whole elements on every node, with room for the result",
          "[collectives][checks]") {
  for (const Operation operation : all_operations) {
    if (!operation->reduces || operation->sizes != Sizes::equal) continue;
    for (const Collective& collective : all_of(operation, "hypercube:3")) {
      INFO(operation->name << " " << collective.text());
      const std::string start = std::string(operation->name) + ": ";
      refused("hypercube:3", call_of(collective, 7), start + "7 bytes; sum has elements of 4");
      runs("hypercube:3", call_of(collective, 8));
      Collective none = collective, nothing = collective;
      none.arguments.reduction = {};
      nothing.arguments.reduction.element_bytes = 0;
      refused("hypercube:3", call_of(none, 8), start + "needs a reduction operator");
      refused("hypercube:3", call_of(nothing, 8), start + "sum has elements of 0 bytes");
    }
  }
  const Collective reduce = parse_collective(operations::reduce, "halving", {.reduction = sum()});
  refused(
      "hypercube:3",
      [&](Node& node) {
        const Memory mine = node.memory(8), room = node.memory(node.rank() == 0 ? 12 : 0);
        reduce(node, mine.span(), room.span());
      },
      "reduce: blocks of 8 bytes in and 12 out; need the same size", 1);
  // Only the last block is none of whole elements, on nodes that have another.
  const Collective uneven =
      parse_collective(operations::reduce_scatterv, "bruck", {.reduction = sum()});
  refused(
      "ring:8",
      [&](Node& node) {
        const std::array<Bytes, 9> offsets{0, 4, 8, 12, 16, 20, 24, 28, 30};
        const std::array<Bytes, 2> own{0, node.rank() == 7 ? Bytes{2} : Bytes{4}};
        const Memory in = node.memory(30), out = node.memory(own[1]);
        uneven(node, ConstBlocks(in, offsets), Blocks(out, own));
      },
      "reduce_scatterv: 2 bytes; sum has elements of 4");
}

TEST_CASE("sources are nodes, ascending, each once", "[collectives][checks]") {
  for (const Operation operation : all_operations) {
    if (!operation->has_sources) continue;
    for (const char* const network : {"hypercube:3", "ring:8"}) {
      for (Collective collective : all_of(operation, network)) {
        INFO(operation->name << " " << collective.text());
        const std::string start = std::string(operation->name) + ": ";
        const auto with = [&](std::vector<Rank> sources) {
          collective.arguments.sources = std::move(sources);
          return [collective](Node& node) {
            const Memory memory = node.memory(8);
            collective(node, ConstBlocks(memory, 1), Blocks(memory, 1));
          };
        };
        for (const Rank outside : {-1, least_int}) {
          refused(network, with({outside, 3}),
                  fmt::format("{}source {} of 8 nodes; nodes are 0 to 7", start, outside));
        }
        for (const Rank outside : {8, 100000, most_int}) {
          refused(network, with({3, outside}),
                  fmt::format("{}source {} of 8 nodes; nodes are 0 to 7", start, outside));
        }
        refused(network, with({4, 1}), start + "sources must ascend; 4 precedes 1");
        refused(network, with({1, 4, 4, 6}), start + "sources must ascend; 4 precedes 4");
        collective.arguments.sources = {1, 6};
        runs(network, call_of(collective, 8));
      }
    }
  }
}

TEST_CASE("a call has as many blocks as its operation, of one size", "[collectives][checks]") {
  for (const Operation operation : all_operations) {
    if (operation->sizes != Sizes::equal || !operation->moves_data) continue;
    for (const Collective& collective : all_of(operation, "hypercube:3")) {
      INFO(operation->name << " " << collective.text());
      refused("hypercube:3", call_of(collective, 8, 1), "blocks in and");
    }
  }
  const Collective exchange = parse_collective(operations::alltoall, "ring");
  refused(
      "ring:4",
      [&](Node& node) {
        const Memory out = node.memory(32), in = node.memory(16);
        exchange(node, ConstBlocks(out, 4), Blocks(in, 4));
      },
      "alltoall: blocks of 8 bytes in and 4 out; need the same size");
}

TEST_CASE("of blocks of different sizes a node's own has one size on both sides",
          "[collectives][checks]") {
  Arguments arguments;
  arguments.reduction = sum();
  arguments.root = 1;
  for (const Operation operation : all_operations) {
    if (operation->sizes == Sizes::equal) continue;
    for (const Collective& collective :
         admitted(operation, Topology::parse("hypercube:2"), arguments)) {
      INFO(operation->name << " " << collective.text());
      refused(
          "hypercube:2",
          [&](Node& node) {
            const Instance instance{node.size(), arguments};
            const Rank gives = operation->gives(instance, node.rank()),
                       ends_with = operation->ends_with(instance, node.rank());
            const Memory input = node.memory(8 * static_cast<Bytes>(gives)),
                         output = node.memory(4 * static_cast<Bytes>(ends_with));
            collective(node, ConstBlocks(input, gives), Blocks(output, ends_with));
          },
          "gives itself a block of 8 bytes but has room for 4", operation->rooted ? 1 : -1);
    }
  }
}

TEST_CASE("the sizes that all know are those of the blocks", "[collectives][checks]") {
  // The root, node 1, cuts its memory by `offsets`; a node's own block has 8 bytes.
  const auto both = [](const char* algorithm, std::vector<Bytes> sizes,
                       std::vector<Bytes> offsets = {0, 8, 16, 24, 32}) {
    return [=](Node& node) {
      const bool is_root = node.rank() == 1;
      const std::vector<Bytes> one{0, 8}, none{0};
      const Memory all = node.memory(is_root ? 32 : 0), own = node.memory(8);
      const Blocks cut(all.span(), is_root ? offsets : none);
      parse_collective(operations::scatterv, algorithm, {.root = 1})(node, cut, Blocks(own, one),
                                                                     sizes);
      parse_collective(operations::gatherv, algorithm, {.root = 1})(
          node, ConstBlocks(own.span(), one), cut, sizes);
    };
  };
  for (const char* const algorithm : {"halving", "hypercube", "mesh", "ring"}) {
    INFO(algorithm);
    runs("hypercube:2", both(algorithm, {8, 8, 8, 8}));
    refused("hypercube:2", both(algorithm, {8, 8, 8}), "scatterv: 3 sizes for 4 nodes");
    refused("hypercube:2", both(algorithm, {8, 8, 8, 4}),
            "scatterv: node 3 has a block of 8 bytes, but the sizes say 4", 1);
    refused("hypercube:2", both(algorithm, {}, {0, 4, 12, 20, 32}),
            "blocks of different sizes; give all sizes", 1);
  }
  runs("hypercube:2", both("direct", {}));
}

TEST_CASE("a permutation needs its number of nodes", "[collectives][checks]") {
  const auto call = [](Permutation permutation) {
    return call_of(parse_collective(operations::permute, "direct", {.permutation = permutation}),
                   8);
  };
  refused("ring:6", call(Permutation::transpose),
          "permute: transpose needs s x s nodes, not 6; use complement");
  refused("ring:6", call(Permutation::bit_reversal),
          "permute: bit-reversal needs a power-of-2 number of nodes, not 6; use complement");
  runs("ring:6", call(Permutation::complement));
  runs("ring:9", call(Permutation::transpose));
  runs("ring:8", call(Permutation::bit_reversal));
}

TEST_CASE("a network that an algorithm does not run on is refused by the call",
          "[collectives][checks]") {
  for (const Algorithm* const algorithm : cases::built_in()) {
    const Topology topology = Topology::parse("ring:3*complete:4*tree:2");
    const Collective collective(*algorithm, cases::plain_arguments(*algorithm));
    const auto reason = refusal(collective, topology);
    if (!reason || !algorithm->operation->moves_data) continue;
    INFO(algorithm->operation->name << " " << algorithm->name);
    refused(topology.name(), call_of(collective, 12), *reason);
  }
}

TEST_CASE("packets take no more steps than can be counted", "[collectives][checks]") {
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
  const auto steps = [](const char* network) {
    const Collective umesh = parse_collective(operations::broadcast, "umesh:packets=3:period=5");
    return record(Topology::parse(network),
                  [&](Node& node) {
                    const Memory message = node.memory(8);
                    umesh(node, message.span());
                  })
        .steps();
  };
  CHECK(steps("ring:8") == 3 + 2 * 5);
  CHECK(steps("ring:1") == 0);
  CHECK_THROWS_WITH(parse_collective(operations::broadcast, "pipelined:packets=32769"),
                    Contains("0..32768"));
}

TEST_CASE("a shift by any number is one modulo the nodes", "[collectives][checks]") {
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

TEST_CASE("a collective refuses blocks of other elements than the operator's, block by block",
          "[collectives][checks]") {
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

TEST_CASE("an operation on equal blocks refuses uneven ones and names the v-form",
          "[collectives][checks]") {
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
        fmt::format("{}: blocks must all have the same size; {}", operation->name,
                    has_other ? fmt::format("use {}v for others", operation->name)
                              : "divide the data by the number of blocks, without offsets");
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

TEST_CASE("blocks are cut by offsets that ascend within the data", "[collectives][checks]") {
  std::array<std::byte, 8> data{};
  const auto cut = [&](std::vector<Bytes> offsets) {
    const Blocks blocks(data, std::span<const Bytes>(offsets));
    return blocks.count();
  };
  CHECK_THROWS_WITH(cut({}), "blocks: 0 offsets; need one more than the number of blocks");
  CHECK_THROWS_WITH(cut({0, 5, 4, 8}), "blocks: offsets must ascend; 5 precedes 4");
  CHECK_THROWS_WITH(cut({4, 0}), "blocks: offsets must ascend; 4 precedes 0");
  CHECK_THROWS_WITH(cut({0, 4, 9}),
                    "blocks: the last one ends at byte 9, but the data has 8; the blocks must "
                    "cover all of it");
  CHECK_THROWS_AS(cut({9}), UsageError);
  CHECK_THROWS_AS(cut({0, ~Bytes{0}}), UsageError);
  CHECK_THROWS_AS(ConstBlocks(ConstSpan(data), std::span<const Bytes>()), UsageError);
  CHECK(cut({0}) == 0);
  CHECK(cut({0, 0, 8, 8}) == 3);
  CHECK(cut({2, 5}) == 1);
  CHECK_THROWS_AS(Blocks(data, -1), UsageError);
  CHECK_THROWS_AS(Blocks(Span(), -1), UsageError);
}

TEST_CASE("a block is copied onto itself", "[collectives][checks]") {
  std::array<std::byte, 3> data{std::byte{1}, std::byte{2}, std::byte{3}};
  copy(data, data);
  CHECK(data == std::array{std::byte{1}, std::byte{2}, std::byte{3}});
  std::array<std::byte, 3> other{};
  copy(data, other);
  CHECK(other == data);
  copy({}, {});
}
