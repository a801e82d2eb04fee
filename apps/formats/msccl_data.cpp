// Follows the chunks of an MSCCL algorithm through one run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl_data.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr char letter(MscclBuffer buffer) {
  return buffer == MscclBuffer::input ? 'i' : buffer == MscclBuffer::output ? 'o' : 's';
}

}  // namespace

MscclCells::MscclCells(const MscclAlgorithm& algorithm, bool in_place)
    : algorithm_(algorithm), in_place_(in_place), starts_{0} {
  for (const MscclGpu& gpu : algorithm.gpus) {
    std::size_t size = 0;
    for (const MscclBuffer buffer : {MscclBuffer::input, MscclBuffer::output, MscclBuffer::scratch})
      size += static_cast<std::size_t>(algorithm.size(gpu, buffer));
    starts_.push_back(starts_.back() + size);
  }
}

std::size_t MscclCells::cell(int gpu, MscclBuffer buffer, int chunk) const {
  if (in_place_) {
    const int own = gpu * algorithm_.parts();
    if (algorithm_.collective == MscclCollective::reduce_scatter) {
      if (buffer == MscclBuffer::output) buffer = MscclBuffer::input, chunk += own;
    } else if (buffer == MscclBuffer::input) {
      buffer = MscclBuffer::output;
      if (algorithm_.collective == MscclCollective::allgather) chunk += own;
    }
  }
  const auto g = static_cast<std::size_t>(gpu);
  const MscclGpu& of = algorithm_.gpus[g];
  std::size_t at = starts_[g];
  if (buffer != MscclBuffer::input)
    at += static_cast<std::size_t>(algorithm_.size(of, MscclBuffer::input));
  if (buffer == MscclBuffer::scratch)
    at += static_cast<std::size_t>(algorithm_.size(of, MscclBuffer::output));
  return at + static_cast<std::size_t>(chunk);
}

int MscclCells::gpu(std::size_t cell) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, cell) - starts_.begin()) - 1;
}

std::string MscclCells::text(std::size_t cell) const {
  const int gpu = this->gpu(cell);
  const MscclGpu& of = algorithm_.gpus[static_cast<std::size_t>(gpu)];
  auto chunk = static_cast<int>(cell - starts_[static_cast<std::size_t>(gpu)]);
  for (const MscclBuffer buffer : {MscclBuffer::input, MscclBuffer::output}) {
    const int size = algorithm_.size(of, buffer);
    if (chunk < size) return fmt::format("{}[{}]", letter(buffer), chunk);
    chunk -= size;
  }
  return fmt::format("s[{}]", chunk);
}

MscclData::MscclData(const MscclAlgorithm& algorithm, const MscclRun& run, const MscclCells& cells)
    : algorithm_(algorithm),
      run_(run),
      cells_(cells),
      chunks_{algorithm.collective, algorithm.ranks(), algorithm.parts()},
      words_(algorithm.ranks()),
      held_(cells.size(), held_nothing),
      contents_(run.messages.size()) {
  for (int gpu = 0; gpu < algorithm.ranks(); ++gpu) {
    const int size =
        algorithm.size(algorithm.gpus[static_cast<std::size_t>(gpu)], MscclBuffer::input);
    for (int c = 0; c < size; ++c)
      held_[cells.cell(gpu, MscclBuffer::input, c)] = chunks_.given(gpu, c).value_or(held_nothing);
  }
  for (std::size_t event = 0; event < run.events.size(); ++event) follow(event);
  finish();
}

template <class Text>
void MscclData::find(Text text) {
  constexpr std::size_t most = 10;
  if (findings_.size() < most) findings_.push_back(text());
}

std::string MscclData::where(std::size_t event) const {
  const MscclEvent& what = run_.events[event];
  const MscclPlace& place = run_.blocks[what.block];
  return fmt::format("gpu {}, tb {}, step {} ({})", place.gpu, place.block, what.step,
                     to_string(place.content->steps[what.step].type));
}

