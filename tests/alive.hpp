// Objects that count how many of them are alive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace machine_tests {

/// Counts the objects of a run that are alive: at its end all stacks, of nodes and of parts, have been unwound.
class Alive {
 public:
  explicit Alive(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Alive() { --count_; }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace machine_tests
