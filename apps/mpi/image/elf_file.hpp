// The file of a program or library (ELF), read and changed before the system's loader opens it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <link.h>

namespace wormcube::mpi {

/// The file's bytes, and what the loader reads from them.
class ElfFile {
 public:
  /// Reads the file. Throws UsageError if it is not a library (or a program in a library's form)
  /// for this system. \param way_out  the end of each error's text
  ElfFile(std::string path, std::string way_out);

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return text_; }
  /// The memory that a loaded copy needs.
  std::size_t size_in_memory() const { return size_in_memory_; }
  /// The path of its loader, "/lib64/ld-linux-x86-64.so.2"; empty if there is none.
  std::string_view interpreter() const { return interpreter_; }
  /// The libraries that it needs, by the names in the file.
  std::vector<std::string> needed() const;

  /// Throws UsageError unless the loader can load many copies of it.
  void require_loadable() const;

  /// Makes symbols that are unique in a process (STB_GNU_UNIQUE: inline variables, statics of
  /// templates and of inline functions) unique in each copy instead.
  void separate_unique_symbols();

  /// Reserves space for another name of a library that it needs. Returns the position for
  /// write_name(). Throws UsageError if there is no room.
  std::size_t reserve_name_of_needed(const std::string& name);
  /// At most `longest_name` characters.
  void write_name(std::size_t at, std::string_view name);
  static constexpr std::size_t longest_name = 63;

 private:
  template <class T>
  T* at(std::size_t offset, std::size_t count = 1) {
    if (offset > text_.size() || count > (text_.size() - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<T*>(text_.data() + offset);
  }
  template <class T>
  T* at_address(ElfW(Addr) address, std::size_t count = 1) {
    const auto offset = offset_of(address);
    return offset ? at<T>(*offset, count) : nullptr;
  }
  std::optional<std::size_t> offset_of(ElfW(Addr) address) const;
  std::string_view string_at(std::size_t index) const;
  /// The value of the first entry of this kind.
  std::optional<ElfW(Xword)> find(ElfW(Sxword) tag) const;
  std::size_t count_symbols();
  [[noreturn]] void refuse(std::string_view what) const;

  std::string path_, way_out_, text_;
  std::vector<ElfW(Phdr)> segments_;
  std::vector<ElfW(Dyn)> entries_;
  std::size_t entries_at_ = 0;
  std::string interpreter_;
  std::size_t size_in_memory_ = 0;
  std::size_t room_at_ = 0, room_end_ = 0;  // for names: the unused end of a segment's last page
  ElfW(Addr) room_address_ = 0;
  std::size_t next_segment_ = 0;  // the next one to search for room
};

}  // namespace wormcube::mpi
