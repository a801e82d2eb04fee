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

/// A message of a step with the path of its worm.
struct DrawnMessage {
  Rank from, to;
  Bytes bytes;
  Tag tag;
  std::vector<Move> moves = {};     // empty if the router chose the path
  std::vector<Channel> route = {};  // empty for a message from a node to itself
  int load = 0;                     // most messages on one link of its route, itself included
  std::string label = {};           // what it carries, for pictures
};

/// One link's traffic in a step.
struct LinkLoad {
  Link link;
  int messages = 0;
  Bytes bytes = 0;
};

struct DrawnStep {
  std::size_t step = 0;
  std::string phase = {};                   // as named by the program; empty: none
  std::vector<DrawnMessage> messages = {};  // by sender, then in the order posted
  std::vector<LinkLoad> links = {};         // busy links, ascending

  /// The most messages on one link; 0 in an idle step.
  int busiest() const;
  /// Keeps only the messages that this node sends or receives; links keep the load of all messages.
  DrawnStep of_node(Rank node) const;
};

/// The messages of one step with their routes, without loads. Receives are the other ends of sends
/// and have no entry of their own.
std::vector<DrawnMessage> messages_of(const Schedule& schedule, const Routing& routing,
                                      std::size_t step);
/// The same with the traffic of every link.
/// Throws UsageError if the schedule has no such step or is for another topology.
DrawnStep drawn_step(const Schedule& schedule, const Routing& routing, std::size_t step);

/// The name of the phase that a step lies in; empty: none.
std::string_view phase_of(const Schedule& schedule, std::size_t step);

/// A message's moves as "0+1 1-2"; empty if there are none.
std::string moves_text(std::span<const Move> moves);
/// A route's channels as "0->1, 1->2 vc 1".
std::string route_text(const Routing& routing, std::span<const Channel> route);

/// How messages are shown.
struct StepTextOptions {
  Bytes block_bytes = 0;  ///< shows bytes also as blocks of this size; 0: does not
  bool heads = true;      ///< writes the first line of CSV
  bool links = true;      ///< in a table: lists the busy links below the messages
  std::size_t width = 0;  ///< a table's width: longer routes end with ".."; 0: unlimited
};

/// Two tables for people: messages, then links. Lines that are not data start with '#'.
std::string step_table(const DrawnStep& step, const Routing& routing,
                       const StepTextOptions& options);
/// step,from,to,bytes[,blocks],tag,moves,hops,load,route: one line per message.
std::string step_csv(const DrawnStep& step, const Routing& routing, const StepTextOptions& options);
/// A Graphviz graph: idle cables in grey, busy links as arrows labelled with their messages, links
/// with more than one message in red. `dot -Kneato -n -Tsvg` keeps the places.
std::string step_dot(const DrawnStep& step, const Routing& routing);
/// Throws UsageError, as that does, for networks of more than 1024 nodes. Call it before a long
/// dry run.
void require_dot(const Topology& topology);

}  // namespace wormcube::apps
