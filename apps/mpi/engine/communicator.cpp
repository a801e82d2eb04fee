// Communicators: made, shared, compared, freed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/communicator.hpp"

#include "wormcube/apps/mpi/engine/beside.hpp"
#include "wormcube/apps/mpi/engine/between_groups.hpp"
#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/collectives/harness/work.hpp"
#include "wormcube/collectives/registry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::mpi {

void TaggedNode::step(std::span<const Op> ops) {
  ops_.clear();
  for (const Op& op : ops) ops_.push_back(op.with_tag(first_ + op.tag()));
  node().step(ops_);
}

SharedCommunicator::SharedCommunicator(Job& job, std::uint32_t id, std::vector<Rank> members,
                                       std::string its_name)
    : name(std::move(its_name)), job_(job), id_(id), members_(std::move(members)) {
  is_world_order_ = true;
  for (Rank r = 0; r < size(); ++r) is_world_order_ = is_world_order_ && members_[r] == r;
  if (is_world_order_) return;
  rank_of_.assign(static_cast<std::size_t>(job.ranks()), -1);
  for (Rank r = 0; r < size(); ++r) rank_of_[static_cast<std::size_t>(members_[r])] = r;
}

SharedCommunicator::~SharedCommunicator() {
  if (id_ < 2) return;
  job_.remember(*this);
  job_.give_back_id(id_);
}

namespace {

bool match(const CollectiveTypes::Elements& one, const CollectiveTypes::Elements& other) {
  return one.signature == 0 || other.signature == 0 || one.signature == other.signature;
}

}  // namespace

/// What a rank's types are that do not match those of who came before; empty: they do. The ends of blocks meet.
std::string SharedCommunicator::compared(const CollectiveTypes& types, Types& before) {
  if (!match(types.all, before.all))
    return fmt::format("calls with {}, another called with {}", types.all.words, before.all.words);
  if (before.all.signature == 0) before.all = types.all;
  for (const CollectiveTypes::Block& block : types.blocks) {
    const auto [place, is_first] = before.blocks.try_emplace({block.from, block.to}, block);
    if (is_first) continue;
    if (!match(block.elements, place->second.elements)) {
      const std::string &mine = block.elements.words, &theirs = place->second.elements.words;
      return block.is_sent
                 ? fmt::format("sends {} to rank {}, which receives {}", mine, block.to, theirs)
                 : fmt::format("receives {} from rank {}, which sends {}", mine, block.from,
                               theirs);
    }
    before.blocks.erase(place);
  }
  return "";
}

void SharedCommunicator::come(std::uint64_t number, Rank member, const CollectiveCall& call) {
  const std::lock_guard lock(mutex_);
  while (first_arrival_ + arrivals_.size() <= number) arrivals_.push_back({call, member, 0});
  Arrivals& all = arrivals_[number - first_arrival_];
  const CollectiveCall& first = all.call;
  const auto mismatch = [&](const std::string& mine, const std::string& theirs) {
    throw Failure(MPI_ERR_OTHER,
                  fmt::format("this call does not match: rank {} calls {}, rank {} called {} "
                              "(its collective {} on {})",
                              member, mine, all.first, theirs, number + 1, name));
  };
  if (first.function != call.function) {
    mismatch(name_of(call.function), name_of(first.function));
  } else if (first.root != call.root) {
    mismatch(fmt::format("{} with root {}", name_of(call.function), call.root),
             fmt::format("it with root {}", first.root));
  } else if (first.bytes != call.bytes) {
    mismatch(fmt::format("{} with {} bytes", name_of(call.function), call.bytes),
             fmt::format("it with {} bytes", first.bytes));
  } else if (first.op != call.op && (first.op < 4096 || call.op < 4096)) {
    mismatch(fmt::format("{} with {}", name_of(call.function), call.op_name),
             fmt::format("it with {}", first.op_name));
  }
  if (call.types != nullptr) {
    if (all.types == nullptr) all.types = std::make_unique<Types>(Types{call.types->all, {}});
    if (const std::string wrong = compared(*call.types, *all.types); !wrong.empty()) {
      throw Failure(MPI_ERR_TYPE,
                    fmt::format("this call does not match: rank {} {} (its collective "
                                "{} on {}; --strict)",
                                member, wrong, number + 1, name));
    }
    all.call.types = nullptr;
  }
  if (++all.count < size()) return;
  while (!arrivals_.empty() && arrivals_.front().count == size()) {
    arrivals_.pop_front();
    ++first_arrival_;
  }
}

