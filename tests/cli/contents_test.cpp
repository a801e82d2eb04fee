// wormcube show --contents: nodes hold what they need, and at the end their results.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_contents.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/naming.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("contents: at the end every node holds exactly its results", "[cli]") {
  const Topology topology = Topology::parse(GENERATE("ring:5", "torus:4x4", "hypercube:3"));
  int compared = 0;
  for (const Operation operation : all_operations) {
    Arguments arguments;
    if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
    for (const Collective& collective : admitted(operation, topology, arguments)) {
      if (!collective.algorithm->exactly_once || operation->sizes != Sizes::equal) continue;
      Collective settled = collective;
      settled.settle(topology, {}, 1024);
      if (refusal(settled, topology)) continue;
      std::optional<NamedSchedule> named;
      try {
        named = named_call(settled, topology, 1024, false);
      } catch (const UsageError&) {
        continue;  // its messages have no names
      }
      INFO(operation->name << ' ' << settled.text() << " on " << topology.name());
      const Goal goal = goal_of(operation, settled.arguments, topology.nodes());
      Words words(topology.nodes());
      const ValueForm form = named->form;
      cli::Contents contents(*named);
      contents.each_step([](std::size_t, auto) {});
      for (Rank r = 0; r < topology.nodes(); ++r) {
        std::vector<NamedValue> results;
        for (Rank block = 0; block < goal.ends_with(r); ++block) {
          const Goal::Wanted wanted = goal.result(r, block);
          if (wanted.first == wanted.last) continue;
          for (Rank part = 0; part < form.parts; ++part) {
            results.push_back({words.interval(wanted.first, wanted.last), wanted.block, part});
          }
        }
        std::ranges::sort(results, {}, [&](const NamedValue& value) {
          return std::tuple(words.front(value.word), words.size(value.word), value.word,
                            value.block, value.part);
        });
        CHECK(contents.held(r) == names_text(words, form, results));
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("contents: what messages carry and nodes hold, step by step", "[cli]") {
  const auto shown = run_wormcube("show allgather --on ring:4 --algorithm ring --contents --quiet");
  CHECK_THAT(shown.out, Contains("# at the start\n  node 0       0\n  node 1       1\n") &&
                            Contains("# step 0") && Contains("  0 -> 1       0\n") &&
                            Contains("# after step 0\n  node 0       0 3\n"));
  const auto combined = run_wormcube(
      "show allreduce --on hypercube:2 --algorithm recursive-doubling --contents --quiet");
  CHECK_THAT(combined.out,
             Contains("  node 0       {0..1}\n") && Contains("  node 3       {0..3}\n"));
  const auto refused = run_wormcube("show alltoall --on ring:4 --contents --csv a.csv");
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("--contents writes text, JSON or a picture (--svg)"));
}

TEST_CASE("contents: a picture has the values on messages and below nodes", "[cli]") {
  const auto picture = run_wormcube(
      "show allgather --on ring:4 --algorithm ring --contents --step 1 --svg - --quiet");
  INFO(picture.err);
  CHECK(picture.exit == 0);
  CHECK_THAT(picture.out, StartsWith("<svg") && Contains(">0 3</text>") && Contains(">3</text>"));
  const auto marks = [](const std::string& text, const std::string& mark) {
    std::size_t count = 0;
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) ++count;
    return count;
  };
  CHECK(marks(picture.out, "class=\"label\"") == 8);  // four messages, four nodes
  const auto one = run_wormcube(
      "show allgather --on ring:4 --algorithm ring --contents --step 1 --node 2 --svg - --quiet");
  CHECK(marks(one.out, "class=\"label\"") == 6);  // what it sends and receives
  const auto large = run_wormcube("show allgather --on ring:300 --contents --step 0 --svg -");
  CHECK(large.exit == 2);
  CHECK_THAT(large.err, Contains("labels up to 256 nodes; ring:300 has 300"));
  const auto all = run_wormcube("show allgather --on ring:4 --contents --svg -");
  CHECK(all.exit == 2);
  CHECK_THAT(all.err, Contains("a picture shows one step"));
}

TEST_CASE("pictures mark the sets of nodes that an algorithm has", "[cli]") {
  const auto [algorithm, network, entry] =
      GENERATE(std::tuple("alltoall --algorithm kim-a1", "torus:8x8", "masters of subnetwork 1"),
               std::tuple("alltoall --algorithm kim-recursive", "torus:8x8", "slaves"),
               std::tuple("alltoall --algorithm tseng-diagonal", "torus:8x8", "diagonal 3"),
               std::tuple("alltoall --algorithm suh-torus", "torus:8x8", "class 3"),
               std::tuple("alltoall --algorithm suh-mesh", "mesh:6x6", "group odd odd"),
               std::tuple("alltoall --algorithm product", "ring:4*line:3", "cell"),
               std::tuple("allreduce --algorithm two-level:form=leader", "torus:4x4", "leaders"),
               std::tuple("broadcast --algorithm wang-tseng", "torus:5x5", "U_1, after stage 1"));
  const auto picture = run_wormcube(std::string("show ") + algorithm + " --on " + network +
                                    " --step 0 --node-sets --svg -");
  INFO(picture.err);
  CHECK(picture.exit == 0);
  CHECK_THAT(picture.out, Contains(entry));
  const auto sheet =
      run_wormcube(std::string("draw ") + algorithm + " --on " + network + " --node-sets --svg -");
  CHECK_THAT(sheet.out, Contains(entry));
  const auto page =
      run_wormcube(std::string("draw ") + algorithm + " --on " + network + " --node-sets --html -");
  const std::string start = "id=\"wormcube\">";
  const auto first = page.out.find(start) + start.size();
  const auto json =
      nlohmann::json::parse(page.out.substr(first, page.out.find("</script>", first) - first));
  const auto& sets = json["plays"][0]["sets"];
  CHECK(sets["of"]["count"] == json["network"]["nodes"]);
  std::set<std::string> names;
  for (const auto& set : sets["names"]) names.insert(set["name"]);
  const bool is_named = names.contains(entry);
  CHECK(is_named == (std::string_view(entry) != "cell"));
  if (!is_named) CHECK(sets["cells"].size() == 4);
}

TEST_CASE("sets of nodes are refused where there are none, or no picture", "[cli]") {
  const auto [arguments, text] = GENERATE(
      std::pair("show alltoall --on ring:4 --algorithm shift --step 0 --node-sets --svg -",
                "alltoall shift has no sets of nodes; these have: "),
      std::pair("show alltoall --on torus:8x8 --algorithm kim-a1 --node-sets", "add --svg FILE"),
      std::pair("draw alltoall --on torus:8x8 --algorithm kim-a1 --node-sets --thumbnail -",
                "add --html, --svg, --pdf or --frames"));
  const auto refused = run_wormcube(arguments);
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains(text));
}
