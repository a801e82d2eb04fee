// Gathers what the processes have: texts, statistics, logs, a shared counter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/team.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

namespace wormcube {

/// Processes on this computer. The first call is collective.
int processes_on_this_computer();
/// More of them than cores: a waiting process must yield its core.
bool is_crowded();
/// MPI_Wait that yields its core when the wait is long; the library's own blocking calls may spin
/// for a time slice.
void await(MPI_Request& request);

// All functions from here on are collective.

template <class Number>
void reduce_all(MPI_Comm all, std::span<Number> values, MPI_Datatype type, MPI_Op operation) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, operation, all,
                 &request);
  await(request);
}

/// The root's text, in every process.
void broadcast_text(MPI_Comm all, std::string& text, int root);
/// The texts of all processes, concatenated, in every process.
std::string gather_texts(MPI_Comm all, const std::string& text);
/// Sends each node's log to process 0; each process passes the logs of its own nodes.
void gather_logs(MPI_Comm all, std::pair<Rank, Rank> nodes_here, std::span<RankLog> logs);
std::unique_ptr<SharedCounter> make_counter(MPI_Comm all);

/// The items of all processes, concatenated, in every process.
template <class Item>
requires std::is_trivially_copyable_v<Item> std::vector<Item> gather_all(
    MPI_Comm all, std::span<const Item> mine) {
  MPI_Datatype item = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Item), MPI_BYTE, &item);
  MPI_Type_commit(&item);
  int processes = 0;
  MPI_Comm_size(all, &processes);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(processes)), starts(counts.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, all, &request);
  await(request);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<Item> items(static_cast<std::size_t>(starts.back() + counts.back()));
  MPI_Iallgatherv(mine.data(), count, item, items.data(), counts.data(), starts.data(), item, all,
                  &request);
  await(request);
  MPI_Type_free(&item);
  return items;
}

}  // namespace wormcube
