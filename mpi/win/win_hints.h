/* SPDX-License-Identifier: BSD-3-Clause */

/* The hints of windows (MPI-5.0 12.2.1): those that this library knows, with their values. */
#ifndef MPI_WIN_HINTS_H
#define MPI_WIN_HINTS_H

#include <stdbool.h>
#include <stdint.h>

struct info;
struct win;

/* Whether a key says "true"; info may be NULL. */
bool win_hint_is_true(const struct info *info, const char *key);
/* The alignment that is asked for, in bytes: a cache line at least. */
uint64_t win_hint_align(const struct info *info);
/* Take over the hints of a new window. */
void win_read_hints(struct win *win, const struct info *info);
/* The same of one that exists: what can be changed. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int win_set_hints(struct win *win, const struct info *info);
/* All that are in use. NULL: no memory. */
struct info *win_hints(struct win *win);

#endif
