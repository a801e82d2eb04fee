// What an MPI function throws inside the engine: an error class and a text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <string>
#include <utility>

namespace wormcube::mpi {

/// Never leaves the engine: a call passes it to the communicator's error handler.
class Failure {
 public:
  Failure(int error_class, std::string text) : class_(error_class), text_(std::move(text)) {}
  int error_class() const { return class_; }
  const std::string& text() const { return text_; }

 private:
  int class_;
  std::string text_;
};

}  // namespace wormcube::mpi
