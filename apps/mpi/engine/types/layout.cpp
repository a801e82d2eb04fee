// Where the bytes of a datatype lie.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/layout.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace wormcube::mpi {
namespace {

std::int64_t limited_product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}
std::int64_t limited_sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

/// From memory into a packed buffer.
struct Packing {
  const std::byte* base;
  std::byte* packed;
  void operator()(std::int64_t offset, std::int64_t bytes) {
    std::memcpy(packed, moved(base, offset), static_cast<std::size_t>(bytes));
    packed += bytes;
  }
  // Elements of a few bytes each, `count` of them: a copy of fixed size is one load and one store.
  template <std::size_t bytes>
  void each(std::int64_t offset, std::int64_t stride, std::int64_t count) {
    const std::byte* from = moved(base, offset);
    for (std::int64_t i = 0; i < count; ++i, from += stride, packed += bytes) {
      std::memcpy(packed, from, bytes);
    }
  }
};
/// From a packed buffer into memory.
struct Unpacking {
  std::byte* base;
  const std::byte* packed;
  void operator()(std::int64_t offset, std::int64_t bytes) {
    std::memcpy(moved(base, offset), packed, static_cast<std::size_t>(bytes));
    packed += bytes;
  }
  template <std::size_t bytes>
  void each(std::int64_t offset, std::int64_t stride, std::int64_t count) {
    std::byte* to = moved(base, offset);
    for (std::int64_t i = 0; i < count; ++i, to += stride, packed += bytes) {
      std::memcpy(to, packed, bytes);
    }
  }
};

template <class Copy>
void copy_runs(Copy& copy, std::int64_t offset, std::int64_t stride, std::int64_t count,
               std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy.template each<1>(offset, stride, count);
    case 2:
      return copy.template each<2>(offset, stride, count);
    case 4:
      return copy.template each<4>(offset, stride, count);
    case 8:
      return copy.template each<8>(offset, stride, count);
    case 16:
      return copy.template each<16>(offset, stride, count);
    default:
      for (std::int64_t i = 0; i < count; ++i) copy(offset + i * stride, bytes);
  }
}

}  // namespace

PlacedLayout Layout::run(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return {};
  const auto made = std::make_shared<Layout>();
  made->bytes_ = bytes;
  return {offset, made};
}

PlacedLayout Layout::repeat(std::int64_t count, std::int64_t stride, const PlacedLayout& body) {
  if (count == 0 || !body.layout) return {};
  if (count == 1) return body;
  const Layout& inner = *body.layout;
  if (inner.kind_ == Kind::run && stride == inner.bytes_) {
    return run(body.offset, count * inner.bytes_);
  }
  const auto made = std::make_shared<Layout>();
  made->kind_ = Kind::repeat;
  made->bytes_ = count * inner.bytes_;
  made->pieces_ = limited_product(count, inner.pieces_);
  made->count_ = count;
  made->stride_ = stride;
  made->body_ = body.layout;
  // A loop that continues where its inner loop ends is one loop.
  if (inner.kind_ == Kind::repeat && stride == inner.count_ * inner.stride_) {
    made->count_ = count * inner.count_;
    made->stride_ = inner.stride_;
    made->body_ = inner.body_;
  }
  return {body.offset, made};
}

