// Arguments of a call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/call.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/permutation.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

void add_reduction_options(CLI::App& app, CallOptions& options, const std::string& group) {
  options.operator_option =
      app.add_option("--operator", options.reduction, "Operator for reductions and scans")
          ->type_name("sum|product|min|max|and|or|xor|compose")
          ->capture_default_str()
          ->group(group);
  options.type_option =
      app.add_option("--type", options.type, "Element type for reductions and scans")
          ->type_name("int32|int64|uint8|float|double|complex|affine")
          ->capture_default_str()
          ->group(group);
}

void add_call_options(CLI::App& app, CallOptions& options) {
  const std::string group = "Arguments of the call";
  options.root_option =
      app.add_option("--root", options.root, "Root node of a broadcast, reduce, scatter or gather")
          ->type_name("NODE")
          ->check(at_least(0))
          ->capture_default_str()
          ->group(group);
  options.by_option =
      app.add_option("--distance", options.by,
                     "Distance of a shift: node r sends to node (r + Q) modulo p; Q may be "
                     "negative")
          ->type_name("Q")
          ->check(whole_signed_number())
          ->capture_default_str()
          ->group(group);
  options.sources_option =
      app.add_option(
             "--sources", options.sources,
             "Source nodes of a k_broadcast or k_alltoall; target nodes of a k_reduce or k_gather. "
             "K stands for nodes 0 to K-1; otherwise give a list such as 0,3,5 (write node 7 alone "
             "as `7,`)")
          ->type_name("K|NODE,NODE..")
          ->capture_default_str()
          ->group(group);
  options.permutation_option =
      app.add_option("--permutation", options.permutation,
                     "Destinations of the nodes' blocks in a permute. complement sends the block "
                     "of node r to node p - 1 - r. bit-reversal, shuffle (rotate left) and "
                     "butterfly (swap first and last) act on the bits of the node's label. "
                     "transpose acts on a square of s x s nodes. You can also list the "
                     "destinations of nodes 0, 1, .. in a file, or directly, as in 1,2,0")
          ->type_name("PERMUTATION|FILE|LIST")
          ->capture_default_str()
          ->group(group);
  add_reduction_options(app, options, group);
  options.in_place_option =
      app.add_flag("--in-place", options.in_place, "Use one buffer for input and output")
          ->group(group);
}

namespace {

std::vector<Rank> parse_sources(const std::string& text) {
  const auto number = [&](std::string_view word) {
    Rank value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
      throw UsageError(fmt::format("--sources '{}': '{}' is not a node number", text, word));
    }
    return value;
  };
  std::vector<Rank> sources;
  if (text.find(',') == std::string::npos) {
    const Rank k = number(text);
    if (k < 1) throw UsageError(fmt::format("--sources {}: need 1 or more", k));
    for (Rank source = 0; source < k; ++source) sources.push_back(source);
    return sources;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    sources.push_back(number(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sources;
}

}  // namespace

void require_effect(const CLI::Option* option, bool takes, Operation operation,
                    std::string_view why) {
  if (option == nullptr || option->count() == 0 || takes) return;
  throw UsageError(fmt::format("{} has no effect on {}{}{}", option->get_name(), operation->name,
                               why.empty() ? "" : ": ", why));
}

void require_data(const CLI::Option* bytes_option, Operation operation) {
  require_effect(bytes_option, operation->moves_data, operation, "it moves no data");
}

Arguments CallOptions::resolve(Operation operation) const {
  const auto refuse = [&](const CLI::Option* option, bool takes) {
    require_effect(option, takes, operation, {});
  };
  refuse(root_option, operation->rooted);
  refuse(by_option, operation->shifts);
  refuse(sources_option, operation->has_sources);
  refuse(permutation_option, operation->permutes);
  refuse(operator_option, operation->reduces);
  refuse(type_option, operation->reduces);
  refuse(in_place_option, operation->place_of_input != nullptr);
  Arguments arguments;
  arguments.root = root;
  arguments.by = by;
  if (operation->has_sources) arguments.sources = parse_sources(sources);
  if (operation->permutes) arguments.permutation = permutation_of(permutation);
  if (operation->reduces) {
    const bool only_type =
        reduction == "compose" && (type_option == nullptr || type_option->count() == 0);
    arguments.reduction = find_reduction(reduction, only_type ? "affine" : type);
  }
  return arguments;
}

Json arguments_json(Operation operation, const Arguments& arguments) {
  Json json = Json::object();
  if (operation->rooted) json["root"] = arguments.root;
  if (operation->shifts) json["distance"] = arguments.by;
  if (operation->permutes) json["permutation"] = arguments.permutation.text();
  if (operation->has_sources) json["sources"] = arguments.sources;
  if (operation->reduces) {
    json["operator"] = arguments.reduction.name;
    json["type"] = arguments.reduction.type;
  }
  return json;
}

void add_record_pieces_option(CLI::App& app, std::int64_t& pieces) {
  app.add_option("--record-pieces", pieces,
                 "Refuse dry runs in which the nodes send and receive more than this many message "
                 "pieces in total (recording handles at least a million per second)")
      ->type_name("N")
      ->check(at_least(1))
      ->capture_default_str()
      ->group("Limits");
}

}  // namespace wormcube::cli
