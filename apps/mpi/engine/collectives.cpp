// Collective calls, by the registry's algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/apps/mpi/engine/operators.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

struct UserOperator {
  static constexpr std::uint32_t alive = 0x4f505231, dead = 0x4f505230;
  std::uint32_t magic = alive;
  MPI_User_function* function = nullptr;
  bool commutes = false;
  std::uint64_t serial = 0;
};
std::atomic<std::uint64_t> next_operator{4096};

UserOperator& user_operator(MPI_Op op) {
  auto* const object = reinterpret_cast<UserOperator*>(op);
  if (object->magic == UserOperator::alive) return *object;
  throw Failure(MPI_ERR_OP, object->magic == UserOperator::dead ? "the operator has been freed"
                                                                : "the operator's handle is none");
}

/// An operator on a type, as a reduction of elements of its extent.
struct Operator {
  std::uint64_t key = 0;
  Combine combine = nullptr;
  UserOperator* user = nullptr;
  TypeView type;
  /// How operands travel: as they lie, gaps and all; of types that the program has made with gaps, their data
  /// alone, which is laid out where the program's function is called.
  TypeView operand() const {
    TypeView result = type;
    if (is_packed()) return result;
    result.size = static_cast<Bytes>(type.extent);
    result.dense = true;
    return result;
  }
  bool is_packed() const { return user != nullptr && !type.dense; }
  std::string_view name() const {
    return user == nullptr ? name_of_operator(reinterpret_cast<MPI_Op>(key))
                           : "the program's operator";
  }
};

Operator operator_on(MPI_Op op, const TypeView& type) {
  if (is_predefined(op)) {
    const std::string_view name = name_of_operator(op);
    if (name.empty() || op == MPI_OP_NULL) {
      throw Failure(MPI_ERR_OP, op == MPI_OP_NULL
                                    ? std::string("the operator is MPI_OP_NULL")
                                    : fmt::format("{:#x} is no operator",
                                                  reinterpret_cast<std::uintptr_t>(op)));
    }
    const Combine combine = predefined_operator(op, type.handle);
    if (combine == nullptr) {
      throw Failure(MPI_ERR_OP, fmt::format("{} is not defined on this datatype", name));
    }
    return {reinterpret_cast<std::uintptr_t>(op), combine, nullptr, type};
  }
  UserOperator& user = user_operator(op);
  return {user.serial, nullptr, &user, type};
}

// The user's function gets what it would have got anywhere: aligned elements.
void combine_by_user(const UserOperator& op, const TypeView& type, const std::byte* in,
                     std::byte* inout, std::size_t count) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const auto extent = static_cast<std::size_t>(type.extent);
  const auto alignment = std::min<std::size_t>(
      alignof(std::max_align_t), extent == 0 ? 1 : std::size_t{1} << std::countr_zero(extent));
  const auto is_aligned = [&](const std::byte* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
  };
  MPI_Datatype handle = type.handle;
  if (is_aligned(in) && is_aligned(inout)) {
    for (std::size_t done = 0; done < count; done += most) {
      int length = static_cast<int>(std::min(most, count - done));
      op.function(const_cast<std::byte*>(in) + done * extent, inout + done * extent, &length,
                  &handle);
    }
    return;
  }
  std::vector<std::max_align_t> left((count * extent + sizeof(std::max_align_t) - 1) /
                                     sizeof(std::max_align_t)),
      right(left.size());
  std::memcpy(left.data(), in, count * extent);
  std::memcpy(right.data(), inout, count * extent);
  int length = static_cast<int>(count);
  op.function(left.data(), right.data(), &length, &handle);
  std::memcpy(inout, right.data(), count * extent);
}

