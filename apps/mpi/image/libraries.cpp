// Which libraries a program has, and which of them each rank gets a copy of.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/image/libraries.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/auxv.h>

namespace wormcube::mpi {
namespace {

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> stems) {
  return std::ranges::any_of(stems, [&](std::string_view stem) { return name.starts_with(stem); });
}

/// Libraries loaded once for all ranks: their state is internal, or belongs to a thread.
bool is_of_runtime(std::string_view name) {
  return begins_with_any(
      base_of(name),
      {"ld-linux",     "ld64.so",      "linux-vdso",     "linux-gate",    "libc.so",
       "libm.so",      "libmvec.so",   "libdl.so",       "libpthread.so", "librt.so",
       "libresolv.so", "libutil.so",   "libanl.so",      "libgcc_s.so",   "libstdc++.so",
       "libc++.so",    "libc++abi.so", "libunwind.so.1", "libatomic.so",  "libquadmath.so",
       "libgfortran.", "libgomp.so",   "libomp.so",      "libiomp5.so",   "libasan.so",
       "libtsan.so",   "libubsan.so",  "liblsan.so",     "libmpi_abi.so", "libpmpi_abi.so"});
}

/// Belongs to another MPI: its functions would receive handles that are not its own.
bool is_of_another_mpi(std::string_view name) {
  return begins_with_any(base_of(name), {"libmpi.so", "libmpi_cxx.so", "libmpich.so",
                                         "libmpichcxx.so", "libmpicxx.so"});
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Where the loader finds each library that the program needs, by name. The loader only lists them
/// and runs nothing of the program.
std::map<std::string, std::string> paths_of_libraries(const ElfFile& program) {
  const std::string real =
      std::unique_ptr<char, void (*)(void*)>(realpath(program.path().c_str(), nullptr), std::free)
          .get();
  std::string_view loader = program.interpreter();
  Dl_info own{};  // clang links programs without one
  if (loader.empty() && dladdr(reinterpret_cast<void*>(getauxval(AT_BASE)), &own) != 0) {
    loader = own.dli_fname;
  }
  const std::string command =
      fmt::format("LD_TRACE_LOADED_OBJECTS=1 exec {} {}", shell_quoted(loader), shell_quoted(real));
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw UsageError(fmt::format("cannot start {}", command));
  std::map<std::string, std::string> paths;
  std::array<char, 8192> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    // "NAME => PATH (ADDRESS)", "PATH (ADDRESS)", "NAME => not found"
    std::string_view line(buffer.data());
    line.remove_prefix(std::min(line.find_first_not_of("\t "), line.size()));
    if (line.ends_with('\n')) line.remove_suffix(1);
    constexpr std::string_view arrow = " => ";
    const auto split = line.find(arrow);
    std::string_view path =
        split == std::string_view::npos ? line : line.substr(split + arrow.size());
    const std::string_view name =
        split == std::string_view::npos ? path.substr(0, path.rfind(" (")) : line.substr(0, split);
    path = path.substr(0, path.rfind(" ("));
    paths.emplace(name, path == "not found" ? "" : path);
  }
  pclose(pipe);
  return paths;
}

}  // namespace

// One that is linked with libmpi_abi.so.1 does not get here: that library refuses it.
void refuse_preloaded_tools() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  std::string_view rest = preloaded == nullptr ? "" : preloaded;
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find_first_of(" :")));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    link_map* map = nullptr;
    if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) continue;
    const ElfFile file(map->l_name, "remove it from LD_PRELOAD");
    constexpr std::string_view profiling("\0PMPI_", 6);  // in the table of symbols
    if (file.bytes().find(profiling) == std::string_view::npos) continue;
    throw UsageError(fmt::format(
        "LD_PRELOAD={}: a library that calls MPI functions cannot be preloaded, because each rank "
        "needs its own; link it with the program instead: wormcube mpicc PROGRAM.o LIBRARY",
        preloaded));
  }
}

std::vector<CopiedFile> files_to_copy(const std::string& program) {
  std::vector<CopiedFile> files;
  files.push_back({ElfFile(program, "link it with `wormcube mpicc` (or mpicxx)")});
  files.front().file.require_loadable();
  std::map<std::string, std::string> paths;
  std::map<std::string, std::size_t> copied;  // by path: which of the files
  const auto path_of = [&](const std::string& name) {
    if (paths.empty()) paths = paths_of_libraries(files.front().file);
    const auto found = paths.find(name);
    if (found == paths.end() || found->second.empty()) {
      throw UsageError(
          fmt::format("{}: cannot find its library {}; name its folder in LD_LIBRARY_PATH, or with "
                      "-Wl,-rpath,FOLDER when you link the program",
                      program, name));
    }
    return found->second;
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].file.separate_unique_symbols();
    for (const std::string& name : files[i].file.needed()) {
      if (is_of_another_mpi(name)) {
        throw UsageError(fmt::format(
            "{} needs {}, which belongs to another MPI; build it with `wormcube mpicc` (or mpicxx)",
            files[i].file.path(), name));
      }
      if (is_of_runtime(name)) {
        dlopen(paths.contains(name) ? paths[name].c_str() : name.c_str(), RTLD_NOW | RTLD_LOCAL);
        continue;
      }
      const std::string path = path_of(name);
      const auto [place, is_new] = copied.try_emplace(path, files.size());
      if (is_new) {
        files.push_back(
            {ElfFile(path, fmt::format("link {} with its static form, {}.a", program,
                                       base_of(name).substr(0, base_of(name).find('.'))))});
        files.back().file.require_loadable();
      }
      files[i].names.push_back({files[i].file.reserve_name_of_needed(name), place->second});
    }
  }
  return files;
}

}  // namespace wormcube::mpi