void SharedCommunicator::come_between(std::uint64_t number, Function function, Rank ranks,
                                      const std::string& its_name) {
  const std::lock_guard lock(mutex_);
  Between& all = between_.try_emplace(number, Between{function, 0}).first->second;
  if (all.function != function) {
    throw Failure(MPI_ERR_OTHER,
                  fmt::format("this call does not match: here {} is called, by the other group {} "
                              "(its collective {} on {})",
                              name_of(function), name_of(all.function), number + 1, its_name));
  }
  if (++all.count == ranks) between_.erase(number);
}

std::uint64_t come_to(Communicator& on, const CollectiveCall& call) {
  const std::uint64_t number = on.collectives++;
  on.shared->come(number, on.rank, call);
  if (on.remote) {
    SharedCommunicator& keeper = on.shared->id() < on.remote->id() ? *on.shared : *on.remote;
    keeper.come_between(number, call.function, on.shared->size() + on.remote->size(), on.name);
  }
  return number;
}

const SharedCommunicator::Arrivals* SharedCommunicator::arrivals(std::uint64_t number) const {
  if (number < first_arrival_ || number - first_arrival_ >= arrivals_.size()) return nullptr;
  return &arrivals_[number - first_arrival_];
}

std::shared_ptr<SharedCommunicator> SharedCommunicator::child_of(ChildKey key,
                                                                 const std::vector<Rank>& members,
                                                                 const std::string& its_name) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = children_.try_emplace(std::move(key));
  Child& child = place->second;
  if (is_new) {
    child.to_come = members.size();
    try {
      child.made = std::make_shared<SharedCommunicator>(job_, job_.take_id(), members, its_name);
    } catch (...) {
      children_.erase(place);
      throw;
    }
  }
  std::shared_ptr<SharedCommunicator> made = child.made;
  if (--child.to_come == 0) children_.erase(place);
  return made;
}

Collective SharedCommunicator::automatic(const Wanted& wanted, const Topology& network,
                                         const Arguments& arguments) const {
  if (job_.options().by_work) {
    return least_work(wanted.operation, network, wanted.block_bytes, Ports::one, arguments);
  }
  return cheapest(wanted.operation, network, CostModel(), wanted.block_bytes, Ports::one,
                  arguments);
}

Choice& SharedCommunicator::choose(const ChoiceKey& key, const Wanted& wanted,
                                   const Topology& network, const Arguments& arguments) {
  const auto [place, is_new] = choices_.try_emplace(key);
  Choice& choice = place->second;
  if (!is_new) return choice;
  choice.operation = std::string(wanted.operation->name);
  choice.block_bytes = wanted.block_bytes;
  const auto& named = job_.options().algorithms;
  if (const auto asked = named.find(choice.operation); asked != named.end()) {
    Collective collective = asked->second;
    collective.arguments = arguments;
    // It was admitted on the whole network; on a part of it, or with this operator, it may not be.
    if (!refusal(collective, network)) {
      choice.algorithm = collective.algorithm;
      choice.options = collective.options;
      choice.asked_for = true;
      return choice;
    }
  }
  const Collective best = automatic(wanted, network, arguments);
  choice.algorithm = best.algorithm;
  choice.options = best.options;
  return choice;
}

const Collective& SharedCommunicator::collective(const Wanted& wanted, const Topology& network,
                                                 const std::function<Reduction()>& reduction) {
  const int size_class = std::bit_width(wanted.block_bytes);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = instances_.try_emplace(
      {wanted.operation->name, size_class, wanted.root, wanted.op, wanted.type});
  std::unique_ptr<Instance>& instance = place->second;
  if (is_new) {
    try {
      Arguments arguments;
      arguments.root = wanted.root;
      if (reduction) arguments.reduction = reduction();
      const bool commutative = !reduction || arguments.reduction.commutative;
      Choice& choice =
          choose({wanted.operation->name, size_class, commutative}, wanted, network, arguments);
      Collective collective(*choice.algorithm, arguments);
      collective.options = choice.options;
      if (const auto refused = refusal(collective, network)) {  // with this root
        collective = automatic(wanted, network, arguments);
      }
      collective.settle(network, CostModel(), wanted.block_bytes);
      collective.require(network);
      instance = std::make_unique<Instance>(Instance{std::move(collective), &choice});
    } catch (...) {
      instances_.erase(place);
      throw;
    }
  }
  ++instance->choice->calls;
  return instance->collective;
}