/// The same for operands that travel packed: laid out in memory of the alignment that they would have.
void combine_packed_by_user(const UserOperator& op, const TypeView& type, const std::byte* in,
                            std::byte* inout, std::size_t count) {
  constexpr std::int64_t aligned = alignof(std::max_align_t);
  const Datatype& datatype = **type.type;
  const std::int64_t last = static_cast<std::int64_t>(count - 1) * type.extent;
  const std::int64_t lowest = std::min<std::int64_t>(last, 0) + type.first;
  const std::int64_t highest =
      std::max<std::int64_t>(last, 0) + type.first + datatype.true_extent();
  const std::int64_t before =
      (lowest % aligned + aligned) % aligned;  // so that element 0 is aligned
  const auto words = static_cast<std::size_t>((before + highest - lowest) / aligned + 1);
  std::vector<std::max_align_t> left(words), right(words);
  const auto first_of = [&](std::vector<std::max_align_t>& memory) {
    return reinterpret_cast<std::byte*>(memory.data()) + before - lowest;
  };
  const Bytes bytes = count * type.size;
  unpack(datatype, in, bytes, first_of(left));
  unpack(datatype, inout, bytes, first_of(right));
  MPI_Datatype handle = type.handle;
  int length = static_cast<int>(count);
  op.function(first_of(left), first_of(right), &length, &handle);
  pack(datatype, first_of(right), bytes, inout);
}

Reduction reduction_of(const Operator& with) {
  Reduction reduction;
  reduction.element_bytes = with.operand().size;
  reduction.commutative = with.user == nullptr || with.user->commutes;
  reduction.name = with.name();
  reduction.apply = [with](const std::byte* left, const std::byte* right, std::byte* result,
                           std::size_t elements) {
    const Bytes bytes = elements * with.operand().size;
    const auto join = [&](const std::byte* in, std::byte* inout) {
      if (with.user == nullptr) return with.combine(in, inout, elements);
      with.is_packed() ? combine_packed_by_user(*with.user, with.type, in, inout, elements)
                       : combine_by_user(*with.user, with.type, in, inout, elements);
    };
    if (result == left && with.user == nullptr) return join(right, result);  // they all commute
    if (result == left) {
      thread_local std::vector<std::byte> kept;
      std::vector<std::byte> own = std::move(kept);
      own.assign(right, right + bytes);
      join(left, own.data());
      std::memcpy(result, own.data(), bytes);
      kept = std::move(own);
      return;
    }
    if (result != right) std::memcpy(result, right, bytes);
    join(left, result);
  };
  return reduction;
}

/// A collective call while it lasts.
struct Together {
  Together(Call& its_call, MPI_Comm on) : call(its_call), comm(its_call.communicator(on)) {}

  Call& call;
  Communicator& comm;
  bool is_root(int root) const { return comm.rank == root; }
  Rank size() const { return comm.size(); }

  /// Before anything is moved: what all must call alike.
  void come(int root, std::int64_t bytes, const Operator* reduces = nullptr) {
    CurrentCall& now = call.rank().call;
    now.waits = CurrentCall::Waits::collective;
    now.peer = root;
    now.bytes = bytes;
    comm.shared->come(comm.collectives++, comm.rank,
                      {.function = call.function(),
                       .root = root,
                       .bytes = bytes,
                       .op = reduces == nullptr ? 0 : reduces->key,
                       .op_name = reduces == nullptr ? "" : reduces->name()});
  }
  const Collective& algorithm(Operation operation, Bytes block, int root = 0,
                              const Operator* reduces = nullptr) {
    const SharedCommunicator::Wanted wanted{operation, block, root,
                                            reduces == nullptr ? 0 : reduces->key,
                                            reduces == nullptr ? 0 : reduces->type.serial};
    if (reduces == nullptr) {
      return comm.shared->collective(wanted, comm.node->topology(), {});
    }
    return comm.shared->collective(wanted, comm.node->topology(),
                                   [&] { return reduction_of(*reduces); });
  }
  void run(const Collective& collective, ConstBlocks in, Blocks out,
           std::span<const Bytes> sizes = {}) const {
    collective.algorithm->program(*comm.node,
                                  {in, out, collective.arguments, collective.options, sizes});
  }
};

