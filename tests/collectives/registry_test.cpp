// The registry: finding, choosing, refusing; lower bounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/core/plugin.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("operations and algorithms are found by name, unknown ones with the known ones listed",
          "[collectives]") {
  CHECK(parse_operation("alltoallv") == operations::alltoallv);
  CHECK_THROWS_WITH(
      parse_operation("alltoal"),
      StartsWith("unknown operation 'alltoal' (did you mean 'alltoall'?); available: broadcast "
                 "reduce allgather allgatherv reduce_scatter reduce_scatterv allreduce scan "
                 "exscan barrier scatter scatterv gather gatherv alltoall alltoallv shift "
                 "permute k_broadcast k_reduce k_alltoall k_gather"));
  CHECK(find_algorithm(operations::alltoallv, "shift").operation == operations::alltoallv);
  CHECK_THROWS_WITH(
      find_algorithm(operations::barrier, "disseminate"),
      StartsWith(
          "barrier has no algorithm 'disseminate' (did you mean 'dissemination'?); available") &&
          Contains(" dissemination"));
  for (const Operation operation : all_operations) {
    CHECK(parse_operation(to_string(operation)) == operation);
  }
  for (const Algorithm* algorithm : cases::built_in()) {
    CHECK(&find_algorithm(algorithm->operation, algorithm->name) == algorithm);
  }
}

TEST_CASE("operations are known by the names of books and of MPI", "[collectives]") {
  using Pair = std::pair<std::string_view, Operation>;
  const auto [name, operation] = GENERATE(
      Pair("all-to-all", operations::alltoall), Pair("total-exchange", operations::alltoall),
      Pair("one-to-all-broadcast", operations::broadcast),
      Pair("All-to-One Reduction", operations::reduce),
      Pair("one-to-all personalized", operations::scatter),
      Pair("all-to-all reduction", operations::reduce_scatter),
      Pair("inclusive-scan", operations::scan), Pair("complete_exchange", operations::alltoall),
      Pair("MPI_Alltoallv", operations::alltoallv), Pair("MPI_Allreduce", operations::allreduce),
      Pair("AllReduce", operations::allreduce), Pair("bcast", operations::broadcast),
      Pair("MPI_Ibcast", operations::broadcast), Pair("all_gather", operations::allgather),
      Pair("reduce-scatter", operations::reduce_scatter),
      Pair("MPI_Reduce_scatter_block", operations::reduce_scatter));
  CAPTURE(name);
  CHECK(parse_operation(name) == operation);
  CHECK_THROWS_AS(parse_operation("mpi"), UsageError);
  CHECK_THROWS_AS(parse_operation("i"), UsageError);
}

// What the registry keeps by address cannot be a temporary.
template <class Kept>
concept is_kept = requires(PluginRegistry& registry, const Kept& lasting) {
  registry.add(lasting);
};
template <class Kept>
concept is_kept_though_temporary = requires(PluginRegistry& registry, Kept&& temporary) {
  registry.add(std::move(temporary));
};
static_assert(is_kept<Algorithm> && !is_kept_though_temporary<Algorithm>);
static_assert(is_kept<OperationRow> && !is_kept_though_temporary<OperationRow>);
template <class Row, class Kept>
concept takes_temporary = requires(Kept&& temporary) {
  Row(std::move(temporary));
};
static_assert(!takes_temporary<Operation, OperationRow>);
static_assert(!takes_temporary<Collective, Algorithm>);

TEST_CASE("an algorithm that does not say what lists print is not added", "[collectives]") {
  static Algorithm added{.operation = operations::barrier,
                         .name = "incomplete",
                         .summary = "one line",
                         .source = "a test",
                         .program = [](Node&, const Call&) {}};
  const Algorithm whole = added;
  const auto lacks = [&](const char* what) {
    CHECK_THROWS_WITH(add_algorithm(added, "a test"), Catch::Contains(what));
    added = whole;
  };
  added.name = {};
  lacks("the algorithm '' has no name");
  for (const char* name : {"a b", "a:b", "a,b", "<script>", "\x1b[31m", "\xe2\x80\xae"}) {
    added.name = name;
    lacks("a name has letters, digits");
  }
  added.program = nullptr;
  lacks("'incomplete' has no program");
  added.summary = {};
  lacks("'incomplete' has no summary");
  added.source = {};
  lacks("'incomplete' has no source");
  added.instead = {"tree"};
  lacks("'incomplete' has no needs, but names tree as an alternative");
}

