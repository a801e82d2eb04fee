// The JSON of `wormcube reproduce`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/reproduce_json.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

void put_passed(Json& json, std::optional<bool> passed) {
  put(json, "passed", json_value(passed), "stopped before the end: the rows here are complete");
}

Json errata_json(std::span<const apps::Erratum> errata) {
  Json json = Json::array();
  for (const apps::Erratum& erratum : errata) {
    json.push_back({{"name", erratum.name},
                    {"place", erratum.place},
                    {"printed", erratum.printed},
                    {"correct", erratum.correct}});
  }
  return json;
}

void print_errata(const OutputOptions& output, std::span<const apps::Erratum> errata) {
  for (const apps::Erratum& erratum : errata) {
    print_note(output, fmt::format("erratum {}: {}: printed: {}; correct: {}", erratum.name,
                                   erratum.place, erratum.printed, erratum.correct));
  }
}

Json reproduced_json(std::string_view paper, std::string_view citation, const Json& rows,
                     const Json& refused, std::span<const apps::Erratum> errata,
                     std::optional<bool> passed) {
  Json json{{"paper", paper},
            {"citation", citation},
            {"rows", rows},
            {"refused", refused},
            {"errata", errata_json(errata)}};
  put_passed(json, passed);
  return json;
}

}  // namespace wormcube::cli
