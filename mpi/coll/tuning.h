/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What users say about algorithms. A line of a tuning file is a row of six words,
 *
 *     COLLECTIVE RANKS HOSTS BYTES COMMUTATIVE ALGORITHM
 *     bcast      4-    1     64k-  any         chain
 *
 * ranks, hosts and bytes being a number, "FROM-TO", "FROM-" or "*", commutative "yes", "no" or
 * "any" (or "*"). Lines that are empty or begin with # say nothing. All processes must read the
 * same.
 */
#ifndef MPI_COLL_TUNING_H
#define MPI_COLL_TUNING_H

#include <stddef.h>

struct choose_row;

enum { TUNING_LINE = 512 }; /* the longest line, its end included */

/* Read one line. Returns 0; 1 if it has no row; or -EINVAL with the mistake in why. */
int tuning_parse(const char *line, struct choose_row *row, char *why, size_t size);
/* Take the settings and the tuning file. Once. Returns 0, or -errno with a sentence in why. */
int tuning_load(char *why, size_t size);

#endif