TEST_CASE("every algorithm says what it is, where it comes from, and is called once",
          "[collectives]") {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Algorithm* algorithm : cases::built_in()) {
    INFO(algorithm->operation->name << " " << algorithm->name);
    CHECK(names.emplace(algorithm->operation->name, algorithm->name).second);
    CHECK_FALSE(algorithm->summary.empty());
    CHECK_FALSE(algorithm->source.empty());
    CHECK(algorithm->program != nullptr);
    // A refusal shows the way out; what runs everywhere has none.
    CHECK(algorithm->needs.empty() == algorithm->instead.empty());
    for (const std::string_view other : algorithm->instead) {
      INFO(other);
      CHECK(other != algorithm->name);
      CHECK_NOTHROW(find_algorithm(algorithm->operation, other));
    }
    for (const Option& option : algorithm->options) {
      CHECK_FALSE(option.help.empty());
      const auto values = static_cast<std::int64_t>(option.choices.size());
      CHECK((values > 0 ? option.preset >= 0 && option.preset < values
                        : option.least <= option.preset && option.preset <= option.most));
    }
  }
}

TEST_CASE("the list of algorithms has every file that registers one, once", "[collectives]") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(WORMCUBE_SOURCE_DIR) / "collectives";
  const auto names = [](const fs::path& file, const std::vector<std::string>& macros) {
    std::vector<std::string> all;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
      for (const std::string& macro : macros) {
        if (line.starts_with(macro + "(")) {
          all.push_back(line.substr(macro.size() + 1, line.find(')') - macro.size() - 1));
        }
      }
    }
    return all;
  };
  std::vector<std::string> registered,
      listed = names(folder / "core" / "algorithms.inc", {"WORMCUBE_LIST"});
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto found = names(entry.path(), {"WORMCUBE_ALGORITHM", "WORMCUBE_ALGORITHMS"});
    registered.insert(registered.end(), found.begin(), found.end());
  }
  std::ranges::sort(registered);
  std::ranges::sort(listed);
  CHECK(registered == listed);
  CHECK(std::ranges::adjacent_find(listed) == listed.end());
}

TEST_CASE("the registry is in the order of operations, and of names in each", "[collectives]") {
  const auto place = [](const Algorithm* algorithm) {
    return std::pair(std::ranges::find(all_operations, algorithm->operation), algorithm->name);
  };
  CHECK(registry().size() > 15);
  CHECK(std::ranges::is_sorted(registry(), {}, place));
}

TEST_CASE("an algorithm is added once, and found where it belongs", "[collectives]") {
  static Algorithm mine = find_algorithm(operations::alltoall, "shift");
  if (mine.name == "shift") {  // once a process: the registry keeps it
    mine.name = "test-own";
    add_algorithm(mine, "libown.so");
  }
  CHECK(&find_algorithm(operations::alltoall, "test-own") == &mine);
  CHECK(origin(mine) == "libown.so");
  CHECK(origin(find_algorithm(operations::alltoall, "shift")).empty());
  CHECK(std::ranges::is_sorted(registry(), {}, [](const Algorithm* algorithm) {
    return std::pair(std::ranges::find(all_operations, algorithm->operation), algorithm->name);
  }));
  static const Algorithm again = mine;
  CHECK_THROWS_WITH(add_algorithm(again, "other.so"),
                    "other.so: algorithm 'test-own' of alltoall already exists");
}

