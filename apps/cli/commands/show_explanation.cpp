// Sentences on an algorithm and its phases.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_explanation.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/explanations.hpp"

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

void print_explanation(const OutputOptions& output, const Algorithm& algorithm,
                       const Schedule& schedule, Json& json) {
  const auto put_text = [&](const std::string& head, std::string_view text) {
    if (output.text()) print(fmt::format("  {}\n{}", head, filled(text, "    ", "    ")));
  };
  json["topology"] = schedule.topology.name();
  json["steps_in_all"] = schedule.steps();
  json["explanation"] = explanation(algorithm);
  Json& phases = json["phases"] = Json::array();
  put_text(fmt::format("all {} steps", schedule.steps()), explanation(algorithm));
  for (const Phase& phase : schedule.phases) {
    const std::string_view text = explanation(algorithm, phase.name);
    phases.push_back({{"name", phase.name},
                      {"first", phase.first},
                      {"last", phase.last},
                      {"explanation", text}});
    put_text(phase.first == phase.last
                 ? fmt::format("step {}: {}", phase.first, phase.name)
                 : fmt::format("steps {} to {}: {}", phase.first, phase.last, phase.name),
             text);
  }
}

}  // namespace wormcube::cli
