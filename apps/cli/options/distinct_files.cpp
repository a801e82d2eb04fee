// Checks that no output is an input, or another output.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/distinct_files.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

/// A file named on the command line.
struct NamedFile {
  std::string option, name;
  bool output = false;
  bool data = false;  // an application's input, which --overwrite permits to replace
};

/// The file that a name refers to: its device and number, or, for a file that does not exist yet,
/// its folder's and its name. Empty unless it is a regular file: several outputs may share a pipe.
std::string identity(const NamedFile& file) {
  struct stat status {};
  const bool there =
      file.name == "-" ? fstat(STDOUT_FILENO, &status) == 0 : stat(file.name.c_str(), &status) == 0;
  if (there) {
    return S_ISREG(status.st_mode) ? fmt::format("{}:{}", status.st_dev, status.st_ino) : "";
  }
  std::filesystem::path path(file.name);
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    const auto target = std::filesystem::read_symlink(path, error);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (stat(folder.c_str(), &status) != 0) return "";
  return fmt::format("{}:{}/{}", status.st_dev, status.st_ino, path.filename().string());
}

/// The files in "ring:4*graph:FILE".
void add_graphs(std::string_view topology, std::vector<NamedFile>& files) {
  constexpr std::string_view start = "graph:";
  for (std::size_t at = 0; (at = topology.find(start, at)) != topology.npos;) {
    at += start.size();
    const std::size_t end = std::min(topology.find('*', at), topology.size());
    files.push_back({"graph", std::string(topology.substr(at, end - at)), false});
  }
}

std::vector<NamedFile> files_of(const CLI::App& command) {
  std::vector<NamedFile> files;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    const bool output = option->get_group() == "Output" || name == "--output";
    const bool file = option->get_type_name().find("FILE") != std::string::npos;
    for (const std::string& value : option->results()) {
      if (value.find("graph:") != std::string::npos) add_graphs(value, files);
      if (file && !value.empty() && value != "-")
        files.push_back({name, value, output, option->get_group() == "Data"});
    }
  }
  return files;
}

}  // namespace

void require_distinct_files(const CLI::App& command, const std::vector<std::string>& plugins) {
  std::vector<NamedFile> files = files_of(command);
  for (const std::string& plugin : plugins) files.push_back({"--plugin", plugin, false});
  files.push_back({"standard output", "-", true});
  const CLI::Option* const overwrite = command.get_option_no_throw("--overwrite");
  const bool may_overwrite = overwrite != nullptr && overwrite->count() > 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const NamedFile &one = files[j].output ? files[i] : files[j],
                      &other = files[j].output ? files[j] : files[i];
      if (!other.output || identity(one).empty() || identity(one) != identity(other)) continue;
      const bool result_on_input = !one.output && one.data && other.option == "--output";
      if (result_on_input && may_overwrite) continue;
      if (one.output) {
        throw UsageError(
            fmt::format("{} and {} would write the same file, {}; name a different file for each",
                        one.option, other.option, one.name == "-" ? other.name : one.name));
      }
      throw UsageError(
          fmt::format("{} would overwrite '{}', which is an input ({}); name another file{}",
                      other.option, one.name, one.option,
                      result_on_input && overwrite != nullptr ? ", or add --overwrite" : ""));
    }
  }
}

}  // namespace wormcube::cli
