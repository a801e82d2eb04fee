// The processes started together for --executor mpi; the first one prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/multicomputer.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace wormcube::cli {

/// The program's main file provides an implementation if there is an MPI; nothing else in this
/// library uses MPI.
class Cluster {
 public:
  struct Settings {
    std::optional<Bytes> eager_limit;
    std::chrono::milliseconds time_limit{0};
    bool timing = false;
  };

  virtual ~Cluster() = default;
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  virtual int process() const = 0;
  virtual int processes() const = 0;
  /// Those on this computer.
  virtual int processes_here() const = 0;
  virtual std::string library() const = 0;
  virtual Bytes default_eager_limit() const = 0;
  /// MpiSession::agree.
  virtual int agree(int exit_code, std::string& text) = 0;
  virtual std::unique_ptr<Multicomputer> machine(const Topology& topology,
                                                 const Settings& settings) = 0;
};

}  // namespace wormcube::cli
