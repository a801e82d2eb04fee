// The functions that need no rank, called as the library calls them: by the table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/objects/plain_functions.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"

#include <climits>
#include <string>

#include <catch2/catch.hpp>

namespace wormcube::mpi {
namespace {

WormcubeMpiFunctions plain_table() {
  WormcubeMpiFunctions table{};
  add_plain_functions(table);
  return table;
}

}  // namespace

TEST_CASE("the versions are those of the header", "[mpi_front]") {
  const WormcubeMpiFunctions table = plain_table();
  int first = 0, second = -1;
  CHECK(table.MPI_Get_version(&first, &second) == MPI_SUCCESS);
  CHECK((first == 5 && second == 0));
  CHECK(table.MPI_Abi_get_version(&first, &second) == MPI_SUCCESS);
  CHECK((first == 1 && second == 0));
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  CHECK(table.MPI_Get_library_version(text, &length) == MPI_SUCCESS);
  CHECK(std::string(text) == library_version());
  CHECK(length == static_cast<int>(library_version().size()));
}

TEST_CASE("a handle's number leads back to it until its object ends", "[mpi_front]") {
  const WormcubeMpiFunctions table = plain_table();
  CHECK(table.MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
  CHECK(table.MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
  CHECK(table.MPI_Type_fromint(table.MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
  int objects[2];
  const auto one = reinterpret_cast<MPI_Comm>(&objects[0]);
  const auto other = reinterpret_cast<MPI_Comm>(&objects[1]);
  const int number = table.MPI_Comm_toint(one);
  CHECK(number >= 4096);
  CHECK(table.MPI_Comm_toint(one) == number);
  CHECK(table.MPI_Comm_toint(other) != number);
  CHECK(table.MPI_Comm_fromint(number) == one);
  forget_number_of(one);
  CHECK(table.MPI_Comm_fromint(number) == nullptr);
  CHECK(table.MPI_Comm_toint(one) != number);
  CHECK(table.MPI_Comm_fromint(-1) == nullptr);
  CHECK(table.MPI_Comm_fromint(INT_MAX) == nullptr);
}

TEST_CASE("addresses are added and subtracted without overflow", "[mpi_front]") {
  const WormcubeMpiFunctions table = plain_table();
  char bytes[10];
  MPI_Aint first = 0, last = 0;
  CHECK(table.MPI_Get_address(&bytes[0], &first) == MPI_SUCCESS);
  CHECK(table.MPI_Get_address(&bytes[9], &last) == MPI_SUCCESS);
  CHECK(table.MPI_Aint_diff(last, first) == 9);
  CHECK(table.MPI_Aint_add(first, 9) == last);
  CHECK(table.MPI_Aint_add(INTPTR_MAX, 1) == INTPTR_MIN);
  CHECK(table.MPI_Aint_diff(INTPTR_MIN, 1) == INTPTR_MAX);
}

TEST_CASE("a status keeps what is written into it", "[mpi_front]") {
  const WormcubeMpiFunctions table = plain_table();
  MPI_Status status;
  status.MPI_ERROR = 42;
  write_status(&status, 3, 4, std::int64_t{1} << 40);
  CHECK((status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == 42));
  CHECK(status_bytes(status) == std::int64_t{1} << 40);
  int value = 1;
  CHECK(table.MPI_Test_cancelled(&status, &value) == MPI_SUCCESS);
  CHECK(value == 0);
  table.MPI_Status_set_cancelled(&status, 5);
  table.MPI_Test_cancelled(&status, &value);
  CHECK(value == 1);
  CHECK(status_bytes(status) == std::int64_t{1} << 40);
  table.MPI_Status_set_source(&status, 7);
  table.MPI_Status_set_tag(&status, 8);
  table.MPI_Status_set_error(&status, 9);
  table.MPI_Status_get_source(&status, &value);
  CHECK(value == 7);
  table.MPI_Status_get_tag(&status, &value);
  CHECK(value == 8);
  table.MPI_Status_get_error(&status, &value);
  CHECK(value == 9);
  write_empty_status(&status);
  CHECK((status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG));
  CHECK((status_bytes(status) == 0 && !status_cancelled(status)));
  write_status(MPI_STATUS_IGNORE, 1, 2, 3);  // nothing to write to
}

}  // namespace wormcube::mpi
