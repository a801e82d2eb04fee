// Why there is no result.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/failure.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/exceptions.hpp"

#include <new>
#include <system_error>

namespace wormcube::cli {

bool is_of_this_computer(const std::exception& error) {
  return holds<std::bad_alloc, std::system_error, NoRoom>(error);
}

std::optional<Failure> failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const NobodyReads&) {
    return std::nullopt;
  } catch (const apps::CannotWrite&) {
    return std::nullopt;
  } catch (const TimeLimit& limit) {
    return Failure{time_limit, over_time_limit, limit.what()};
  } catch (const Deadlock& table) {
    return Failure{deadlock, in_deadlock, table.what()};
  } catch (const ProgramError& mistake) {
    return Failure{failed, has_failed, mistake.what()};
  } catch (const std::exception& other) {
    if (is_of_this_computer(other)) return std::nullopt;
    const bool refused = dynamic_cast<const UsageError*>(&other) != nullptr;
    return Failure{refused ? usage : failed, refused ? not_made : has_failed, other.what()};
  } catch (...) {
    return Failure{failed, has_failed, std::string(unknown_exception)};
  }
}

}  // namespace wormcube::cli
