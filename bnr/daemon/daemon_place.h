/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a daemon's ranks as they are found on its machine, and the processors that the ranks get. */
#ifndef BNR_DAEMON_PLACE_H
#define BNR_DAEMON_PLACE_H

#include <stddef.h>

struct daemon;
struct launch;

/* Returns 0 or -ENOMEM. */
int daemon_place_begin(struct daemon *d);

/* Find the job's programs. Returns 0, or an exit code with a sentence. */
int daemon_find_programs(struct daemon *d, char why[512]);

/* Say where the ranks of this machine run. Returns 0, or an exit code with a sentence. */
int daemon_place_ranks(struct daemon *d, char why[512]);

/* The processors of a rank of this machine, as text. */
void daemon_list_cpus(const struct daemon *d, int local_rank, char *text, size_t size);

/* Add a rank's own environment and processors to its start; a hook of ranks.h. arg: the daemon. */
int daemon_amend(void *arg, int rank, struct launch *l);

#endif
