// Arrays that are read in parts, where and when they are needed: a file, a rule, or memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/npy.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// Consecutive elements of an array, in C order.
struct Part {
  std::size_t first = 0, count = 0;
  std::size_t end() const { return first + count; }
};

/// An array of which only type and shape need be in memory. In C order and this computer's byte
/// order, whatever the file has.
class Source {
 public:
  /// Where the elements come from. All spans are of whole elements.
  class Reader {
   public:
    virtual ~Reader() = default;
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    /// The elements from `first` on. Throws UsageError if they cannot be read.
    virtual void read(std::size_t first, Span to) const = 0;
    /// For an array of two dimensions: rows x columns of it, row by row.
    /// \param first  the place of the upper left one;  \param stride  elements in a whole row
    virtual void read_block(std::size_t first, std::size_t stride, std::size_t rows, Span to) const;
    /// The whole array, if it is in memory.
    virtual ConstSpan memory() const { return {}; }
  };

  Source(Array array);  // NOLINT: an array is a source as it is
  Source(ElementType type, std::vector<std::size_t> shape, std::shared_ptr<const Reader> reader);

  ElementType type() const { return type_; }
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t elements() const;
  bool is_in_memory() const { return !reader_->memory().empty() || elements() == 0; }
  const Reader& reader() const { return *reader_; }

 private:
  ElementType type_;
  std::vector<std::size_t> shape_;
  std::shared_ptr<const Reader> reader_;
};

/// A part of a source in memory: a copy, unless the source itself is in memory; then it must live
/// on.
class Loaded {
 public:
  Loaded() = default;
  Loaded(const Source& source, Part part);
  ConstSpan bytes() const { return copy_.empty() ? view_ : ConstSpan(copy_); }
  /// The memory of a part, besides the source.
  static double bytes(const Source& source, Part part);

 private:
  std::vector<std::byte> copy_;
  ConstSpan view_;
};

/// The whole array.
Array read_all(const Source& source);

/// An .npy file: only its header is read here. A pipe is read once, into a copy in memory.
/// Throws UsageError as read_npy does.
Source open_npy(const std::string& file);

/// Elements by a rule. \param rule  fills in the elements from `first` on
Source made(ElementType type, std::vector<std::size_t> shape,
            std::function<void(std::size_t first, Span to)> rule);

}  // namespace wormcube::apps