PlacedLayout Layout::list(std::vector<PlacedLayout> parts) {
  std::size_t kept = 0;
  for (PlacedLayout& part : parts) {
    if (!part.layout) continue;
    if (kept > 0 && part.layout->kind_ == Kind::run) {
      PlacedLayout& last = parts[kept - 1];
      if (last.layout->kind_ == Kind::run && last.offset + last.layout->bytes_ == part.offset) {
        last = run(last.offset, last.layout->bytes_ + part.layout->bytes_);
        continue;
      }
    }
    if (&parts[kept] != &part) parts[kept] = std::move(part);
    ++kept;
  }
  parts.resize(kept);
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front();
  // Equal entries at equal distances are a loop.
  const auto& first = parts.front();
  const std::int64_t stride = parts[1].offset - first.offset;
  const auto is_next = [&](const PlacedLayout& part, const PlacedLayout& next) {
    if (next.offset - part.offset != stride) return false;
    return next.layout == first.layout ||
           (next.layout->kind_ == Kind::run && first.layout->kind_ == Kind::run &&
            next.layout->bytes_ == first.layout->bytes_);
  };
  const auto breaks = [&](const auto& part, const auto& next) { return !is_next(part, next); };
  if (std::ranges::adjacent_find(parts, breaks) == parts.end()) {
    return repeat(static_cast<std::int64_t>(parts.size()), stride, first);
  }
  const auto made = std::make_shared<Layout>();
  made->kind_ = Kind::list;
  made->pieces_ = 0;
  made->entries_.reserve(parts.size());
  for (PlacedLayout& part : parts) {
    made->bytes_ += part.layout->bytes_;
    made->pieces_ = limited_sum(made->pieces_, part.layout->pieces_);
    if (part.layout->kind_ == Kind::run) part.layout.reset();
    made->entries_.push_back({part.offset, made->bytes_, std::move(part.layout)});
  }
  return {0, made};
}

template <class Copy>
void Layout::walk(std::int64_t offset, std::int64_t begin, std::int64_t end, Copy& copy) const {
  switch (kind_) {
    case Kind::run:
      return copy(offset + begin, end - begin);
    case Kind::repeat: {
      const std::int64_t each = body_->bytes_;
      std::int64_t i = begin / each;
      std::int64_t at = begin - i * each;  // within element i
      const std::int64_t last = end / each;
      if (at > 0 && i < last) {  // the rest of the first
        body_->walk(offset + i * stride_, at, each, copy);
        at = 0;
        ++i;
      }
      if (body_->kind_ == Kind::run) {
        copy_runs(copy, offset + i * stride_, stride_, last - i, each);
      } else {
        for (std::int64_t k = i; k < last; ++k) body_->walk(offset + k * stride_, 0, each, copy);
      }
      if (const std::int64_t rest = end - last * each; rest > at) {
        body_->walk(offset + last * stride_, at, rest, copy);
      }
      return;
    }
    case Kind::list: {
      auto entry = std::ranges::upper_bound(entries_, begin, {}, &Entry::end);
      std::int64_t start = entry == entries_.begin() ? 0 : std::prev(entry)->end;
      for (; begin < end; ++entry) {
        const std::int64_t upto = std::min(end, entry->end);
        if (entry->layout) {
          entry->layout->walk(offset + entry->offset, begin - start, upto - start, copy);
        } else {
          copy(offset + entry->offset + begin - start, upto - begin);
        }
        start = entry->end;
        begin = upto;
      }
      return;
    }
  }
}

std::byte* Layout::pack(const std::byte* base, std::int64_t begin, std::int64_t end,
                        std::byte* packed) const {
  Packing copy{base, packed};
  if (begin < end) walk(0, begin, end, copy);
  return copy.packed;
}

const std::byte* Layout::unpack(std::byte* base, std::int64_t begin, std::int64_t end,
                                const std::byte* packed) const {
  Unpacking copy{base, packed};
  if (begin < end) walk(0, begin, end, copy);
  return copy.packed;
}

bool Layout::pieces(std::int64_t offset, std::size_t limit,
                    std::vector<std::pair<std::int64_t, std::int64_t>>& to) const {
  const auto add = [&](std::int64_t at, std::int64_t bytes) {
    if (!to.empty() && to.back().first + to.back().second == at) {
      to.back().second += bytes;
    } else {
      to.emplace_back(at, bytes);
    }
    return to.size() <= limit;
  };
  switch (kind_) {
    case Kind::run:
      return add(offset, bytes_);
    case Kind::repeat:
      for (std::int64_t i = 0; i < count_; ++i) {
        if (!body_->pieces(offset + i * stride_, limit, to)) return false;
      }
      return true;
    case Kind::list:
      break;
  }
  std::int64_t start = 0;
  for (const Entry& entry : entries_) {
    const bool is_in = entry.layout ? entry.layout->pieces(offset + entry.offset, limit, to)
                                    : add(offset + entry.offset, entry.end - start);
    if (!is_in) return false;
    start = entry.end;
  }
  return true;
}

}  // namespace wormcube::mpi
