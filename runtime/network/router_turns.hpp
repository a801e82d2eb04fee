// When a task of routers has its turns, and when it waits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace wormcube {

/// Has turns until all nodes have ended. After a turn in which nothing moved it lets others run
/// once, and then waits to be called.
///
/// Threads       the task's.
/// Memory order  it answers its calls before it looks at its lanes, and waits only if it was not
///               called since. Who has changed what it looks at calls it afterwards. Call and
///               answer are read-modify-writes of one word (Gate): either the look sees the change,
///               or the wait sees the call.
/// \tparam Host  as NetworkHost
/// \param turn   returns whether anything has moved
template <class Host, class Turn>
void take_turns(Host& host, int task, Turn&& turn) {
  for (bool is_idle = false; !host.all_nodes_have_ended();) {
    host.answer_calls(task);
    const bool moved = !host.is_stopping() && turn();
    if (moved || !std::exchange(is_idle, true)) {
      is_idle = !moved;
      host.let_others_run(task, moved);
    } else {
      is_idle = false;
      host.wait_for_call(task);
    }
  }
}

}  // namespace wormcube
