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

MscclRun run_msccl(const MscclAlgorithm& algorithm, FifoLimits limits) {
  MscclBlocks blocks(algorithm);
  MscclRun run;
  std::vector<std::deque<std::int64_t>> fifos(blocks.fifos());  // numbers of messages
  run.blocks = blocks.take();
  struct Progress {
    std::size_t step = 0;
    int operation = 0;  // of the step
    MscclEvent event = {};
  };
  std::vector<Progress> at(run.blocks.size());
  std::vector<std::int64_t> done(run.blocks.size(), -1);
  // The events of flagged steps: (step, event), ascending.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> flagged(run.blocks.size());
  const auto fifo = [&](std::int64_t number) -> auto& {
    return fifos[static_cast<std::size_t>(number)];
  };
  const auto is_empty = [&](const MscclPlace& place, const MscclStep& step) {
    return step.receives() && fifo(place.receive_fifo).empty();
  };
  const auto is_full = [&](const MscclPlace& place, const MscclStep& step) {
    return step.sends() && fifo(place.send_fifo).size() >= limits.operations;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < run.blocks.size(); ++b) {
      const MscclPlace& place = run.blocks[b];
      Progress& here = at[b];
      for (; here.step < place.content->steps.size(); ++here.step, here.operation = 0) {
        const MscclStep& step = place.content->steps[here.step];
        if (!may_pass(blocks, place, step, done)) break;
        const int needed = (step.count + limits.chunks - 1) / limits.chunks;
        const auto number = static_cast<std::int64_t>(run.events.size());
        if (here.operation == 0)
          here.event = {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(here.step)};
        for (; here.operation < needed; ++here.operation) {
          if (is_empty(place, step) || is_full(place, step)) break;
          if (step.receives()) {
            here.event.received = fifo(place.receive_fifo).front();
            fifo(place.receive_fifo).pop_front();
            run.messages[static_cast<std::size_t>(here.event.received)].received = number;
          }
          if (step.sends()) {
            here.event.sent = static_cast<std::int64_t>(run.messages.size());
            fifo(place.send_fifo).push_back(here.event.sent);
            run.messages.push_back({place.gpu, place.content->send, place.content->channel,
                                    static_cast<std::uint32_t>(step.count), number});
          }
          moved = true;
        }
        if (here.operation < needed) break;
        if (step.wait_block >= 0) {
          const auto& steps = flagged[blocks.number(place.gpu, step.wait_block)];
          here.event.after =
              std::ranges::lower_bound(steps, static_cast<std::int64_t>(step.wait_step), {},
                                       &std::pair<std::int64_t, std::int64_t>::first)
                  ->second;
        }
        if (step.flagged) {
          done[b] = static_cast<std::int64_t>(here.step);
          flagged[b].emplace_back(done[b], number);
        }
        run.events.push_back(here.event);
        moved = true;
      }
    }
  }
  for (std::size_t b = 0; b < run.blocks.size() && !run.stuck; ++b) {
    const MscclPlace& place = run.blocks[b];
    if (at[b].step == place.content->steps.size()) continue;
    const MscclStep& step = place.content->steps[at[b].step];
    const bool by_block = !may_pass(blocks, place, step, done);
    run.stuck = stuck_text(place, at[b].step, by_block, !by_block && !is_empty(place, step));
  }
  return run;
}

}  // namespace wormcube::apps