/// What a rank gives, as bytes in a row.
class Given {
 public:
  Given(Call& call, const void* data, std::size_t count, const TypeView& type) {
    const Bytes bytes = count * type.size;
    call.pointer(data, bytes, "the send buffer", type.first);
    if (type.dense) {
      data_ = {static_cast<const std::byte*>(data), bytes};
      return;
    }
    packed_.resize(bytes);
    pack(**type.type, data, bytes, packed_.data());
    data_ = packed_;
  }
  ConstSpan data() const { return data_; }

 private:
  std::vector<std::byte> packed_;
  ConstSpan data_;
};

/// Where a rank gets to, as bytes in a row; deliver() when they are there.
class Taken {
 public:
  Taken(Call& call, void* data, std::size_t count, const TypeView& type)
      : elements_(data), type_(type) {
    const Bytes bytes = count * type.size;
    call.pointer(data, bytes, "the receive buffer", type.first);
    if (type.dense) {
      data_ = {static_cast<std::byte*>(data), bytes};
      return;
    }
    packed_.resize(bytes);
    pack(**type.type, data, bytes, packed_.data());
    data_ = packed_;
  }
  Span data() const { return data_; }
  void deliver() {
    if (!type_.dense) unpack(**type_.type, packed_.data(), packed_.size(), elements_);
  }

 private:
  void* elements_;
  TypeView type_;
  std::vector<std::byte> packed_;
  Span data_;
};

const std::byte* element(const void* data, std::ptrdiff_t index, const TypeView& type) {
  return moved(data, index * type.extent);
}
std::byte* element(void* data, std::ptrdiff_t index, const TypeView& type) {
  return moved(data, index * type.extent);
}

int barrier(MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Barrier);
  return call([&] {
    Together all(call, on);
    all.come(0, 0);
    if (all.size() == 1) return;
    all.run(all.algorithm(operations::barrier, 0), {ConstSpan(), 0}, {Span(), 0});
  });
}

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Bcast);
  return call([&] {
    Together all(call, on);
    const TypeView view = type_view(type);
    const std::size_t many = call.count(count);
    call.root(all.comm, root);
    Taken message(call, data, many, view);
    all.come(root, static_cast<std::int64_t>(message.data().size()));
    if (all.size() == 1 || message.data().empty()) return;
    all.run(all.algorithm(operations::broadcast, message.data().size(), root), {ConstSpan(), 0},
            {message.data(), 1});
    if (!all.is_root(root)) message.deliver();
  });
}

int gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
           MPI_Datatype in_type, int root, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Gather);
  return call([&] {
    Together all(call, on);
    call.root(all.comm, root);
    const Rank p = all.size();
    if (!all.is_root(root)) {
      const Given mine(call, out, call.count(out_count), type_view(out_type));
      all.come(root, static_cast<std::int64_t>(mine.data().size()));
      if (mine.data().empty()) return;
      return all.run(all.algorithm(operations::gather, mine.data().size(), root), {mine.data(), 1},
                     {Span(), 0});
    }
    const TypeView type = type_view(in_type);
    const std::size_t many = call.count(in_count);
    Taken result(call, in, many * static_cast<std::size_t>(p), type);
    const Blocks blocks(result.data(), p);
    all.come(root, static_cast<std::int64_t>(blocks.bytes()));
    if (blocks.bytes() == 0) return;
    std::vector<std::byte> own;  // in place
    ConstSpan given;
    std::optional<Given> mine;
    if (out == MPI_IN_PLACE) {
      const Span place = blocks[root];
      own.assign(place.begin(), place.end());
      given = own;
    } else {
      mine.emplace(call, out, call.count(out_count), type_view(out_type));
      given = mine->data();
    }
    if (given.size() != blocks.bytes()) {
      throw Failure(MPI_ERR_COUNT,
                    fmt::format("the root sends {} bytes and receives {} of each rank",
                                given.size(), blocks.bytes()));
    }
    all.run(all.algorithm(operations::gather, blocks.bytes(), root), {given, 1}, blocks);
    result.deliver();
  });
}

int scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Scatter);
  return call([&] {
    Together all(call, on);
    call.root(all.comm, root);
    const Rank p = all.size();
    if (!all.is_root(root)) {
      Taken mine(call, in, call.count(in_count), type_view(in_type));
      all.come(root, static_cast<std::int64_t>(mine.data().size()));
      if (mine.data().empty()) return;
      all.run(all.algorithm(operations::scatter, mine.data().size(), root), {ConstSpan(), 0},
              {mine.data(), 1});
      return mine.deliver();
    }
    const Given given(call, out, call.count(out_count) * static_cast<std::size_t>(p),
                      type_view(out_type));
    const ConstBlocks blocks(given.data(), p);
    all.come(root, static_cast<std::int64_t>(blocks.bytes()));
    if (blocks.bytes() == 0) return;
    std::vector<std::byte> unused;  // in place: the root's block stays where it is
    std::optional<Taken> mine;
    Span result;
    if (in == MPI_IN_PLACE) {
      unused.resize(blocks.bytes());
      result = unused;
    } else {
      mine.emplace(call, in, call.count(in_count), type_view(in_type));
      result = mine->data();
    }
    if (result.size() != blocks.bytes()) {
      throw Failure(MPI_ERR_COUNT,
                    fmt::format("the root receives {} bytes and sends {} to each rank",
                                result.size(), blocks.bytes()));
    }
    all.run(all.algorithm(operations::scatter, blocks.bytes(), root), blocks, {result, 1});
    if (mine) mine->deliver();
  });
}

int allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Allgather);
  return call([&] {
    Together all(call, on);
    const Rank p = all.size();
    Taken result(call, in, call.count(in_count) * static_cast<std::size_t>(p), type_view(in_type));
    const Blocks blocks(result.data(), p);
    all.come(0, static_cast<std::int64_t>(blocks.bytes()));
    if (blocks.bytes() == 0) return;
    std::optional<Given> mine;
    ConstSpan given = blocks[all.comm.rank];
    if (out != MPI_IN_PLACE) {
      mine.emplace(call, out, call.count(out_count), type_view(out_type));
      given = mine->data();
    }
    if (given.size() != blocks.bytes()) {
      throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of each rank",
                                               given.size(), blocks.bytes()));
    }
    all.run(all.algorithm(operations::allgather, blocks.bytes()), {given, 1}, blocks);
    result.deliver();
  });
}

int alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
             MPI_Datatype in_type, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Alltoall);
  return call([&] {
    Together all(call, on);
    const auto p = static_cast<std::size_t>(all.size());
    Taken result(call, in, call.count(in_count) * p, type_view(in_type));
    const Blocks blocks(result.data(), all.size());
    all.come(0, static_cast<std::int64_t>(blocks.bytes()));
    if (blocks.bytes() == 0) return;
    std::vector<std::byte> kept;
    std::optional<Given> mine;
    ConstSpan given;
    if (out == MPI_IN_PLACE) {
      kept.assign(result.data().begin(), result.data().end());
      given = kept;
    } else {
      mine.emplace(call, out, call.count(out_count) * p, type_view(out_type));
      given = mine->data();
    }
    if (given.size() != result.data().size()) {
      throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of each rank",
                                               given.size() / p, blocks.bytes()));
    }
    all.run(all.algorithm(operations::alltoall, blocks.bytes()), {given, all.size()}, blocks);
    result.deliver();
  });
}

