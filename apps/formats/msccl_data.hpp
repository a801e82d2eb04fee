// What the chunks of an MSCCL algorithm hold while it runs, and its messages laid into steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    Value left, right;
  };
  const std::vector<Combination>& combinations() const { return combinations_; }
  const std::vector<Value>& contents(std::size_t message) const { return contents_[message]; }
  const Words& words() const { return words_; }

 private:
  void follow(std::size_t event);
  void finish();
  Value own(int gpu, int chunk) const;
  std::optional<Value> wanted(int gpu, int chunk);
  Value read(std::size_t event, int gpu, MscclBuffer buffer, int chunk);
  Value combine(std::size_t event, const Value& left, const Value& right);
  template <class Text>
  void find(Text text);
  std::string where(std::size_t event) const;
  int index(const Value& value) const { return value.block * parts_ + value.part; }
  std::string text(const Value& value) const;

  const MscclAlgorithm& algorithm_;
  const MscclRun& run_;
  const MscclCells& cells_;
  int parts_;
  Words words_;
  std::vector<Value> held_;  // for each cell
  std::vector<std::vector<Value>> contents_;
  std::vector<Combination> combinations_;
  std::vector<std::string> findings_, written_inputs_;
};

/// The same in text 2, on a complete network, or why not.
struct LaidMsccl {
  std::optional<NamedSchedule> schedule;
  std::string reason;
};
LaidMsccl lay_msccl(const MscclAlgorithm& algorithm, const MscclRun& run, const MscclData& data);

}  // namespace wormcube::apps
