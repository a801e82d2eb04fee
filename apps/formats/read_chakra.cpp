// Reads Chakra traces: the nodes of each rank with what they depend on, laid into steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/dependency_steps.hpp"
#include "wormcube/apps/formats/protobuf.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <zlib.h>

namespace wormcube::apps {

namespace {

constexpr std::array<std::string_view, 8> chakra_types{
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
constexpr std::uint64_t comp_node = 4, send_node = 5, receive_node = 6;

/// What a schedule needs of a node.
struct ChakraNode {
  std::uint64_t id = 0, type = 0;
  std::vector<std::uint64_t> needs = {};
  std::optional<std::int64_t> size = {}, source = {}, target = {}, tag = {};
};

class ChakraReader {
 public:
  ChakraReader(std::string_view name, double most_bytes) : name_(name), left_(most_bytes) {}

  Schedule read(std::span<const std::string> traces) {
    DependencySteps all(static_cast<Rank>(traces.size()), name_, false);
    ranks_ = all.ranks();
    for (rank_ = 0; rank_ < all.ranks(); ++rank_)
      read_rank(all, traces[static_cast<std::size_t>(rank_)]);
    return all.schedule([this](double bytes) { charge(bytes); });
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw UsageError(fmt::format("{}: rank {}{}: {}", name_, rank_,
                                 node_ ? fmt::format(", node {}", *node_) : "", what));
  }
  void charge(double bytes) {
    left_ -= bytes;
    if (left_ < 0) fail("the schedule would take more memory than there is");
  }

  void read_rank(DependencySteps& all, std::string_view trace) {
    node_ = std::nullopt;
    WireReader frames(trace);
    if (!frames.delimited()) fail("not a Chakra trace");
    std::vector<ChakraNode> nodes;
    while (!frames.empty()) {
      const auto frame = frames.delimited();
      if (!frame) fail("the trace is cut off");
      charge(sizeof(ChakraNode) + sizeof(DependencySteps::Operation) + 64);
      nodes.push_back(read_node(*frame));
    }
    std::ranges::sort(nodes, {}, &ChakraNode::id);
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    for (const ChakraNode& node : nodes) {
      node_ = node.id;
      if (!numbers.try_emplace(node.id, all.add(operation_of(node))).second)
        fail("its id occurs twice");
    }
    for (const ChakraNode& node : nodes) {
      node_ = node.id;
      for (const std::uint64_t id : node.needs) {
        const auto found = numbers.find(id);
        if (found == numbers.end()) fail(fmt::format("depends on node {}, which is not there", id));
        all.require(numbers.at(node.id), found->second, true);
      }
    }
  }

  ChakraNode read_node(std::string_view bytes) {
    ChakraNode node;
    node_ = std::nullopt;
    for (WireReader fields(bytes); !fields.empty();) {
      const auto field = fields.field();
      if (!field) fail("a node is damaged");
      constexpr std::uint32_t id = 1, type = 3, control_needs = 4, data_needs = 5, attribute = 10;
      if (field->number == id && field->value) {
        node.id = *field->value;
        node_ = node.id;
      } else if (field->number == type && field->value) {
        node.type = *field->value;
      } else if (field->number == control_needs || field->number == data_needs) {
        add_needs(*field, node.needs);
      } else if (field->number == attribute) {
        read_attribute(field->content, node);
      }
    }
    node_ = node.id;
    return node;
  }

  void add_needs(const WireReader::Field& field, std::vector<std::uint64_t>& needs) {
    constexpr double bytes_of_edge = 3 * sizeof(std::uint64_t);
    charge(bytes_of_edge);
    if (field.value) return needs.push_back(*field.value);
    for (WireReader packed(field.content); !packed.empty();) {
      const auto id = packed.varint();
      if (!id) fail("a list of dependencies is damaged");
      charge(bytes_of_edge);
      needs.push_back(*id);
    }
  }

  void read_attribute(std::string_view bytes, ChakraNode& node) const {
    std::string_view name;
    std::optional<std::int64_t> value;
    for (WireReader fields(bytes); !fields.empty();) {
      const auto field = fields.field();
      if (!field) fail("an attribute is damaged");
      if (field->number == 1) {
        name = field->content;
      } else if (field->value) {
        value = static_cast<std::int64_t>(*field->value);
      }
    }
    if (name == "comm_size") node.size = value;
    if (name == "comm_src") node.source = value;
    if (name == "comm_dst") node.target = value;
    if (name == "comm_tag") node.tag = value;
  }

  DependencySteps::Operation operation_of(const ChakraNode& node) const {
    using Kind = DependencySteps::Kind;
    DependencySteps::Operation operation{.rank = rank_, .line = node.id};
    if (node.type == comp_node) return operation;
    if (node.type != send_node && node.type != receive_node) {
      const std::string type = node.type < chakra_types.size()
                                   ? std::string(chakra_types[node.type])
                                   : std::to_string(node.type);
      fail(fmt::format("type {}; expected COMM_SEND_NODE, COMM_RECV_NODE or COMP_NODE", type));
    }
    const bool is_send = node.type == send_node;
    operation.kind = is_send ? Kind::send : Kind::receive;
    operation.bytes = static_cast<Bytes>(
        attribute(node.size, "comm_size", static_cast<std::int64_t>(most_bytes_in_text)));
    operation.peer =
        static_cast<Rank>(attribute(is_send ? node.target : node.source,
                                    is_send ? "comm_dst" : "comm_src", std::int64_t{ranks_} - 1));
    if (operation.peer == rank_) fail("a message to its own rank waits for ever");
    operation.tag = static_cast<Tag>(
        attribute(node.tag.value_or(0), "comm_tag", std::numeric_limits<std::int32_t>::max()));
    return operation;
  }
  std::int64_t attribute(const std::optional<std::int64_t>& value, const char* key,
                         std::int64_t most) const {
    if (!value) fail(fmt::format("{} is missing", key));
    if (*value < 0 || *value > most)
      fail(fmt::format("{} {}; expected 0 to {}", key, *value, most));
    return *value;
  }

  std::string_view name_;
  double left_;
  Rank rank_ = 0, ranks_ = 0;
  std::optional<std::uint64_t> node_;
};

}  // namespace

namespace {

constexpr std::string_view gzip = "\x1f\x8b";

struct Inflated {
  std::string bytes;
  int state = Z_OK;  // of zlib; Z_OK: there is more than was wanted
};

/// Unpacks until there are more than `most` bytes.
Inflated inflate_up_to(std::string_view packed, double most) {
  z_stream stream{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  Inflated result;
  result.state = inflateInit2(&stream, gzip_only);
  // NOLINTNEXTLINE: zlib does not write there
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in =
      static_cast<uInt>(std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max()));
  std::array<char, 1 << 16> piece{};
  while (result.state == Z_OK && static_cast<double>(result.bytes.size()) <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result.state = inflate(&stream, Z_NO_FLUSH);
    result.bytes.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return result;
}

/// The first message says which version of the format follows.
bool has_version(std::string_view metadata) {
  bool found = false;
  for (WireReader fields(metadata); !fields.empty();) {
    const auto field = fields.field();
    if (!field || field->value || field->number > 2) return false;
    found = found || field->number == 1;
  }
  return found;
}

}  // namespace

bool is_chakra(std::string_view bytes) {
  WireReader frames(bytes);
  const auto metadata = frames.delimited();
  if (!metadata || !has_version(*metadata)) return false;
  // Text may begin so, too, but then it is no list of messages.
  const auto node = frames.delimited();
  return frames.empty() || (node && WireReader(*node).field());
}

bool starts_as_chakra(std::string_view start) {
  const Inflated unpacked =
      start.starts_with(gzip) ? inflate_up_to(start, chakra_start) : Inflated{std::string(start)};
  const auto metadata = WireReader(unpacked.bytes).delimited();
  return metadata && has_version(*metadata);
}

std::string unpacked(std::string_view bytes, std::string_view name, double most_bytes) {
  if (!bytes.starts_with(gzip)) return std::string(bytes);
  // Traces shrink to a tenth or so; zeros, to a thousandth.
  constexpr double always_allowed = 1 << 28, most_ratio = 100;
  const double most = std::min(
      most_bytes, std::max(always_allowed, most_ratio * static_cast<double>(bytes.size())));
  Inflated result = inflate_up_to(bytes, most);
  if (static_cast<double>(result.bytes.size()) > most) {
    throw UsageError(
        fmt::format("{}: unpacked, it takes more than {:.0f} MiB", name, most / (1024 * 1024)));
  }
  if (result.state != Z_STREAM_END) throw UsageError(fmt::format("{}: damaged gzip data", name));
  return std::move(result.bytes);
}

Schedule parse_chakra(std::span<const std::string> traces, std::string_view name,
                      double most_bytes) {
  return ChakraReader(name, most_bytes).read(traces);
}

}  // namespace wormcube::apps
