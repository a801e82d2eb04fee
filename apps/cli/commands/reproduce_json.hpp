// The JSON of `wormcube reproduce`, so far or at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/reproduce/paper.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace wormcube::cli {

/// \param passed  empty: not yet at the end
void put_passed(Json& json, std::optional<bool> passed);
/// Errors in print.
Json errata_json(std::span<const apps::Erratum> errata);
/// The same as notes.
void print_errata(const OutputOptions& output, std::span<const apps::Erratum> errata);
/// A paper of tables. \param rows, refused  arrays
Json reproduced_json(std::string_view paper, std::string_view citation, const Json& rows,
                     const Json& refused, std::span<const apps::Erratum> errata,
                     std::optional<bool> passed);

}  // namespace wormcube::cli
