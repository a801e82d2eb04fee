// Messages between the nodes of one process, and from and to those of others.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/impl.hpp"
#include "wormcube/runtime/network/message.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube {
namespace {

void copy(std::span<const Span> from, std::span<const Span> to) {
  Cursor target(to);
  for (const Span piece : from) target.write(piece);
}

}  // namespace

template <class F>
void MpiMachine::Impl::move_data(F&& move) {
  const Stopwatch watch(options_.timing, moving_);
  move();
}

void MpiMachine::Impl::complete(MpiTransfer& transfer) {
  transfer.done = true;
  MpiNode& owner = node(transfer.is_send ? transfer.from : transfer.to);
  if (--owner.pending > 0 || !owner.suspended) return;
  owner.suspended = false;
  if (owner.fiber) ready_.push_back(&owner);
}

bool MpiMachine::Impl::sizes_agree(Bytes sent, const MpiTransfer& receive) {
  if (sent == receive.bytes) return true;
  failed({receive.to, MpiFailure::Kind::usage,
          fmt::format("node {} receives {} bytes from node {} with tag {}, but the message has {}",
                      receive.to, receive.bytes, receive.from, receive.tag, sent)});
  return false;
}

void MpiMachine::Impl::post_receive(MpiTransfer& receive) {
  EarlyTransfer* const early = early_.count() == 0 ? nullptr : early_.take(receive.key());
  if (early == nullptr) {
    posted_.append(receive);
  } else if (sizes_agree(early->bytes, receive)) {
    deliver(*early, receive);
  } else {
    early_.append(*early);  // if it was announced, its data is still to be received
  }
}

void MpiMachine::Impl::deliver(EarlyTransfer& early, MpiTransfer& receive) {
  if (early.process >= 0) {
    ++counts_.sent;
    ++coming_;
    transport_.receive_long(early.process, early.header, receive.pieces, receive);
  } else if (early.sender != nullptr) {
    move_data([&] { copy(early.sender->pieces, receive.pieces); });
    complete(*early.sender);
    complete(receive);
  } else {
    move_data([&] { Cursor(receive.pieces).write(EarlyStore::room(early)); });
    complete(receive);
  }
  early_store_.recycle(early);
}

void MpiMachine::Impl::post_send(MpiTransfer& send) {
  const bool is_short = send.bytes <= options_.eager_limit;
  if (!is_here(send.to)) {
    ++counts_.sent;
    const Header header{.from = send.from, .to = send.to, .tag = send.tag, .bytes = send.bytes};
    if (is_short) {
      move_data([&] { transport_.send(process_of(send.to), header, send.pieces); });
      complete(send);
    } else {
      transport_.send_long(process_of(send.to), header, send.pieces, send);
    }
    return;
  }
  if (MpiTransfer* const receive = posted_.take(send.key())) {
    if (!sizes_agree(send.bytes, *receive)) return;
    move_data([&] { copy(send.pieces, receive->pieces); });
    complete(*receive);
    complete(send);
    return;
  }
  EarlyTransfer& early = early_store_.fresh(send.from, send.to, send.tag, send.bytes);
  if (is_short) {
    move_data([&] { Cursor(send.pieces).read(EarlyStore::room(early)); });
    complete(send);
  } else {
    early.sender = &send;
  }
  early_.append(early);
}

void MpiMachine::Impl::arrived(int process, const Header& header, ConstSpan payload) {
  if (header.kind == Header::Kind::goodbye) {
    ++goodbyes_;
    most_rounds_ = std::max(most_rounds_, static_cast<std::int64_t>(header.bytes));
    stop();
    return;
  }
  ++counts_.come;
  const bool is_short = header.kind == Header::Kind::message;
  MpiTransfer* const receive =
      stopping_ ? nullptr : posted_.take({header.from, header.to, header.tag});
  if (receive != nullptr && sizes_agree(header.bytes, *receive)) {
    if (is_short) {
      move_data([&] { Cursor(receive->pieces).write(payload); });
      complete(*receive);
    } else {
      ++counts_.sent;
      ++coming_;
      transport_.receive_long(process, header, receive->pieces, *receive);
    }
    return;
  }
  EarlyTransfer& early = early_store_.fresh(header.from, header.to, header.tag, header.bytes);
  if (is_short) {
    if (!payload.empty())
      std::memcpy(EarlyStore::room(early).data(), payload.data(), payload.size());
  } else {
    early.process = process;
    early.header = header;
  }
  early_.append(early);
}

void MpiMachine::Impl::completed(MpiTransfer& transfer) {
  if (transfer.is_send) {
    ++counts_.come;
  } else {
    --coming_;
  }
  complete(transfer);
}

}  // namespace wormcube
