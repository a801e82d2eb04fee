// What is compared at the two ends of a message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"

#include <map>
#include <mutex>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// A note has the hash of the elements' types, and above it what it says of the send.
constexpr std::uint64_t is_ready_send = std::uint64_t{1} << 63U,
                        is_packed = std::uint64_t{1} << 62U, is_note = std::uint64_t{1} << 61U,
                        hash_bits = is_note - 1;

/// "4 MPI_INT", "2 x (MPI_INT, 3 MPI_DOUBLE, ..)".
std::string words_of(const Datatype& type, std::size_t count) {
  constexpr int most = 4;
  struct Run {
    MPI_Datatype handle;
    std::int64_t count;
  };
  std::vector<Run> runs;
  type.each_element([&](MPI_Datatype handle, std::int64_t elements) {
    if (!runs.empty() && runs.back().handle == handle) {
      runs.back().count += elements;
    } else if (runs.size() <= most) {
      runs.push_back({handle, elements});
    }
  });
  const auto words = [](const Run& run, std::int64_t times) {
    const std::string_view name = Datatype::predefined(run.handle)->name();
    return run.count * times == 1 ? std::string(name)
                                  : fmt::format("{} {}", run.count * times, name);
  };
  if (runs.empty() || count == 0) return "nothing";
  if (runs.size() == 1) return words(runs.front(), static_cast<std::int64_t>(count));
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + words(runs[i], 1);
  }
  if (runs.size() > most) text += ", ..";
  return fmt::format("{} x ({})", count, text);
}

/// What was sent, in words, by its note.
struct SentTypes {
  std::mutex mutex;
  std::map<std::uint64_t, std::string> words;
};
SentTypes& sent_types() {
  static SentTypes all;
  return all;
}

}  // namespace

namespace {

/// What is sent is a copy, as bytes.
bool sends_copy(Function function) {
  switch (function) {
    case Function::MPI_Bsend:
    case Function::MPI_Bsend_c:
    case Function::MPI_Ibsend:
    case Function::MPI_Ibsend_c:
    case Function::MPI_Start:
    case Function::MPI_Startall:
    case Function::MPI_Sendrecv_replace:
    case Function::MPI_Sendrecv_replace_c:
    case Function::MPI_Isendrecv_replace:
    case Function::MPI_Isendrecv_replace_c:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::uint64_t strict_note_of(const Call& call, const TypeView& type, std::size_t count) {
  if (sends_copy(call.function())) return 0;
  const Datatype& datatype = **type.type;
  const Signature signature = datatype.signature(static_cast<std::int64_t>(count));
  const std::uint64_t kind = (signature.hash & hash_bits) | (signature.has_packed ? is_packed : 0);
  {
    SentTypes& all = sent_types();
    const std::lock_guard lock(all.mutex);
    const auto [place, is_new] = all.words.try_emplace(kind);
    if (is_new) place->second = words_of(datatype, count);
  }
  const Function function = call.function();
  const bool ready = function == Function::MPI_Rsend || function == Function::MPI_Rsend_c ||
                     function == Function::MPI_Irsend || function == Function::MPI_Irsend_c ||
                     function == Function::MPI_Rsend_init || function == Function::MPI_Rsend_init_c;
  return kind | is_note | (ready ? is_ready_send : 0);
}

std::optional<Failure> wrong_match(const Datatype* type, const Status& found,
                                   const Communicator& on) {
  if (type == nullptr || (found.note & is_note) == 0) return std::nullopt;
  const int source = on.peers().rank_of(found.source);
  if ((found.note & is_ready_send) != 0 && found.was_early) {
    return Failure(MPI_ERR_OTHER,
                   fmt::format("the message from rank {}, tag {} was sent by MPI_Rsend before this "
                               "receive was there (--strict)",
                               source, found.tag));
  }
  if ((found.note & is_packed) != 0 || found.truncated) return std::nullopt;
  const auto elements = type->elements_in(static_cast<std::int64_t>(found.bytes));
  if (elements) {
    const Signature wanted = type->signature_of_first(*elements);
    if (wanted.has_packed || (wanted.hash & hash_bits) == (found.note & hash_bits))
      return std::nullopt;
  }
  SentTypes& all = sent_types();
  const std::lock_guard lock(all.mutex);
  const auto sent = all.words.find(found.note & (hash_bits | is_packed));
  return Failure(
      MPI_ERR_TYPE,
      fmt::format("the message from rank {}, tag {} is {}, the receive is of {} (--strict)", source,
                  found.tag, sent == all.words.end() ? "something else" : sent->second,
                  words_of(*type, 1)));
}

namespace {

CollectiveTypes::Elements elements_of(const TypeView& type, std::size_t count) {
  const Signature signature = (*type.type)->signature(static_cast<std::int64_t>(count));
  if (signature.elements == 0 || signature.has_packed) return {};
  return {signature.hash | is_note, words_of(**type.type, count)};
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
    throw Failure(MPI_ERR_TYPE, fmt::format("this rank sends {} and receives {} of each (--strict)",
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
  if (all.elements > 0 && !all.has_packed) common.signature = all.hash | is_note;
}

}  // namespace wormcube::mpi