Communicator::Communicator() = default;
Communicator::~Communicator() = default;

std::unique_ptr<View> view_of(Node& node, const SharedCommunicator& shared) {
  if (shared.is_world_order() && shared.size() == node.size()) return nullptr;
  const std::span<const Rank> members(shared.members());
  if (const auto dimensions = dimensions_of(node.topology(), members)) {
    return std::unique_ptr<View>(new GridView(node.along(std::span<const int>(*dimensions))));
  }
  return std::make_unique<GroupView>(node, members);
}

void attach(Communicator& communicator, RankState& rank, std::shared_ptr<SharedCommunicator> shared,
            std::shared_ptr<SharedCommunicator> remote) {
  communicator.magic = Communicator::alive;
  communicator.shared = std::move(shared);
  communicator.remote = std::move(remote);
  communicator.rank = communicator.shared->rank_of(rank.rank);
  communicator.collectives = communicator.made = 0;
  communicator.name = communicator.shared->name;
  communicator.world = rank.node;
  if (communicator.context() > 0) {
    communicator.tagged = std::make_unique<TaggedNode>(*rank.node, communicator.context());
    communicator.world = communicator.tagged.get();
  }
  communicator.view = view_of(*communicator.world, *communicator.shared);
  communicator.node = communicator.view ? communicator.view.get() : communicator.world;
}

namespace {

/// Whether a rank's requests are under way on it, or may be.
bool is_used(const RankState& rank, const Communicator& communicator) {
  bool found = false;
  rank.pool.each([&](const RequestObject& request) {
    found =
        found || (request.communicator == &communicator && (request.active || request.persistent));
  });
  return found;
}

void release(RankState& rank, Communicator& communicator) {
  const std::uint32_t context = communicator.context();
  std::erase_if(rank.made_in_partitions,
                [&](const auto& each) { return std::get<0>(each.first) == context; });
  communicator.idle_places.clear();
  communicator.view.reset();
  communicator.tagged.reset();
  communicator.node = communicator.world = nullptr;
  communicator.shared.reset();
  communicator.remote.reset();
}

}  // namespace

Communicator& make_end(Call& call, std::shared_ptr<SharedCommunicator> shared,
                       const Communicator& parent, MPI_Comm* handle,
                       std::shared_ptr<SharedCommunicator> remote) {
  RankState& rank = call.rank();
  for (const auto& each : rank.communicators) {  // what was freed with requests under way
    if (each->magic == Communicator::dead && each->shared && !is_used(rank, *each))
      release(rank, *each);
  }
  const auto unused = std::ranges::find_if(rank.communicators, [](const auto& each) {
    return each->magic == Communicator::dead && each->shared == nullptr;
  });
  Communicator* made = nullptr;
  if (unused == rank.communicators.end()) {
    made = rank.communicators.emplace_back(std::make_unique<Communicator>()).get();
  } else {
    made = unused->get();
  }
  attach(*made, rank, std::move(shared), std::move(remote));
  made->errors = parent.errors;
  made->grid = nullptr;
  made->graph = nullptr;
  made->neighbours = nullptr;
  made->attributes = {};
  made->info = nullptr;
  made->send_buffer = nullptr;
  made->of_session = parent.of_session;
  made->handle = reinterpret_cast<MPI_Comm>(made);
  *handle = made->handle;
  return *made;
}

Communicator& make_pair_end(Call& call, const Job::PairKey& key, const std::vector<Rank>& local,
                            const std::vector<Rank>& remote, const std::string& name,
                            const Communicator& parent, MPI_Comm* handle) {
  Job::Pair pair = call.rank().job.pair(key, local, remote, name);
  if (pair.lower->rank_of(call.rank().rank) < 0) std::swap(pair.lower, pair.upper);
  return make_end(call, std::move(pair.lower), parent, handle, std::move(pair.upper));
}

