// Attributes and infos.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/attributes.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/base/info.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace wormcube::mpi {
namespace {

/// What the user's functions were called with.
struct Log {
  std::vector<std::string> lines;
  int refuses = MPI_SUCCESS;  // what they return
};

int logged_copy(MPI_Comm, int, void* extra, void* value, void* copied, int* flag) {
  auto& log = *static_cast<Log*>(extra);
  log.lines.push_back("copy " + std::string(static_cast<const char*>(value)));
  *static_cast<void**>(copied) = const_cast<char*>("copied");
  *flag = 1;
  return log.refuses;
}
int logged_delete(MPI_Comm, int, void* value, void* extra) {
  auto& log = *static_cast<Log*>(extra);
  log.lines.push_back("delete " + std::string(static_cast<const char*>(value)));
  return log.refuses;
}
void* text(const char* value) { return const_cast<char*>(value); }

int failure_of(auto&& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error_class();
  }
  return MPI_SUCCESS;
}

}  // namespace

TEST_CASE("attributes are copied and deleted by their keys' functions", "[mpi_front]") {
  using Lines = std::vector<std::string>;
  Log log;
  AttributeKeys<MPI_Comm> keys;
  const int logged = keys.create(logged_copy, logged_delete, &log);
  const int plain = keys.create(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, nullptr);
  const int own = keys.create(MPI_COMM_NULL_COPY_FN, logged_delete, &log);
  CHECK((logged != plain && logged > MPI_WIN_MODEL));
  AttributeSet<MPI_Comm> set, duplicate;
  const MPI_Comm comm = MPI_COMM_WORLD;
  CHECK(set.find(*keys.find(logged)) == nullptr);
  CHECK(set.set(comm, keys.find(logged), text("a")) == MPI_SUCCESS);
  CHECK(set.set(comm, keys.find(plain), text("b")) == MPI_SUCCESS);
  CHECK(set.set(comm, keys.find(own), text("c")) == MPI_SUCCESS);
  CHECK(set.set(comm, keys.find(logged), text("d")) == MPI_SUCCESS);
  CHECK(log.lines == Lines{"delete a"});
  CHECK(set.copy_to(comm, duplicate) == MPI_SUCCESS);
  CHECK(log.lines == Lines{"delete a", "copy d"});
  CHECK(static_cast<const char*>(*duplicate.find(*keys.find(logged))) == std::string("copied"));
  CHECK(*duplicate.find(*keys.find(plain)) == text("b"));
  CHECK(duplicate.find(*keys.find(own)) == nullptr);
  keys.free(own);
  keys.free(own);
  CHECK(keys.find(own) != nullptr);  // while an attribute has it
  log.lines.clear();
  CHECK(set.remove(comm, *keys.find(plain)) == MPI_SUCCESS);
  log.refuses = MPI_ERR_OTHER;
  CHECK(set.remove_all(comm) == MPI_ERR_OTHER);
  CHECK_FALSE(set.empty());
  CHECK(set.remove(comm, *keys.find(logged)) == MPI_ERR_OTHER);
  log.refuses = MPI_SUCCESS;
  CHECK(set.remove_all(comm) == MPI_SUCCESS);
  CHECK(set.empty());
  CHECK(keys.find(own) == nullptr);
  CHECK(keys.find(logged) != nullptr);
  CHECK(log.lines == Lines{"delete c", "delete d", "delete c", "delete d"});
}

TEST_CASE("infos keep keys in order, without the blanks around them", "[mpi_front]") {
  InfoKeys info;
  info.set("first", "1");
  info.set("  second key ", " two words ");
  info.set("first", "one");
  CHECK(info.size() == 2);
  CHECK(info.key(1) == "second key");
  CHECK(*info.find("second key") == "two words");
  CHECK(*info.find(" first") == "one");
  CHECK(info.find("third") == nullptr);
  info.remove("first");
  CHECK(info.size() == 1);
  CHECK(failure_of([&] { info.remove("first"); }) == MPI_ERR_INFO_NOKEY);
  CHECK(failure_of([&] { info.set("", "x"); }) == MPI_ERR_INFO_KEY);
  CHECK(failure_of([&] { info.set(std::string(MPI_MAX_INFO_KEY, 'k'), "x"); }) == MPI_ERR_INFO_KEY);
  CHECK(failure_of([&] { info.set("k", std::string(MPI_MAX_INFO_VAL, 'v')); }) ==
        MPI_ERR_INFO_VALUE);
  info.set(std::string(MPI_MAX_INFO_KEY - 1, 'k'), std::string(MPI_MAX_INFO_VAL - 1, 'v'));
}

}  // namespace wormcube::mpi
