// One result of `wormcube check` as JSON, which players show too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/weigh.hpp"

namespace wormcube::cli {

/// \param of_call  with the call's own operator, if the check's does not commute
Json check_json(const CheckResult& result, const Weighed& of_call, const CheckOptions& options,
                const CostModel& model, Bytes block_bytes);
/// Step by step, in bytes: the largest message, the busiest link, each message's route.
void add_steps(Json& json, const ScheduleReport& report, const ModelTime& time);

}  // namespace wormcube::cli
