// The processes of an MPI job: the only file of the program that uses MPI.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/mpi/cluster.hpp"

#include "wormcube/apps/cli/core/cluster.hpp"
#include "wormcube/collectives/mpi/library.hpp"
#include "wormcube/runtime/machine/mpi/machine.hpp"

namespace wormcube::cli {

namespace {

class MpiCluster final : public Cluster {
 public:
  MpiCluster() {
    for (const Algorithm& algorithm : mpi_library_algorithms()) {
      add_algorithm(algorithm, "MPI library");
    }
  }
  int process() const override { return process_; }
  int processes() const override { return processes_; }
  int processes_here() const override { return processes_here_; }
  std::string library() const override { return MpiSession::library(); }
  Bytes default_eager_limit() const override { return MpiOptions().eager_limit; }
  int agree(int exit_code, std::string& text) override { return session_.agree(exit_code, text); }
  std::unique_ptr<Multicomputer> machine(const Topology& topology,
                                         const Settings& settings) override {
    MpiOptions options;
    if (settings.eager_limit) options.eager_limit = *settings.eager_limit;
    options.time_limit = settings.time_limit;
    options.timing = settings.timing;
    return std::make_unique<MpiMachine>(topology, options);
  }

 private:
  MpiSession session_;
  int process_ = session_.process(), processes_ = session_.processes(),
      processes_here_ = session_.processes_here();
};

}  // namespace

std::unique_ptr<Cluster> start_mpi() { return std::make_unique<MpiCluster>(); }

std::string mpi_library() { return MpiSession::library(); }

}  // namespace wormcube::cli
