/* external32: bytes as in the standard's table, and back. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int wrong;
static void check(int right) { wrong += !right; }

static void same(const void *value, int count, MPI_Datatype type, const char *expected, int bytes) {
  unsigned char packed[64];
  char back[64];
  MPI_Aint size = -1, position = 0;
  MPI_Count size_c = -1, position_c = 0;
  MPI_Pack_external_size("external32", count, type, &size);
  MPI_Pack_external_size_c("external32", count, type, &size_c);
  check(size == bytes && size_c == bytes);
  MPI_Pack_external("external32", value, count, type, packed, sizeof packed, &position);
  check(position == bytes && memcmp(packed, expected, (size_t)bytes) == 0);
  MPI_Pack_external_c("external32", value, count, type, packed, sizeof packed, &position_c);
  check(position_c == bytes && memcmp(packed, expected, (size_t)bytes) == 0);
  memset(back, 0, sizeof back);
  position = 0;
  MPI_Unpack_external("external32", packed, bytes, &position, back, count, type);
  int own;
  MPI_Type_size(type, &own);
  if (type == MPI_LONG_DOUBLE) {
    check(*(const long double *)value == *(long double *)back);
  } else {
    check(position == bytes && memcmp(back, value, (size_t)(own * count)) == 0);
  }
  memset(back, 0, sizeof back);
  position_c = 0;
  MPI_Unpack_external_c("external32", packed, bytes, &position_c, back, count, type);
  check(position_c == bytes);
}

int main(void) {
  MPI_Init(NULL, NULL);
  const int integers[] = {1, -2};
  const long longs[] = {-2, 0x12345678};
  const unsigned long unsigned_long = 0xfedcba98;
  const double one = 1.0;
  const long double three = 3.0L;
  const short small = 0x0102;
  const struct {
    float value;
    int place;
  } pair = {-2.0F, 258};
  const wchar_t letter = L'A';
  const double complex_one[] = {1.0, -1.0};
  const long long wide = -3;
  same(integers, 2, MPI_INT, "\0\0\0\1\377\377\377\376", 8);
  same(longs, 2, MPI_LONG, "\377\377\377\376\x12\x34\x56\x78", 8);
  same(&unsigned_long, 1, MPI_UNSIGNED_LONG, "\xfe\xdc\xba\x98", 4);
  same(&one, 1, MPI_DOUBLE, "\x3f\xf0\0\0\0\0\0\0", 8);
  same(&three, 1, MPI_LONG_DOUBLE, "\x40\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  same(&small, 1, MPI_SHORT, "\1\2", 2);
  same(&pair, 1, MPI_FLOAT_INT, "\xc0\0\0\0\0\0\1\2", 8);
  same(&letter, 1, MPI_WCHAR, "\0A", 2);
  same(complex_one, 1, MPI_C_DOUBLE_COMPLEX, "\x3f\xf0\0\0\0\0\0\0\xbf\xf0\0\0\0\0\0\0", 16);
  same(&wide, 1, MPI_LONG_LONG, "\377\377\377\377\377\377\377\375", 8);
  same("word", 4, MPI_CHAR, "word", 4);

  /* every second of six */
  MPI_Datatype sparse;
  MPI_Type_vector(3, 1, 2, MPI_INT, &sparse);
  MPI_Type_commit(&sparse);
  const int row[] = {1, -1, 2, -1, 3, -1};
  int back[6] = {0};
  char packed[12];
  MPI_Aint position = 0;
  MPI_Pack_external("external32", row, 1, sparse, packed, sizeof packed, &position);
  check(position == 12 && memcmp(packed, "\0\0\0\1\0\0\0\2\0\0\0\3", 12) == 0);
  position = 0;
  MPI_Unpack_external("external32", packed, 12, &position, back, 1, sparse);
  check(back[0] == 1 && back[1] == 0 && back[2] == 2 && back[4] == 3);
  MPI_Type_free(&sparse);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  position = 0;
  check(MPI_Pack_external("internal", row, 1, MPI_INT, packed, 12, &position) == MPI_ERR_UNSUPPORTED_DATAREP);
  check(MPI_Pack_external("external32", row, 4, MPI_INT, packed, 12, &position) == MPI_ERR_ARG);
  printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