void wait_for_all(Call& call, Communicator& on) {
  if (on.remote) {
    Together all(call, on, call.function());
    return wait_between(all);
  }
  if (on.size() == 1) return;
  call.rank().call.communicator = &on;
  call.rank().call.waits = CurrentCall::Waits::collective;
  const Collective& barrier = on.shared->collective(
      {.operation = operations::barrier, .block_bytes = 0}, on.node->topology(), {});
  barrier.algorithm->program(*on.node, {ConstBlocks(ConstSpan(), 0), Blocks(Span(), 0),
                                        barrier.arguments, barrier.options});
}

void end_communicator(Call& call, Communicator& communicator) {
  forget_number_of(communicator.handle);
  communicator.magic = Communicator::dead;
  if (call.rank().call.communicator == &communicator) call.rank().call.communicator = nullptr;
  if (!is_used(call.rank(), communicator)) release(call.rank(), communicator);
}

void keep_together(Call& call, Communicator& parent) {
  constexpr std::uint64_t most_ahead = 64;
  if (++parent.made % most_ahead == 0) wait_for_all(call, parent);
}

namespace {

int comm_rank(MPI_Comm on, int* rank) {
  WORMCUBE_MPI_CALL(MPI_Comm_rank);
  return call([&] { *rank = call.communicator(on).rank; });
}

int comm_size(MPI_Comm on, int* size) {
  WORMCUBE_MPI_CALL(MPI_Comm_size);
  return call([&] { *size = call.communicator(on).size(); });
}

// All ranks make the call; none has to wait for the others, since what they share is in memory.
void duplicate(Call& call, MPI_Comm on, std::shared_ptr<const InfoKeys> info, MPI_Comm* made,
               bool may_wait = true) {
  Communicator& parent = call.communicator(on);
  const std::uint64_t number = come_to(parent, {.function = call.function()});
  if (may_wait) keep_together(call, parent);
  const std::string name = "dup of " + parent.name;
  const std::vector<Rank>& members = parent.shared->members();
  Communicator& copy =
      parent.remote ? make_pair_end(call, {parent.context(), number, 0}, members,
                                    parent.remote->members(), name, parent, made)
                    : make_end(call, parent.shared->child(number, 0, members, name), parent, made);
  copy.grid = parent.grid;
  copy.graph = parent.graph;
  copy.neighbours = parent.neighbours;
  copy.info = info != nullptr ? std::move(info) : parent.info;
  if (const int error = parent.attributes.copy_to(on, copy.attributes)) {
    copy.attributes.remove_all(copy.handle);
    end_communicator(call, copy);
    *made = MPI_COMM_NULL;
    throw Failure(error, "the copy function of an attribute returned an error");
  }
}

// What all share is in memory, so the copy is there at once.
void duplicate_at_once(Call& call, MPI_Comm on, std::shared_ptr<const InfoKeys> info,
                       MPI_Comm* made, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  duplicate(call, on, std::move(info), made, false);
  *request = reinterpret_cast<MPI_Request>(
      &start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, on, Requests::Mode::standard));
}

int comm_dup(MPI_Comm on, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_dup);
  return call([&] { duplicate(call, on, nullptr, made); });
}

int comm_dup_with_info(MPI_Comm on, MPI_Info info, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_dup_with_info);
  return call([&] { duplicate(call, on, hints_of(info), made); });
}

int comm_idup(MPI_Comm on, MPI_Comm* made, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Comm_idup);
  return call([&] { duplicate_at_once(call, on, nullptr, made, request); });
}

int comm_idup_with_info(MPI_Comm on, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Comm_idup_with_info);
  return call([&] { duplicate_at_once(call, on, hints_of(info), made, request); });
}

struct ColourAndKey {
  int colour, key;
};

/// Of those, the members of one colour, by their keys, as ranks of the world.
std::vector<Rank> members_of_colour(const std::vector<ColourAndKey>& all, int colour,
                                    const SharedCommunicator& group) {
  std::vector<Rank> members;
  for (Rank r = 0; r < group.size(); ++r) {
    if (all[static_cast<std::size_t>(r)].colour == colour) members.push_back(r);
  }
  std::ranges::stable_sort(members, {},
                           [&](Rank r) { return all[static_cast<std::size_t>(r)].key; });
  for (Rank& member : members) member = group.members()[static_cast<std::size_t>(member)];
  return members;
}

