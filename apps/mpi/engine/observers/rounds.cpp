// Rounds of messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/observers/rounds.hpp"

#include <algorithm>
#include <cstddef>

namespace wormcube::mpi {
namespace {

/// The two ends of a message, and moments of ranks, in order.
struct Turn {
  enum class What : std::uint8_t { sent, posted, received, send_ended, moment };
  std::uint64_t stamp;
  std::size_t number;
  What what;
};

std::vector<Turn> turns_of(std::span<const MessageEnds> messages,
                           std::span<const RankMoment> moments) {
  std::vector<Turn> turns;
  turns.reserve(4 * messages.size() + moments.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageEnds& m = messages[i];
    turns.push_back({m.sent, i, Turn::What::sent});
    if (!m.is_access) {
      turns.push_back({m.posted, i, Turn::What::posted});
      turns.push_back({m.received, i, Turn::What::received});
    }
    if (m.send_ended > 0) turns.push_back({m.send_ended, i, Turn::What::send_ended});
  }
  for (std::size_t i = 0; i < moments.size(); ++i)
    turns.push_back({moments[i].stamp, i, Turn::What::moment});
  std::ranges::sort(turns, {}, &Turn::stamp);
  return turns;
}

}  // namespace

std::vector<std::uint32_t> rounds_of(std::span<const MessageEnds> messages, Rank ranks,
                                     std::span<RankMoment> moments) {
  std::vector<std::uint32_t> rounds(messages.size(), 0);  // so far: the sender's
  std::vector<std::uint32_t> last(static_cast<std::size_t>(ranks), 0);
  std::vector<std::uint32_t> sender(messages.size());
  const auto last_of = [&](Rank rank) -> std::uint32_t& {
    return last[static_cast<std::size_t>(rank)];
  };
  for (const Turn& turn : turns_of(messages, moments)) {
    if (turn.what == Turn::What::moment) {
      moments[turn.number].round = last_of(moments[turn.number].rank);
      continue;
    }
    const MessageEnds& m = messages[turn.number];
    std::uint32_t& round = rounds[turn.number];
    std::uint32_t& from = last_of(m.from);
    std::uint32_t& to = last_of(m.to);
    switch (turn.what) {
      case Turn::What::sent:
        sender[turn.number] = from + 1;
        round = std::max(round, from + 1);
        break;
      case Turn::What::posted:
        round = std::max(round, to + 1);
        break;
      case Turn::What::received:
        to = std::max(to, round);
        break;
      case Turn::What::send_ended:
        from = std::max(from, m.waits || m.is_access ? round : sender[turn.number]);
        break;
      case Turn::What::moment:
        break;
    }
  }
  return rounds;
}

}  // namespace wormcube::mpi
