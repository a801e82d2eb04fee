// The dry run: a node that only writes down what its program asks for.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <sys/mman.h>

namespace wormcube {
namespace {

/// Addresses that nobody can read or write, reserved once and kept: they cost nothing but numbers.
/// All recording nodes use the same ones, since each node's memory is its own.
Span unreadable_memory() {
  static const Span memory = [] {
    for (Bytes bytes = Bytes{1} << 36; bytes >= Bytes{1} << 30; bytes /= 2) {
      void* map =
          mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map != MAP_FAILED) return Span(static_cast<std::byte*>(map), bytes);
    }
    throw UsageError(
        "dry run: the process may not reserve 1 GiB of addresses; raise its limit (ulimit -v)");
  }();
  return memory;
}

class RecordingNode final : public Node {
 public:
  RecordingNode(const Topology& topology, Rank rank, RankLog& log)
      : topology_(topology), rank_(rank), log_(log) {
    logger::start(log_);
  }

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return topology_; }

  using Node::step;
  void step(std::span<const Op> ops) override {
    rules_.require(topology_, rank_, log_.step_ends.size(), ops);
    logger::step(log_, topology_, rank_, ops);
  }

 private:
  void work(Charge charge, Bytes bytes, Work /*work*/) override {
    logger::charged(log_, charge, bytes);
  }
  PlanCache& plans() override { return plans_; }

  Span acquire(Bytes bytes, Purpose purpose) override {
    if (bytes == 0) return {};
    constexpr Bytes alignment = 64;
    const Bytes begin =
        live_.empty() ? 0 : (live_.back().end + alignment - 1) / alignment * alignment;
    if (begin > memory_.size() || bytes > memory_.size() - begin) {
      throw UsageError(
          fmt::format("dry run: node {} asks for {} bytes while it holds {}; a node has {} bytes",
                      rank_, bytes, held_, memory_.size()));
    }
    live_.push_back({begin, begin + bytes, true});
    logger::acquired(log_, bytes, purpose, held_, held_blocks_);
    return memory_.subspan(begin, bytes);
  }

  void release(Span data, Purpose purpose) noexcept override {
    logger::released(data.size(), purpose, held_, held_blocks_);
    // Last in, first out, nearly always; a piece that goes early waits for those above it.
    const auto begin = static_cast<Bytes>(data.data() - memory_.data());
    const auto piece = std::find_if(live_.rbegin(), live_.rend(),
                                    [&](const Piece& p) { return p.begin == begin; });
    WORMCUBE_ASSERT(piece != live_.rend());
    piece->held = false;
    while (!live_.empty() && !live_.back().held) live_.pop_back();
  }

  struct Piece {
    Bytes begin, end;
    bool held;
  };

  const Topology& topology_;
  Rank rank_;
  RankLog& log_;
  StepRules rules_;
  PlanCache plans_;
  Span memory_ = unreadable_memory();
  std::vector<Piece> live_;  // ascending; the last one is held
  Bytes held_ = 0, held_blocks_ = 0;
};

}  // namespace

Schedule record(const Topology& topology, const Program& program) {
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  Schedule schedule{topology, std::vector<RankLog>(nodes)};
  for_each_index(nodes, [&](std::size_t rank) {
    RankLog& log = schedule.ranks[rank];
    RecordingNode node(schedule.topology, static_cast<Rank>(rank), log);
    program(node);
    log.ops.shrink_to_fit();
    log.moves.shrink_to_fit();
  });
  return schedule;
}

}  // namespace wormcube
