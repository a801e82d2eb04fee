// A test case for each operation, so that ctest runs the parts of a long walk side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/operations.hpp"

#include <string>
#include <utility>

#include <catch2/catch.hpp>

namespace wormcube::cases {

/// Registers "NAME: OPERATION" for each operation; its body is test(operation).
template <void (*test)(Operation)>
class EachOperation {
 public:
  EachOperation(const Catch::SourceLineInfo& line, const std::string& name,
                const std::string& tags) {
    add(line, name, tags, std::make_index_sequence<all_operations.size()>());
  }

 private:
  template <std::size_t i>
  static void body() {
    test(all_operations[i]);
  }
  template <std::size_t... i>
  static void add(const Catch::SourceLineInfo& line, const std::string& name,
                  const std::string& tags, std::index_sequence<i...> /*all*/) {
    (add(&body<i>, line, name + ": " + std::string(all_operations[i]->name), tags), ...);
  }
  static void add(void (*body)(), const Catch::SourceLineInfo& line, const std::string& name,
                  const std::string& tags) {
    Catch::AutoReg(Catch::makeTestInvoker(body), line, Catch::StringRef(),
                   Catch::NameAndTags(name, tags));
  }
};

#define WORMCUBE_TEST_EACH_OPERATION(test, name, tags)                                            \
  static const ::wormcube::cases::EachOperation<test> INTERNAL_CATCH_UNIQUE_NAME(each_operation)( \
      CATCH_INTERNAL_LINEINFO, name, tags)

}  // namespace wormcube::cases