void split(Call& call, Communicator& parent, int colour, int key, MPI_Comm* made) {
  const std::uint64_t number = come_to(parent, {.function = call.function()});
  call.rank().call.waits = CurrentCall::Waits::collective;
  // What all give, by the registry's allgather.
  std::vector<ColourAndKey> all(static_cast<std::size_t>(parent.size())), others;
  all[static_cast<std::size_t>(parent.rank)] = {colour, key};
  if (parent.size() > 1) {
    const Collective& gather = parent.shared->collective(
        {.operation = operations::allgather, .block_bytes = sizeof(ColourAndKey)},
        parent.node->topology(), {});
    gather(*parent.node, all);
  }
  if (parent.remote) {
    others.resize(static_cast<std::size_t>(parent.remote->size()));
    swap_between(call, parent, std::as_bytes(std::span(all)),
                 std::as_writable_bytes(std::span(others)));
  }
  *made = MPI_COMM_NULL;
  if (colour == MPI_UNDEFINED) return;
  const std::vector<Rank> members = members_of_colour(all, colour, *parent.shared);
  const std::string name = fmt::format("part {} of {}", colour, parent.name);
  if (!parent.remote) {
    make_end(call, parent.shared->child(number, colour, members, name), parent, made);
    return;
  }
  const std::vector<Rank> remote = members_of_colour(others, colour, *parent.remote);
  if (remote.empty()) return;
  make_pair_end(call, {parent.context(), number, colour}, members, remote, name, parent, made);
}

int comm_split(MPI_Comm on, int colour, int key, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_split);
  return call([&] {
    Communicator& parent = call.communicator(on);
    if (colour < 0 && colour != MPI_UNDEFINED) {
      throw Failure(MPI_ERR_ARG,
                    fmt::format("colour {} is negative, and not MPI_UNDEFINED", colour));
    }
    split(call, parent, colour, key, made);
  });
}

// Each node has memory of its own, and that is all that is known of its hardware.
int comm_split_type(MPI_Comm on, int type, int key, MPI_Info info, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Comm_split_type);
  return call([&] {
    Communicator& parent = call.intracommunicator(on);
    static const std::string resource = "mpi_hw_resource_type", memory = "mpi_shared_memory";
    bool is_in = false;
    switch (type) {
      case MPI_UNDEFINED:
        break;
      case MPI_COMM_TYPE_SHARED:
        is_in = true;
        break;
      case MPI_COMM_TYPE_HW_UNGUIDED:  // the next smaller part, if there is one
        is_in = parent.size() > 1;
        if (is_in && info != MPI_INFO_NULL) set_key(info, resource, memory);
        break;
      case MPI_COMM_TYPE_HW_GUIDED:
      case MPI_COMM_TYPE_RESOURCE_GUIDED: {
        const InfoKeys keys = keys_of(info);
        const std::string* const wanted = keys.find(resource);
        is_in = wanted != nullptr && *wanted == memory;
        break;
      }
      default:
        throw Failure(MPI_ERR_ARG, fmt::format("{} is no type to split by", type));
    }
    split(call, parent, is_in ? parent.rank : MPI_UNDEFINED + 0, key, made);
  });
}

void free_communicator(Call& call, MPI_Comm* on) {
  Communicator& communicator = call.communicator(*on);
  if (is_predefined(*on)) throw Failure(MPI_ERR_COMM, communicator.name + " cannot be freed");
  if (const int error = communicator.attributes.remove_all(*on)) {
    throw Failure(error, "the delete function of an attribute returned an error");
  }
  end_communicator(call, communicator);
  *on = MPI_COMM_NULL;
}

int comm_free(MPI_Comm* on) {
  WORMCUBE_MPI_CALL(MPI_Comm_free);
  return call([&] { free_communicator(call, on); });
}

// The program has completed what it has started, so nothing but the others is waited for.
int comm_disconnect(MPI_Comm* on) {
  WORMCUBE_MPI_CALL(MPI_Comm_disconnect);
  return call([&] {
    Communicator& communicator = call.communicator(*on);
    come_to(communicator, {.function = call.function()});
    wait_for_all(call, communicator);
    free_communicator(call, on);
  });
}

