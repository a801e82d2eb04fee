// Which types of a collective call are compared.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"
#include "wormcube/apps/mpi/engine/types/words.hpp"

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// Above the bits of a hash: 0 matches everything.
constexpr std::uint64_t is_known = std::uint64_t{1} << 61U;

CollectiveTypes::Elements elements_of(const TypeView& type, std::size_t count) {
  const Signature signature = (*type.type)->signature(static_cast<std::int64_t>(count));
  if (signature.elements == 0 || signature.has_packed) return {};
  return {signature.hash | is_known, words_of(**type.type, count)};
}

}  // namespace

ComparedTypes::ComparedTypes(const CollectiveCall& all)
    : strict_(all.call.rank().job.options().strict),
      between_(all.comm.remote != nullptr),
      own_(all.comm.rank),
      call_(all.call) {}

void ComparedTypes::set_common(std::size_t which, const TypeView& type, std::int64_t count) {
  if (strict_) types_.common[which] = elements_of(type, call_.count(count));
}
void ComparedTypes::gives(const TypeView& type, std::int64_t count) { set_common(0, type, count); }
void ComparedTypes::gets(const TypeView& type, std::int64_t count) { set_common(1, type, count); }

ComparedTypes::ComparedTypes(const CollectiveCall& all, const TypeView& type, std::int64_t count)
    : ComparedTypes(all) {
  set_common(0, type, count);
}

ComparedTypes::ComparedTypes(const CollectiveCall& all, const void* out, MPI_Datatype out_type,
                             std::int64_t out_count, const void* in, MPI_Datatype in_type,
                             std::int64_t in_count)
    : ComparedTypes(all) {
  if (!strict_) return;
  if (out != MPI_IN_PLACE) set_common(0, all.type(out_type), out_count);
  if (in == MPI_IN_PLACE) return;
  const auto received = elements_of(all.type(in_type), all.call.count(in_count));
  const CollectiveTypes::Elements& sent = types_.common[0];
  if (sent.signature != 0 && received.signature != 0 && sent.signature != received.signature) {
    throw Failure(MPI_ERR_TYPE, fmt::format("this rank sends {} but receives {} (--strict)",
                                            sent.words, received.words));
  }
  types_.common[0] = received;
}

void ComparedTypes::add_sent(Rank to, const TypeView& type, std::size_t count, int number) {
  if (strict_) types_.blocks.push_back({own_, to, true, elements_of(type, count), number});
}
void ComparedTypes::add_received(Rank from, const TypeView& type, std::size_t count, int number) {
  if (!strict_) return;
  types_.blocks.push_back({from, own_, false, elements_of(type, count), between_ ? 1 : number});
}
void ComparedTypes::add_sent(std::span<const Uneven::Block> blocks) {
  for (std::size_t r = 0; r < blocks.size(); ++r)
    add_sent(static_cast<Rank>(r), blocks[r].type, blocks[r].count);
}
void ComparedTypes::add_received(std::span<const Uneven::Block> blocks) {
  for (std::size_t r = 0; r < blocks.size(); ++r)
    add_received(static_cast<Rank>(r), blocks[r].type, blocks[r].count);
}

void ComparedTypes::add_alike(std::span<const Uneven::Block> blocks) {
  if (!strict_) return;
  constexpr std::size_t most = 4;
  CollectiveTypes::Elements& common = types_.common[between_ ? 1 : 0];
  Signature all;
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    all =
        joined(all, (*blocks[r].type.type)->signature(static_cast<std::int64_t>(blocks[r].count)));
    const auto one = elements_of(blocks[r].type, blocks[r].count);
    if (r < most && one.signature != 0)
      common.words += (common.words.empty() ? "" : " + ") + one.words;
  }
  if (blocks.size() > most) common.words += " + ..";
  if (all.elements > 0 && !all.has_packed) common.signature = all.hash | is_known;
}

}  // namespace wormcube::mpi