TEST_CASE("an operation is added once, if its row is complete, before its algorithms",
          "[collectives]") {
  // Each node's block to the node opposite. Runs nowhere: the registry keeps it for the other
  // tests.
  static constexpr OperationRow opposite{
      .name = "test-opposite",
      .summary = "the block of node p-1-r to node r",
      .gives = [](const Instance&, Rank) { return Rank{1}; },
      .ends_with = [](const Instance&, Rank) { return Rank{1}; },
      .result = [](const Instance& on, Rank rank, Rank) { return from(on.nodes - 1 - rank, 0); }};
  static const Algorithm direct{.operation = opposite,
                                .name = "direct",
                                .summary = "one step",
                                .source = "a test",
                                .require =
                                    [](const Setting& setting) {
                                      if (setting.topology.name() != "line:6")
                                        throw UsageError("direct: only on line:6");
                                    },
                                .program =
                                    [](Node& node, const Call& call) {
                                      const Rank partner = node.size() - 1 - node.rank();
                                      node.step(exchange(partner, call.input[0], call.output[0]));
                                    }};
  if (std::ranges::find(registered_operations(), Operation(opposite)) ==
      registered_operations().end()) {  // once a process
    CHECK_THROWS_WITH(add_algorithm(direct, "a test"),
                      "a test: direct is for operation 'test-opposite', which does not exist");
    CHECK_THROWS_WITH(parse_operation("test-opposite"), StartsWith("unknown operation"));
    for (const auto& spoil : std::vector<void (*)(OperationRow&)>{
             [](OperationRow& row) { row.name = ""; },
             [](OperationRow& row) { row.gives = nullptr; },
             [](OperationRow& row) { row.ends_with = nullptr; },
             [](OperationRow& row) { row.result = nullptr; },
             [](OperationRow& row) { row.data = [](const Instance&) { return 1.0; }; },
             [](OperationRow& row) { row.bus_factor = [](double) { return 1.0; }; }}) {
      OperationRow incomplete = opposite;
      spoil(incomplete);
      CHECK_THROWS_WITH(add_operation(incomplete, "a test"),
                        Contains("gives, ends_with and result"));
    }
    add_operation(opposite, "a test");
    add_algorithm(direct, "a test");
  }
  CHECK(parse_operation("test-opposite") == opposite);
  CHECK(registered_operations().size() == all_operations.size() + 1);
  CHECK(registry().back() == &direct);
  CHECK_THROWS_WITH(add_operation(opposite, "other.so"),
                    "other.so: operation 'test-opposite' already exists");
  CHECK_THROWS_WITH(add_operation(operations::alltoall, "other.so"),
                    "other.so: operation 'alltoall' already exists");
  const CheckResult result =
      check_collective(parse_collective(opposite, "direct"), Topology::parse("line:6"));
  CHECK(result.delivered == true);
  CHECK(result.report.startups == 1);
}

TEST_CASE("the cheapest is sought among all combinations of choices", "[collectives]") {
  // Cheap only if both are changed. Runs nowhere: the registry keeps it for the other tests.
  static bool open = false;
  static const Algorithm paired{
      .operation = operations::barrier,
      .name = "test-paired",
      .summary = "cheap for one pair of choices",
      .source = "a test",
      .options = {{.name = "first", .choices = {"a", "b"}, .preset = 1, .help = "of two"},
                  {.name = "number", .preset = 2, .least = 1, .most = 9, .help = "of no choice"},
                  {.name = "second", .choices = {"x", "y", "z"}, .help = "of two"},
                  {.name = "third", .choices = {"same", "equal"}, .help = "of no effect"}},
      .require =
          [](const Setting&) {
            if (!open) throw UsageError("test-paired: closed");
          },
      .predict =
          [](const Setting& setting) {
            const Options& options = setting.options;
            const bool pair = options.is("first", "a") && options.is("second", "z");
            return Prediction{.startups = pair && options.number("number") == 2 ? 0.0 : 1000.0,
                              .transmission_blocks = 0,
                              .rearranged_blocks = 0,
                              .working_blocks = 0};
          },
      .program = [](Node&, const Call&) {}};
  static const bool added = (add_algorithm(paired, "a test"), true);
  CHECK(added);
  open = true;
  const Collective best = cheapest(
      {.operation = operations::barrier, .topology = Topology::parse("ring:4"), .block_bytes = 0});
  open = false;
  CHECK(best.text() == "test-paired:first=a:second=z");
}

