/* SPDX-License-Identifier: BSD-3-Clause */

/* The start of a daemon's ranks: a slice of time after the other, as long as nothing else is to be done. */
#ifndef BNR_DAEMON_START_H
#define BNR_DAEMON_START_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

bool daemon_is_here(const struct daemon *d, uint32_t rank);
/* Any rank of this machine, which has one. */
int daemon_first_here(const struct daemon *d);

void daemon_start_ranks(struct daemon *d);
/* Start no more for now, and go on with those that are left. */
void daemon_stop_starting(struct daemon *d);
void daemon_go_on_starting(struct daemon *d);

/* Ranks that are not started count as ended with that status, for everybody to know. */
void daemon_skip_rest(struct daemon *d, int status);

/* The next rank cannot be started: tell mpiexec, and skip the rest. */
void daemon_give_up(struct daemon *d, int code, const char *why);

#endif
