// Time limits: a thread that watches the clock.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/time_limited.hpp"

#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/print.hpp"

#include <cstdlib>

#include <fmt/core.h>

namespace wormcube::cli {

CommandLimit::CommandLimit(Context& context, std::chrono::milliseconds limit,
                           std::chrono::milliseconds grace) {
  if (limit.count() <= 0) return;
  watch_ = std::thread([this, &context, limit, grace] {
    std::unique_lock lock(mutex_);
    if (end_.wait_for(lock, limit + grace, [this] { return ended_; })) return;
    end_over_time_limit(context,
                        fmt::format("not finished after {} ms, the time limit", limit.count()));
  });
}

CommandLimit::~CommandLimit() {
  if (!watch_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  watch_.join();
}

void end_over_time_limit(Context& context, const std::string& text) {
  context.end_work(over_time_limit, text);  // earlier measurements are kept
  complain(context.doing() + text + "; the rest was skipped");
  std::_Exit(time_limit);
}

}  // namespace wormcube::cli
