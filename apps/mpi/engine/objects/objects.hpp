// MPI's objects: communicators, groups, infos, types, attributes, sessions, and their functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/info.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace wormcube::mpi {

/// This rank's end of a new communicator, with the error handler of its parent.
/// \param remote  for an intercommunicator: the other group
Communicator& make_end(Call& call, std::shared_ptr<SharedCommunicator> shared,
                       const Communicator& parent, MPI_Comm* handle,
                       std::shared_ptr<SharedCommunicator> remote = nullptr);
/// This rank's end of an intercommunicator. \param key  Job::pair()
Communicator& make_pair_end(Call& call, const std::tuple<std::uint32_t, std::uint64_t, int>& key,
                            const std::vector<Rank>& local, const std::vector<Rank>& remote,
                            const std::string& name, const Communicator& parent, MPI_Comm* handle);
/// \param of_session  the session that it comes from; null: none
MPI_Group new_group(std::vector<Rank> members, std::shared_ptr<SessionState> of_session = nullptr);
std::shared_ptr<SessionState> session_of_group(MPI_Group group);
/// The group's members as ranks of the world. Throws Failure(MPI_ERR_GROUP).
const std::vector<Rank>& members_of_group(MPI_Group group);
MPI_Info new_info(InfoKeys keys);
/// Ends this rank's end. Operations in progress on it keep what all ranks share.
void end_communicator(Call& call, Communicator& communicator);
/// For calls that make communicators without waiting for other ranks: they wait now and then, or a
/// rank that runs ahead would use up all numbers.
void keep_together(Call& call, Communicator& parent);
/// The keys of an info; none for INFO_NULL. Throws Failure(MPI_ERR_INFO).
InfoKeys keys_of(MPI_Info handle);
/// The keys that a communicator keeps: the standard ones. Others are ignored.
std::shared_ptr<const InfoKeys> hints_of(MPI_Info handle);
void set_key(MPI_Info handle, const std::string& key, const std::string& value);

void add_attribute_functions(WormcubeMpiFunctions& table);
void add_communicator_functions(WormcubeMpiFunctions& table);
void add_error_functions(WormcubeMpiFunctions& table);
void add_external_functions(WormcubeMpiFunctions& table);
void add_graph_functions(WormcubeMpiFunctions& table);
void add_grid_functions(WormcubeMpiFunctions& table);
void add_group_functions(WormcubeMpiFunctions& table);
void add_info_functions(WormcubeMpiFunctions& table);
void add_intercommunicator_functions(WormcubeMpiFunctions& table);
void add_session_functions(WormcubeMpiFunctions& table);
void add_tool_functions(WormcubeMpiFunctions& table);
void add_type_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
