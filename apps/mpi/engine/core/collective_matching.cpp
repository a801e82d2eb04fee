// Whether all ranks of a communicator make the same collective call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/core/communicator.hpp"

#include <fmt/core.h>

namespace wormcube::mpi {

namespace {

bool match(const CollectiveTypes::Elements& one, const CollectiveTypes::Elements& other) {
  return one.signature == 0 || other.signature == 0 || one.signature == other.signature;
}

Failure wrong_types(Rank member, const std::string& wrong, std::uint64_t number,
                    const std::string& name) {
  return {MPI_ERR_TYPE,
          fmt::format("this call does not match: rank {} {} (its collective {} on {}; "
                      "--strict)",
                      member, wrong, number + 1, name)};
}

}  // namespace

/// How a rank's types differ from those of earlier callers; empty if they match. Compares the two
/// ends of each block.
/// \param side  1: the group for which sent and received types swap places
/// \param whose  text after the number of the rank at a block's other end
std::string SharedCommunicator::compared(const CollectiveTypes& types, Types& before, int side,
                                         const char* whose) const {
  for (std::size_t i = 0; i < types.common.size(); ++i) {
    const CollectiveTypes::Elements& mine = types.common[i];
    CollectiveTypes::Elements& theirs = before.common[i ^ static_cast<std::size_t>(side)];
    if (!match(mine, theirs))
      return fmt::format("calls with {}, another rank called with {}", mine.words, theirs.words);
    if (theirs.signature == 0) theirs = mine;
  }
  for (const CollectiveTypes::Block& block : types.blocks) {
    const auto [place, is_first] =
        before.blocks.try_emplace({block.from, block.to, block.number ^ side}, block);
    if (is_first) continue;
    if (!match(block.elements, place->second.elements)) {
      const std::string &mine = block.elements.words, &theirs = place->second.elements.words;
      const Rank peer = block.is_sent ? block.to : block.from;
      return fmt::format("{} {} {} rank {}{}, which {} {}", block.is_sent ? "sends" : "receives",
                         mine, block.is_sent ? "to" : "from", *whose == 0 ? world_rank(peer) : peer,
                         whose, block.is_sent ? "receives" : "sends", theirs);
    }
    before.blocks.erase(place);
  }
  return "";
}

void SharedCommunicator::come(std::uint64_t number, Rank member, const CollectiveMatch& call) {
  const std::lock_guard lock(mutex_);
  while (first_arrival_ + arrivals_.size() <= number) arrivals_.push_back({call, member, 0});
  Arrivals& all = arrivals_[number - first_arrival_];
  const CollectiveMatch& first = all.call;
  const auto mismatch = [&](const std::string& mine, const std::string& theirs) {
    throw Failure(
        MPI_ERR_OTHER,
        fmt::format("this call does not match: rank {} calls {}, rank {} called {} "
                    "(its collective {} on {})",
                    world_rank(member), mine, world_rank(all.first), theirs, number + 1, name));
  };
  if (first.function != call.function) {
    mismatch(name_of(call.function), name_of(first.function));
  } else if (first.root != call.root) {
    mismatch(fmt::format("{} with root {}", name_of(call.function), call.root),
             fmt::format("it with root {}", first.root));
  } else if (first.bytes != call.bytes) {
    mismatch(fmt::format("{} with {} bytes", name_of(call.function), call.bytes),
             fmt::format("it with {} bytes", first.bytes));
  } else if (first.op != call.op && (first.op < 4096 || call.op < 4096)) {
    mismatch(fmt::format("{} with {}", name_of(call.function), call.op_name),
             fmt::format("it with {}", first.op_name));
  }
  if (call.types != nullptr) {
    if (all.types == nullptr) all.types = std::make_unique<Types>();
    if (const std::string wrong = compared(*call.types, *all.types, 0, ""); !wrong.empty())
      throw wrong_types(world_rank(member), wrong, number, name);
    all.call.types = nullptr;
  }
  if (++all.count < size()) return;
  while (!arrivals_.empty() && arrivals_.front().count == size()) {
    arrivals_.pop_front();
    ++first_arrival_;
  }
}

void SharedCommunicator::come_between(std::uint64_t number, const CollectiveMatch& call,
                                      const Communicator& end) {
  const std::lock_guard lock(mutex_);
  Between& all = between_.try_emplace(number, Between{call.function}).first->second;
  if (all.function != call.function) {
    throw Failure(
        MPI_ERR_OTHER,
        fmt::format("this call does not match: this group calls {}, the other group called {} "
                    "(its collective {} on {})",
                    name_of(call.function), name_of(all.function), number + 1, end.name));
  }
  if (call.types != nullptr) {
    const std::string wrong =
        compared(*call.types, all.types, end.shared.get() == this ? 0 : 1, " of the other group");
    if (!wrong.empty())
      throw wrong_types(end.shared->world_rank(end.rank), wrong, number, end.name);
  }
  if (++all.count == end.shared->size() + end.remote->size()) between_.erase(number);
}

std::uint64_t come_to(Communicator& on, const CollectiveMatch& call) {
  const std::uint64_t number = on.collectives++;
  CollectiveMatch in_group = call;
  if (on.remote) in_group.types = nullptr;  // they are compared between the groups
  on.shared->come(number, on.rank, in_group);
  if (on.remote) {
    SharedCommunicator& keeper = on.shared->id() < on.remote->id() ? *on.shared : *on.remote;
    keeper.come_between(number, call, on);
  }
  return number;
}

const SharedCommunicator::Arrivals* SharedCommunicator::arrivals(std::uint64_t number) const {
  if (number < first_arrival_ || number - first_arrival_ >= arrivals_.size()) return nullptr;
  return &arrivals_[number - first_arrival_];
}

}  // namespace wormcube::mpi
