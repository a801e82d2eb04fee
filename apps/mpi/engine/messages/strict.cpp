// Compares the types at the two ends of a message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/types/words.hpp"

#include <map>
#include <mutex>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// A note holds the hash of the elements' types and, above it, the mode of the send.
constexpr std::uint64_t is_ready_send = std::uint64_t{1} << 63U,
                        is_packed = std::uint64_t{1} << 62U, is_note = std::uint64_t{1} << 61U,
                        hash_bits = is_note - 1;

/// The types that were sent, in words, by their note.
struct SentTypes {
  std::mutex mutex;
  std::map<std::uint64_t, std::string> words;
};
SentTypes& sent_types() {
  static SentTypes all;
  return all;
}

/// The sent data are a packed copy, as bytes.
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
                   fmt::format("the message from rank {}, tag {} was sent by MPI_Rsend before its "
                               "receive was posted (--strict)",
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
      fmt::format("the message from rank {}, tag {} is {}, but the receive expects {} (--strict)",
                  source, found.tag, sent == all.words.end() ? "something else" : sent->second,
                  words_of(*type, 1)));
}

}  // namespace wormcube::mpi
