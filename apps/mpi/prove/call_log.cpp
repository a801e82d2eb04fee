// Messages of a proved call in steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/call_log.hpp"

#include "wormcube/apps/mpi/engine/observers/rounds.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace wormcube::mpi {

MatchedLog matched(const CallLog& log, Rank ranks) {
  MatchedLog result;
  std::vector<const CallLog::End*> ends;
  for (const CallLog::End& end : log.sends) ends.push_back(&end);
  for (const CallLog::End& end : log.receives) ends.push_back(&end);
  const auto is_send = [&](const CallLog::End* end) {
    return !log.sends.empty() && end >= &log.sends.front() && end <= &log.sends.back();
  };
  std::ranges::sort(ends, {}, &CallLog::End::started);
  std::map<std::tuple<std::uint32_t, Rank, Rank, Tag>, std::deque<const CallLog::End*>> waiting;
  for (const CallLog::End* const end : ends) {
    const SentMessage& m = end->message;
    auto& others = waiting[{m.context, m.from, m.to, m.tag}];
    if (others.empty() || is_send(others.front()) == is_send(end)) {
      others.push_back(end);
      continue;
    }
    const CallLog::End* const other = others.front();
    others.pop_front();
    if (m.from == m.to) continue;
    result.messages.push_back(is_send(end) ? MatchedMessage{end, other, 0}
                                           : MatchedMessage{other, end, 0});
  }
  for (const auto& [key, left] : waiting) {
    for (const CallLog::End* const end : left) {
      if (is_send(end)) result.unmatched.push_back(end);
    }
  }
  std::vector<MessageEnds> stamps;
  for (const MatchedMessage& each : result.messages) {
    stamps.push_back({each.sent->message.from, each.sent->message.to, each.sent->started,
                      each.sent->ended, each.received->started, each.received->ended,
                      each.sent->waits, false});
  }
  std::vector<RankMoment> moments;
  for (const CallLog::Combination& each : log.combinations)
    moments.push_back({each.rank, each.stamp, 0});
  const std::vector<std::uint32_t> rounds = rounds_of(stamps, ranks, moments);
  for (std::size_t i = 0; i < rounds.size(); ++i) result.messages[i].step = rounds[i] - 1;
  std::ranges::stable_sort(result.messages, {}, [](const MatchedMessage& each) {
    return std::tuple(each.step, each.sent->started);
  });
  for (const RankMoment& moment : moments) result.gaps.push_back(moment.round);
  return result;
}

}  // namespace wormcube::mpi
