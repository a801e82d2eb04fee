// What one worker runs next: its tasks that can run, block by block of neighbours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

template <class Task>
class BlockQueue;

/// Neighbours, which run together: most algorithms send mostly between them, and what these
/// messages touch is still in the cache then.
template <class Task>
class TaskBlock {
  friend class BlockQueue<Task>;

  struct List {
    Task* first = nullptr;
    Task* last = nullptr;

    void append(Task& task) noexcept {
      task.next = nullptr;
      (last == nullptr ? first : last->next) = &task;
      last = &task;
    }
    Task* take() noexcept {
      Task* const task = first;
      first = task->next;
      if (first == nullptr) last = nullptr;
      return task;
    }
  };

  std::span<Task> tasks_;
  std::size_t fresh_ = 0;  // the first that has not run yet in this run
  List ready_, later_;
  TaskBlock* next_ = nullptr;  // of those that wait for their turn
  bool waits_ = false;
};

/// A queue of blocks, each with a queue of its tasks. One block has its turn. First its tasks run
/// that have not run yet, in their order; then those that can continue, first come, first served,
/// including those that become ready meanwhile. The turn ends when none of them can continue, or
/// after `most_rounds` times as many runs as the block has tasks. Blocks have their turns first
/// come, first served.
///
/// Threads     the worker's.
/// Invariants  a task is in one list at most. A block with tasks in a list, or fresh ones, waits
///             for its turn or has it. So a task waits for its block's turn and within it for at
///             most `most_rounds` times its block's tasks, and no task that can go on always
///             starves another.
template <class Task>
class BlockQueue {
 public:
  static constexpr std::size_t most_rounds = 8;

  /// Once, before anything else: sets its tasks; each `block` of them are neighbours. \param others
  /// are a block of their own, the last one
  void own(std::span<Task> tasks, std::span<Task> others, std::size_t block) {
    const std::size_t blocks = std::max<std::size_t>((tasks.size() + block - 1) / block, 1);
    blocks_ = std::vector<TaskBlock<Task>>(blocks + (others.empty() ? 0 : 1));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::size_t first = i * block;
      blocks_[i].tasks_ =
          i < blocks ? tasks.subspan(first, std::min(block, tasks.size() - first)) : others;
      blocks_[i].fresh_ = blocks_[i].tasks_.size();
      for (Task& task : blocks_[i].tasks_) task.block = &blocks_[i];
    }
    current_ = blocks_.data();
    begin_turn();
  }
  /// All of its tasks can run; none is in a list.
  void start() noexcept {
    for (TaskBlock<Task>& block : blocks_) {
      block.fresh_ = 0;
      wait_for_turn(block);
    }
  }

  /// The task can continue.
  void append(Task& task) noexcept { append(task, task.block->ready_); }
  /// The same, after all others of its block that can.
  void append_later(Task& task) noexcept { append(task, task.block->later_); }

  /// Removes and returns the task that runs next; null: none can.
  Task* next() noexcept {
    do {
      TaskBlock<Task>& block = *current_;
      if (block.fresh_ < block.tasks_.size()) return &block.tasks_[block.fresh_++];
      if (block.ready_.first != nullptr && left_ > 0) {
        --left_;
        --size_;
        return block.ready_.take();
      }
    } while (next_turn());
    return nullptr;
  }
  /// The task after that, as far as it is known now; null: unknown.
  const Task* ahead() const noexcept { return current_->ready_.first; }
  /// How many tasks have run and can continue.
  std::size_t size() const noexcept { return size_; }

 private:
  using List = typename TaskBlock<Task>::List;

  void append(Task& task, List& list) noexcept {
    list.append(task);
    ++size_;
    if (task.block != current_) wait_for_turn(*task.block);
  }

  void wait_for_turn(TaskBlock<Task>& block) noexcept {
    if (std::exchange(block.waits_, true)) return;
    block.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &block;
    last_ = &block;
  }

  void begin_turn() noexcept { left_ = most_rounds * current_->tasks_.size(); }

  // False: no block has a task that can continue.
  bool next_turn() noexcept {
    TaskBlock<Task>& block = *current_;
    while (block.later_.first != nullptr) block.ready_.append(*block.later_.take());
    if (block.ready_.first != nullptr) wait_for_turn(block);
    const bool one_waits = first_ != nullptr;
    if (one_waits) take_first();
    begin_turn();
    return one_waits;
  }

  void take_first() noexcept {
    current_ = first_;
    first_ = current_->next_;
    if (first_ == nullptr) last_ = nullptr;
    current_->waits_ = false;
  }

  std::vector<TaskBlock<Task>> blocks_;
  TaskBlock<Task>* current_ = nullptr;                 // whose turn it is
  TaskBlock<Task>*first_ = nullptr, *last_ = nullptr;  // that wait for it
  std::size_t left_ = 0;                               // that may continue in this turn
  std::size_t size_ = 0;
};

}  // namespace wormcube