/// Blocks of a `v` call: in a row, where they lie so; else copied.
class Uneven {
 public:
  Uneven(Call& call, const void* data, const int* counts, const int* places, Rank p,
         const TypeView& type, const char* name)
      : type_(type), elements_(const_cast<void*>(data)), places_(places), p_(p) {
    offsets_.reserve(static_cast<std::size_t>(p) + 1);
    offsets_.push_back(0);
    bool in_a_row = type.dense;
    std::ptrdiff_t next = p > 0 ? places[0] : 0;
    for (Rank r = 0; r < p; ++r) {
      const std::size_t count = call.count(counts[r]);
      in_a_row = in_a_row && (count == 0 || places[r] == next);
      if (count > 0) next = places[r] + static_cast<std::ptrdiff_t>(count);
      if (r == 0 && count == 0 && p > 1) next = places[1];
      offsets_.push_back(offsets_.back() + count * type.size);
    }
    call.pointer(data, offsets_.back(), name, type.first);
    if (in_a_row) {
      std::ptrdiff_t first = 0;
      for (Rank r = 0; r < p; ++r) {
        if (counts[r] == 0) continue;
        first = places[r];
        break;
      }
      data_ = only_read({element(data, first, type), offsets_.back()});
      return;
    }
    copied_.resize(offsets_.back());
    for (Rank r = 0; r < p; ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (counts[r] == 0) continue;
      const std::byte* const from = element(data, places[r], type);
      if (type.dense) {
        std::memcpy(copied_.data() + offsets_[at], from, offsets_[at + 1] - offsets_[at]);
      } else {
        pack(**type.type, from, offsets_[at + 1] - offsets_[at], copied_.data() + offsets_[at]);
      }
    }
    data_ = copied_;
  }
  Blocks blocks() const { return {data_, std::span<const Bytes>(offsets_)}; }
  std::vector<Bytes> sizes() const {
    std::vector<Bytes> all;
    for (std::size_t i = 0; i + 1 < offsets_.size(); ++i)
      all.push_back(offsets_[i + 1] - offsets_[i]);
    return all;
  }
  Bytes bytes() const { return offsets_.back(); }
  void deliver() const {
    if (copied_.empty()) return;
    for (Rank r = 0; r < p_; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const Bytes bytes = offsets_[at + 1] - offsets_[at];
      if (bytes == 0) continue;
      std::byte* const to = element(elements_, places_[r], type_);
      if (type_.dense) {
        std::memcpy(to, copied_.data() + offsets_[at], bytes);
      } else {
        unpack(**type_.type, copied_.data() + offsets_[at], bytes, to);
      }
    }
  }

 private:
  TypeView type_;
  void* elements_;
  const int* places_;
  Rank p_;
  std::vector<Bytes> offsets_;
  std::vector<std::byte> copied_;
  Span data_;
};

// Only the root knows all sizes: each rank's message goes straight to it, in one step.
int gatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
            const int places[], MPI_Datatype in_type, int root, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Gatherv);
  return call([&] {
    Together all(call, on);
    call.root(all.comm, root);
    Node& node = *all.comm.node;
    if (!all.is_root(root)) {
      const Given mine(call, out, call.count(out_count), type_view(out_type));
      all.come(root, -1);
      node.step({wormcube::send(root, mine.data())});
      return;
    }
    const TypeView type = type_view(in_type);
    Uneven result(call, in, in_counts, places, all.size(), type, "the receive buffer");
    std::optional<Given> mine;
    if (out != MPI_IN_PLACE) mine.emplace(call, out, call.count(out_count), type_view(out_type));
    all.come(root, -1);
    std::vector<Op> ops;
    const Blocks blocks = result.blocks();
    for (Rank r = 0; r < all.size(); ++r) {
      if (r != root) ops.push_back(receive(r, blocks[r]));
    }
    if (!ops.empty()) node.step(ops);
    if (mine) {
      if (mine->data().size() != blocks[root].size()) {
        throw Failure(MPI_ERR_COUNT,
                      fmt::format("the root sends {} bytes and receives {} of itself",
                                  mine->data().size(), blocks[root].size()));
      }
      node.local([&] { copy(mine->data(), blocks[root]); });
    }
    result.deliver();
  });
}

