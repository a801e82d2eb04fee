// The JSON of `wormcube reproduce`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/reproduce_json.hpp"

namespace wormcube::cli {

void put_passed(Json& json, std::optional<bool> passed) {
  put(json, "passed", json_value(passed), "stopped before the end: the rows here are complete");
}

Json reproduced_json(std::string_view paper, std::string_view citation, const Json& rows,
                     const Json& refused, std::span<const apps::Erratum> errata,
                     std::optional<bool> passed) {
  Json json{{"paper", paper},
            {"citation", citation},
            {"rows", rows},
            {"refused", refused},
            {"errata", Json::array()}};
  for (const apps::Erratum& erratum : errata) {
    json["errata"].push_back({{"name", erratum.name},
                              {"place", erratum.place},
                              {"printed", erratum.printed},
                              {"correct", erratum.correct}});
  }
  put_passed(json, passed);
  return json;
}

}  // namespace wormcube::cli