// No rank was spawned by another.
int comm_get_parent(MPI_Comm* parent) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_parent);
  return call([&] { *parent = MPI_COMM_NULL; });
}

/// IDENT: the same in the same order; SIMILAR: in another.
int compared_members(const std::vector<Rank>& a, const std::vector<Rank>& b) {
  if (a == b) return MPI_IDENT;
  return a.size() == b.size() && std::ranges::is_permutation(a, b) ? MPI_SIMILAR : MPI_UNEQUAL;
}

int comm_compare(MPI_Comm left, MPI_Comm right, int* result) {
  WORMCUBE_MPI_CALL(MPI_Comm_compare);
  return call([&] {
    const Communicator& a = call.communicator(left);
    const Communicator& b = call.communicator(right);
    *result = MPI_UNEQUAL;
    if (left == right) {
      *result = MPI_IDENT;
    } else if ((a.remote == nullptr) == (b.remote == nullptr)) {
      const int local = compared_members(a.shared->members(), b.shared->members());
      const int remote =
          a.remote ? compared_members(a.remote->members(), b.remote->members()) : local;
      *result = std::max(local, remote);  // IDENT < SIMILAR < UNEQUAL
      if (*result == MPI_IDENT) *result = MPI_CONGRUENT;
    }
  });
}

int comm_set_name(MPI_Comm on, const char* name) {
  WORMCUBE_MPI_CALL(MPI_Comm_set_name);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    communicator.name = std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  });
}

int comm_get_name(MPI_Comm on, char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_name);
  return call([&] {
    const Communicator& communicator = call.communicator(on);
    const bool is_ours = communicator.name == communicator.shared->name && !is_predefined(on);
    const std::string text = is_ours ? std::string() : communicator.name;
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int comm_get_attr(MPI_Comm on, int key, void* value, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_attr);
  return call([&] {
    call.communicator(on);
    static const int most_tag = std::numeric_limits<int>::max(), any = MPI_ANY_SOURCE,
                     none = MPI_PROC_NULL, yes = 1, first = 0;
    const int* found = nullptr;
    switch (key) {
      case MPI_TAG_UB:
        found = &most_tag;
        break;
      case MPI_IO:
        found = &any;
        break;
      case MPI_HOST:
        found = &none;
        break;
      case MPI_WTIME_IS_GLOBAL:
        found = call.rank().job.clock() == nullptr ? &yes : &first;
        break;
      case MPI_APPNUM:
        found = &first;
        break;
      case MPI_UNIVERSE_SIZE:
        found = &call.rank().job.options().ranks;
        break;
      case MPI_LASTUSEDCODE:
        found = &call.rank().added_errors.last;
        break;
      default: {
        const auto own = call.rank().communicator_keys.find(key);
        if (!own) {
          throw Failure(MPI_ERR_KEYVAL, fmt::format("{} is no key of an attribute", key));
        }
        void* const* const set = call.communicator(on).attributes.find(*own);
        *flag = set != nullptr;
        if (set != nullptr) *static_cast<void**>(value) = *set;
        return;
      }
    }
    *static_cast<const int**>(value) = found;
    *flag = 1;
  });
}

}  // namespace

void add_communicator_functions(WormcubeMpiFunctions& table) {
  table.MPI_Comm_rank = comm_rank;
  table.MPI_Comm_size = comm_size;
  table.MPI_Comm_dup = comm_dup;
  table.MPI_Comm_dup_with_info = comm_dup_with_info;
  table.MPI_Comm_idup = comm_idup;
  table.MPI_Comm_idup_with_info = comm_idup_with_info;
  table.MPI_Comm_split = comm_split;
  table.MPI_Comm_split_type = comm_split_type;
  table.MPI_Comm_free = comm_free;
  table.MPI_Comm_disconnect = comm_disconnect;
  table.MPI_Comm_get_parent = comm_get_parent;
  table.MPI_Comm_compare = comm_compare;
  table.MPI_Comm_set_name = comm_set_name;
  table.MPI_Comm_get_name = comm_get_name;
  table.MPI_Comm_get_attr = comm_get_attr;
}

}  // namespace wormcube::mpi
