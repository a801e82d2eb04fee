// What is wrong after a call, and which message brought it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/prover.hpp"
#include "wormcube/collectives/core/operations.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/core.h>

namespace wormcube::mpi {

namespace {

ProofFinding of_rank(Rank rank, std::string text, std::string cause = {}) {
  ProofFinding finding;
  finding.text = std::move(text);
  finding.cause = std::move(cause);
  finding.rank = rank;
  return finding;
}

}  // namespace

std::string Prover::mark_text(Handle handle, std::size_t element) {
  const Arguments with = arguments();
  const Instance instance{size_, with};
  const bool several = function_.operation->gives(instance, with.root) > 1;
  std::string text = marks_.text(handle, several);
  const auto number = marks_.number_of(handle);
  if (!number) return text;
  const Mark& mark = marks_[*number];
  if (mark.kind == Mark::Kind::value && mark.element != static_cast<Rank>(element))
    text += fmt::format(" of element {}", mark.element);
  return text;
}

std::optional<ProofFinding> Prover::wrong_result(Rank rank) {
  const RankData& own = member(rank);
  if (own.result != MPI_SUCCESS) {
    return of_rank(
        rank, fmt::format("rank {}: the function returns {}, not MPI_SUCCESS", rank, own.result));
  }
  const Operation operation = function_.operation;
  const bool is_scatter = operation == Operation(operations::scatter);
  if (function_.form == ProvedFunction::Form::barrier) return std::nullopt;
  if (now().in_place && is_scatter && rank == now().root) return std::nullopt;
  const Arguments with = arguments();
  const Instance instance{size_, with};
  const Rank blocks = operation->ends_with(instance, rank);
  const std::size_t count = now().count;
  for (Rank block = 0; block < blocks; ++block) {
    const Content wanted = operation->result(instance, rank, block);
    if (wanted.first == wanted.last) continue;
    const WordId word = marks_.words().interval(wanted.first, wanted.last);
    for (std::size_t i = 0; i < count; ++i) {
      const Handle handle = own.receive[static_cast<std::size_t>(block) * count + i];
      if (const auto number = marks_.number_of(handle)) {
        const Mark mark = marks_[*number];
        if (mark.kind == Mark::Kind::value && mark.block == wanted.block &&
            mark.element == static_cast<Rank>(i) &&
            (mark.word == word || (now().commutes && marks_.words().sorted(mark.word) == word)))
          continue;
      }
      Mark right;
      right.word = word;
      right.block = wanted.block;
      const bool several = operation->gives(instance, with.root) > 1;
      ProofFinding finding =
          of_rank(rank, fmt::format("rank {} ends with {}, not {}, in element {}", rank,
                                    mark_text(handle, i), marks_.text(right, several), i));
      if (blocks > 1) finding.text += fmt::format(" of block {}", block);
      finding.block = static_cast<std::size_t>(block);
      finding.element = i;
      explain(finding, rank, handle);
      return finding;
    }
  }
  return std::nullopt;
}

std::optional<ProofFinding> Prover::incomplete(Rank rank) {
  const std::optional<OpenRequest>& open = member(rank).open;
  if (!open) return std::nullopt;
  return of_rank(rank,
                 fmt::format("rank {} returns before {}{} is complete", rank,
                             name_of(open->site.function), place(open->site)),
                 open->is_freed
                     ? "its request is freed, and nothing shows that its transfer is done"
                     : "no MPI_Wait or MPI_Test completes its request");
}

std::optional<ProofFinding> Prover::wrong_memory(Rank rank) {
  const RankData& own = member(rank);
  const auto changed = [](const Elements& elements, const std::vector<Handle>& before) {
    std::size_t i = 0;
    while (i < before.size() && elements[i] == before[i]) ++i;
    return i < before.size() ? std::optional(i) : std::nullopt;
  };
  if (const auto i = changed(own.send, own.given))
    return of_rank(rank,
                   fmt::format("rank {} writes into its send buffer, in element {}", rank, *i));
  if (own.keeps_receive) {
    if (const auto i = changed(own.receive, own.held)) {
      return of_rank(rank,
                     fmt::format("rank {} writes into its receive buffer, which is meaningful only "
                                 "at the root, in element {}",
                                 rank, *i));
    }
  }
  for (const auto& [elements, name] : {std::pair(&own.send, "send"), {&own.receive, "receive"}}) {
    const auto byte = elements->written_gap();
    if (!byte) continue;
    return of_rank(rank,
                   fmt::format("rank {} writes a byte of its {} buffer that belongs to no element: "
                               "byte {}{}",
                               rank, name, *byte,
                               elements->is_in_gap(*byte) ? ", in a gap of the datatype" : ""));
  }
  return std::nullopt;
}

std::optional<ProofFinding> Prover::left_over() {
  const MatchedLog all = matched(log_, world_size());
  if (!all.unmatched.empty()) {
    const CallLog::End& sent = *all.unmatched.front();
    const std::string to = sent.message.to < size_ ? fmt::format("rank {}", sent.message.to)
                                                   : "a rank outside of its communicator";
    return of_rank(sent.message.from,
                   fmt::format("rank {} sends {} bytes to {} with tag {} ({}{}), and no receive "
                               "takes them",
                               sent.message.from, sent.message.bytes, to, sent.message.tag,
                               name_of(sent.site.function), place(sent.site)));
  }
  return std::nullopt;
}

std::string Prover::hint() const {
  if (now().members == ProofCase::Members::all) return "";
  if (!log_.on_world)
    return "the same call is right on a communicator with all ranks of MPI_COMM_WORLD in their "
           "order";
  return fmt::format("{}{} uses MPI_COMM_WORLD, not the communicator that the function is given",
                     name_of(log_.on_world->function), place(*log_.on_world));
}

std::string Prover::place(const CallSite& site) const {
  return ranks_.front().state->job.place(site.at);
}

ProofFinding::Bringer Prover::described(const CallLog::End& end) const {
  std::size_t step = 0;
  for (const MatchedMessage& each : matched(log_, world_size()).messages) {
    if (each.received == &end) step = each.step;
  }
  std::string at = place(end.site);
  if (at.starts_with(" at ")) at.erase(0, 4);
  return {end.message.to,  name_of(end.site.function),
          std::move(at),   end.message.from,
          end.message.tag, step};
}

// The last receive of a mark, or of what it was combined from.
const CallLog::End* Prover::bringer(Rank rank, std::uint32_t mark) const {
  const CallLog::End* last = nullptr;
  std::unordered_set<std::uint32_t> wanted;
  std::vector<std::uint32_t> open{mark};
  while (!open.empty()) {
    const std::uint32_t number = open.back();
    open.pop_back();
    if (number == 0 || !wanted.insert(number).second) continue;
    if (marks_[number].rank != rank) continue;
    open.push_back(marks_[number].left);
    open.push_back(marks_[number].right);
  }
  for (const CallLog::End& end : log_.receives) {
    if (end.message.to != rank || (last != nullptr && last->ended > end.ended)) continue;
    if (std::ranges::any_of(end.marks, [&](std::uint32_t each) { return wanted.contains(each); }))
      last = &end;
  }
  return last;
}

// Of what a mark was combined from, the first combination that no right result can have.
std::optional<std::uint32_t> Prover::first_trouble(std::uint32_t mark) {
  std::vector<std::uint32_t> open{mark};
  std::unordered_set<std::uint32_t> seen;
  std::optional<std::uint32_t> first;
  while (!open.empty()) {
    const std::uint32_t number = open.back();
    open.pop_back();
    if (number == 0 || !seen.insert(number).second) continue;
    const Mark& combined = marks_[number];
    open.push_back(combined.left);
    open.push_back(combined.right);
    if (first && *first < number) continue;  // numbers ascend with time
    if (!marks_.trouble(combined, !now().commutes).empty()) first = number;
  }
  return first;
}

void Prover::explain(ProofFinding& finding, Rank rank, Handle handle) {
  const auto number = marks_.number_of(handle);
  if (!number) {
    finding.cause = marks_.is_earlier(handle)
                        ? "it was kept from an earlier call"
                        : "no element has these bytes: an element was used in arithmetic, or "
                          "copied only in part";
    return;
  }
  const CallLog::End* end = nullptr;
  if (const auto trouble = first_trouble(*number)) {
    const Mark combined = marks_[*trouble];
    const auto operand = [&](std::uint32_t of) {
      if (of == 0) return std::string("something that is not an element");
      const Mark& mark = marks_[of];
      std::string text = marks_.text(mark, false);
      if (mark.kind == Mark::Kind::value && mark.element != static_cast<Rank>(*finding.element))
        text += fmt::format(" of element {}", mark.element);
      return text;
    };
    finding.cause =
        fmt::format("rank {} combines {} with {}: {}", combined.rank, operand(combined.left),
                    operand(combined.right), marks_.trouble(combined, !now().commutes));
    end = bringer(combined.rank, *trouble);
    if (end == nullptr) finding.cause += "; no message had brought any of them";
  } else if (marks_[*number].kind == Mark::Kind::unwritten && marks_[*number].rank == rank) {
    finding.cause = "no call wrote it";
    return;
  } else {
    end = bringer(rank, *number);
    if (end == nullptr) finding.cause = "no message brought it";
  }
  if (end == nullptr) return;
  finding.bringer = described(*end);
  const ProofFinding::Bringer& by = *finding.bringer;
  finding.cause += fmt::format(
      "{}{}{} on rank {}, source {}, tag {}, step {}",
      finding.cause.empty() ? "brought by " : "; the last of it was brought by ", by.call,
      by.at.empty() ? "" : " at " + by.at, by.rank, by.source, by.tag, by.step);
}

}  // namespace wormcube::mpi
