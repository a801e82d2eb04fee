// Loads copies of a program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/image/images.hpp"

#include "wormcube/apps/mpi/image/libraries.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/sanitizers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wormcube::mpi {
namespace {

/// A copy of a file in memory, without a name in any folder, so that nothing is left of it, however
/// the process ends.
class Copy {
 public:
  explicit Copy(const std::string& path)
      : file_(memfd_create(path.substr(path.rfind('/') + 1).c_str(), MFD_CLOEXEC)) {
    if (file_ < 0) refuse(path);
  }
  ~Copy() {
    if (file_ >= 0) close(file_);
  }
  Copy(Copy&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  /// Leaves the copy in memory until the process ends.
  void keep() { file_ = -1; }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void write(const ElfFile& file) const {
    for (std::string_view text = file.bytes(); !text.empty();) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0) refuse(file.path());
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// The path to load a copy by. A debugger opens it, too, so it names this process: in another one,
  /// /proc/self is that one. The loader takes a known path for a library that it has already
  /// loaded, and all ranks use the same descriptors, so each copy spells its path differently.
  std::string path(std::size_t number) const {
    std::string path = fmt::format("/proc/{}/fd/", getpid());
    for (auto rest = number; rest > 0; rest >>= 1U) path += (rest & 1U) != 0 ? "./" : "/";
    return path + std::to_string(file_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& path) {
    throw UsageError(fmt::format("{}: cannot copy it into memory: {}; use fewer ranks", path,
                                 std::strerror(errno)));
  }

  int file_;
};

Rank loaded_rank = 0;

/// Whether a debugger runs this process. It reads a copy again when it shows a stack.
bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return !line.ends_with("\t0");
  }
  return false;
}

/// Loads a copy of the first file, with copies of the others. \param number  of earlier copies
void* load(std::vector<CopiedFile>& files, std::size_t number, Rank rank, Rank ranks) {
  std::vector<std::string> paths;
  std::vector<Copy> copies;
  for (const CopiedFile& each : files) {
    const Copy& copy = copies.emplace_back(each.file.path());
    paths.push_back(copy.path(number + paths.size()));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const auto& name : files[i].names) files[i].file.write_name(name.at, paths[name.library]);
    copies[i].write(files[i].file);
  }
  loaded_rank = rank;
  void* const handle = dlopen(paths[0].c_str(), RTLD_NOW | RTLD_LOCAL | own_symbols_first());
  static const bool keeps_copies = is_traced();
  if (keeps_copies) std::ranges::for_each(copies, &Copy::keep);
  if (handle != nullptr) return handle;
  std::string why = dlerror();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto found = why.find(paths[i]);
    if (found != std::string::npos) why.replace(found, paths[i].size(), files[i].file.path());
  }
  throw UsageError(
      fmt::format("{}: cannot load copy {} of {}: {}", files[0].file.path(), rank + 1, ranks, why));
}

}  // namespace

Images::Images(const std::string& program, Rank ranks) : program_(program) {
  std::vector<CopiedFile> files = files_to_copy(program);
  bytes_ = files.front().file.size_in_memory();
  images_.reserve(static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    void* const handle = load(files, static_cast<std::size_t>(rank) * files.size(), rank, ranks);
    Image image;
    const auto* const entry =
        static_cast<decltype(Image::main)*>(dlsym(handle, "wormcube_rank_main"));
    image.finish = reinterpret_cast<void (*)()>(dlsym(handle, "wormcube_rank_finish"));
    if (entry == nullptr || image.finish == nullptr) {
      throw UsageError(fmt::format("{} was not linked with `wormcube mpicc` (or mpicxx)", program));
    }
    image.main = *entry;
    image.handle = handle;
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
      image.base = reinterpret_cast<const std::byte*>(map->l_addr);  // NOLINT: the loader's number
    }
    if (rank == 0) {
      uses_openmp_ =
          dlsym(handle, "GOMP_parallel") != nullptr || dlsym(handle, "__kmpc_fork_call") != nullptr;
    }
    images_.push_back(image);
  }
}

// The loader also looks into the libraries that the program needs: MPI's are not its own.
void* Images::find(Rank rank, const char* name) const {
  void* const found = dlsym((*this)[rank].handle, name);
  void* const library = dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return found;
  const bool is_of_library = found == dlsym(library, name);
  dlclose(library);
  return is_of_library ? nullptr : found;
}

std::optional<std::size_t> Images::offset_of(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Image& image : images_) {
    const auto base = reinterpret_cast<std::uintptr_t>(image.base);
    if (at >= base && at - base < bytes_) return at - base;
  }
  return std::nullopt;
}

// With a sanitizer, its functions would not be found first either, and it refuses the flag.
int own_symbols_first() {
#if defined(WORMCUBE_ASAN) || defined(WORMCUBE_TSAN)
  return 0;
#else
  return RTLD_DEEPBIND;
#endif
}

std::string place_in(const std::string& program, std::size_t offset) {
  const auto slash = program.rfind('/');
  const std::string base = slash == std::string::npos ? program : program.substr(slash + 1);
  const std::string plain = fmt::format("{}+{:#x}", base, offset);
  std::string quoted;
  for (const char c : program) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string command = fmt::format("addr2line -s -e '{}' {:#x} 2>/dev/null", quoted, offset);
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return plain;
  std::array<char, 512> line{};
  const bool has_line = std::fgets(line.data(), line.size(), pipe) != nullptr;
  pclose(pipe);
  std::string_view text(line.data());
  text = text.substr(0, text.find_first_of("\n ("));
  if (!has_line || text.empty() || text.starts_with("?") || text.ends_with(":?") ||
      text.ends_with(":0"))
    return plain;
  return std::string(text);
}

}  // namespace wormcube::mpi

extern "C" {
// What the constructors of a copy ask: which rank they belong to.
int wormcube_rank_that_is_loaded();
int wormcube_rank_that_is_loaded() { return wormcube::mpi::loaded_rank; }
}
