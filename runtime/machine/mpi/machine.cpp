// Runs, one after another, and their statistics.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/machine/mpi/impl.hpp"
#include "wormcube/runtime/machine/report/run_statistics.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>

namespace wormcube {

MpiOptions MpiMachine::Impl::usable(MpiOptions options) {
  options.time_limit = waitable(options.time_limit);
  options.grace = waitable(options.grace);
  options.stack_bytes = std::max(options.stack_bytes, MachineOptions::least_stack_bytes);
  return options;
}

MpiMachine::Impl::Impl(Topology topology, const MpiOptions& options)
    : topology_(std::move(topology)),
      options_(usable(options)),
      transport_(options.eager_limit,
                 options.pack_pieces ? LongPieces::packed : LongPieces::datatype) {
  keep_signal_stack();
  first_ = first_of(transport_.process());
  for (Rank rank = first_; rank < first_of(transport_.process() + 1); ++rank) {
    nodes_.emplace_back(*this, rank);
  }
  if (nodes_.size() < 2) return;
  stacks_.emplace(nodes_.size(), options_.stack_bytes);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    MpiNode& each = nodes_[i];
    each.fiber = std::make_unique<Fiber>(*stacks_, i, [this, &each] {
      for (;;) {
        each.fiber->suspend();
        if (program_ == nullptr) return;
        main(each);
      }
    });
    each.fiber->resume();  // to its first suspend: from here on a resume is a run
  }
}

MpiMachine::Impl::~Impl() {
  program_ = nullptr;
  for (MpiNode& each : nodes_) {
    if (each.fiber) each.fiber->resume();  // to its end
  }
}

Statistics MpiMachine::Impl::run(const Program& program) {
  posted_.clear();
  early_.each([&](EarlyTransfer& early) { early_store_.recycle(early); });
  early_.clear();
  ready_.clear();
  counts_ = {};
  coming_ = 0;
  failure_.reset();
  stopping_ = drained_ = false;
  verdict_ = Verdict::none;
  goodbyes_ = 0;
  most_rounds_ = rounds_ = 0;
  quiescence_ = {};
  program_ = &program;
  unfinished_ = static_cast<Rank>(nodes_.size());
  for (MpiNode& each : nodes_) each.restart();

  start_ = std::chrono::steady_clock::now();
  idle_since_ = {};
  idle_ = moving_ = {};
  if (nodes_.size() == 1) {
    running_ = &nodes_.front();
    main(nodes_.front());
    running_ = nullptr;
  } else {
    for (MpiNode& each : nodes_) ready_.push_back(&each);
  }
  schedule();
  something_to_do();
  const auto wall = std::chrono::steady_clock::now() - start_;

  if (verdict_ == Verdict::finished && !failure_) {
    early_.each([&](const EarlyTransfer& early) {
      if (failure_) return;
      failure_ = {
          early.to, MpiFailure::Kind::usage,
          fmt::format("node {} never received a message of {} bytes from node {} with tag {}",
                      early.to, early.bytes, early.from, early.tag)};
    });
  }
  agree_on_failure();
  return statistics(wall);
}

void MpiMachine::Impl::main(MpiNode& node) noexcept {
  try {
    if (!stopping_) {
      node.started = true;
      (*program_)(node);
    }
  } catch (...) {
    caught(node);
  }
  node.finished = true;
  --unfinished_;
}

CoreTimes MpiMachine::Impl::core_times(std::chrono::nanoseconds wall,
                                       std::span<const NodeStatistics> nodes) {
  std::array<std::uint64_t, 2> sums{static_cast<std::uint64_t>(moving_.count()),
                                    static_cast<std::uint64_t>(idle_.count())};
  reduce_all(transport_.communicator(), std::span<std::uint64_t>(sums), MPI_UINT64_T, MPI_SUM);
  CoreTimes times = own_work_of(nodes);
  times.cores = transport_.processes();
  times.moving_data = std::chrono::nanoseconds(sums[0]);
  const auto all = times.cores * wall;
  const auto known = times.computing + times.rearranging + times.combining + times.moving_data;
  times.idle = std::min(std::chrono::nanoseconds(sums[1]),
                        std::max(std::chrono::nanoseconds{0}, all - known));
  times.network = all - known - times.idle;
  return times;
}

Statistics MpiMachine::Impl::statistics(std::chrono::nanoseconds wall) {
  const MPI_Comm all = transport_.communicator();
  Statistics result;
  std::int64_t longest = wall.count();
  reduce_all(all, std::span(&longest, 1), MPI_INT64_T, MPI_MAX);
  result.wall = std::chrono::nanoseconds(longest);
  std::vector<NodeStatistics> mine;
  for (const MpiNode& each : nodes_) mine.push_back(each.statistics_with_peaks());
  result.nodes = gather_all(all, std::span<const NodeStatistics>(mine));
  if (options_.timing) result.cores = core_times(result.wall, result.nodes);
  return result;
}

MpiMachine::MpiMachine(Topology topology, MpiOptions options)
    : impl_(std::make_unique<Impl>(std::move(topology), options)) {}
MpiMachine::~MpiMachine() = default;

const Topology& MpiMachine::topology() const { return impl_->topology(); }
int MpiMachine::process() const { return impl_->transport().process(); }
int MpiMachine::processes() const { return impl_->transport().processes(); }
int MpiMachine::processes_here() const { return processes_on_this_computer(); }
std::pair<Rank, Rank> MpiMachine::nodes_here() const { return {impl_->first(), impl_->end()}; }

Statistics MpiMachine::run(const Program& program) { return impl_->run(program); }

Statistics MpiMachine::run(const Program& program, Schedule& trace) {
  trace = {.topology = topology(),
           .ranks = std::vector<RankLog>(static_cast<std::size_t>(topology().nodes()))};
  const Statistics statistics = impl_->run([&](Node& node) {
    TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
    program(traced);
  });
  gather_logs(impl_->transport().communicator(), nodes_here(), trace.ranks);
  return statistics;
}

void MpiMachine::sum(std::span<std::uint64_t> values) {
  reduce_all(impl_->transport().communicator(), values, MPI_UINT64_T, MPI_SUM);
}

void MpiMachine::maximum(std::span<double> values) {
  reduce_all(impl_->transport().communicator(), values, MPI_DOUBLE, MPI_MAX);
}

std::string MpiMachine::first_text(std::string text) {
  int first = text.empty() ? processes() : process();
  const MPI_Comm all = impl_->transport().communicator();
  reduce_all(all, std::span(&first, 1), MPI_INT, MPI_MIN);
  if (first < processes()) broadcast_text(all, text, first);
  return text;
}

// One broadcast per process and GiB: MPI counts in int.
void MpiMachine::join(Span array, std::size_t begin, std::size_t end) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const MPI_Comm all = impl_->transport().communicator();
  const std::array<std::uint64_t, 2> mine{begin, end};
  const auto ranges = gather_all(all, std::span<const std::array<std::uint64_t, 2>>(&mine, 1));
  for (int process = 0; process < processes(); ++process) {
    const auto [first, last] = ranges[static_cast<std::size_t>(process)];
    for (std::size_t at = first; at < last; at += most) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(array.data() + at, static_cast<int>(std::min(most, last - at)), MPI_BYTE, process,
                 all, &request);
      await(request);
    }
  }
}

std::unique_ptr<SharedCounter> MpiMachine::counter() {
  return make_counter(impl_->transport().communicator());
}

}  // namespace wormcube
