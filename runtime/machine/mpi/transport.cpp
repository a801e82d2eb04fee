// Short messages through a ring of receives, long ones straight between the nodes' memories.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/transport.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/network/message.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// Pieces as an MPI datatype relative to MPI_BOTTOM. MPI counts in int, so blocks stay below 1 GiB.
MPI_Datatype datatype_of(std::span<const Span> pieces) {
  constexpr Bytes most = Bytes{1} << 30;
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  for (const Span piece : pieces) {
    for (Bytes at = 0; at < piece.size(); at += most) {
      lengths.push_back(static_cast<int>(std::min(most, piece.size() - at)));
      MPI_Aint address = 0;
      MPI_Get_address(piece.data() + at, &address);
      addresses.push_back(address);
    }
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(),
                           MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

constexpr Bytes largest_count = (Bytes{1} << 31) - 1;
constexpr Bytes largest_eager_limit = largest_count - sizeof(Header);

}  // namespace

MpiTransport::MpiTransport(Bytes eager_limit, LongPieces long_pieces)
    : eager_limit_(eager_limit), long_pieces_(long_pieces) {
  if (eager_limit > largest_eager_limit) {
    throw UsageError(fmt::format("eager limit over MPI: {} bytes, need {} or fewer", eager_limit,
                                 largest_eager_limit));
  }
  is_crowded();  // collective the first time: not in the middle of something else
  // Three processes of Open MPI 4.1.4 were seen to hang with MPI_Comm_idup here, and the call above
  // inside its wait; which of the two it was is not known.
  MPI_Comm_dup(MPI_COMM_WORLD, &headers_);
  MPI_Comm_dup(MPI_COMM_WORLD, &data_);
  MPI_Comm_rank(headers_, &process_);
  MPI_Comm_size(headers_, &processes_);
  void* highest = nullptr;
  int known = 0;
  MPI_Comm_get_attr(data_, MPI_TAG_UB, static_cast<void*>(&highest), &known);
  if (known != 0) highest_tag_ = *static_cast<int*>(highest);

  inbox_.resize(inbox_size, MPI_REQUEST_NULL);
  for (MPI_Request& request : inbox_) {
    const Bytes bytes = sizeof(Header) + eager_limit_;
    inbox_data_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    MPI_Recv_init(inbox_data_.back().get(), static_cast<int>(bytes), MPI_BYTE, MPI_ANY_SOURCE,
                  header_tag, headers_, &request);
  }
  MPI_Startall(inbox_size, inbox_.data());
}

MpiTransport::~MpiTransport() {
  for (Outgoing& sent : outgoing_) await(sent.request);
  for (MPI_Request& request : inbox_) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  MPI_Comm_free(&data_);
  MPI_Comm_free(&headers_);
}

MpiTransport::Outgoing MpiTransport::outgoing(Bytes bytes) {
  Outgoing slot;
  if (!unused_.empty()) {
    slot = std::move(unused_.back());
    unused_.pop_back();
  }
  if (slot.capacity < bytes) {
    slot.capacity = std::bit_ceil(std::max<Bytes>(bytes, 128));
    slot.data = std::make_unique_for_overwrite<std::byte[]>(slot.capacity);
  }
  return slot;
}

void MpiTransport::send(int process, Header header, std::span<const Span> payload) {
  const Bytes bytes = header.kind == Header::Kind::message ? header.bytes : 0;
  Outgoing slot = outgoing(sizeof header + bytes);
  std::memcpy(slot.data.get(), &header, sizeof header);
  if (bytes > 0) Cursor(payload).read(Span(slot.data.get() + sizeof header, bytes));
  MPI_Isend(slot.data.get(), static_cast<int>(sizeof header + bytes), MPI_BYTE, process, header_tag,
            headers_, &slot.request);
  outgoing_.push_back(std::move(slot));
}

void MpiTransport::send_long(int process, Header header, std::span<const Span> pieces,
                             MpiTransfer& transfer) {
  // A tag is reused after millions of long messages; earlier ones with it are long complete.
  header.data_tag = next_data_tag_;
  next_data_tag_ = next_data_tag_ == highest_tag_ ? 0 : next_data_tag_ + 1;
  header.kind = Header::Kind::announcement;
  send(process, header, {});
  Long started;
  started.transfer = &transfer;
  started.bytes = header.bytes;
  start(std::move(started), process, header.data_tag, pieces, true);
}

void MpiTransport::receive_long(int process, const Header& header, std::span<const Span> pieces,
                                MpiTransfer& transfer) {
  Long started;
  started.transfer = &transfer;
  started.bytes = header.bytes;
  start(std::move(started), process, header.data_tag, pieces, false);
}

void MpiTransport::discard_long(int process, const Header& header) {
  Long started;
  started.bytes = header.bytes;
  started.packed = std::make_unique_for_overwrite<std::byte[]>(header.bytes);
  const Span whole(started.packed.get(), header.bytes);
  start(std::move(started), process, header.data_tag, {&whole, 1}, false);
}

void MpiTransport::start(Long started, int process, int tag, std::span<const Span> pieces,
                         bool is_send) {
  void* address = MPI_BOTTOM;
  int count = 1;
  MPI_Datatype type = MPI_BYTE;
  const bool countable = started.bytes <= largest_count;
  if (pieces.size() == 1 && countable) {
    address = pieces[0].data();
    count = static_cast<int>(started.bytes);
  } else if (long_pieces_ == LongPieces::packed && countable) {
    started.packed = std::make_unique_for_overwrite<std::byte[]>(started.bytes);
    address = started.packed.get();
    count = static_cast<int>(started.bytes);
    if (is_send) {
      Cursor(pieces).read(Span(started.packed.get(), started.bytes));
    } else {
      started.scatter = pieces;
    }
  } else {
    started.type = datatype_of(pieces);
    type = started.type;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  // Synchronous: completion means that the receiver has matched it, and the machine counts on that.
  if (is_send) {
    MPI_Issend(address, count, type, process, tag, data_, &request);
  } else {
    MPI_Irecv(address, count, type, process, tag, data_, &request);
  }
  requests_.push_back(request);
  longs_.push_back(std::move(started));
}

bool MpiTransport::poll(Listener& listener) {
  bool any = false;
  for (int arrived = 0;; any = true) {
    MPI_Status status;
    MPI_Test(&inbox_[head_], &arrived, &status);
    if (arrived == 0) break;
    Header header;
    std::byte* const data = inbox_data_[head_].get();
    std::memcpy(&header, data, sizeof header);
    listener.arrived(
        status.MPI_SOURCE, header,
        ConstSpan(data + sizeof header, header.kind == Header::Kind::message ? header.bytes : 0));
    MPI_Start(&inbox_[head_]);
    head_ = (head_ + 1) % inbox_.size();
  }
  if (!outgoing_.empty()) any |= poll_outgoing();
  if (!requests_.empty()) any |= poll_long(listener);
  return any;
}

bool MpiTransport::poll_outgoing() {
  bool any = false;
  for (; !outgoing_.empty(); any = true) {
    int sent = 0;
    MPI_Test(&outgoing_.front().request, &sent, MPI_STATUS_IGNORE);
    if (sent == 0) break;
    unused_.push_back(std::move(outgoing_.front()));
    outgoing_.pop_front();
  }
  return any;
}

bool MpiTransport::poll_long(Listener& listener) {
  completed_.resize(requests_.size());
  int count = 0;
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
               MPI_STATUSES_IGNORE);
  if (count <= 0) return false;
  // From the last: the transfer that replaces a completed one has been handled or is not complete.
  std::sort(completed_.begin(), completed_.begin() + count);
  for (int i = count; i-- > 0;) {
    const auto index = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    Long complete = std::move(longs_[index]);
    if (index + 1 < longs_.size()) {
      longs_[index] = std::move(longs_.back());
      requests_[index] = requests_.back();
    }
    longs_.pop_back();
    requests_.pop_back();
    if (complete.type != MPI_DATATYPE_NULL) MPI_Type_free(&complete.type);
    if (!complete.scatter.empty()) {
      Cursor(complete.scatter).write(ConstSpan(complete.packed.get(), complete.bytes));
    }
    if (complete.transfer != nullptr) listener.completed(*complete.transfer);
  }
  return true;
}

}  // namespace wormcube
