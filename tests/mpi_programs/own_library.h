/* Libraries of the program's own (own_library.c, own_cxx_library.cpp) for own_libraries.c.
   SPDX-License-Identifier: Apache-2.0 */
#ifdef __cplusplus
extern "C" {
#endif
void remember_rank(void); /* the inner library */
int remembered_rank(void);
int remembered_through(void);   /* the outer one, which needs the inner */
int remembered_inline(int set); /* in C++: an inline variable */
void end_by_library(int code);
#ifdef __cplusplus
}
#endif
