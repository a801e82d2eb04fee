// The registry: sorts, finds, chooses.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"

#include "wormcube/collectives/core/aliases.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

#define WORMCUBE_LIST(name) extern const Registration registered_##name;
#include "wormcube/collectives/core/algorithms.inc"
#undef WORMCUBE_LIST

namespace {

#define WORMCUBE_LIST(name) &registered_##name,
constexpr std::array built_in{
#include "wormcube/collectives/core/algorithms.inc"
};
#undef WORMCUBE_LIST

struct Registry {
  std::vector<Operation> operations{all_operations.begin(), all_operations.end()};
  std::vector<const Algorithm*> algorithms;
  std::map<const Algorithm*, std::string> origins;

  Registry() {
    for (const Registration* file : built_in) {
      for (const Algorithm& algorithm : file->all) algorithms.push_back(&algorithm);
    }
    sort();
  }
  void sort() {
    std::ranges::sort(algorithms, {}, [this](const Algorithm* algorithm) {
      return std::pair(std::ranges::find(operations, algorithm->operation), algorithm->name);
    });
  }
};

Registry& state() {
  static Registry registry;
  return registry;
}

/// A name must be one word on the command line, in lists and in options: "kim-a1".
void require_word(std::string_view name, std::string_view what) {
  const bool is_word = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (is_word) return;
  throw UsageError(
      fmt::format("{} '{}': a name has letters, digits, '-', '_' and '.' only", what, name));
}

}  // namespace

std::span<const Operation> registered_operations() { return state().operations; }

void add_operation(const OperationRow& row, std::string_view origin) {
  if (row.name.empty() || row.gives == nullptr || row.ends_with == nullptr ||
      row.result == nullptr || (row.data == nullptr) != (row.bus_factor == nullptr)) {
    throw UsageError(
        fmt::format("{}: operation '{}' needs a name, gives, ends_with and result, and either both "
                    "or neither of data and bus_factor",
                    origin, row.name));
  }
  if (std::ranges::find(state().operations, Operation(row)) != state().operations.end()) {
    throw UsageError(fmt::format("{}: operation '{}' already exists", origin, row.name));
  }
  require_word(row.name, fmt::format("{}: the operation", origin));
  state().operations.emplace_back(row);
}

namespace {

/// A name without the differences between writers: "MPI_Reduce_scatter", "reduce-scatter" and
/// "ReduceScatter" are "reducescatter".
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      letters += static_cast<char>(c - 'A' + 'a');
    } else if (c != '-' && c != '_' && c != ' ') {
      letters += c;
    }
  }
  if (letters.starts_with("mpi")) letters.erase(0, 3);
  return letters;
}

/// The operation that other books and libraries call so; nothing if there is none.
std::string_view our_name(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> others{
      {{"bcast", "broadcast"},
       {"onetoall", "broadcast"},
       {"onetoallbroadcast", "broadcast"},
       {"alltoone", "reduce"},
       {"alltoonereduction", "reduce"},
       {"alltoonereduce", "reduce"},
       {"onetoallpersonalized", "scatter"},
       {"alltoonepersonalized", "gather"},
       {"concatenation", "allgather"},
       {"alltoallreduction", "reduce_scatter"},
       {"alltoallbroadcast", "allgather"},
       {"gossip", "allgather"},
       {"alltoallreduce", "reduce_scatter"},
       {"reducescatterblock", "reduce_scatter"},
       {"totalexchange", "alltoall"},
       {"completeexchange", "alltoall"},
       {"personalizedexchange", "alltoall"},
       {"alltoallpersonalized", "alltoall"},
       {"indexoperation", "alltoall"},
       {"prefix", "scan"},
       {"prefixsum", "scan"},
       {"inclusivescan", "scan"},
       {"synchronize", "barrier"},
       {"allreduction", "allreduce"}}};
  std::string letters = letters_of(text);
  for (const bool without_i : {false, true}) {  // MPI_Ibcast
    if (without_i && !letters.starts_with("i")) break;
    if (without_i) letters.erase(0, 1);
    const auto other =
        std::ranges::find(others, letters, [](const auto& pair) { return pair.first; });
    if (other != others.end()) return other->second;
    for (const Operation operation : registered_operations()) {
      if (letters_of(operation->name) == letters) return operation->name;
    }
  }
  return {};
}

}  // namespace

