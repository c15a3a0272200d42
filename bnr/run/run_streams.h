/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The streams of a job, which meet in the hub (bnr/core/stream/hub.h), and the door by which other processes come to
 * them. Who comes in may wish for a report instead: run_ask.h.
 */
#ifndef BNR_RUN_STREAMS_H
#define BNR_RUN_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

struct hub_message;
struct run;

/* Open the door, and begin to exchange streams. Returns 0 or -ENOMEM. */
int run_streams_start(struct run *run);
/* Close everything; the loop must run once more, then run_streams_free(). */
void run_streams_stop(struct run *run);
void run_streams_free(struct run *run);

/* Say something to the hub, as mpiexec itself; arg is the run. */
void run_streams_say(void *arg, const struct hub_message *m);
/* The reader of the ranks' fd has gone; arg is the run. */
void run_streams_unread(void *arg, int fd);
/* A process at the door of another node says something, or is gone; arg is the run. */
void run_streams_far(void *arg, uint32_t node, uint32_t party, const struct hub_message *m);
/* A host is lost: its ranks write no more, and those that have not begun to never will. */
void run_streams_lost(struct run *run, uint32_t node);

/* Whether to wait for readers of streams, though all ranks have ended: as long as they take bytes,
 * and for a while if they do not. */
bool run_streams_linger(struct run *run);

#endif