TEST_CASE("networks that do not fit are refused in words that help", "[collectives]") {
  struct Refusal {
    Operation operation;
    std::string_view algorithm, topology;
    std::string text;
  };
  const Operation exchange = operations::alltoall;
  for (const auto& [operation, algorithm, topology, text] : std::vector<Refusal>{
           {exchange, "suh-torus", "torus:6x6",
            "suh-torus: every dimension must be a multiple of 4; torus:6x6 has 6; use mesh or "
            "shift"},
           {exchange, "suh-torus", "torus:8x1",
            "suh-torus: every dimension must be a multiple of 4; torus:8x1 has 1; use mesh or "
            "shift"},
           {exchange, "suh-torus", "ring:8",
            "suh-torus: needs 2 dimensions or more; ring:8 has 1; use mesh or shift"},
           {exchange, "suh-torus", "mesh:4x4",
            "suh-torus: every dimension must be a ring; mesh:4x4 has line:4; use mesh or shift"},
           {exchange, "ring", "torus:4x4",
            "ring: needs one line or ring; torus:4x4 has 2 dimensions; use mesh or shift"},
           {exchange, "ring", "tree:4",
            "ring: needs one line or ring; tree:4 is not one; use shift"},
           {exchange, "mesh", "ring:4*complete:3",
            "mesh: every dimension must be a line or a ring; ring:4*complete:3 has complete:3; "
            "use shift"},
           {exchange, "hypercube-pairwise", "torus:3x3",
            "hypercube-pairwise: the number of nodes must be a power of 2; torus:3x3 has 9; use "
            "shift"},
           {exchange, "hypercube-all-port", "line:3",
            "hypercube-all-port: needs a hypercube; line:3 is not one (3 nodes); use shift"},
           {operations::alltoallv, "hypercube-pairwise", "complete:12",
            "hypercube-pairwise: the number of nodes must be a power of 2; complete:12 has 12; use "
            "shift"},
       }) {
    INFO(algorithm << " on " << topology);
    const Topology network = Topology::parse(topology);
    const Collective refused(find_algorithm(operation, algorithm));
    CHECK(refusal(refused, network) == text);
  }
}

