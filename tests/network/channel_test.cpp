// Virtual channels: their counts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/channel.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("a channel's counts are of one run, and one that is reset is free", "[network]") {
  VirtualChannel channel(0);
  Waiter first(Waiter::Kind::worm), second(Waiter::Kind::worm);
  CHECK(channel.acquire(first));
  CHECK_FALSE(channel.acquire(second));
  CHECK(channel.is_new(7));
  CHECK_FALSE(channel.is_new(7));
  channel.count_message(100);
  channel.count_message(28);
  channel.count_blocked();
  CHECK(channel.messages() == 2);
  CHECK(channel.bytes() == 128);
  CHECK(channel.blocked() == 1);
  channel.reset();
  CHECK(channel.acquire(second));
  CHECK(channel.is_used_in(7));
  CHECK_FALSE(channel.is_used_in(8));
  CHECK(channel.is_new(8));
  CHECK((channel.messages() == 0 && channel.bytes() == 0 && channel.blocked() == 0));
}
