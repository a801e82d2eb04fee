// Messages between processes: the only code that knows how MPI carries them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

namespace wormcube {

/// How a long message of several pieces is sent.
enum class LongPieces : std::uint8_t { datatype, packed };

/// The header of every message between two processes. One that is longer than the eager
/// limit is announced by its header; its data goes by MPI straight between the nodes' memories.
struct Header {
  enum class Kind : std::uint32_t { message, announcement, goodbye };
  Rank from = 0, to = 0;
  Tag tag = 0;
  Kind kind = Kind::message;
  std::uint64_t bytes = 0;    ///< of the user's data; a goodbye's rounds
  std::int32_t data_tag = 0;  ///< announcement: the MPI tag of its data
  std::int32_t unused = 0;
};

/// A long transfer's owner; null for data that is discarded.
struct MpiTransfer;

/// Short messages go into a ring of posted receives that accept all sources, so headers of one
/// process arrive in the order sent, and MPI has nothing to match: thousands of nodes in a process
/// cost it nothing. The nodes' tags are in the header, so they may have any value.
///
/// Threads     one.
/// Invariants  inbox_[head_] is the oldest posted receive: MPI gives the messages of one source to
///             receives in the order posted, and they are handled in that order.
class MpiTransport {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The payload is empty unless header.kind is message, and valid during the call.
    virtual void arrived(int process, const Header& header, ConstSpan payload) = 0;
    /// A long transfer is complete.
    virtual void completed(MpiTransfer& transfer) = 0;
  };

  /// Collective over all processes of MPI. Throws UsageError, before it communicates, if the limit
  /// plus its header exceeds what MPI can count.
  MpiTransport(Bytes eager_limit, LongPieces long_pieces);
  ~MpiTransport();  // collective
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int process() const { return process_; }
  int processes() const { return processes_; }
  MPI_Comm communicator() const { return headers_; }

  /// The payload, of at most eager_limit bytes, is copied.
  void send(int process, Header header, std::span<const Span> payload);
  /// Starts a long send: header and data. It completes only after the receiver has matched it.
  void send_long(int process, Header header, std::span<const Span> pieces, MpiTransfer& transfer);
  /// Receives the data that was announced.
  void receive_long(int process, const Header& header, std::span<const Span> pieces,
                    MpiTransfer& transfer);
  /// Receives and discards it.
  void discard_long(int process, const Header& header);
  std::size_t long_transfers() const { return requests_.size(); }

  /// Reports arrivals and completions to the listener; returns whether there were any.
  bool poll(Listener& listener);

 private:
  using Buffer = std::unique_ptr<std::byte[]>;
  struct Outgoing {
    MPI_Request request = MPI_REQUEST_NULL;
    Buffer data;
    Bytes capacity = 0;
  };
  struct Long {
    MpiTransfer* transfer = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Buffer packed;
    std::span<const Span> scatter;  // where packed data goes when it has arrived
    Bytes bytes = 0;
  };

  Outgoing outgoing(Bytes bytes);
  void start(Long started, int process, int tag, std::span<const Span> pieces, bool is_send);
  bool poll_outgoing();
  bool poll_long(Listener& listener);

  static constexpr int inbox_size = 32;
  static constexpr int header_tag = 0;

  Bytes eager_limit_;
  LongPieces long_pieces_;
  MPI_Comm headers_ = MPI_COMM_NULL, data_ = MPI_COMM_NULL;
  int process_ = 0, processes_ = 1, highest_tag_ = 32767;

  std::vector<Buffer> inbox_data_;
  std::vector<MPI_Request> inbox_;
  std::size_t head_ = 0;

  std::deque<Outgoing> outgoing_;  // in the order sent
  std::vector<Outgoing> unused_;

  std::int32_t next_data_tag_ = 0;
  std::vector<MPI_Request> requests_;  // requests_[i] is of longs_[i]
  std::vector<Long> longs_;
  std::vector<int> completed_;
};

}  // namespace wormcube
