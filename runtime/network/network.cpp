// The network's tables, the path of each worm through them, and their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/network.hpp"

#include "wormcube/runtime/network/known_paths.hpp"
#include "wormcube/runtime/network/routers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Network::Network(Routing routing, Settings settings, NetworkHost& host)
    : routing_(std::move(routing)),
      settings_(settings),
      host_(host),
      channels_(routing_.channels(), routing_.topology().nodes()),
      link_ports_(settings.all_port ? static_cast<std::size_t>(routing_.topology().links() +
                                                               routing_.topology().nodes())
                                    : 0),
      node_ports_(settings.all_port ? 0 : static_cast<std::size_t>(routing_.topology().nodes())),
      tables_(static_cast<std::size_t>(routing_.topology().nodes())),
      known_paths_(routing_.topology().nodes() > KnownPaths::most_nodes
                       ? 0
                       : static_cast<std::size_t>(routing_.topology().nodes())) {
  if (settings.routers != nullptr)
    routers_ = std::make_unique<Routers>(*this, host, *settings.routers, settings.all_port);
}
Network::~Network() = default;

double Network::bytes_of_tables(const Routing& routing, const Settings& settings) {
  const Topology& topology = routing.topology();
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  const auto links = static_cast<std::size_t>(topology.links());
  return static_cast<double>(ChannelTable::bytes_of(routing.channels(), topology.nodes()) +
                             (settings.all_port ? LazyTable<LinkPorts>::bytes_of(links + nodes)
                                                : nodes * sizeof(LinkPorts)) +
                             nodes * sizeof(TagTable));
}

void Network::address(Worm& worm, Rank from, const Op& op) {
  worm.reserved = 0;
  worm.state = Worm::State::travelling;
  worm.successor = nullptr;
  worm.follows = false;
  // A node that sends along the same path as with this worm before: round a ring, to its one
  // partner.
  const auto way = op.to() == Op::To::rank  ? Worm::Way::to_rank
                   : op.moves().size() == 1 ? Worm::Way::by_move
                                            : Worm::Way::by_moves;
  if (worm.way == way && worm.from == from &&
      (way == Worm::Way::to_rank   ? worm.to == op.peer()
       : way == Worm::Way::by_move ? worm.move == op.moves().front()
                                   : false)) {
    return;
  }
  worm.way = Worm::Way::none;  // until the path is whole
  worm.from = from;
  // Long messages push cached paths out of the cache: to compute a path again takes less time than
  // to fetch it.
  if (known_paths_.empty() || op.bytes() > settings_.eager_limit) {
    find_path(worm, op);
  } else if (!known_paths_[from].find(worm, op)) {
    find_path(worm, op);
    known_paths_[from].keep(worm, op);
  }
  if (way == Worm::Way::by_move) worm.move = op.moves().front();
  worm.way = way;
}

void Network::find_path(Worm& worm, const Op& op) {
  const Rank from = worm.from;
  // Used within this call only, so fibers may share it.
  static thread_local std::vector<Channel> route;
  route.clear();
  worm.path.clear();
  if (op.to() == Op::To::rank) {
    worm.to = op.peer();
    routing_.route(from, op.peer(), route);
  } else {
    worm.to = routing_.route(from, op.moves(), route);
  }
  const Topology& topology = routing_.topology();
  const auto link_ports = [&](Link link) -> LinkPorts& {
    return link_ports_.get(static_cast<std::size_t>(link));
  };
  if (!settings_.all_port) {
    worm.path.push_back(&node_ports_[from].injection);
  } else {
    worm.path.push_back(
        &link_ports(route.empty() ? topology.links() + from : routing_.link(route.front()))
             .injection);
  }
  for (const Channel channel : route) {
    VirtualChannel& taken = channels_.get(channel);
    __builtin_prefetch(&taken, 1);
    worm.path.push_back(&taken);
  }
  if (!settings_.all_port) {
    worm.path.push_back(&node_ports_[worm.to].ejection);
  } else {
    worm.path.push_back(
        &link_ports(route.empty() ? topology.links() + from : routing_.link(route.back()))
             .ejection);
  }
  worm.path.push_back(&tables_[worm.to]);
}

std::string Network::describe(const Worm& worm, std::size_t entry) const {
  if (entry == 0) return fmt::format("injection port of node {}", worm.from);
  if (entry + 2 == worm.path.size()) return fmt::format("ejection port of node {}", worm.to);
  if (entry + 1 == worm.path.size()) return fmt::format("tag table of node {}", worm.to);
  return "link " +
         routing_.channel_name(static_cast<const VirtualChannel*>(worm.path[entry])->id());
}

std::string Network::held_links(const Worm& worm) const {
  std::string text;
  if (worm.state != Worm::State::travelling) return text;
  if (routers_ != nullptr) return text;  // they say it, with the flits
  for (std::size_t entry = 1; entry < std::min(worm.reserved, worm.path.size() - 2); ++entry) {
    text += (text.empty() ? "" : ", ") +
            routing_.channel_name(static_cast<const VirtualChannel*>(worm.path[entry])->id());
  }
  return text;
}

void Network::each_channel(const std::function<void(const VirtualChannel&)>& f) const {
  channels_.each_marked(run_, [&](const VirtualChannel& channel) {
    if (channel.is_used_in(run_)) f(channel);
  });
}

std::optional<std::string> Network::leftover() const {
  for (std::size_t node = 0; node < tables_.size(); ++node) {
    if (const EarlyMessage* const early = tables_[node].leftover()) {
      return fmt::format("node {} never received a message of {} bytes from node {} with tag {}",
                         node, early->bytes, early->from, early->tag);
    }
  }
  return {};
}

std::vector<UnreceivedMessage> Network::unreceived() const {
  std::vector<UnreceivedMessage> all;
  for (std::size_t node = 0; node < tables_.size(); ++node) {
    tables_[node].each_early([&](const EarlyMessage& early) {
      all.push_back({early.from, static_cast<Rank>(node), early.tag, early.context, early.bytes});
    });
  }
  return all;
}

void Network::reset() {
  channels_.each([](VirtualChannel& channel) { channel.reset(); });
  const auto free = [](LinkPorts& ports) {
    ports.injection.reset();
    ports.ejection.reset();
  };
  link_ports_.each(free);
  std::ranges::for_each(node_ports_, free);
  for (TagTable& table : tables_) table.reset();
  if (routers_ != nullptr) routers_->reset();
}

}  // namespace wormcube
