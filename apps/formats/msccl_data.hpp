// What the chunks of an MSCCL algorithm hold while it runs, and its messages laid into steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl_chunks.hpp"
#include "wormcube/apps/formats/msccl_run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

/// The chunks of all buffers of all GPUs, by number: GPU by GPU, input, output, scratch. In place,
/// input and output are one.
class MscclCells {
 public:
  MscclCells(const MscclAlgorithm& algorithm, bool in_place);
  std::size_t size() const { return starts_.back(); }
  std::size_t cell(int gpu, MscclBuffer buffer, int chunk) const;
  int gpu(std::size_t cell) const;
  /// "o[3]"
  std::string text(std::size_t cell) const;

 private:
  const MscclAlgorithm& algorithm_;
  bool in_place_;
  std::vector<std::size_t> starts_;  // of each GPU, and the end
};

/// The data flow of one run: contents of messages, what is combined, and what goes wrong.
class MscclData {
 public:
  MscclData(const MscclAlgorithm& algorithm, const MscclRun& run, const MscclCells& cells);

  const std::vector<std::string>& findings() const { return findings_; }
  /// Writes into the caller's input.
  const std::vector<std::string>& written_inputs() const { return written_inputs_; }

  struct Combination {
    std::size_t event;
    NamedValue left, right;
  };
  const std::vector<Combination>& combinations() const { return combinations_; }
  const std::vector<NamedValue>& contents(std::size_t message) const { return contents_[message]; }
  const Words& words() const { return words_; }

 private:
  void follow(std::size_t event);
  void finish();
  NamedValue read(std::size_t event, int gpu, MscclBuffer buffer, int chunk);
  NamedValue combine(std::size_t event, const NamedValue& left, const NamedValue& right);
  template <class Text>
  void find(Text text);
  std::string where(std::size_t event) const;
  std::string text(const NamedValue& value) const;

  const MscclAlgorithm& algorithm_;
  const MscclRun& run_;
  const MscclCells& cells_;
  MscclChunks chunks_;
  Words words_;
  std::vector<NamedValue> held_;  // for each cell
  std::vector<std::vector<NamedValue>> contents_;
  std::vector<Combination> combinations_;
  std::vector<std::string> findings_, written_inputs_;
};

/// The same in text 2, on a complete network; nothing if only FIFOs order its thread blocks.
///
/// \param data  nullptr: messages have no names, and nothing is combined
std::optional<NamedSchedule> lay_msccl(const MscclAlgorithm& algorithm, const MscclRun& run,
                                       const MscclData* data);

}  // namespace wormcube::apps