int scatterv(const void* out, const int out_counts[], const int places[], MPI_Datatype out_type,
             void* in, int in_count, MPI_Datatype in_type, int root, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Scatterv);
  return call([&] {
    Together all(call, on);
    call.root(all.comm, root);
    Node& node = *all.comm.node;
    if (!all.is_root(root)) {
      Taken mine(call, in, call.count(in_count), type_view(in_type));
      all.come(root, -1);
      node.step({receive(root, mine.data())});
      return mine.deliver();
    }
    const Uneven given(call, out, out_counts, places, all.size(), type_view(out_type),
                       "the send buffer");
    std::optional<Taken> mine;
    if (in != MPI_IN_PLACE) mine.emplace(call, in, call.count(in_count), type_view(in_type));
    all.come(root, -1);
    std::vector<Op> ops;
    const Blocks blocks = given.blocks();
    for (Rank r = 0; r < all.size(); ++r) {
      if (r != root) ops.push_back(wormcube::send(r, blocks[r]));
    }
    if (!ops.empty()) node.step(ops);
    if (!mine) return;
    if (mine->data().size() < blocks[root].size()) {
      throw Failure(MPI_ERR_TRUNCATE,
                    fmt::format("the root sends {} bytes to itself, which has room for {}",
                                blocks[root].size(), mine->data().size()));
    }
    node.local([&] { copy(blocks[root], mine->data().first(blocks[root].size())); });
    mine->deliver();
  });
}

int allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in,
               const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Allgatherv);
  return call([&] {
    Together all(call, on);
    Uneven result(call, in, in_counts, places, all.size(), type_view(in_type),
                  "the receive buffer");
    const Blocks blocks = result.blocks();
    const Span own = blocks[all.comm.rank];
    std::vector<std::byte> kept;
    std::optional<Given> mine;
    ConstSpan given;
    if (out == MPI_IN_PLACE) {
      kept.assign(own.begin(), own.end());
      given = kept;
    } else {
      mine.emplace(call, out, call.count(out_count), type_view(out_type));
      given = mine->data();
    }
    if (given.size() != own.size()) {
      throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes are sent and {} received of this rank",
                                               given.size(), own.size()));
    }
    all.come(0, static_cast<std::int64_t>(result.bytes()));
    if (result.bytes() == 0) return;
    const std::vector<Bytes> sizes = result.sizes();
    const std::array<Bytes, 2> whole{0, given.size()};
    if (all.size() == 1) {
      copy(given, own);
    } else {
      all.run(all.algorithm(operations::allgatherv, result.bytes() / sizes.size()),
              {given, std::span<const Bytes>(whole)}, blocks, sizes);
    }
    result.deliver();
  });
}

int alltoallv(const void* out, const int out_counts[], const int out_places[],
              MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
              MPI_Datatype in_type, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Alltoallv);
  return call([&] {
    Together all(call, on);
    const TypeView type = type_view(in_type);
    Uneven result(call, in, in_counts, in_places, all.size(), type, "the receive buffer");
    std::vector<std::byte> kept;
    std::optional<Uneven> mine;
    std::optional<ConstBlocks> given;
    if (out == MPI_IN_PLACE) {
      const Blocks blocks = result.blocks();
      kept.assign(blocks.all().begin(), blocks.all().end());
      given.emplace(ConstSpan(kept), blocks.offsets());
    } else {
      mine.emplace(call, out, out_counts, out_places, all.size(), type_view(out_type),
                   "the send buffer");
      given.emplace(mine->blocks());
    }
    all.come(0, -1);
    // All ranks must choose alike, and know no common size.
    all.run(all.algorithm(operations::alltoallv, 1024), *given, result.blocks());
    result.deliver();
  });
}

// ---- Reductions ----

