// Reading and changing a program's or library's file.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/image/elf_file.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <elf.h>
#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::mpi {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: {}", path, std::strerror(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

ElfFile::ElfFile(std::string path, std::string way_out)
    : path_(std::move(path)), way_out_(std::move(way_out)), text_(file_text(path_)) {
  const auto* const header = at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    refuse("is not a program for this system");
  if (header->e_type != ET_DYN)
    refuse("can be loaded only once (it is linked with -no-pie or -static)");
  const auto* const segments = at<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
  if (segments == nullptr) refuse("is truncated");
  segments_.assign(segments, segments + header->e_phnum);
  for (const auto& segment : segments_) {
    if (segment.p_type == PT_LOAD)
      size_in_memory_ = std::max<std::size_t>(size_in_memory_, segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_INTERP && at<char>(segment.p_offset, segment.p_filesz) != nullptr)
      interpreter_ = at<char>(segment.p_offset, segment.p_filesz);
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::size_t count = segment.p_filesz / sizeof(ElfW(Dyn));
    const auto* const entries = at<ElfW(Dyn)>(segment.p_offset, count);
    if (entries == nullptr) refuse("is truncated");
    entries_at_ = segment.p_offset;
    for (std::size_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i)
      entries_.push_back(entries[i]);
  }
}

void ElfFile::refuse(std::string_view what) const {
  throw UsageError(fmt::format("{} {}; {}", path_, what, way_out_));
}

void ElfFile::require_loadable() const {
  const auto refuse_link = [&](std::string_view flag) {
    refuse(fmt::format("was linked with {}, so it cannot be loaded for each rank", flag));
  };
  for (const auto& [tag, value] : entries_) {
    const auto flags = value.d_val;
    if (tag == DT_FLAGS_1 && (flags & DF_1_PIE) != 0) refuse_link("-pie");
    if (tag == DT_FLAGS_1 && (flags & DF_1_NOOPEN) != 0) refuse_link("-z nodlopen");
    if (tag == DT_TEXTREL || (tag == DT_FLAGS && (flags & DF_TEXTREL) != 0))
      refuse_link("text relocations (objects without -fPIC)");
    if (tag == DT_FLAGS && (flags & DF_STATIC_TLS) != 0)
      refuse_link("-ftls-model=initial-exec (static TLS)");
  }
}

std::optional<std::size_t> ElfFile::offset_of(ElfW(Addr) address) const {
  for (const auto& segment : segments_) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

std::optional<ElfW(Xword)> ElfFile::find(ElfW(Sxword) tag) const {
  for (const auto& entry : entries_) {
    if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return std::nullopt;
}

std::string_view ElfFile::string_at(std::size_t index) const {
  const auto strings = offset_of(find(DT_STRTAB).value_or(0));
  if (!strings || *strings + index >= text_.size()) return {};
  return text_.c_str() + *strings + index;
}

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) {
    if (entry.d_tag == DT_NEEDED) names.emplace_back(string_at(entry.d_un.d_val));
  }
  return names;
}

// The loader needs no number of symbols; this takes the last one in a chain of the hash table.
std::size_t ElfFile::count_symbols() {
  if (const auto table = find(DT_GNU_HASH)) {
    const auto* const head = at_address<std::uint32_t>(*table, 4);
    if (head == nullptr) return 0;
    const std::uint32_t buckets = head[0], first = head[1], filter_words = head[2];
    const ElfW(Addr) buckets_at =
        *table + 4 * sizeof(std::uint32_t) + filter_words * sizeof(ElfW(Addr));
    const auto* const bucket = at_address<std::uint32_t>(buckets_at, buckets);
    if (bucket == nullptr || buckets == 0) return 0;
    std::uint32_t last = *std::max_element(bucket, bucket + buckets);
    if (last < first) return first;
    const ElfW(Addr) chains_at = buckets_at + buckets * sizeof(std::uint32_t);
    for (;; ++last) {
      const auto* const chain =
          at_address<std::uint32_t>(chains_at + (last - first) * sizeof(std::uint32_t));
      if (chain == nullptr || (*chain & 1U) != 0) return last + 1;
    }
  }
  const auto table = find(DT_HASH);
  const auto* const head = table ? at_address<std::uint32_t>(*table, 2) : nullptr;
  return head == nullptr ? 0 : head[1];
}

void ElfFile::separate_unique_symbols() {
  const auto table = find(DT_SYMTAB);
  if (!table) return;
  const std::size_t count = count_symbols();
  auto* const symbols = at_address<ElfW(Sym)>(*table, count);
  for (std::size_t i = 0; symbols != nullptr && i < count; ++i) {
    unsigned char& info = symbols[i].st_info;
    constexpr unsigned type_bits = 4;
    if (info >> type_bits == STB_GNU_UNIQUE)
      info = static_cast<unsigned char>(ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(info)));
  }
}

std::size_t ElfFile::reserve_name_of_needed(const std::string& name) {
  constexpr std::size_t bytes = longest_name + 1;
  // The loader maps whole pages. If a segment ends within a page, and no other segment has that
  // part of the file, a name fits there.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto others_have = [&](std::size_t from, std::size_t to) {
    return std::ranges::any_of(segments_, [&](const auto& other) {
      return other.p_type == PT_LOAD && other.p_offset < to &&
             from < other.p_offset + other.p_filesz;
    });
  };
  for (; room_end_ - room_at_ < bytes && next_segment_ < segments_.size(); ++next_segment_) {
    const auto& segment = segments_[next_segment_];
    const std::size_t from = segment.p_offset + segment.p_filesz,
                      to = (from + page - 1) / page * page;
    if (segment.p_type != PT_LOAD || segment.p_filesz != segment.p_memsz || to - from < bytes ||
        others_have(from, to))
      continue;
    room_at_ = from;
    room_end_ = to;
    room_address_ = segment.p_vaddr + segment.p_filesz;
    if (text_.size() < to) text_.resize(to);
  }
  if (room_end_ - room_at_ < bytes)
    refuse(
        fmt::format("has no room for the name of a copy of {} (was it linked by GNU ld?)", name));
  const std::size_t place = room_at_;
  // A string's index is its distance from the start of the table, wherever the string lies.
  const ElfW(Xword) index = room_address_ - find(DT_STRTAB).value_or(0);
  room_at_ += bytes;
  room_address_ += bytes;
  std::fill_n(text_.begin() + static_cast<std::ptrdiff_t>(place), bytes, '\0');

  auto* const entries = at<ElfW(Dyn)>(entries_at_, entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].d_tag == DT_NEEDED && string_at(entries_[i].d_un.d_val) == name)
      entries[i].d_un.d_val = entries_[i].d_un.d_val = index;
  }
  // Symbol versions name the library again.
  ElfW(Addr) next = find(DT_VERNEED).value_or(0);
  for (auto left = find(DT_VERNEEDNUM).value_or(0); next != 0 && left > 0; --left) {
    auto* const versions = at_address<ElfW(Verneed)>(next);
    if (versions == nullptr) break;
    if (string_at(versions->vn_file) == name) {
      if (index > ~ElfW(Word){0}) refuse("has its strings after its other segments");
      versions->vn_file = static_cast<ElfW(Word)>(index);
    }
    if (versions->vn_next == 0) break;
    next += versions->vn_next;
  }
  return place;
}

void ElfFile::write_name(std::size_t at, std::string_view name) {
  if (name.size() > longest_name) refuse(fmt::format("cannot hold the name '{}'", name));
  std::fill_n(text_.begin() + static_cast<std::ptrdiff_t>(at), longest_name + 1, '\0');
  std::ranges::copy(name, text_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace wormcube::mpi
