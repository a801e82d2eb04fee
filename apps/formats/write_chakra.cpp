// Writes one rank of a schedule as a Chakra trace.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/protobuf.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// Fields of AttributeProto by their type, which readers insist on.
enum ValueField : std::uint32_t { int32_value = 7, int64_value = 9, bool_value = 27 };

void add_attribute(WireWriter& node, std::string_view name, ValueField field, std::uint64_t value) {
  constexpr std::uint32_t attribute = 10;
  WireWriter text;
  text.bytes(1, name);
  text.number(field, value);
  node.bytes(attribute, text.text());
}

}  // namespace

std::string chakra_trace(const Schedule& schedule, Rank rank) {
  WireWriter trace, metadata;
  metadata.bytes(1, "1.0.0");
  trace.delimited(metadata.text());
  std::uint64_t id = 0;
  std::vector<std::uint64_t> before, now;
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  for (std::size_t step = 0; step < log.step_ends.size(); ++step) {
    now.clear();
    for (const OpRecord& op : schedule.ops(rank, step)) {
      if (op.peer == rank) continue;  // it would wait for itself
      const bool is_send = op.kind == Op::Kind::send;
      WireWriter node;
      if (id > 0) node.number(1, id);
      node.bytes(2, fmt::format("s{}_{}", step, now.size()));
      constexpr std::uint64_t send_type = 5, receive_type = 6;
      node.number(3, is_send ? send_type : receive_type);
      if (!before.empty()) {
        WireWriter needs;
        for (const std::uint64_t each : before) needs.varint(each);
        constexpr std::uint32_t data_needs = 5;
        node.bytes(data_needs, needs.text());
      }
      const auto peer = static_cast<std::uint64_t>(op.peer), own = static_cast<std::uint64_t>(rank);
      add_attribute(node, "comm_size", int64_value, op.bytes);
      add_attribute(node, "comm_src", int32_value, is_send ? own : peer);
      add_attribute(node, "comm_dst", int32_value, is_send ? peer : own);
      add_attribute(node, "comm_tag", int32_value, step);
      add_attribute(node, "comm_type", int64_value, is_send ? send_type : receive_type);
      add_attribute(node, "is_cpu_op", bool_value, 0);
      trace.delimited(node.text());
      now.push_back(id++);
    }
    if (!now.empty()) std::swap(before, now);
  }
  return trace.text();
}

}  // namespace wormcube::apps
