// Judges an MSCCL++ plan: runs its thread blocks side by side, and follows what orders them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp_data.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

std::string channel_text(const PlanEnd& end) {
  return fmt::format("{} channel {}", end.port ? "port" : "memory", end.number);
}

/// All thread blocks, each as far as it gets, in rounds.
///
/// A thread block has two lanes: that of the threads which signal, wait, acquire and release, and
/// that of all threads, which move data. `nop` and `barrier` join them. A port channel has a lane
/// of its own, its proxy.
class PlanRun {
 public:
  PlanRun(const MscclppPlan& plan, PlanData& data) : plan_(plan), data_(data) {
    for (int gpu = 0; gpu < plan.ranks(); ++gpu) {
      const PlanGpu& of = plan.gpus[static_cast<std::size_t>(gpu)];
      for (std::size_t b = 0; b < of.blocks.size(); ++b)
        blocks_.push_back({gpu, static_cast<int>(b), &of.blocks[b]});
      semaphores_.emplace_back();
      for (const int value : of.semaphores) semaphores_.back().push_back({value, {}, {}});
    }
    channels_.resize(plan.ends.size());
    const std::size_t lanes = 2 * blocks_.size() + plan.ends.size();
    clocks_.resize(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      clocks_[lane].times.assign(lanes, 0);
      clocks_[lane].times[lane] = 1;
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        while (advance(b)) moved = true;
      }
    }
  }

  /// The first thread block that waits for ever.
  std::optional<std::string> stuck() const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      if (block.next == block.operations->size()) continue;
      const PlanPlace place{block.gpu, block.number, &(*block.operations)[block.next]};
      return fmt::format("hangs: gpu {}, {} waits for {}", block.gpu, step_text(place),
                         awaited(place));
    }
    return std::nullopt;
  }

  /// What the thread blocks of each GPU have seen when they end.
  std::vector<LaneTimes> ends() const {
    std::vector<LaneTimes> result(plan_.gpus.size(), LaneTimes(clocks_.size()));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      LaneTimes& of_gpu = result[static_cast<std::size_t>(blocks_[b].gpu)];
      for (const std::size_t lane : {signals(b), data(b)}) {
        for (std::size_t i = 0; i < of_gpu.size(); ++i)
          of_gpu[i] = std::max(of_gpu[i], clocks_[lane].times[i]);
      }
    }
    return result;
  }

  /// What the next call finds, and what this run does not decide.
  void add_notes(std::vector<std::string>& notes) const {
    for (std::size_t e = 0; e < channels_.size(); ++e) {
      if (channels_[e].signals.empty()) continue;
      const PlanEnd& end = plan_.ends[e];
      const std::size_t left = channels_[e].signals.size();
      add(notes,
          fmt::format("gpu {} signals gpu {} on {}: {} that nobody waits for; the next call "
                      "finds {}",
                      end.gpu, end.peer, channel_text(end), left, left == 1 ? "it" : "them"));
    }
    for (std::size_t gpu = 0; gpu < semaphores_.size(); ++gpu) {
      for (std::size_t s = 0; s < semaphores_[gpu].size(); ++s) {
        const Semaphore& semaphore = semaphores_[gpu][s];
        const int before = plan_.gpus[gpu].semaphores[s];
        const int after = semaphore.initial + static_cast<int>(semaphore.releases.size());
        if (after != before) {
          add(notes,
              fmt::format("gpu {}'s semaphore {} begins with {} and ends with {}, so the next call "
                          "begins with a different value",
                          gpu, s, before, after));
        }
      }
    }
    if (is_shared_) {
      add(notes,
          "several thread blocks use one end of a channel or a semaphore: only one order of their "
          "operations is checked");
    }
  }

 private:
  struct Block {
    int gpu, number;
    const std::vector<PlanOperation>* operations;
    std::size_t next = 0;
    bool passed_barrier = false;
  };
  /// What one end has signalled and the other has not waited for.
  struct Channel {
    std::deque<PlanClock> signals;
    std::optional<std::size_t> signaller, waiter;
  };
  struct Semaphore {
    int initial;
    std::deque<PlanClock> releases;
    std::set<std::size_t> users;
  };

  static void add(std::vector<std::string>& notes, std::string text) {
    constexpr std::size_t most = 10;
    if (notes.size() < most) notes.push_back(std::move(text));
  }
  std::size_t signals(std::size_t block) const { return 2 * block; }
  std::size_t data(std::size_t block) const { return 2 * block + 1; }
  std::size_t proxy(int end) const { return 2 * blocks_.size() + static_cast<std::size_t>(end); }

  /// `to` has seen what `from` did so far.
  void see(std::size_t to, std::size_t from) {
    clocks_[to].join(clocks_[from]);
    ++clocks_[from].times[from];
  }
  PlanClock shown(std::size_t lane) {
    PlanClock clock = clocks_[lane];
    ++clocks_[lane].times[lane];
    return clock;
  }
  void synchronise(std::size_t block) {
    see(signals(block), data(block));
    see(data(block), signals(block));
  }

  Channel* awaited_channel(int end) {
    const int partner = plan_.ends[static_cast<std::size_t>(end)].partner;
    return partner < 0 ? nullptr : &channels_[static_cast<std::size_t>(partner)];
  }

  /// False: it has to wait.
  bool advance(std::size_t b) {
    Block& block = blocks_[b];
    if (block.next == block.operations->size()) return false;
    const PlanOperation& what = (*block.operations)[block.next];
    const PlanPlace place{block.gpu, block.number, &what};
    switch (what.type) {
      case PlanType::nop:
        synchronise(b);
        break;
      case PlanType::barrier:
        if (!pass_barrier(b, what)) return false;
        break;
      case PlanType::signal:
      case PlanType::rlxsignal:
        for (const int end : what.channels) signal(b, end);
        break;
      case PlanType::wait:
      case PlanType::rlxwait:
        if (!wait(b, what)) return false;
        break;
      case PlanType::flush:
        for (const int end : what.channels) see(signals(b), proxy(end));
        break;
      case PlanType::sem_release:
        for (const int number : what.semaphores)
          semaphore(b, number).releases.push_back(shown(signals(b)));
        break;
      case PlanType::sem_acquire:
        if (!acquire(b, what)) return false;
        break;
      default:
        if (data_.missing_packets(block.gpu, what)) return false;
        follow(b, place);
    }
    ++block.next;
    return true;
  }

  void follow(std::size_t b, const PlanPlace& place) {
    const PlanOperation& what = *place.what;
    std::size_t lane = data(b);
    data_.join_packets(place, clocks_[lane]);
    if (what.port) {
      if (what.type == PlanType::rppkt) synchronise(b);
      lane = proxy(what.channels.front());
      see(lane, signals(b));
    }
    std::shared_ptr<const PlanClock> packet;
    for (std::size_t t = 0; t < what.targets.size() && !packet; ++t) {
      if (writes_packets(what, t)) packet = std::make_shared<const PlanClock>(clocks_[lane]);
    }
    data_.follow(place, static_cast<std::uint32_t>(lane), clocks_[lane], packet);
    ++clocks_[lane].times[lane];
    if (what.type == PlanType::pws || what.type == PlanType::pwsf) signal(b, what.channels.front());
    if (what.type == PlanType::pwsf) see(signals(b), lane);
  }

  void signal(std::size_t b, int end) {
    Channel& channel = channels_[static_cast<std::size_t>(end)];
    is_shared_ = is_shared_ || channel.signaller.value_or(b) != b;
    channel.signaller = b;
    std::size_t lane = signals(b);
    if (plan_.ends[static_cast<std::size_t>(end)].port) {
      see(proxy(end), lane);
      lane = proxy(end);
    }
    channel.signals.push_back(shown(lane));
  }

  bool wait(std::size_t b, const PlanOperation& what) {
    for (const int end : what.channels) {
      const Channel* const channel = awaited_channel(end);
      const auto needed = static_cast<std::size_t>(std::ranges::count(what.channels, end));
      if (channel == nullptr || channel->signals.size() < needed) return false;
    }
    PlanClock& clock = clocks_[signals(b)];
    for (const int end : what.channels) {
      Channel& channel = *awaited_channel(end);
      is_shared_ = is_shared_ || channel.waiter.value_or(b) != b;
      channel.waiter = b;
      clock.needed = std::max(clock.needed, channel.signals.front().sent);
      clock.join(channel.signals.front());
      channel.signals.pop_front();
    }
    return true;
  }

  Semaphore& semaphore(std::size_t b, int number) {
    Semaphore& result =
        semaphores_[static_cast<std::size_t>(blocks_[b].gpu)][static_cast<std::size_t>(number)];
    result.users.insert(b);
    constexpr std::size_t one_each_way = 2;
    is_shared_ = is_shared_ || result.users.size() > one_each_way;
    return result;
  }

  bool acquire(std::size_t b, const PlanOperation& what) {
    for (const int number : what.semaphores) {
      const Semaphore& each = semaphore(b, number);
      const auto needed = static_cast<std::size_t>(std::ranges::count(what.semaphores, number));
      if (static_cast<std::size_t>(each.initial) + each.releases.size() < needed) return false;
    }
    for (const int number : what.semaphores) {
      Semaphore& each = semaphore(b, number);
      if (each.initial > 0) {
        --each.initial;
      } else {
        clocks_[signals(b)].join(each.releases.front());
        each.releases.pop_front();
      }
    }
    return true;
  }

  /// The last thread block to arrive lets all of them pass.
  bool pass_barrier(std::size_t b, const PlanOperation& what) {
    if (blocks_[b].passed_barrier) {
      blocks_[b].passed_barrier = false;
      return true;
    }
    std::vector<std::size_t>& waiting = barriers_[{blocks_[b].gpu, what.barrier}];
    if (std::ranges::find(waiting, b) == waiting.end()) waiting.push_back(b);
    if (waiting.size() < static_cast<std::size_t>(what.barrier_blocks)) return false;
    PlanClock all = clocks_[signals(b)];
    for (const std::size_t each : waiting) {
      for (const std::size_t lane : {signals(each), data(each)}) all.join(clocks_[lane]);
    }
    for (const std::size_t each : waiting) {
      for (const std::size_t lane : {signals(each), data(each)}) {
        clocks_[lane] = all;
        ++clocks_[lane].times[lane];
      }
      blocks_[each].passed_barrier = each != b;
    }
    waiting.clear();
    return true;
  }

  std::string awaited(const PlanPlace& place) const {
    const PlanOperation& what = *place.what;
    if (what.type == PlanType::barrier)
      return fmt::format("barrier {} of {} thread blocks", what.barrier, what.barrier_blocks);
    if (what.type == PlanType::sem_acquire) {
      for (const int number : what.semaphores) {
        const Semaphore& each =
            semaphores_[static_cast<std::size_t>(place.gpu)][static_cast<std::size_t>(number)];
        if (each.initial == 0 && each.releases.empty()) return fmt::format("semaphore {}", number);
      }
      return "semaphores";
    }
    for (const int end : what.channels) {
      const PlanEnd& own = plan_.ends[static_cast<std::size_t>(end)];
      if (own.partner >= 0 && !channels_[static_cast<std::size_t>(own.partner)].signals.empty())
        continue;
      return fmt::format("gpu {} on {}{}", own.peer, channel_text(own),
                         own.partner < 0 ? ", which has no other end" : "");
    }
    if (const auto cell = data_.missing_packets(place.gpu, what))
      return "packets in " + data_.machine().cells().text(*cell);
    return "signals";
  }

  const MscclppPlan& plan_;
  PlanData& data_;
  std::vector<Block> blocks_;
  std::vector<PlanClock> clocks_;
  std::vector<Channel> channels_;  // for each end: what it has signalled
  std::vector<std::vector<Semaphore>> semaphores_;
  std::map<std::pair<int, int>, std::vector<std::size_t>> barriers_;
  bool is_shared_ = false;
};

}  // namespace

