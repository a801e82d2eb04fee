// One step of a schedule, message by message: as a table, as CSV, as a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// A message of a step, and the way that its worm takes.
struct DrawnMessage {
  Rank from, to;
  Bytes bytes;
  Tag tag;
  std::vector<Move> moves = {};     // empty where the router chose the way
  std::vector<Channel> route = {};  // empty for a message of a node to itself
  int load = 0;                     // most messages on one link of its route, itself included
};

/// What one link carries in a step.
struct LinkLoad {
  Link link;
  int messages = 0;
  Bytes bytes = 0;
};

struct DrawnStep {
  std::size_t step = 0;
  std::string phase = {};                   // that the program has named; empty: none
  std::vector<DrawnMessage> messages = {};  // by sender, of one sender in the order posted
  std::vector<LinkLoad> links = {};         // those that carry something, ascending

  /// The most messages on one link; 0 in an idle step.
  int busiest() const;
  /// Only the messages that this node sends or receives; links keep the load of all messages.
  DrawnStep of_node(Rank node) const;
};

/// The messages of one step with their routes, without loads. Receives are the other ends of sends
/// and have no entry of their own.
std::vector<DrawnMessage> messages_of(const Schedule& schedule, const Routing& routing,
                                      std::size_t step);
/// The same with what every link carries.
/// Throws UsageError if the schedule has no such step or is for another topology.
DrawnStep drawn_step(const Schedule& schedule, const Routing& routing, std::size_t step);

/// The name of the phase that a step lies in; empty: none.
std::string_view phase_of(const Schedule& schedule, std::size_t step);

/// A message's moves as "0+1 1-2"; empty where there are none.
std::string moves_text(std::span<const Move> moves);
/// Its channels as "0->1, 1->2 vc 1".
std::string route_text(const Routing& routing, std::span<const Channel> route);

/// How messages are shown.
struct StepTextOptions {
  Bytes block_bytes = 0;  ///< shows bytes as blocks too; 0: does not
  bool heads = true;      ///< the first line of CSV
  bool links = true;      ///< in a table: what each link carries, below the messages
  std::size_t width = 0;  ///< of a table: longer routes are cut and end with ".."; 0: none is
};

/// Two tables for people: messages, then links. '#' starts what is not data.
std::string step_table(const DrawnStep& step, const Routing& routing,
                       const StepTextOptions& options);
/// step,from,to,bytes[,blocks],tag,moves,hops,load,route: one line per message.
std::string step_csv(const DrawnStep& step, const Routing& routing, const StepTextOptions& options);
/// A Graphviz graph: cables in grey, links that carry something as arrows with what they carry,
/// those that carry more than one message in red. `dot -Kneato -n -Tsvg` keeps the places.
std::string step_dot(const DrawnStep& step, const Routing& routing);
/// Throws UsageError, as that does, for networks of more than 1024 nodes: to be asked before a dry
/// run that takes long.
void require_dot(const Topology& topology);

}  // namespace wormcube::apps
