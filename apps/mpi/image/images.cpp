// Loading copies of a program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/image/images.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/sanitizers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wormcube::mpi {
namespace {

/// What the program's own file says of itself.
struct Headers {
  std::string text;  // the file

  template <class T>
  const T* at(std::size_t offset, std::size_t count = 1) const {
    if (offset > text.size() || count > (text.size() - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(text.data() + offset);
  }
};

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: {}", path, std::strerror(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Throws UsageError unless the loader would take it, and the reason why it would not; returns the
/// bytes of memory that an image takes.
std::size_t require_loadable(const std::string& path, const Headers& file) {
  constexpr std::string_view way_out = "link it with `wormcube mpicc` (or mpicxx)";
  const auto* const header = file.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    throw UsageError(fmt::format("{} is no program of this system; {}", path, way_out));
  }
  if (header->e_type != ET_DYN) {
    throw UsageError(fmt::format("{} can be loaded once only (it is linked -no-pie or -static); {}",
                                 path, way_out));
  }
  const auto* const segments = file.at<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
  if (segments == nullptr) throw UsageError(fmt::format("{} is cut off", path));
  std::size_t bytes = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto& segment = segments[i];
    if (segment.p_type == PT_LOAD) bytes = std::max(bytes, segment.p_vaddr + segment.p_memsz);
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::size_t count = segment.p_filesz / sizeof(ElfW(Dyn));
    const auto* const entries = file.at<ElfW(Dyn)>(segment.p_offset, count);
    for (std::size_t k = 0; entries != nullptr && k < count; ++k) {
      const auto flags = entries[k].d_un.d_val;
      const auto refuse = [&](std::string_view flag) {
        throw UsageError(
            fmt::format("{} was linked with {}, so it cannot be loaded for each rank; {}", path,
                        flag, way_out));
      };
      if (entries[k].d_tag == DT_FLAGS_1 && (flags & DF_1_PIE) != 0) refuse("-pie");
      if (entries[k].d_tag == DT_FLAGS_1 && (flags & DF_1_NOOPEN) != 0) refuse("-z nodlopen");
      if (entries[k].d_tag == DT_TEXTREL) refuse("text relocations (objects without -fPIC)");
      if (entries[k].d_tag == DT_FLAGS && (flags & DF_TEXTREL) != 0)
        refuse("text relocations (objects without -fPIC)");
      if (entries[k].d_tag == DT_FLAGS && (flags & DF_STATIC_TLS) != 0)
        refuse("-ftls-model=initial-exec (static TLS)");
    }
  }
  return bytes;
}

/// A copy of the program in memory, without a name in any folder: so nothing is left of it, however the
/// process ends.
class Copy {
 public:
  Copy(const std::string& program, std::string_view text)
      : file_(memfd_create(program.substr(program.rfind('/') + 1).c_str(), MFD_CLOEXEC)) {
    while (file_ >= 0 && !text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file_ >= 0 && text.empty()) return;
    const int error = errno;
    if (file_ >= 0) close(file_);
    throw UsageError(
        fmt::format("{}: a copy in memory: {}; use fewer ranks", program, std::strerror(error)));
  }
  ~Copy() { close(file_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  /// What to load it by. The loader takes a name that it knows for what it has loaded, and the
  /// descriptor is the same for every copy: so each rank spells it in another way.
  std::string path(Rank rank) const {
    std::string path = "/proc/self/fd/";
    for (auto rest = static_cast<unsigned>(rank); rest > 0; rest >>= 1U)
      path += (rest & 1U) != 0 ? "./" : "/";
    return path + std::to_string(file_);
  }

 private:
  int file_;
};

Rank loaded_rank = 0;

}  // namespace

Images::Images(const std::string& program, Rank ranks) : program_(program) {
  const Headers file{file_text(program)};
  bytes_ = require_loadable(program, file);
  images_.reserve(static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Copy copy(program, file.text);
    const std::string path = copy.path(rank);
    loaded_rank = rank;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | own_symbols_first());
    if (handle == nullptr) {
      const std::string why = dlerror();
      throw UsageError(
          fmt::format("{}: copy {} of {} cannot be loaded: {}", program, rank + 1, ranks,
                      why.starts_with(path + ": ") ? why.substr(path.size() + 2) : why));
    }
    Image image;
    const auto* const entry =
        static_cast<decltype(Image::main)*>(dlsym(handle, "wormcube_rank_main"));
    image.finish = reinterpret_cast<void (*)()>(dlsym(handle, "wormcube_rank_finish"));
    if (entry == nullptr || image.finish == nullptr) {
      throw UsageError(fmt::format("{} was not linked by `wormcube mpicc` (or mpicxx)", program));
    }
    image.main = *entry;
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
      image.base = reinterpret_cast<const std::byte*>(map->l_addr);  // NOLINT: the loader's number
    }
    images_.push_back(image);
  }
}

std::optional<std::size_t> Images::offset_of(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Image& image : images_) {
    const auto base = reinterpret_cast<std::uintptr_t>(image.base);
    if (at >= base && at - base < bytes_) return at - base;
  }
  return std::nullopt;
}

// A sanitizer's functions would not be found first either, and it refuses that.
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
// What a copy's constructors ask: whose it is.
int wormcube_rank_that_is_loaded();
int wormcube_rank_that_is_loaded() { return wormcube::mpi::loaded_rank; }
}
