// The options that an algorithm declares, and their values in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// One option of one algorithm: a choice of words, or a whole number.
struct Option {
  std::string_view name;
  std::vector<std::string_view> choices = {};  ///< empty: a number from `least` to `most`
  std::int64_t preset = 0;                     ///< a number, or the index of a choice
  std::int64_t least = 0, most = 0;
  std::string_view help = {};
  /// Numbers that a chooser tries beside the default.
  std::vector<std::int64_t> tried = {};
  /// Only its default is picked by a chooser; other values must be named, as those of an error in
  /// print, with which a check fails.
  bool by_name = false;

  /// "paper|parity|overlap", "0..28"
  std::string values() const;
  std::string text(std::int64_t value) const;
};

/// Values of the options that an algorithm declares, which must outlive this.
class Options {
 public:
  Options() = default;
  explicit Options(std::span<const Option> declared);

  /// Throws UsageError that lists the valid options or values.
  void set(std::string_view name, std::string_view value);

  std::int64_t number(std::string_view name) const;
  /// The index of the choice, as the algorithm's enumeration.
  template <class Enum>
  Enum choice(std::string_view name) const {
    return static_cast<Enum>(number(name));
  }
  bool is(std::string_view name, std::string_view value) const;

  /// Everything, for a plan's key.
  std::span<const std::int64_t> values() const { return values_; }
  std::span<const Option> declared() const { return declared_; }
  /// "order=parity:ring=folded": what differs from the defaults.
  std::string text() const;

 private:
  std::size_t find(std::string_view name) const;

  std::span<const Option> declared_;
  std::vector<std::int64_t> values_;
};

}  // namespace wormcube
