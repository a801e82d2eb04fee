// Walking up from the process's own cgroup.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/cgroups.hpp"

#include <fstream>

#include <fmt/core.h>

namespace wormcube {
namespace {

using GroupFolder = std::function<void(const std::filesystem::path&)>;

void each_group_up(const std::filesystem::path& root, std::string_view path, const GroupFolder& f) {
  while (path.starts_with('/')) path.remove_prefix(1);
  std::filesystem::path below = std::filesystem::path(path).lexically_normal();
  if (below.begin() != below.end() && *below.begin() == "..") below.clear();
  for (;;) {
    f(below.empty() ? root : root / below);
    if (below.empty()) return;
    below = below.parent_path();
  }
}

}  // namespace

void each_cgroup(const std::string& cgroup, const std::string& root, std::string_view controller,
                 const std::function<void(const std::filesystem::path&, int)>& f) {
  std::ifstream stream(cgroup);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view text = line, path = text.substr(second + 1);
    const std::string controllers = fmt::format(",{},", text.substr(first + 1, second - first - 1));
    if (controllers == ",,") each_group_up(root, path, [&](const auto& folder) { f(folder, 2); });
    if (controllers.find(fmt::format(",{},", controller)) == controllers.npos) continue;
    each_group_up(std::filesystem::path(root) / controller, path,
                  [&](const auto& folder) { f(folder, 1); });
  }
}

}  // namespace wormcube
