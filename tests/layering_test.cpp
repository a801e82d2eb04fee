// The layers: who may include whom.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace {

/// Whether a file (its path from the root) may include another. The first row that a file's path
/// starts with names all that it may include; tests and benches may include everything.
bool may_include(std::string_view file, std::string_view other) {
  using Row = std::pair<std::string_view, std::vector<std::string_view>>;
  // What is no more than words and numbers, and nothing of the computer underneath.
  constexpr std::string_view error = "runtime/base/error.", hash = "runtime/base/hash.",
                             numbers = "runtime/base/numbers.", words = "runtime/base/text.",
                             kept = "runtime/base/recently_made.";
  static const std::vector<Row> rows{
      {"runtime/base/fiber/", {"runtime/base/"}},
      {"runtime/base/host/", {"runtime/base/host/", error, numbers, "runtime/base/units."}},
      {"runtime/base/",
       {error, hash, numbers, words, "runtime/base/exceptions.", "runtime/base/units."}},
      {"runtime/topology/", {"runtime/topology/", error, hash, numbers, words, kept}},
      {"runtime/node/together.",  // parts are strands
       {"runtime/node/", "runtime/base/fiber/", error}},
      {"runtime/node/", {"runtime/node/", "runtime/topology/", error, hash, numbers}},
      {"runtime/network/",
       {"runtime/network/", "runtime/topology/", "runtime/node/", "runtime/base/"}},
      {"runtime/schedule/",
       {"runtime/schedule/", "runtime/topology/", "runtime/node/", "runtime/base/"}},
      {"runtime/dataflow/",
       {"runtime/dataflow/", "runtime/schedule/", "runtime/topology/", "runtime/node/",
        "runtime/base/"}},
      {"runtime/replay/",
       {"runtime/replay/", "runtime/schedule/", "runtime/topology/", "runtime/node/",
        "runtime/base/keyed_values.", error, hash, numbers}},
      {"runtime/machine/executor/",
       {"runtime/machine/executor/", "runtime/network/atomics.", "runtime/node/", "runtime/base/"}},
      {"runtime/machine/requests/",
       {"runtime/machine/requests/", "runtime/network/", "runtime/node/", "runtime/base/"}},
      {"runtime/machine/node/",
       {"runtime/machine/node/", "runtime/machine/executor/", "runtime/machine/requests/",
        "runtime/machine/options.", "runtime/machine/statistics.", "runtime/machine/failure.",
        "runtime/network/", "runtime/node/", "runtime/topology/", "runtime/base/"}},
      {"runtime/machine/",  // it writes traces: schedule.hpp, and no more of it
       {"runtime/machine/", "runtime/network/", "runtime/topology/",
        "runtime/schedule/schedule.hpp", "runtime/node/", "runtime/base/"}},
      // The harness runs, checks and proves algorithms, and choices among them are on top; the
      // algorithms do not know either, nor what is not oblivious.
      {"collectives/choose/",
       {"collectives/choose/", "collectives/harness/", "collectives/core/", "runtime/"}},
      {"collectives/harness/", {"collectives/harness/", "collectives/core/", "runtime/"}},
      // Offers the MPI library's collectives as algorithms; nobody of the core includes it.
      {"collectives/mpi/", {"collectives/", "runtime/"}},
      {"collectives/core/",
       {"collectives/core/", "runtime/topology/", "runtime/node/", error, hash, numbers, words}},
      {"collectives/",
       {"collectives/", "runtime/topology/", "runtime/node/", error, hash, numbers, kept}},
      {"apps/mpi/abi/", {"apps/mpi/abi/"}},
      {"apps/mpi/image/", {"apps/mpi/image/", "runtime/topology/", "runtime/base/"}},
      // The rooms of the MPI engine, from data without a rank to the run of a program.
      {"apps/mpi/engine/base/", {"apps/mpi/engine/base/", "apps/mpi/abi/", "runtime/topology/"}},
      {"apps/mpi/engine/types/",
       {"apps/mpi/engine/types/", "apps/mpi/engine/base/", "apps/mpi/abi/", "runtime/node/op."}},
      {"apps/mpi/engine/observers/",
       {"apps/mpi/engine/observers/", "apps/mpi/abi/", "apps/common/event_spool.",
        "apps/common/trace.", "apps/common/trace_text.", "runtime/schedule/", "runtime/replay/",
        "runtime/topology/", "runtime/node/", error}},
      {"apps/mpi/engine/core/",
       {"apps/mpi/engine/core/", "apps/mpi/engine/observers/", "apps/mpi/engine/types/",
        "apps/mpi/engine/base/", "apps/mpi/abi/", "apps/mpi/image/", "collectives/core/",
        "collectives/choose/work.", "runtime/node/", "runtime/base/"}},
      {"apps/mpi/engine/collectives/",
       {"apps/mpi/engine/collectives/", "apps/mpi/engine/core/", "apps/mpi/engine/types/",
        "apps/mpi/engine/base/", "collectives/core/", "runtime/node/", "runtime/base/"}},
      {"apps/mpi/engine/messages/",
       {"apps/mpi/engine/messages/", "apps/mpi/engine/collectives/", "apps/mpi/engine/core/",
        "apps/mpi/engine/types/", "apps/mpi/engine/base/", "runtime/node/"}},
      {"apps/mpi/engine/objects/",
       {"apps/mpi/engine/objects/", "apps/mpi/engine/messages/", "apps/mpi/engine/collectives/",
        "apps/mpi/engine/core/", "apps/mpi/engine/types/", "apps/mpi/engine/base/", "apps/mpi/abi/",
        "collectives/core/"}},
      {"apps/mpi/engine/one_sided/",
       {"apps/mpi/engine/one_sided/", "apps/mpi/engine/objects/", "apps/mpi/engine/messages/",
        "apps/mpi/engine/collectives/", "apps/mpi/engine/core/", "apps/mpi/engine/types/",
        "apps/mpi/engine/base/", "apps/mpi/abi/", "runtime/node/"}},
      {"apps/mpi/engine/run/",
       {"apps/mpi/engine/", "apps/mpi/abi/", "apps/mpi/image/", "runtime/machine/", "runtime/node/",
        "runtime/base/"}},
      {"apps/mpi/prove/",
       {"apps/mpi/prove/", "apps/mpi/engine/", "apps/mpi/abi/", "collectives/core/",
        "collectives/harness/schedule_goal.", "runtime/dataflow/", "runtime/schedule/",
        "runtime/topology/", "runtime/node/", "runtime/base/"}},
      {"apps/mpi/", {}},
      // Files, then what applications share, then the applications.
      {"apps/io/", {"apps/io/", "collectives/core/blocks.", "runtime/"}},
      {"apps/common/", {"apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/draw/", {"apps/draw/", "collectives/", "runtime/"}},
      {"apps/flows/", {"apps/flows/", "runtime/"}},
      {"apps/formats/", {"apps/formats/", "apps/io/", "collectives/harness/", "runtime/"}},
      {"apps/reproduce/", {"apps/reproduce/", "apps/draw/", "collectives/", "runtime/"}},
      {"apps/lookup/", {"apps/lookup/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/matvec/", {"apps/matvec/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/sort/", {"apps/sort/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/prefix/", {"apps/prefix/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/transpose/",
       {"apps/transpose/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      {"apps/fft/",
       {"apps/fft/", "apps/transpose/", "apps/common/", "apps/io/", "collectives/", "runtime/"}},
      // The program, from the context that every command gets up to the commands, and main on top.
      {"apps/cli/core/", {"apps/cli/core/", "apps/io/", "runtime/"}},
      {"apps/cli/output/", {"apps/cli/output/", "apps/cli/core/", "apps/io/", "runtime/"}},
      {"apps/cli/options/",
       {"apps/cli/options/", "apps/cli/output/", "apps/cli/core/", "apps/common/", "apps/formats/",
        "apps/io/", "collectives/", "runtime/"}},
      {"apps/cli/commands/",
       {"apps/cli/commands/", "apps/cli/options/", "apps/cli/output/", "apps/cli/core/",
        "apps/common/", "apps/io/", "apps/draw/", "apps/formats/", "apps/reproduce/", "apps/mpi/",
        "apps/fft/", "apps/lookup/", "apps/matvec/", "apps/prefix/", "apps/sort/",
        "apps/transpose/", "collectives/", "runtime/"}},
      {"apps/cli/", {"apps/cli/", "apps/flows/", "collectives/", "runtime/"}},
      {"apps/examples/", {"apps/common/", "collectives/", "runtime/"}},
  };
  for (const auto& [folder, allowed] : rows) {
    if (!file.starts_with(folder)) continue;
    // Routes are for who moves messages or looks at them.
    const bool knows_routes = folder != "runtime/node/" && folder != "collectives/" &&
                              folder != "collectives/core/" &&
                              !file.starts_with("runtime/topology/graph.") &&
                              !file.starts_with("runtime/topology/topology.");
    if (!knows_routes && other.starts_with("runtime/topology/routing.")) return false;
    if (folder == "collectives/" &&
        (other.starts_with("collectives/harness/") || other.starts_with("collectives/choose/") ||
         other.starts_with("runtime/node/requests."))) {
      return false;
    }
    return std::ranges::any_of(allowed, [&](auto prefix) { return other.starts_with(prefix); });
  }
  return file.starts_with("tests/") || file.starts_with("bench/");
}

/// What an include line names in quotes; system headers are not our layers. Empty for other lines.
std::string_view included(std::string_view line) {
  constexpr std::string_view start = "#include \"wormcube/";
  if (!line.starts_with(start)) return {};
  line.remove_prefix(start.size());
  return line.substr(0, line.find('"'));
}

/// "wormcube::Machine" for each class that a file defines outside of unnamed namespaces, each with
/// the file's name.
class Definitions {
 public:
  void read(const std::string& file, std::istream& text) {
    std::string space;
    bool unnamed = false;
    for (std::string line; std::getline(text, line);) {
      if (line == "namespace {" || line == "}  // namespace") unnamed = line.ends_with('{');
      if (unnamed) continue;
      if (line.starts_with("namespace ")) space = line.substr(10, line.find(" {") - 10);
      std::string_view rest = line;
      if (rest.starts_with("enum ")) rest.remove_prefix(5);
      if (!rest.starts_with("class ") && !rest.starts_with("struct ")) continue;
      rest.remove_prefix(rest.find(' ') + 1);
      if (rest.starts_with("alignas(")) rest.remove_prefix(rest.find(") ") + 2);
      const std::string name(rest.substr(0, rest.find_first_of(" ;{<")));  // Machine::Impl too
      if (line.ends_with('{')) files_[space + "::" + name].push_back(file);
    }
  }
  /// What more than one file defines: the linker takes either for both.
  std::vector<std::string> repeated() const {
    std::vector<std::string> result;
    for (const auto& [name, files] : files_) {
      if (files.size() == 1) continue;
      result.push_back(name + " in");
      for (const std::string& file : files) result.back() += " " + file;
    }
    return result;
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace

TEST_CASE("no two files define a class of the same name that others can see", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  Definitions definitions;
  for (const char* const folder : {"runtime", "collectives", "apps"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp") continue;
      std::ifstream text(entry.path());
      definitions.read(entry.path().lexically_relative(root).generic_string(), text);
    }
  }
  CHECK(definitions.repeated() == std::vector<std::string>{});
}

// fmt::print throws where a stream is closed or full: print(), print_data() and print_error() do
// not.
TEST_CASE("nothing is printed by functions that throw", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  for (const char* const folder : {"runtime", "collectives", "apps"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      INFO(entry.path());
      CHECK(text.find("fmt::print(") == std::string::npos);
    }
  }
}

TEST_CASE("the test for repeated names finds one", "[layering]") {
  Definitions definitions;
  std::istringstream first("namespace a {\nclass Runner {\n}; }\nclass Other;\n");
  std::istringstream second(
      "namespace a {\nstruct alignas(64) Runner : Base {\n}; }\nclass Other {\n"
      "struct alignas(64) Wide {\n");
  std::istringstream elsewhere("namespace a::b {\nenum class Runner : int {\n");
  std::istringstream unseen(
      "namespace a {\nnamespace {\nclass Other {\n};\n}  // namespace\nclass Other::Part {\n");
  std::istringstream third("namespace a {\nnamespace {\n}  // namespace\nstruct Other {\n");
  definitions.read("x.hpp", first);
  definitions.read("y.hpp", second);
  definitions.read("z.hpp", elsewhere);
  definitions.read("u.cpp", unseen);
  CHECK(definitions.repeated() == std::vector<std::string>{"a::Runner in x.hpp y.hpp"});
  definitions.read("v.cpp", third);
  CHECK(definitions.repeated() ==
        std::vector<std::string>{"a::Other in y.hpp v.cpp", "a::Runner in x.hpp y.hpp"});
}

TEST_CASE("no file includes a layer that it must not know", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  std::size_t lines = 0;
  for (const char* const folder : {"runtime", "collectives", "apps", "bench", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp") continue;
      const std::string file = entry.path().lexically_relative(root).generic_string();
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        const std::string_view other = included(line);
        const bool is_written_by_the_build = other == "version.hpp" || other == "abi.hpp" ||
                                             other == "built.hpp" || other == "compilers.hpp" ||
                                             other == "mpi/mpi.h" || other == "mpi/functions.def";
        if (other.empty() || is_written_by_the_build) continue;
        ++lines;
        CAPTURE(file, other);
        CHECK(may_include(file, other));
        CHECK(fs::exists(root / other));  // from the root, so that the line names the layer
      }
    }
  }
  CHECK(lines > 100);  // the test has found the tree
}

namespace {

/// Folders that include each other in a circle: "a b a"; empty: none.
std::string circle(const std::map<std::string, std::set<std::string>>& includes) {
  std::map<std::string, int> state;  // 1: on the way from the start, 2: no circle from there
  std::string found;
  const std::function<bool(const std::string&)> visit = [&](const std::string& folder) {
    if (state[folder] == 2) return false;
    if (state[folder] == 1) return found = folder, true;
    state[folder] = 1;
    if (const auto at = includes.find(folder); at != includes.end()) {
      for (const std::string& other : at->second) {
        if (!visit(other)) continue;
        found = folder + " " + found;
        return true;
      }
    }
    state[folder] = 2;
    return false;
  };
  for (const auto& [folder, others] : includes) {
    if (visit(folder)) break;
  }
  return found;
}

}  // namespace

TEST_CASE("folders include each other in no circle", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  const std::string top = GENERATE("runtime", "apps");
  std::map<std::string, std::set<std::string>> includes;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
    if (!entry.is_regular_file()) continue;
    const fs::path file = entry.path().lexically_relative(root);
    const std::string folder = file.parent_path().generic_string();
    std::ifstream text(entry.path());
    for (std::string line; std::getline(text, line);) {
      const fs::path other(included(line));
      const std::string its_folder = other.parent_path().generic_string();
      // The machine's own folder is the roof of its rooms: they know its options and figures alone.
      const bool is_of_roof = (its_folder == "runtime/machine" && folder.starts_with(its_folder)) ||
                              folder == "apps/cli/mpi";  // an implementation that main brings
      if (!its_folder.empty() && its_folder != folder && !is_of_roof) {
        includes[folder].insert(its_folder);
      }
    }
  }
  CHECK(includes.size() > 5);
  CHECK(circle(includes) == "");
  CHECK(circle({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}) == "a b c a");
}

TEST_CASE("the folders of the collectives include each other in no circle", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  std::map<std::string, std::set<std::string>> includes;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "collectives")) {
    if (!entry.is_regular_file()) continue;
    const std::string folder = entry.path().lexically_relative(root).parent_path().generic_string();
    std::ifstream text(entry.path());
    for (std::string line; std::getline(text, line);) {
      const std::string other = fs::path(included(line)).parent_path().generic_string();
      if (other.starts_with("collectives/") && other != folder) includes[folder].insert(other);
    }
  }
  CHECK(includes.size() > 15);
  CHECK(circle(includes).empty());
}

TEST_CASE("the layering test fails on a forbidden include", "[layering]") {
  CHECK(included("#include \"wormcube/runtime/node/node.hpp\"") == "runtime/node/node.hpp");
  CHECK(included("#include <vector>").empty());
  CHECK(may_include("runtime/machine/machine.hpp", "runtime/schedule/schedule.hpp"));
  CHECK(may_include("apps/cli/main.cpp", "runtime/machine/machine.hpp"));
  const std::vector<std::pair<std::string_view, std::string_view>> forbidden{
      {"runtime/topology/graph.cpp", "runtime/topology/routing.hpp"},
      {"runtime/topology/graph.cpp", "runtime/node/op.hpp"},
      {"runtime/node/node.hpp", "runtime/base/fiber/fiber.hpp"},
      {"runtime/node/together.cpp", "runtime/machine/machine.hpp"},
      {"runtime/node/together.cpp", "runtime/schedule/schedule.hpp"},
      {"runtime/topology/routing.cpp", "runtime/network/channel.hpp"},
      {"runtime/node/node.hpp", "runtime/topology/routing.hpp"},
      {"runtime/network/network.cpp", "runtime/machine/machine.hpp"},
      {"runtime/network/network.cpp", "runtime/schedule/schedule.hpp"},
      {"runtime/network/network.cpp", "runtime/machine/executor/gate.hpp"},
      {"runtime/schedule/record.cpp", "runtime/machine/machine.hpp"},
      {"runtime/schedule/check.cpp", "runtime/network/channel.hpp"},
      {"runtime/schedule/check.cpp", "runtime/dataflow/named.hpp"},
      {"runtime/dataflow/prove.cpp", "runtime/machine/machine.hpp"},
      {"runtime/machine/machine.cpp", "runtime/schedule/check.hpp"},
      {"runtime/machine/executor/threads.cpp", "runtime/machine/machine.hpp"},
      {"runtime/machine/node/emulated_node.hpp", "runtime/machine/machine.hpp"},
      {"runtime/machine/node/emulated_node.cpp", "runtime/machine/report/deadlock_report.hpp"},
      {"collectives/core/algorithm.hpp", "collectives/kit/links.hpp"},
      {"apps/common/trace.cpp", "apps/cli/output/table.hpp"},
      {"apps/io/npy.hpp", "apps/common/exchange.hpp"},
      {"apps/sort/run.cpp", "apps/matvec/run.hpp"},
      {"apps/draw/page.cpp", "apps/cli/core/json.hpp"},
      {"apps/cli/core/context.cpp", "apps/cli/output/results.hpp"},
      {"apps/cli/output/results.cpp", "apps/cli/options/machine.hpp"},
      {"apps/cli/options/machine.cpp", "apps/cli/commands/commands.hpp"},
      {"apps/cli/commands/run.cpp", "apps/cli/program.hpp"},
      {"apps/new_folder/file.cpp", "runtime/base/error.hpp"},
      {"runtime/machine/machine.cpp", "collectives/core/registry.hpp"},
      {"runtime/base/fiber/fiber.cpp", "runtime/machine/executor/executor.hpp"},
      {"runtime/new_folder/file.cpp", "runtime/base/error.hpp"},
      {"collectives/alltoall/ring.cpp", "runtime/topology/routing.hpp"},
      {"collectives/alltoall/ring.cpp", "runtime/node/requests.hpp"},
      {"collectives/alltoall/ring.cpp", "runtime/machine/machine.hpp"},
      {"collectives/alltoall/ring.cpp", "runtime/schedule/schedule.hpp"},
      {"collectives/core/registry.cpp", "apps/common/exchange.hpp"},
      {"collectives/core/registry.cpp", "collectives/harness/check.hpp"},
      {"collectives/harness/check.cpp", "apps/cli/output/table.hpp"},
      {"apps/fft/fft.cpp", "tests/schedule/programs.hpp"},
      {"apps/mpi/image/images.cpp", "apps/mpi/engine/core/job.hpp"},
      {"apps/mpi/engine/base/groups.cpp", "apps/mpi/engine/core/rank.hpp"},
      {"apps/mpi/engine/types/types.cpp", "apps/mpi/engine/core/calls.hpp"},
      {"apps/mpi/engine/core/job.cpp", "apps/mpi/engine/one_sided/window.hpp"},
      {"apps/mpi/engine/core/job.cpp", "runtime/machine/machine.hpp"},
      {"apps/mpi/engine/core/job.cpp", "apps/cli/core/print.hpp"},
      {"apps/mpi/engine/collectives/neighbours.cpp", "apps/mpi/engine/messages/messages.hpp"},
      {"apps/mpi/engine/file.cpp", "apps/mpi/abi/functions.h"},
      {"runtime/machine/machine.cpp", "apps/mpi/engine/core/job.hpp"},
  };
  for (const auto& [file, other] : forbidden) {
    CAPTURE(file, other);
    CHECK_FALSE(may_include(file, other));
  }
}
