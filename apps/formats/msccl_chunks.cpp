// The chunks of MSCCL's collectives.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl_chunks.hpp"

#include <algorithm>
#include <vector>

namespace wormcube::apps {

std::optional<NamedValue> MscclChunks::given(int gpu, int chunk) const {
  if (collective == MscclCollective::broadcast && gpu != 0) return std::nullopt;
  const bool has_blocks =
      collective == MscclCollective::alltoall || collective == MscclCollective::reduce_scatter;
  const auto word = static_cast<WordId>(gpu);
  return has_blocks ? NamedValue{word, chunk / parts, chunk % parts} : NamedValue{word, 0, chunk};
}

std::optional<NamedValue> MscclChunks::wanted(int gpu, int chunk, Words& words) const {
  const WordId all = words.interval(0, ranks);
  switch (collective) {
    case MscclCollective::allreduce:
      return NamedValue{all, 0, chunk};
    case MscclCollective::reduce:
      return gpu == 0 ? std::optional(NamedValue{all, 0, chunk}) : std::nullopt;
    case MscclCollective::broadcast:
      return NamedValue{0, 0, chunk};
    case MscclCollective::allgather:
      return NamedValue{static_cast<WordId>(chunk / parts), 0, chunk % parts};
    case MscclCollective::alltoall:
      return NamedValue{static_cast<WordId>(chunk / parts), gpu, chunk % parts};
    case MscclCollective::reduce_scatter:
      return NamedValue{all, gpu, chunk};
    case MscclCollective::custom:
      break;
  }
  return std::nullopt;
}

std::string MscclChunks::origins(const Words& words, const NamedValue& value) const {
  std::vector<Rank> nodes = words.nodes_of(value.word);
  if (nodes.size() > 1 && nodes.size() == static_cast<std::size_t>(ranks)) return "all";
  std::ranges::sort(nodes);
  std::string who;
  for (const Rank node : nodes) who += (who.empty() ? "" : "+") + std::to_string(node);
  return who;
}

}  // namespace wormcube::apps
