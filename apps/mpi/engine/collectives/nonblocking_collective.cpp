// Nonblocking collectives: their steps, and which one continues when.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/nonblocking_collective.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {

// Operations in progress at the end of the job are abandoned: they no longer run.
NonblockingCollective::~NonblockingCollective() {
  if (ended_) return;
  static_cast<void>(strand_.release());
  static_cast<void>(place_.release());
}

void NonblockingCollective::check(Call& call) {
  only_checks_ = true;
  try {
    CollectiveCall all(call, on_, function_, this);
    program_(all);
  } catch (const Checked&) {
    only_checks_ = false;
    return;
  } catch (...) {
    only_checks_ = false;
    throw;
  }
}

Request NonblockingCollective::begin(Call& call) {
  if (on_.idle_places.empty()) {
    place_ = std::make_unique<NonblockingPlace>(*rank_.node, *rank_.requests, rank_.sent_to);
    place_->view = view_of(place_->world, *on_.shared);
  } else {
    place_ = std::move(on_.idle_places.back());
    on_.idle_places.pop_back();
  }
  strand_ = IdleStrands::take();
  strand_->give(body_);
  failure_.reset();
  ended_ = false;
  ++starts_;
  call_.emplace(call, on_, function_, this);
  request_ = rank_.requests->open();
  strand_->resume();
  if (!ended_) {
    if (!rank_.nonblocking) {
      rank_.nonblocking = std::make_unique<NonblockingCollectives>(rank_);
      rank_.requests->set_progress_engine(rank_.nonblocking.get());
    }
    static_cast<NonblockingCollectives&>(*rank_.nonblocking).enter(*this);
    return request_;
  }
  Request request = request_;
  end();
  if (failure_) {
    rank_.requests->wait(request);
    throw Failure(*failure_);
  }
  return request;
}

bool NonblockingCollective::go_on() {
  if (!place_->world.can_go_on()) return false;
  strand_->resume();
  if (ended_) end();
  return ended_;
}

void NonblockingCollective::run() noexcept {
  try {
    program_(*call_);
  } catch (const Failure& failure) {
    failure_ = failure;
  } catch (...) {
    end_by_exception(rank_, name_of(function_));
  }
  ended_ = true;
}

void NonblockingCollective::end() {
  call_.reset();
  IdleStrands::give_back(std::move(strand_));
  on_.idle_places.push_back(std::move(place_));
  rank_.requests->settle(request_);
}

TypeView NonblockingCollective::type(MPI_Datatype handle) {
  for (KeptType& kept : types_) {
    if (kept.view.handle == handle) return kept.view;
  }
  const TypeView current = type_view(handle);
  KeptType& kept = types_.emplace_back(KeptType{*current.type, current});
  kept.view.type = &kept.type;
  return kept.view;
}

Operator NonblockingCollective::op(MPI_Op handle, const TypeView& on) {
  const bool has_been_seen = std::ranges::find(operators_, handle) != operators_.end();
  const Operator operation = operator_on(handle, on, has_been_seen);
  if (!has_been_seen) operators_.push_back(handle);
  return operation;
}

void NonblockingCollective::come(const CollectiveMatch& what) {
  if (!has_come_) {
    has_come_ = true;
    number_ = come_to(on_, what);
  }
  if (only_checks_) throw Checked();
  place_->world.begin(*strand_, on_.context(), number_);
}

void NonblockingCollectives::progress() {
  current_rank = &rank_;
  std::erase_if(under_way_, [](NonblockingCollective* program) { return program->go_on(); });
}

namespace {

RequestObject& new_collective(Call& call, MPI_Comm on, Function function,
                              CollectiveProgram program) {
  Communicator& communicator = call.communicator(on);
  RequestObject& object = call.rank().pool.take();
  object.kind = RequestObject::Kind::collective;
  object.communicator = &communicator;
  object.program = std::make_shared<NonblockingCollective>(call.rank(), communicator, function,
                                                           std::move(program));
  object.at = call.rank().call.at;
  object.started_by = function;
  object.bytes = 0;
  object.inner = {};
  return object;
}

}  // namespace

void start_collective(Call& call, MPI_Comm on, Function function, CollectiveProgram program,
                      MPI_Request* request) {
  RequestObject& object = new_collective(call, on, function, std::move(program));
  try {
    object.inner = object.program->begin(call);
  } catch (...) {
    call.rank().pool.give_back(object);
    throw;
  }
  object.active = true;
  *request = reinterpret_cast<MPI_Request>(&object);
}

void prepare_collective(Call& call, MPI_Comm on, Function function, CollectiveProgram program,
                        MPI_Request* request) {
  RequestObject& object = new_collective(call, on, function, std::move(program));
  try {
    object.program->check(call);
  } catch (...) {
    call.rank().pool.give_back(object);
    throw;
  }
  object.persistent = true;
  *request = reinterpret_cast<MPI_Request>(&object);
}

void restart_collective(Call& call, RequestObject& object) {
  object.inner = object.program->begin(call);
  object.active = true;
  object.at = call.rank().call.at;
}

}  // namespace wormcube::mpi
