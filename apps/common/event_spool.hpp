// Any number of events in bounded memory: pieces of a temporary file, merged in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace wormcube {

/// Keeps a fixed number of events in memory; further events go to a temporary file, piece by piece,
/// unsorted. sort() sorts each piece, then merge() calls with the events of several spools in
/// order. Event is trivially copyable, and `<` is total.
///
/// add() never fails: the caller may be in the middle of a run. sort() throws UsageError if there
/// was no space for the file.
template <class Event>
class EventSpool {
  static_assert(std::is_trivially_copyable_v<Event>);

 public:
  /// \param in_memory  events kept at once, 1 or more
  explicit EventSpool(std::size_t in_memory) : in_memory_(in_memory) {
    constexpr std::size_t at_first = 1024;
    events_.reserve(std::min(in_memory, at_first));
  }
  ~EventSpool() {
    if (file_ != nullptr) std::fclose(file_);
  }
  EventSpool(const EventSpool&) = delete;
  EventSpool& operator=(const EventSpool&) = delete;

  void add(const Event& event) {
    events_.push_back(event);
    if (events_.size() < in_memory_) return;
    if (file_ == nullptr) file_ = std::tmpfile();
    failed_ = failed_ || file_ == nullptr || std::fseek(file_, 0, SEEK_END) != 0 ||
              std::fwrite(events_.data(), sizeof(Event), events_.size(), file_) != events_.size();
    if (!failed_) pieces_.push_back(events_.size());
    events_.clear();
  }

  void sort() {
    std::size_t first = 0;
    std::vector<Event> piece;
    for (const std::size_t count : pieces_) {
      piece.resize(count);
      failed_ = failed_ || !seek(file_, first) ||
                std::fread(piece.data(), sizeof(Event), count, file_) != count;
      std::ranges::sort(piece, std::less<>());
      failed_ = failed_ || !seek(file_, first) ||
                std::fwrite(piece.data(), sizeof(Event), count, file_) != count;
      first += count;
    }
    std::ranges::sort(events_, std::less<>());
    if (!failed_) return;
    throw UsageError(
        "trace: no space for its temporary file; trace fewer nodes or steps (--trace-nodes, "
        "--trace-steps)");
  }

  /// Events one after another: of a piece of the file, read in small portions, or in memory.
  class Source {
   public:
    Source(std::FILE* file, std::size_t first, std::size_t count)
        : file_(file), at_(first), left_(count) {}
    explicit Source(std::span<const Event> events) : events_(events) {}
    bool next(Event& event) {
      if (place_ == events_.size()) {
        constexpr std::size_t most = 1024;
        read_.resize(std::min(most, left_));
        if (read_.empty()) return false;
        if (!seek(file_, at_) ||
            std::fread(read_.data(), sizeof(Event), read_.size(), file_) != read_.size()) {
          throw UsageError("trace: the temporary file cannot be read again");
        }
        at_ += read_.size();
        left_ -= read_.size();
        events_ = read_;
        place_ = 0;
      }
      event = events_[place_++];
      return true;
    }

   private:
    std::FILE* file_ = nullptr;
    std::size_t at_ = 0, left_ = 0, place_ = 0;
    std::span<const Event> events_;
    std::vector<Event> read_;
  };

  void append_sources(std::vector<Source>& sources) const {
    sources.emplace_back(events_);
    std::size_t first = 0;
    for (const std::size_t count : pieces_) {
      sources.emplace_back(file_, first, count);
      first += count;
    }
  }

 private:
  static bool seek(std::FILE* file, std::size_t event) {
    return std::fseek(file, static_cast<long>(event * sizeof(Event)), SEEK_SET) == 0;
  }

  std::size_t in_memory_;
  std::vector<Event> events_;
  bool failed_ = false;  // there was no space for the file
  std::FILE* file_ = nullptr;
  std::vector<std::size_t> pieces_;  // events of each piece of the file, in its order
};

/// Calls f(event) in order. The spools are sorted, and receive no events meanwhile.
template <class Event, class F>
void merge(std::initializer_list<const EventSpool<Event>*> spools, F f) {
  std::vector<typename EventSpool<Event>::Source> sources;
  for (const EventSpool<Event>* const spool : spools) spool->append_sources(sources);
  // The earliest of all sources' next events.
  using Head = std::pair<Event, std::size_t>;
  const auto later = [](const Head& a, const Head& b) { return b.first < a.first; };
  std::priority_queue<Head, std::vector<Head>, decltype(later)> heads(later);
  const auto refill = [&](std::size_t source) {
    Event event;
    if (sources[source].next(event)) heads.emplace(event, source);
  };
  for (std::size_t source = 0; source < sources.size(); ++source) refill(source);
  while (!heads.empty()) {
    const auto [event, source] = heads.top();
    heads.pop();
    refill(source);
    f(event);
  }
}

}  // namespace wormcube