TEST_CASE("arguments that are not there are refused", "[collectives]") {
  const Topology network = Topology::parse("ring:5");
  const auto refused = [&](std::string_view operation, const Arguments& arguments) -> std::string {
    try {
      require_arguments(parse_operation(operation), 5, arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  for (const Rank root : {-1, 5}) {
    Arguments arguments;
    arguments.root = root;
    const std::string text = "root " + std::to_string(root) + " of 5 nodes; nodes are 0 to 4";
    for (const std::string operation : {"broadcast", "reduce", "scatter", "gather"}) {
      CHECK(refused(operation, arguments) == operation + ": " + text);
    }
    CHECK(refused("alltoall", arguments).empty());  // not its own
    const Collective halving(find_algorithm(operations::broadcast, "halving"), arguments);
    CHECK(refusal(halving, network) == "broadcast: " + text);
    CHECK_THROWS_AS(record(network, cases::Call(halving, network, 8, Pattern::words).dry()),
                    UsageError);
  }
  Arguments sources;
  sources.sources = {0, 3, 4};
  CHECK(refused("k_broadcast", sources).empty());
  sources.sources = {3, 3};
  CHECK(refused("k_broadcast", sources) == "k_broadcast: sources must ascend; 3 precedes 3");
  sources.sources = {1, 5};
  CHECK(refused("k_alltoall", sources) == "k_alltoall: source 5 of 5 nodes; nodes are 0 to 4");
  for (const std::string operation : {"reduce", "allreduce", "scan", "exscan", "reduce_scatter"}) {
    CHECK(refused(operation, {}) == operation + ": needs a reduction operator");
  }
}

TEST_CASE("what needs a commutative operator refuses others", "[collectives]") {
  Algorithm needy = find_algorithm(operations::alltoall, "shift");
  needy.operation = operations::allreduce;
  needy.name = "needy";
  needy.needs_commutative = true;
  needy.instead = {"allgather", "recursive-doubling"};
  const Topology network = Topology::parse("ring:5");
  Arguments arguments;
  arguments.reduction = find_reduction("compose", "affine");
  CHECK(refusal(Collective(needy, arguments), network) ==
        "needy: needs a commutative operator; compose is not; use allgather or recursive-doubling");
  arguments.reduction = find_reduction("sum", "int32");
  CHECK_FALSE(refusal(Collective(needy, arguments), network));
}

TEST_CASE("the cheapest algorithm is admitted, keeps to the ports, and no other is cheaper",
          "[collectives]") {
  const Ports ports = GENERATE(Ports::one, Ports::all);
  const Bytes bytes = GENERATE(0, 64, 1 << 20);
  const CostModel model;
  for (const Topology& topology : cases::topologies()) {
    for (const Operation operation :
         {Operation(operations::broadcast), Operation(operations::alltoall),
          Operation(operations::alltoallv), Operation(operations::barrier)}) {
      INFO(to_string(operation) << " on " << topology.name() << " with " << bytes << " bytes");
      const Collective best = cheapest({.operation = operation,
                                        .topology = topology,
                                        .block_bytes = bytes,
                                        .ports = ports,
                                        .model = model});
      CHECK_FALSE(refusal(best, topology));
      CHECK((ports == Ports::all || best.algorithm->ports == Ports::one));
      const auto best_us = weigh(best, topology, bytes).ranked_us(model, bytes);
      REQUIRE(best_us);
      for (const Collective& other : admitted(operation, topology)) {
        if (ports == Ports::one && other.algorithm->ports == Ports::all) continue;
        if (!is_chosen_by_auto(*other.algorithm)) continue;
        for (const Options& options : cases::every_option(*other.algorithm)) {
          Collective with = other;
          with.options = options;
          // Numbers stay at their defaults.
          const bool preset = std::ranges::all_of(options.declared(), [&](const Option& option) {
            return !option.choices.empty() || options.number(option.name) == option.preset;
          });
          if (!preset || refusal(with, topology)) continue;
          with.settle(topology, model, bytes);
          const Weighed weighed = weigh(with, topology, bytes);
          if (!weighed.prediction.complete() || weighed.contention == Contention::unknown) continue;
          INFO(best.text() << " or " << with.text());
          CHECK(*best_us <= *weighed.ranked_us(model, bytes));
        }
      }
    }
  }
}

TEST_CASE("choosing weighs start-ups against bytes, and shared links against free ones",
          "[collectives]") {
  const auto choice = [](const char* topology, Bytes bytes, Ports ports = Ports::one) {
    CostModel model;
    model.rearrange_us = 0;
    return cheapest({.operation = operations::alltoall,
                     .topology = Topology::parse(topology),
                     .block_bytes = bytes,
                     .ports = ports,
                     .model = model})
        .name();
  };
  CHECK(choice("ring:7", 1 << 20) == "direct-product");  // 6 blocks; shift: 12 of time; ring: 21
  CHECK(choice("ring:27", 1 << 20) == "ring-bidirectional");  // 182 of time, as shift; ring: 351
  CHECK(choice("hypercube:4", 1 << 20) == "direct-product");  // 15, as hypercube-pairwise
  CHECK(choice("hypercube:4", 1 << 20, Ports::all) == "all-port");  // as hypercube-all-port
  CHECK(choice("complete:9", 8) == "bruck");                        // 4 start-ups; shift: 8
  CHECK(choice("complete:9", 1 << 20) == "bruck");                  // radix=8: 8 blocks, as shift
  OperationRow nobodys = operations::alltoall;
  nobodys.name = "nobodys";
  CHECK_THROWS_WITH(
      cheapest({.operation = Operation(nobodys),
                .topology = Topology({samples::petersen()}),
                .block_bytes = 8}),
      Contains("nobodys has no one-port algorithm for petersen; `wormcube list` shows what"));
}

// Two start-ups: bruck, mesh, ring and shift; the first by name that is complete.
TEST_CASE("auto picks the first name of equally fast algorithms", "[collectives]") {
  CHECK(cheapest({.operation = operations::alltoall,
                  .topology = Topology::parse("ring:3"),
                  .block_bytes = 0})
            .name() == "bruck");
}

TEST_CASE("auto leaves out baselines, algorithms that are slow to plan, and the parts of plan",
          "[collectives]") {
  std::set<std::string> left_out;
  for (const Algorithm* const algorithm : cases::built_in()) {
    if (algorithm->selection == Selection::by_name) {
      left_out.insert(fmt::format("{} {}", algorithm->operation->name, algorithm->name));
    }
  }
  CHECK(left_out == std::set<std::string>{
                        "allgather naive", "alltoall naive-direct", "alltoall product",
                        "alltoall product-multiport", "alltoall product-multiport-general",
                        "alltoall product-naive", "broadcast naive", "broadcast peel",
                        "broadcast quad", "broadcast squeeze", "gather direct", "gatherv direct",
                        "reduce direct", "scatter direct", "scatterv direct"});
}

TEST_CASE("auto prefers an algorithm made for the available ports among equally fast ones",
          "[collectives]") {
  int ties = 0;
  for (const Topology& topology : cases::topologies()) {
    if (topology.nodes() > 12) continue;
    for (const Operation operation : all_operations) {
      if (operation->reduces) continue;
      const Collective best = cheapest(
          {.operation = operation, .topology = topology, .block_bytes = 8, .ports = Ports::all});
      const auto time = [&](const Collective& collective) {
        return weigh(collective, topology).ranked_us({}, 8);
      };
      for (const Collective& other : admitted(operation, topology, {})) {
        if (other.algorithm->ports != Ports::all || !is_chosen_by_auto(*other.algorithm) ||
            !other.predict(topology).complete()) {
          continue;
        }
        INFO(operation->name << " on " << topology.name() << ": " << best.name() << ", not "
                             << other.name());
        if (best.algorithm->ports == Ports::one) {
          CHECK(time(other) > time(best));
        } else if (best.name() == other.name()) {
          ++ties;
        }
      }
    }
  }
  CHECK(ties > 0);
}

TEST_CASE("auto does not plan algorithms that are slow to plan", "[collectives]") {
  CHECK_FALSE(is_chosen_by_auto(find_algorithm(operations::alltoall, "naive-direct")));
  for (const char* const text : {"line:3", "mesh:3x3", "ring:5"}) {
    CostModel free;
    free.startup_us = 0;
    CHECK(cheapest({.operation = operations::alltoall,
                    .topology = Topology::parse(text),
                    .block_bytes = 8,
                    .model = free})
              .name() != "naive-direct");
  }
}

TEST_CASE("predicted time is the sum of its terms", "[collectives]") {
  CostModel model{3, 0.5, 0.25, 0.125};
  model.hop_us = 0;
  Prediction prediction{.startups = 10, .transmission_blocks = 20, .rearranged_blocks = 30};
  CHECK(predicted_us(prediction, model, 8) == 3 * 10 + 0.5 * 8 * 20 + 0.25 * 8 * 30);
  prediction.combined_blocks = 5;
  CHECK(predicted_us(prediction, model, 8) ==
        3 * 10 + 0.5 * 8 * 20 + 0.25 * 8 * 30 + 0.125 * 8 * 5);
  prediction.link_blocks = 40;
  CHECK(predicted_us(prediction, model, 8) ==
        3 * 10 + 0.5 * 8 * 40 + 0.25 * 8 * 30 + 0.125 * 8 * 5);
  model.hop_us = 2;  // one in each step, unless the hops are known
  const double hops_us =
      predicted_us(prediction, model, 8) - (3 * 10 + 0.5 * 8 * 40 + 0.25 * 8 * 30 + 0.125 * 8 * 5);
  CHECK(hops_us == 2 * 10);
  CHECK(predicted_us({}, model, 8) == 0);
}

TEST_CASE("lower bounds on paper", "[collectives]") {
  struct Bound {
    Operation operation;
    const char* topology;
    Ports ports;
    double startups, transmission_blocks;
  };
  const Operation exchange = operations::alltoall;
  for (const Bound& bound : {
           Bound{exchange, "ring:1", Ports::one, 0, 0},
           Bound{exchange, "ring:2", Ports::one, 1, 1},
           Bound{exchange, "ring:8", Ports::one, 3, 8},         // 4*4 over 2 links
           Bound{exchange, "ring:7", Ports::one, 3, 6},         // the ports; 3*4 over 2 links
           Bound{exchange, "line:8", Ports::one, 3, 16},        // 4*4 over 1 link
           Bound{exchange, "torus:8x8", Ports::one, 6, 64},     // 32*32 over 16 links
           Bound{exchange, "torus:16x16", Ports::one, 8, 512},  // p^1.5/8
           Bound{exchange, "mesh:16x16", Ports::one, 8, 1024},  // p^1.5/4
           Bound{exchange, "hypercube:4", Ports::one, 4, 15},
           Bound{exchange, "hypercube:4", Ports::all, 2, 8},  // p/2; start-ups: fivefold each
           Bound{exchange, "complete:9", Ports::all, 1, 1},
           Bound{exchange, "tree:8", Ports::all, 3, 16},
           Bound{operations::broadcast, "ring:9", Ports::one, 4, 1},
           Bound{operations::broadcast, "ring:9", Ports::all, 2, 0.5},
           Bound{operations::allgather, "ring:9", Ports::one, 4, 8},
           Bound{operations::allgather, "ring:9", Ports::all, 2, 4},
           Bound{operations::barrier, "line:9", Ports::one, 4, 0},
           Bound{operations::allgather, "mesh:4x4", Ports::all, 2, 7.5},
           Bound{operations::scatter, "star:9", Ports::all, 1, 1},  // from its centre
           Bound{operations::allreduce, "star:9", Ports::all, 1, 1},
           Bound{operations::allreduce, "star:9", Ports::one, 4, 16.0 / 9},
           Bound{operations::allreduce, "mesh:4x4", Ports::all, 2, 0.625},
           Bound{operations::scan, "ring:9", Ports::all, 2, 0.5},
           Bound{operations::k_broadcast, "ring:9", Ports::all, 2, 0.5},
           Bound{operations::k_alltoall, "mesh:3x3", Ports::all, 2, 4},
           Bound{exchange, "twisted:4x8", Ports::all, 3, 21},
           Bound{exchange, "twisted:4x8", Ports::one, 5, 31},
       }) {
    INFO(to_string(bound.operation) << " on " << bound.topology << " " << to_string(bound.ports));
    const LowerBound lower =
        lower_bound(bound.operation, Topology::parse(bound.topology), bound.ports);
    CHECK(lower.startups == bound.startups);
    CHECK(lower.transmission_blocks == bound.transmission_blocks);
  }
  CHECK_FALSE(lower_bound(operations::alltoallv, Topology::parse("ring:8"), Ports::one).startups);
}

TEST_CASE("no algorithm starts with a block too many or too few", "[collectives]") {
  std::set<std::string> tried;
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        const Algorithm& algorithm = *collective.algorithm;
        const Operation operation = collective.operation();
        const Rank one = topology.nodes() - 1;
        Arguments arguments = collective.arguments;
        if (operation->rooted) arguments.root = one;
        const Instance instance{topology.nodes(), arguments};
        const Rank gives = operation->gives(instance, one),
                   ends_with = operation->ends_with(instance, one);
        if (std::string_view(operation->name).starts_with("test-")) return;  // another test's
        // A single message is as long as you like.
        if (topology.nodes() < 3 || gives == 0 || ends_with == 0) return;
        if (operation == Operation(operations::broadcast)) return;
        const std::string title = fmt::format("{} {}", operation->name, algorithm.name);
        if (!tried.insert(title).second) return;
        constexpr Bytes bytes = 48;
        for (const auto& [more_in, more_out] :
             {std::pair{1, 0}, std::pair{0, 1}, std::pair{-1, 0}, std::pair{0, -1}}) {
          const Program program = [&, more_in = more_in, more_out = more_out](Node& node) {
            const bool here = node.rank() == one;
            const Rank in = operation->gives(instance, node.rank()) + (here ? more_in : 0),
                       out = operation->ends_with(instance, node.rank()) + (here ? more_out : 0);
            const Bytes in_bytes = static_cast<Bytes>(in) * bytes,
                        out_bytes = static_cast<Bytes>(out) * bytes;
            const Memory memory = node.memory(in_bytes + out_bytes);
            Collective called = collective;
            called.arguments = arguments;
            called(node, ConstBlocks(memory.subspan(0, in_bytes), in),
                   Blocks(memory.subspan(in_bytes, out_bytes), out));
          };
          INFO(title << " on " << topology.name() << ": " << more_in << " more in, " << more_out
                     << " more out");
          CHECK_THROWS_AS(record(topology, program), UsageError);
        }
      },
      16);
  if (cases::all_are_tested()) CHECK(tried.size() > 60);
}

TEST_CASE("no algorithm is called on a network that it does not admit", "[collectives]") {
  std::set<std::string> tried;
  for (const Topology& topology : cases::topologies()) {
    if (topology.nodes() > 16) continue;
    for (const Algorithm* const algorithm : cases::built_in()) {
      if (!cases::is_tested(*algorithm)) continue;
      const Collective collective(*algorithm, cases::plain_arguments(*algorithm));
      const auto why = refusal(collective, topology);
      if (!why) continue;
      tried.insert(fmt::format("{} {}", algorithm->operation->name, algorithm->name));
      const Instance instance{topology.nodes(), collective.arguments};
      const Program program = [&](Node& node) {
        const Rank gives = collective.operation()->gives(instance, node.rank()),
                   ends_with = collective.operation()->ends_with(instance, node.rank());
        constexpr Bytes bytes = 48;
        const Memory in = node.memory(static_cast<Bytes>(gives) * bytes),
                     out = node.memory(static_cast<Bytes>(ends_with) * bytes);
        collective(node, ConstBlocks(in, gives), Blocks(out, ends_with));
      };
      INFO(cases::title(collective, topology));
      CHECK_THROWS_WITH(record(topology, program), *why);
    }
  }
  if (cases::all_are_tested()) CHECK(tried.size() > 30);
}

TEST_CASE("intervals of ranks keep apart where no factor's routes leave them", "[collectives]") {
  const auto apart = [](const char* network) {
    const Topology topology = Topology::parse(network);
    return std::pair(intervals_are_apart_by_dimension(topology), intervals_are_apart(topology));
  };
  using Pair = std::pair<bool, bool>;
  for (const char* const one : {"line:5", "ring:6", "complete:7", "tree:8", "hypercube:3"}) {
    INFO(one);
    CHECK(apart(one) == Pair{true, true});
  }
  CHECK(apart("tree:6") == Pair{false, false});
  CHECK(apart("mesh:4x8") == Pair{true, true});
  CHECK(apart("mesh:3x4") == Pair{true, false});
  CHECK(apart("tree:4*ring:6") == Pair{true, false});
  CHECK(intervals_are_apart_by_dimension(Topology({samples::petersen()})) == false);
}