MscclVerdict judge_mscclpp(const MscclppPlan& plan) {
  MscclVerdict verdict;
  verdict.notes = plan.notes;
  verdict.in_place = plan.in_place, verdict.out_of_place = !plan.in_place;
  PlanData data(plan);
  const PlanRun run(plan, data);
  const auto count = [&] {
    verdict.messages = data.messages().size();
    verdict.chunks_sent = 0;
    for (const ChunkMachine::Message& message : data.messages())
      verdict.chunks_sent += message.values.size();
  };
  count();
  if (auto stuck = run.stuck()) {
    verdict.findings.push_back(std::move(*stuck));
    verdict.no_schedule = "it hangs";
    return verdict;
  }
  data.finish();
  count();
  run.add_notes(verdict.notes);
  if (data.uses_switch()) {
    verdict.notes.emplace_back(
        "an operation of a switch channel is counted as messages between each two of its GPUs");
  }
  if (data.mixes_packets()) {
    verdict.notes.emplace_back(
        "scratch memory holds packets and data: packets take twice the space, and whether they "
        "overlap is not checked");
  }
  const bool judged = plan.collective != MscclCollective::custom;
  if (judged || !plan.in_place) {
    const ChunkMachine& machine = data.machine();
    for (const auto& texts : {machine.findings(), machine.races(), machine.late(run.ends()),
                              machine.written_inputs()}) {
      for (const std::string& text : texts) {
        if (verdict.findings.size() < most_msccl_findings) verdict.findings.push_back(text);
      }
    }
  }
  verdict.proved = judged && verdict.findings.empty();
  if (!verdict.proved) {
    verdict.no_schedule =
        judged ? "it is not right"
               : fmt::format("{}, whose correct result is unknown", plan.collective_name);
  }
  verdict.schedule = data.lay(verdict.proved);
  return verdict;
}

}  // namespace wormcube::apps
