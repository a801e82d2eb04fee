// What the ranks of a communicator share: members, children, algorithms; its part of the network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/communicator.hpp"

#include "wormcube/apps/mpi/engine/core/nonblocking_node.hpp"
#include "wormcube/collectives/choose/work.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <bit>

namespace wormcube::mpi {

void TaggedNode::step(std::span<const Op> ops) {
  ops_.clear();
  for (const Op& op : ops) ops_.push_back(op.with_tag(first_ + op.tag()));
  node().step(ops_);
}

SharedCommunicator::SharedCommunicator(CommunicatorHost& host, std::uint32_t id,
                                       std::vector<Rank> members, std::string its_name)
    : name(std::move(its_name)), host_(host), id_(id), members_(std::move(members)) {
  is_world_order_ = true;
  for (Rank r = 0; r < size(); ++r) is_world_order_ = is_world_order_ && members_[r] == r;
  if (is_world_order_) return;
  rank_of_.assign(static_cast<std::size_t>(host.ranks()), -1);
  for (Rank r = 0; r < size(); ++r) rank_of_[static_cast<std::size_t>(members_[r])] = r;
}

SharedCommunicator::~SharedCommunicator() {
  if (id_ < 2) return;
  host_.remember(*this);
  host_.give_back_id(id_);
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
      child.made = std::make_shared<SharedCommunicator>(host_, host_.take_id(), members, its_name);
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
  const wormcube::Choice choice{.operation = wanted.operation,
                                .topology = network,
                                .block_bytes = wanted.block_bytes,
                                .model = host_.by_work() ? CostModel{} : host_.costs(),
                                .arguments = arguments};
  return host_.by_work() ? least_work(choice) : cheapest(choice);
}

Choice& SharedCommunicator::choose(const ChoiceKey& key, const Wanted& wanted,
                                   const Topology& network, const Arguments& arguments) {
  const auto [place, is_new] = choices_.try_emplace(key);
  Choice& choice = place->second;
  if (!is_new) return choice;
  choice.operation = std::string(wanted.operation->name);
  choice.block_bytes = wanted.block_bytes;
  const auto& named = host_.algorithms();
  if (const auto selected = named.find(choice.operation); selected != named.end()) {
    Collective collective = selected->second;
    collective.arguments = arguments;
    // The algorithm fits the whole network, but may not fit a part of it or this operator.
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
      const bool exact = !reduction || arguments.reduction.exact;
      Choice& choice = choose({wanted.operation->name, size_class, commutative, exact}, wanted,
                              network, arguments);
      Collective collective(*choice.algorithm, arguments);
      collective.options = choice.options;
      if (const auto refused = refusal(collective, network)) {  // with this root
        collective = automatic(wanted, network, arguments);
      }
      collective.settle(network, host_.costs(), wanted.block_bytes);
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

void attach(Communicator& communicator, Node& node, std::shared_ptr<SharedCommunicator> shared,
            std::shared_ptr<SharedCommunicator> remote) {
  communicator.magic = Communicator::alive;
  communicator.shared = std::move(shared);
  communicator.remote = std::move(remote);
  communicator.others = (communicator.remote ? communicator.remote : communicator.shared).get();
  communicator.number = std::min(communicator.shared->id(), communicator.others->id());
  communicator.rank = communicator.shared->rank_of(node.rank());
  communicator.collectives = communicator.made = 0;
  communicator.name = communicator.shared->name;
  communicator.world = &node;
  if (communicator.context() > 0) {
    communicator.tagged = std::make_unique<TaggedNode>(node, communicator.context());
    communicator.world = communicator.tagged.get();
  }
  communicator.view = view_of(*communicator.world, *communicator.shared);
  communicator.node = communicator.view ? communicator.view.get() : communicator.world;
}

}  // namespace wormcube::mpi
