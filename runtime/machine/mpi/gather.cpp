// Texts and logs are sent as bytes; the counter is a window of process 0.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/gather.hpp"

#include "wormcube/runtime/base/host/cores.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <sched.h>

namespace wormcube {
namespace {

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size) {
  const std::size_t at = bytes.size();
  bytes.resize(at + size);
  if (size > 0) std::memcpy(bytes.data() + at, data, size);
}

template <class Item>
void append(std::vector<std::byte>& bytes, const std::vector<Item>& items) {
  static_assert(std::is_trivially_copyable_v<Item>);
  const std::uint64_t count = items.size();
  append(bytes, &count, sizeof count);
  append(bytes, items.data(), items.size() * sizeof(Item));
}

/// Reads what append() has written, from the front.
class Reader {
 public:
  explicit Reader(ConstSpan bytes) : bytes_(bytes) {}
  bool is_at_end() const { return bytes_.empty(); }
  void take(void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  template <class Item>
  void take(std::vector<Item>& items) {
    std::uint64_t count = 0;
    take(&count, sizeof count);
    items.resize(count);
    take(items.data(), count * sizeof(Item));
  }

 private:
  ConstSpan bytes_;
};

std::vector<std::byte> packed(const RankLog& log) {
  std::vector<std::byte> bytes;
  append(bytes, log.ops);
  append(bytes, log.step_ends);
  for (const GapBytes* const of : {&log.rearranged, &log.combined}) {
    append(bytes, std::vector(of->filled().begin(), of->filled().end()));
  }
  append(bytes, log.moves);
  append(bytes, &log.peak_block_bytes, sizeof log.peak_block_bytes);
  append(bytes, &log.peak_bytes, sizeof log.peak_bytes);
  return bytes;
}

RankLog unpacked(ConstSpan bytes) {
  Reader reader(bytes);
  RankLog log;
  reader.take(log.ops);
  reader.take(log.step_ends);
  for (GapBytes* const of : {&log.rearranged, &log.combined}) {
    std::vector<GapBytes::Gap> gaps;
    reader.take(gaps);
    for (const auto& [gap, filled] : gaps) of->add(gap, filled);
  }
  reader.take(log.moves);
  reader.take(&log.peak_block_bytes, sizeof log.peak_block_bytes);
  reader.take(&log.peak_bytes, sizeof log.peak_bytes);
  return log;
}

/// Passive target: the owner takes no part, but must call MPI now and then so that others progress
/// where the network has no remote atomics.
class WindowCounter final : public SharedCounter {
 public:
  explicit WindowCounter(MPI_Comm all) {
    int process = 0;
    MPI_Comm_rank(all, &process);
    MPI_Win_allocate(process == 0 ? sizeof(std::uint64_t) : 0, sizeof(std::uint64_t), MPI_INFO_NULL,
                     all, static_cast<void*>(&memory_), &window_);
    MPI_Win_lock_all(0, window_);
    if (process == 0) {
      *memory_ = 0;
      MPI_Win_sync(window_);
    }
    MPI_Barrier(all);
  }
  ~WindowCounter() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  void add_one() override { fetch_and_add(1); }
  std::uint64_t value() override { return fetch_and_add(0); }

 private:
  std::uint64_t fetch_and_add(std::uint64_t number) {
    std::uint64_t before = 0;
    MPI_Fetch_and_op(&number, &before, MPI_UINT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    return before;
  }
  std::uint64_t* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

namespace {

struct Computer {
  int processes = 1;
  int cores = 1;
};

/// Collective the first time.
const Computer& this_computer() {
  static const Computer computer = [] {
    Computer made;
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &made.processes);
    // Launchers bind processes to separate cores: the total over all processes counts.
    CoreSources sources = CoreSources::of_this_process();
    std::array<std::uint64_t, 64> cores{};
    const std::vector<std::uint64_t> mine = bound_cores();
    std::copy_n(mine.begin(), std::min(mine.size(), cores.size()), cores.begin());
    MPI_Allreduce(MPI_IN_PLACE, cores.data(), static_cast<int>(cores.size()), MPI_UINT64_T, MPI_BOR,
                  here);
    MPI_Comm_free(&here);
    sources.affinity = 0;
    for (const std::uint64_t word : cores) sources.affinity += std::popcount(word);
    made.cores = usable_cores(sources);
    return made;
  }();
  return computer;
}

}  // namespace

int processes_on_this_computer() { return this_computer().processes; }

bool is_crowded() { return this_computer().processes > this_computer().cores; }

void await(MPI_Request& request) {
  int tests = is_crowded() ? 0 : 100;  // without yielding the core
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && --tests < 0) sched_yield();
  }
}

void broadcast_text(MPI_Comm all, std::string& text, int root) {
  std::uint64_t length = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&length, 1, MPI_UINT64_T, root, all, &request);
  await(request);
  text.resize(length);
  MPI_Ibcast(text.data(), static_cast<int>(length), MPI_CHAR, root, all, &request);
  await(request);
}

std::string gather_texts(MPI_Comm all, const std::string& text) {
  const std::vector<char> joined = gather_all(all, std::span<const char>(text));
  return {joined.begin(), joined.end()};
}

// One message per node, or several: a process's logs together may exceed an int.
void gather_logs(MPI_Comm all, std::pair<Rank, Rank> nodes_here, std::span<RankLog> logs) {
  constexpr int tag = 1;  // headers have 0
  int process = 0;
  MPI_Comm_rank(all, &process);
  const auto [first, end] = nodes_here;
  std::vector<std::vector<std::byte>> mine;
  std::vector<std::uint64_t> my_sizes;
  for (Rank rank = first; rank < end; ++rank) {
    mine.push_back(packed(logs[static_cast<std::size_t>(rank)]));
    my_sizes.push_back(mine.back().size());
  }
  const std::vector<Rank> ends = gather_all(all, std::span<const Rank>(&end, 1));
  const std::vector<std::uint64_t> sizes =
      gather_all(all, std::span<const std::uint64_t>(my_sizes));
  MPI_Request request = MPI_REQUEST_NULL;
  // At most 1 GiB at a time: MPI counts in int.
  const auto in_parts = [&](std::span<std::byte> bytes, auto&& part) {
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const Span now = bytes.first(std::min(bytes.size(), most));
      part(now.data(), static_cast<int>(now.size()));
      await(request);
      bytes = bytes.subspan(now.size());
    }
  };
  if (process != 0) {
    for (std::vector<std::byte>& bytes : mine) {
      in_parts(bytes, [&](std::byte* data, int size) {
        MPI_Isend(data, size, MPI_BYTE, 0, tag, all, &request);
      });
    }
    return;
  }
  int owner = 0;
  std::vector<std::byte> bytes;
  for (Rank rank = end; rank < ends.back(); ++rank) {
    while (rank >= ends[static_cast<std::size_t>(owner)]) ++owner;
    bytes.resize(sizes[static_cast<std::size_t>(rank)]);
    in_parts(bytes, [&](std::byte* data, int size) {
      MPI_Irecv(data, size, MPI_BYTE, owner, tag, all, &request);
    });
    logs[static_cast<std::size_t>(rank)] = unpacked(bytes);
  }
}

std::unique_ptr<SharedCounter> make_counter(MPI_Comm all) {
  return std::make_unique<WindowCounter>(all);
}

}  // namespace wormcube
