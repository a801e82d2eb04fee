// Checks that no value on the command line is empty.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/empty_values.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

void require_no_empty_values(const CLI::App& command, int argc, const char* const* argv) {
  const auto check = [](const CLI::Option& option, std::string_view value) {
    const bool list = option.get_delimiter() == ',';
    if (value.empty()) {
      throw UsageError(fmt::format("{}: empty value (unset shell variable?)", option.get_name()));
    }
    if (list && (value.front() == ',' || value.back() == ',' ||
                 value.find(",,") != std::string_view::npos)) {
      throw UsageError(fmt::format("{} '{}': empty item in the list", option.get_name(), value));
    }
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.empty()) throw UsageError("empty argument (unset shell variable?)");
    if (!word.starts_with("--")) continue;
    const std::size_t equals = word.find('=');
    const CLI::Option* const option =
        command.get_option_no_throw(std::string(word.substr(0, equals)));
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    if (equals != std::string_view::npos) {
      check(*option, word.substr(equals + 1));
    } else if (i + 1 < argc) {
      check(*option, argv[++i]);
    }
  }
}

}  // namespace wormcube::cli