/// "chunk 3 of 0+1", "chunk 3 of all"
std::string MscclData::text(const NamedValue& value) const {
  if (value == held_nothing) return "nothing";
  return fmt::format("chunk {} of {}", chunks_.index(value), chunks_.origins(words_, value));
}

NamedValue MscclData::read(std::size_t event, int gpu, MscclBuffer buffer, int chunk) {
  const std::size_t cell = cells_.cell(gpu, buffer, chunk);
  if (!(held_[cell] == held_nothing)) return held_[cell];
  find([&] {
    return fmt::format("{}: reads {}, which nothing was written to", where(event),
                       cells_.text(cell));
  });
  return held_unknown;
}

NamedValue MscclData::combine(std::size_t event, const NamedValue& left, const NamedValue& right) {
  if (left == held_unknown || right == held_unknown) return held_unknown;
  if (left.block != right.block || left.part != right.part) {
    find([&] {
      return fmt::format("{}: reduces {} with {}", where(event), text(left), text(right));
    });
    return held_unknown;
  }
  if (const auto shared = words_.shared(left.word, right.word)) {
    find([&] {
      return fmt::format("{}: reduces gpu {}'s chunk {} twice", where(event), *shared,
                         chunks_.index(left));
    });
    return held_unknown;
  }
  combinations_.push_back({event, left, right});
  return {words_.join(left.word, right.word), left.block, left.part};
}

void MscclData::follow(std::size_t event) {
  const MscclEvent& what = run_.events[event];
  const MscclPlace& place = run_.blocks[what.block];
  const MscclStep& step = place.content->steps[what.step];
  if (step.type == MscclType::nop) return;
  const auto count = static_cast<std::size_t>(step.count);
  std::vector<NamedValue> received, values(count, held_unknown);
  if (what.received >= 0) {
    const auto number = static_cast<std::size_t>(what.received);
    received = contents_[number];
    if (received.size() != count) {
      find([&] {
        return fmt::format("{}: receives {} chunks, and gpu {} sends {} on channel {}",
                           where(event), count, place.content->receive, received.size(),
                           place.content->channel);
      });
      received.resize(count, held_unknown);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int offset = static_cast<int>(i);
    if (step.type == MscclType::re) {
      const NamedValue left = read(event, place.gpu, step.target, step.target_at + offset);
      values[i] =
          combine(event, left, read(event, place.gpu, step.source, step.source_at + offset));
    } else if (step.combines()) {
      values[i] =
          combine(event, read(event, place.gpu, step.source, step.source_at + offset), received[i]);
    } else {
      values[i] =
          step.reads() ? read(event, place.gpu, step.source, step.source_at + offset) : received[i];
    }
  }
  if (step.writes()) {
    for (std::size_t i = 0; i < count; ++i) {
      const int chunk = step.target_at + static_cast<int>(i);
      if (step.target == MscclBuffer::input && written_inputs_.size() < 10) {
        written_inputs_.push_back(
            fmt::format("{}: writes to the caller's input i[{}]", where(event), chunk));
      }
      held_[cells_.cell(place.gpu, step.target, chunk)] = values[i];
    }
  }
  if (what.sent >= 0) contents_[static_cast<std::size_t>(what.sent)] = std::move(values);
}

void MscclData::finish() {
  for (int gpu = 0; gpu < algorithm_.ranks(); ++gpu) {
    const int size =
        algorithm_.size(algorithm_.gpus[static_cast<std::size_t>(gpu)], MscclBuffer::output);
    for (int chunk = 0; chunk < size; ++chunk) {
      const auto want = chunks_.wanted(gpu, chunk, words_);
      const NamedValue& held = held_[cells_.cell(gpu, MscclBuffer::output, chunk)];
      if (!want || held == held_unknown) continue;
      const bool is_same = !(held == held_nothing) && held.block == want->block &&
                           held.part == want->part && words_.sorted(held.word) == want->word;
      if (is_same) continue;
      find([&] {
        return fmt::format("gpu {} ends with {} in o[{}], not {}", gpu, text(held), chunk,
                           text(*want));
      });
    }
  }
}

}  // namespace wormcube::apps
