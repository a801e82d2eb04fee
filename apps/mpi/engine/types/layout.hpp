// Where the bytes of a datatype lie: loops over pieces of memory, and copies of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube::mpi {

class Layout;

/// An address at a distance in bytes. With MPI_BOTTOM the base is null and the distance an absolute
/// address, but C++ does not define additions to null.
inline std::byte* moved(void* from, std::int64_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(from) +
                                      static_cast<std::uintptr_t>(bytes));
}
inline const std::byte* moved(const void* from, std::int64_t bytes) {
  return moved(const_cast<void*>(from), bytes);  // NOLINT: returned as it was passed
}

/// A layout at a displacement; none: no bytes.
struct PlacedLayout {
  std::int64_t offset = 0;
  std::shared_ptr<const Layout> layout;
};

/// One contiguous piece, a layout repeated at a stride, or several layouts, each at its own
/// displacement. Its bytes have an order, the one in which they are sent: `at` byte 10 means the
/// tenth in this order. Immutable; shared between the types that are built from it.
class Layout {
 public:
  enum class Kind : std::uint8_t { run, repeat, list };
  struct Entry {
    std::int64_t offset;
    std::int64_t end;                      ///< of its bytes among those of the list
    std::shared_ptr<const Layout> layout;  ///< none: a run
  };

  Kind kind() const { return kind_; }
  std::int64_t bytes() const { return bytes_; }
  /// The number of contiguous pieces, without joining across repetitions; at most INT64_MAX.
  std::int64_t pieces() const { return pieces_; }

  // Constructors. They join adjacent pieces, so contiguous memory is always one run.
  static PlacedLayout run(std::int64_t offset, std::int64_t bytes);
  static PlacedLayout repeat(std::int64_t count, std::int64_t stride, const PlacedLayout& body);
  static PlacedLayout list(std::vector<PlacedLayout> parts);

  /// Copies bytes [begin, end) of the data at `base` to or from `packed`. \returns the end in
  /// `packed`
  std::byte* pack(const std::byte* base, std::int64_t begin, std::int64_t end,
                  std::byte* packed) const;
  const std::byte* unpack(std::byte* base, std::int64_t begin, std::int64_t end,
                          const std::byte* packed) const;

  /// Appends each contiguous piece, (displacement, bytes), joined to the last one if it follows it;
  /// stops after more than `limit` pieces. \returns whether it appended all
  bool pieces(std::int64_t offset, std::size_t limit,
              std::vector<std::pair<std::int64_t, std::int64_t>>& to) const;

 private:
  template <class Copy>
  void walk(std::int64_t offset, std::int64_t begin, std::int64_t end, Copy& copy) const;

  Kind kind_ = Kind::run;
  std::int64_t bytes_ = 0;
  std::int64_t pieces_ = 1;
  std::int64_t count_ = 1, stride_ = 0;  // of repeat
  std::shared_ptr<const Layout> body_;   // of repeat
  std::vector<Entry> entries_;           // of list
};

}  // namespace wormcube::mpi
