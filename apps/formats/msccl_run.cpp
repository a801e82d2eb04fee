// Runs MSCCL's thread blocks side by side, without data.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl_run.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// The thread blocks of all GPUs, and the FIFOs between them.
class MscclBlocks {
 public:
  explicit MscclBlocks(const MscclAlgorithm& algorithm) {
    for (int gpu = 0; gpu < algorithm.ranks(); ++gpu) {
      first_.push_back(all_.size());
      const auto& blocks = algorithm.gpus[static_cast<std::size_t>(gpu)].blocks;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const MscclThreadBlock& block = blocks[b];
        all_.push_back({gpu, static_cast<int>(b), &block,
                        block.send < 0 ? -1 : fifo(gpu, block.send, block.channel),
                        block.receive < 0 ? -1 : fifo(block.receive, gpu, block.channel)});
      }
    }
  }
  std::vector<MscclPlace> take() { return std::move(all_); }
  std::size_t fifos() const { return fifos_.size(); }
  /// The number of thread block `block` of a GPU.
  std::size_t number(int gpu, int block) const {
    return first_[static_cast<std::size_t>(gpu)] + static_cast<std::size_t>(block);
  }

 private:
  std::int64_t fifo(int from, int to, int channel) {
    return fifos_.try_emplace({from, to, channel}, static_cast<std::int64_t>(fifos_.size()))
        .first->second;
  }
  std::vector<MscclPlace> all_;
  std::vector<std::size_t> first_;
  std::map<std::tuple<int, int, int>, std::int64_t> fifos_;
};

std::string stuck_text(const MscclPlace& place, std::size_t step, bool waits_for_block,
                       bool waits_for_room) {
  const MscclStep& what = place.content->steps[step];
  const std::string here =
      fmt::format("hangs: gpu {}, tb {}, step {} waits for", place.gpu, place.block, step);
  if (waits_for_block)
    return fmt::format("{} tb {}, step {}", here, what.wait_block, what.wait_step);
  return fmt::format("{} gpu {} on channel {}", here,
                     waits_for_room ? place.content->send : place.content->receive,
                     place.content->channel);
}

/// Whether a thread block may go past the wait of its step; \param done  for each thread block, the
/// last flagged step that it has finished, -1: none
bool may_pass(const MscclBlocks& blocks, const MscclPlace& place, const MscclStep& step,
              const std::vector<std::int64_t>& done) {
  return step.wait_block < 0 || done[blocks.number(place.gpu, step.wait_block)] >= step.wait_step;
}

}  // namespace

MscclRun run_msccl(const MscclAlgorithm& algorithm) {
  MscclBlocks blocks(algorithm);
  MscclRun run;
  std::vector<std::deque<std::int64_t>> fifos(blocks.fifos());
  const MscclBlocks& lookup = blocks;
  run.blocks = blocks.take();
  std::vector<std::size_t> next(run.blocks.size());
  std::vector<std::int64_t> done(run.blocks.size(), -1);
  // The events of flagged steps: (step, event), ascending.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> flagged(run.blocks.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < run.blocks.size(); ++b) {
      const MscclPlace& place = run.blocks[b];
      for (; next[b] < place.content->steps.size(); ++next[b]) {
        const MscclStep& step = place.content->steps[next[b]];
        if (!may_pass(lookup, place, step, done)) break;
        if (step.receives() && fifos[static_cast<std::size_t>(place.receive_fifo)].empty()) break;
        const auto number = static_cast<std::int64_t>(run.events.size());
        MscclEvent event{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(next[b])};
        if (step.wait_block >= 0) {
          const auto& steps = flagged[lookup.number(place.gpu, step.wait_block)];
          event.after = std::ranges::lower_bound(steps, static_cast<std::int64_t>(step.wait_step),
                                                 {}, &std::pair<std::int64_t, std::int64_t>::first)
                            ->second;
        }
        if (step.receives()) {
          auto& fifo = fifos[static_cast<std::size_t>(place.receive_fifo)];
          event.received = fifo.front();
          fifo.pop_front();
          run.messages[static_cast<std::size_t>(event.received)].received = number;
        }
        if (step.sends()) {
          event.sent = static_cast<std::int64_t>(run.messages.size());
          fifos[static_cast<std::size_t>(place.send_fifo)].push_back(event.sent);
          run.messages.push_back({place.gpu, place.content->send, place.content->channel,
                                  static_cast<std::uint32_t>(step.count), number});
        }
        if (step.flagged) {
          done[b] = static_cast<std::int64_t>(next[b]);
          flagged[b].emplace_back(done[b], number);
        }
        run.events.push_back(event);
        moved = true;
      }
    }
  }
  for (std::size_t b = 0; b < run.blocks.size() && !run.stuck; ++b) {
    const MscclPlace& place = run.blocks[b];
    if (next[b] == place.content->steps.size()) continue;
    const MscclStep& step = place.content->steps[next[b]];
    run.stuck = stuck_text(place, next[b], !may_pass(lookup, place, step, done), false);
  }
  return run;
}

std::optional<std::string> stuck_with_fifos(const MscclAlgorithm& algorithm, int operations,
                                            int chunks) {
  MscclBlocks blocks(algorithm);
  const MscclBlocks& lookup = blocks;
  std::vector<int> held(blocks.fifos());
  const std::vector<MscclPlace> all = blocks.take();
  struct Progress {
    std::size_t step = 0;
    int operation = 0;  // of the step
  };
  std::vector<Progress> at(all.size());
  std::vector<std::int64_t> done(all.size(), -1);
  const auto blocked_by_room = [&](const MscclPlace& place, const MscclStep& step) {
    return step.sends() && held[static_cast<std::size_t>(place.send_fifo)] >= operations;
  };
  const auto blocked_by_none = [&](const MscclPlace& place, const MscclStep& step) {
    return step.receives() && held[static_cast<std::size_t>(place.receive_fifo)] == 0;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < all.size(); ++b) {
      const MscclPlace& place = all[b];
      Progress& here = at[b];
      while (here.step < place.content->steps.size()) {
        const MscclStep& step = place.content->steps[here.step];
        if (!may_pass(lookup, place, step, done)) break;
        const int needed = step.type == MscclType::nop ? 0 : (step.count + chunks - 1) / chunks;
        bool blocked = false;
        for (; here.operation < needed; ++here.operation) {
          blocked = blocked_by_none(place, step) || blocked_by_room(place, step);
          if (blocked) break;
          if (step.receives()) --held[static_cast<std::size_t>(place.receive_fifo)];
          if (step.sends()) ++held[static_cast<std::size_t>(place.send_fifo)];
          moved = true;
        }
        if (blocked) break;
        if (step.flagged) done[b] = static_cast<std::int64_t>(here.step);
        here = {here.step + 1, 0};
        moved = true;
      }
    }
  }
  for (std::size_t b = 0; b < all.size(); ++b) {
    if (at[b].step == all[b].content->steps.size()) continue;
    const MscclStep& step = all[b].content->steps[at[b].step];
    const bool by_block = !may_pass(lookup, all[b], step, done);
    return stuck_text(all[b], at[b].step, by_block, !by_block && !blocked_by_none(all[b], step));
  }
  return std::nullopt;
}

}  // namespace wormcube::apps
