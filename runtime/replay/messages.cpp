// How a simulation starts: its messages by number, and whether its times fit 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/own_work.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace wormcube {

void Simulation::number_messages() {
  std::vector<std::size_t> begin(schedule_.steps() + 1, 0);  // of each step, in messages_
  const auto each = [&](auto visit) {
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
      const RankLog& log = schedule_.ranks[v];
      std::uint32_t step = 0, index = 0;
      for (std::uint32_t op = 0; op < log.ops.size(); ++op) {
        for (; log.step_ends[step] <= op; ++step) index = 0;
        const OpRecord& record = log.ops[op];
        if (record.kind != Op::Kind::send) continue;
        if (is_other(record, static_cast<Rank>(v))) visit(v, step, index, record);
        ++index;
      }
    }
  };
  std::size_t count = 0;
  each([&](std::size_t v, std::uint32_t step, std::uint32_t, const OpRecord&) {
    ++begin[step + 1];
    ++count;
    if (v + 1 < nodes_.size()) ++nodes_[v + 1].first_send;
  });
  constexpr std::size_t most = std::size_t{1} << 31U;
  if (count >= most) {
    throw UsageError(
        fmt::format("{} messages are too many to replay; need fewer than {}", count, most));
  }
  for (std::size_t v = 1; v < nodes_.size(); ++v) nodes_[v].first_send += nodes_[v - 1].first_send;
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  messages_.resize(count);
  place_.reserve(count);
  each([&](std::size_t v, std::uint32_t step, std::uint32_t index, const OpRecord& record) {
    place_.push_back(static_cast<Index>(begin[step]));
    ReplayedMessage& message = messages_[begin[step]++];
    message.from = static_cast<Rank>(v);
    message.to = record.peer;
    message.step = step;
    message.index = index;
    message.tag = record.tag;
    message.bytes = record.bytes;
  });
}

/// All messages one after another, stalled by every constant: no replay takes longer.
void Simulation::require_countable() {
  WideTicks longest = 0, hops = 0, packet_hops = 0;
  const Topology& topology = routing_.topology();
  for (int d = 0; d < topology.dimensions(); ++d) hops += topology.factor(d).vertices();
  const WideTicks step =
      static_cast<WideTicks>(model_.hop) + model_.credit + model_.port_flit() + model_.node;
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    const RankLog& log = schedule_.ranks[v];
    const auto rank = static_cast<Rank>(v);
    for (const OpRecord& op : log.ops) {
      if (op.kind != Op::Kind::send || !is_other(op, rank)) continue;
      WideTicks links = hops;
      if (op.moves > 0) {
        links = 0;
        for (const Move& move : schedule_.moves(rank, op)) links += std::abs(move.hops);
      }
      const std::int64_t flits = model_.flits(op.bytes);
      const WideTicks alone = model_.startup + step * flits;
      longest += model_.forwarding == Forwarding::wormhole ? alone + (links + 1) * step
                                                           : (links + 1) * (alone + step);
      if (in_packets())
        packet_hops += (links + 1) * ((WideTicks{flits} + model_.packet - 1) / model_.packet);
    }
    if (!has_own_work(schedule_, rank)) continue;
    for (std::size_t t = 0; t <= log.step_ends.size(); ++t) {
      const OwnWork work = own_work(schedule_, model_, rank, t);
      const WideTicks all = WideTicks{work.compute} + work.rearrange + work.combine;
      longest += all;
      nodes_[v].works = nodes_[v].works || all > 0;
    }
  }
  constexpr std::int64_t most_packet_hops = std::int64_t{1} << 27;
  if (packet_hops > most_packet_hops) {
    throw UsageError(fmt::format(
        "packets of {} flits may take up to {} hops, more than the limit of {}; give larger "
        "packets (--packet), or smaller blocks",
        model_.packet, static_cast<std::int64_t>(std::min<WideTicks>(packet_hops, no_tick)),
        most_packet_hops));
  }
  constexpr WideTicks most = WideTicks{1} << 62;
  if (longest > most) {
    throw UsageError(fmt::format(
        "{} messages with these constants may take longer than {} us, which 64 bits cannot count; "
        "give smaller constants, or a smaller schedule",
        messages_.size(), microseconds_text(static_cast<Ticks>(most))));
  }
}

}  // namespace wormcube