/// One rank alone.
void copy_operand(ConstSpan from, Span to) {
  if (from.data() != to.data() && !from.empty()) std::memmove(to.data(), from.data(), from.size());
}

/// What a rank gives to a reduction; in place what lies in its receive buffer, kept while that is written.
class GivenOperands {
 public:
  /// \param whole  the receive buffer's operands, as many as are given
  GivenOperands(Call& call, const void* out, std::size_t count, const Operator& with, Span whole) {
    if (out == MPI_IN_PLACE) {
      keep(whole);
    } else {
      given_.emplace(call, out, count, with.operand());
    }
  }
  GivenOperands(Call& call, const void* out, void* in, std::size_t count, const Operator& with) {
    if (out == MPI_IN_PLACE) {
      keep(Taken(call, in, count, with.operand()).data());
    } else {
      given_.emplace(call, out, count, with.operand());
    }
  }
  ConstSpan data() const { return given_ ? given_->data() : ConstSpan(kept_); }

 private:
  void keep(Span whole) { kept_.assign(whole.begin(), whole.end()); }
  std::vector<std::byte> kept_;
  std::optional<Given> given_;
};

void all_to_all_reduction(Call& call, Operation operation, const void* out, void* in, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  Together all(call, on);
  const TypeView view = type_view(type);
  const Operator with = operator_on(op, view);
  const std::size_t many = call.count(count);
  Taken taken(call, in, many, with.operand());
  const Span result = taken.data();
  const GivenOperands given(call, out, many, with, result);
  all.come(0, static_cast<std::int64_t>(result.size()), &with);
  if (result.empty()) return;
  if (all.size() > 1) {
    all.run(all.algorithm(operation, result.size(), 0, &with), {given.data(), 1}, {result, 1});
  } else if (!(operation == Operation(operations::exscan))) {
    copy_operand(given.data(), result);
  }
  taken.deliver();
}

int allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Allreduce);
  return call(
      [&] { all_to_all_reduction(call, operations::allreduce, out, in, count, type, op, on); });
}
int scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Scan);
  return call([&] { all_to_all_reduction(call, operations::scan, out, in, count, type, op, on); });
}
int exscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Exscan);
  return call(
      [&] { all_to_all_reduction(call, operations::exscan, out, in, count, type, op, on); });
}

int reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Reduce);
  return call([&] {
    Together all(call, on);
    call.root(all.comm, root);
    const TypeView view = type_view(type);
    const Operator with = operator_on(op, view);
    const std::size_t many = call.count(count);
    const bool is_root = all.is_root(root);
    std::optional<Taken> taken;
    if (is_root) taken.emplace(call, in, many, with.operand());
    const Span result = taken ? taken->data() : Span();
    if (!is_root && out == MPI_IN_PLACE) call.pointer(out, 1, "the send buffer");
    const GivenOperands given(call, out, many, with, result);
    all.come(root, static_cast<std::int64_t>(given.data().size()), &with);
    if (given.data().empty()) return;
    if (all.size() == 1) {
      copy_operand(given.data(), result);
    } else {
      all.run(all.algorithm(operations::reduce, given.data().size(), root, &with),
              {given.data(), 1}, is_root ? Blocks(result, 1) : Blocks(Span(), 0));
    }
    if (taken) taken->deliver();
  });
}

int reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Reduce_scatter_block);
  return call([&] {
    Together all(call, on);
    const TypeView view = type_view(type);
    const Operator with = operator_on(op, view);
    const std::size_t many = call.count(count);
    const auto p = static_cast<std::size_t>(all.size());
    Taken taken(call, in, many, with.operand());
    const Span result = taken.data();
    const GivenOperands given(call, out, in, many * p, with);
    all.come(0, static_cast<std::int64_t>(result.size()), &with);
    if (result.empty()) return;
    if (p == 1) {
      copy_operand(given.data(), result);
    } else {
      all.run(all.algorithm(operations::reduce_scatter, result.size(), 0, &with),
              {given.data(), all.size()}, {result, 1});
    }
    taken.deliver();
  });
}

