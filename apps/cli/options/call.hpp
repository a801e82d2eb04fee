// The options of a call: root, sources, operator ..
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The arguments of a call: --root, --distance, --sources, --permutation, --operator, --type,
/// --in-place.
struct CallOptions {
  Rank root = 0;
  std::int64_t by = 1;
  std::string sources = "1", permutation = "complement", reduction = "sum", type = "double";
  bool in_place = false;
  // Which options were given: an option without effect is refused.
  CLI::Option *root_option = nullptr, *by_option = nullptr, *sources_option = nullptr,
              *permutation_option = nullptr, *operator_option = nullptr, *type_option = nullptr,
              *in_place_option = nullptr;

  /// Throws UsageError for arguments that the operation does not have, and for unknown names.
  Arguments resolve(Operation operation) const;
};
void add_call_options(CLI::App& app, CallOptions& options);
/// --operator and --type alone.
void add_reduction_options(CLI::App& app, CallOptions& options, const std::string& group);
/// Throws UsageError for an option that has no effect on this operation.
void require_effect(const CLI::Option* option, bool takes, Operation operation,
                    std::string_view why);
/// The same for --bytes: a barrier has no blocks.
void require_data(const CLI::Option* bytes_option, Operation operation);
/// {"root": 0}, {"operator": "sum", "type": "double"}, ..
Json arguments_json(Operation operation, const Arguments& arguments);

/// --record-pieces.
void add_record_pieces_option(CLI::App& app, std::int64_t& pieces);

}  // namespace wormcube::cli
