// The machine over MPI: the same node programs, their nodes spread over the processes of an MPI
// job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/multicomputer.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace wormcube {

/// MPI is initialised from here to the end of the scope. One per process, around all MpiMachines.
class MpiSession {
 public:
  MpiSession();
  MpiSession(int& argc, char**& argv);
  /// Waits for all processes. If an exception is propagating and the others do not arrive within
  /// `grace`, all are aborted.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int process() const;
  int processes() const;
  /// Processes on this computer.
  int processes_here() const;
  /// The end of the processes' work, or a point on the way: returns the highest exit code, and
  /// `text` becomes that of the first process that has one. A process with an error text waits
  /// `grace` for the others; if they do not arrive it prints the text and ends all.
  int agree(int exit_code, std::string& text) const;
  /// The library's own name: "Open MPI v4.1.4".
  static std::string library();
  /// Ends all processes at once, the last resort.
  [[noreturn]] static void abort(int exit_code);

  static constexpr std::chrono::milliseconds grace{10000};

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

struct MpiOptions {
  /// Messages of at most this many bytes are copied and sent at once; longer ones go straight
  /// between the two nodes' memories. With its header, a message of the default size still fits the
  /// 4 KiB that Open MPI sends at once through shared memory; 64 KiB take 11 us as a long message
  /// and 26 us as a short one (bench/README.md). Less than 2 GiB: MPI counts in int.
  Bytes eager_limit = 4064;
  /// A long message of several pieces: packed by us into one, or described to MPI. Packing is
  /// faster up to 4 KiB; at 64 KiB neither is (bench/README.md).
  bool pack_pieces = true;
  std::chrono::milliseconds time_limit{0};  ///< 0: none
  /// How long the other processes may take to end when one has failed; then all are aborted.
  std::chrono::milliseconds grace = MpiSession::grace;
  /// Per node, if a process has several; at least MachineOptions::least_stack_bytes.
  Bytes stack_bytes = Bytes{256} << 10;
  bool timing = false;  ///< as in MachineOptions
};

/// A multicomputer of MPI processes, and these as its team. Node r of N lives in process floor(((r
/// + 1) P - 1) / N) of P: neighbouring ranks together. A process with one node runs its program as
/// it is; one with several runs them as fibers, and messages between them stay in its memory. Any
/// number of nodes on any number of processes.
///
/// There is no wormhole network here: messages take the cluster's own network, moves only determine
/// the destination, and ports, links and channels do not exist.
///
/// Deadlock is diagnosed, not timed out: processes in which every node waits agree in rounds on how
/// many messages were sent and have arrived (the four counters of F. Mattern, "Algorithms for
/// distributed termination detection", Distributed Computing 2, 1987). The end of a run is the same
/// state with no node waiting.
///
/// Threads  the one that created it. All processes make the same calls in the same order.
class MpiMachine final : public Multicomputer, public Team {
 public:
  /// Throws UsageError if an option is out of range, in every process and before they communicate,
  /// or if the system does not provide the stacks.
  explicit MpiMachine(Topology topology, MpiOptions options = {});
  ~MpiMachine() override;

  const Topology& topology() const override;
  Statistics run(const Program& program) override;
  Statistics run(const Program& program, Schedule& trace) override;

  std::pair<Rank, Rank> nodes_here() const override;
  bool has_links() const override { return false; }
  Team& team() override { return *this; }

  int process() const override;
  int processes() const override;
  int processes_here() const override;
  void sum(std::span<std::uint64_t> values) override;
  void maximum(std::span<double> values) override;
  std::string first_text(std::string text) override;
  void join(Span array, std::size_t begin, std::size_t end) override;
  std::unique_ptr<SharedCounter> counter() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wormcube
