// The members of an MSCCL++ plan's JSON, with errors that name the place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace wormcube::apps {

class PlanJson {
 public:
  PlanJson(std::string_view name, double most_bytes) : name_(name), left_(most_bytes) {}

 protected:
  using Json = nlohmann::json;

  [[noreturn]] void fail(std::string_view what) const {
    throw UsageError(fmt::format("{}: {}: {}", name_, where_, what));
  }
  void charge(double bytes) {
    left_ -= bytes;
    if (left_ < 0) fail("checking it would take more memory than there is");
  }
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  // Members of JSON objects.

  const Json* member(const Json& object, const char* key) const {
    if (!object.is_object()) fail("an object expected");
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  const Json& list(const Json& object, const char* key, bool is_needed) const {
    static const Json none = Json::array();
    const Json* const found = member(object, key);
    if (found == nullptr && is_needed) fail(fmt::format("{} is missing", key));
    if (found == nullptr) return none;
    if (!found->is_array()) fail(fmt::format("{}: a list expected", key));
    return *found;
  }
  int whole(const Json& value, const char* key, int least, int most) const {
    if (!value.is_number_integer()) fail(fmt::format("{}: a whole number expected", key));
    const auto result = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1}
                                                                                       << 62
                            ? std::int64_t{1} << 62
                            : value.get<std::int64_t>();
    if (result < least || result > most)
      fail(fmt::format("{} {}; expected {} to {}", key, result, least, most));
    return static_cast<int>(result);
  }
  int number(const Json& object, const char* key, std::optional<int> otherwise, int least,
             int most) const {
    const Json* const found = member(object, key);
    if (found != nullptr) return whole(*found, key, least, most);
    if (!otherwise) fail(fmt::format("{} is missing", key));
    return *otherwise;
  }
  std::string string(const Json& object, const char* key, std::string_view otherwise) const {
    const Json* const found = member(object, key);
    if (found == nullptr) return std::string(otherwise);
    if (!found->is_string()) fail(fmt::format("{}: a string expected", key));
    return found->get<std::string>();
  }
  bool boolean(const Json& object, const char* key) const {
    const Json* const found = member(object, key);
    if (found == nullptr) return false;
    if (!found->is_boolean()) fail(fmt::format("{}: true or false expected", key));
    return found->get<bool>();
  }
  MscclBuffer buffer(const std::string& name, const char* key) const {
    if (name == "i") return MscclBuffer::input;
    if (name == "o") return MscclBuffer::output;
    if (name == "s") return MscclBuffer::scratch;
    fail(fmt::format("{} '{}'; expected i, o or s", key, shown(name, 20)));
  }
  std::string channel_type(const Json& object, const char* key) const {
    std::string type = string(object, key, "none");
    if (type != "memory" && type != "port" && type != "switch" && type != "none")
      fail(fmt::format("{} '{}'; expected memory, port, switch or none", key, shown(type, 20)));
    return type;
  }

  std::string where_;  // "gpu 0, tb 1, step 2"

 private:
  std::string_view name_;
  double left_;
};

}  // namespace wormcube::apps