Operation parse_operation(std::string_view text) {
  std::vector<std::string_view> known;
  for (const Operation operation : registered_operations()) {
    if (operation->name == text) return operation;
    known.push_back(operation->name);
  }
  if (const std::string_view ours = our_name(text); !ours.empty()) return parse_operation(ours);
  throw UsageError(fmt::format("unknown operation '{}'{}; available:{}", text,
                               did_you_mean(text, known), listed(known)));
}

std::span<const Algorithm* const> registry() { return state().algorithms; }

namespace {

/// Throws unless the row has everything that lists and errors print.
void require_whole(const Algorithm& algorithm, std::string_view origin) {
  const auto lacks = [&](std::string_view what) {
    throw UsageError(fmt::format("{}: the algorithm '{}' has no {}", origin, algorithm.name, what));
  };
  if (algorithm.name.empty()) lacks("name");
  require_word(algorithm.name, fmt::format("{}: the algorithm", origin));
  if (algorithm.program == nullptr) lacks("program");
  if (algorithm.summary.empty()) lacks("summary: one line, what it does and its networks");
  if (algorithm.source.empty()) lacks("source: authors, year, section");
  if (algorithm.needs.empty() && !algorithm.needs_commutative && !algorithm.instead.empty()) {
    lacks(fmt::format("needs, but names {} as an alternative if they fail",
                      algorithm.instead.front()));
  }
}

}  // namespace

void add_algorithm(const Algorithm& algorithm, std::string origin) {
  require_whole(algorithm, origin);
  const auto operations = registered_operations();
  if (std::ranges::find(operations, algorithm.operation) == operations.end()) {
    throw UsageError(fmt::format("{}: {} is for operation '{}', which does not exist", origin,
                                 algorithm.name, algorithm.operation->name));
  }
  for (const Algorithm* other : registry()) {
    if (other->operation == algorithm.operation && other->name == algorithm.name) {
      throw UsageError(fmt::format("{}: algorithm '{}' of {} already exists", origin,
                                   algorithm.name, algorithm.operation->name));
    }
  }
  state().algorithms.push_back(&algorithm);
  state().origins.emplace(&algorithm, std::move(origin));
  state().sort();
}

std::string_view origin(const Algorithm& algorithm) {
  const auto found = state().origins.find(&algorithm);
  return found == state().origins.end() ? std::string_view() : found->second;
}

const Algorithm& find_algorithm(Operation operation, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Algorithm* algorithm : registry()) {
    if (algorithm->operation != operation) continue;
    if (algorithm->name == name) return *algorithm;
    known.push_back(algorithm->name);
  }
  throw UsageError(
      fmt::format("{} has no algorithm '{}'{}; available:{}{}", operation->name, name,
                  did_you_mean(name, known), listed(known),
                  name.find('.') == std::string_view::npos
                      ? ""
                      : "; `wormcube list --aliases` has the names of other libraries"));
}

Collective parse_collective(Operation operation, std::string_view text, Arguments arguments) {
  const auto next = [&text] {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
  };
  const bool ends_open = text.ends_with(':');
  const std::string_view name = next();
  const Alias* const alias = find_alias(operation->name, name);
  Collective collective = alias != nullptr
                              ? parse_collective(operation, alias->algorithm, std::move(arguments))
                              : Collective(find_algorithm(operation, name), std::move(arguments));
  if (ends_open) {
    throw UsageError(
        fmt::format("{}: an OPTION=VALUE is missing after the last ':'", collective.name()));
  }
  std::vector<std::string_view> set;
  while (!text.empty()) {
    const std::string_view setting = next();
    const std::size_t equals = setting.find('=');
    try {
      const std::string_view option = setting.substr(0, equals);
      if (std::ranges::find(set, option) != set.end())
        throw UsageError(fmt::format("option '{}' is given twice", option));
      set.push_back(option);
      if (equals == std::string_view::npos) {
        throw UsageError(fmt::format("expected OPTION=VALUE, got '{}'", setting));
      }
      collective.options.set(setting.substr(0, equals), setting.substr(equals + 1));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", collective.name(), error.what()));
    }
  }
  return collective;
}

std::vector<Collective> admitted(Operation operation, const Topology& topology,
                                 const Arguments& arguments) {
  std::vector<Collective> admitted;
  for (const Algorithm* algorithm : registry()) {
    if (algorithm->operation != operation) continue;
    Collective collective(*algorithm, arguments);
    if (!refusal(collective, topology)) admitted.push_back(std::move(collective));
  }
  return admitted;
}

bool is_chosen_by_auto(const Algorithm& algorithm) {
  return algorithm.selection == Selection::automatic && !algorithm.needs_sizes;
}

}  // namespace wormcube
