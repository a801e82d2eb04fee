// Blocks in two arrays: steps and copies as plans, tables, one run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/block_array.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

namespace wormcube {

Digit multiples(Rank radix, BlockName step) {
  Digit digit;
  digit.reserve(static_cast<std::size_t>(radix));
  for (Rank i = 0; i < radix; ++i) digit.push_back(i * step);
  return digit;
}

Digit in_gray_order(std::span<const Digit> bits) {
  Digit digit(std::size_t{1} << bits.size());
  for (std::size_t i = 0; i < digit.size(); ++i) {
    const auto code = static_cast<unsigned>(gray_code(static_cast<Rank>(i)));
    for (std::size_t k = 0; k < bits.size(); ++k) {
      WORMCUBE_ASSERT(bits[k].size() == 2);
      digit[i] = digit[i] + bits[k][code >> (bits.size() - 1 - k) & 1];
    }
  }
  return digit;
}

Rank Places::count() const {
  Rank count = 1;
  for (const Digit& digit : digits) count *= static_cast<Rank>(digit.size());
  return count;
}

Layout::Layout(std::vector<Places> parts) : parts_(std::move(parts)) {
  for (const Places& places : parts_) count_ += places.count();
}

// Planning.

void BlockArray::lay_out(Layout to, Charge charge) {
  add(Layouts{{}, std::move(to), {}}, charge);
  seams_.clear();
}

void BlockArray::rearrange(Layout from, Layout to, Charge charge) {
  add(Layouts{std::move(from), std::move(to), std::exchange(seams_, {})}, charge);
}

void BlockArray::deliver(Layout from) { add(Layouts{std::move(from), {}, seams_}, Charge::none); }

void BlockArray::phase(std::string_view name) {
  actions_.push_back({Action::Kind::phase, static_cast<std::uint32_t>(phases_.size())});
  phases_.push_back(name);
}

void BlockArray::add(Layouts layouts, Charge charge) {
  actions_.push_back({Action::Kind::work, static_cast<std::uint32_t>(works_.size())});
  works_.push_back(
      {charge, !layouts.from, !layouts.to, (layouts.to ? *layouts.to : *layouts.from).count()});
  layouts_.push_back(std::move(layouts));
}

/// The slices cut where the array changes, neighbours joined; in the numbering of both arrays.
Slices BlockArray::where(const Slices& slices) const {
  Slices pieces;
  for (auto [first, count] : slices) {
    WORMCUBE_ASSERT(first >= 0 && count >= 0 && first + count <= places_);
    while (count > 0) {
      const auto seam = std::ranges::upper_bound(seams_, first);
      const Rank here = seam == seams_.end() ? count : std::min(count, *seam - first);
      const Rank at = first + ((seam - seams_.begin()) % 2 != 0 ? places_ : 0);
      if (!pieces.empty() && pieces.back().first + pieces.back().count == at && at != places_) {
        pieces.back().count += here;
      } else {
        pieces.push_back({at, here});
      }
      first += here, count -= here;
    }
  }
  return pieces;
}

/// From now on the places are in the other array: toggles a seam at both ends of each slice.
void BlockArray::arrive(const Slices& slices) {
  for (const auto& [first, count] : slices) {
    if (count == 0) continue;
    for (const Rank end : {first, first + count}) {
      const auto seam = std::ranges::lower_bound(seams_, end);
      if (seam != seams_.end() && *seam == end) {
        seams_.erase(seam);
      } else {
        seams_.insert(seam, end);
      }
    }
  }
}

void BlockArray::add(const Op& op, const Slices& pieces) {
  messages_.push_back(
      {op, static_cast<std::uint32_t>(pieces_.size()), static_cast<std::uint32_t>(pieces.size())});
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
}

void BlockArray::add(Step step) {
  actions_.push_back({Action::Kind::step, static_cast<std::uint32_t>(steps_.size())});
  steps_.push_back(step);
}

void BlockArray::add_step() {
  const std::uint32_t first =
      steps_.empty() ? 0 : steps_.back().first_message + steps_.back().messages;
  add(Step{first, static_cast<std::uint32_t>(messages_.size()) - first});
}

void BlockArray::exchange(Move to, Move from, const Slices& going, const Slices& coming) {
  add(wormcube::send(to, {}), where(going));
  arrive(coming);
  add(wormcube::receive(from, {}), where(coming));
  add_step();
}

void BlockArray::exchange(Rank partner, const Slices& both) {
  add(wormcube::send(partner, {}), where(both));
  arrive(both);
  add(wormcube::receive(partner, {}), where(both));
  add_step();
}

void BlockArray::send(Move to, const Slices& going) {
  add(wormcube::send(to, {}), where(going));
  add_step();
}

void BlockArray::receive(Move from, const Slices& coming) {
  arrive(coming);
  add(wormcube::receive(from, {}), where(coming));
  add_step();
}

void BlockArray::idle(Rank steps) {
  if (steps > 0) add(Step{static_cast<std::uint32_t>(messages_.size()), 0, steps});
}

// A call.

namespace {

/// Copies, or ops and their pieces, that a plan keeps from call to call. More are created in each
/// call, which takes as long as moving some kilobytes; kept, those of a thousand nodes would take
/// gigabytes.
constexpr std::size_t most_kept = 1024;

/// Calls copy(from, to, bytes) for each copy; if all have one short length, with that as a
/// constant, so that no function is called.
template <class Each, class Copy>
void copy_each(Bytes alike, const Each& each, const Copy& copy) {
  const auto constant = [&]<Bytes length>() {
    each([&](const std::byte* from, std::byte* to, Bytes) { copy(from, to, length); });
  };
  switch (alike) {
    case 8:
      return constant.template operator()<8>();
    case 16:
      return constant.template operator()<16>();
    case 32:
      return constant.template operator()<32>();
    case 64:
      return constant.template operator()<64>();
    case 128:
      return constant.template operator()<128>();
    default:
      return each(copy);
  }
}

}  // namespace

void BlockArray::make(Ops& ops, std::byte* first, std::byte* second, Bytes bytes) const {
  if (ops.first == first && ops.second == second && ops.bytes == bytes && !ops.ops.empty()) return;
  ops.first = first, ops.second = second, ops.bytes = bytes;
  ops.data.clear();
  ops.ops.clear();
  ops.data.reserve(pieces_.size());
  ops.ops.reserve(messages_.size());
  for (const auto& [place, length] : pieces_) {
    std::byte* const at =
        place < places_ ? first + place * bytes : second + (place - places_) * bytes;
    ops.data.emplace_back(at, length * bytes);
  }
  for (const auto& [op, begin, count] : messages_) {
    ops.ops.push_back(op.with_pieces(std::span(ops.data).subspan(begin, count)));
  }
}

void BlockArray::run(Node& node, ConstBlocks out, Blocks in, Rank part, Rank parts) const {
  const Bytes bytes = wormcube::part(out[0], part, parts).size();
  const Bytes size = static_cast<Bytes>(places_) * bytes;
  const Memory first = node.memory(size, Purpose::blocks), second = node.memory(size);
  // g++ 12 would call it for each block.
  const auto at = [&](Rank place) __attribute__((always_inline)) {
    return place < places_ ? first.data() + place * bytes
                           : second.data() + (place - places_) * bytes;
  };

  const auto move_all = [&](const OwnWork& work, const Copies& copies) {
    if (bytes == 0) return;
    const auto copy = [](const std::byte* from, std::byte* to, Bytes count) {
      std::memcpy(to, from, count);
    };
    if (parts == 1 || (!work.from_caller && !work.to_caller)) {
      const auto all = [&](const auto& from_at, const auto& to_at) {
        copy_each(
            copies.alike * bytes,
            [&](const auto& each) {
              for (const auto& [from, to, count] : copies.all) {
                each(from_at(from), to_at(to), count * bytes);
              }
            },
            copy);
      };
      if (work.from_caller) {
        all([data = out.all().data(), bytes](Rank block) { return data + block * bytes; }, at);
      } else if (work.to_caller) {
        all(at, [data = in.all().data(), bytes](Rank block) { return data + block * bytes; });
      } else {
        all(at, at);
      }
      return;
    }
    for (const auto& [from, to, count] : copies.all) {
      for (Rank i = 0; i < count; ++i) {
        if (work.from_caller) {
          copy(wormcube::part(out[from + i], part, parts).data(), at(to + i), bytes);
        } else {
          copy(at(from + i), wormcube::part(in[to + i], part, parts).data(), bytes);
        }
      }
    }
  };
  bool has_data = false;
  const auto do_work = [&](std::uint32_t index) {
    has_data = true;
    OwnWork& work = works_[index];
    if (!work.kept) {
      Copies made = copies(layouts_[index]);
      if (made.all.size() > most_kept) return move_all(work, made);
      made.all.shrink_to_fit();
      work.kept = std::move(made);
    }
    move_all(work, *work.kept);
  };

  // Moved out, because another strand of this node may run the same plan for another part
  // meanwhile.
  Ops ops = std::exchange(kept_, {});
  make(ops, first.data(), second.data(), bytes);
  for (const auto& [kind, index] : actions_) {
    if (kind == Action::Kind::phase) {
      node.phase(phases_[index]);
      continue;
    }
    if (kind == Action::Kind::work) {
      if (works_[index].charge == Charge::rearrange) {
        node.rearrange(works_[index].blocks * bytes, [&, index = index] { do_work(index); });
      } else {
        node.local([&, index = index] { do_work(index); });
      }
      continue;
    }
    const Step& step = steps_[index];
    const auto posted = std::span<const Op>(ops.ops).subspan(step.first_message, step.messages);
    for (Rank i = 0; i < step.times; ++i) node.step(posted);
  }
  if (has_data && ops.data.size() + ops.ops.size() <= most_kept) kept_ = std::move(ops);
}

}  // namespace wormcube
