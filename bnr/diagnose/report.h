/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table that mpiexec --report prints after the job: the host of each rank, the channel of each
 * pair of ranks with the reasons against the others, and the algorithms of collectives. Pure
 * formatting: no I/O, no clock.
 *
 * A rank's text is what its device put under the key "mpid.report": lines
 *
 *     peer TAB channel TAB reasons NEWLINE
 *
 * peer is a world rank in decimal; channel the name of the one in use ("-" if none was bound);
 * reasons a text that says why each other channel is not in use, its parts separated by "; " ("tcp:
 * shm scores higher; ofi: not built"), or empty. Peers that were never contacted have no line. The
 * text comes from another process: it is bounded, unprintable bytes show as "?", and invalid lines
 * are counted and reported.
 *
 * A line whose first word is no number tells how often the rank has run a collective by an
 * algorithm:
 *
 *     collective TAB algorithm TAB calls NEWLINE
 *
 * A line whose first word is "note" has a sentence as its second one, which is shown as it is.
 *
 * Equal rows are joined: ranks and peers show as ranges, and "each other" and
 * "itself" stand for the sets that differ only in the rank itself.
 */
#ifndef BNR_REPORT_H
#define BNR_REPORT_H

#include <stddef.h>

struct report_rank {
    long pid;
    const char *host; /* its name */
    const char *cpus; /* list of processors, "0-3,8"; "" where unknown */
    const char *text; /* not NUL-terminated; NULL where the rank put none */
    size_t len;
};

/* Format the table of count ranks. Returns a string to free(),
 * ending in a newline, or NULL when memory is out. */
char *report_format(const struct report_rank *ranks, int count);

#endif
