// Completion: the thread that completes it sees what the node did before.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/completion.hpp"

#include <catch2/catch.hpp>

using wormcube::Completion;
using Progress = Completion::Progress;

TEST_CASE("a message that is not begun otherwise is awaited", "[network]") {
  Completion completion;
  CHECK_FALSE(completion.is_complete());
  CHECK(completion.settle() == Progress::awaited);
  CHECK(completion.is_complete());
}

TEST_CASE("who completes a message learns whether the node awaits it, watches it or neither",
          "[network]") {
  Completion completion;
  completion.begin(Progress::pending);
  CHECK_FALSE(completion.is_complete());
  SECTION("neither") { CHECK(completion.settle() == Progress::pending); }
  SECTION("awaited") {
    CHECK(completion.await());
    CHECK(completion.settle() == Progress::awaited);
  }
  SECTION("watched") {
    CHECK(completion.watch());
    CHECK(completion.settle() == Progress::watched);
  }
  SECTION("watched, and no longer") {
    CHECK(completion.watch());
    completion.unwatch();
    CHECK(completion.settle() == Progress::pending);
  }
  SECTION("watched, and then awaited") {
    CHECK(completion.watch());
    completion.unwatch();
    CHECK(completion.await());
    completion.unwatch();  // it is not watched
    CHECK(completion.settle() == Progress::awaited);
  }
  CHECK(completion.is_complete());
  CHECK_FALSE(completion.await());
  CHECK_FALSE(completion.watch());
  completion.unwatch();
  CHECK(completion.is_complete());
}
