// The cgroups of a process, as the kernel shows them in files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace wormcube {

/// Calls f(folder, version) for each folder whose limit of a controller ("memory", "cpu") holds for
/// the process: a limit holds for the group and all below it, so every folder from the process's
/// own group up to the root. In a container the path may be the host's, and only the root is there;
/// version 1 or 2 by what the line in the file says.
///
/// \param cgroup  the file of lines "0::/path" (version 2) and "4:memory,hugetlb:/path" (version
///                1): /proc/self/cgroup
/// \param root    where the hierarchies are mounted: /sys/fs/cgroup
void each_cgroup(const std::string& cgroup, const std::string& root, std::string_view controller,
                 const std::function<void(const std::filesystem::path& folder, int version)>& f);

}  // namespace wormcube