int reduce_scatter(const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Reduce_scatter);
  return call([&] {
    Together all(call, on);
    const TypeView view = type_view(type);
    const Operator with = operator_on(op, view);
    std::vector<Bytes> sizes, offsets{0};
    std::size_t elements = 0;
    for (Rank r = 0; r < all.size(); ++r) {
      const std::size_t count = call.count(counts[r]);
      elements += count;
      sizes.push_back(count * with.operand().size);
      offsets.push_back(offsets.back() + sizes.back());
    }
    const auto mine = static_cast<std::size_t>(all.comm.rank);
    Taken taken(call, in, static_cast<std::size_t>(counts[mine]), with.operand());
    const Span result = taken.data();
    const GivenOperands given(call, out, in, elements, with);
    all.come(0, static_cast<std::int64_t>(offsets.back()), &with);
    if (offsets.back() == 0) return;
    if (all.size() == 1) {
      copy_operand(given.data(), result);
    } else {
      const std::array<Bytes, 2> whole{0, result.size()};
      all.run(all.algorithm(operations::reduce_scatterv, offsets.back() / sizes.size(), 0, &with),
              {given.data(), std::span<const Bytes>(offsets)},
              {result, std::span<const Bytes>(whole)}, sizes);
    }
    taken.deliver();
  });
}

int reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  WORMCUBE_MPI_CALL(MPI_Reduce_local);
  return call([&] {
    const TypeView view = type_view(type);
    const Operator with = operator_on(op, view);
    const std::size_t many = call.count(count);
    const Given left(call, in, many, with.operand());
    Taken right(call, inout, many, with.operand());
    if (many == 0) return;
    reduction_of(with).apply(left.data().data(), right.data().data(), right.data().data(), many);
    right.deliver();
  });
}

int op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  WORMCUBE_MPI_CALL(MPI_Op_create);
  return call([&] {
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *op = reinterpret_cast<MPI_Op>(
        new UserOperator{UserOperator::alive, function, commutes != 0, next_operator++});
  });
}

// Its memory stays: what a freed handle is is told.
int op_free(MPI_Op* op) {
  WORMCUBE_MPI_CALL(MPI_Op_free);
  return call([&] {
    if (is_predefined(*op)) throw Failure(MPI_ERR_OP, "a predefined operator cannot be freed");
    user_operator(*op).magic = UserOperator::dead;
    *op = MPI_OP_NULL;
  });
}

int op_commutative(MPI_Op op, int* commutes) {
  WORMCUBE_MPI_CALL(MPI_Op_commutative);
  return call([&] { *commutes = is_predefined(op) || user_operator(op).commutes ? 1 : 0; });
}

}  // namespace

void add_collective_functions(WormcubeMpiFunctions& table) {
  table.MPI_Barrier = barrier;
  table.MPI_Bcast = bcast;
  table.MPI_Gather = gather;
  table.MPI_Gatherv = gatherv;
  table.MPI_Scatter = scatter;
  table.MPI_Scatterv = scatterv;
  table.MPI_Allgather = allgather;
  table.MPI_Allgatherv = allgatherv;
  table.MPI_Alltoall = alltoall;
  table.MPI_Alltoallv = alltoallv;
  table.MPI_Reduce = reduce;
  table.MPI_Allreduce = allreduce;
  table.MPI_Reduce_scatter_block = reduce_scatter_block;
  table.MPI_Reduce_scatter = reduce_scatter;
  table.MPI_Scan = scan;
  table.MPI_Exscan = exscan;
  table.MPI_Reduce_local = reduce_local;
  table.MPI_Op_create = op_create;
  table.MPI_Op_free = op_free;
  table.MPI_Op_commutative = op_commutative;
}

}  // namespace wormcube::mpi
